"""make_ranking_scorer: the value of `ranking_score`, whoever asks for it.

What is relied on in scikit-learn's scorers (1.6 to 1.9): `_MultimetricScorer` calls the
scorers of a dict that are `_BaseScorer`s by ``_score(method_caller, estimator, X, y,
**routed)``, all of a call with one `method_caller`, which calls a method of the
estimator for all of them once, and is made anew for each call. An error of one is NaN
for its key alone. Of a scorer it reads `_response_method`, one name
or several, and ``_accept_sample_weight()``; to tune a threshold, `_score_func`, `_sign`
and `_kwargs`.
"""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    RidgeClassifier,
)
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tieaware_sklearn as ta
from tests.model_selection.helpers import Column
from tests.strategies import queries
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.measures import NDCG
from tieaware_sklearn.score_precision import CoarseRanker


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=20, shuffle=True, random_state=1)


def value_by_column(web, j=1, measure="ndcg@10", **options):
    """`ranking_score` of a column of X."""
    given = {"qid": web.qid, "measure": measure, **options}
    return ranking_score(web.target, web.data[:, j], **given)


@settings(max_examples=30)
@given(queries())
def test_value_is_that_of_ranking_score(rows):
    labels, scores, qid = rows
    X, y = np.column_stack([scores]), {"y_true": labels, "qid": qid}
    names = ["ndcg@3", "rr", "AP(rel=2)@5", "fallout@2"]
    scorers = make_ranking_scorer(names)
    values = check_scoring(Column(), scorers)(Column(), X, labels, qid=qid)
    for name, (key, scorer) in zip(names, scorers.items(), strict=True):
        sign = -1 if key.startswith("neg_") else 1
        assert values[key] == sign * ranking_score(**y, y_score=scores, measure=name)
        for one in (scorer, make_ranking_scorer(name)):
            assert one(Column(), X, **y) == values[key]


def test_keys_are_as_given():
    scorers = make_ranking_scorer(["ndcg@10", "MAP", NDCG(k=3), "Fallout@5"])
    assert list(scorers) == ["ndcg@10", "MAP", "NDCG@3", "neg_Fallout@5"]
    assert [scorer.key for scorer in scorers.values()] == list(scorers)
    assert [scorer.__name__ for scorer in scorers.values()] == list(scorers)
    assert make_ranking_scorer("rr").__name__ == "rr"
    assert repr(make_ranking_scorer("rr")) == "make_ranking_scorer('rr')"
    assert list(make_ranking_scorer(name for name in ("rr", "ap"))) == ["rr", "ap"]


# -- what scorers of one call share


def test_several_measures_predict_once(web):
    column = Column(2)
    scorers = make_ranking_scorer(["ndcg@10", "ap", "rr"])
    scorer = check_scoring(column, scorers)
    values_of = scorer(column, web.data, web.target, qid=web.qid)
    assert column.n_predictions_ == 1
    report = ta.evaluate(web.target, web.data[:, 2], qid=web.qid)
    assert list(values_of.values()) == report.summary().mean.tolist()
    # scorers made apart predict once, too
    apart = {name: make_ranking_scorer(name) for name in scorers}
    rows = web.data, web.target
    assert check_scoring(column, apart)(column, *rows, qid=web.qid) == values_of
    assert column.n_predictions_ == 2
    # the same objects may be other rows by now
    web = make_web_search(n_queries=5, random_state=3)
    for j in (0, 1):
        web.data[:, 2] = web.data[:, j]
        fresh = scorer(column, web.data, web.target, qid=web.qid)
        report = ta.evaluate(web.target, web.data[:, j], qid=web.qid)
        assert list(fresh.values()) == report.summary().mean.tolist()
        one = apart["ap"](column, web.data, web.target, qid=web.qid)
        assert one == fresh["ap"]


# -- query ids, weights and options


