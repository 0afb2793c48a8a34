"""Rows and queries told apart by 64 bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from tieaware_sklearn._engine.digests import row_digests


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        pd.DataFrame,
        pl.DataFrame,
        sp.csr_array,
        sp.csc_array,
    ],
)
def test_digests_tell_rows_apart_and_nothing_else(make):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 4)).astype(float)
    X[X == 0] *= rng.choice([1, -1], size=(X == 0).sum())
    rows = {tuple(row + 0.0) for row in X}
    digests = row_digests(make(X))
    if make in (pd.DataFrame, pl.DataFrame):
        X = X + 0.0
        digests = row_digests(make(X))
    assert len(set(digests.tolist())) == len(rows)
    order = rng.permutation(200)
    assert np.array_equal(row_digests(make(X[order])), digests[order])
