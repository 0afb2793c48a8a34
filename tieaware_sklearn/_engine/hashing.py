"""Digests of numbers, texts and rows: 64 bits that do not depend on the dtype."""

import datetime
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, FloatArray, IntArray
from . import exact_numbers, feature_matrix, segments

#: Digests of 64 bits. Their sums wrap modulo 2^64.
Digests = NDArray[np.uint64]
#: The step of the sequence that splitmix64 mixes.
STEP = np.uint64(0x9E3779B97F4A7C15)
#: Types of times. Times are checked before numbers, because NumPy's durations are also
#: NumPy integers.
_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
#: Types whose equal values have equal bits, even if the types differ.
_PLAIN = {bool, int, float, str, type(None)}


def mixed(bits: Digests) -> Digests:
    """Return mixed bits, by the finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def bits_of(values: Array) -> Digests:
    """Return 64 mixed bits of each number, the same for equal numbers of any dtype.

    -0.0 equals 0.0, and all kinds of NaN are equal.
    """
    floats = values.astype(np.float64) + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = mixed(floats.view(np.uint64) + STEP)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        wide = np.abs(floats) >= exact_numbers.LARGEST_EXACT
        if wide.any():
            # float64 represents an integer exactly if the integer, divided by its
            # largest factor that is a power of 2, is below 2^53. Other integers were
            # rounded, so their own bits are mixed in.
            power = np.abs((values & -values).astype(np.float64))
            wide &= np.abs(floats) >= exact_numbers.LARGEST_EXACT * power
            bits[wide] ^= mixed(values[wide].astype(np.uint64) + STEP)
    return bits


#: Bits of the number 0, which sparse matrices do not store.
_ZERO = bits_of(np.zeros(1))[0]


def row_digests(X: Any) -> Digests:
    """Return 64 bits of each row of a matrix of any kind.

    Equal rows have equal bits in dense matrices, sparse matrices and data frames.
    """
    if hasattr(X, "tocsr"):
        X = stored_once(X.tocsr())
        entries = _cell_digests(X.data, X.indices)
        return segments.sum_segments(entries, np.diff(X.indptr), np.uint64)
    out = np.zeros(feature_matrix.count_rows(X), dtype=np.uint64)
    for j, column in enumerate(columns_of(X)):
        out += _cell_digests(column, j)
    return out


def stored_once(X: Any) -> Any:
    """Return a compressed matrix that stores no cell twice.

    The cells of a row are in the order of the columns.
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def columns_of(X: Any) -> Iterator[Array]:
    """Yield the cells of each column of an array, data frame or Arrow table."""
    if not feature_matrix.list_columns(X):
        values = np.asarray(X)
        # A list is one column.
        yield from values.reshape(len(values), -1).T
        return
    for j in range(X.shape[1]):
        cells = feature_matrix.cells_of(X, j)
        # pandas.NA among numbers becomes NaN.
        if getattr(cells, "hasnans", False) and cells.dtype.kind in "biuf":
            cells = cells.to_numpy(np.float64, na_value=np.nan)
        yield np.asarray(cells)


def _cell_digests(cells: Array, column: Any) -> Digests:
    """Return digests of the cells of a column. Cells of a row add up to its digest.

    The digest of a cell with the value 0 is 0, because sparse matrices do not store
    such cells.
    """
    bits = value_bits(cells)
    column_bits = mixed(np.atleast_1d(column).astype(np.uint64) + STEP)
    digests = mixed(bits ^ column_bits)
    digests[bits == _ZERO] = 0
    return digests


def value_bits(values: ArrayLike) -> Digests:
    """Return 64 bits of each value of any type, the same in every process.

    Equal numbers and texts have equal bits in every type of Python and NumPy. Equal
    times have equal bits in every unit. A date stands for its midnight. Times without a
    zone count as UTC, because Arrow converts times with a zone to UTC. Other objects
    have the bits of their `repr`.
    """
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return bits_of(values)
    if values.dtype.kind in "mM":
        return _bits_of_times(values)
    objects = values.tolist()
    types = set(map(type, objects))
    with suppress(OverflowError):
        # Most lists of numbers need no loop.
        if types <= {bool, int, float}:
            floats = np.array(objects, dtype=np.float64)
            if not exact_numbers.any_large(floats):  # Large integers may be rounded.
                return bits_of(floats)
    if types <= _PLAIN:
        # Ids and categories repeat, so every distinct value is hashed once.
        bits = {value: _bits_of_object(value) for value in dict.fromkeys(objects)}
        return np.array([bits[value] for value in objects], dtype=np.uint64)
    return np.array([_bits_of_object(value) for value in objects], dtype=np.uint64)


def _bits_of_times(values: Array) -> Digests:
    """Return 64 bits of each time or duration of an array, the same in every unit."""
    kind = values.dtype.kind
    seconds = values.astype(f"{kind}8[s]")
    # The fraction of a second is hashed in attoseconds, as in the digests of saved
    # screenings. NumPy cannot convert seconds to attoseconds in one step.
    femtoseconds = (values - seconds).astype("m8[fs]").view(np.uint64)
    attoseconds = femtoseconds * np.uint64(1000)
    # The tag makes digests of times differ from digests of durations and numbers.
    tag = np.uint64(_bits_of_text(kind))
    return mixed(mixed(seconds.view(np.uint64) + tag) ^ attoseconds)


def _bits_of_object(value: Any) -> int:
    if isinstance(value, str):  # The repr of NumPy texts is different.
        return _bits_of_text(str.__repr__(value))
    if isinstance(value, bytes):
        return _bits_of_text(bytes.__repr__(value))
    if isinstance(value, _TIMES):
        return int(_bits_of_times(np.array([_as_numpy(value)]))[0])
    if isinstance(value, _NUMBERS):
        # Python compares integers with floats exactly, but NumPy does not.
        if hasattr(value, "item"):
            value = value.item()
        return _bits_of_number(value)
    return _bits_of_text(repr(value))


def _bits_of_number(number: Any) -> int:
    """Return the bits of an equal 64-bit float or integer, or else of the hash.

    The number is an int, a float or a `numpy.longdouble`, which may have a fraction
    that no 64-bit float can represent.
    """
    # inf stands for an integer that is beyond all floats.
    rounded = np.inf
    with suppress(OverflowError):
        rounded = float(number)
    if rounded == number or rounded != rounded:
        return int(bits_of(np.array([rounded]))[0])
    if -(2**63) <= number < 2**64:
        whole = int(number)
        if whole == number:
            return int(bits_of(np.array([whole]))[0])
    # Equal numbers of Python have equal hashes, whatever their types. NumPy rounds a
    # longdouble to 64 bits before it is hashed.
    return _bits_of_text(f"number {hash(number)} {rounded!r}")


def _as_numpy(value: Any) -> np.generic:
    """Convert a date, a time (in UTC) or a duration of Python or pandas to NumPy."""
    value = getattr(value, "asm8", value)
    if isinstance(value, np.generic):
        return value
    if isinstance(value, datetime.datetime):
        zone = value.utcoffset() or datetime.timedelta()
        value = value.replace(tzinfo=None) - zone
    if isinstance(value, datetime.timedelta):
        return np.timedelta64(value)
    return np.datetime64(value)


def _bits_of_text(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def query_marks(labels: FloatArray, offsets: IntArray) -> Digests:
    """Return a digest of the labels of each query, whatever their order.

    The labels of query i are ``labels[offsets[i]:offsets[i + 1]]``.
    """
    return segments.sum_segments(bits_of(labels), np.diff(offsets), np.uint64)
