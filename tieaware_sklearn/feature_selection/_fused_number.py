"""How many features to fuse, by cross-validation over queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.progress import show_progress
from .._engine.segments import owners
from .._engine.ties import FloatArray
from ..evaluation._averages import means
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments
from ..evaluation._prepared_ranking import Prepared
from ..model_selection._folds import check_cv
from ._fusion import Fusion, comparable

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


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
    folds = list(_folds(prepared, cv))
    total = np.zeros((most, prepared.queries.n_queries))
    times = np.zeros(prepared.queries.n_queries)
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


def _folds(prepared: Prepared, cv: Any) -> Iterator[Fold]:
    """Training and test queries of each fold."""
    queries = prepared.queries
    if isinstance(cv, (int, np.integer)) and cv > queries.n_queries:
        raise ValueError(
            f"cv must be at most the number of queries ({queries.n_queries}), got {cv}"
        )
    cv = check_cv(cv)
    if getattr(cv, "qid", None) is not None:
        raise ValueError(
            "cv must leave its qid at None, because it is given the query ids as "
            f"groups, got {cv!r}"
        )
    query, ids = owners(queries.sizes), np.repeat(queries.qid, queries.sizes)
    nothing = np.zeros((queries.n_rows, 1))
    for rows in cv.split(nothing, prepared.labels, ids):
        parts = [np.unique(query[part]) for part in rows]
        whole = all(
            len(part) == queries.sizes[own].sum()
            for part, own in zip(rows, parts, strict=True)
        )
        if not whole or np.isin(parts[0], parts[1]).any():
            raise ValueError(
                f"cv must keep queries whole, as QueryKFold does, got {cv!r}"
            )
        yield parts[0], parts[1]
