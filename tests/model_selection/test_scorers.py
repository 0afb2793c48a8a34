"""make_ranking_scorer: the value of `ranking_score`, whoever asks for it.

The tests rely on these facts of scikit-learn's scorers (1.6 to 1.9). A
`_MultimetricScorer` calls the `_BaseScorer`s of a dict by ``_score(method_caller,
estimator, X, y, **routed)``. All scorers of a call get the same `method_caller`, which
calls a method of the estimator once for all of them. Each call makes a new
`method_caller`. An error of a scorer is NaN for its key alone. scikit-learn reads a
scorer's `_response_method` (a name or several) and ``_accept_sample_weight()``. To tune
a threshold, it reads `_score_func`, `_sign` and `_kwargs`.
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


def value_of_column(web, j=1, measure="ndcg@10", **options):
    """Return the `ranking_score` of a column of X."""
    scores = web.data[:, j]
    return ranking_score(web.target, scores, qid=web.qid, measure=measure, **options)


@settings(max_examples=30)
@given(queries())
def test_value_is_that_of_ranking_score(rows):
    y, scores, qid = rows
    X = np.array(scores).reshape(-1, 1)
    names = ["ndcg@3", "rr", "AP(rel=2)@5", "fallout@2"]
    scorers = make_ranking_scorer(names)
    values = check_scoring(Column(), scorers)(Column(), X, y, qid=qid)
    for name, (key, scorer) in zip(names, scorers.items(), strict=True):
        expected = ranking_score(y, scores, qid=qid, measure=name)
        if key.startswith("neg_"):
            expected = -expected
        assert values[key] == expected
        assert scorer(Column(), X, y, qid=qid) == expected
        single = make_ranking_scorer(name)
        assert single(Column(), X, y, qid=qid) == expected


def test_keys_are_the_names_of_the_user():
    scorers = make_ranking_scorer(["ndcg@10", "MAP", NDCG(k=3), "Fallout@5"])
    assert list(scorers) == ["ndcg@10", "MAP", "NDCG@3", "neg_Fallout@5"]
    for key, scorer in scorers.items():
        assert scorer.key == key
        assert scorer.__name__ == key
    assert list(make_ranking_scorer(name for name in ("rr", "ap"))) == ["rr", "ap"]


def test_a_scorer_is_named_for_its_measure():
    scorer = make_ranking_scorer("rr")
    assert scorer.__name__ == "rr"
    assert repr(scorer) == "make_ranking_scorer('rr')"


# -- what scorers of one call share


def test_several_measures_predict_once(web):
    column = Column(2)
    scorer = check_scoring(column, make_ranking_scorer(["ndcg@10", "ap", "rr"]))
    values = scorer(column, web.data, web.target, qid=web.qid)
    assert column.n_predictions_ == 1
    report = ta.evaluate(web.target, web.data[:, 2], qid=web.qid)
    assert list(values.values()) == report.summary().mean.tolist()


def test_scorers_made_apart_predict_once(web):
    column = Column(2)
    scorers = {name: make_ranking_scorer(name) for name in ("ndcg@10", "ap", "rr")}
    scorer = check_scoring(column, scorers)
    values = scorer(column, web.data, web.target, qid=web.qid)
    assert column.n_predictions_ == 1
    report = ta.evaluate(web.target, web.data[:, 2], qid=web.qid)
    assert list(values.values()) == report.summary().mean.tolist()


@pytest.mark.parametrize("j", [0, 1])
def test_the_same_array_may_hold_new_values(web, j):
    column = Column(2)
    scorer = make_ranking_scorer("ap")
    small = make_web_search(n_queries=5, random_state=3)
    multimetric = check_scoring(column, {"ap": scorer, "rr": make_ranking_scorer("rr")})
    for data in (web, small):
        scorer(column, data.data, data.target, qid=data.qid)
        multimetric(column, data.data, data.target, qid=data.qid)
    small.data[:, 2] = small.data[:, j]
    values = multimetric(column, small.data, small.target, qid=small.qid)
    for name, value in values.items():
        assert value == value_of_column(small, j, name)
    assert scorer(column, small.data, small.target, qid=small.qid) == values["ap"]


# -- query ids, weights and options


def scorers_of_topics():
    """Return scorers that request their ids as topic. rr refuses query weights."""
    scorers = make_ranking_scorer(["ap", "rr"])
    for scorer in scorers.values():
        scorer.set_score_request(qid="topic")
    scorers["rr"].set_score_request(query_weight=False)
    return scorers


def test_query_weight_is_not_routed_without_a_request(web):
    params = {"topic": web.qid, "query_weight": web.qid % 3 + 1.0}
    with sklearn.config_context(enable_metadata_routing=True):
        scorers = scorers_of_topics()
        cv = QueryKFold(3).set_split_request(qid="topic")
        with pytest.raises(Exception, match="query_weight"):
            cross_validate(
                Column(),
                web.data,
                web.target,
                scoring=scorers,
                cv=cv,
                params=params,
                error_score="raise",
            )


def test_query_weight_is_routed_on_request_and_sample_weight_never(web):
    query_weight = web.qid % 3 + 1.0
    params = {"topic": web.qid, "query_weight": query_weight}
    params["sample_weight"] = np.arange(len(web.qid)) + 1.0
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        scorers = scorers_of_topics()
        scorers["ap"].set_score_request(query_weight=True)
        model.set_fit_request(sample_weight=True)
        cv = QueryKFold(3).set_split_request(qid="topic")
        results = cross_validate(
            model,
            web.data,
            web.target,
            scoring=scorers,
            cv=cv,
            params=params,
            error_score="raise",
            return_estimator=True,
        )
    folds = QueryKFold(3).split(web.data, groups=web.qid)
    for fold, (_, test) in enumerate(folds):
        scores = results["estimator"][fold].predict(web.data[test])
        y, qid, weight = web.target[test], web.qid[test], query_weight[test]
        ap = ranking_score(y, scores, qid=qid, measure="ap", query_weight=weight)
        rr = ranking_score(y, scores, qid=qid, measure="rr")
        assert results["test_ap"][fold] == ap
        assert results["test_rr"][fold] == rr


OPTIONS = [
    (["P@5", "F@10"], {"ties": "best", "average": "geometric"}),
    (["P@5", "F@10"], {"ties": "worst", "average": "median"}),
    (["P@5", "F@10"], {"ties": "input", "average": "micro"}),
    (["ndcg@5", "ndcg@9"], {"convention": "lightgbm", "ties": "input"}),
]


@pytest.mark.parametrize(("names", "options"), OPTIONS)
def test_options_and_weights(web, names, options):
    weight = web.qid % 3 + 1.0
    column = Column(2)
    scorers = make_ranking_scorer(names, **options)
    params = {"qid": web.qid, "query_weight": weight}
    multimetric = check_scoring(column, scorers)
    values = multimetric(column, web.data, web.target, **params)
    for name in names:
        expected = value_of_column(web, 2, name, query_weight=weight, **options)
        assert values[name] == expected
        assert scorers[name](column, web.data, web.target, **params) == expected


def score_three_documents(y, **options):
    """Return the AP of a query of two documents and a query of a single document."""
    X = np.array([[2.0], [1.0], [3.0]])
    scorer = make_ranking_scorer("ap", **options)
    return scorer(Column(), X, y, qid=[1, 1, 2])


def test_zero_relevance_and_unjudged():
    y = [1, np.nan, 0]
    assert score_three_documents(y, unjudged="nonrelevant") == 0.5
    skipped = {"zero_relevance": "skip", "unjudged": "nonrelevant"}
    assert score_three_documents(y, **skipped) == 1.0
    with pytest.raises(ValueError, match="y_true must be judged"):
        score_three_documents(y)
    with pytest.raises(ValueError, match="AP is undefined for query 2"):
        score_three_documents([1, 0, 0], zero_relevance="raise")


WRONG_PREDICTIONS = [
    (np.array([[1.0], [np.nan], [3.0]]), "not be NaN, got nan in row 1"),
    (np.array([[1.0], [np.inf], [3.0]]), "be finite or -inf, got inf in row 1"),
    (np.ma.array([[1.0], [2.0], [3.0]]), "not be a masked array"),
]


@pytest.mark.parametrize(("X", "message"), WRONG_PREDICTIONS)
def test_predictions_are_numbers(X, message):
    scorer = make_ranking_scorer()
    with pytest.raises(ValueError, match=f"predict of Column must {message}"):
        scorer(Column(), X, [1, 0, 0], qid=[1, 1, 2])


# -- where a measure or a candidate fails

each_routing = pytest.mark.parametrize("routing", [True, False])
ignore_warnings = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::sklearn.exceptions.FitFailedWarning"
)


class Fails(Column):
    """Fails where a query is among the rows of X, whose first column holds its id."""

    def __init__(self, column=1, method=None, query=None):
        self.column = column
        self.method = method
        self.query = query

    def _check(self, method, X):
        if self.method != method:
            return
        if self.query == "any" or self.query in X[:, 0]:
            raise RuntimeError("on purpose")

    def fit(self, X, y):
        self._check("fit", X)
        return self

    def predict(self, X):
        self._check("predict", X)
        return super().predict(X)


def tool_options(routing, **options):
    """Return the scorers and the folds of a tool."""
    qid = None if routing else 0
    measures = ["ndcg@10", "err@10", "fallout@5"]
    scoring = make_ranking_scorer(measures, qid=qid, **options)
    return {"scoring": scoring, "cv": QueryKFold(3, qid=qid)}


def failing_folds(web):
    """Return whether the first query is tested in each fold."""
    folds = QueryKFold(3).split(web.data, groups=web.qid)
    return np.array([web.qid[0] in web.qid[test] for _, test in folds])


def validate(web, y, routing, **options):
    """Return whether the value of each measure is NaN in each fold."""
    X = np.column_stack([web.qid, web.data])
    params = {"qid": web.qid} if routing else None
    with sklearn.config_context(enable_metadata_routing=routing):
        tool = tool_options(routing, **options)
        results = cross_validate(Column(1), X, y, params=params, **tool)
    return {key: np.isnan(values) for key, values in results.items()}


@each_routing
@ignore_warnings
def test_a_measure_that_fails_is_nan_alone(web, routing):
    """ERR accepts labels up to 4. NDCG and fallout accept greater ones."""
    y = np.where(web.qid == web.qid[0], 5.0, web.target)
    is_nan = validate(web, y, routing)
    assert np.array_equal(is_nan["test_err@10"], failing_folds(web))
    assert not np.any(is_nan["test_ndcg@10"])
    assert not np.any(is_nan["test_neg_fallout@5"])


@each_routing
@ignore_warnings
def test_a_measure_that_is_undefined_is_nan_alone(web, routing):
    """NDCG is undefined without a relevant document, fallout is not."""
    y = np.arange(len(web.qid)) % 2
    y[web.qid == web.qid[0]] = 0
    is_nan = validate(web, y, routing, zero_relevance="raise")
    assert np.array_equal(is_nan["test_ndcg@10"], failing_folds(web))
    assert not np.any(is_nan["test_neg_fallout@5"])


@each_routing
@ignore_warnings
def test_a_search_survives_failing_candidates(web, routing):
    query = web.qid[0]
    grid = [
        {"method": ["predict", "fit"], "query": [query, "any"]},
        {"method": [None]},
    ]
    X = np.column_stack([web.qid, web.data])
    params = {"qid": web.qid} if routing else {}
    with sklearn.config_context(enable_metadata_routing=routing):
        tool = tool_options(routing)
        search = GridSearchCV(Fails(), grid, refit="err@10", **tool)
        search.fit(X, web.target, **params)
        score = search.score(X, web.target, **params)
    assert search.best_params_ == {"method": None}
    scorer = make_ranking_scorer("err@10")
    assert score == scorer(search.best_estimator_, X, web.target, qid=web.qid)
    tests_query = failing_folds(web).tolist()
    assert sum(tests_query) == 1
    trains_on_query = [not tests for tests in tests_query]
    never, always = [False] * 3, [True] * 3
    # candidates fail in predict (a query, any), in fit (a query, any), and nowhere
    expected = [tests_query, always, trains_on_query, always, never]
    results = search.cv_results_
    for key in ("ndcg@10", "err@10", "neg_fallout@5"):
        values = [results[f"split{fold}_test_{key}"] for fold in range(3)]
        assert np.isnan(values).T.tolist() == expected


# -- as scikit-learn takes scorers


@pytest.fixture(scope="module")
def is_relevant(web):
    return (web.target >= 2).astype(int)


def tune_threshold(web, y, scorer, **params):
    """Return a tuned threshold of a tree that was fitted before, and the tree."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(web.data, y)
    model = TunedThresholdClassifierCV(
        tree, scoring=scorer, cv="prefit", refit=False, store_cv_results=True
    )
    return model.fit(web.data, y, **params), tree


