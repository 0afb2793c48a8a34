"""An order of the rows for rankers that depends only on the content of the rows."""

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
    """Return the queries by id, with rows in an order that depends on their content.

    The rows of a query are sorted by label, then by the columns from the first to the
    last, then by `values`. Cells are compared as 32-bit floats. If all cells of two
    rows are equal as 32-bit floats, the cells are compared in their own dtype. Then the
    rows of a query are permuted, so that the places of rows do not reveal the labels.
    The permutation depends on `salt`, on the number of rows, and on the number of
    queries of the same size that have smaller ids. So a change by one unit in the last
    place, an appended or scaled column, or another type of float changes the order only
    if a comparison is reversed.

    Parameters
    ----------
    X : matrix of any kind
        Features of the rows.
    queries : Queries
        The queries of the rows of X.
    labels : ndarray of shape (n_rows,)
        Labels in the order of the rows of X.
    *values : array-like of shape (n_rows,), or None
        Further values of each row, such as weights, in the order of the rows of X.
    salt : int
        Seed of the permutation.
    """
    queries = queries.by_id()
    extra_columns = [np.asarray(value) for value in values if value is not None]
    digests = hashing.row_digests(X)
    for column in extra_columns:
        digests = hashing.mixed(digests) ^ hashing.row_digests(column)
    first = queries.offsets[:-1][queries.row_codes()]
    rows = np.arange(len(first))
    read_keys = _sparse_keys if hasattr(X, "tocsr") else _dense_keys
    # The keys are generators, so that no further key is computed once no rows tie.
    narrow = read_keys(X, narrow=True)
    wide = read_keys(X, narrow=False)
    for key in chain([labels], narrow, wide, extra_columns):
        rows = _sort_ties(rows, first, key, digests)
        if not len(rows):
            break
    places = _permuted(queries.sizes, salt)
    order = first.argsort(kind="stable")[places]
    return replace(queries, order=order)


def _sort_ties(
    rows: IntArray, first: IntArray, key: Array, digests: hashing.Digests
) -> IntArray:
    """Sort tied rows by a key. Return the rows that still tie and are not equal.

    Parameters
    ----------
    rows : ndarray
        Rows that tie by all earlier keys.
    first : ndarray of shape (n_rows,)
        First place, in the sorted order, of the tie that contains each row. The array
        is updated.
    key : ndarray of shape (n_rows,)
    digests : ndarray of shape (n_rows,)
        Digests of the rows. Rows with the same digest are equal, and need no further
        key. Digests omit the labels, because labels are the first key, so rows that tie
        have equal labels.
    """
    rows = rows[np.lexsort((key[rows], first[rows]))]
    place = first[rows]
    values = key[rows]
    begins_tie = segments.begins(place)
    both_nan = np.isnan(values[1:]) & np.isnan(values[:-1])
    differs = segments.begins(values)
    differs[1:] &= ~both_nan
    starts = np.flatnonzero(begins_tie | differs)
    sizes = segments.sizes_of(starts, len(rows))
    # A smaller tie begins below the start of its former tie by the number of rows that
    # precede the smaller tie in the former tie.
    tie_starts = np.maximum.accumulate(np.where(begins_tie[starts], starts, 0))
    first[rows] = np.repeat(place[starts] + starts - tie_starts, sizes)
    digests = digests[rows]
    least = np.minimum.reduceat(digests, starts)
    largest = np.maximum.reduceat(digests, starts)
    return rows[np.repeat(least != largest, sizes)]


def _dense_keys(X: Any, *, narrow: bool) -> Iterator[Array]:
    """Yield the columns of a matrix from the first to the last."""
    for cells in hashing.columns_of(X):
        if narrow:
            yield _narrow(cells)
        elif cells.dtype.kind in "biuf":
            yield cells
        else:
            yield hashing.value_bits(cells)


def _sparse_keys(X: Any, *, narrow: bool) -> Iterator[Array]:
    """Yield keys that sort the rows of a sparse matrix as its columns would.

    The first two keys are the place and the value of the first cell of each row that is
    not 0. The next two keys describe the second such cell, and so on. If two rows are
    equal so far, the row with a positive cell further left is the greater row, and the
    row with a negative cell further left is the smaller row.
    """
    X = hashing.stored_once(X.tocsr()).copy()
    if narrow:
        X.data = _narrow(X.data)
    X.eliminate_zeros()
    n_rows, n_columns = X.shape
    counts = np.diff(X.indptr)
    for number in range(counts.max(initial=0)):
        rows = np.flatnonzero(counts > number)
        at = X.indptr[rows] + number
        data = X.data[at]
        sign = np.where(data < 0, -1, 1)
        places = np.zeros(n_rows, np.int64)
        places[rows] = sign * (n_columns - X.indices[at])
        yield places
        cells = np.zeros(n_rows, X.dtype)
        cells[rows] = data
        yield cells


def _narrow(cells: Array) -> Array:
    """Return values as 32-bit floats, or their bits if they are not numbers."""
    # Numbers beyond the range become inf. The wide keys distinguish such numbers.
    with np.errstate(over="ignore"):
        try:
            return cells.astype(np.float32)
        except (TypeError, ValueError):
            return hashing.value_bits(cells)


def _permuted(sizes: IntArray, salt: int) -> IntArray:
    """Return the places of each query in random order."""
    # The number of earlier queries of the same size. With this number, an added query
    # changes the order of no query of another size.
    by_size = np.argsort(sizes, kind="stable")
    _, n_queries_of_size = np.unique(sizes, return_counts=True)
    number = np.empty_like(sizes)
    _, number[by_size] = segments.expand(n_queries_of_size)
    seeds = hashing.mixed(np.array([salt % 2**64], np.uint64))
    for part in (sizes, number):
        seeds = hashing.mixed(seeds + part.astype(np.uint64) * hashing.STEP)
    owner, place = segments.expand(sizes)
    draws = hashing.mixed(seeds[owner] + place.astype(np.uint64) * hashing.STEP)
    return np.lexsort((draws, owner))
