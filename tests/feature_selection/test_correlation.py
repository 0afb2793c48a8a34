"""Rank correlation of features within queries."""

from __future__ import annotations

import numpy as np
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
