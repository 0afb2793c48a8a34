"""Midranks of columns within queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import segments, tie_groups
from .._engine.segments import FloatArray, IntArray
from . import arranged, engines


def rank_within(
    columns: NDArray[Any], sizes: IntArray, *, both_ways: bool
) -> FloatArray:
    """Twice the midranks in the ranking of each query, less their mean.

    They are whole numbers. NaN is last.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Higher values rank first.
    sizes : ndarray of shape (n_queries,)
        Rows of each query, which stand one after another.
    both_ways : bool
        Also of the rankings by lower values.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), or (n_rows, 2 * n_columns)
    """
    n_columns, n_rows = columns.shape
    n_ways = 2 if both_ways else 1
    if engines.engine == "compiled" and n_rows:
        keys = engines.compiled.pack(
            arranged.score_columns(columns),
            np.arange(n_rows, dtype=np.int32),
            segments.offsets_of(sizes),
            int(sizes.max()),
            ascending=False,
        )
        keys.keys.sort(axis=1)
        both: FloatArray = np.empty((n_rows, n_ways * n_columns))
        engines.compiled.midranks(keys, both[:, :n_columns])
        if both_ways:
            engines.compiled.midranks(keys, both[:, n_columns:], backwards=True)
        return both
    query = segments.owners(sizes)
    out: FloatArray = np.empty((n_ways, n_rows, n_columns))
    for j, column in enumerate(columns):
        ranks, n_ranks = tie_groups.dense_ranks(column)
        down = np.where(ranks < 0, n_ranks, n_ranks - 1 - ranks)
        out[0, :, j] = _midranks(query, down, sizes)
        if both_ways:
            up = np.where(ranks < 0, n_ranks, ranks)
            out[1, :, j] = _midranks(query, up, sizes)
    return np.concatenate(out, axis=1)


def _midranks(query: IntArray, place: IntArray, sizes: IntArray) -> FloatArray:
    """Twice the midrank of each row in its query, less its mean: whole numbers.

    `query` is ascending and `sizes` are the numbers of rows of each query.
    """
    n_places = int(place.max(initial=0)) + 1
    n_rows = len(place)
    key = np.sort((query * n_places + place) * n_rows + np.arange(n_rows))
    start, n = segments.runs(key // n_rows)
    of_group = query[start]
    lo = start - segments.starts_of(sizes)[of_group]
    out = np.empty(n_rows)
    out[key % n_rows] = np.repeat(2 * lo + n - sizes[of_group], n)
    return out
