"""Features fused by their Borda scores: greedy selection, and how many to select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._display import show_progress
from .._engine import FloatArray, IntArray, Queries, sum_segments
from .._kernel import rank_within
from ..evaluation import (
    NO_DIFFERENCE,
    Asked,
    Prepared,
    QueryMoments,
    QueryRows,
    columns_at_once,
    mean,
    means,
)
from ..model_selection import query_folds
from ._columns import columns_of

#: rows and columns that are ranked in one call
_ROWS, _COLUMNS = 1 << 14, 8
#: documents of a query whose products of scores add up in 64 bits: at most n³/3
_LONGEST = 3_000_000
#: tasks of each worker, so that all end at about the same time
_TASKS = 4

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


class Alone(NamedTuple):
    """Each feature as a ranking by itself.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Mean over queries of the measure, in the direction of the feature.
    ascending : ndarray of shape (n_features,), bool
        Whether lower values rank first.
    ranking : ndarray of shape (n_features,), int
        The features, the best first; equal ones in the order of their columns.
    """

    mean: FloatArray
    ascending: NDArray[np.bool_]
    ranking: NDArray[np.intp]


class Path(NamedTuple):
    """Features in the order chosen.

    Attributes
    ----------
    order : ndarray of shape (n_chosen,), int
    scores : ndarray of shape (n_chosen,)
        Mean over queries of the measure of the fused ranking after each step.
    repeats : ndarray of shape (n_features,), int
        For each feature the chosen one that it repeats, or -1.
    """

    order: NDArray[np.intp]
    scores: FloatArray
    repeats: NDArray[np.intp]


@dataclass(eq=False)
class Fusion:
    """Features of the same documents, to be fused.

    Attributes
    ----------
    borda : BordaScores
    prepared : Prepared
        Labels, which stand query by query as the scores do.
    asked : Asked
        One measure.
    n_jobs : int, optional
        Threads over candidates.
    """

    borda: BordaScores
    prepared: Prepared
    asked: Asked
    n_jobs: int | None = None

    @property
    def sign(self) -> float:
        return 1.0 if self.asked.measures[0].greater_is_better else -1.0

    @classmethod
    def of(
        cls, X: Any, rows: QueryRows, asked: Asked, n_jobs: int | None = None
    ) -> Fusion:
        """Columns of X, all or some of those of the rows."""
        queries, weight = by_length(rows.queries), rows.weight
        if weight is not None:
            weight = weight[rows.queries.shortest_first()]
        labels, arranged = queries.arrange(rows.labels), replace(queries, order=None)
        prepared = Prepared(labels, arranged, weight, keep=True)
        return cls(BordaScores.of(X, queries, n_jobs), prepared, asked, n_jobs)

    @property
    def n_features(self) -> int:
        return len(self.borda.down)

    def alone(self, directions: Sequence[str]) -> Alone:
        """Each feature in the better of the directions asked for.

        Of two that are as good, higher values rank first.
        """
        asked = np.array(directions)
        nothing = np.zeros(self.borda.down.shape[1])
        found = np.full((2, self.n_features), np.nan)
        for turned, other in enumerate(("ascending", "descending")):
            some = np.flatnonzero(asked != other)
            found[turned, some] = self._means(nothing, some, np.full(len(some), turned))
        value = comparable(self.sign * found)
        ascending = (value[1] > value[0]) | (asked == "ascending")
        best = np.where(ascending, found[1], found[0])
        return Alone(best, ascending, _by_value(self.sign * best))

    def varies(self) -> NDArray[np.bool_]:
        """Features that are not constant within every query."""
        return np.array([bool(column.any()) for column in self.borda.down])

    def path(
        self,
        alone: Alone,
        number: int,
        *,
        max_correlation: float | None,
        fill: bool = True,
        progress: bool = False,
    ) -> Path:
        """The best feature, then at each step the one that fuses best.

        Parameters
        ----------
        alone : Alone
        number : int
            Features to choose, if so many vary.
        max_correlation : float or None
            Features whose rankings correlate more with those of a chosen one, in
            either direction, wait until no others are left.
        fill : bool
            Whether such features are chosen then.
        progress : bool
        """
        total = np.zeros(self.borda.down.shape[1])
        open_ = self.varies()
        repeats = np.full(self.n_features, -1)
        correlation = Correlation(self.borda, self.prepared.weight)
        order: list[int] = []
        scores: list[float] = []
        number = min(number, int(open_.sum()))
        steps = range(number)
        for step in show_progress(steps, progress, number, "feature", "selecting"):
            candidates = alone.ranking[open_[alone.ranking]]
            fresh = candidates[repeats[candidates] < 0]
            if not len(fresh) and not fill:
                break
            candidates = fresh if len(fresh) else candidates
            if step == 0:
                best = int(candidates[0])
                score = float(alone.mean[best])
            else:
                values = self._means(total, candidates, alone.ascending[candidates])
                # of equal ones, the first is the best alone
                value = comparable(self.sign * values)
                at = int(np.argmax(value >= value.max() - NO_DIFFERENCE))
                best, score = int(candidates[at]), float(values[at])
            order.append(best)
            scores.append(score)
            open_[best] = False
            total += self.borda.of_feature(best, bool(alone.ascending[best]))
            if max_correlation is not None:
                others = np.flatnonzero(open_ & (repeats < 0))
                found = self._parallel(
                    delayed(correlation.of)(best, other, alone.ascending)
                    for other in others.tolist()
                )
                alike = np.abs(np.array(found, dtype=float)) > max_correlation
                repeats[others[alike]] = best
        return Path(np.array(order, dtype=np.intp), np.array(scores), repeats)

    def of_queries(self, chosen: NDArray[np.intp]) -> Fusion:
        """The same features, on some of the queries."""
        prepared = self.prepared
        rows, queries = prepared.queries.rows(chosen), prepared.queries.some(chosen)
        weight = None if prepared.weight is None else prepared.weight[chosen]
        return Fusion(
            self.borda.some(rows, queries.sizes),
            Prepared(prepared.labels[rows], queries, weight, keep=True),
            self.asked,
            self.n_jobs,
        )

    def values_along(self, path: Path, ascending: NDArray[np.bool_]) -> FloatArray:
        """Values of the queries after each step, (n_chosen, n_queries).

        Of a path without a step, those if all documents tie, once.
        """
        total = np.zeros(self.borda.down.shape[1])
        found = []
        for feature in path.order.tolist():
            total += self.borda.of_feature(feature, bool(ascending[feature]))
            found.append(self._values(total[None])[0])
        return np.array(found) if found else self._values(total[None])

    def _values(self, columns: FloatArray) -> FloatArray:
        found = self.prepared.values(self.asked, columns)
        return np.asarray(found["expected"][..., 0])

    def _means(
        self, total: FloatArray, features: NDArray[np.intp], ascending: NDArray[Any]
    ) -> FloatArray:
        """Mean measure of the sum of `total` and each feature."""
        if not len(features):
            return np.empty(0)
        workers = effective_n_jobs(self.n_jobs)
        n_tasks = _TASKS * workers if workers > 1 else 1
        size = columns_at_once(len(total), len(features), n_tasks)
        # before the threads, that would each make it
        self.prepared.labelled  # noqa: B018

        def some(first: int) -> list[float]:
            own = slice(first, first + size)
            columns = np.empty((len(features[own]), len(total)))
            pairs = zip(features[own].tolist(), ascending[own].tolist(), strict=True)
            for column, (feature, turned) in zip(columns, pairs, strict=True):
                scores = self.borda.of_feature(feature, bool(turned))
                # whole numbers, none of them rounded
                np.add(total, scores, out=column)
            values = self._values(columns)
            return [mean(one, self.prepared.weight) for one in values]

        starts = range(0, len(features), size)
        return np.concatenate(self._parallel(delayed(some)(first) for first in starts))

    def _parallel(self, tasks: Iterator[Any]) -> list[Any]:
        found: list[Any] = Parallel(n_jobs=self.n_jobs, require="sharedmem")(tasks)
        return found


class Correlation:
    """Spearman's ρ of two features, its mean over the queries in which both vary."""

    def __init__(self, borda: BordaScores, weight: FloatArray | None) -> None:
        self._borda = borda
        self._weight = weight
        self._squares: dict[int, FloatArray] = {}

    def of(self, one: int, other: int, ascending: NDArray[np.bool_]) -> float:
        borda = self._borda
        a, b = (borda.of_feature(j, bool(ascending[j])) for j in (one, other))
        for j, scores in ((one, a), (other, b)):
            if j not in self._squares:
                self._squares[j] = borda.products(scores, scores)
        squares = self._squares[one] * self._squares[other]
        both = squares > 0
        rho = borda.products(a, b)[both] / np.sqrt(squares[both])
        weight = np.ones(len(rho)) if self._weight is None else self._weight[both]
        total = float(weight.sum())
        return float((weight * rho).sum()) / total if total > 0 else 0.0


