"""Greedy forward selection by the exact measure of a fused ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from .._display.progress import show_progress
from .._engine.segments import IntArray
from .._engine.ties import FloatArray
from .._engine.validation import Queries
from ..evaluation._averages import mean
from ..evaluation._intervals import NO_DIFFERENCE
from ..evaluation._prepared_ranking import Prepared, columns_at_once
from ..evaluation._undefined import Asked
from ._borda import BordaScores

#: tasks of each worker, so that all end at about the same time
_TASKS = 4


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


class Fusion:
    """Features of the same documents, to be fused.

    Parameters
    ----------
    borda : BordaScores
    prepared : Prepared
        Labels, which stand query by query as the scores do.
    asked : Asked
        One measure.
    n_jobs : int, optional
        Threads over candidates.
    """

    def __init__(
        self,
        borda: BordaScores,
        prepared: Prepared,
        asked: Asked,
        n_jobs: int | None = None,
    ) -> None:
        self.borda = borda
        self.prepared = prepared
        self._asked = asked
        self._n_jobs = n_jobs
        self.sign = 1.0 if asked.measures[0].greater_is_better else -1.0

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
        start: Path | None = None,
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
        start : Path, optional
            The first steps, known from before.
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
            if start is not None and step < len(start.order):
                best, score = int(start.order[step]), float(start.scores[step])
            elif step == 0:
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
            self._asked,
            self._n_jobs,
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
        found = self.prepared.values(self._asked, columns)
        return np.asarray(found["expected"][..., 0])

    def _means(
        self, total: FloatArray, features: NDArray[np.intp], ascending: NDArray[Any]
    ) -> FloatArray:
        """Mean measure of the sum of `total` and each feature."""
        if not len(features):
            return np.empty(0)
        workers = effective_n_jobs(self._n_jobs)
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
        found: list[Any] = Parallel(n_jobs=self._n_jobs, require="sharedmem")(tasks)
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
