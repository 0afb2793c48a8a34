"""Rank correlation of features within queries: which of them repeats another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._engine import AddedUp, FloatArray, IntArray, Queries, offsets_of, runs
from .._kernel import rank_within
from ._columns import side_by_side

#: cells of a matrix of midranks; where one product is of all its rows
_CELLS, _CELLS_ROUNDED = 1 << 18, 1 << 20
#: n³ of rows whose products are whole numbers in floats: they add up to n³/3 at most
_WHOLE = 3 * 2**53
#: the same of single precision, in which products take half the time
_WHOLE_SINGLE = 3 * 2**24
#: cells of the products of queries that are multiplied in one call
_PRODUCTS = 1 << 18
#: features that are correlated at once where not all pairs are
_AT_ONCE = 64
#: |ρ| of copies, whose last bits may differ
_COPY = 1 - 1e-10


@dataclass
class FeatureCorrelation(AddedUp):
    """Spearman's ρ (with ties) within queries, summed over queries.

    Attributes
    ----------
    total, weight : ndarray of shape (n_rankings, n_rankings)
        Σ w ρ and Σ w over the queries in which both rankings vary. The rankings
        are those of the features by higher values, then, if there are twice as
        many, those by lower values.
    """

    total: FloatArray
    weight: FloatArray

    def of_directions(self, ascending: NDArray[np.bool_]) -> FloatArray:
        """Mean ρ over queries of the features, each ranked in its direction.

        0 where no query has both vary.
        """
        nothing = np.zeros_like(self.total)
        out = np.divide(self.total, self.weight, out=nothing, where=self.weight > 0)
        n = len(ascending)
        if len(out) == n:
            sign = np.where(ascending, -1.0, 1.0)
            return out * sign[:, None] * sign
        chosen = np.arange(n) + n * ascending
        return np.asarray(out[np.ix_(chosen, chosen)])

    def likeness(self, ascending: NDArray[np.bool_]) -> FloatArray:
        """The mean ρ by which copies are found.

        It is that `of_directions`, but where missing values rank last either way, a
        reversed copy in the same direction has ρ = -1, too.
        """
        rho = self.of_directions(ascending)
        n = len(ascending)
        if len(self.total) == n:
            return rho
        turned = np.arange(n) + n * ~ascending
        chosen = np.arange(n) + n * ascending
        at = np.ix_(chosen, turned)
        nothing = np.zeros((n, n))
        other = np.divide(
            self.total[at], self.weight[at], out=nothing, where=self.weight[at] > 0
        )
        is_copy = (np.abs(other) > _COPY) | (np.abs(other.T) > _COPY)
        return np.where(is_copy & (np.abs(rho) <= _COPY), -1.0, rho)


@dataclass
class Likeness:
    """How alike features rank: of all pairs, or of pairs as they are asked for.

    Where pairs are computed as they are asked for, some features are held until others
    are asked for. A computation takes as many further features as there are chosen
    ones, or 64, so that a feature is not sorted again and again.

    Attributes
    ----------
    rho : ndarray of shape (n_held, n_held)
        Rank correlations of the features that are held.
    place : ndarray of shape (n_features,), int
        Place of each feature among those that are held, or -1.
    correlate : callable, optional
        Gives the rank correlations of some features, where not all are held.
    """

    rho: FloatArray
    place: NDArray[np.intp]
    correlate: Callable[[NDArray[np.intp]], FloatArray] | None = None

    def prepare(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Correlate some of the features, the first one included, with the others.

        The first features matter most. What is returned are those for which ρ can be
        asked now.
        """
        held = self.place[features] >= 0
        asked = held[0] and (self.place[others] >= 0).all()
        if asked or self.correlate is None:
            return features[held]
        some = features[: max(_AT_ONCE, len(others))]
        both = np.union1d(some, others)
        self.rho = self.correlate(both)
        self.place[:] = -1
        self.place[both] = np.arange(len(both))
        return some

    def __call__(
        self, features: NDArray[np.intp], others: NDArray[np.intp]
    ) -> FloatArray:
        """ρ of shape (len(features), len(others))."""
        return np.asarray(self.rho[np.ix_(self.place[features], self.place[others])])


