"""How alike features rank: of all pairs, or of the pairs that are asked for."""

from __future__ import annotations

from functools import reduce
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._engine.segments import offsets_of
from .._engine.ties import FloatArray
from .._engine.validation import Queries
from .._kernel.arranged import rank_within
from ._correlation import FeatureCorrelation

#: features that are correlated at once where not all pairs are
_AT_ONCE = 64
#: cells of a matrix of midranks, and its rows at the least
_CELLS, _ROWS = 1 << 20, 1 << 10


class Likeness(Protocol):
    """Rank correlations of some features with others."""

    def prepare(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Correlate some of the features, the first one included, with the others.

        The first features matter most. What is returned are those for which ρ can be
        asked now.
        """

    def __call__(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> FloatArray:
        """ρ of shape (len(features), len(others))."""


class AllPairs:
    """Rank correlations that are known for all pairs of features."""

    def __init__(self, rho: FloatArray) -> None:
        self._rho = rho

    def prepare(
        self,
        features: NDArray[np.intp],
        others: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        return features

    def __call__(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> FloatArray:
        return np.asarray(self._rho[np.ix_(features, others)])


class PairsAsNeeded:
    """Rank correlations that are computed from the data for the pairs asked for.

    The features of one computation, and their correlations, are held until others are
    asked for. A computation takes as many further features as there are chosen ones,
    or 64, so that a feature is not sorted again and again.

    Parameters
    ----------
    X : dense or sparse matrix
    queries : Queries
    query_weight : ndarray or None
    ascending : ndarray of shape (n_features,), bool
    both_ways : bool
    n_jobs : int or None
    """

    def __init__(
        self,
        X: Any,
        queries: Queries,
        query_weight: FloatArray | None,
        ascending: NDArray[np.bool_],
        *,
        both_ways: bool,
        n_jobs: int | None,
    ) -> None:
        self._X = X.tocsc() if sp.issparse(X) else X
        self._queries = queries
        self._query_weight = query_weight
        self._ascending = ascending
        chosen = queries.sorted()
        self._chosen = chosen[queries.sizes[chosen] > 1]
        self._both_ways = both_ways
        self._n_jobs = n_jobs
        #: place of each feature among those that are held, or -1
        self._place = np.full(len(ascending), -1, dtype=np.intp)
        self._rho: FloatArray = np.empty((0, 0))

    def prepare(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        held = self._place[features] >= 0
        if held[0] and (self._place[others] >= 0).all():
            return features[held]
        some = features[: max(_AT_ONCE, len(others))]
        both = np.union1d(some, others)
        X = self._X[:, both]
        X = np.asarray(X.toarray() if sp.issparse(X) else X)
        n_rankings = len(both) * (1 + self._both_ways)
        batches = Parallel(
            n_jobs=self._n_jobs, require="sharedmem", return_as="generator"
        )(
            delayed(self._correlate)(X, batch)
            for batch in self._batches(n_rankings)
            if len(batch)
        )
        nothing = np.zeros((2, n_rankings, n_rankings))
        found = reduce(FeatureCorrelation.merge, batches, FeatureCorrelation(*nothing))
        self._rho = found.likeness(self._ascending[both])
        self._place[:] = -1
        self._place[both] = np.arange(len(both))
        return some

    def __call__(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> FloatArray:
        return np.asarray(self._rho[np.ix_(self._place[features], self._place[others])])

    def _batches(self, n_rankings: int) -> list[NDArray[np.intp]]:
        """Queries by their ids, so many at once that a product is worth its while."""
        limit = max(_ROWS, _CELLS // n_rankings)
        batch = np.cumsum(self._queries.sizes[self._chosen]) // limit
        return np.split(self._chosen, np.flatnonzero(np.diff(batch)) + 1)

    def _correlate(
        self, X: NDArray[Any], chosen: NDArray[np.intp]
    ) -> FeatureCorrelation:
        """Of these columns and queries, in a product of all rows.

        Other than in `feature_correlation`, terms are no whole numbers, and their last
        bits depend on the order of the rows; the choice rounds them off.
        """
        sizes = self._queries.sizes[chosen]
        rows = self._queries.given(self._queries.rows(chosen))
        columns = np.ascontiguousarray(X[rows].T)
        ranks = rank_within(columns, sizes, both_ways=self._both_ways)
        length = np.sqrt(np.add.reduceat(ranks**2, offsets_of(sizes)[:-1]))
        weight = np.ones(len(chosen))
        if self._query_weight is not None:
            weight = self._query_weight[chosen]
        there = np.sqrt(weight)[:, None] * (length > 0)
        scale = np.divide(there, length, out=np.zeros_like(length), where=length > 0)
        ranks *= np.repeat(scale, sizes, axis=0)
        return FeatureCorrelation(ranks.T @ ranks, there.T @ there)
