"""Borda scores: whole numbers, the same by either engine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import compiled, use_engine
from tieaware_sklearn.feature_selection import _fused
from tieaware_sklearn.feature_selection._fused import (
    BordaScores,
    Correlation,
    by_length,
)

ENGINES = ["numpy"] + ["compiled"] * (compiled is not None)


def drawn(n_queries=40, n_features=11, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_queries)
    qid = rng.permutation(np.repeat(rng.permutation(n_queries), sizes))
    X = np.round(rng.normal(size=(len(qid), n_features)), 1)
    return X, by_length(check_qid(qid, n_rows=len(qid))), qid


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [float, np.float32, int])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_scores_are_midranks_within_queries(engine, dtype, n_jobs, monkeypatch):
    monkeypatch.setattr(_fused, "_ROWS", 50)
    X, queries, qid = drawn()
    X = (10 * X).astype(dtype)
    with use_engine(engine):
        borda = BordaScores.of(X, queries, n_jobs)
    assert borda.down.dtype == np.int16
    assert not borda.up
    expected = np.empty(X.shape)
    for one in np.unique(qid):
        rows = qid == one
        # rank 1 is the lowest
        expected[rows] = 2 * rankdata(X[rows], axis=0) - (rows.sum() + 1)
    np.testing.assert_array_equal(borda.down, expected[queries.order].T)
    np.testing.assert_array_equal(borda.of_feature(3, True), -borda.down[3])


@pytest.mark.parametrize("engine", ENGINES)
def test_missing_values_are_last_either_way(engine):
    X, queries, _ = drawn()
    X[::4, 2] = np.nan
    with use_engine(engine):
        borda = BordaScores.of(X, queries)
        low, high = (
            BordaScores.of(np.where(np.isnan(X), end, X), queries) for end in (-99, 99)
        )
    assert list(borda.up) == [2]
    np.testing.assert_array_equal(borda.down, low.down)
    np.testing.assert_array_equal(borda.of_feature(2, True), -high.down[2])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_query_takes_wider_numbers(engine):
    X = np.arange(40_000.0)[:, None] // 2
    with use_engine(engine):
        borda = BordaScores.of(X, by_length(check_qid(None, n_rows=len(X))))
    assert borda.down.dtype == np.int32
    assert borda.down.max() == -borda.down.min() == 39_998


@pytest.mark.parametrize("longest", [_fused._LONGEST, 1])
def test_correlation_is_the_mean_of_spearmans_rho(longest, monkeypatch):
    monkeypatch.setattr(_fused, "_LONGEST", longest)
    X, queries, qid = drawn()
    X[:, 1] = -(X[:, 0] ** 3)
    borda = BordaScores.of(X, queries)
    weight = np.random.default_rng(1).uniform(size=queries.n_queries)
    ascending = np.zeros(X.shape[1], dtype=bool)
    correlation = Correlation(borda, weight)
    assert correlation.of(0, 1, ascending) == pytest.approx(-1, abs=1e-15)
    weights, found = [], []
    for own, one in zip(weight, queries.qid, strict=True):
        rows = qid == one
        if all(len(np.unique(X[rows, j])) > 1 for j in (2, 3)):
            weights.append(own)
            found.append(spearmanr(X[rows, 2], X[rows, 3]).statistic)
    expected = np.average(found, weights=weights)
    assert correlation.of(2, 3, ascending) == pytest.approx(expected)
    ascending[2] = True
    assert correlation.of(2, 3, ascending) == pytest.approx(-expected)
