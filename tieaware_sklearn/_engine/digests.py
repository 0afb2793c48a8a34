"""Rows and queries told apart by 64 bits, and put in an order that no input changes."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from numbers import Complex, Number, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display import warn
from .checks import Queries
from .columns import cells_of, count_rows, list_columns
from .exact import exact_number
from .merging import gather
from .segments import (
    FloatArray,
    IntArray,
    begins,
    expand,
    owners,
    sizes_of,
    sum_segments,
)

Digests = NDArray[np.uint64]
_FIRST = np.uint64(0x9E3779B97F4A7C15)
#: what NumPy takes for an integer, too
_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
#: digits after the point of seconds
_DIGITS = {"ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15, "as": 18}
_NAT = -(2**63)


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
        if wide.any():
            wide &= ~_are_floats(values, floats)
            bits[wide] ^= mixed(values[wide].astype(np.uint64) + _FIRST)
    return bits


def _are_floats(whole: NDArray[Any], floats: FloatArray) -> NDArray[np.bool_]:
    """Which integers of 64 bits are the floats that they were rounded to."""
    # without the power of two that divides them, those are below 2^53
    power = np.abs((whole & -whole).astype(np.float64))
    return np.asarray(np.abs(floats) < 2**53 * power)


def row_digests(X: Any) -> Digests:
    """64 bits of each row of a matrix of any kind.

    They are the same for equal rows, be the matrix dense, sparse or a data frame.
    """
    if hasattr(X, "tocsr"):
        X = stored_once(X.tocsr())
        entries = _placed(X.data, X.indices)
        return sum_segments(entries, np.diff(X.indptr), np.uint64)
    out = np.zeros(count_rows(X), dtype=np.uint64)
    for j, column in enumerate(columns_of(X)):
        out += _placed(column, j)
    return out


def stored_once(X: Any) -> Any:
    """A compressed matrix that stores no cell twice."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def columns_of(X: Any) -> Iterator[NDArray[Any]]:
    """The cells of each column of an array, data frame or Arrow table."""
    if not list_columns(X):
        values = np.asarray(X)
        yield from values.reshape(len(values), -1).T
        return
    for j in range(X.shape[1]):
        cells = cells_of(X, j)
        # what pandas calls NA among numbers is NaN
        if getattr(cells, "hasnans", False) and cells.dtype.kind in "biuf":
            cells = cells.to_numpy(np.float64, na_value=np.nan)
        yield np.asarray(cells)


def _placed(cells: NDArray[Any], column: Any) -> Digests:
    """What cells add to the digests of their rows: nothing where they are 0."""
    bits = value_bits(cells)
    place = mixed(np.atleast_1d(column).astype(np.uint64) + _FIRST)
    placed = mixed(bits ^ place)
    return np.where(bits == _ZERO, np.uint64(0), placed)