def test_query_weight_is_routed_on_request_and_sample_weight_never(web):
    params = {"topic": web.qid, "query_weight": web.qid % 3 + 1.0}
    scorers = make_ranking_scorer(["ap", "rr"])
    for scorer in scorers.values():
        scorer.set_score_request(qid="topic")
    scorers["rr"].set_score_request(query_weight=False)
    how = {"X": web.data, "y": web.target, "scoring": scorers, "error_score": "raise"}
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        how["cv"] = QueryKFold(3).set_split_request(qid="topic")
        with pytest.raises(Exception, match="query_weight"):
            cross_validate(Column(), params=params, **how)
        scorers["ap"].set_score_request(query_weight=True)
        model.set_fit_request(sample_weight=True)
        params["sample_weight"] = np.arange(len(web.qid)) + 1.0
        found = cross_validate(model, params=params, return_estimator=True, **how)
    for i, (_, test) in enumerate(QueryKFold(3).split(web.data, groups=web.qid)):
        rows = web.target[test], found["estimator"][i].predict(web.data[test])
        qid, weight, _ = (values[test] for values in params.values())
        for name, own in (("ap", weight), ("rr", None)):
            wanted = ranking_score(*rows, qid=qid, measure=name, query_weight=own)
            assert found[f"test_{name}"][i] == wanted


RULES = [
    {"ties": "best", "average": "geometric"},
    {"ties": "worst", "average": "median"},
    {"ties": "input", "average": "micro"},
    {"convention": "lightgbm", "ties": "input"},
]


@pytest.mark.parametrize("rules", RULES)
def test_rules_and_weights(web, rules):
    weight = web.qid % 3 + 1.0
    names = ["ndcg@5", "ndcg@9"] if "convention" in rules else ["P@5", "F@10"]
    scorers, column = make_ranking_scorer(names, **rules), Column(2)
    given = {"qid": web.qid, "query_weight": weight}
    found = check_scoring(column, scorers)(column, web.data, web.target, **given)
    for name in names:
        expected = value_by_column(web, 2, name, query_weight=weight, **rules)
        assert found[name] == expected
        assert scorers[name](column, web.data, web.target, **given) == expected


def test_zero_relevance_and_unjudged():
    def value(y=(1, np.nan, 0), **rules):
        X = np.array([[2.0], [1.0], [3.0]])
        return make_ranking_scorer("ap", **rules)(Column(), X, y, qid=[1, 1, 2])

    assert value(zero_relevance="skip", unjudged="nonrelevant") == 1.0
    assert value(unjudged="nonrelevant") == 0.5
    with pytest.raises(ValueError, match="y_true must be judged"):
        value()
    with pytest.raises(ValueError, match="AP is undefined for query 2"):
        value([1, 0, 0], zero_relevance="raise")
    # predictions are numbers
    for X, message in (
        (np.array([[1.0], [np.nan], [3.0]]), "not be NaN, got nan in row 1"),
        (np.array([[1.0], [np.inf], [3.0]]), "be finite, .* got inf in row 1"),
        (np.ma.array([[1.0], [2.0], [3.0]]), "not be a masked array"),
    ):
        with pytest.raises(ValueError, match=f"predict of Column must {message}"):
            make_ranking_scorer()(Column(), X, [1, 0, 0], qid=[1, 1, 2])


# -- where a measure or a candidate fails

KEYS = ["ndcg@10", "err@10", "neg_fallout@5"]
each_way = pytest.mark.parametrize("routing", [True, False])
quietly = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning"
)


class Fails(Column):
    """Fails where a query is among the rows of X, whose first column holds its id."""

    def __init__(self, column=1, method=None, query=None):
        self.column = column
        self.method = method
        self.query = query

    def _check(self, method, X):
        if self.method == method and (self.query == "any" or self.query in X[:, 0]):
            raise RuntimeError("on purpose")

    def fit(self, X, y):
        self._check("fit", X)
        return self

    def predict(self, X):
        self._check("predict", X)
        return super().predict(X)


