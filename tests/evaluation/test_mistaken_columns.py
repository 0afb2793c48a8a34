"""Tests of warnings if columns were mistaken for each other."""

import warnings

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

import tieaware_sklearn as ta
import tieaware_sklearn.dask
from tieaware_sklearn.lightgbm import QueryLGBMRanker

RNG = np.random.default_rng(0)
GRADES = RNG.integers(0, 3, 60)
FRACTIONS = RNG.random(60)
QUERY = np.arange(60) // 10
SWAPPED = r"labels have 60 distinct fractions and y_score has 3 .* are swapped"
ROW_IDS = "qid must contain the query id of each row, got a different id in each of 60"
CALLS_OF_LABELS_AND_SCORES = [
    lambda y, s: ta.ranking_score(y, s, qid=QUERY),
    lambda y, s: ta.evaluate(y, s, qid=QUERY),
    lambda y, s: ta.tie_report(y, s, qid=QUERY),
    lambda y, s: ta.PreparedRanking(y, QUERY).score(s),
    lambda y, s: ta.ranking_score(y.reshape(6, 10), s.reshape(6, 10)),
]


@pytest.mark.parametrize(
    "call",
    CALLS_OF_LABELS_AND_SCORES,
    ids=["ranking_score", "evaluate", "tie_report", "prepared", "matrices"],
)
def test_swapped_labels_and_scores_are_warned_of(call):
    with pytest.warns(UserWarning, match=SWAPPED):
        call(FRACTIONS, GRADES)
    call(GRADES, FRACTIONS)


def test_documents_that_are_not_retrieved_have_no_score():
    is_first = QUERY == 0
    retrieved = np.where(is_first, -np.inf, GRADES)
    with pytest.warns(UserWarning, match=SWAPPED):
        ta.evaluate(FRACTIONS, retrieved, qid=QUERY)


ROWS = np.arange(60)


@pytest.mark.parametrize("scores", [FRACTIONS, ROWS, GRADES / 2])
def test_fractions_as_labels_are_right_for_other_scores(scores):
    ta.ranking_score(FRACTIONS, scores, qid=QUERY)


def test_few_fractions_are_labels():
    tenths = np.round(FRACTIONS, 1)
    ta.ranking_score(tenths, GRADES, qid=QUERY)


CALLS_OF_IDS = [
    lambda qid: ta.ranking_score(GRADES, FRACTIONS, qid=qid),
    lambda qid: ta.evaluate(GRADES, FRACTIONS, qid=qid),
    lambda qid: ta.PreparedRanking(GRADES, qid),
    lambda qid: ta.compare_systems(
        GRADES, {"a": FRACTIONS, "b": FRACTIONS[::-1]}, qid=qid
    ),
]


@pytest.mark.parametrize(
    "call",
    CALLS_OF_IDS,
    ids=["ranking_score", "evaluate", "prepared", "compare_systems"],
)
def test_ids_of_rows_are_warned_of(call):
    with pytest.warns(UserWarning, match=ROW_IDS):
        call(ROWS)
    # If one query has two documents, the ids are accepted.
    qid = np.maximum(ROWS, 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must contain")
        call(qid)


X = RNG.integers(0, 5, (60, 2)).astype(float)
ESTIMATORS = [
    ta.RankingFeatureSelector("ap"),
    ta.LinearRanker(),
    QueryLGBMRanker(n_estimators=2, verbosity=-1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("qid", [ROWS, ROWS.astype(str)])
def test_nothing_is_fitted_to_ids_of_rows(estimator, qid):
    with pytest.raises(ValueError, match=ROW_IDS):
        estimator.fit(X, GRADES, qid=qid)


@pytest.mark.parametrize("qid", [ROWS[:50], FRACTIONS])
def test_few_rows_and_ids_with_fractions_are_fitted_with_a_warning(qid):
    n_rows = len(qid)
    ranker = ta.LinearRanker()
    with pytest.warns(UserWarning, match="qid must contain the query id of each row"):
        ranker.fit(X[:n_rows], GRADES[:n_rows], qid=qid)


def add(selector, rows):
    return selector.partial_fit(X[rows], GRADES[rows], qid=ROWS[rows])


def test_parts_of_a_selector_are_judged_together():
    constant = (
        "each feature is constant within every query. If qid contains ids of rows"
    )
    selector = ta.RankingFeatureSelector("ap")
    second = ta.RankingFeatureSelector("ap")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must contain|no feature")
        add(selector, slice(0, 30))
        add(second, slice(30, 60))
    with pytest.warns(UserWarning, match=constant):
        selector.merge(second)
    columns = pd.DataFrame(X, columns=["a", "b"])
    rows = columns.assign(label=GRADES, qid=ROWS)
    batches = [rows[:30], rows[30:]]
    of_batches = ta.RankingFeatureSelector("ap")
    with pytest.warns(UserWarning, match=constant):
        of_batches.fit_batches(batches)
    # If one query has documents to rank, the ids are accepted.
    qid = np.full(10, 60)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "error", "qid must contain|no feature is selected: each feature"
        )
        selector.partial_fit(X[:10], GRADES[:10], qid=qid)


def rows_with_ids():
    return pd.DataFrame({"label": GRADES, "qid": ROWS, "s": FRACTIONS})


def test_batches_are_judged_together():
    rows = rows_with_ids()
    options = {"score": "s", "batch_rows": 10}
    with pytest.warns(UserWarning, match=ROW_IDS) as warned:
        ta.evaluate_batches([rows[:30], rows[30:]], **options)
    assert len(warned) == 1
    rows.loc[59, "qid"] = 58
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must contain")
        ta.evaluate_batches([rows[:30], rows[30:]], **options)


def test_partitions_are_judged_together():
    rows = rows_with_ids()
    frame = dask.dataframe.from_pandas(rows, npartitions=3)
    with pytest.warns(UserWarning, match=ROW_IDS) as warned:
        ta.dask.evaluate(frame, score="s")
    assert len(warned) == 1


def test_scorers_and_scores_of_rankers_warn_of_swapped_columns():
    X = GRADES[:, None]
    ranker = ta.LinearRanker([1.0])
    ranker.fit(X)
    scorer = ta.make_ranking_scorer("ndcg")
    with pytest.warns(UserWarning, match="labels have 60 .* are swapped"):
        scorer(ranker, X, FRACTIONS, qid=QUERY)
    with pytest.warns(UserWarning, match="labels have 60 .* are swapped"):
        ranker.score(X, FRACTIONS, qid=QUERY)


def test_a_single_document_is_not_warned_of(recwarn):
    ta.ranking_score([1], [0.5], qid=["q"])
    assert not recwarn.list