def test_a_scorer_taken_apart_takes_routed_query_ids(web, is_relevant):
    """For thresholds, scikit-learn takes score_func, sign and kwargs of a scorer."""
    scorer = make_ranking_scorer("fallout@5")
    with sklearn.config_context(enable_metadata_routing=True):
        model, tree = tune_threshold(web, is_relevant, scorer, qid=web.qid)
    chosen = tree.predict_proba(web.data)[:, 1] >= model.best_threshold_
    value = ranking_score(is_relevant, chosen, qid=web.qid, measure="fallout@5")
    assert model.best_score_ == -value
    assert model.best_score_ == model.cv_results_["scores"].max()


@pytest.mark.parametrize("qid", [None, 0])
def test_a_scorer_taken_apart_refuses_without_routed_query_ids(web, is_relevant, qid):
    scorer = make_ranking_scorer("ap", qid=qid)
    with pytest.raises(ValueError, match=r"qid must contain .*Tuned"):
        tune_threshold(web, is_relevant, scorer)


def test_a_warning_names_the_prediction():
    scorer = make_ranking_scorer("ndcg@10")
    labels = np.linspace(0, 1, 60) ** 2
    rows = np.arange(60)
    X = rows.reshape(-1, 1) % 3
    with pytest.warns(UserWarning, match="^the labels .* and the prediction has 3"):
        scorer(Column(0), X, labels, qid=rows // 10)


def test_an_error_names_the_function():
    scorer = make_ranking_scorer("ndcg@10")
    with pytest.raises(ValueError, match=r"^qid must .* the function of the scorer"):
        scorer._score_func([1, 0], [2, 1])


def test_one_query_of_all_rows_is_warned_of(web):
    scorer = make_scorer(ranking_score)
    with pytest.warns(UserWarning, match=f"all {len(web.qid)} rows are ranked .*one"):
        scorer(Column(), web.data, web.target)


def test_make_scorer_takes_query_ids_by_request(web):
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(ranking_score, measure="ap").set_score_request(qid=True)
        value = scorer(Column(1), web.data, web.target, qid=web.qid)
    assert value == value_of_column(web, measure="ap")


SCORERS = [
    make_ranking_scorer("ndcg@10"),
    make_ranking_scorer(["ndcg@10", "Fallout@5"], qid="qid")["neg_Fallout@5"],
    make_ranking_scorer(
        ["rr"],
        average="median",
        qid=-1,
        response_method=["predict_proba", "predict"],
        zero_relevance="skip",
        unjudged="nonrelevant",
        ties="worst",
    )["rr"],
    make_ranking_scorer("ap", convention="trec_eval", response_method="predict"),
]


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
def test_repr_pickle_and_clone(scorer):
    by_repr = eval(repr(scorer), {"make_ranking_scorer": make_ranking_scorer})
    pickled = pickle.loads(pickle.dumps(scorer))
    cloned = clone(scorer, safe=False)
    for copied in (by_repr, pickled, cloned, copy.deepcopy(scorer)):
        assert repr(copied) == repr(scorer)
        assert copied.measure == scorer.measure
        assert copied.key == scorer.key


def test_requests_survive_copies_and_stay_if_not_named():
    scorer = make_ranking_scorer().set_score_request(qid="topic")
    scorer.set_score_request(query_weight=True)
    with pytest.raises(ValueError, match="alias"):
        scorer.set_score_request(qid="no alias")
    pickled = pickle.loads(pickle.dumps(scorer))
    for copied in (scorer, pickled, clone(scorer, safe=False)):
        requests = copied.get_metadata_routing().score.requests
        assert requests == {"qid": "topic", "query_weight": True}


def test_a_column_of_ids_requests_none():
    scorer = make_ranking_scorer(qid=0).set_score_request(query_weight=True)
    assert scorer.get_metadata_routing().score.requests["qid"] is False


WRONG_OPTIONS = [
    ({"measure": "ndgc@10"}, r"did you mean 'NDCG@10'\?"),
    ({"measure": ["ndcg@10", "NDCG@10"]}, "measures must differ"),
    ({"measure": []}, "at least one"),
    ({"measure": None}, "measure must be a name"),
    ({"response_method": "transform"}, "response_method must be one of"),
    ({"response_method": []}, r"response_method must not be empty, got \[\]"),
    ({"ties": "drop"}, "ties must be one of .*'best'.*, got 'drop'"),
    ({"average": "drop"}, "average must be one of"),
    ({"average": None}, "average must be one of"),
    ({"measure": ["p@5", "ap"], "average": "micro"}, "ratios of counts.* got AP"),
    ({"convention": "drop"}, "convention must be one of"),
    ({"zero_relevance": "drop"}, "zero_relevance must be one of"),
    ({"unjudged": "skip"}, "unjudged must be one of"),
]


@pytest.mark.parametrize(("options", "message"), WRONG_OPTIONS)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        make_ranking_scorer(**options)


WRONG_IDS = [
    (None, None, r"qid must contain .*off.* make_ranking_scorer\(\.\.\., qid"),
    ("topic", None, "qid must be the name of a column .* got 'topic'"),
    ("topic", [1], r"must be given only once.*set_score_request\(qid=False\)"),
    (None, [1, 2, 3], r"one value per row \(\d+\), got 3"),
]


@pytest.mark.parametrize(("column", "qid", "message"), WRONG_IDS)
def test_wrong_query_ids(web, column, qid, message):
    X = pd.DataFrame(web.data)
    scorer = make_ranking_scorer(qid=column)
    with pytest.raises(ValueError, match=message):
        scorer(Column(), X, web.target, qid=qid)


def test_a_query_that_was_split_is_warned_of_and_scored(web):
    ranker = QueryLGBMRanker(n_estimators=2, num_leaves=3, verbosity=-1, n_jobs=1)
    ids = np.array([f"q{query}" for query in web.qid])
    ranker.fit(web.data[1::2], web.target[1::2], qid=ids[1::2])
    scorer = make_ranking_scorer()
    message = "QueryLGBMRanker was .*make the ids unique"
    with pytest.warns(ta.SplitQueriesWarning, match=message):
        value = scorer(ranker, web.data, web.target, qid=ids)
    assert value == ranking_score(web.target, ranker.predict(web.data), qid=ids)
    assert value == scorer(ranker, web.data, web.target, qid=web.qid)


# -- predictions of estimators of any kind


class Probabilities(ClassifierMixin, BaseEstimator):
    """A classifier that predicts given probabilities of the documents of one query."""

    def __init__(self, probabilities, classes):
        self.probabilities = probabilities
        self.classes_ = np.asarray(classes)

    def predict_proba(self, X):
        return np.asarray(self.probabilities, dtype=float)

    def score_by(self, scorer, y):
        X = np.zeros((len(y), 1))
        return scorer(self, X, y, qid=np.zeros(len(y)))


@pytest.fixture(scope="module")
def tree(web, is_relevant):
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    return model.fit(web.data, is_relevant)


def scorer_ap(web, model, y, **options):
    """Return the AP of a model by its scorer."""
    scorer = make_ranking_scorer("ap", **options)
    return scorer(model, web.data, y, qid=web.qid)


def expected_ap(web, y, scores):
    return ranking_score(y, scores, qid=web.qid, measure="ap")


RESPONSE_METHODS = [
    ("predict", "predict"),
    ("predict_proba", "predict_proba"),
    (["decision_function", "predict"], "decision_function"),
    (None, "predict_proba"),
]


@pytest.mark.parametrize(("response_method", "method"), RESPONSE_METHODS)
def test_two_classes_rank_by_the_greater(web, is_relevant, response_method, method):
    model = LogisticRegression(max_iter=50)
    model.fit(web.data / web.data.max(axis=0), is_relevant)
    scores = getattr(model, method)(web.data)
    if method == "predict_proba":
        scores = scores[:, 1]
    value = scorer_ap(web, model, is_relevant, response_method=response_method)
    assert value == expected_ap(web, is_relevant, scores)


def test_the_first_method_that_an_estimator_has_is_used(web, is_relevant, tree):
    methods = ["decision_function", "predict"]
    value = scorer_ap(web, tree, is_relevant, response_method=methods)
    assert value == expected_ap(web, is_relevant, tree.predict(web.data))


def test_more_classes_rank_by_the_expected_label():
    probabilities = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.4, 0.0]]
    model = Probabilities(probabilities, [0, 1, 4])
    scorer = make_ranking_scorer("ndcg", response_method="predict_proba")
    expected_labels = [0.3 * 1 + 0.2 * 4, 0.2 * 1 + 0.7 * 4, 0.4 * 1]
    y = [4, 0, 1]
    assert model.score_by(scorer, y) == ranking_score(y, expected_labels)