def options(routing, **rules):
    """Arguments of a tool."""
    qid = None if routing else 0
    measures = ["ndcg@10", "err@10", "fallout@5"]
    scoring = make_ranking_scorer(measures, qid=qid, **rules)
    return {"scoring": scoring, "cv": QueryKFold(3, qid=qid)}


def failing_folds(web):
    """The fold whose test rows have the first query."""
    folds = QueryKFold(3).split(web.data, groups=web.qid)
    return np.array([web.qid[0] in web.qid[test] for _, test in folds])


@each_way
@quietly
def test_a_measure_that_fails_is_nan_alone(web, routing):
    """ERR knows labels up to 4; NDCG and fallout do not mind."""
    first, bad = web.qid == web.qid[0], failing_folds(web)
    X = np.column_stack([web.qid, web.data])
    given = {"params": {"qid": web.qid}} if routing else {}

    def validate(y, **rules):
        with sklearn.config_context(enable_metadata_routing=routing):
            how = options(routing, **rules) | given
            return cross_validate(Column(1), X, y, **how)

    found = validate(np.where(first, 5.0, web.target))
    np.testing.assert_array_equal(np.isnan(found["test_err@10"]), bad)
    assert not np.isnan([found["test_ndcg@10"], found["test_neg_fallout@5"]]).any()
    # without a relevant document, these are undefined; fallout is not
    y = np.where(first, 0, np.arange(len(web.qid)) % 2)
    found = validate(y, zero_relevance="raise")
    np.testing.assert_array_equal(np.isnan(found["test_ndcg@10"]), bad)
    assert not np.isnan(found["test_neg_fallout@5"]).any()


@each_way
@quietly
def test_a_search_goes_on(web, routing):
    """Candidates fail in the fold that tests a query, that trains on it, in all."""
    X, y = np.column_stack([web.qid, web.data]), web.target
    method, query = [None], web.qid[0]
    grid = [{"method": ["predict", "fit"], "query": [query, "any"]}, {"method": method}]
    given = {"qid": web.qid} if routing else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(Fails(), grid, refit="err@10", **options(routing))
        score = search.fit(X, y, **given).score(X, y, **given)
    results, bad = search.cv_results_, failing_folds(web)
    assert bad.sum() == 1
    for key in KEYS:
        found = [np.isnan(results[f"split{i}_test_{key}"]) for i in range(3)]
        for own, wanted in zip(np.transpose(found), (bad, 1, ~bad, 1, 0), strict=True):
            assert (own == wanted).all()
    assert search.best_params_ == {"method": None}
    scorer = make_ranking_scorer("err@10")
    assert score == scorer(search.best_estimator_, X, y, qid=web.qid)


# -- as scikit-learn takes scorers


def test_a_scorer_taken_apart_is_given_query_ids_or_refuses(web):
    """For thresholds, scikit-learn takes score_func, sign and kwargs of a scorer."""
    y = (web.target >= 2).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(web.data, y)

    def tuned(scorer, **given):
        options = {"cv": "prefit", "refit": False, "store_cv_results": True}
        model = TunedThresholdClassifierCV(tree, scoring=scorer, **options)
        return model.fit(web.data, y, **given)

    with sklearn.config_context(enable_metadata_routing=True):
        model = tuned(make_ranking_scorer("fallout@5"), qid=web.qid)
    chosen = tree.predict_proba(web.data)[:, 1] >= model.best_threshold_
    found = ranking_score(y, chosen, qid=web.qid, measure="fallout@5")
    assert model.best_score_ == -found == model.cv_results_["scores"].max()
    for scorer in (make_ranking_scorer("ap"), make_ranking_scorer("ap", qid=0)):
        with pytest.raises(ValueError, match=r"qid must hold .*Tuned"):
            tuned(scorer)


def test_messages_name_the_prediction_and_the_function(web):
    scorer = make_ranking_scorer("ndcg@10")
    labels = np.linspace(0, 1, 60) ** 2
    X, qid = np.arange(60)[:, None] % 3, np.arange(60) // 10
    with pytest.warns(UserWarning, match="^the labels .* and the prediction has 3"):
        scorer(Column(0), X, labels, qid=qid)
    with pytest.raises(ValueError, match=r"^qid must .* the function of the scorer"):
        scorer._score_func([1, 0], [2, 1])


