"""Rows and queries told apart by 64 bits, whatever order they come in."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Number, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display import warn
from .columns import count_rows, list_columns
from .merging import gather
from .segments import FloatArray, IntArray, owners, sum_segments

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
    found = _bits_of_objects(different)
    if len(different) == len(objects):
        return found
    known = dict(zip(different, found.tolist(), strict=True))
    return np.array([known[value] for value in objects], dtype=np.uint64)


def _bits_of_times(values: NDArray[Any]) -> Digests:
    """Those of an array of times or durations, the same in every unit."""
    kind = values.dtype.kind
    unit, _ = np.datetime_data(values.dtype)
    if unit == "generic" or (kind == "m" and unit in "YM"):  # no number of seconds
        tag = _text_bits(f"{values.dtype}")
        return mixed(bits_of(values.view(np.int64)) ^ np.uint64(tag))
    if unit in _DIGITS:
        digits = _DIGITS[unit]
        whole = values.astype(f"{kind}8[{unit}]").view(np.int64)
        seconds = whole // 10**digits
        rest = (whole - seconds * 10**digits) * 10 ** (18 - digits)
    else:
        seconds = values.astype(f"{kind}8[s]").view(np.int64)
        rest = np.zeros(len(values), dtype=np.int64)
    missing = np.isnat(values)
    if missing.any():
        seconds, rest = np.where(missing, _NAT, seconds), np.where(missing, 0, rest)
    return _bits_of_seconds(kind, seconds, rest)


def _bits_of_seconds(
    kind: str, seconds: NDArray[np.int64], rest: NDArray[np.int64]
) -> Digests:
    """Those of times ("M", since 1970) or durations ("m"), `rest` in 10⁻¹⁸ seconds."""
    # times are numbers of seconds, but no numbers are times
    tag = np.uint64(_text_bits(kind))
    return mixed(mixed(seconds.view(np.uint64) + tag) ^ rest.view(np.uint64))


def _bits_of_objects(objects: list[Any]) -> Digests:
    """Those of values of any types, one by one."""
    bits = np.empty(len(objects), dtype=np.uint64)
    floats: dict[int, float] = {}
    for at, value in enumerate(objects):
        number = None if isinstance(value, str) else _as_float(value)
        if number is None:
            bits[at] = _object_bits(value)
        else:
            floats[at] = number
    bits[list(floats)] = bits_of(np.array(list(floats.values()), dtype=np.float64))
    return bits


def _as_float(value: Any) -> float | None:
    """A number that is a float of 64 bits; None of others, and of what is none."""
    if isinstance(value, _TIMES) or not isinstance(value, (Number, np.bool_)):
        return None
    try:
        exact = _exact(value)
        number = float(exact)
        return number if number == exact or number != number else None
    except (OverflowError, TypeError, ValueError):  # too large, complex, not a number
        return None


def _exact(value: Any) -> Any:
    """A number that compares and hashes as those of Python do; real ones as such."""
    if isinstance(value, Complex) and not isinstance(value, Real) and value.imag == 0:
        value = value.real
    if isinstance(value, np.longdouble):
        finite = np.isfinite(value)
        return Fraction(*value.as_integer_ratio()) if finite else float(value)
    # NumPy rounds an integer that it compares with a float
    return value.item() if isinstance(value, (np.number, np.bool_)) else value


def _object_bits(value: Any) -> int:
    """Those of what is no float."""
    if isinstance(value, _TIMES):
        return _time_bits(value)
    exact = _exact(value)
    if isinstance(exact, (Real, Decimal)) and -(2**63) <= exact < 2**64:  # type: ignore[operator]
        whole = int(exact)  # type: ignore[arg-type]
        if whole == exact:
            kind = np.int64 if whole < 2**63 else np.uint64
            return int(bits_of(np.array([whole], dtype=kind))[0])
    return _text_bits(_spelled(exact))


def _time_bits(value: Any) -> int:
    """Those of a date, a time or a duration of Python, NumPy or pandas."""
    value = getattr(value, "asm8", value)  # of pandas
    if isinstance(value, np.generic):
        return int(_bits_of_times(np.array([value]))[0])
    kind, since = "M", value
    if isinstance(value, datetime.timedelta):
        kind = "m"
    elif isinstance(value, datetime.datetime):
        zone = None if value.utcoffset() is None else datetime.UTC
        plain = value if zone else value.replace(tzinfo=None)
        since = plain - datetime.datetime(1970, 1, 1, tzinfo=zone)
    else:
        since = value - datetime.date(1970, 1, 1)
    seconds, rest = since.days * 86400 + since.seconds, since.microseconds * 10**12
    found = _bits_of_seconds(kind, np.array([seconds]), np.array([rest]))
    return int(found[0])


def _spelled(value: Any) -> str:
    """A text for each value, one for equal ones, and for sets in whatever order."""
    if isinstance(value, str):  # NumPy's, too
        return str.__repr__(value)
    if isinstance(value, bytes):
        return bytes.__repr__(value)
    if isinstance(value, frozenset):
        return f"frozenset({', '.join(sorted(map(_spelled_within, value)))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_spelled_within, value))})"
    if isinstance(value, (Real, Decimal)):
        # neither a float nor an integer of 64 bits; hashes are those of equal numbers
        return f"number {hash(value)} {_rounded(value)!r}"
    if isinstance(value, Complex):
        return f"number {complex(value) + 0!r}"
    return repr(value)


def _spelled_within(value: Any) -> str:
    """A value of a tuple or set: numbers and times by their bits."""
    if isinstance(value, (Number, np.bool_, *_TIMES)):
        return f"bits {_bits_of_objects([value])[0]}"
    return _spelled(value)


def _rounded(number: Any) -> float:
    """The float next to a number; infinity beyond all."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf
    except ValueError:  # such as a NaN that signals
        return np.nan


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
    ours, theirs = (one.item() if isinstance(one, np.generic) else one
                    for one in (first, second))  # fmt: skip
    return (
        f"{name} must have ids that differ in their digests of 64 bits, by which "
        f"queries are recognised, got {ours!r} and {theirs!r}, which have the same "
        "one: rename one of them"
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
