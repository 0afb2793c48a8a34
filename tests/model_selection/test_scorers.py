"""make_ranking_scorer: the value of `ranking_score`, whoever asks for it."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import (
    KFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tests.model_selection.helpers import Column
from tests.strategies import queries
from tieaware_sklearn import (
    QueryKFold,
    SplitQueriesWarning,
    evaluate,
    make_ranking_scorer,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.evaluation._prepared import Prepared
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.measures import NDCG
from tieaware_sklearn.model_selection import _scorers


@given(queries())
def test_value_is_that_of_ranking_score(rows):
    labels, scores, qid = rows
    X = np.column_stack([scores])
    names = ["ndcg@3", "rr", "AP(rel=2)@5", "fallout@2"]
    scorers = make_ranking_scorer(names)
    values = check_scoring(Column(), scorers)(Column(), X, labels, qid=qid)
    for name, (key, scorer) in zip(names, scorers.items(), strict=True):
        sign = -1 if key.startswith("neg_") else 1
        expected = ranking_score(labels, scores, qid=qid, measure=name)
        assert values[key] == sign * expected
        for one in (scorer, make_ranking_scorer(name)):
            assert one(Column(), X, labels, qid=qid) == values[key]


def test_keys_are_as_given():
    scorers = make_ranking_scorer(["ndcg@10", "MAP", NDCG(k=3), "Fallout@5"])
    assert type(scorers) is dict
    assert list(scorers) == ["ndcg@10", "MAP", "NDCG@3", "neg_Fallout@5"]
    assert [scorer.key for scorer in scorers.values()] == list(scorers)
    assert [scorer.__name__ for scorer in scorers.values()] == list(scorers)
    assert make_ranking_scorer("rr").__name__ == "rr"
    assert list(make_ranking_scorer(name for name in ("rr", "ap"))) == ["rr", "ap"]


def test_several_measures_predict_once_and_find_ties_once(web, monkeypatch):
    found = []
    values = Prepared.values

    def counted(self, asked, *args, **options):
        found.append(asked.names)
        return values(self, asked, *args, **options)

    monkeypatch.setattr(Prepared, "values", counted)
    column = Column(2)
    scorers = make_ranking_scorer(["ndcg@10", "ap", "rr"])
    scorer = check_scoring(column, scorers)
    values_of = scorer(column, web.data, web.target, qid=web.qid)
    assert column.n_predictions_ == 1
    assert found == [("NDCG@10", "AP", "RR")]
    report = evaluate(web.target, web.data[:, 2], qid=web.qid)
    assert list(values_of.values()) == report.summary().mean.tolist()
    # the same objects may be other rows by now
    web = make_web_search(n_queries=5, random_state=3)
    for j in (0, 1):
        web.data[:, 2] = web.data[:, j]
        fresh = scorer(column, web.data, web.target, qid=web.qid)
        report = evaluate(web.target, web.data[:, j], qid=web.qid)
        assert list(fresh.values()) == report.summary().mean.tolist()


def test_nothing_found_outlives_its_call(web):
    scorer = check_scoring(Column(), make_ranking_scorer(["ap", "rr"]))
    scorer(Column(1), web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="must be judged"):
        scorer(Column(1), web.data, np.full(len(web.qid), np.nan), qid=web.qid)
    gc.collect()
    assert not len(_scorers._FOUND)


def test_a_scorer_that_is_called_by_itself_shares_nothing(web):
    scorer, column = make_ranking_scorer("ap"), Column(0)
    for j in (1, 2):
        web.data[:, 0] = web.data[:, j]  # the same objects
        found = scorer(column, web.data, web.target, qid=web.qid)
        expected = ranking_score(web.target, web.data[:, j], qid=web.qid, measure="ap")
        assert found == expected


def test_members_that_ask_for_other_metadata_share_nothing(web):
    weight = web.qid % 3 + 1.0
    scorers = make_ranking_scorer(["ap", "rr"])
    scorers["rr"].set_score_request(query_weight=True)
    scorers["ap"].set_score_request(query_weight=False)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = check_scoring(Column(), scorers)
        found = scorer(
            Column(1), web.data, web.target, qid=web.qid, query_weight=weight
        )
    rows = web.target, web.data[:, 1]
    assert found == {
        "ap": ranking_score(*rows, qid=web.qid, measure="ap"),
        "rr": ranking_score(*rows, qid=web.qid, measure="rr", query_weight=weight),
    }


def test_a_dict_of_scorers_predicts_once(web):
    X = np.column_stack([web.qid, web.data])
    names = ("ndcg@10", "ap")
    scoring = {name: make_ranking_scorer(name, qid=0) for name in names}
    found = cross_validate(
        Column(3),
        X,
        web.target,
        scoring=scoring,
        cv=QueryKFold(3, qid=0),
        return_estimator=True,
        error_score="raise",
    )
    assert [e.n_predictions_ for e in found["estimator"]] == [1, 1, 1]


def test_measures_of_lower_is_better_come_negative(web):
    scorer = make_ranking_scorer("fallout@5")
    value = scorer(Column(1), web.data, web.target, qid=web.qid)
    assert value == -ranking_score(
        web.target, web.data[:, 1], qid=web.qid, measure="fallout@5"
    )
    assert scorer.__name__ == "neg_fallout@5"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_query_ids_from_a_column_of_a_frame(web, frame):
    columns = {f"x{j}": web.data[:, j] for j in range(3)}
    X = frame({**columns, "query": [f"q{q}" for q in web.qid]})
    value = make_ranking_scorer("ap", qid="query")(Column("x1"), X, web.target)
    assert value == ranking_score(web.target, web.data[:, 1], qid=web.qid, measure="ap")


@pytest.mark.parametrize("make", [np.asarray, np.ndarray.tolist, sp.csr_array])
def test_query_ids_from_a_column_of_an_array(web, make):
    class First(Column):
        def predict(self, X):
            return (X.toarray() if sp.issparse(X) else np.asarray(X))[:, 0]

    X = make(np.column_stack([web.data[:, 1], web.qid + 1]))
    expected = ranking_score(web.target, web.data[:, 1], qid=web.qid)
    for index in (1, -1):
        scorer = make_ranking_scorer("ndcg@10", qid=index)
        assert scorer(First(), X, web.target) == pytest.approx(expected, abs=1e-15)


def test_query_weight(web):
    weight = web.qid % 3 + 1.0
    scorer = check_scoring(Column(), make_ranking_scorer(["ndcg@10", "rr"]))
    values = scorer(Column(1), web.data, web.target, qid=web.qid, query_weight=weight)
    for name, value in values.items():
        assert value == ranking_score(
            web.target,
            web.data[:, 1],
            qid=web.qid,
            measure=name,
            query_weight=weight,
        )


def test_query_weight_is_routed_on_request_and_sample_weight_never(web):
    weight = web.qid % 3 + 1.0
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    cv = QueryKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        scorer = make_ranking_scorer("ap").set_score_request(query_weight=True)
        params = {
            "qid": web.qid,
            "query_weight": weight,
            "sample_weight": np.arange(len(web.qid)) + 1.0,
        }
        found = cross_validate(
            model,
            web.data,
            web.target,
            scoring=scorer,
            cv=cv,
            params=params,
            return_estimator=True,
            error_score="raise",
        )
    for i, (_, test) in enumerate(cv.split(web.data, groups=web.qid)):
        predicted = found["estimator"][i].predict(web.data[test])
        assert found["test_score"][i] == ranking_score(
            web.target[test],
            predicted,
            qid=web.qid[test],
            measure="ap",
            query_weight=weight[test],
        )


def test_query_weight_unasked_for_is_an_error(web):
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(Exception, match="query_weight"),
    ):
        cross_validate(
            Column(),
            web.data,
            web.target,
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            params={"qid": web.qid, "query_weight": web.qid},
        )


def test_query_ids_under_another_name(web):
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer().set_score_request(qid="topic")
        found = cross_validate(
            Column(1),
            web.data,
            web.target,
            scoring=scorer,
            cv=QueryKFold(3).set_split_request(groups="topic"),
            params={"topic": web.qid},
            error_score="raise",
        )
    for score, (_, test) in zip(
        found["test_score"],
        QueryKFold(3).split(web.data, groups=web.qid),
        strict=True,
    ):
        expected = ranking_score(web.target[test], web.data[test, 1], qid=web.qid[test])
        assert score == expected


def test_zero_relevance_and_unjudged():
    X, y, qid = np.array([[2.0], [1.0], [3.0]]), [1, np.nan, 0], [1, 1, 2]
    skip = make_ranking_scorer("ap", zero_relevance="skip", unjudged="nonrelevant")
    zero = make_ranking_scorer("ap", unjudged="nonrelevant")
    assert skip(Column(), X, y, qid=qid) == 1.0
    assert zero(Column(), X, y, qid=qid) == 0.5
    with pytest.raises(ValueError, match="y_true must be judged"):
        make_ranking_scorer("ap")(Column(), X, y, qid=qid)
    with pytest.raises(ValueError, match="AP is undefined for query 2"):
        make_ranking_scorer("ap", zero_relevance="raise")(
            Column(), X, [1, 0, 0], qid=qid
        )


@pytest.mark.parametrize("ties", ["best", "worst", "input"])
@pytest.mark.parametrize("average", ["geometric", "median", "micro"])
def test_ties_and_averages(web, ties, average):
    weight = web.qid % 3 + 1.0
    names = ["P@5", "F@10"]
    scorers = make_ranking_scorer(names, ties=ties, average=average)
    column = Column(2)
    given = {"qid": web.qid, "query_weight": weight}
    found = check_scoring(column, scorers)(column, web.data, web.target, **given)
    rules = {"ties": ties, "average": average}
    for name in names:
        expected = ranking_score(
            web.target, web.data[:, 2], measure=name, **rules, **given
        )
        assert found[name] == expected
        assert scorers[name](column, web.data, web.target, **given) == expected


def test_a_convention(web):
    scorer = make_ranking_scorer("ndcg@5", convention="lightgbm", ties="input")
    expected = ranking_score(
        web.target,
        web.data[:, 1],
        qid=web.qid,
        measure="ndcg@5",
        convention="lightgbm",
        ties="input",
    )
    assert scorer(Column(1), web.data, web.target, qid=web.qid) == expected


def test_a_threshold_is_tuned_by_the_measure_itself(web):
    """scikit-learn takes scorers apart for that: score_func, sign and kwargs."""
    y = (web.target >= 2).astype(int)
    with sklearn.config_context(enable_metadata_routing=True):
        model = TunedThresholdClassifierCV(
            LogisticRegression(max_iter=2000),
            scoring=make_ranking_scorer("fallout@5"),
            cv=QueryKFold(2),
            thresholds=2,
            store_cv_results=True,
        ).fit(web.data, y, qid=web.qid)
    assert (model.cv_results_["scores"] < 0).all()


@pytest.mark.parametrize(
    "scorer",
    [
        make_ranking_scorer("ndcg@10"),
        make_ranking_scorer(["ndcg@10", "Fallout@5"], qid="qid")["neg_Fallout@5"],
        make_ranking_scorer(
            ["rr"],
            qid=-1,
            response_method=["predict_proba", "predict"],
            zero_relevance="skip",
            unjudged="nonrelevant",
            ties="worst",
            average="median",
        )["rr"],
        make_ranking_scorer("ap", convention="trec_eval", response_method="predict"),
    ],
    ids=str,
)
def test_repr_pickle_and_clone(scorer):
    same = [
        eval(repr(scorer), {"make_ranking_scorer": make_ranking_scorer}),
        pickle.loads(pickle.dumps(scorer)),
        copy.deepcopy(scorer),
        clone(scorer, safe=False),
    ]
    for other in same:
        assert repr(other) == repr(scorer)
        assert other.measure == scorer.measure
        assert other.key == scorer.key


def test_requests_survive_a_pickle():
    scorer = make_ranking_scorer().set_score_request(qid="topic", query_weight=True)
    for other in (pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)):
        request = other.get_metadata_routing().score.requests
        assert request == {"qid": "topic", "query_weight": True}


def test_scikit_learns_make_scorer_does_as_well(web):
    with sklearn.config_context(enable_metadata_routing=True):
        scorers = {
            "theirs": make_scorer(ranking_score, measure="rr").set_score_request(
                qid=True
            ),
            "ours": make_ranking_scorer("rr"),
        }
        found = cross_validate(
            DecisionTreeRegressor(max_depth=2, random_state=0),
            web.data,
            web.target,
            scoring=scorers,
            cv=QueryKFold(3),
            params={"qid": web.qid},
            error_score="raise",
        )
    assert found["test_theirs"].tolist() == found["test_ours"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "ndgc@10"}, r"did you mean 'NDCG@10'\?"),
        ({"measure": ["ndcg@10", "NDCG@10"]}, "measures must differ"),
        ({"measure": []}, "at least one"),
        ({"measure": None}, "measure must be a name"),
        ({"response_method": "transform"}, "response_method must be one of"),
        ({"response_method": []}, "response_method must not be empty"),
        ({"ties": "drop"}, "ties must be one of"),
        ({"average": "drop"}, "average must be one of"),
        ({"average": None}, "average must be one of"),
        ({"measure": ["p@5", "ap"], "average": "micro"}, "ratios of counts .* got AP"),
        ({"convention": "drop"}, "convention must be one of"),
        ({"zero_relevance": "drop"}, "zero_relevance must be one of"),
        ({"unjudged": "skip"}, "unjudged must be one of"),
    ],
)
def test_bad_options(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_ranking_scorer(**arguments)


def test_without_query_ids_it_says_what_to_write(web):
    with pytest.raises(ValueError, match="routing is off, so that a qid"):
        make_ranking_scorer()(Column(), web.data, web.target)
    frame = pd.DataFrame(web.data)
    with pytest.raises(ValueError, match="qid must name a column of X, got 'topic'"):
        make_ranking_scorer(qid="topic")(Column(), frame, web.target)
    with pytest.raises(ValueError, match="must be given once"):
        make_ranking_scorer(qid=0)(Column(), web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=r"one value per row \(\d+\), got 3"):
        make_ranking_scorer()(Column(), web.data, web.target, qid=[1, 2, 3])


def test_in_a_search_the_error_is_told(web):
    with pytest.warns(UserWarning, match="qid must hold the query of each row"):
        found = cross_validate(
            Column(1), web.data, web.target, scoring=make_ranking_scorer(), cv=KFold(2)
        )
    assert np.isnan(found["test_score"]).all()


def small_ranker(**parameters):
    return QueryLGBMRanker(
        n_estimators=2, num_leaves=3, verbosity=-1, n_jobs=1, **parameters
    )


@pytest.mark.parametrize("cv", [3, KFold(3, shuffle=True, random_state=0)])
def test_a_fold_that_splits_a_query_is_warned_of(web, cv):
    scorer = make_ranking_scorer()
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(SplitQueriesWarning, match="use QueryKFold") as caught,
    ):
        cross_validate(
            small_ranker(),
            web.data,
            web.target,
            scoring=scorer,
            cv=cv,
            params={"qid": [f"q{q}" for q in web.qid]},
            error_score="raise",
        )
    assert len(caught) == 3  # once a fold


def test_training_scores_are_no_split(web):
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            small_ranker(),
            web.data,
            web.target,
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            params={"qid": web.qid},
            return_train_score=True,
            return_estimator=True,
            error_score="raise",
        )
    for i, (train, _) in enumerate(QueryKFold(3).split(web.data, groups=web.qid)):
        predicted = found["estimator"][i].predict(web.data[train])
        assert found["train_score"][i] == ranking_score(
            web.target[train], predicted, qid=web.qid[train]
        )


def test_other_data_with_the_same_ids_are_scored_with_a_warning():
    one, other = (make_web_search(n_queries=8, random_state=i) for i in (0, 1))
    ranker = small_ranker().fit(one.data, one.target, qid=one.qid)
    scorer = make_ranking_scorer()
    with pytest.warns(SplitQueriesWarning, match="make ids unique"):
        found = scorer(ranker, other.data, other.target, qid=other.qid)
    scores = ranker.predict(other.data)
    assert found == ranking_score(other.target, scores, qid=other.qid)
    # as soon as they are unique
    assert found == scorer(ranker, other.data, other.target, qid=other.qid + 100)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda ranker: ranker,
        FrozenEstimator,
        lambda ranker: make_pipeline(FunctionTransformer(), ranker),
        lambda ranker: make_pipeline(StandardScaler(), ranker),
    ],
)
def test_a_training_score_is_one_by_any_labels_and_of_some_queries(web, wrap):
    ids = np.array([f"q{q}" for q in web.qid])
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = small_ranker()
        if wrap is FrozenEstimator:
            ranker.fit(web.data, web.target, qid=ids)
        model = wrap(ranker).fit(web.data, web.target, qid=ids)
    scores, scorer = model.predict(web.data), make_ranking_scorer()
    for rows in (slice(None), web.qid < 9):
        for y in (web.target, (web.target > 1).astype(int)):
            found = scorer(model, web.data[rows], y[rows], qid=ids[rows])
            assert found == ranking_score(y[rows], scores[rows], qid=ids[rows])
    half = np.arange(len(ids)) % 2 > 0
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = small_ranker()
        if wrap is FrozenEstimator:
            ranker.fit(web.data[half], web.target[half], qid=ids[half])
        model = wrap(ranker).fit(web.data[half], web.target[half], qid=ids[half])
    with pytest.warns(SplitQueriesWarning, match="QueryLGBMRanker was fitted on"):
        scorer(model, web.data, web.target, qid=ids)


def test_requests_not_named_stay_as_they_were():
    scorer = make_ranking_scorer().set_score_request(qid="topic")
    scorer.set_score_request(query_weight=True)

    def requests():
        return scorer.get_metadata_routing().score.requests

    assert requests() == {"qid": "topic", "query_weight": True}
    with pytest.raises(ValueError, match="alias"):
        scorer.set_score_request(qid="no alias")
    assert requests() == {"qid": "topic", "query_weight": True}
    column = make_ranking_scorer(qid=0).set_score_request(query_weight=True)
    assert column.get_metadata_routing().score.requests["qid"] is False