def by_length(queries: Queries) -> Queries:
    """The same rows, the queries by length and id, which no order of rows changes."""
    chosen = queries.shortest_first()
    some = queries.some(chosen)
    return Queries(some.qid, some.offsets, queries.given(queries.rows(chosen)))


def comparable(values: FloatArray) -> FloatArray:
    """NaN, where a measure is undefined for every query, is below everything."""
    return np.where(np.isnan(values), -np.inf, values)


def _by_value(values: FloatArray) -> IntArray:
    """Places of the values, the highest first, equal ones as they stand."""
    return np.argsort(-comparable(values), kind="stable")


def choose_number(
    fusion: Fusion,
    directions: Sequence[str],
    cv: Any,
    most: int,
    *,
    max_correlation: float | None,
    progress: bool = False,
) -> tuple[dict[str, NDArray[Any]], int]:
    """Held-out values by number of features, and the number to select.

    That is the smallest number that is worse than the best by at most one standard
    error of the difference. Queries are the same for all numbers, so how they differ
    from each other does not count.
    """
    prepared = fusion.prepared
    queries = prepared.queries
    nothing = np.zeros((queries.n_rows, 1))
    folds = query_folds(cv, nothing, prepared.labels, queries.codes, queries.qid)
    total = np.zeros((most, queries.n_queries))
    times = np.zeros(queries.n_queries)
    shown = show_progress(folds, progress, len(folds), "fold", "cross-validation")
    for train, test in shown:
        total[:, test] += _along(
            fusion.of_queries(train),
            fusion.of_queries(test),
            directions,
            most,
            max_correlation,
        )
        times[test] += 1
    values = np.full_like(total, np.nan)
    np.divide(total, times, out=values, where=times > 0)
    average = means(values.T, prepared.weight)
    best = int(np.argmax(comparable(fusion.sign * average)))
    loss = QueryMoments.of(fusion.sign * (values[best] - values).T, prepared.weight)
    # nothing differs from itself, nor where there are too few queries to tell
    error = np.nan_to_num(loss.standard_error())
    enough = np.flatnonzero(loss.mean <= error + NO_DIFFERENCE)
    results = {
        "n_features": np.arange(1, most + 1),
        "mean_test_score": average,
        "loss": loss.mean,
        "standard_error": error,
    }
    return results, int(enough[0]) + 1


def _along(
    training: Fusion,
    testing: Fusion,
    directions: Sequence[str],
    most: int,
    max_correlation: float | None,
) -> FloatArray:
    """Values of the test queries for each number of features, (most, n_queries)."""
    alone = training.alone(directions)
    path = training.path(alone, most, max_correlation=max_correlation, fill=False)
    found = testing.values_along(path, alone.ascending)
    # the value stays when all others repeat those that are chosen
    return found[np.minimum(np.arange(most), len(found) - 1)]
