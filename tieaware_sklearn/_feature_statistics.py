"""What single features are worth, kept so that further queries can be added."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ._averages import NO_DIFFERENCE, QueryMoments, fill_undefined
from ._optional import import_optional
from ._scoring import LabelledQueries
from ._ties import FloatArray, dense_ranks, midranks
from ._validation import Queries
from .measures import Measure

#: cells of a matrix of midranks
_CELLS = 1 << 22


@dataclass
class Worth:
    """Of features ranked in one direction, columns (n_features, n_measures).

    Attributes
    ----------
    value, difference, best, worst : QueryMoments
        Of the expected value, of what it is better than chance by, and of the
        best and worst value.
    tie_variance : ndarray
        Σ w² Var over queries of weight w.
    """

    value: QueryMoments
    difference: QueryMoments
    best: QueryMoments
    worst: QueryMoments
    tie_variance: FloatArray

    def merge(self, other: Worth) -> Worth:
        return Worth(
            self.value.merge(other.value),
            self.difference.merge(other.difference),
            self.best.merge(other.best),
            self.worst.merge(other.worst),
            self.tie_variance + other.tie_variance,
        )

    @classmethod
    def stack(cls, worths: Sequence[Worth]) -> Worth:
        def column(name: str) -> QueryMoments:
            return QueryMoments.stack([getattr(w, name) for w in worths])

        return cls(
            column("value"),
            column("difference"),
            column("best"),
            column("worst"),
            np.stack([w.tie_variance for w in worths]),
        )


@dataclass
class RankCorrelation:
    """Spearman's ρ (with ties) within queries, summed over queries.

    Attributes
    ----------
    total, weight : ndarray of shape (n_features, n_features)
        Σ w ρ and Σ w over the queries in which both features vary.
    """

    total: FloatArray
    weight: FloatArray

    def merge(self, other: RankCorrelation) -> RankCorrelation:
        return RankCorrelation(self.total + other.total, self.weight + other.weight)

    def mean(self) -> FloatArray:
        """Mean ρ over queries; 0 where no query has both features vary."""
        out = np.zeros_like(self.total)
        np.divide(self.total, self.weight, out=out, where=self.weight > 0)
        return out


@dataclass
class FeatureStatistics:
    """Everything that a screening of features adds up over queries.

    Attributes
    ----------
    descending, ascending : Worth
        Of each feature with higher, or lower, values ranked first.
    chance, ideal : QueryMoments
        Columns (n_measures,).
    varies : ndarray of shape (n_features,), bool
        Features that differ within at least one query.
    correlation : RankCorrelation or None
    n_queries : int
    """

    descending: Worth
    ascending: Worth
    chance: QueryMoments
    ideal: QueryMoments
    varies: NDArray[np.bool_]
    correlation: RankCorrelation | None
    n_queries: int

    def merge(self, other: FeatureStatistics) -> FeatureStatistics:
        correlation = None
        if self.correlation is not None and other.correlation is not None:
            correlation = self.correlation.merge(other.correlation)
        return FeatureStatistics(
            self.descending.merge(other.descending),
            self.ascending.merge(other.ascending),
            self.chance.merge(other.chance),
            self.ideal.merge(other.ideal),
            self.varies | other.varies,
            correlation,
            self.n_queries + other.n_queries,
        )


def feature_statistics(
    X: Any,
    labels: FloatArray,
    queries: Queries,
    measures: Sequence[Measure],
    *,
    query_weight: FloatArray | None,
    zero_relevance: float | str,
    directions: Sequence[str],
    correlate: bool,
    n_jobs: int | None,
    progress: bool,
) -> FeatureStatistics:
    """Score every column of X, dense or CSC, alone.

    `directions` holds "descending", "ascending" or "auto", which is both, of
    each feature; the worth of a direction not asked for is that of the other.
    """
    labelled = LabelledQueries(labels, queries)
    raw_chance = labelled.of_labels(measures, "chance")
    undefined = np.isnan(raw_chance)

    def filled(values: FloatArray) -> FloatArray:
        return fill_undefined(values, undefined, zero_relevance, measures, queries)

    chance = filled(raw_chance)
    columns = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_one_feature)(
            _column(X, j),
            labelled,
            measures,
            directions[j],
            chance,
            undefined,
            zero_relevance,
            query_weight,
        )
        for j in range(X.shape[1])
    )
    found = list(_show(columns, X.shape[1], progress))
    correlation = None
    if correlate:
        correlation = _rank_correlation(X, queries, query_weight, n_jobs)
    return FeatureStatistics(
        Worth.stack([descending for descending, _, _ in found]),
        Worth.stack([ascending for _, ascending, _ in found]),
        QueryMoments.of(chance, query_weight),
        QueryMoments.of(filled(labelled.of_labels(measures, "ideal")), query_weight),
        np.array([varies for _, _, varies in found], dtype=bool),
        correlation,
        queries.n_queries,
    )


def _show(items: Iterable[Any], total: int, progress: bool) -> Iterator[Any]:
    if progress:
        tqdm = import_optional("tqdm.auto", extra="io", purpose="a progress bar")
        items = tqdm.tqdm(items, total=total, desc="screening", unit="feature")
    yield from items


def _column(X: Any, j: int) -> NDArray[Any]:
    if sp.issparse(X):
        return np.asarray(X[:, [j]].toarray()).ravel()
    return np.asarray(X[:, j])


def _one_feature(
    column: NDArray[Any],
    labelled: LabelledQueries,
    measures: Sequence[Measure],
    direction: str,
    chance: FloatArray,
    undefined: NDArray[np.bool_],
    zero_relevance: float | str,
    query_weight: FloatArray | None,
) -> tuple[Worth, Worth, bool]:
    sign = np.where([measure.greater_is_better for measure in measures], 1.0, -1.0)

    def worth(ascending: bool) -> Worth:
        found = labelled.values(measures, column, ascending=ascending)
        queries = labelled.queries
        expected, best, worst = (
            fill_undefined(found[name], undefined, zero_relevance, measures, queries)
            for name in ("expected", "best", "worst")
        )
        difference = sign * (expected - chance)
        difference[np.abs(difference) <= NO_DIFFERENCE] = 0.0
        std = np.where(undefined, 0.0, found["std"])
        if query_weight is not None:
            std = std * query_weight[:, None]
        return Worth(
            QueryMoments.of(expected, query_weight),
            QueryMoments.of(difference, query_weight),
            QueryMoments.of(best, query_weight),
            QueryMoments.of(worst, query_weight),
            np.array([math.fsum(squares) for squares in (std**2).T.tolist()]),
        )

    first = worth(direction == "ascending")
    second = worth(True) if direction == "auto" else first
    return first, second, _varies(column, labelled.queries)


def _varies(column: NDArray[Any], queries: Queries) -> bool:
    """Whether the column differs within any query, NaN being equal to NaN."""
    arranged = queries.arrange(column)
    first = np.repeat(arranged[queries.offsets[:-1]], queries.sizes)
    differs = arranged != first
    if arranged.dtype.kind == "f":
        differs &= ~(np.isnan(arranged) & np.isnan(first))
    return bool(differs.any())


def _rank_correlation(
    X: Any, queries: Queries, query_weight: FloatArray | None, n_jobs: int | None
) -> RankCorrelation:
    """Rank correlation of all pairs of features within queries.

    Products of midranks are whole numbers, and queries are taken by their ids,
    so that the sums do not depend on the order of the rows.
    """
    by_row = sp.csr_array(X) if sp.issparse(X) else X
    rows = np.arange(queries.n_rows) if queries.order is None else queries.order
    limit = max(1, _CELLS // X.shape[1])
    parts = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        delayed(_correlate_queries)(by_row, rows, queries, chosen, query_weight)
        for chosen in _batches(queries, limit)
    )
    total = RankCorrelation(*np.zeros((2, X.shape[1], X.shape[1])))
    for part in parts:
        total = total.merge(part)
    return total


def _batches(queries: Queries, limit: int) -> Iterator[NDArray[np.intp]]:
    """Queries by id, in batches of about `limit` rows; single documents left out."""
    order = queries.sorted()
    order = order[queries.sizes[order] > 1]
    reached = np.cumsum(queries.sizes[order]) // limit
    yield from np.split(order, np.flatnonzero(np.diff(reached)) + 1)


def _correlate_queries(
    X: Any,
    rows: NDArray[np.intp],
    queries: Queries,
    chosen: NDArray[np.intp],
    query_weight: FloatArray | None,
) -> RankCorrelation:
    sizes = queries.sizes[chosen]
    query = np.repeat(np.arange(len(chosen)), sizes)
    ends = np.cumsum(sizes)
    starts = queries.offsets[chosen]
    there = np.arange(len(query)) - np.repeat(ends - sizes - starts, sizes)
    block = X[rows[there]]
    ranks = np.empty((len(query), X.shape[1]))
    for j in range(X.shape[1]):
        # NaN is ranked -1, below everything
        place, _ = dense_ranks(_column(block, j))
        ranks[:, j] = midranks(query, place + 1, sizes)
    total = RankCorrelation(*np.zeros((2, X.shape[1], X.shape[1])))
    for i, (start, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        part = ranks[start:end]
        products = part.T @ part
        length = np.sqrt(np.diag(products))
        scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        weight = 1.0 if query_weight is None else query_weight[chosen[i]]
        total.total += weight * (products * scale[:, None] * scale)
        there_both = (length > 0).astype(float)
        total.weight += weight * np.outer(there_both, there_both)
    return total