def test_a_coarse_classifier_predicts_the_expected_label(web):
    y = np.minimum(web.target, 2)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(web.data, y)
    coarse = CoarseRanker(tree, None).fit(web.data, y)
    expected_labels = tree.predict_proba(web.data) @ [0.0, 1.0, 2.0]
    assert coarse.predict(web.data) == pytest.approx(expected_labels, abs=1e-15)


def test_equal_probabilities_tie_to_the_last_bit():
    row = np.random.default_rng(0).dirichlet(np.ones(5))
    model = Probabilities(np.tile(row, (257, 1)), range(5))
    y = np.zeros(257)
    y[0] = 1
    chance = ranking_score(y, np.zeros(257), measure="rr")
    assert model.score_by(make_ranking_scorer("rr"), y) == chance


def test_more_classes_must_be_numbers():
    model = Probabilities(np.full((3, 3), 1 / 3), ["a", "b", "c"])
    with pytest.raises(ValueError, match="classes_ of the estimator must be numbers"):
        model.score_by(make_ranking_scorer("ap"), [1, 0, 0])


def search_of_pipeline(model):
    return GridSearchCV(make_pipeline(StandardScaler(), model), {}, cv=2)


@pytest.mark.parametrize(
    "wrap", [FrozenEstimator, FixedThresholdClassifier, search_of_pipeline]
)
def test_a_wrapped_classifier_is_a_classifier(web, is_relevant, tree, wrap):
    model = wrap(tree).fit(web.data, is_relevant)
    scores = model.predict_proba(web.data)[:, 1]
    value = scorer_ap(web, model, is_relevant)
    assert value == expected_ap(web, is_relevant, scores)


