"""Scores and rank correlations of the columns of X, as sums over queries.

A ranking is a column and a direction, by higher or by lower values. A pair is a sparse
column and a query in which the column has an entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import gammaln

from .._display import progress_bars
from .._engine import exact_numbers, feature_matrix, segments
from .._kernel import midranks
from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures._values import Detail, QueryValues
from ..ranking._ranked import Order
from ..statistics.averages import column_sums, ratios, without_rounding
from ..statistics.moments import MergeableSums, QueryMoments
from . import _selection

#: Number of tasks of each worker. With several tasks, all workers finish at about the
#: same time.
_TASKS = 4
#: Number of cells of X that one thread scores before several threads have started.
_FEW_CELLS = 1 << 18
#: Maximum number of columns that are copied together, because a line of the cache
#: contains eight 64-bit floats.
_COLUMNS_COPIED = 8
#: Maximum number of bytes that are copied together, which limits the memory of a task.
_BYTES_COPIED = 1 << 27
#: Number of rows ranked in one task, in queries where a sparse column has an entry.
_ROWS_RANKED = 1 << 18
#: Number of values of sparse columns, over all queries, that are averaged together.
_CELLS_AVERAGED = 1 << 16
#: Number of rows of a matrix that are copied together, while they are in the cache.
_ROWS_COPIED = 1 << 13
#: Names of the values in `FeatureStatistics.values`. The gain is the difference from
#: chance, positive if the ranking is better than chance.
VALUES = ("expected", "gain", "best", "worst")
#: Orders in which a column is ranked: by higher and by lower values.
_ORDERS = Order.DESCENDING, Order.ASCENDING


@dataclass
class FeatureStatistics(MergeableSums):
    """Sums over queries for a screening of features.

    Each feature has two rankings: higher values first, then lower values first.

    Attributes
    ----------
    values : QueryMoments
        Moments of shape (n_features, 2, 4, n_measures), for each of `VALUES`.
    tie_variance : ndarray of shape (n_features, 2, n_measures)
        Σ w² Var over the orders of ties, for queries of weight w.
    of_labels : QueryMoments
        Moments of shape (2, n_measures), of the chance level and the ideal.
    varies : ndarray of shape (n_features,), bool
        Whether a feature varies within at least one query.
    correlation : FeatureCorrelation or None
    n_queries : int
    null_variance : ndarray of shape (n_features, 2, n_measures)
        Σ w² Var of the gain if labels are placed at random within queries.
    log_placements : ndarray of shape ()
        Σ log of the number of ways to place the labels of a query on its documents.
    n_undefined : ndarray of shape (n_measures,), int
        Number of queries of positive weight for which a measure is undefined.
    """

    values: QueryMoments
    tie_variance: FloatArray
    of_labels: QueryMoments
    varies: BoolArray
    correlation: FeatureCorrelation | None
    n_queries: int
    null_variance: FloatArray
    log_placements: FloatArray
    n_undefined: IntArray


def feature_statistics(
    X: Any,
    prepared: _prepared.Prepared,
    rule: _selection.Rule,
    n_jobs: int | None,
    progress: bool,
) -> FeatureStatistics:
    """Return the sums over queries for each column of X, dense or sparse.

    A column whose direction is "auto" is ranked in both directions. Otherwise, the sums
    for both directions are the sums of the only ranking of the column.
    """
    is_sparse = sp.issparse(X)
    if is_sparse:
        # A sparse column ranks only some queries, so the rows of a query are together.
        by_id = prepared.queries.by_id()
        X = feature_matrix.take_rows(X, by_id.order)
        prepared = prepared.sorted(by_id)
    queries = prepared.queries
    weight = prepared.weight
    resolved = rule.resolved
    labels = prepared.label_values(resolved)
    one_tie = np.zeros((1, queries.n_rows))
    tied = prepared.values(resolved, one_tie, Detail.SPREAD)
    # The value of an untied list varies as much over random labels as the value of a
    # fully tied list varies over the orders of its documents.
    untied_variance = _weighted_variance(tied.std[0], weight)
    # If the spread of an all-tied list is 0, the spread of every column is 0, so the
    # quotient does not matter, but must be finite.
    variance_lost = untied_variance / np.maximum(tied.spread_within_ties[0], 1e-150)
    largest = np.maximum(labels.ideal, labels.chance)
    scorer = _Scorer(
        prepared, resolved, labels.chance, largest, untied_variance, variance_lost
    )
    n_rows, n_features = X.shape
    if n_rows * n_features <= _FEW_CELLS:
        n_jobs = 1
    n_tasks = 1
    n_workers = effective_n_jobs(n_jobs)
    if n_workers > 1:
        n_tasks = _TASKS * n_workers
    columns = X
    if is_sparse:
        columns = X.tocsc()
        tied_queries = _TiedQueries.from_terms(scorer.terms(tied), weight)
        score = partial(_score_sparse, scorer, tied_queries)
        # Tasks rank about the same number of rows. If a column has several entries in a
        # query, the rows of the query count several times.
        sizes_of_entries = queries.sizes[queries.codes[columns.indices]]
        rows_before = segments.offsets_of(sizes_of_entries)[columns.indptr]
        n_ranked = int(rows_before[-1])
        n_tasks = max(n_ranked // _ROWS_RANKED, n_tasks)
        shares = np.linspace(0, n_ranked, n_tasks + 1)
        columns_before = np.searchsorted(rows_before, shares)
        # The search stops before columns without entries at the end.
        columns_before[-1] = n_features
        ends = np.unique(columns_before).tolist()
    else:
        size = _prepared.columns_at_once(n_rows, n_features, n_tasks)
        score = partial(_score_dense, scorer, size)
        # The number of columns that a task copies is a multiple of the number that are
        # ranked in one call.
        fitting = _BYTES_COPIED // (n_rows * X.dtype.itemsize)
        most = min(_COLUMNS_COPIED, fitting, n_features // n_tasks)
        n_copied = size * max(most // size, 1)
        ends = [*range(0, n_features, n_copied), n_features]
    directions = np.array(rule.directions)
    is_ranked = np.stack([directions != "ascending", directions != "descending"])
    calls = (
        delayed(score)(columns[:, start:stop], is_ranked[:, start:stop])
        for start, stop in pairwise(ends)
    )
    tasks = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(calls)
    tasks = progress_bars.show_progress(
        tasks,
        progress,
        n_features,
        "feature",
        "screening",
        size=lambda task: sum(len(part.varies) for part in task),
    )
    parts: list[_FeatureSums] = []
    for task in tasks:
        parts += task
    values, tie_variance, null_variance, varies = zip(*parts, strict=True)
    correlation = None
    if rule.correlates:
        # If NaN is last, a ranking by lower values is not the reverse of the ranking by
        # higher values.
        both_ways = rule.missing == "last"
        correlation = feature_correlation(X, prepared, both_ways, n_jobs, rounded=False)
    of_labels = np.stack([labels.chance, labels.ideal], axis=1)
    return FeatureStatistics(
        values=QueryMoments.join(values),
        tie_variance=np.concatenate(tie_variance),
        of_labels=QueryMoments.from_values(of_labels, weight),
        varies=np.concatenate(varies),
        correlation=correlation,
        n_queries=queries.n_queries,
        null_variance=np.concatenate(null_variance),
        log_placements=_log_placements(prepared),
        n_undefined=prepared.count_undefined(resolved),
    )


def _log_placements(prepared: _prepared.Prepared) -> FloatArray:
    """Return Σ log(n! / Π n_label!) over the queries of positive weight."""
    queries = prepared.queries
    levels = np.unique(prepared.labels)
    # `return_inverse` would sort the rows of all labels.
    label = levels.searchsorted(prepared.labels)
    n_levels = len(levels)
    # A cell is a query and a label.
    cell_of_row = queries.codes * n_levels + queries.arrange(label)
    cells, counts = np.unique(cell_of_row, return_counts=True)
    repeated = np.bincount(cells // n_levels, gammaln(counts + 1.0))
    log_numbers = gammaln(queries.sizes + 1.0) - repeated
    if prepared.weight is not None:
        log_numbers *= prepared.weight > 0
    return column_sums(log_numbers)


@dataclass(frozen=True)
class _Terms:
    """Terms of each query in the sums, for several rankings.

    Attributes
    ----------
    values : ndarray of shape (n_queries, n_rankings, 4, n_measures)
    tie_variance, null_variance : ndarray of shape (n_queries, n_rankings, n_measures)
    """

    values: FloatArray
    tie_variance: FloatArray
    null_variance: FloatArray


class _FeatureSums(NamedTuple):
    """Sums for a part of the features, as in `FeatureStatistics`."""

    values: QueryMoments
    tie_variance: FloatArray
    null_variance: FloatArray
    varies: BoolArray


def _summed(
    terms: _Terms,
    weight: FloatArray | None,
    rankings: Any,
    varies: BoolArray,
    times: FloatArray | None = None,
) -> _FeatureSums:
    """Return the sums of the terms over queries, for each feature and direction.

    `rankings` is an index of the sums of all rankings. The index selects, for each
    feature, a ranking in each direction. Term q counts ``times[q]`` times, except in
    `null_variance`, which has a term for each query.
    """
    moments = QueryMoments.from_values(terms.values, weight, times)
    tie_variance = column_sums(terms.tie_variance, times)
    # Terms are sorted, because their sum must not depend on the order of queries.
    null_variance = np.sort(terms.null_variance, axis=0).sum(axis=0)
    return _FeatureSums(
        moments.select(rankings),
        tie_variance[rankings],
        null_variance[rankings],
        varies,
    )


@dataclass(frozen=True)
class _Scorer:
    """Ranks queries by columns, and computes the terms of the sums.

    Attributes
    ----------
    prepared : Prepared
    resolved : ResolvedMeasures
    chance : ndarray of shape (n_queries, n_measures)
    largest : ndarray of shape (n_queries, n_measures)
        The ideal, or the chance level if lower values are better.
    untied_variance : ndarray of shape (n_queries, n_measures)
        w² times the variance of a ranking without ties over random labels.
    variance_lost : ndarray of shape (n_queries, n_measures)
        Decrease of `untied_variance` for each unit of spread within ties.
    """

    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    chance: FloatArray
    largest: FloatArray
    untied_variance: FloatArray
    variance_lost: FloatArray

    def subset(self, chosen: IntArray) -> _Scorer:
        """Return the scorer of some queries, which may be repeated."""
        return _Scorer(
            self.prepared.of_queries(chosen),
            self.resolved,
            self.chance[chosen],
            self.largest[chosen],
            self.untied_variance[chosen],
            self.variance_lost[chosen],
        )

    def rank(self, columns: Array, is_ranked: BoolArray) -> _Terms:
        """Return the terms of rankings by columns of shape (n_columns, n_rows).

        `is_ranked`, of shape (2, n_columns), is True in the first row for columns that
        are ranked by higher values, and in the second row for columns that are ranked
        by lower values. The terms of rankings by higher values come first.
        """
        rank = partial(self.prepared.values, self.resolved, detail=Detail.SPREAD)
        if is_ranked.all():
            return self.terms(rank(columns, both_ways=True))
        parts = []
        for chosen, order in zip(is_ranked, _ORDERS, strict=True):
            if chosen.any():
                parts.append(rank(columns[chosen], order=order))
        return self.terms(QueryValues.join(parts, np.concatenate))

    def terms(self, values: QueryValues) -> _Terms:
        """Return the terms of values of shape (n_rankings, n_queries, n_measures)."""
        measures = self.resolved.measures
        sign = np.where([measure.greater_is_better for measure in measures], 1.0, -1)
        gain = without_rounding(sign * (values.expected - self.chance), self.largest)
        stacked = np.stack([values.expected, gain, values.best, values.worst], axis=2)
        tie_variance = _weighted_variance(values.std, self.prepared.weight)
        lost = self.variance_lost * values.spread_within_ties
        null_variance = self.untied_variance - lost
        return _Terms(
            stacked.swapaxes(0, 1),
            tie_variance.swapaxes(0, 1),
            null_variance.swapaxes(0, 1),
        )


def _weighted_variance(std: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return w² Var for queries of weight w, 0 where a measure is undefined."""
    if weight is not None:
        std = std * weight[:, None]
    return np.nan_to_num(std) ** 2


