"""How alike features rank: of all pairs, or of the pairs that are asked for."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from .._engine.validation import Queries
from ._correlation import feature_correlation

#: features that are correlated at once where not all pairs are
_AT_ONCE = 64


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
        found = feature_correlation(
            self._X[:, both],
            self._queries,
            self._query_weight,
            both_ways=self._both_ways,
            n_jobs=self._n_jobs,
        )
        self._rho = found.likeness(self._ascending[both])
        self._place[:] = -1
        self._place[both] = np.arange(len(both))
        return some

    def __call__(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> FloatArray:
        return np.asarray(self._rho[np.ix_(self._place[features], self._place[others])])
