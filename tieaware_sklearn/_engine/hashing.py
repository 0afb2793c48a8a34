"""Digests of numbers, texts and rows: 64 bits that no dtype changes."""

import datetime
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._typing import Array, FloatArray, IntArray
from . import exact_numbers, feature_matrix, segments

Digests = NDArray[np.uint64]
#: of the sequence that splitmix64 mixes
STEP = np.uint64(0x9E3779B97F4A7C15)
#: Durations of NumPy are integers of NumPy, too.
_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def mixed(bits: Digests) -> Digests:
    """The finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def bits_of(values: Array) -> Digests:
    """64 mixed bits of each number, the same for equal ones, of any dtype.

    -0.0 is 0.0, and all kinds of NaN are one.
    """
    floats = values.astype(np.float64) + 0.0
    floats[np.isnan(floats)] = np.nan
    bits = mixed(floats.view(np.uint64) + STEP)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        wide = np.abs(floats) >= exact_numbers.LARGEST_EXACT
        if wide.any():
            # without the power of two that divides them, integers that are the floats
            # that they were rounded to are below 2^53
            power = np.abs((values & -values).astype(np.float64))
            wide &= np.abs(floats) >= exact_numbers.LARGEST_EXACT * power
            bits[wide] ^= mixed(values[wide].astype(np.uint64) + STEP)
    return bits


def row_digests(X: Any) -> Digests:
    """64 bits of each row of a matrix of any kind.

    They are the same for equal rows, be the matrix dense, sparse or a data frame.
    """
    if hasattr(X, "tocsr"):
        X = stored_once(X.tocsr())
        entries = _placed(X.data, X.indices)
        return segments.sum_segments(entries, np.diff(X.indptr), np.uint64)
    out = np.zeros(feature_matrix.count_rows(X), dtype=np.uint64)
    for j, column in enumerate(columns_of(X)):
        out += _placed(column, j)
    return out


def stored_once(X: Any) -> Any:
    """A compressed matrix that stores no cell twice."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def columns_of(X: Any) -> Iterator[Array]:
    """The cells of each column of an array, data frame or Arrow table."""
    if not feature_matrix.list_columns(X):
        values = np.asarray(X)
        yield from values.reshape(len(values), -1).T
        return
    for j in range(X.shape[1]):
        cells = feature_matrix.cells_of(X, j)
        # what pandas calls NA among numbers is NaN
        if getattr(cells, "hasnans", False) and cells.dtype.kind in "biuf":
            cells = cells.to_numpy(np.float64, na_value=np.nan)
        yield np.asarray(cells)


def _placed(cells: Array, column: Any) -> Digests:
    """Digests to be added to those of the rows of cells: 0 where the cell is 0."""
    bits = value_bits(cells)
    place = mixed(np.atleast_1d(column).astype(np.uint64) + STEP)
    placed = mixed(bits ^ place)
    return np.where(bits == _ZERO, np.uint64(0), placed)


def value_bits(values: ArrayLike) -> Digests:
    """Return 64 bits of each value of any type, the same in every process.

    Equal numbers and texts have equal bits in every type of Python and NumPy, and so
    have equal times in every unit. A date is its midnight, and times without a zone are
    of UTC, as those with a zone are where Arrow makes arrays of them. Other objects
    have the bits of their `repr`.
    """
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return bits_of(values)
    if values.dtype.kind in "mM":
        return _bits_of_times(values)
    objects = values.tolist()
    with suppress(OverflowError):
        if set(map(type, objects)) <= {bool, int, float}:
            floats = np.array(objects, dtype=np.float64)
            if not exact_numbers.any_large(floats):  # integers may have been rounded
                return bits_of(floats)
    try:
        bits = {value: _bits_of_object(value) for value in dict.fromkeys(objects)}
    except TypeError:  # lists and others that have no hash
        return np.array(list(map(_bits_of_object, objects)), dtype=np.uint64)
    return np.array([bits[value] for value in objects], dtype=np.uint64)


def _bits_of_times(values: Array) -> Digests:
    """64 bits of each time or duration of an array, the same in every unit."""
    kind = values.dtype.kind
    seconds = values.astype(f"{kind}8[s]")
    # in attoseconds, as saved digests are; NumPy converts no seconds to these
    rest = (values - seconds).astype("m8[fs]").view(np.uint64) * np.uint64(1000)
    # times are numbers of seconds since 1970, but no numbers are times
    tag = np.uint64(_bits_of_text(kind))
    return mixed(mixed(seconds.view(np.uint64) + tag) ^ rest)


def _bits_of_object(value: Any) -> int:
    if isinstance(value, str):  # those of NumPy have a repr of their own
        return _bits_of_text(str.__repr__(value))
    if isinstance(value, bytes):
        return _bits_of_text(bytes.__repr__(value))
    if isinstance(value, _TIMES):
        return int(_bits_of_times(np.array([_as_numpy(value)]))[0])
    if isinstance(value, _NUMBERS):
        # Python compares integers with floats exactly, NumPy does not
        return _bits_of_number(value.item() if hasattr(value, "item") else value)
    return _bits_of_text(repr(value))


def _bits_of_number(number: Any) -> int:
    """Return the bits of an equal float or integer of 64 bits, if there is one."""
    near = np.inf
    with suppress(OverflowError):
        near = float(number)
    if near == number or near != near:
        return int(bits_of(np.array([near]))[0])
    if -(2**63) <= number < 2**64 and (whole := int(number)) == number:
        return int(bits_of(np.array([whole]))[0])
    # hashes are those of equal numbers
    return _bits_of_text(f"number {hash(number)} {near!r}")


def _as_numpy(value: Any) -> np.generic:
    """A date, a time (of UTC) or a duration of Python, pandas or NumPy."""
    value = getattr(value, "asm8", value)
    if isinstance(value, np.generic):
        return value
    if isinstance(value, datetime.datetime):
        zone = value.utcoffset() or datetime.timedelta()
        value = value.replace(tzinfo=None) - zone
    spans = isinstance(value, datetime.timedelta)
    return np.timedelta64(value) if spans else np.datetime64(value)


def _bits_of_text(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def query_marks(labels: FloatArray, offsets: IntArray) -> Digests:
    """A number per query that tells its labels, in any order, from others.

    Labels stand query by query.
    """
    return segments.sum_segments(bits_of(labels), np.diff(offsets), np.uint64)


_ZERO = bits_of(np.zeros(1))[0]
