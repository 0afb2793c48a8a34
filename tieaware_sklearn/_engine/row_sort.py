"""Ties of many queries at a time: one query per row of a matrix, sorted by rows.

Rows of about equal length sort three times as fast as one long array, and let
`np.partition` find the few documents that a cut-off leaves. `find_ties` is the simple
version: what is found here is the same, to the last bit of every measure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .ties import (
    FloatArray,
    IntArray,
    Reach,
    TieGroups,
    consecutive,
    dense_ranks,
    find_ties,
)

#: whole numbers beyond are not all floats
_EXACT = 2**53
#: narrower rows may have so many cells for each document
_SPARE = 3
#: bits of infinity, as a float of so many bytes
_INFINITY = {4: 0x7F80_0000, 8: 0x7FF0_0000_0000_0000}
#: bytes of a row up to which NumPy sorts it as fast as it partitions it
_SORTED_AT_ONCE = 1024


class Rows(NamedTuple):
    """Queries of a block as rows, those shorter than the longest filled up.

    Attributes
    ----------
    sizes : ndarray of shape (n_queries,)
    label : ndarray of shape (n_queries, longest)
        Indices into the levels.
    inside : ndarray of shape (n_queries, longest), bool, or None
        Where there is a document; None for everywhere.
    """

    sizes: IntArray
    label: NDArray[np.integer[Any]]
    inside: NDArray[np.bool_] | None


def inside_rows(sizes: IntArray, longest: int) -> NDArray[np.bool_] | None:
    """Cells of rows of these sizes that are not filled up; None for all."""
    if (sizes == longest).all():
        return None
    return np.asarray(np.arange(longest) < sizes[:, None])


def minor_width(rows: Rows, everything: TieGroups, input_order: bool) -> int:
    """How many last bits of a key hold what comes after the score."""
    if input_order:
        return int(max(rows.label.shape[1] - 1, 0)).bit_length()
    return (len(everything.levels) - 1).bit_length()


def descending_floats(
    scores: NDArray[Any],
    inside: NDArray[np.bool_] | None,
    ascending: bool,
    width: int,
) -> NDArray[np.floating[Any]] | None:
    """Scores as floats of which the smallest ranks first, +inf where none is.

    They take 32 bits where that loses nothing and leaves the last `width` bits
    free. None where floats cannot hold them, and for NaN.
    """
    if scores.dtype.kind in "iu" and scores.dtype.itemsize == 8:
        largest = max(abs(int(scores.max())), abs(int(scores.min())))
        if largest > _EXACT:
            return None
    if scores.dtype.kind == "f" and scores.dtype.itemsize > 8:
        return None
    values = _in_32_bits(scores, width)
    if values is None:
        values = scores.astype(np.float64, copy=False)
        # not a number: neither below nor above
        if scores.dtype.kind == "f" and np.isnan(values.max(initial=-np.inf)):
            return None
    # 0.0 - x and x + 0.0 make one zero of two
    out = values + 0.0 if ascending else 0.0 - values
    if ascending and scores.dtype.kind == "f":
        out[np.isneginf(out)] = np.inf
    if inside is not None:
        np.copyto(out, np.inf, where=~inside)
    return out


def _in_32_bits(scores: NDArray[Any], width: int) -> NDArray[np.float32] | None:
    """Scores as 32-bit floats with `width` free bits; None where that loses any."""
    # most that will not fit show it at once
    for part in (scores[:1], scores):
        with np.errstate(over="ignore"):
            values = part.astype(np.float32)
        if not (values == part).all() or _last_bits(values, width):
            return None
    return values


def _last_bits(values: NDArray[np.floating[Any]], width: int) -> bool:
    """Whether the last `width` bits of any value are in use."""
    bits = np.bitwise_or.reduce(values.view(_integers(values)), axis=None)
    return bool(bits & ((1 << width) - 1))


def _integers(values: NDArray[np.floating[Any]]) -> type[np.signedinteger[Any]]:
    """Integers of the size of these floats."""
    return np.int32 if values.dtype == np.float32 else np.int64


def find_row_ties(
    values: NDArray[np.floating[Any]],
    rows: Rows,
    everything: TieGroups,
    reaches: list[Reach],
    width: int,
    *,
    input_order: bool = False,
) -> TieGroups:
    """The tie groups of a block, those that no measure reaches left out.

    Parameters
    ----------
    values : ndarray of shape (n_queries, longest)
        As `descending_floats` gives them.
    rows : Rows
    everything : TieGroups
        All documents of the same queries.
    reaches : list of Reach
        How far the measures look.
    width : int
        As `minor_width` gives it, and `descending_floats` was given it.
    input_order : bool
        Break ties by the order of the rows.
    """
    n_queries, longest = values.shape
    only = reaches[0] if len(set(reaches)) == 1 else Reach()
    if only.rel is not None and only.depth is None:
        found_first = _first_relevant(values, rows, everything, only.rel, input_order)
        if found_first is not None:
            return found_first
    minor = np.arange(longest) if input_order else rows.label
    key = _packed(values, minor, width)
    if all(reach.is_limited for reach in reaches):
        key, scattered = _reached(key, rows, everything.levels, reaches, width)
        if scattered is not None:
            place, _ = dense_ranks(values.ravel()[scattered])
            label = rows.label.ravel()[scattered]
            query = scattered // longest
            return find_ties(query, place, label, everything, input_order=input_order)
    key.sort(axis=1)
    kept = _retrieved(key, rows, _beyond(key, width))
    there = None
    if kept is rows.sizes:
        # the keys are those of the block, whole
        there = rows.inside
    elif not (kept == key.shape[1]).all():
        there = np.arange(key.shape[1]) < kept[:, None]
    found = key.astype(np.int64 if input_order else rows.label.dtype)
    found &= (1 << width) - 1
    key >>= width
    first = np.ones(key.shape, dtype=bool)
    np.not_equal(key[:, 1:], key[:, :-1], out=first[:, 1:])
    if there is not None:
        first |= ~there
    if not first.all():
        again = _alike(first, values, width)
        if len(again):
            own = np.broadcast_to(minor, values.shape)[again]
            flags, surely = _surely(values[again], own, width)
            first[again] = flags[:, : key.shape[1]]
            found[again] = surely[:, : key.shape[1]]
    if input_order:
        first[:] = True
        found = np.take_along_axis(rows.label, found, axis=1)
    if there is None:
        flags, labels = first.ravel(), found.ravel()
    else:
        first &= there
        flags, labels = first[there], found[there]
    return TieGroups(
        n_queries,
        everything.levels,
        np.repeat(np.arange(n_queries), first.sum(axis=1)),
        np.flatnonzero(flags),
        labels,
        everything,
        kept,
    )


def _first_relevant(
    values: NDArray[np.floating[Any]],
    rows: Rows,
    everything: TieGroups,
    rel: float,
    input_order: bool,
) -> TieGroups | None:
    """The tie of the first relevant document, and all above it as if they tied.

    None where that is most of the documents.
    """
    # a sum is three times as fast as a choice
    out_of_sight = np.where(everything.levels >= rel, 0.0, np.inf).astype(values.dtype)
    first = (values + out_of_sight[rows.label]).min(axis=1)
    # without a relevant document there is nothing to look for
    first[np.isposinf(first)] = -np.inf
    kept = np.flatnonzero(values <= first[:, None])
    if 2 * len(kept) >= int(rows.sizes.sum()):
        return None
    query = kept // values.shape[1]
    place = (values.ravel()[kept] == first[query]).astype(np.int64)
    label = rows.label.ravel()[kept]
    return find_ties(query, place, label, everything, input_order=input_order)


def _packed(
    values: NDArray[np.floating[Any]], minor: NDArray[np.integer[Any]], width: int
) -> NDArray[np.signedinteger[Any]]:
    """Integers that sort as the values do, with `minor` in their last bits."""
    bits = values.view(_integers(values))
    # the bits of floats compare as floats do, once negative ones are turned
    key: NDArray[np.signedinteger[Any]] = bits >> (8 * bits.itemsize - 1)
    key &= _largest(key) & (-1 << width)
    key ^= bits
    if values.dtype != np.float32:
        key &= -1 << width
    np.bitwise_or(key, minor, out=key, casting="unsafe")
    return key


def _largest(key: NDArray[np.signedinteger[Any]]) -> int:
    """The largest integer that a key can be."""
    return (1 << (8 * key.itemsize - 1)) - 1


def _beyond(key: NDArray[np.signedinteger[Any]], width: int) -> int:
    """The least key of what is not retrieved."""
    return _INFINITY[key.itemsize] & (-1 << width)


def _reached(
    key: NDArray[np.signedinteger[Any]],
    rows: Rows,
    levels: FloatArray,
    reaches: list[Reach],
    width: int,
) -> tuple[NDArray[np.signedinteger[Any]], IntArray | None]:
    """The keys of the documents that matter, in narrower rows if that pays.

    Where these would be of too different lengths: the places of the documents.
    """
    n_queries, longest = key.shape
    depth = max((reach.depth or 0 for reach in reaches), default=0)
    if 3 * depth >= 2 * longest:
        return key, None
    low, lowest = (1 << width) - 1, -1 - _largest(key)
    last = np.full(n_queries, lowest, dtype=key.dtype)
    beyond = _beyond(key, width)
    relevances = {reach.rel for reach in reaches if reach.rel is not None}
    if depth:
        room = min(2 * depth, longest)
        if key.itemsize * longest <= _SORTED_AT_ONCE:
            nearest = np.sort(key, axis=1)[:, :room]
        else:
            nearest = np.partition(key, room - 1, axis=1)[:, :room]
            nearest.sort(axis=1)
        last = nearest[:, depth - 1] | low
        whole = (nearest[:, -1] > last) | (last >= beyond)
        if not relevances and whole.all():
            # no tie that the cut-off splits is longer
            return np.where(nearest <= last[:, None], nearest, beyond), None
    for rel in relevances:
        relevant = rows.label >= np.searchsorted(levels, rel)
        first = np.where(relevant, key, beyond).min(axis=1)
        # without a relevant document there is nothing to look for
        first[first >= beyond] = lowest
        last = np.maximum(last, first | low)
    # what is not retrieved is never kept
    last = np.minimum(last, beyond - 1)
    kept = np.flatnonzero(key <= last[:, None])
    if 2 * len(kept) >= int(rows.sizes.sum()):
        return key, None
    counts = np.bincount(kept // longest, minlength=n_queries)
    widest = int(counts.max(initial=0))
    if n_queries * widest > _SPARE * len(kept):
        return key, kept
    narrow = np.full(n_queries * widest, beyond, dtype=key.dtype)
    cells = consecutive(np.arange(n_queries) * widest, counts)
    narrow[cells] = key.ravel()[kept]
    return narrow.reshape(n_queries, widest), None


def _retrieved(
    key: NDArray[np.signedinteger[Any]], rows: Rows, beyond: int
) -> IntArray:
    """How many keys of each sorted row are of documents that are retrieved."""
    if key.shape == rows.label.shape:
        last = np.take_along_axis(key, rows.sizes[:, None] - 1, axis=1)
        if (last < beyond).all():
            return rows.sizes
    return np.asarray((key < beyond).sum(axis=1))


def _alike(
    first: NDArray[np.bool_], values: NDArray[np.floating[Any]], width: int
) -> IntArray:
    """Rows in which different scores may look alike: some tie, in all but last bits."""
    # those in 32 bits were chosen for leaving them free
    if values.dtype == np.float32 or not _last_bits(values, width):
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(~first.all(axis=1))
    bits = values[rows] if len(rows) < len(values) else values
    loose = np.bitwise_or.reduce(bits.view(np.int64), axis=1) & ((1 << width) - 1)
    return np.asarray(rows[loose != 0])


def _surely(
    values: NDArray[np.floating[Any]], minor: NDArray[np.integer[Any]], width: int
) -> tuple[NDArray[np.bool_], NDArray[np.integer[Any]]]:
    """Where groups begin, and what was in the last bits, in rank order."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    first = np.ones(values.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    group = np.cumsum(first, axis=1) << width
    key = np.sort(group | np.take_along_axis(minor, order, axis=1), axis=1)
    return first, (key & ((1 << width) - 1)).astype(minor.dtype)