def _score_dense(
    scorer: _Scorer, size: int, X: Array, is_ranked: BoolArray
) -> list[_FeatureSums]:
    """Return the sums of the columns of X, which are ranked `size` at a time."""
    queries = scorer.prepared.queries
    copied = _contiguous_columns(X)
    parts = []
    for start in range(0, len(copied), size):
        columns = copied[start : start + size]
        chosen = is_ranked[:, start : start + size]
        terms = scorer.rank(columns, chosen)
        # The only ranking of a column stands for both directions.
        index = np.cumsum(chosen).reshape(chosen.shape) - 1
        rankings = np.where(chosen, index, index[::-1]).T
        varying = queries.varying(queries.arrange(columns.T))
        varies = np.any(varying, axis=0)
        parts.append(_summed(terms, scorer.prepared.weight, rankings, varies))
    return parts


@dataclass(frozen=True)
class _TiedQueries:
    """Terms of queries whose documents all tie.

    Queries with equal terms and weights form a group.

    Attributes
    ----------
    terms : _Terms
        Terms of each query, for one ranking.
    weight : ndarray of shape (n_queries,) or None
    group : ndarray of shape (n_queries,), int
        Group of each query.
    first : ndarray of shape (n_groups,), int
        A query of each group.
    sizes : ndarray of shape (n_groups,), int
        Number of queries in each group.
    """

    terms: _Terms
    weight: FloatArray | None
    group: IntArray
    first: IndexArray
    sizes: IntArray

    @classmethod
    def from_terms(cls, terms: _Terms, weight: FloatArray | None) -> _TiedQueries:
        """Group the queries with these terms and weights."""
        keys = [terms.values.reshape(len(terms.values), -1), terms.tie_variance[:, 0]]
        if weight is not None:
            keys.append(weight[:, None])
        _, first, group, sizes = np.unique(
            np.hstack(keys),
            axis=0,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        # In NumPy 2.0.0, the inverse is a column.
        return cls(terms, weight, group.ravel(), first, sizes)

    def with_ranked(
        self, ranked: _Terms, column: IntArray, query: IntArray, start: int, stop: int
    ) -> tuple[_Terms, FloatArray | None, FloatArray]:
        """Return the terms of some columns, their weights, and how often terms count.

        The first terms of a column are the terms of the groups. Each of these terms
        counts as many times as the group contains queries whose documents tie by the
        column. Next come the terms of the queries that the column ranks, which count
        once. Further terms, which fill the rows up to the longest column, count 0
        times. Only `null_variance` has a term for each query, because its sum is
        rounded and must equal the sum for a dense column.

        Parameters
        ----------
        ranked : _Terms
            Terms of shape (n_pairs, n_rankings, ...), for pairs of a column and a query
            that is ranked by the column.
        column, query : ndarray of shape (n_pairs,), int
            Columns are ascending.
        start, stop : int
            The first column, and the column after the last.
        """
        chosen = slice(*np.searchsorted(column, [start, stop]))
        column = column[chosen] - start
        query = query[chosen]
        n_columns = stop - start
        first = self.first
        n_groups = len(first)
        # Positions of the pairs among the pairs of their columns.
        places = np.arange(len(column)) - np.searchsorted(column, column)
        rows = n_groups + places
        n_rows = int(rows.max(initial=n_groups - 1)) + 1
        fill = partial(_filled, rows=rows, columns=column, shape=(n_rows, n_columns))
        values = fill(self.terms.values[first], ranked.values[chosen])
        tie_variance = fill(self.terms.tie_variance[first], ranked.tie_variance[chosen])
        null_ranked = ranked.null_variance[chosen]
        shape = len(self.group), n_columns
        null_variance = _filled(
            self.terms.null_variance, null_ranked, query, column, shape
        )
        # The array is stored as for dense columns, because the order in memory decides
        # the order of summation.
        null_variance = np.moveaxis(null_variance, 0, 2).copy()
        terms = _Terms(values, tie_variance, np.moveaxis(null_variance, 2, 0))
        times = fill(self.sizes, np.ones(len(column)))
        np.subtract.at(times, (self.group[query], column), 1)
        weight = self.weight
        if weight is not None:
            weight = fill(weight[first], weight[query])
        return terms, weight, times


def _filled(
    tied: Array,
    ranked: FloatArray,
    rows: IntArray,
    columns: IntArray,
    shape: tuple[int, int],
) -> FloatArray:
    """Return an array of shape (n_rows, n_columns, ...) with two kinds of values.

    The first rows of each column are `tied`. Then the cells at `rows` and `columns` are
    set to `ranked`. All other cells are 0.
    """
    filled = np.zeros((*shape, *ranked.shape[1:]))
    filled[: len(tied)] = tied[:, None]
    filled[rows, columns] = ranked
    return filled


def _score_sparse(
    scorer: _Scorer, tied: _TiedQueries, X: Any, is_ranked: BoolArray
) -> list[_FeatureSums]:
    """Return the sums of the columns of a CSC matrix whose rows are query by query.

    A query is ranked by a column only if the column has an entry in the query.
    Otherwise, the documents of the query tie.
    """
    queries = scorer.prepared.queries
    n_features = X.shape[1]
    code = segments.owners(np.diff(X.indptr)) * queries.n_queries
    code += queries.codes[X.indices]
    pairs, pair_of_entry = np.unique(code, return_inverse=True)
    column, query = np.divmod(pairs, queries.n_queries)
    # All pairs are ranked in each direction that any column needs.
    any_ranked = np.any(is_ranked, axis=1, keepdims=True)
    varies = np.zeros(n_features, dtype=bool)
    ranked = tied.terms
    if len(pairs):
        # The queries of all pairs, one after another, are ranked by a single column.
        pair_scorer = scorer.subset(query)
        pair_queries = pair_scorer.prepared.queries
        place = X.indices - queries.offsets[query[pair_of_entry]]
        row = pair_queries.offsets[pair_of_entry] + place
        scores = np.zeros(pair_queries.n_rows, dtype=X.dtype)
        # The value of a cell with several entries is the sum of the entries.
        np.add.at(scores, row, X.data)
        ranked = pair_scorer.rank(scores[None], any_ranked)
        varying = pair_queries.varying(scores)
        varies[column[pair_queries.codes[varying]]] = True
    # Without pairs, there is a single ranking.
    n_rankings = ranked.values.shape[1]
    index = np.minimum(np.cumsum(any_ranked)[:, None], n_rankings) - 1
    # The only ranking of a column stands for both directions.
    rankings = np.where(is_ranked, index, index[::-1]).T
    parts = []
    n_columns = max(_CELLS_AVERAGED // scorer.chance.size // n_rankings, 1)
    for start in range(0, n_features, n_columns):
        stop = min(start + n_columns, n_features)
        terms, weight, times = tied.with_ranked(ranked, column, query, start, stop)
        columns = np.arange(stop - start)[:, None]
        cells = columns, rankings[start:stop]
        parts.append(_summed(terms, weight, cells, varies[start:stop], times))
    return parts


def _contiguous_columns(X: Array) -> Array:
    """Return the columns of a matrix, each contiguous: (n_columns, n_rows)."""
    columns = X.T
    if columns.flags.c_contiguous:
        return columns
    # NumPy would copy one column after another, and read all of X from memory for each.
    # Blocks of rows stay in the cache while all of their columns are copied.
    copied = np.empty(columns.shape, dtype=columns.dtype)
    for start in range(0, columns.shape[1], _ROWS_COPIED):
        rows = slice(start, start + _ROWS_COPIED)
        copied[:, rows] = columns[:, rows]
    return copied


#: Maximum number of cells of a matrix of midranks, if the products are exact.
_CELLS = 1 << 18
#: Maximum number of cells of a matrix of midranks, if the products are rounded. One
#: product over all rows then replaces a product for each query.
_CELLS_ROUNDED = 1 << 20
#: Largest n³ for which 64-bit floats represent the sums of products exactly. The
#: midranks of n rows are doubled and have mean 0. So the products of midranks are whole
#: numbers, and add up to at most n³/3.
_WHOLE = 3 * exact_numbers.LARGEST_EXACT
#: Largest n³ for 32-bit floats, whose products take half the time.
_WHOLE_SINGLE = 3 * 2**24
#: Maximum number of cells of the products that are computed in one call.
_PRODUCTS = 1 << 18
#: A larger |ρ| means that two rankings are equal or exactly reversed. The limit is
#: below 1, because the last bits of ρ may differ.
_COPY = 1 - 1e-10


@dataclass
class FeatureCorrelation(MergeableSums):
    """Spearman's ρ (with ties) within queries, summed over queries.

    Attributes
    ----------
    total, weight : ndarray of shape (n_rankings, n_rankings)
        Σ w ρ and Σ w over the queries in which both rankings vary. The first rankings
        are by higher values of each feature. As many rankings by lower values may
        follow.
    """

    total: FloatArray
    weight: FloatArray

    def of_directions(self, ascending: BoolArray) -> FloatArray:
        """Return the mean ρ over queries of features, each ranked in its direction.

        The mean is 0 for two features that do not vary in the same query.
        """
        if len(self.total) > len(ascending):
            return self._between(ascending, ascending)
        # A ranking by lower values is the reverse of a ranking by higher values.
        sign = np.where(ascending, -1.0, 1.0)
        rho = ratios(self.total, self.weight, undefined=0.0)
        return rho * sign[:, None] * sign

    def _between(self, ascending: BoolArray, second: BoolArray) -> FloatArray:
        """Return the mean ρ of features in their first and in their second directions.

        Rows are features in the directions `ascending`, columns are features in the
        directions `second`.
        """
        n_features = len(ascending)
        features = np.arange(n_features)
        rows = features + n_features * ascending
        columns = features + n_features * second
        cells = np.ix_(rows, columns)
        return ratios(self.total[cells], self.weight[cells], undefined=0.0)

    def similarity(self, ascending: BoolArray) -> FloatArray:
        """Return `of_directions`, or -1 for reversed copies in the same direction.

        Without missing values, ρ of reversed copies is -1. But missing values are last
        in both directions, so only ρ with the opposite direction reveals such copies.
        """
        rho = self.of_directions(ascending)
        if len(self.total) == len(ascending):
            return rho
        opposite = self._between(ascending, ~ascending)
        is_copy = (np.abs(opposite) > _COPY) | (np.abs(opposite.T) > _COPY)
        return np.where(is_copy & (np.abs(rho) <= _COPY), -1.0, rho)


def feature_correlation(
    X: Any,
    prepared: _prepared.Prepared,
    both_ways: bool,
    n_jobs: int | None,
    *,
    rounded: bool,
) -> FeatureCorrelation:
    """Return the rank correlations within queries of all pairs of columns of X.

    With `both_ways`, rankings by lower values are correlated as well. The sums do not
    depend on the order of rows, because products of midranks are whole numbers, and
    queries are sorted by id. With `rounded`, the last bits of the sums may depend on
    the order of rows, but the sums take a quarter of the time.
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
    queries = prepared.queries
    # Queries with one document are left out, because they have no correlation.
    chosen = queries.shortest_first()
    chosen = chosen[queries.sizes[chosen] > 1]
    n_cells = _CELLS_ROUNDED if rounded else _CELLS
    most_rows = max(1, n_cells // X.shape[1])
    batch = np.cumsum(queries.sizes[chosen]) // most_rows
    batches = np.split(chosen, segments.run_starts(batch)[1:])
    parts = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(_correlate_queries)(X, prepared, batch, both_ways, rounded)
        for batch in batches
    )
    sums = next(parts)
    for part in parts:
        sums += part
    return FeatureCorrelation(*sums)


def _correlate_queries(
    X: Any,
    prepared: _prepared.Prepared,
    chosen: IntArray,
    both_ways: bool,
    rounded: bool,
) -> FloatArray:
    """Return Σ w ρ and Σ w over these queries."""
    queries = prepared.queries
    weight = prepared.weight
    if weight is not None:
        weight = weight[chosen]
    sizes = queries.sizes[chosen]
    offsets = segments.offsets_of(sizes)
    rows = X[queries.original_rows(queries.rows(chosen))]
    if sp.issparse(rows):
        rows = rows.toarray()
    columns = _contiguous_columns(rows)
    ranks = midranks.rank_within(columns, sizes, both_ways=both_ways)
    if rounded:
        # Scaled ranks are multiplied in one product over all rows. Each factor contains
        # the square root of the weight, so that the product contains the weight.
        length = np.sqrt(np.add.reduceat(ranks**2, offsets[:-1]))
        varies = (length > 0) * 1.0
        if weight is not None:
            varies *= np.sqrt(weight)[:, None]
        scale = ratios(varies, length, undefined=0.0)
        ranks *= np.repeat(scale, sizes, axis=0)
        return np.stack([ranks.T @ ranks, varies.T @ varies])
    n_rankings = ranks.shape[1]
    total = np.zeros((2, n_rankings, n_rankings))
    for similar in _similar_sizes(sizes, n_rankings):
        similar_ranks = ranks[offsets[similar.start] : offsets[similar.stop]]
        varying = np.flatnonzero(similar_ranks.any(axis=0))
        if len(varying):
            part = _correlated(
                similar_ranks[:, varying],
                sizes[similar],
                None if weight is None else weight[similar],
            )
            total[:, varying[:, None], varying] += part
    return total


def _similar_sizes(sizes: IntArray, n_rankings: int) -> Iterator[slice]:
    """Generate runs of queries of similar size, so few that their products fit.

    The sizes are ascending. A query whose sums of products may be rounded is a run of
    its own.
    """
    # The sizes in a run differ by a factor below 2^(1/4), so less than a sixth of the
    # padded rows is padding.
    starts = segments.run_starts(np.ceil(4 * np.log2(sizes)))
    for start, stop in pairwise([*starts.tolist(), len(sizes)]):
        most = 1
        if sizes[stop - 1] ** 3 <= _WHOLE:
            most = max(1, _PRODUCTS // n_rankings**2)
        for first in range(start, stop, most):
            yield slice(first, min(first + most, stop))


def _correlated(
    ranks: FloatArray, sizes: IntArray, weight: FloatArray | None
) -> FloatArray:
    """Return Σ w ρ and Σ w over queries with these midranks, (n_rows, n_rankings)."""
    longest = int(sizes.max())
    if longest**3 > _WHOLE:
        # Sums are rounded, so the order of rows must depend on the values of the rows
        # alone.
        ranks = ranks[np.lexsort(ranks.T)]
    dtype = np.float32 if longest**3 <= _WHOLE_SINGLE else np.float64
    padded = np.zeros((len(sizes), longest, ranks.shape[1]), dtype=dtype)
    padded[np.arange(longest) < sizes[:, None]] = ranks
    products = padded.transpose(0, 2, 1) @ padded
    squares = np.diagonal(products, axis1=1, axis2=2).astype(np.float64)
    length = np.sqrt(squares)
    varies = (length > 0).astype(np.float64)
    scale = ratios(1.0, length, undefined=0.0)
    if weight is None:
        row_scale = scale
        # These sums are whole numbers.
        both = varies.T @ varies
    else:
        row_scale = weight[:, None] * scale
        weighted = weight[:, None] * varies
        both = (weighted[:, :, None] * varies[:, None, :]).sum(axis=0)
    rho = products * row_scale[:, :, None]
    rho *= scale[:, None, :]
    return np.stack([rho.sum(axis=0), both])
