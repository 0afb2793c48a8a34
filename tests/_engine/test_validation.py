"""Arrays of any kind at the one door."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.evaluation.helpers import AP_A, AP_C, LABELS, QID, SCORES, score
from tieaware_sklearn import ranking_score
from tieaware_sklearn._engine.checks import check_qid, check_segment


@pytest.mark.parametrize(
    "qid",
    [
        np.array([3, 3, 1, 1, 3, 2, 2, 2]),
        np.array([0.5, 0.5, 1, 1, 0.5, 2, 2, 2]),
        np.array(QID),
        np.array(QID, dtype=object),
        np.array([b"x", b"x", b"y", b"y", b"x", b"z", b"z", b"z"]),
        np.array(
            ["2020", "2020", "2021", "2021", "2020", "2022", "2022", "2022"], "M8[Y]"
        ),
        [
            (1, "a"),
            (1, "a"),
            (2, "b"),
            (2, "b"),
            (1, "a"),
            (3, "c"),
            (3, "c"),
            (3, "c"),
        ],
        [1, 1, "1", "1", 1, 2, 2, 2],
        pd.Series(QID, index=range(8, 0, -1)),
        pd.Series(QID, dtype="category"),
        pd.array([1, 1, 2, 2, 1, 3, 3, 3], dtype="Int64"),
        pl.Series(QID),
        [True, True, False, False, True, 2, 2, 2],
        ["1", "1", b"1", b"1", "1", 1, 1, 1],
        [2**53, 2**53, 2**53 + 1, 2**53 + 1, 2**53, 1.5, 1.5, 1.5],
        [2**63, 2**63, 2**63 + 1, 2**63 + 1, 2**63, -1, -1, -1],
        ["a\0", "a\0", "a", "a", "a\0", "b", "b", "b"],
        np.array([1, 1, 2, 2, 1, 3, 3, 3], dtype=[("id", int)]),
    ],
    ids=lambda qid: type(qid).__name__,
)
def test_qid_of_any_hashable_dtype(qid):
    values = ranking_score(LABELS, SCORES, qid=qid, measure="ap", average=None)
    assert values == pytest.approx([AP_A, 0, AP_C])


@pytest.mark.parametrize("series", [list, tuple, np.array, pd.Series, pl.Series])
def test_one_dimensional_input_of_any_kind(series):
    got = ranking_score(series(LABELS), series(SCORES), qid=series(QID), measure="ap")
    assert got == score()


def test_object_arrays_of_integers_are_compared_as_integers():
    big = np.array([2**53, 2**53 + 1], dtype=object)
    assert ranking_score([1, 0], big, measure="rr") == 0.5


@pytest.mark.parametrize("make", [
    list,
    np.array,
    lambda ids: np.array(ids, dtype=object),
    lambda ids: pd.Series(ids),
    lambda ids: [one.encode() for one in ids],
    lambda ids: np.array([one.encode() for one in ids]),
])  # fmt: skip
def test_the_empty_text_is_no_id_and_a_segment(make):
    """In text files, nothing tells it from an id that is missing."""
    ids = make(["a", "b", "", "b"])
    with pytest.raises(ValueError, match=r"qid must not be empty, got .*'' in row 2"):
        check_qid(ids, n_rows=4)
    queries = check_qid([1, 2, 3, 2], n_rows=4)
    assert len(set(check_segment(ids, queries).tolist())) == 3