@pytest.mark.parametrize("label", [0, 1])
def test_a_classifier_of_one_class_ties_all(web, is_relevant, label):
    model = DummyClassifier().fit(web.data, np.full_like(is_relevant, label))
    chance = expected_ap(web, is_relevant, np.zeros(len(is_relevant)))
    assert scorer_ap(web, model, is_relevant) == chance
    scoring = {name: make_ranking_scorer("ap") for name in "ab"}
    multimetric = check_scoring(model, scoring)
    values = multimetric(model, web.data, is_relevant, qid=web.qid)
    assert values == {"a": chance, "b": chance}


@pytest.mark.parametrize("has_tags", [True, False])
def test_estimators_with_and_without_tags_predict(web, has_tags):
    model = LinearRegression().fit(web.data, web.target)
    expected = ranking_score(web.target, model.predict(web.data), qid=web.qid)

    class Untagged:
        fit, predict = model.fit, model.predict

    if not has_tags:
        model = Untagged()
    scorer = make_ranking_scorer()
    assert scorer(model, web.data, web.target, qid=web.qid) == expected
    multimetric = check_scoring(model, {"a": scorer, "b": make_ranking_scorer()})
    values = multimetric(model, web.data, web.target, qid=web.qid)
    assert values == {"a": expected, "b": expected}


