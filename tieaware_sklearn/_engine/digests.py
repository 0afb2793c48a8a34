"""Rows and queries told apart by 64 bits, whatever order they come in."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .qid_column import count_rows, list_columns
from .segments import FloatArray, IntArray, owners, sum_segments

Digests = NDArray[np.uint64]
_FIRST = np.uint64(0x9E3779B97F4A7C15)


def mixed(bits: Digests) -> Digests:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def bits_of(values: NDArray[Any]) -> Digests:
    """64 mixed bits of each number, the same for equal ones, of any dtype.

    -0.0 is 0.0, and all kinds of NaN are one.
    """
    floats = values.astype(np.float64) + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = mixed(floats.view(np.uint64) + _FIRST)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        wide = np.abs(floats) >= 2**53
        bits[wide] ^= mixed(values[wide].astype(np.uint64) + _FIRST)
    return bits


def row_digests(X: Any) -> Digests:
    """64 bits of each row of a matrix of any kind.

    They are the same for equal rows, be the matrix dense, sparse or a data frame.
    """
    if hasattr(X, "tocsr"):
        X = _canonical(X.tocsr())
        entries = _placed(X.data, X.indices)
        return sum_segments(entries, np.diff(X.indptr), np.uint64)
    out = np.zeros(count_rows(X), dtype=np.uint64)
    for j, column in enumerate(_columns_of(X)):
        out += _placed(column, j)
    return out


def column_digests(
    X: Any, *, filled: float = 0, columns: Sequence[int] | None = None
) -> Iterator[tuple[int, Any, Digests]]:
    """Columns, their rows with a cell, and 64 bits of each cell: 0 for a cell of 0.

    Sums over the cells of a row are its digest. All columns but these are left out; of
    a sparse matrix, which may have many, those that store less than `filled` cells.
    """
    if hasattr(X, "tocsc"):
        X = _canonical(X.tocsc())
        if columns is None:
            columns = np.flatnonzero(np.diff(X.indptr) >= filled).tolist()
        for j in columns:
            stored = slice(X.indptr[j], X.indptr[j + 1])
            yield j, X.indices[stored], _placed(X.data[stored], j)
    else:
        for j, column in enumerate(_columns_of(X)):
            if columns is None or j in columns:
                yield j, slice(None), _placed(column, j)


def _canonical(X: Any) -> Any:
    """A compressed matrix that stores no cell twice."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _columns_of(X: Any) -> Iterator[NDArray[Any]]:
    """The cells of each column of an array, data frame or Arrow table."""
    if list_columns(X):
        for j in range(X.shape[1]):
            if hasattr(X, "iloc"):
                yield _cells_of(X.iloc[:, j])
            else:
                table = hasattr(X, "column_names")
                yield np.asarray(X.column(j) if table else X[:, j])
    else:
        values = np.asarray(X)
        yield from values.reshape(len(values), -1).T


def _cells_of(column: Any) -> NDArray[Any]:
    """A column of pandas; what it calls NA among numbers is NaN."""
    if getattr(column.dtype, "kind", "") in "biuf" and column.hasnans:
        return np.asarray(column.to_numpy(np.float64, na_value=np.nan))
    return np.asarray(column)


def _placed(cells: NDArray[Any], column: Any) -> Digests:
    """What cells add to the digests of their rows: nothing where they are 0."""
    bits = value_bits(cells)
    place = mixed(np.atleast_1d(column).astype(np.uint64) + _FIRST)
    placed = mixed(bits ^ place)
    return np.where(bits == _ZERO, np.uint64(0), placed)


def value_bits(values: ArrayLike) -> Digests:
    """64 bits of each value of any type, the same in every process.

    Numbers that are equal have the same ones, whatever their type.
    """
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return bits_of(values)
    if values.dtype.kind in "mM":
        # times of one unit are numbers, but no numbers are times
        return mixed(bits_of(values.view(np.int64)) ^ _text_bits(str(values.dtype)))
    objects = values.tolist()
    with suppress(OverflowError):
        if set(map(type, objects)) <= {bool, int, float}:
            floats = np.array(objects, dtype=np.float64)
            if not (np.abs(floats) >= 2**53).any():  # integers may have been rounded
                return bits_of(floats)
    try:
        known = {value: _object_bits(value) for value in set(objects)}
        bits = [known[value] for value in objects]
    except TypeError:  # not hashable
        bits = list(map(_object_bits, objects))
    return np.concatenate([np.empty(0, np.uint64), *bits])


def _object_bits(value: Any) -> Digests:
    if isinstance(value, numbers.Integral):
        whole = int(value)
        exact = np.int64 if -(2**63) <= whole < 2**63 else np.uint64
        if exact is np.int64 or whole < 2**64:
            return bits_of(np.array([whole], dtype=exact))
    elif isinstance(value, numbers.Real):
        return bits_of(np.array([float(value)]))
    return _text_bits(_spelled(value))


def _spelled(value: Any) -> str:
    """A text for each value, one for equal ones, and for sets in whatever order."""
    if isinstance(value, str):  # NumPy's, too
        return str.__repr__(value)
    if isinstance(value, numbers.Integral):
        return repr(int(value))
    if isinstance(value, numbers.Real):
        number = float(value)
        return repr(int(number) if number.is_integer() else number)
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(map(_spelled, value)))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})"
    return repr(value)


def _text_bits(text: str) -> Digests:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return np.frombuffer(digest.digest(), dtype="<u8").astype(np.uint64)


def query_marks(labels: FloatArray, offsets: IntArray) -> Digests:
    """A number per query that tells its labels, in any order, from others.

    Labels stand query by query.
    """
    return sum_segments(bits_of(labels), np.diff(offsets), np.uint64)


def by_content(X: Any, offsets: IntArray, *values: Any, salt: int = 0) -> IntArray:
    """Rows of each query in an order that their contents alone decide.

    Parameters
    ----------
    X : matrix of any kind
        Its rows query by query.
    offsets : ndarray of shape (n_queries + 1,)
    *values : array-like of shape (n_rows,) or (n_rows, n), or None
        Labels, and whatever else goes with a row.
    salt : int
        Another one gives another order.
    """
    return by_digests(row_digests(X), offsets, *values, salt=salt)


def by_digests(
    rows: Digests, offsets: IntArray, *values: Any, salt: int = 0
) -> IntArray:
    """The order of `by_content`, for rows that have these digests."""
    digest = mixed(rows + mixed(np.array([salt % 2**64], np.uint64)))
    for value in values:
        if value is not None:
            digest = mixed(digest + _FIRST) ^ row_digests(np.asarray(value))
    return np.lexsort((digest, owners(np.diff(offsets))))


_ZERO = bits_of(np.zeros(1))[0]
