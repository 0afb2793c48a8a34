"""PreparedRanking: the numbers of `ranking_score` and `evaluate`, to the bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from tests.strategies import queries
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score

NAN = float("nan")
MEASURES = ["ndcg@3", "ap", "rr", "esl", "fallout@2", "r@2"]
ARRAYS = ("expected", "best", "worst", "std", "chance", "ideal", "n_undefined")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=150)
@given(
    case=queries(),
    zero=st.sampled_from([0.0, 0.5, "skip"]),
    average=st.sampled_from(["macro", "geometric", "median", None]),
    ties=st.sampled_from(["expected", "best", "worst", "input"]),
    weighted=st.booleans(),
)
def test_the_same_as_one_column_at_a_time(case, zero, average, ties, weighted):
    labels, scores, qid = case
    weight = None
    if weighted:
        weight = [1.0 + query % 3 for query in qid]
    options = {"query_weight": weight, "zero_relevance": zero}
    prepared = PreparedRanking(labels, qid, **options)
    for column in (scores, np.zeros(len(labels)), -np.arange(len(labels))):
        report = prepared.evaluate(column, MEASURES)
        wanted = evaluate(labels, column, qid=qid, measures=MEASURES, **options)
        for name in ARRAYS:
            assert_array_equal(getattr(report, name), getattr(wanted, name), name)
        for measure in MEASURES:
            assert_array_equal(
                prepared.score(column, measure, ties=ties, average=average),
                ranking_score(
                    labels,
                    column,
                    qid=qid,
                    measure=measure,
                    ties=ties,
                    average=average,
                    **options,
                ),
            )


@pytest.mark.parametrize("convention", ["lightgbm", "catboost", "trec_eval"])
def test_the_definitions_of_other_tools(convention):
    labels, scores, qid = [2, 0, 0, 1, 0, 0], [2, 1, 1, 1, 0, 0], [1, 1, 1, 2, 2, 3]
    prepared = PreparedRanking(labels, qid, convention=convention)
    for measure in ("ndcg@2", "ap"):
        assert prepared.score(scores, measure) == ranking_score(
            labels, scores, qid=qid, measure=measure, convention=convention
        )
    wanted = evaluate(labels, scores, qid=qid, measures="ap", convention=convention)
    assert_array_equal(prepared.evaluate(scores, "ap").expected, wanted.expected)
    with pytest.raises(ValueError, match="zero_relevance is part of convention="):
        PreparedRanking(labels, zero_relevance=0.5, convention=convention)
    with pytest.raises(ValueError, match=r"convention must be one of .*'letor'"):
        PreparedRanking(labels, convention="letor")


def test_counts_are_pooled():
    labels, scores, qid = [1, 0, 0, 1, 1], [2, 1, 1, 1, 0], [1, 1, 2, 2, 2]
    prepared = PreparedRanking(labels, qid)
    pooled = ranking_score(labels, scores, qid=qid, measure="r@1", average="micro")
    assert prepared.score(scores, "r@1", average="micro") == pooled
    with pytest.raises(ValueError, match=r"ratio of counts \(F, Fallout, P, R and Rpr"):
        prepared.score(scores, "rr", average="micro")


def test_labels_without_a_judgment_are_refused_by_those_who_cannot_take_them():
    labels, scores = [1, NAN, 0, 1], [3, 2, 1, 1]
    prepared = PreparedRanking(labels)
    assert prepared.score(scores, "bpref") == ranking_score(
        labels, scores, measure="bpref"
    )
    with pytest.raises(ValueError, match=r"y_true must be judged .*got nan in row 1$"):
        prepared.score(scores, "ap")
    with pytest.raises(ValueError, match="y_true must be judged"):
        prepared.evaluate(scores, ["bpref", "ap"])
    taken = PreparedRanking(labels, unjudged="nonrelevant")
    assert taken.score(scores, "ap") == ranking_score(
        labels, scores, measure="ap", unjudged="nonrelevant"
    )


def test_attributes_and_pickles():
    prepared = PreparedRanking([1, 0, 1], ["b", "a", "b"])
    assert prepared.qid.tolist() == ["b", "a"]
    assert prepared.n_documents == 3
    again = pickle.loads(pickle.dumps(prepared))
    assert again.score([1, 1, 1], "rr") == prepared.score([1, 1, 1], "rr")


def test_a_query_that_nothing_defines():
    prepared = PreparedRanking([0, 0, 1], [1, 1, 2], zero_relevance="raise")
    with pytest.raises(ValueError, match="AP is undefined for query 1"):
        prepared.score([1, 2, 3], "ap")
    nothing = PreparedRanking([0, 0], zero_relevance="skip")
    with pytest.warns(UndefinedMetricWarning, match="AP is undefined") as caught:
        assert np.isnan(nothing.score([1, 2], "ap"))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PreparedRanking([]), "y_true must not be empty"),
        (lambda: PreparedRanking([1], zero_relevance="no"), "zero_relevance must be"),
        (lambda: PreparedRanking([1], unjudged="no"), "unjudged must be one of"),
        (lambda: PreparedRanking([1, 0], [1]), "qid must have one value per row"),
        (
            lambda: PreparedRanking([1, 0], [1, 1], query_weight=[1, 2]),
            "query_weight must be constant within a query",
        ),
        (
            lambda: PreparedRanking([1, 0]).score([1]),
            r"y_score must have one value per row \(2\), got 1",
        ),
        (lambda: PreparedRanking([1, 0]).score([1, 2], ties="no"), "ties must be"),
        (lambda: PreparedRanking([1, 0]).score([1, 2], average="no"), "average must"),
        (lambda: PreparedRanking([1, 0]).evaluate([1, 2], []), "at least one measure"),
        (lambda: PreparedRanking([1, 0]).score([NAN, 2]), "y_score must not be NaN"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_given_away_is_a_copy():
    prepared = PreparedRanking([1, 0, 1, 0], [1, 1, 2, 2], query_weight=[1, 1, 3, 3])
    before = prepared.score([1, 2, 4, 3], "ap")
    report = prepared.evaluate([1, 2, 3, 4], ["ap"])
    report.query_weight[:] = 1
    report.qid[:] = prepared.qid[:] = 0
    assert prepared.score([1, 2, 4, 3], "ap") == before
    assert prepared.qid.tolist() == [1, 2]


def test_many_measures_leave_nothing_behind():
    labels = np.random.default_rng(0).integers(0, 2, 2000)
    qid = np.arange(2000) // 4
    prepared = PreparedRanking(labels, qid)

    def size(n):
        for i in range(n):
            prepared.score(labels, f"rbp(p={(i + 1) / (n + 2)})")
        known = [list(b.everything._memo.values()) for b in blocks()]
        return len(pickle.dumps(known))

    def blocks():
        return prepared._prepared.labelled.blocks()

    assert size(200) < 2 * size(60)