def feature_correlation(
    X: Any,
    queries: Queries,
    query_weight: FloatArray | None,
    *,
    both_ways: bool,
    n_jobs: int | None,
    rounded: bool = False,
) -> FeatureCorrelation:
    """Rank correlation of all pairs of features within queries.

    Products of midranks are whole numbers, and queries are taken by their ids,
    so that the sums do not depend on the order of the rows. If they are to be `rounded`
    anyway, they may depend on it in their last bits, and take a quarter of the time.
    """
    by_row = sp.csr_array(X) if sp.issparse(X) else X
    # by length and id, single documents left out
    chosen = queries.shortest_first()
    chosen = chosen[queries.sizes[chosen] > 1]
    cells = _CELLS_ROUNDED if rounded else _CELLS
    limit = max(1, cells // X.shape[1])
    batch = np.cumsum(queries.sizes[chosen]) // limit
    parts = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(_correlate_queries)(
            by_row, queries, some, query_weight, both_ways, rounded
        )
        for some in np.split(chosen, np.flatnonzero(np.diff(batch)) + 1)
    )
    return FeatureCorrelation(*reduce(np.add, parts))


def _correlate_queries(
    X: Any,
    queries: Queries,
    chosen: NDArray[np.intp],
    query_weight: FloatArray | None,
    both_ways: bool,
    rounded: bool,
) -> FloatArray:
    """Σ w ρ and Σ w of these queries."""
    sizes = queries.sizes[chosen]
    offsets = offsets_of(sizes)
    columns = side_by_side(X[queries.given(queries.rows(chosen))], slice(None))
    ranks = rank_within(columns, sizes, both_ways=both_ways)
    if rounded:
        length = np.sqrt(np.add.reduceat(ranks**2, offsets[:-1]))
        there = (length > 0) * 1.0
        if query_weight is not None:
            there *= np.sqrt(query_weight[chosen])[:, None]
        scale = np.divide(there, length, out=np.zeros_like(length), where=length > 0)
        ranks *= np.repeat(scale, sizes, axis=0)
        return np.stack([ranks.T @ ranks, there.T @ there])
    n_rankings = ranks.shape[1]
    total = np.zeros((2, n_rankings, n_rankings))
    for some in _alike(sizes, n_rankings):
        rows = ranks[offsets[some.start] : offsets[some.stop]]
        weight = None if query_weight is None else query_weight[chosen[some]]
        total += _correlated(rows, sizes[some], weight)
    return total


def _alike(sizes: IntArray, n_rankings: int) -> Iterator[slice]:
    """Neighbouring queries of about the same length, few enough for their products."""
    # rows are padded by a sixth at the most
    starts, numbers = runs(np.ceil(4 * np.log2(sizes)))
    for start, stop in zip(starts, starts + numbers, strict=True):
        whole = sizes[stop - 1] ** 3 <= _WHOLE
        most = max(1, _PRODUCTS // n_rankings**2) if whole else 1
        for first in range(start, stop, most):
            yield slice(first, min(first + most, stop))


def _correlated(
    ranks: FloatArray, sizes: IntArray, weight: FloatArray | None
) -> FloatArray:
    """Of queries whose midranks, (n_rows, n_rankings), stand one after another."""
    longest = int(sizes.max())
    if longest**3 > _WHOLE:
        # take the rows in an order of their own
        ranks = ranks[np.lexsort(ranks.T)]
    kind = np.float32 if longest**3 <= _WHOLE_SINGLE else np.float64
    padded = np.zeros((len(sizes), longest, ranks.shape[1]), dtype=kind)
    padded[np.arange(longest) < sizes[:, None]] = ranks
    products = padded.transpose(0, 2, 1) @ padded
    length = np.sqrt(np.diagonal(products, axis1=1, axis2=2).astype(np.float64))
    there = (length > 0).astype(np.float64)
    scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    weighted = 1.0 if weight is None else weight[:, None]
    rho = products * (weighted * scale)[:, :, None]
    rho *= scale[:, None, :]
    if weight is None:
        # whole numbers
        both = there.T @ there
    else:
        both = ((weighted * there)[:, :, None] * there[:, None, :]).sum(axis=0)
    return np.stack([rho.sum(axis=0), both])
