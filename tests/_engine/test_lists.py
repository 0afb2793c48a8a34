"""Queries as the rows of matrices: the numbers of flat arrays, to the bit."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import tieaware_sklearn as ta
from tests.strategies import ranking
from tieaware_sklearn.evaluation import residuals, sample_orderings, tie_distributions

NAN, INF = math.nan, math.inf
MEASURES = ["ndcg@3", "ap", "rr", "esl", "fallout@2"]
PER_QUERY = ("expected", "best", "worst", "std", "chance", "ideal")
TIES = ("expected", "best", "worst", "input")


@st.composite
def padded(draw):
    """Labels and scores with queries as rows, NaN in both behind the end or between."""
    rows = draw(st.lists(ranking(), min_size=1, max_size=4))
    width = max(2, *(len(labels) for labels, _ in rows)) + draw(st.integers(0, 2))
    matrices = np.full((2, len(rows), width), NAN)
    for i, row in enumerate(rows):
        places = draw(st.permutations(range(width)))[: len(row[0])]
        for j, place in enumerate(places):
            matrices[:, i, place] = row[0][j], row[1][j]
    return tuple(matrices)


def flat(labels, scores):
    """The same documents by rows and ids."""
    there = ~(np.isnan(labels) & np.isnan(scores))
    return labels[there], scores[there], np.nonzero(there)[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@settings(max_examples=40)
@given(padded(), st.sampled_from(TIES), st.sampled_from(["macro", "median", None]))
def test_the_same_bits_as_flat_arrays(matrices, ties, average):
    labels, scores = matrices
    there = ~np.isnan(labels)
    y_true, y_score, qid = flat(labels, scores)
    weight = 1.0 + np.arange(len(labels)) % 3
    given = {
        "NaN": (labels, scores, None),
        "mask": (np.where(there, labels, -1), np.where(there, scores, INF), there),
        "masked": (np.ma.masked_invalid(labels), scores, None),
    }
    options = {"measure": "ap", "ties": ties, "average": average}
    own = {**options, "qid": qid}
    wanted = ta.ranking_score(y_true, y_score, **own)
    weighted = ta.ranking_score(y_true, y_score, query_weight=weight[qid], **own)
    table = ta.evaluate(y_true, y_score, qid=qid, measures=MEASURES)
    prepared = ta.PreparedRanking(labels, mask=there)
    assert_array_equal(prepared.score(scores, **options), wanted)
    assert prepared.n_documents == len(y_true)
    for y, s, mask in given.values():
        assert_array_equal(ta.ranking_score(y, s, mask=mask, **options), wanted)
        found = ta.ranking_score(y, s, mask=mask, query_weight=weight, **options)
        assert_array_equal(found, weighted)
        report = ta.evaluate(y, s, mask=mask, measures=MEASURES)
        assert report.qid.tolist() == list(range(len(labels)))
        for name in PER_QUERY:
            assert_array_equal(getattr(report, name), getattr(table, name), name)


def test_every_function_with_labels_and_scores_takes_matrices():
    labels = np.array([[1, 0, 2], [0, 1, NAN]])
    scores = np.array([[2, 1, 1], [1, 1, NAN]])
    y_true, y_score, qid = flat(labels, scores)
    flat_report = ta.tie_report(y_true, y_score, qid=qid)
    assert str(ta.tie_report(labels, scores)) == str(flat_report)
    keys = np.array([["c", "b", "a"], ["z", "y", ""]])
    found = ta.tie_treatments(labels, scores, external={"name": keys})
    own = {"qid": qid, "external": {"name": keys.ravel()[:5]}}
    wanted = ta.tie_treatments(y_true, y_score, **own).per_query
    assert_array_equal(found.per_query, wanted)
    assert tie_distributions(labels, scores)[1].values.tolist() == [0.5, 1]
    assert residuals(labels, scores, measures="rr").qid.tolist() == [0, 1]
    # orders are of places in the flattened matrix
    labels = np.array([[NAN, 0, 2], [NAN, 1, 0]])
    scores = np.array([[NAN, 1, 2], [NAN, 1, 2]])
    for rows in sample_orderings(labels, scores, n_orders=3):
        assert rows.tolist() == [2, 1, 5, 4]


def test_the_help_says_which_functions_take_matrices():
    labels, scores = np.array([[1, 0, 2], [0, 1, 0]]), np.array([[2, 1, 1], [1, 1, 0]])
    said = " ".join(ta.ranking_score.__doc__.split())
    takes, _, refuses = said.partition("accept matrices, too: ")[2].partition("Those")
    for name in ("evaluate", "tie_report", "tie_treatments"):
        assert f"`{name}`" in takes
        getattr(ta, name)(labels, scores)
    for name in ("compare_systems", "precision_study"):
        assert f"`{name}`" in refuses
        with pytest.raises(ValueError, match="y_true must be 1-dimensional"):
            getattr(ta, name)(labels, scores)


def test_a_label_without_a_judgment_is_no_padding():
    labels, scores = [[1, NAN, 0], [0, 1, NAN]], [[1, 3, 2], [1, 2, NAN]]
    own = {"measure": "rr", "unjudged": "nonrelevant", "average": None}
    found = ta.ranking_score(labels, scores, **own)
    assert found.tolist() == [1 / 3, 1]
    mask = ~np.isnan(scores)
    prepared = ta.PreparedRanking(labels, mask=mask, unjudged="nonrelevant")
    assert prepared.score(scores, "rr", average=None).tolist() == found.tolist()
    with pytest.raises(ValueError, match=r"got nan in row 0, column 1$"):
        ta.PreparedRanking(labels, mask=mask).score(scores, "rr")


def test_frames_and_lists():
    labels, scores = [[1, 0, 2], [0, 1, 0]], [[2, 1, 1], [1, 1, 0]]
    wanted = ta.ranking_score(labels, scores, average=None).tolist()
    polars = partial(pl.DataFrame, orient="row")
    for frame in (np.array, pd.DataFrame, polars, lambda rows: [*map(np.array, rows)]):
        found = ta.ranking_score(frame(labels), frame(scores), average=None)
        assert found.tolist() == wanted
    hidden = pd.DataFrame(scores) == 0
    given = [pd.DataFrame(x, dtype="Int64").mask(hidden) for x in (labels, scores)]
    found = ta.evaluate(*given, measures="p")
    assert found.expected[:, 0].tolist() == [2 / 3, 1 / 2]


def test_a_column_with_a_mask_is_queries_of_one_document():
    # batches of lists are as wide as their longest
    labels, scores, mask = (
        np.array([[1], [0], [2]]),
        [[3], [1], [2]],
        np.ones((3, 1)) > 0,
    )
    found = ta.ranking_score(labels, scores, mask=mask, measure="rr", average=None)
    assert found.tolist() == [1, 0, 1]
    prepared = ta.PreparedRanking(labels.tolist(), mask=mask)
    assert prepared.score(scores, "rr", average=None).tolist() == [1, 0, 1]


ONE = {"y_true": [[1, 0], [0, 1]], "y_score": [[2, 1], [1, 2]]}
FLAT = {"y_true": [1, 0], "y_score": [1, 2], "mask": [True, True]}
A = np.array([[2, 1], ["a", 2]], object)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_true": [[1, 0], [NAN, 1]]}, "padding must be NaN in the scores, too"),
        ({"qid": [0, 1]}, "qid must be None where y_true has two dimensions"),
        ({"y_score": [[1, 2, 3]] * 2}, r"shape of y_true, \(2, 2\), got \(2, 3\)"),
        ({"y_score": [[1], [1, 2]]}, "y_score must have rows of equal length"),
        ({"mask": [[1, 1], [1, 0]]}, "mask must be boolean, .* got dtype int64"),
        ({"y_true": [[[1, 0], [0, 1]]]}, r"two dimensions, got shape \(1, 2, 2\)"),
        (
            {"y_true": csr_array(np.eye(2))},
            "y_true must be dense, got a csr_array: toarray",
        ),
        (
            {"y_score": csr_array(np.eye(2))},
            "y_score must be dense, got a csr_array: toarray",
        ),
        ({"mask": [True, False]}, r"mask must have the shape of y_true, \(2, 2\), got"),
        ({"mask": [[True, True], [False, False]]}, "nothing but padding in row 1"),
        (FLAT, r"mask must be None unless .* shape \(n_queries, n_documents\)"),
        ({"y_true": np.ones((0, 3))}, r"y_true must not be empty, got shape \(0, 3\)"),
        (
            {"y_true": [[1, 0], [0, -1]]},
            r"\(mask=y_true >= 0 .* -1.0 in row 1, col",
        ),
        ({"y_true": [[1, INF], [0, 1]]}, "be finite, got inf in row 0, column 1"),
        ({"y_score": [[2, NAN], [1, 2]]}, "y_score .* not be NaN, .* row 0, column 1"),
        ({"y_score": [[2, 1], [INF, 2]]}, "y_score .* be finite, .* row 1, column 0"),
        ({"y_score": [[2, 1], ["a", 2]]}, "y_score .* numeric, .* row 0, column 0"),
        ({"y_score": A}, "numeric, got dtype object with 'a' in row 1, column 0"),
        ({"query_weight": [1, 2, 3]}, r"query_weight .* one value per row \(2\)"),
        ({"query_weight": [1, -2]}, "query_weight .* be finite and >= 0, got -2.0 in"),
    ],
)
def test_bad_input(changes, message):
    arguments = {**ONE, **changes}
    with pytest.raises(ValueError, match=message):
        ta.ranking_score(arguments.pop("y_true"), arguments.pop("y_score"), **arguments)
