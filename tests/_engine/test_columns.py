"""Cells of X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from tieaware_sklearn import LinearRanker, RankingFeatureSelector
from tieaware_sklearn._engine.columns import (
    blank_qid_column,
    column_of,
    ids_of,
    need_qid,
)
from tieaware_sklearn._engine.exact import none_for_masked
from tieaware_sklearn.datasets import dump_letor

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])


@FRAMES
def test_columns_of_times_and_of_text_are_named(frame):
    times = pd.date_range("2020", periods=3).to_numpy()
    X = frame({"when": times, "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"numbers, got .* in column 'when' \(convert"):
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    X = frame({"query_id": ["a", "a", "b"], "clicks": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"got 'a' in column 'query_id' .*qid='query_"):
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    found = RankingFeatureSelector("rr", qid="query_id", n_features_to_select=1)
    assert found.fit(X, [0, 1, 0]).n_queries_ == 2
    with pytest.raises(ValueError, match="X must hold numbers, got an array of datet"):
        RankingFeatureSelector("rr").fit(times[:, None], [0, 1, 0])


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        ("2,624", {"thousands": ","}),
        ("-1,234,567.5", {"thousands": ","}),
        ("1.234.567,5", {"thousands": ".", "decimal": ","}),
        ("1 234", {"thousands": " "}),
        ("3,14", {"decimal": ","}),
        ("1,2345,678", {}),
        ("a, b", {}),
    ],
)
def test_numbers_that_pandas_can_read_have_a_hint(cell, options, tmp_path):
    names = ", ".join(f"{name}={value!r}" for name, value in options.items())
    how = f"pandas.read_csv(..., {names}) reads such numbers" if options else ""
    X = pd.DataFrame({"views": [cell, "7", "8"]})
    with pytest.raises(ValueError, match=r"got .* in column 'views'") as caught:
        RankingFeatureSelector("rr").fit(X, [0, 1, 0])
    otherwise = "leave the column out, or encode it; query ids go into qid='views'"
    assert str(caught.value).endswith(f" ({how or otherwise})")
    file = tmp_path / "views.csv"
    X.to_csv(file, index=False)
    if options:
        assert pd.read_csv(file, **options).views.dtype.kind in "if"


def test_masks_are_not_looked_through_elsewhere(tmp_path):
    X = np.ma.array([[1.0, 2], [3, 4]], mask=[[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="contains NaN"):
        LinearRanker("equal").fit(X, [0, 1])
    with pytest.raises(ValueError, match="X must not hold masked values"):
        dump_letor(X, [0, 1], tmp_path / "a.txt", qid=[1, 1])


@pytest.mark.parametrize("make", [np.asarray, list, pd.DataFrame, pl.DataFrame])
def test_ids_are_taken_out_of_a_matrix_and_blanked_in_it(make):
    X = np.array([[7.0, 1], [7, 2], [8, 3]])
    X = X.tolist() if make is list else make(X)
    column = X.columns[0] if hasattr(X, "columns") else 0
    ids, is_column = ids_of(X, column)
    assert (list(ids), is_column) == ([7, 7, 8], True)
    assert ids_of(X, ids)[1] is False
    if make is not list:
        blank = np.asarray(blank_qid_column(X, column), dtype=float)
        assert blank.tolist() == [[0, 1], [0, 2], [0, 3]]
        assert np.asarray(X)[0, 0] == 7


def test_ids_in_a_sparse_matrix_that_are_broken_or_missing():
    X = sp.csr_array([[0.5, 1], [7, 2]])
    with pytest.warns(UserWarning, match="qid=0 is a column of fractions, with 0.5 in"):
        assert column_of(X, 0).tolist() == [0.5, 7]
    assert blank_qid_column(X, 0) is X
    with pytest.raises(ValueError, match=r"qid must hold .* None: pass qid to fit"):
        need_qid(None, "fit")
    need_qid([1], "fit")
    masked = none_for_masked(np.ma.array([1, 2], mask=[0, 1]))
    assert masked.tolist() == [1, None]
    assert none_for_masked([1]) == [1]
