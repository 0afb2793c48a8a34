"""Rank correlation of features within queries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from tieaware_sklearn import RankingFeatureSelector


def test_correlations_of_a_huge_query_do_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    X, y = rng.random((400_000, 2)), rng.integers(0, 2, 400_000)
    selector = RankingFeatureSelector("p@5", n_features_to_select=1)
    order, one = rng.permutation(len(y)), np.zeros(len(y))
    first = clone(selector).fit(X, y, qid=one).rank_correlation_
    again = clone(selector).fit(X[order], y[order], qid=one).rank_correlation_
    assert np.array_equal(first, again)


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_means_of_those_of_each_query(weighted):
    rng = np.random.default_rng(1)
    sizes = np.concatenate([rng.integers(2, 40, 60), [400, 401, 1]])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.integers(0, 50, (len(qid), 5)).astype(float)
    # constant within a query
    X[qid == 3, 1] = 2.0
    weight = rng.integers(0, 4, len(sizes)).astype(float)
    options = {"query_weight": weight[qid]} if weighted else {}
    selector = RankingFeatureSelector("p@5", direction="descending")
    found = selector.fit(X, rng.integers(0, 2, len(qid)), qid=qid, **options)
    total, n = np.zeros((2, 5, 5))
    for query in np.flatnonzero(sizes > 1):
        part = X[qid == query]
        there = np.ptp(part, axis=0) > 0
        both = np.ix_(there, there)
        own = weight[query] if weighted else 1.0
        total[both] += own * stats.spearmanr(part[:, there]).statistic
        n[both] += own
    np.testing.assert_allclose(found.rank_correlation_, total / n, atol=1e-12)


@pytest.mark.parametrize("missing", ["raise", "last"])
def test_single_documents_correlate_nothing(missing):
    X, y, qid = [[1.0, 2.0], [3.0, 4.0]], [1, 0], [1, 2]
    selector = RankingFeatureSelector("p@5", missing=missing)
    assert not selector.screen(X, y, qid=qid).rank_correlation.any()
