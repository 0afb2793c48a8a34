"""What single features are worth, kept so that further queries can be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from .._display.progress import show_progress
from .._engine.added_up import AddedUp
from .._engine.ties import FloatArray
from ..evaluation._averages import sums_of_squares
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments
from ..evaluation._labelled_queries import STATISTICS
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked
from ._correlation import FeatureCorrelation, column_of, feature_correlation
from ._rule import Rule


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
    X: Any, prepared: Prepared, rule: Rule, *, n_jobs: int | None, progress: bool
) -> FeatureStatistics:
    """Score every column of X, dense or sparse, alone.

    The direction "auto" is both; the worth of a direction not asked for is that of
    the other.
    """
    X = X.tocsc() if hasattr(X, "tocsc") else X
    asked = rule.ask()
    chance, ideal = prepared.of_labels(asked, ("chance", "ideal"))
    # workers with memory of their own get several columns at a time
    backend, _ = get_active_backend(prefer="threads")
    shared = getattr(backend, "supports_sharedmem", False)
    n_tasks = X.shape[1] if shared else 4 * effective_n_jobs(n_jobs)
    tasks = np.array_split(np.arange(X.shape[1]), min(n_tasks, X.shape[1]))
    # a bar needs features as they come, which not every backend can give
    return_as = "generator" if progress else "list"
    parts = Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)(
        delayed(_some_features)(
            X[:, some], prepared, asked, [rule.directions[j] for j in some], chance
        )
        for some in tasks
    )
    parts = show_progress(parts, progress, X.shape[1], "feature", "screening", size=len)
    descending, ascending, varies = zip(*chain.from_iterable(parts), strict=True)
    correlation = None
    if rule.correlates:
        # where NaN comes last, rankings by lower values differ from those by higher
        # values in more than their sign
        both_ways = rule.missing == "last"
        correlation = feature_correlation(
            X, prepared.queries, prepared.weight, both_ways=both_ways, n_jobs=n_jobs
        )
    return FeatureStatistics(
        Worth.stack(descending),
        Worth.stack(ascending),
        QueryMoments.of(chance, prepared.weight),
        QueryMoments.of(ideal, prepared.weight),
        np.array(varies, dtype=bool),
        correlation,
        prepared.queries.n_queries,
    )


def _some_features(
    X: Any,
    prepared: Prepared,
    asked: Asked,
    directions: Sequence[str],
    chance: FloatArray,
) -> list[tuple[Worth, Worth, bool]]:
    """Worth descending and ascending, and whether it varies, of each column."""
    sign = np.where([measure.greater_is_better for measure in asked.measures], 1.0, -1)
    weight = prepared.weight

    def worth(column: NDArray[Any], ascending: bool) -> Worth:
        found = prepared.values(asked, column, STATISTICS, ascending=ascending)
        difference = sign * (found["expected"] - chance)
        difference[np.abs(difference) <= NO_DIFFERENCE] = 0.0
        return Worth(
            QueryMoments.of(found["expected"], weight),
            QueryMoments.of(difference, weight),
            QueryMoments.of(found["best"], weight),
            QueryMoments.of(found["worst"], weight),
            sums_of_squares(found["std"], weight),
        )

    out = []
    for j, direction in enumerate(directions):
        column = column_of(X, j)
        first = worth(column, direction == "ascending")
        second = worth(column, True) if direction == "auto" else first
        varies = prepared.queries.varying(prepared.queries.arrange(column))
        out.append((first, second, bool(varies.any())))
    return out
