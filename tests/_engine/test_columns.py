"""Cells of X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tieaware_sklearn import LinearRanker, RankingFeatureSelector
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
