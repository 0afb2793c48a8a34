"""Rank correlation of features within queries: which of them repeats another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._engine.added_up import AddedUp
from .._engine.segments import offsets_of
from .._engine.ties import FloatArray
from .._engine.validation import Queries
from .._kernel.midranks import rank_within

#: cells of a matrix of midranks
_CELLS = 1 << 18
#: n³ of rows whose products are whole numbers in floats: they add up to n³/3 at most
_WHOLE = 3 * 2**53
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


def columns_of(X: Any, some: slice) -> NDArray[Any]:
    """Columns of a dense or sparse matrix, dense."""
    part = X[:, some]
    return np.asarray(part.toarray() if sp.issparse(part) else part)


def feature_correlation(
    X: Any,
    queries: Queries,
    query_weight: FloatArray | None,
    *,
    both_ways: bool,
    n_jobs: int | None,
) -> FeatureCorrelation:
    """Rank correlation of all pairs of features within queries.

    Products of midranks are whole numbers, and queries are taken by their ids,
    so that the sums do not depend on the order of the rows.
    """
    by_row = sp.csr_array(X) if sp.issparse(X) else X
    # by length and id, single documents left out
    chosen = queries.sorted()
    chosen = chosen[queries.sizes[chosen] > 1]
    chosen = chosen[np.argsort(queries.sizes[chosen], kind="stable")]
    limit = max(1, _CELLS // X.shape[1])
    batch = np.cumsum(queries.sizes[chosen]) // limit
    parts = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(_correlate_queries)(by_row, queries, some, query_weight, both_ways)
        for some in np.split(chosen, np.flatnonzero(np.diff(batch)) + 1)
    )
    total: FeatureCorrelation = reduce(FeatureCorrelation.merge, parts)
    return total


def _correlate_queries(
    X: Any,
    queries: Queries,
    chosen: NDArray[np.intp],
    query_weight: FloatArray | None,
    both_ways: bool,
) -> FeatureCorrelation:
    sizes = queries.sizes[chosen]
    offsets = offsets_of(sizes)
    columns = columns_of(X[queries.given(queries.rows(chosen))], slice(None)).T
    ranks = rank_within(columns, sizes, both_ways=both_ways)
    n_rankings = ranks.shape[1]
    total = FeatureCorrelation(*np.zeros((2, n_rankings, n_rankings)))
    for i, (start, end) in enumerate(pairwise(offsets.tolist())):
        part = ranks[start:end]
        if (end - start) ** 3 > _WHOLE:
            # take the rows in an order of their own
            part = part[np.lexsort(part.T)]
        products = part.T @ part
        length = np.sqrt(np.diag(products))
        scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        weight = 1.0 if query_weight is None else query_weight[chosen[i]]
        total.total += weight * (products * scale[:, None] * scale)
        there_both = (length > 0).astype(float)
        total.weight += weight * np.outer(there_both, there_both)
    return total