def value_bits(values: ArrayLike) -> Digests:
    """64 bits of each value of any type, the same in every process.

    Values that are equal have the same ones, whatever their types: numbers, and times
    of any unit. A date is its midnight, and times without a zone are of UTC, as those
    with one are where Arrow makes arrays of them.
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
            if not (np.abs(floats) >= 2**53).any():  # integers may have been rounded
                return bits_of(floats)
    try:
        different = list(dict.fromkeys(objects))
    except TypeError:  # not hashable
        return _bits_of_objects(objects)
    bits = dict(zip(different, _bits_of_objects(different).tolist(), strict=True))
    return np.array([bits[value] for value in objects], dtype=np.uint64)


def _bits_of_times(values: NDArray[Any]) -> Digests:
    """Those of an array of times or durations, the same in every unit."""
    kind = values.dtype.kind
    unit, _ = np.datetime_data(values.dtype)
    if unit == "generic" or (kind == "m" and unit in "YM"):  # no number of seconds
        tag = np.uint64(_text_bits(f"{values.dtype}"))
        return mixed(bits_of(values.view(np.int64)) ^ tag)
    if unit in _DIGITS:
        digits = _DIGITS[unit]
        whole = values.astype(f"{kind}8[{unit}]").view(np.int64)
        seconds = whole // 10**digits
        rest = (whole - seconds * 10**digits) * 10 ** (18 - digits)
    else:
        seconds = values.astype(f"{kind}8[s]").view(np.int64)
        rest = np.zeros(len(values), dtype=np.int64)
    missing = np.isnat(values)
    seconds, rest = np.where(missing, _NAT, seconds), np.where(missing, 0, rest)
    # times are numbers of seconds since 1970, but no numbers are times
    tag = np.uint64(_text_bits(kind))
    return mixed(mixed(seconds.view(np.uint64) + tag) ^ rest.view(np.uint64))


def _bits_of_objects(objects: list[Any]) -> Digests:
    """Those of values of any types, one by one; floats together."""
    bits = np.empty(len(objects), dtype=np.uint64)
    floats: dict[int, float] = {}
    for at, value in enumerate(objects):
        if isinstance(value, _TIMES):
            bits[at] = _bits_of_times(np.array([_as_numpy(value)]))[0]
        elif isinstance(value, (Number, np.bool_)):
            number = _as_64_bits(value)
            if isinstance(number, float):
                floats[at] = number
            elif isinstance(number, str):
                bits[at] = _text_bits(number)
            else:
                bits[at : at + 1] = bits_of(np.array([number]))
        else:
            bits[at] = _text_bits(_spelled(value))
    bits[list(floats)] = bits_of(np.array(list(floats.values()), dtype=np.float64))
    return bits


def _as_64_bits(value: Any) -> float | int | str:
    """A number as the float or the integer of 64 bits that it is; others as texts."""
    if isinstance(value, Complex) and not isinstance(value, Real) and value.imag == 0:
        value = value.real
    # NumPy rounds an integer that it compares with a float
    exact = exact_number(value)
    for kind in (float, int):
        # too large, complex, a NaN that signals
        with suppress(OverflowError, TypeError, ValueError):
            number: float = kind(exact)
            fits = kind is float or -(2**63) <= number < 2**64
            if fits and (number == exact or number != number):
                return number
    near: complex = np.inf
    with suppress(OverflowError):
        near = float(exact) if not isinstance(exact, complex) else exact + 0
    # hashes are those of equal numbers
    return f"number {hash(exact)} {near!r}"


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


def _spelled(value: Any) -> str:
    """A text for each value, one for equal ones, and for sets in whatever order."""
    if isinstance(value, (Number, np.bool_, *_TIMES)):
        return f"bits {_bits_of_objects([value])[0]}"
    if isinstance(value, (str, bytes)):  # NumPy's, too
        return (str if isinstance(value, str) else bytes).__repr__(value)
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(map(_spelled, value)))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled, value))})"
    return repr(value)


def _text_bits(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def query_marks(labels: FloatArray, offsets: IntArray) -> Digests:
    """A number per query that tells its labels, in any order, from others.

    Labels stand query by query.
    """
    return sum_segments(bits_of(labels), np.diff(offsets), np.uint64)


_ZERO = bits_of(np.zeros(1))[0]


#: queries whose digests are kept, 8 bytes each; of more, those with the least ones
MOST_KNOWN = 10_000_000
#: what to do with a digest
WHICH = "datasets.query_digests tells which it is"


class Repeated(NamedTuple):
    """A query that is in several parts of data, which must not share any.

    Attributes
    ----------
    digest : int
        That of its id.
    parts : list of int
        Which parts hold it.
    n_queries : int
        How many such queries there are in all parts.
    """

    digest: int
    parts: list[int]
    n_queries: int


def id_digests(qid: NDArray[Any], name: str = "qid") -> Digests:
    """Digests of different query ids, in their order.

    Raises
    ------
    ValueError
        If two ids have the same digest. Of 64 bits, n ids have two alike with a
        chance of about n² / 2^65 (the birthday problem).
    """
    digests = value_bits(qid)
    order = np.argsort(digests, kind="stable")
    alike = np.flatnonzero(digests[order[1:]] == digests[order[:-1]])
    if len(alike):
        first, second = sorted(order[alike[0] : alike[0] + 2].tolist())
        raise ValueError(same_digest(qid[first], qid[second], name))
    return digests


def same_digest(first: Any, second: Any, name: str = "qid") -> str:
    """What to say of two ids that cannot be told apart."""
    return (
        f"{name} must have ids that differ in their digests of 64 bits, by which "
        f"queries are recognised, got {exact_number(first)!r} and "
        f"{exact_number(second)!r}, which have the same one: rename one of them"
    )


def kept(digests: Digests) -> Digests:
    """Those to compare with further queries, sorted.

    All parts keep the least ones, so that what one of them has kept of another's
    queries it has kept of its own.
    """
    return np.sort(digests, kind="stable")[:MOST_KNOWN]


def merged(ours: Digests, theirs: Digests) -> Digests:
    """What to keep of the digests of two parts; warns where that is not all."""
    if len(ours) + len(theirs) > MOST_KNOWN:
        warn(
            f"of more than {MOST_KNOWN} queries, only those with the smallest digests "
            "of their ids are compared: a query that comes twice may be counted twice"
        )
    return both(ours, theirs)[:MOST_KNOWN]


def both(ours: Digests, theirs: Digests) -> Digests:
    """Two sorted arrays as one."""
    # a stable sort merges runs that are sorted
    return np.sort(np.concatenate([ours, theirs]), kind="stable")


def check_apart(ours: Digests, theirs: Digests, what: str, n_theirs: int) -> None:
    """No query is in two results of a kind, of which the other has so many queries.

    Raises
    ------
    ValueError
        If there is one; it is named by its digest, since ids are not kept.
    """
    for again in repeated([ours, theirs]):
        raise ValueError(
            f"other must have none of the queries of this {what}, got "
            f"{again.n_queries} of them among its {n_theirs}, such as the one whose id "
            f"has the digest {again.digest:#018x} ({WHICH})"
        )


def are_kept(digests: Digests) -> bool:
    """Whether these can be what is kept of queries: sorted, and no two alike."""
    return bool((digests[1:] > digests[:-1]).all())


def known(digests: Digests, before: Digests) -> NDArray[np.bool_]:
    """Which of these are among those kept before."""
    if not len(before):
        return np.zeros(len(digests), dtype=bool)
    at = np.minimum(np.searchsorted(before, digests), len(before) - 1)
    return np.asarray(before[at] == digests)


def repeated(parts: Sequence[Digests]) -> list[Repeated]:
    """Queries in several parts, each of which holds no digest twice.

    Not all are listed, but one of every part that has any, by ascending digests.
    """
    every = np.concatenate([np.empty(0, np.uint64), *parts])
    every.sort(kind="stable")  # which merges what is sorted
    again = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(again):
        return []
    shared = [part[known(part, again)] for part in parts]
    digests = np.concatenate(shared)
    order = np.argsort(digests, kind="stable")
    digests, holder = digests[order], owners(np.array([*map(len, shared)]))[order]
    _, least = np.unique(holder, return_index=True)
    found = []
    for digest in np.unique(digests[least]):
        first = np.searchsorted(digests, digest, side="left")
        end = np.searchsorted(digests, digest, side="right")
        found.append(Repeated(int(digest), holder[first:end].tolist(), len(again)))
    return found


class SeenQueries:
    """The queries of all batches so far, known by digests of 64 bits.

    No query that comes again is missed, however many there are. Two ids with one digest
    would be refused as one query: among a million queries with a chance of 3e-8, among
    a hundred million of 3e-4.
    """

    def __init__(self) -> None:
        # each sorted
        self._sorted: list[Digests] = []

    def add(self, ids: NDArray[Any]) -> int | None:
        """Add the queries of a batch, each once.

        Returns the place in `ids` of the first that came before; nothing is added then.
        """
        digests = value_bits(ids)
        again = np.zeros(len(digests), dtype=bool)
        for before in self._sorted:
            again |= known(digests, before)
        if again.any():
            return int(np.argmax(again))
        if len(digests):
            gather(self._sorted, np.sort(digests), both, len)
        return None


#: of the sequence that splitmix64 mixes
_STEP = np.uint64(0x9E3779B97F4A7C15)


def by_content(
    X: Any, queries: Queries, labels: NDArray[Any], *values: Any, salt: int = 0
) -> Queries:
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
    given = [np.asarray(value) for value in values if value is not None]
    digests = row_digests(X)
    for value in given:
        digests = mixed(digests) ^ row_digests(value)
    first = queries.offsets[:-1][queries.row_codes()]
    rows = np.arange(len(first))
    keys = _stored if hasattr(X, "tocsr") else _columns
    for key in chain([labels], keys(X, narrow=True), keys(X, narrow=False), given):
        rows = _apart(rows, first, key, digests)
        if not len(rows):
            break
    order = np.argsort(first, kind="stable")[_permuted(queries.sizes, salt)]
    return replace(queries, order=order)


def _apart(
    rows: IntArray, first: IntArray, key: NDArray[Any], digests: Digests
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
    fresh = begins(place) | begins(values)
    fresh[1:] &= begins(place)[1:] | ~both_nan
    starts = np.flatnonzero(fresh)
    sizes = sizes_of(starts, len(rows))
    block = np.maximum.accumulate(np.where(begins(place), np.arange(len(rows)), 0))
    first[rows] = np.repeat((place + np.arange(len(rows)) - block)[starts], sizes)
    digests = digests[rows]
    equal = np.minimum.reduceat(digests, starts) == np.maximum.reduceat(digests, starts)
    return np.asarray(rows[np.repeat(~equal, sizes)])


def _columns(X: Any, *, narrow: bool) -> Iterator[NDArray[Any]]:
    """Columns from the first to the last."""
    for cells in columns_of(X):
        if narrow:
            yield _narrow(cells)
        else:
            yield cells if cells.dtype.kind in "biuf" else value_bits(cells)


def _stored(X: Any, *, narrow: bool) -> Iterator[NDArray[Any]]:
    """Keys that sort the rows of a sparse matrix as their columns do.

    The first two keys are the place and the value of the first cell of a row that is
    not 0, the next two those of its second one, and so on. A cell above 0 makes its row
    the greater one, the more so the further left it stands; one below 0, the lesser.
    """
    X = stored_once(X.tocsr()).copy()
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


def _narrow(cells: NDArray[Any]) -> NDArray[Any]:
    """Numbers as 32-bit floats, anything else by bits of its value."""
    with np.errstate(over="ignore"):
        try:
            return cells.astype(np.float32)
        except (TypeError, ValueError):
            return value_bits(cells)


def _permuted(sizes: IntArray, salt: int) -> IntArray:
    """The places of each query in random order."""
    # how many queries before have the same size
    by_size = np.argsort(sizes, kind="stable")
    number = np.empty_like(sizes)
    number[by_size] = expand(np.unique(sizes, return_counts=True)[1])[1]
    seeds = mixed(np.array([salt % 2**64], np.uint64))
    for part in (sizes, number):
        seeds = mixed(seeds + part.astype(np.uint64) * _STEP)
    owner, place = expand(sizes)
    return np.lexsort((mixed(seeds[owner] + place.astype(np.uint64) * _STEP), owner))
