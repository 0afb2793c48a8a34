"""Borda scores of features: midranks within queries, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._engine.segments import IntArray, sum_segments
from .._engine.ties import FloatArray
from .._engine.validation import Queries
from .._kernel.arranged import rank_within
from ._columns import columns_of

#: rows and columns that are ranked in one call
_ROWS, _COLUMNS = 1 << 14, 8
#: documents of a query whose products of scores add up in 64 bits: at most n³/3
_LONGEST = 3_000_000

Whole = NDArray[np.signedinteger[Any]]


class BordaScores(NamedTuple):
    """The Borda score of each document of a query by each feature.

    Of n documents, that at midrank m has n + 1 - 2m: a whole number, 0 for all where
    all tie, and the same for documents that tie.

    Attributes
    ----------
    down : ndarray of shape (n_features, n_rows), int16 or int32
        Scores where higher values rank first.
    up : dict of int to ndarray of shape (n_rows,)
        Where lower values rank first, of the features with NaN, which is last either
        way; of all others these are the negatives of `down`.
    sizes : ndarray of shape (n_queries,)
        Rows of each query, which stand one after another.
    """

    down: Whole
    up: dict[int, Whole]
    sizes: IntArray

    @classmethod
    def of(cls, X: Any, queries: Queries, n_jobs: int | None = None) -> BordaScores:
        """Of the columns of X, dense or sparse; the scores stand query by query.

        Queries of about equal length are ranked together: they had best be by length.
        """
        X = X.tocsc() if sp.issparse(X) else X
        sizes, n_features = queries.sizes, X.shape[1]
        small = int(sizes.max()) <= 2**15
        shape = n_features, queries.n_rows
        down: Whole = np.empty(shape, np.int16 if small else np.int32)
        parts = list(_parts(queries))

        def rank(own: slice) -> dict[int, Whole]:
            columns = np.ascontiguousarray(queries.arrange(columns_of(X, own)).T)
            gaps = np.flatnonzero((columns != columns).any(axis=1))
            up = np.empty((len(gaps), queries.n_rows), down.dtype)
            for rows, within in parts:
                part = columns[:, rows]
                # those ranked first have the least midranks, and the highest scores
                down[own, rows] = -rank_within(part, within, both_ways=False).T
                if len(gaps):
                    both = rank_within(part[gaps], within, both_ways=True)
                    up[:, rows] = -both.T[len(gaps) :]
            return dict(zip((own.start + gaps).tolist(), up, strict=True))

        found = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(rank)(slice(start, start + _COLUMNS))
            for start in range(0, n_features, _COLUMNS)
        )
        return cls(down, {j: one for up in found for j, one in up.items()}, sizes)

    def of_feature(self, feature: int, ascending: bool) -> Whole:
        """Scores of a feature in one direction."""
        down: Whole = self.down[feature]
        return self.up.get(feature, -down) if ascending else down

    def fused(self, features: NDArray[np.intp], ascending: NDArray[Any]) -> FloatArray:
        """Sums of the scores of features, each in its direction."""
        total = np.zeros(self.down.shape[1])
        for feature, lower in zip(features.tolist(), ascending.tolist(), strict=True):
            # whole numbers, none of them rounded
            total += self.of_feature(feature, lower)
        return total

    def some(self, rows: NDArray[np.intp], sizes: IntArray) -> BordaScores:
        """Those of whole queries."""
        up = {j: one[rows] for j, one in self.up.items()}
        return BordaScores(self.down[:, rows], up, sizes)

    def products(self, one: Whole, other: Whole) -> FloatArray:
        """Σ of the products of two columns over each query, rounded once."""
        found = np.multiply(one, other, dtype=np.int64)
        if self.sizes.max() <= _LONGEST:
            return sum_segments(found, self.sizes, np.int64).astype(np.float64)
        halves = (found >> 32, found & (2**32 - 1))
        high, low = (sum_segments(half, self.sizes, np.int64) for half in halves)
        return np.asarray(high * 2.0**32 + low)


def _parts(queries: Queries) -> Iterator[tuple[slice, IntArray]]:
    """Ranges of rows, of whole queries, and the sizes of these."""
    offsets, sizes = queries.offsets, queries.sizes
    first = 0
    while first < len(sizes):
        end = np.searchsorted(offsets, offsets[first] + _ROWS, side="right") - 1
        stop = max(int(end), first + 1)
        yield slice(int(offsets[first]), int(offsets[stop])), sizes[first:stop]
        first = stop
