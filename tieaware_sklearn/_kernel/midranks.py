"""Midranks of columns within queries."""

import numpy as np
from scipy import stats

from .._engine import segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from . import arranged, engines


def rank_within(columns: Array, sizes: IntArray, *, both_ways: bool) -> FloatArray:
    """Return twice the midranks in the ranking of each query, centred on 0.

    The results are whole numbers with mean 0 in each query. NaN ranks last.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Higher values rank first.
    sizes : ndarray of shape (n_queries,)
        Number of rows of each query. The rows of a query are consecutive.
    both_ways : bool
        Whether to rank also by lower values.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), or (n_rows, 2 * n_columns)
    """
    n_columns, n_rows = columns.shape
    n_ways = 2 if both_ways else 1
    # Without rows, there is no longest query.
    if engines.engine == "compiled" and n_rows:
        keys = engines.compiled.pack(
            arranged.score_columns(columns),
            np.arange(n_rows, dtype=np.int32),
            segments.offsets_of(sizes),
            int(sizes.max()),
            ascending=False,
        )
        keys.keys.sort(axis=1)
        both = np.empty((n_rows, n_ways * n_columns))
        engines.compiled.midranks(keys, both[:, :n_columns])
        if both_ways:
            engines.compiled.midranks(keys, both[:, n_columns:], backwards=True)
        return both
    query = segments.owners(sizes)
    # A query of n rows has midranks of mean (n + 1)/2. Ranks over all rows also count
    # the rows of earlier queries. Both numbers are subtracted twice.
    offsets = 2 * segments.starts_of(sizes) + sizes + 1
    out = np.empty((n_ways, n_rows, n_columns))
    for j, column in enumerate(columns):
        ranks, n_ranks = tie_groups.dense_ranks(column)
        for midranks, place in zip(out, (n_ranks - 1 - ranks, ranks), strict=False):
            key = query * (n_ranks + 1) + np.where(ranks < 0, n_ranks, place)
            midranks[:, j] = 2 * stats.rankdata(key) - offsets[query]
    return np.concatenate(out, axis=1)