class Decides(BaseEstimator):
    """An estimator with a decision function alone, a matrix of one column."""

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, [1]]


def test_a_decision_function_may_return_a_matrix_of_one_column(web):
    value = scorer_ap(web, Decides(), web.target, response_method="decision_function")
    assert value == value_of_column(web, measure="ap")


def test_a_classifier_without_probabilities_decides(web, is_relevant):
    ridge = RidgeClassifier().fit(web.data, is_relevant)
    scores = ridge.decision_function(web.data)
    expected = expected_ap(web, is_relevant, scores)
    assert scorer_ap(web, ridge, is_relevant) == expected


def test_an_estimator_must_have_the_method(web):
    message = r"Decides has no predict: .* estimator$"
    with pytest.raises(AttributeError, match=message):
        scorer_ap(web, Decides(), web.target)


def test_more_classes_need_probabilities(web, is_relevant):
    ridge = RidgeClassifier().fit(web.data, np.minimum(web.target, 2))
    message = r"must return one score per row.*expected label, which"
    with pytest.raises(ValueError, match=message):
        scorer_ap(web, ridge, is_relevant)


def test_votes_are_no_scores(web, is_relevant):
    votes = VotingClassifier([("ridge", RidgeClassifier())])
    votes.fit(web.data, is_relevant)
    message = r'has no predict_proba or .*"predict", documents of the same cl'
    with pytest.raises(AttributeError, match=message):
        scorer_ap(web, votes, is_relevant)


