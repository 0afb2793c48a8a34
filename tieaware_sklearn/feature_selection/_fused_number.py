"""How many features to fuse, by cross-validation over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.progress import show_progress
from .._engine.ties import FloatArray
from ..evaluation._averages import means
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments
from ..model_selection._folds import query_folds
from ._fusion import Fusion, comparable


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
