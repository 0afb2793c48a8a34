"""Scores of single features as sums, to which further queries can be added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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


@dataclass
class Worth(AddedUp):
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

    def tie_std(self) -> FloatArray:
        """Standard deviation of the average over the orders of ties."""
        total = np.where(self.value.weight > 0, self.value.weight, np.nan)
        return np.asarray(np.sqrt(self.tie_variance) / total)


@dataclass
class FeatureStatistics(AddedUp):
    """Everything that a screening of features adds up over queries.

    Attributes
    ----------
    descending, ascending : Worth
        Of each feature with higher, or lower, values ranked first.
    chance, ideal : QueryMoments
        Columns (n_measures,).
    varies : ndarray of shape (n_features,), bool
        Features that differ within at least one query.
    correlation : FeatureCorrelation or None
    n_queries : int
    """

    descending: Worth
    ascending: Worth
    chance: QueryMoments
    ideal: QueryMoments
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
        parts, progress, n_features, "feature", "screening", size=_FeatureWorth.size
    )
    worth = _FeatureWorth.join(list(parts))
    correlation = None
    if rule.correlates:
        # where NaN comes last, rankings by lower values differ from those by higher
        # values in more than their sign
        both_ways = rule.missing == "last"
        correlation = feature_correlation(
            X, queries, weight, both_ways=both_ways, n_jobs=n_jobs
        )
    return FeatureStatistics(
        worth.descending,
        worth.ascending,
        QueryMoments.of(chance, weight),
        QueryMoments.of(ideal, weight),
        worth.varies,
        correlation,
        queries.n_queries,
    )


@dataclass
class _FeatureWorth(AddedUp):
    """Of some features: what `FeatureStatistics` has of all."""

    descending: Worth
    ascending: Worth
    varies: NDArray[np.bool_]

    def size(self) -> int:
        return len(self.varies)


def _some_features(
    X: Any,
    prepared: Prepared,
    asked: Asked,
    directions: NDArray[np.str_],
    chance: FloatArray,
    size: int,
    taken: int,
) -> _FeatureWorth:
    """Each column of X, `taken` of them copied and `size` ranked at a time."""
    parts = []
    for columns, direction in _batches(X, directions, size, taken):
        # one direction stands for the other where that is not asked for
        down, up = direction != "ascending", direction != "descending"
        worth = Worth.join(_both_ways(columns, prepared, asked, chance, down, up))
        at_down, at_up = np.cumsum(down) - 1, down.sum() + np.cumsum(up) - 1
        varies = prepared.queries.varying(prepared.queries.arrange(columns.T))
        part = _FeatureWorth(
            worth.some(np.where(down, at_down, at_up)),
            worth.some(np.where(up, at_up, at_down)),
            np.asarray(varies.any(axis=0)),
        )
        parts.append(part)
    return _FeatureWorth.join(parts)


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


def _both_ways(
    columns: NDArray[Any],
    prepared: Prepared,
    asked: Asked,
    chance: FloatArray,
    down: NDArray[np.bool_],
    up: NDArray[np.bool_],
) -> list[Worth]:
    """Worth of the columns that are ranked down, and of those ranked up."""
    if down.all() and up.all():
        found = prepared.both_ways(asked, columns, STATISTICS)
    else:
        found = [
            prepared.values(asked, columns[own], STATISTICS, ascending=ascending)
            for own, ascending in ((down, False), (up, True))
            if own.any()
        ]
    return [_worth(one, prepared, asked, chance) for one in found]


def _worth(
    found: dict[str, FloatArray], prepared: Prepared, asked: Asked, chance: FloatArray
) -> Worth:
    """Of values (n_columns, n_queries, n_measures) in one direction."""
    weight = prepared.weight
    # queries first, then columns and measures
    expected, best, worst, std = (values.swapaxes(0, 1) for values in found.values())
    sign = np.where([measure.greater_is_better for measure in asked.measures], 1.0, -1)
    difference = sign * (expected - chance[:, None])
    difference = np.where(np.abs(difference) <= NO_DIFFERENCE, 0.0, difference)
    return Worth(
        QueryMoments.of(expected, weight),
        QueryMoments.of(difference, weight),
        QueryMoments.of(best, weight),
        QueryMoments.of(worst, weight),
        sums_of_squares(std, weight),
    )