# -- bands that take query ids to predict


def search(model, **grid):
    return GridSearchCV(
        model,
        grid,
        cv=QueryKFold(2),
        scoring=make_ranking_scorer(),
        error_score="raise",
    )


def scaled(model):
    return make_pipeline(StandardScaler(), model)


WRAPPERS = {
    "plain": lambda coarse: coarse,
    "search": lambda coarse: search(coarse, coarseness=["rho=1.5"]),
    "pipeline": lambda coarse: search(scaled(coarse)),
    "search in pipeline": lambda coarse: scaled(
        make_pipeline("passthrough", search(coarse))
    ),
    "nested": lambda coarse: search(search(coarse)),
}


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_query_ids_reach_predict_through_searches_and_pipelines(web, wrap):
    coarse = CoarseRanker(LinearRegression(), "rho=1.5")
    scorers = make_ranking_scorer(["ndcg@10", "rr"])
    params = {"qid": web.qid}
    with sklearn.config_context(enable_metadata_routing=True):
        model = wrap(coarse).fit(web.data, web.target, **params)
        multimetric = check_scoring(model, scorers)
        values = multimetric(model, web.data, web.target, **params)
        scores_of_folds = cross_val_score(
            wrap(coarse),
            web.data,
            web.target,
            params=params,
            scoring=scorers["ndcg@10"],
            cv=QueryKFold(2),
            error_score="raise",
        )
    assert np.isfinite(scores_of_folds).all()
    coarse.fit(web.data, web.target)
    scores = coarse.predict(web.data, qid=web.qid)
    for name, value in values.items():
        expected = ranking_score(web.target, scores, qid=web.qid, measure=name)
        assert value == pytest.approx(expected, abs=1e-9)