def test_one_query_of_all_rows_is_warned_of(web):
    with pytest.warns(UserWarning, match=f"all {len(web.qid)} rows are ranked .*one"):
        make_scorer(ranking_score)(Column(), web.data, web.target)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(ranking_score, measure="ap").set_score_request(qid=True)
        found = scorer(Column(1), web.data, web.target, qid=web.qid)
    assert found == value_by_column(web, measure="ap")


OTHERS = {"qid": -1, "response_method": ["predict_proba", "predict"]}
OTHERS |= {"zero_relevance": "skip", "unjudged": "nonrelevant", "ties": "worst"}


@pytest.mark.parametrize("scorer", [
    make_ranking_scorer("ndcg@10"),
    make_ranking_scorer(["ndcg@10", "Fallout@5"], qid="qid")["neg_Fallout@5"],
    make_ranking_scorer(["rr"], average="median", **OTHERS)["rr"],
    make_ranking_scorer("ap", convention="trec_eval", response_method="predict"),
], ids=str)  # fmt: skip
def test_repr_pickle_and_clone(scorer):
    for other in (
        eval(repr(scorer), {"make_ranking_scorer": make_ranking_scorer}),
        pickle.loads(pickle.dumps(scorer)),
        copy.deepcopy(scorer),
        clone(scorer, safe=False),
    ):
        assert repr(other) == repr(scorer)
        assert (other.measure, other.key) == (scorer.measure, scorer.key)


def test_requests_survive_a_pickle_and_stay_if_not_named():
    scorer = make_ranking_scorer().set_score_request(qid="topic")
    scorer.set_score_request(query_weight=True)
    with pytest.raises(ValueError, match="alias"):
        scorer.set_score_request(qid="no alias")
    pickled = pickle.loads(pickle.dumps(scorer))
    for other in (scorer, pickled, clone(scorer, safe=False)):
        requests = other.get_metadata_routing().score.requests
        assert requests == {"qid": "topic", "query_weight": True}
    column = make_ranking_scorer(qid=0).set_score_request(query_weight=True)
    assert column.get_metadata_routing().score.requests["qid"] is False


