"""Warnings of columns that were mistaken for each other."""

import warnings

import numpy as np
import pytest

import tieaware_sklearn as ta

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


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, qid: ta.RankingFeatureSelector("ap").fit(X, GRADES, qid=qid),
        lambda X, qid: ta.LinearRanker().fit(X, GRADES, qid=qid),
    ],
    ids=["selector", "linear ranker"],
)
def test_ids_of_rows_are_warned_of_in_fit(fit):
    X = RNG.integers(0, 5, (60, 2)).astype(float)
    with pytest.warns(UserWarning, match=ROW_IDS):
        fit(X, np.arange(60))


def test_parts_of_the_data_may_have_queries_of_one_document():
    X = RNG.integers(0, 5, (60, 2)).astype(float)
    selector = ta.RankingFeatureSelector("ap")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "qid must be")
        selector.partial_fit(X[:2], GRADES[:2], qid=[0, 1])


def test_one_document_alone_is_no_mistake(recwarn):
    ta.ranking_score([1], [0.5], qid=["q"])
    assert not recwarn.list
