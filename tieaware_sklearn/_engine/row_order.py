"""An order of rows for rankers that depends on their content alone."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from .._typing import Array, IntArray
from . import checks, hashing, segments


def by_content(
    X: Any, queries: checks.Queries, labels: Array, *values: Any, salt: int = 0
) -> checks.Queries:
    """Queries by id, the rows of each in an order that depends on little.

    The rows of a query are sorted by label, then by column, from the first to the
    last, then by `values`. Cells are compared as 32-bit floats and, where all those
    are equal, as they are. Then the places are permuted, so that they do not tell the
    label. The permutation depends on `salt`, on the number of rows, and on how many
    queries of that size have smaller ids. So one unit in the last place, an appended
    or scaled column, or another type of float changes nothing unless it turns a
    comparison.

    Parameters
    ----------
    X : matrix of any kind
    queries : Queries
        Of the rows of X.
    labels : ndarray of shape (n_rows,)
        Of the rows as they stand in X, as are `values`.
    *values : array-like of shape (n_rows,), or None
        Whatever else goes with a row.
    salt : int
        Another one gives another permutation.
    """
    queries = queries.by_id()
    extra_columns = [np.asarray(value) for value in values if value is not None]
    digests = hashing.row_digests(X)
    for value in extra_columns:
        digests = hashing.mixed(digests) ^ hashing.row_digests(value)
    first = queries.offsets[:-1][queries.row_codes()]
    rows = np.arange(len(first))
    keys = _stored if hasattr(X, "tocsr") else _columns
    narrow, wide = keys(X, narrow=True), keys(X, narrow=False)
    for key in chain([labels], narrow, wide, extra_columns):
        rows = _apart(rows, first, key, digests)
        if not len(rows):
            break
    order = np.argsort(first, kind="stable")[_permuted(queries.sizes, salt)]
    return replace(queries, order=order)


def _apart(
    rows: IntArray, first: IntArray, key: Array, digests: hashing.Digests
) -> IntArray:
    """Tell rows apart by a key; returns those that it does not tell apart.

    Parameters
    ----------
    rows : ndarray
        Rows that no key before has told apart.
    first : ndarray of shape (n_rows,)
        The first of the places that rows share with each other; updated.
    key : ndarray of shape (n_rows,)
    digests : ndarray of shape (n_rows,)
        Rows with the same one are equal, and need no other key.
    """
    rows = rows[np.lexsort((key[rows], first[rows]))]
    place, values = first[rows], key[rows]
    both_nan = np.isnan(values[1:]) & np.isnan(values[:-1])
    fresh = segments.begins(place) | segments.begins(values)
    fresh[1:] &= segments.begins(place)[1:] | ~both_nan
    starts = np.flatnonzero(fresh)
    sizes = segments.sizes_of(starts, len(rows))
    block = np.maximum.accumulate(
        np.where(segments.begins(place), np.arange(len(rows)), 0)
    )
    first[rows] = np.repeat((place + np.arange(len(rows)) - block)[starts], sizes)
    digests = digests[rows]
    equal = np.minimum.reduceat(digests, starts) == np.maximum.reduceat(digests, starts)
    return rows[np.repeat(~equal, sizes)]


def _columns(X: Any, *, narrow: bool) -> Iterator[Array]:
    """Columns from the first to the last."""
    for cells in hashing.columns_of(X):
        if narrow:
            yield _narrow(cells)
        else:
            yield cells if cells.dtype.kind in "biuf" else hashing.value_bits(cells)


def _stored(X: Any, *, narrow: bool) -> Iterator[Array]:
    """Keys that sort the rows of a sparse matrix as their columns do.

    The first two keys are the place and the value of the first cell of a row that is
    not 0, the next two those of its second one, and so on. A cell above 0 makes its row
    the greater one, the more so the further left it stands; one below 0, the lesser.
    """
    X = hashing.stored_once(X.tocsr()).copy()
    X.data = _narrow(X.data) if narrow else X.data
    X.eliminate_zeros()
    for number in range(np.diff(X.indptr).max(initial=0)):
        has = np.flatnonzero(np.diff(X.indptr) > number)
        at = X.indptr[has] + number
        where, cells = np.zeros(X.shape[0], np.int64), np.zeros(X.shape[0], X.dtype)
        where[has] = np.where(X.data[at] < 0, -1, 1) * (X.shape[1] - X.indices[at])
        cells[has] = X.data[at]
        yield where
        yield cells


def _narrow(cells: Array) -> Array:
    """Numbers as 32-bit floats, anything else by bits of its value."""
    with np.errstate(over="ignore"):
        try:
            return cells.astype(np.float32)
        except (TypeError, ValueError):
            return hashing.value_bits(cells)


def _permuted(sizes: IntArray, salt: int) -> IntArray:
    """The places of each query in random order."""
    # how many queries before have the same size
    by_size = np.argsort(sizes, kind="stable")
    number = np.empty_like(sizes)
    number[by_size] = segments.expand(np.unique(sizes, return_counts=True)[1])[1]
    seeds = hashing.mixed(np.array([salt % 2**64], np.uint64))
    for part in (sizes, number):
        seeds = hashing.mixed(seeds + part.astype(np.uint64) * hashing.STEP)
    owner, place = segments.expand(sizes)
    return np.lexsort(
        (hashing.mixed(seeds[owner] + place.astype(np.uint64) * hashing.STEP), owner)
    )
