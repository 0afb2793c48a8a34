"""Warnings of columns that were mistaken for each other."""

import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import tieaware_sklearn as ta
import tieaware_sklearn.dask
from tieaware_sklearn.lightgbm import QueryLGBMRanker

RNG = np.random.default_rng(0)
GRADES, FRACTIONS = RNG.integers(0, 3, 60), RNG.random(60)
QUERY = np.arange(60) // 10
SWAPPED = r"labels have 60 distinct fractions and y_score has 3 .* may be swapped"
ROW_IDS = "qid must be the query of each document, got a different id for each of 60"


@pytest.mark.parametrize(
    "call",
    [
        lambda y, s: ta.ranking_score(y, s, qid=QUERY),
        lambda y, s: ta.evaluate(y, s, qid=QUERY),
        lambda y, s: ta.tie_report(y, s, qid=QUERY),
        lambda y, s: ta.PreparedRanking(y, QUERY).score(s),
        lambda y, s: ta.ranking_score(y.reshape(6, 10), s.reshape(6, 10)),
    ],
    ids=["ranking_score", "evaluate", "tie_report", "prepared", "matrices"],
)
def test_swapped_labels_and_scores_are_warned_of(call):
    with pytest.warns(UserWarning, match=SWAPPED):
        call(FRACTIONS, GRADES)
    call(GRADES, FRACTIONS)


def test_documents_that_are_not_retrieved_have_no_score():
    retrieved = np.where(QUERY == 0, -np.inf, GRADES)
    with pytest.warns(UserWarning, match=SWAPPED):
        ta.evaluate(FRACTIONS, retrieved, qid=QUERY)


@pytest.mark.parametrize("scores", [FRACTIONS, np.arange(60), GRADES / 2])
def test_fractions_as_labels_are_right_for_other_scores(scores):
    ta.ranking_score(FRACTIONS, scores, qid=QUERY)


def test_few_fractions_are_labels():
    ta.ranking_score(np.round(FRACTIONS, 1), GRADES, qid=QUERY)


@pytest.mark.parametrize(
    "call",
    [
        lambda qid: ta.ranking_score(GRADES, FRACTIONS, qid=qid),
        lambda qid: ta.evaluate(GRADES, FRACTIONS, qid=qid),
        lambda qid: ta.PreparedRanking(GRADES, qid),
        lambda qid: ta.compare_systems(
            GRADES, {"a": FRACTIONS, "b": FRACTIONS[::-1]}, qid=qid
        ),
    ],
    ids=["ranking_score", "evaluate", "prepared", "compare_systems"],
)
def test_ids_of_rows_are_warned_of(call):
    with pytest.warns(UserWarning, match=ROW_IDS):
        call(np.arange(60))
    # two documents of one query are enough
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must be")
        call(np.maximum(np.arange(60), 1))


X = RNG.integers(0, 5, (60, 2)).astype(float)


@pytest.mark.parametrize(
    "estimator",
    [
        ta.RankingFeatureSelector("ap"),
        ta.LinearRanker(),
        QueryLGBMRanker(n_estimators=2, verbosity=-1),
    ],
)
@pytest.mark.parametrize("qid", [np.arange(60), np.arange(60).astype(str)])
def test_nothing_is_fitted_to_ids_of_rows(estimator, qid):
    with pytest.raises(ValueError, match=ROW_IDS):
        estimator.fit(X, GRADES, qid=qid)


@pytest.mark.parametrize("qid", [np.arange(50), FRACTIONS])
def test_few_rows_and_ids_with_fractions_are_fitted_with_a_warning(qid):
    n_rows = len(qid)
    with pytest.warns(UserWarning, match="qid must be the query of each document"):
        ta.LinearRanker().fit(X[:n_rows], GRADES[:n_rows], qid=qid)


def add(selector, rows):
    return selector.partial_fit(X[rows], GRADES[rows], qid=np.arange(60)[rows])


def test_parts_of_a_selector_are_judged_together():
    constant = "each is constant within every query .is qid an id of the row"
    selector = ta.RankingFeatureSelector("ap")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must be|no feature")
        add(selector, slice(0, 30))
        second = add(ta.RankingFeatureSelector("ap"), slice(30, 60))
    with pytest.warns(UserWarning, match=constant):
        selector.merge(second)
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(label=GRADES, qid=np.arange(60))
    with pytest.warns(UserWarning, match=constant):
        ta.RankingFeatureSelector("ap").fit_batches([rows[:30], rows[30:]])
    # one query with documents to rank is enough
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must be|no feature is selected: each")
        selector.partial_fit(X[:10], GRADES[:10], qid=np.full(10, 60))


def test_batches_are_judged_together():
    rows = pd.DataFrame({"label": GRADES, "qid": np.arange(60), "s": FRACTIONS})
    with pytest.warns(UserWarning, match=ROW_IDS) as warned:
        ta.evaluate_batches([rows[:30], rows[30:]], score="s", batch_rows=10)
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must be")
        rows.loc[59, "qid"] = 58
        ta.evaluate_batches([rows[:30], rows[30:]], score="s", batch_rows=10)


def test_partitions_are_judged_together():
    rows = pd.DataFrame({"label": GRADES, "qid": np.arange(60), "s": FRACTIONS})
    frame = dask.dataframe.from_pandas(rows, npartitions=3)
    with pytest.warns(UserWarning, match=ROW_IDS) as warned:
        ta.dask.evaluate(frame, score="s")
    assert len(warned) == 1


def test_scorers_and_scores_of_rankers_warn_of_swapped_columns():
    ranker = ta.LinearRanker([1.0]).fit(GRADES[:, None])
    with pytest.warns(UserWarning, match="labels have 60 .* may be swapped"):
        ta.make_ranking_scorer("ndcg")(ranker, GRADES[:, None], FRACTIONS, qid=QUERY)
    with pytest.warns(UserWarning, match="labels have 60 .* may be swapped"):
        ranker.score(GRADES[:, None], FRACTIONS, qid=QUERY)


def test_one_document_alone_is_no_mistake(recwarn):
    ta.ranking_score([1], [0.5], qid=["q"])
    assert not recwarn.list
