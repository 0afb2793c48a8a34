"""PreparedRanking: the numbers of `ranking_score` and `evaluate`, to the bit."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import UndefinedMetricWarning

from tests.strategies import queries
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score
from tieaware_sklearn.evaluation import _prepared
from tieaware_sklearn.measures import NDCG

pytestmark = pytest.mark.usefixtures("engine")
NAN = float("nan")
MEASURES = ["ndcg@3", "ap", "rr", "esl", "fallout@2", "r@2"]
ARRAYS = ("expected", "best", "worst", "std", "chance", "ideal", "n_undefined")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=50)
@given(
    case=queries(),
    seed=st.integers(0, 99),
    average=st.sampled_from(["macro", "geometric", "median", "micro", None]),
    ties=st.sampled_from(["expected", "best", "worst", "input"]),
    zero=st.sampled_from([0.5, "skip"]),
    weighted=st.booleans(),
    cells=st.sampled_from([1, 50, 1 << 15]),
    n_jobs=st.sampled_from([None, 2]),
)
def test_the_same_as_one_column_at_a_time(
    case, seed, average, ties, zero, weighted, cells, n_jobs
):
    labels, scores, qid = case
    rng = np.random.default_rng(seed)
    names = ["p@2", "r@2"] if average == "micro" else MEASURES
    measure = names[seed % len(names)]
    columns = {
        "given": scores,
        "small": rng.integers(0, 3, len(labels)).astype(np.int8),
        "large": 2**53 + rng.integers(0, 3, len(labels)),
        "tied": np.zeros(len(labels)),
        "float": rng.integers(0, 4, len(labels)) / 4,
    }
    weight = [1.0 + query % 3 for query in qid] if weighted else None
    data = {"query_weight": weight, "zero_relevance": zero}
    options = {"measure": measure, "ties": ties, "average": average}
    prepared = PreparedRanking(labels, qid, **data)
    for name in ("given", "tied"):
        report = prepared.evaluate(columns[name], MEASURES, n_jobs=n_jobs)
        wanted = evaluate(labels, columns[name], qid=qid, measures=MEASURES, **data)
        for array in ARRAYS:
            assert_array_equal(getattr(report, array), getattr(wanted, array), array)
    wanted = [
        ranking_score(labels, column, qid=qid, **data, **options)
        for column in columns.values()
    ]
    one_by_one = [prepared.score(column, **options) for column in columns.values()]
    assert_array_equal(np.array(one_by_one), np.array(wanted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_prepared, "_CELLS", cells)
        found = prepared.score_columns(columns, n_jobs=n_jobs, **options)
        frame = prepared.score_columns(pd.DataFrame(columns), **options)
    assert_array_equal(found, np.array(wanted))
    assert_array_equal(frame, np.array(wanted))
    matrix = np.column_stack([columns["tied"], columns["float"]])
    assert_array_equal(prepared.score_columns(matrix, **options), found[3:])


def test_columns_of_matrices():
    labels, there = np.array([[1, 0, 2], [0, 1, 0]]), np.ones((2, 3), bool)
    there[1, 2] = False
    scores = np.random.default_rng(0).integers(0, 3, (2, 3, 4)).astype(float)
    prepared = PreparedRanking(
        labels, mask=there, query_weight=[1, 2], segment=["b", "a"]
    )
    found = prepared.score_columns(scores, "ap", average=None)
    assert found.shape == (4, 2)
    named = dict(zip("abcd", np.moveaxis(scores, -1, 0), strict=True))
    assert_array_equal(prepared.score_columns(named, "ap", average=None), found)
    for j, column in enumerate(named.values()):
        assert_array_equal(prepared.score(column, "ap", average=None), found[j])
    assert prepared.evaluate(named["a"]).segment.tolist() == ["b", "a"]


@pytest.mark.parametrize("convention", ["lightgbm", "trec_eval"])
def test_the_definitions_of_other_tools(convention):
    labels, scores, qid = [2, 0, 0, 1, 0, 0], [2, 1, 1, 1, 0, 0], [1, 1, 1, 2, 2, 3]
    prepared = PreparedRanking(labels, qid, convention=convention)
    for measure in ("ndcg@2", "ap"):
        assert prepared.score(scores, measure) == ranking_score(
            labels, scores, measure=measure, qid=qid, convention=convention
        )


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
    for unjudged in ("nonrelevant", "drop"):
        taken = PreparedRanking(labels, unjudged=unjudged)
        assert taken.score(scores, "ap") == ranking_score(
            labels, scores, measure="ap", unjudged=unjudged
        )


def test_a_query_that_nothing_defines():
    prepared = PreparedRanking([0, 0, 1], [1, 1, 2], zero_relevance="raise")
    with pytest.raises(ValueError, match="AP is undefined for query 1"):
        prepared.score([1, 2, 3], "ap")
    nothing = PreparedRanking([0, 0], zero_relevance="skip")
    with pytest.warns(UndefinedMetricWarning, match="AP is undefined") as caught:
        assert np.isnan(nothing.score([1, 2], "ap"))
    assert [warning.filename for warning in caught] == [__file__]
    # of several columns there is one warning
    with pytest.warns(UndefinedMetricWarning, match="AP is undefined") as caught:
        found = nothing.score_columns([[1, 2], [2, 1]], "ap", n_jobs=2)
    assert np.isnan(found).tolist() == [True, True]
    assert [warning.filename for warning in caught] == [__file__]


TWO = PreparedRanking([1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PreparedRanking([]), "y_true must not be empty"),
        (lambda: PreparedRanking([1], zero_relevance="no"), "zero_relevance must"),
        (lambda: PreparedRanking([1], unjudged="no"), "unjudged .*got 'no'"),
        (lambda: PreparedRanking([1, 0], [1]), "qid must have one value per row"),
        (lambda: PreparedRanking([1, 0], [1, 1], query_weight=[1, 2]),
         "query_weight must be constant within a query"),
        (lambda: PreparedRanking([1, 0], segment=["a"]), "segment must have one value"),
        (lambda: PreparedRanking([1], zero_relevance=0.5, convention="lightgbm"),
         "zero_relevance must be .* convention=.*got 0.5"),
        (lambda: PreparedRanking([1], convention="letor"), "convention .*'letor'"),
        (lambda: TWO.score([1]), r"y_score must have one value per row \(2\), got 1"),
        (lambda: TWO.score([1, 2], ties="no"), "ties must be one of .*got 'no'"),
        (lambda: TWO.score([1, 2], average="no"), "average must be .*got 'no'"),
        (lambda: TWO.score([1, 2], "rr", average="micro"),
         r"ratios of counts \(F, Fallout, Judged, P, R and Rprec\), got RR"),
        (lambda: TWO.evaluate([1, 2], []), "at least one measure"),
        (lambda: TWO.score([NAN, 2]), "y_score must not be NaN"),
        (lambda: TWO.score_columns([[1, 2]] * 2, ties="no"), "ties must be one of"),
        (lambda: TWO.score_columns([1, 2]),
         r"one axis more than y_true, for the columns, got shape \(2,\)"),
        (lambda: TWO.score_columns(np.ones((2, 2, 2))), r"columns, .*\(2, 2, 2\)"),
        (lambda: TWO.score_columns(np.ones((3, 2))),
         r"y_score\[0\] must have one value per row \(2\), got 3"),
        (lambda: TWO.score_columns(np.ones((2, 0))), "at least one column, got none"),
        (lambda: TWO.score_columns({}), "y_score must hold at least one column"),
        (lambda: TWO.score_columns(pd.DataFrame([[1, 2]] * 2, columns=["a", "a"])),
         r"y_score must have columns of different names, got \['a', 'a'\]"),
        (lambda: TWO.score_columns([[1, 2], [2, NAN]]), r"y_score\[1\] .*nan in row 1"),
        (lambda: TWO.score_columns({"a": [1, 2], "b": [NAN, 2]}),
         r"y_score\['b'\] must not be NaN, .* row 0"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_given_away_is_a_copy():
    prepared = PreparedRanking(
        [1, 0, 1, 0], [1, 1, 2, 2], query_weight=[1, 1, 3, 3], segment=[5, 5, 6, 6]
    )
    assert prepared.n_documents == 4
    before = prepared.score([1, 2, 4, 3], "ap")
    report = prepared.evaluate([1, 2, 3, 4], ["ap"])
    report.query_weight[:] = report.segment[:] = 1
    report.qid[:] = prepared.qid[:] = 0
    assert prepared.score([1, 2, 4, 3], "ap") == before
    assert prepared.qid.tolist() == [1, 2]
    assert prepared.evaluate([1, 2, 3, 4]).segment.tolist() == [5, 6]


@pytest.mark.parametrize("named", [True, False], ids=["names", "measures"])
def test_many_measures_leave_nothing_behind(named):
    labels = np.random.default_rng(0).integers(0, 2, 2000)
    prepared = PreparedRanking(labels, np.arange(2000) // 4)

    def size(n):
        for i in range(n):
            # the same one is made anew, or others are named
            measure = f"rbp(p={(i + 1) / (n + 2)})" if named else NDCG(k=4)
            prepared.score(labels, measure)
        known = [
            (list(own.memo.values()), list(getattr(own, "_walks", [])))
            for block in prepared._prepared.labelled.blocks()
            for own in (block, getattr(block, "ties", block))
            if hasattr(own, "memo")
        ]
        return len(pickle.dumps(known))

    assert size(200) < 2 * size(60)


def test_pickles_hold_no_more_than_what_was_given():
    n = 20_000
    rng = np.random.default_rng(0)
    prepared = PreparedRanking(rng.integers(0, 3, n), rng.permutation(n) // 10)
    before = len(pickle.dumps(prepared))
    columns = rng.random((n, 3))
    found = prepared.score_columns(columns, NDCG(k=3, gain=lambda label: label))
    after = pickle.dumps(prepared)
    assert len(after) == before < 2.5 * 8 * n
    again = pickle.loads(after).score_columns(columns, "ndcg(gain=linear)@3")
    assert_array_equal(again, found)


def test_what_was_scored_is_freed_at_once():
    prepared = PreparedRanking([1, 0, 2, 0], [1, 1, 2, 2])
    prepared.evaluate([1, 1, 2, 3], ["ndcg@2", "ap", "err", "iprec@.5"])
    blocks = list(prepared._prepared.labelled.blocks())
    left = [weakref.ref(own) for block in blocks for own in (block, block.ties)]
    gc.disable()
    try:
        del prepared, blocks
        assert [own() for own in left] == [None, None]
    finally:
        gc.enable()
