"""Columns of X as features: scored and correlated, in sums to add to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.special import gammaln

from .._display import progress_bars
from .._engine import exact_numbers, feature_matrix, segments
from .._kernel import midranks
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..evaluation import _prepared, _resolved
from ..measures._values import Detail, LabelValues, QueryValues
from ..ranking._ranked import Order
from ..statistics.averages import column_sums, ratios, without_rounding
from ..statistics.moments import MergeableSums, QueryMoments
from . import _selection

#: tasks of each worker, so that all end at about the same time
_TASKS = 4
#: cells of X that one thread scores sooner than several start
_FEW_CELLS = 1 << 18
#: columns that are copied at once, as many float64 as a line of the cache holds, and
#: memory for them
_COLUMNS_COPIED, _BYTES_COPIED = 8, 1 << 27
#: rows of queries that have an entry of a sparse column, ranked at once
_ROWS_RANKED = 1 << 18
#: values of sparse columns in all queries that are averaged at once
_CELLS_AVERAGED = 1 << 16
#: rows of theirs that a cache holds
_ROWS_COPIED = 1 << 13


#: columns of `FeatureStatistics.worth`; the gain is what a feature is better than
#: chance by
WORTH = ("expected", "gain", "best", "worst")


@dataclass
class FeatureStatistics(MergeableSums):
    """Everything that a screening of features adds up over queries.

    Attributes
    ----------
    worth : QueryMoments
        Columns (n_features, 2, 4, n_measures), with higher, then with lower values
        ranked first, of each of `WORTH`.
    tie_variance : ndarray of shape (n_features, 2, n_measures)
        Σ w² Var over queries of weight w.
    null_variance : ndarray of shape (n_features, 2, n_measures)
        Σ w² Var of what it is better than chance by, labels at random within queries.
    log_placements : ndarray of shape ()
        Σ log of the number of ways to place the labels of a query on its documents.
    of_labels : QueryMoments
        Columns (2, n_measures), of the chance level and the ideal.
    varies : ndarray of shape (n_features,), bool
        Features that differ within at least one query.
    correlation : FeatureCorrelation or None
    n_queries : int
    n_undefined : ndarray of shape (n_measures,), int
        Number of queries that count for which a measure is undefined.
    """

    worth: QueryMoments
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
    """Score every column of X, dense or sparse, alone.

    The direction "auto" is both; where there is one direction, it stands for the other,
    too.
    """
    if is_sparse := sp.issparse(X):
        # the rows of a query must stand together, so that some queries can be ranked
        by_id = prepared.queries.by_id()
        X = feature_matrix.take_rows(X, by_id.order)
        prepared = prepared.sorted(by_id)
    columns = X.tocsc() if is_sparse else X
    queries, weight, resolved = prepared.queries, prepared.weight, rule.resolved
    labels = prepared.label_values(resolved)
    one_tie = np.zeros((1, queries.n_rows))
    tied = prepared.values(resolved, one_tie, Detail.SPREAD)
    scorer = _Scorer.of(prepared, resolved, labels, tied)
    n_rows, n_features = X.shape
    if n_rows * n_features <= _FEW_CELLS:
        n_jobs = 1
    n_workers = effective_n_jobs(n_jobs)
    n_shares = _TASKS * n_workers if n_workers > 1 else 1
    score: Callable[..., list[_Sums]]
    if is_sparse:
        score = partial(_score_sparse, _TiedQueries.of(scorer, tied))
        # tasks of about as many rows of queries with an entry
        of_entry = queries.sizes[queries.codes][columns.indices]
        to_rank = segments.offsets_of(of_entry)[columns.indptr]
        n_tasks = max(int(to_rank[-1]) // _ROWS_RANKED, n_shares)
        shares = np.linspace(0, to_rank[-1], n_tasks + 1)[1:-1]
        ends = np.unique([0, *np.searchsorted(to_rank, shares), n_features])
    else:
        size = _prepared.columns_at_once(n_rows, n_features, n_shares)
        score = partial(_score_dense, scorer, size)
        # a task copies a multiple of the columns that are ranked together
        copied = min(_COLUMNS_COPIED, _BYTES_COPIED // (n_rows * X.dtype.itemsize))
        copied = size * max(min(copied, n_features // n_shares) // size, 1)
        ends = np.linspace(0, n_features, -(-n_features // copied) + 1).astype(int)
    directions = np.array(rule.directions)
    tasks = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(score)(columns[:, start:stop], directions[start:stop])
        for start, stop in pairwise(ends.tolist())
    )
    tasks = progress_bars.show_progress(
        tasks,
        progress,
        n_features,
        "feature",
        "screening",
        size=lambda parts: sum(len(varies) for *_, varies in parts),
    )
    worth, tie_variance, null_variance, varies = zip(
        *chain.from_iterable(tasks), strict=True
    )
    correlation = None
    if rule.correlates:
        # where NaN comes last, rankings by lower values differ from those by higher
        # values in more than their sign
        both_ways = rule.missing == "last"
        correlation = feature_correlation(X, prepared, both_ways, n_jobs, rounded=False)
    of_labels = np.stack([labels.chance, labels.ideal], axis=1)
    return FeatureStatistics(
        worth=QueryMoments.join(worth),
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
    """Σ over queries that count of log(n! / Π n_label!)."""
    queries, weight = prepared.queries, prepared.weight
    sizes = queries.sizes
    levels, label = np.unique(prepared.labels, return_inverse=True)
    of_both = segments.owners(sizes) * len(levels) + queries.arrange(label)
    pair, count = np.unique(of_both, return_counts=True)
    ways = gammaln(sizes + 1.0) - np.bincount(pair // len(levels), gammaln(count + 1.0))
    return column_sums(ways if weight is None else ways * (weight > 0))


@dataclass(frozen=True)
class _Terms:
    """Terms of sums over queries, for rankings of the queries.

    Attributes
    ----------
    worth : ndarray of shape (n_queries, n_rankings, 4, n_measures)
    tie_variance, null_variance : ndarray of shape (n_queries, n_rankings, n_measures)
    """

    worth: FloatArray
    tie_variance: FloatArray
    null_variance: FloatArray


#: Sums of some features, as `FeatureStatistics` has them of all: `worth`,
#: `tie_variance`, `null_variance` and `varies`.
_Sums = tuple[QueryMoments, FloatArray, FloatArray, BoolArray]


def _summed(
    terms: _Terms,
    weight: FloatArray | None,
    rankings: Any,
    varies: BoolArray,
    times: FloatArray | None = None,
) -> _Sums:
    """Sum the terms of the features' `rankings`, which index all rankings.

    Term q counts ``times[q]`` times, except in `null_variance`.
    """
    moments = QueryMoments.from_values(terms.worth, weight, times)
    tie_variance = column_sums(terms.tie_variance, times)
    # sorted, so that the order of queries changes no bit
    null_variance = np.sort(terms.null_variance, axis=0).sum(axis=0)
    return (
        moments.select(rankings),
        tie_variance[rankings],
        null_variance[rankings],
        varies,
    )


@dataclass(frozen=True)
class _Scorer:
    """Ranks queries by columns, and computes the terms of sums over queries.

    Attributes
    ----------
    prepared : Prepared
    resolved : ResolvedMeasures
    chance : ndarray of shape (n_queries, n_measures)
    largest : ndarray of shape (n_queries, n_measures)
        The ideal, or the chance level if lower values are better.
    untied_variance : ndarray of shape (n_queries, n_measures)
        Variance of a ranking without ties, labels at random, times w².
    variance_lost : ndarray of shape (n_queries, n_measures)
        What this variance loses for each unit of spread within ties.
    """

    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    chance: FloatArray
    largest: FloatArray
    untied_variance: FloatArray
    variance_lost: FloatArray

    @classmethod
    def of(
        cls,
        prepared: _prepared.Prepared,
        resolved: _resolved.ResolvedMeasures,
        labels: LabelValues,
        tied: QueryValues,
    ) -> _Scorer:
        """Make a scorer from the values of queries whose documents all tie."""
        # labels at random vary as the orders of a list that ties as a whole
        untied = _weighted_variance(tied.std[0], prepared.weight)
        lost = untied / np.maximum(tied.spread_within_ties[0], 1e-150)
        largest = np.maximum(labels.ideal, labels.chance)
        return cls(prepared, resolved, labels.chance, largest, untied, lost)

    def of_queries(self, chosen: IntArray) -> _Scorer:
        """The scorer of some queries, which may come several times."""
        return _Scorer(
            self.prepared.of_queries(chosen),
            self.resolved,
            self.chance[chosen],
            self.largest[chosen],
            self.untied_variance[chosen],
            self.variance_lost[chosen],
        )

    def rank(self, columns: Array, down: BoolArray, up: BoolArray) -> _Terms:
        """Rank by the columns (n_columns, n_rows) that rank `down`, then by those `up`.

        Down means that higher values rank first.
        """
        rank = partial(self.prepared.values, self.resolved, detail=Detail.SPREAD)
        if down.all() and up.all():
            return self.terms(rank(columns, both_ways=True))
        orders = []
        if down.any():
            orders.append(rank(columns[down]))
        if up.any():
            orders.append(rank(columns[up], order=Order.ASCENDING))
        return self.terms(QueryValues.join(orders, np.concatenate))

    def terms(self, values: QueryValues) -> _Terms:
        """Terms of values of shape (n_rankings, n_queries, n_measures)."""
        measures = self.resolved.measures
        sign = np.where([measure.greater_is_better for measure in measures], 1.0, -1)
        gain = without_rounding(sign * (values.expected - self.chance), self.largest)
        worth = np.stack([values.expected, gain, values.best, values.worst], axis=2)
        tie_variance = _weighted_variance(values.std, self.prepared.weight)
        lost = self.variance_lost * values.spread_within_ties
        return _Terms(
            worth.swapaxes(0, 1),
            tie_variance.swapaxes(0, 1),
            (self.untied_variance - lost).swapaxes(0, 1),
        )


def _weighted_variance(std: FloatArray, weight: FloatArray | None) -> FloatArray:
    """w² Var of queries of weight w, 0 where undefined."""
    if weight is not None:
        std = std * weight[:, None]
    return np.nan_to_num(std) ** 2


def _score_dense(
    scorer: _Scorer, size: int, X: Any, directions: NDArray[np.str_]
) -> list[_Sums]:
    """Score each column of X in all queries, `size` columns at a time."""
    parts, queries, copied = [], scorer.prepared.queries, _side_by_side(X)
    for start in range(0, len(copied), size):
        columns = copied[start : start + size]
        direction = directions[start : start + size]
        down, up = direction != "ascending", direction != "descending"
        terms = scorer.rank(columns, down, up)
        at_down, at_up = np.cumsum(down) - 1, down.sum() + np.cumsum(up) - 1
        ways = np.where(down, at_down, at_up), np.where(up, at_up, at_down)
        varies = np.any(queries.varying(queries.arrange(columns.T)), axis=0)
        rankings = np.stack(ways, axis=1)
        parts.append(_summed(terms, scorer.prepared.weight, rankings, varies))
    return parts


@dataclass(frozen=True)
class _TiedQueries:
    """Queries whose documents all tie, grouped by weight and terms.

    Attributes
    ----------
    scorer : _Scorer
        Of all queries.
    terms : _Terms
        Of one ranking.
    group : ndarray of shape (n_queries,), int
        The group of each query.
    first : ndarray of shape (n_groups,), int
        A query of each group.
    sizes : ndarray of shape (n_groups,), int
    """

    scorer: _Scorer
    terms: _Terms
    group: IntArray
    first: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, scorer: _Scorer, tied: QueryValues) -> _TiedQueries:
        terms, weight = scorer.terms(tied), scorer.prepared.weight
        n_queries = len(terms.worth)
        keys = [terms.worth.reshape(n_queries, -1), terms.tie_variance[:, 0]]
        if weight is not None:
            keys.append(weight[:, None])
        _, first, group, sizes = np.unique(
            np.hstack(keys),
            axis=0,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        return cls(scorer, terms, group, first, sizes)

    def with_ranked(
        self, ranked: _Terms, column: IntArray, query: IntArray, n_columns: int
    ) -> tuple[_Terms, FloatArray | None, FloatArray]:
        """Terms of columns, some of whose queries are ranked; their weights and times.

        The first terms of a column are of the groups, each counted as many times as
        queries of the group tie. The others are of the queries that are ranked. The
        terms of `null_variance` are of all queries, because their rounded sum must be
        the same as for a dense column.

        Parameters
        ----------
        ranked : _Terms
            Of pairs of a column and a query: (n_pairs, n_ways, ...).
        column, query : ndarray of shape (n_pairs,), int
            The columns ascend.
        n_columns : int
        """
        first, n_groups = self.first, len(self.first)
        rows = n_groups + np.arange(len(column)) - np.searchsorted(column, column)
        n_rows = int(rows.max(initial=n_groups - 1)) + 1

        def fill(
            tied: FloatArray | IntArray,
            ranked: FloatArray,
            rows: IntArray = rows,
            n_rows: int = n_rows,
        ) -> FloatArray:
            """Terms of shape (n_rows, n_columns, ...), the first ones tied."""
            filled = np.zeros((n_rows, n_columns, *ranked.shape[1:]))
            filled[: len(tied)] = tied[:, None]
            filled[rows, column] = ranked
            return filled

        null_variance = fill(
            self.terms.null_variance, ranked.null_variance, query, len(self.group)
        )
        terms = _Terms(
            fill(self.terms.worth[first], ranked.worth),
            fill(self.terms.tie_variance[first], ranked.tie_variance),
            # stored as that of dense columns, so that it is summed in the same order
            np.moveaxis(np.moveaxis(null_variance, 0, 2).copy(), 2, 0),
        )
        times = fill(self.sizes, np.ones(len(column)))
        np.subtract.at(times, (self.group[query], column), 1)
        weight = self.scorer.prepared.weight
        if weight is not None:
            weight = fill(weight[first], weight[query])
        return terms, weight, times


def _score_sparse(
    tied: _TiedQueries, X: Any, directions: NDArray[np.str_]
) -> list[_Sums]:
    """Score each column of a CSC matrix, whose rows stand query by query.

    Only queries in which a column has an entry are ranked. In all others its documents
    tie.
    """
    scorer = tied.scorer
    queries, n_features = scorer.prepared.queries, X.shape[1]
    # a pair is a column and a query in which the column has an entry
    code = segments.owners(np.diff(X.indptr)) * queries.n_queries
    code += queries.codes[X.indices]
    pairs, pair = np.unique(code, return_inverse=True)
    column, query = np.divmod(pairs, queries.n_queries)
    down, up = directions != "ascending", directions != "descending"
    varies = np.zeros(n_features, dtype=bool)
    ranked = tied.terms
    if len(pairs):
        # the queries of all pairs are ranked as one column, one query after another
        scorer_of_pairs = scorer.of_queries(query)
        of_pairs = scorer_of_pairs.prepared.queries
        row = X.indices - queries.offsets[query[pair]] + of_pairs.offsets[pair]
        cells = np.zeros_like(row), row
        # entries of one cell add up
        scores = sp.coo_array((X.data, cells), (1, of_pairs.n_rows)).toarray()
        ranked = scorer_of_pairs.rank(
            scores, down.any(keepdims=True), up.any(keepdims=True)
        )
        varying = of_pairs.varying(scores[0])
        varies[column[of_pairs.codes[varying]]] = True
    n_ways = ranked.worth.shape[1]
    # down comes first; where there is one way, it stands for the other, too
    ways = np.stack([np.where(down, 0, n_ways - 1), np.where(up, n_ways - 1, 0)], 1)
    parts = []
    n_columns = max(_CELLS_AVERAGED // scorer.chance.size // n_ways, 1)
    for start in range(0, n_features, n_columns):
        stop = min(start + n_columns, n_features)
        at = slice(*np.searchsorted(column, [start, stop]))
        ranked_here = _Terms(*(values[at] for values in vars(ranked).values()))
        terms, weight, times = tied.with_ranked(
            ranked_here, column[at] - start, query[at], stop - start
        )
        rankings = np.arange(stop - start)[:, None], ways[start:stop]
        parts.append(_summed(terms, weight, rankings, varies[start:stop], times))
    return parts


def _side_by_side(X: Any) -> Array:
    """Columns of a dense or sparse matrix, each contiguous: (n_columns, n_rows)."""
    columns = np.asarray(X.toarray() if sp.issparse(X) else X).T
    if columns.flags.c_contiguous:
        return columns
    # NumPy copies column by column, reading all lines of the cache for each of them
    out = np.empty(columns.shape, dtype=columns.dtype)
    for start in range(0, columns.shape[1], _ROWS_COPIED):
        rows = slice(start, start + _ROWS_COPIED)
        out[:, rows] = columns[:, rows]
    return out


#: cells of a matrix of midranks; the second if all its rows go into one product
_CELLS, _CELLS_ROUNDED = 1 << 18, 1 << 20
#: n³ of rows whose products are whole numbers in floats: they add up to n³/3 at most
_WHOLE = 3 * exact_numbers.LARGEST_EXACT
#: the limit of single precision, in which products take half the time
_WHOLE_SINGLE = 3 * 2**24
#: cells of the products of queries that are multiplied in one call
_PRODUCTS = 1 << 18
#: |ρ| of copies, whose last bits may differ
_COPY = 1 - 1e-10


@dataclass
class FeatureCorrelation(MergeableSums):
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

    def of_directions(self, ascending: BoolArray) -> FloatArray:
        """Mean ρ over queries of the features, each ranked in its direction.

        0 where no query has both vary.
        """
        if len(self.total) > len(ascending):
            return self._between(ascending, ascending)
        sign = np.where(ascending, -1.0, 1.0)
        rho = ratios(self.total, self.weight, undefined=0.0)
        return rho * sign[:, None] * sign

    def _between(self, ascending: BoolArray, turned: BoolArray) -> FloatArray:
        """Mean ρ of features in their directions with features in other ones."""
        n = len(ascending)
        both = (np.arange(n) + n * way for way in (ascending, turned))
        chosen = np.ix_(*both)
        return ratios(self.total[chosen], self.weight[chosen], undefined=0.0)

    def similarity(self, ascending: BoolArray) -> FloatArray:
        """The mean ρ by which copies are found.

        It is that `of_directions`, but where missing values rank last either way, a
        reversed copy in the same direction has ρ = -1, too.
        """
        rho = self.of_directions(ascending)
        if len(self.total) == len(ascending):
            return rho
        other = self._between(ascending, ~ascending)
        is_copy = (np.abs(other) > _COPY) | (np.abs(other.T) > _COPY)
        return np.where(is_copy & (np.abs(rho) <= _COPY), -1.0, rho)


def feature_correlation(
    X: Any,
    prepared: _prepared.Prepared,
    both_ways: bool,
    n_jobs: int | None,
    *,
    rounded: bool,
) -> FeatureCorrelation:
    """Rank correlation within queries of all pairs of columns of X.

    Products of midranks are whole numbers, and queries are taken by their ids,
    so that the sums do not depend on the order of the rows. If they are to be `rounded`
    anyway, they may depend on it in their last bits, and take a quarter of the time.
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
    queries = prepared.queries
    # by length and id, single documents left out
    chosen = queries.shortest_first()
    chosen = chosen[queries.sizes[chosen] > 1]
    cells = _CELLS_ROUNDED if rounded else _CELLS
    limit = max(1, cells // X.shape[1])
    batch = np.cumsum(queries.sizes[chosen]) // limit
    parts = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(
        delayed(_correlate_queries)(X, prepared, some, both_ways, rounded)
        for some in np.split(chosen, np.flatnonzero(np.diff(batch)) + 1)
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
    """Σ w ρ and Σ w of these queries."""
    queries, query_weight = prepared.queries, prepared.weight
    sizes = queries.sizes[chosen]
    offsets = segments.offsets_of(sizes)
    columns = _side_by_side(X[queries.original_rows(queries.rows(chosen))])
    ranks = midranks.rank_within(columns, sizes, both_ways=both_ways)
    if rounded:
        length = np.sqrt(np.add.reduceat(ranks**2, offsets[:-1]))
        there = (length > 0) * 1.0
        if query_weight is not None:
            there *= np.sqrt(query_weight[chosen])[:, None]
        scale = ratios(there, length, undefined=0.0)
        ranks *= np.repeat(scale, sizes, axis=0)
        return np.stack([ranks.T @ ranks, there.T @ there])
    n_rankings = ranks.shape[1]
    total = np.zeros((2, n_rankings, n_rankings))
    for some in _alike(sizes, n_rankings):
        rows_of_some = ranks[offsets[some.start] : offsets[some.stop]]
        weight = None if query_weight is None else query_weight[chosen[some]]
        varying = np.flatnonzero(rows_of_some.any(axis=0))
        if len(varying):
            part = _correlated(rows_of_some[:, varying], sizes[some], weight)
            total[:, varying[:, None], varying] += part
    return total


def _alike(sizes: IntArray, n_rankings: int) -> Iterator[slice]:
    """Neighbouring queries of about the same length, few enough for their products."""
    # rows are padded by a sixth at the most
    starts, numbers = segments.runs(np.ceil(4 * np.log2(sizes)))
    for start, stop in zip(starts, starts + numbers, strict=True):
        whole = sizes[stop - 1] ** 3 <= _WHOLE
        most = max(1, _PRODUCTS // n_rankings**2) if whole else 1
        for first in range(start, stop, most):
            yield slice(first, min(first + most, stop))


def _correlated(ranks: FloatArray, sizes: IntArray, weight: Any) -> FloatArray:
    """Σ w ρ and Σ w of queries whose midranks, (n_rows, n_rankings), follow in turn."""
    longest = int(sizes.max())
    if longest**3 > _WHOLE:
        # sums are rounded: rows in an order that depends on their values alone
        ranks = ranks[np.lexsort(ranks.T)]
    kind = np.float32 if longest**3 <= _WHOLE_SINGLE else np.float64
    padded = np.zeros((len(sizes), longest, ranks.shape[1]), dtype=kind)
    padded[np.arange(longest) < sizes[:, None]] = ranks
    products = padded.transpose(0, 2, 1) @ padded
    length = np.sqrt(np.diagonal(products, axis1=1, axis2=2).astype(np.float64))
    there = (length > 0).astype(np.float64)
    scale = ratios(1.0, length, undefined=0.0)
    weighted = 1.0 if weight is None else weight[:, None]
    rho = products * (weighted * scale)[:, :, None]
    rho *= scale[:, None, :]
    if weight is None:
        # whole numbers
        both = there.T @ there
    else:
        both = ((weighted * there)[:, :, None] * there[:, None, :]).sum(axis=0)
    return np.stack([rho.sum(axis=0), both])