BAD_OPTIONS = [
    ({"measure": "ndgc@10"}, r"did you mean 'NDCG@10'\?"),
    ({"measure": ["ndcg@10", "NDCG@10"]}, "measures must differ"),
    ({"measure": []}, "at least one"),
    ({"measure": None}, "measure must be a name"),
    ({"response_method": "transform"}, "response_method must be one of"),
    ({"response_method": []}, r"response_method must not be empty, got \[\]"),
    ({"ties": "drop"}, "ties must be one of .*'best'.*, got 'drop'"),
    ({"average": "drop"}, "average must be one of"),
    ({"average": None}, "average must be one of"),
    ({"measure": ["p@5", "ap"], "average": "micro"}, "ratios of counts .* got AP"),
    ({"convention": "drop"}, "convention must be one of"),
    ({"zero_relevance": "drop"}, "zero_relevance must be one of"),
    ({"unjudged": "skip"}, "unjudged must be one of"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_OPTIONS)
def test_bad_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_ranking_scorer(**arguments)


def test_without_query_ids_it_says_what_to_write(web):
    X = pd.DataFrame(web.data)
    for own, qid, message in (
        (None, None, r"qid must hold .*off.*, make_ranking_scorer\(\.\.\., qid"),
        ("topic", None, "qid must name a column of X, got 'topic'"),
        ("topic", [1], r"must be given once.*set_score_request\(qid=False\)"),
        (None, [1, 2, 3], r"one value per row \(\d+\), got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            make_ranking_scorer(qid=own)(Column(), X, web.target, qid=qid)


def test_a_query_that_was_split_is_warned_of_and_scored(web):
    ranker = QueryLGBMRanker(n_estimators=2, num_leaves=3, verbosity=-1, n_jobs=1)
    ids, scorer = np.array([f"q{q}" for q in web.qid]), make_ranking_scorer()
    half, said = np.arange(len(ids)) % 2 > 0, "QueryLGBMRanker was .*make ids uni"
    ranker.fit(web.data[half], web.target[half], qid=ids[half])
    with pytest.warns(ta.SplitQueriesWarning, match=said):
        found = scorer(ranker, web.data, web.target, qid=ids)
    assert found == ranking_score(web.target, ranker.predict(web.data), qid=ids)
    assert found == scorer(ranker, web.data, web.target, qid=web.qid)


# -- predictions of estimators of any kind


class Probabilities(ClassifierMixin, BaseEstimator):
    def __init__(self, probabilities, classes):
        self.probabilities = probabilities
        self.classes_ = np.asarray(classes)

    def predict_proba(self, X):
        return np.asarray(self.probabilities, dtype=float)

    def value(self, y, measure="ap", **options):
        """A scorer's value of these probabilities, as of one query."""
        scorer = make_ranking_scorer(measure, **options)
        return scorer(self, np.zeros((len(y), 1)), y, qid=np.zeros(len(y)))


@pytest.fixture(scope="module")
def two(web):
    """Labels of two classes, a forgetful tree and ridge regression fitted on them."""
    y = (web.target >= 2).astype(int)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    return y, tree, RidgeClassifier().fit(web.data, y)


def ap(web, model, y, **options):
    scorer = make_ranking_scorer("ap", **options)
    return scorer(model, web.data, y, qid=web.qid)


CLASSES = [
    ("predict", "predict"),
    ("predict_proba", "predict_proba"),
    (["decision_function", "predict"], "decision_function"),
    (None, "predict_proba"),
]


@pytest.mark.parametrize(("method", "used"), CLASSES)
def test_two_classes_rank_by_the_greater(web, two, method, used):
    y, tree, _ = two
    model = LogisticRegression(max_iter=50).fit(web.data / web.data.max(axis=0), y)
    scores = getattr(model, used)(web.data)
    scores = scores[:, 1] if used == "predict_proba" else scores
    expected = ranking_score(y, scores, qid=web.qid, measure="ap")
    assert ap(web, model, y, response_method=method) == expected
    if isinstance(method, list):
        # the first that there is
        found = ranking_score(y, tree.predict(web.data), qid=web.qid, measure="ap")
        assert ap(web, tree, y, response_method=method) == found


def test_more_classes_rank_by_the_expected_label(web):
    rows = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]
    model = Probabilities(rows, [0, 1, 4])
    expected = [0.3 * 1 + 0.2 * 4, 0.2 * 1 + 0.7 * 4, 0.4 * 1]
    found = model.value([4, 0, 1], "ndcg", response_method="predict_proba")
    assert found == ranking_score([4, 0, 1], expected)
    y = np.minimum(web.target, 2)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    expected = tree.predict_proba(web.data) @ [0.0, 1.0, 2.0]
    coarse = CoarseRanker(tree, None).fit(web.data, y)
    assert coarse.predict(web.data) == pytest.approx(expected, abs=1e-15)
    # equal rows tie, to the last bit
    row = np.random.default_rng(0).dirichlet(np.ones(5))
    y = np.r_[np.ones(1), np.zeros(256)]
    found = Probabilities(np.tile(row, (257, 1)), range(5)).value(y, "rr")
    assert found == ranking_score(y, np.zeros(257), measure="rr")
    with pytest.raises(ValueError, match="classes_ of the estimator must be numbers"):
        Probabilities(np.full((3, 3), 1 / 3), ["a", "b", "c"]).value([1, 0, 0])


@pytest.mark.parametrize("wrap", [
    FrozenEstimator,
    FixedThresholdClassifier,
    lambda model: GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=2),
])  # fmt: skip
def test_a_classifier_inside_others_is_one(web, two, wrap):
    y, tree, _ = two
    model = wrap(tree).fit(web.data, y)
    scores = model.predict_proba(web.data)[:, 1]
    assert ap(web, model, y) == ranking_score(y, scores, qid=web.qid, measure="ap")


@pytest.mark.parametrize("label", [0, 1])
def test_a_classifier_of_one_class_ties_all(web, two, label):
    y = two[0]
    model = DummyClassifier().fit(web.data, np.full(len(y), label))
    chance = ranking_score(y, np.zeros(len(y)), qid=web.qid, measure="ap")
    assert ap(web, model, y) == chance
    scoring = {name: make_ranking_scorer("ap") for name in "ab"}
    found = check_scoring(model, scoring)(model, web.data, y, qid=web.qid)
    assert found == {"a": chance, "b": chance}


def test_methods_that_there_are_and_are_not(web, two):
    model = LinearRegression().fit(web.data, web.target)

    class Plain:
        fit, predict = model.fit, model.predict

    class Decides(BaseEstimator):
        fit = model.fit

        def decision_function(self, X):
            return X[:, [1]]

    # estimators without tags predict
    expected = ranking_score(web.target, model.predict(web.data), qid=web.qid)
    for one in (model, Plain()):
        scorer = make_ranking_scorer()
        assert scorer(one, web.data, web.target, qid=web.qid) == expected
        scoring = check_scoring(one, {"a": scorer, "b": make_ranking_scorer()})
        found = scoring(one, web.data, web.target, qid=web.qid)
        assert found == {"a": expected, "b": expected}
    found = ap(web, Decides(), web.target, response_method="decision_function")
    assert found == value_by_column(web, measure="ap")
    # classifiers without probabilities
    y, _, ridge = two
    scores = ridge.decision_function(web.data)
    assert ap(web, ridge, y) == ranking_score(y, scores, qid=web.qid, measure="ap")
    ridge = RidgeClassifier().fit(web.data, np.minimum(web.target, 2))
    votes = VotingClassifier([("ridge", RidgeClassifier())]).fit(web.data, y)
    for one, error, message in (
        (Decides(), AttributeError, r"Decides has no predict: .* estimator$"),
        (ridge, ValueError, r"must give one score per row.*expected label, which"),
        (votes, AttributeError, r'has no predict_proba or .*"predict" ranks by the cl'),
    ):
        with pytest.raises(error, match=message):
            ap(web, one, y)


# -- bands that take query ids to predict


def search(model, **grid):
    how = {"cv": QueryKFold(2), "scoring": make_ranking_scorer()}
    return GridSearchCV(model, grid, error_score="raise", **how)


def scaled(*steps):
    return make_pipeline(StandardScaler(), *steps)


@pytest.mark.parametrize("wrap", [
    lambda coarse: coarse,
    lambda coarse: search(coarse, coarseness=["rho=1.5"]),
    lambda coarse: search(scaled(coarse)),
    lambda coarse: scaled(make_pipeline("passthrough", search(coarse))),
    lambda coarse: search(search(coarse)),
], ids=["plain", "search", "pipeline", "search in pipeline", "nested"])  # fmt: skip
def test_query_ids_reach_predict_through_searches_and_pipelines(web, wrap):
    coarse = CoarseRanker(LinearRegression(), "rho=1.5")
    scorers = make_ranking_scorer(["ndcg@10", "rr"])
    rows, given = (web.data, web.target), {"qid": web.qid}
    how = {"scoring": scorers["ndcg@10"], "cv": QueryKFold(2), "error_score": "raise"}
    with sklearn.config_context(enable_metadata_routing=True):
        model = wrap(coarse).fit(*rows, **given)
        found = check_scoring(model, scorers)(model, *rows, **given)
        folds = cross_val_score(wrap(coarse), *rows, params=given, **how)
    plain = coarse.fit(*rows).predict(web.data, qid=web.qid)
    for name, value in found.items():
        expected = ranking_score(web.target, plain, qid=web.qid, measure=name)
        assert value == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(folds).all()
