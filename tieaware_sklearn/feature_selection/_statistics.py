"""Scores of single features as sums, to which further queries can be added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from .._display import show_progress
from .._engine import AddedUp, FloatArray
from ..evaluation import (
    NO_DIFFERENCE,
    Asked,
    Prepared,
    QueryMoments,
    QueryRows,
    columns_at_once,
    sums_of_squares,
)
from ..measures import STATISTICS
from ._columns import columns_taken, side_by_side
from ._correlation import FeatureCorrelation, feature_correlation
from ._selection import Rule

#: tasks of each worker, so that all end at about the same time
_TASKS = 4


#: what is added up of each feature and direction: the expected value, what it is better
#: than chance by, the best and the worst value
EXPECTED, DIFFERENCE, BEST, WORST = range(4)


@dataclass
class FeatureStatistics(AddedUp):
    """Everything that a screening of features adds up over queries.

    Attributes
    ----------
    worth : QueryMoments
        Columns (n_features, 2, 4, n_measures), with higher, then with lower values
        ranked first: of the expected value, of what it is better than chance by, and
        of the best and the worst value.
    tie_variance : ndarray of shape (n_features, 2, n_measures)
        Σ w² Var over queries of weight w.
    of_labels : QueryMoments
        Columns (2, n_measures), of the chance level and the ideal.
    varies : ndarray of shape (n_features,), bool
        Features that differ within at least one query.
    correlation : FeatureCorrelation or None
    n_queries : int
    """

    worth: QueryMoments
    tie_variance: FloatArray
    of_labels: QueryMoments
    varies: NDArray[np.bool_]
    correlation: FeatureCorrelation | None
    n_queries: int


def feature_statistics(
    rows: QueryRows, rule: Rule, *, n_jobs: int | None, progress: bool
) -> FeatureStatistics:
    """Score every column of X, dense or sparse, alone.

    The direction "auto" is both; the worth of a direction not asked for is that of
    the other.
    """
    X = rows.X.tocsc() if hasattr(rows.X, "tocsc") else rows.X
    queries, weight, prepared = rows.queries, rows.weight, rows.prepared()
    asked = rule.ask()
    chance, ideal = prepared.of_labels(asked, ("chance", "ideal"))
    # workers with memory of their own get several batches at a time
    backend, _ = get_active_backend(prefer="threads")
    shared = getattr(backend, "supports_sharedmem", False)
    n_features, n_workers = X.shape[1], effective_n_jobs(n_jobs)
    n_shares = _TASKS * n_workers if n_workers > 1 else 1
    size = columns_at_once(queries.n_rows, n_features, n_shares)
    taken = columns_taken(X, size, n_features // n_shares)
    n_tasks = -(-n_features // taken)
    if not shared:
        n_tasks = min(n_tasks, _TASKS * n_workers)
    ends = np.linspace(0, n_features, n_tasks + 1).astype(int).tolist()
    directions = np.array(rule.directions)
    # a bar needs features as they come, which not every backend can give
    return_as = "generator" if progress else "list"
    parts = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)(
        delayed(_some_features)(
            X[:, start:stop],
            prepared,
            asked,
            directions[start:stop],
            chance,
            size,
            taken,
        )
        for start, stop in pairwise(ends)
    )
    parts = show_progress(
        parts, progress, n_features, "feature", "screening", size=_Columns.size
    )
    found = _Columns.join(parts)
    correlation = None
    if rule.correlates:
        # where NaN comes last, rankings by lower values differ from those by higher
        # values in more than their sign
        both_ways = rule.missing == "last"
        correlation = feature_correlation(
            X, queries, weight, both_ways=both_ways, n_jobs=n_jobs
        )
    return FeatureStatistics(
        found.worth,
        found.tie_variance,
        QueryMoments.of(np.stack([chance, ideal], axis=1), weight),
        found.varies,
        correlation,
        queries.n_queries,
    )


class _Columns(NamedTuple):
    """Of some features: what `FeatureStatistics` has of all."""

    worth: QueryMoments
    tie_variance: FloatArray
    varies: NDArray[np.bool_]

    def size(self) -> int:
        return len(self.varies)

    @classmethod
    def join(cls, parts: Iterable[_Columns]) -> _Columns:
        worth, *arrays = zip(*parts, strict=True)
        return cls(QueryMoments.join(worth), *map(np.concatenate, arrays))


def _some_features(
    X: Any,
    prepared: Prepared,
    asked: Asked,
    directions: NDArray[np.str_],
    chance: FloatArray,
    size: int,
    taken: int,
) -> _Columns:
    """Each column of X, `taken` of them copied and `size` ranked at a time."""
    parts, weight = [], prepared.weight
    for columns, direction in _batches(X, directions, size, taken):
        # one direction stands for the other where that is not asked for
        down, up = direction != "ascending", direction != "descending"
        found = _ranked(columns, prepared, asked, down, up)
        worth = QueryMoments.of(_worth(found, asked, chance), weight)
        tie_variance = sums_of_squares(found["std"].swapaxes(0, 1), weight)
        at_down, at_up = np.cumsum(down) - 1, down.sum() + np.cumsum(up) - 1
        at = np.where(down, at_down, at_up), np.where(up, at_up, at_down)
        each_way = np.stack(at, axis=1)
        varies = prepared.queries.varying(prepared.queries.arrange(columns.T))
        part = _Columns(
            worth.some(each_way),
            tie_variance[each_way],
            np.asarray(varies.any(axis=0)),
        )
        parts.append(part)
    return _Columns.join(parts)


def _batches(
    X: Any, directions: NDArray[np.str_], size: int, taken: int
) -> Iterator[tuple[NDArray[Any], NDArray[np.str_]]]:
    """Columns (at most `size`, n_rows), and their directions."""
    for first in range(0, X.shape[1], taken):
        last = min(first + taken, X.shape[1])
        columns = side_by_side(X, slice(first, last))
        for start in range(first, last, size):
            stop = min(start + size, last)
            yield columns[start - first : stop - first], directions[start:stop]


def _ranked(
    columns: NDArray[Any],
    prepared: Prepared,
    asked: Asked,
    down: NDArray[np.bool_],
    up: NDArray[np.bool_],
) -> dict[str, FloatArray]:
    """Values of the columns that are ranked down, then of those ranked up."""
    if down.all() and up.all():
        found = prepared.both_ways(asked, columns)
        return {name: np.concatenate(both) for name, both in found.items()}
    ways = [
        prepared.values(asked, columns[own], STATISTICS, ascending=ascending)
        for own, ascending in ((down, False), (up, True))
        if own.any()
    ]
    return {name: np.concatenate([way[name] for way in ways]) for name in STATISTICS}


def _worth(
    found: dict[str, FloatArray], asked: Asked, chance: FloatArray
) -> FloatArray:
    """Of each query, the columns (n_columns, 4, n_measures) of `FeatureStatistics`."""
    sign = np.where([measure.greater_is_better for measure in asked.measures], 1.0, -1)
    difference = sign * (found["expected"] - chance)
    difference = np.where(np.abs(difference) <= NO_DIFFERENCE, 0.0, difference)
    values = [found["expected"], difference, found["best"], found["worst"]]
    # queries first, then columns, figures and measures
    return np.stack(values, axis=2).swapaxes(0, 1)
