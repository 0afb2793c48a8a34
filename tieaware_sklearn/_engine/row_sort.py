"""Ties of many queries at a time: one query per row of a matrix, sorted by rows.

Rows of about equal length sort three times as fast as one long array, and let
`np.partition` find the few documents that a cut-off leaves. `find_ties` is the simple
version: what is found here is the same, to the last bit of every measure. Of a query
that is one row, it comes down to this::

    key = pack(-scores, label)      # one integer: the score, then the label
    key.sort()
    first = np.append(True, score_of(key[1:]) != score_of(key[:-1]))
    start, label = np.flatnonzero(first), label_of(key)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .segments import FloatArray, IntArray, begins, consecutive, owners
from .ties import Reach, TieGroups, dense_ranks, find_ties

Keys = NDArray[np.signedinteger[Any]]
#: whole numbers beyond are not all floats
_EXACT = 2**53
#: the integers with the bits of floats of so many bytes, and those of infinity
_OF_SIZE: dict[int, tuple[np.dtype[np.signedinteger[Any]], int]] = {
    4: (np.dtype(np.int32), 0x7F80_0000),
    8: (np.dtype(np.int64), 0x7FF0_0000_0000_0000),
}
#: narrower rows may have so many cells for each document: to sort a cell costs that
#: much less than to sort a document out of its row
_SPARE = 3
#: bytes of a row up to which NumPy sorts it as fast as it partitions it
_SORTED_AT_ONCE = 1024
#: to pick documents pays if at most this share is kept: what is kept is copied, and
#: what is not has been looked at
_WORTH_PICKING = 1 / 2
#: a cut-off further down than this share of a row leaves too few documents out
_DEEP = 2 / 3


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

    def flat(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Cells of the documents, row by row."""
        return cells.ravel() if self.inside is None else cells[self.inside]


def inside_rows(sizes: IntArray, longest: int) -> NDArray[np.bool_] | None:
    """Cells of rows of these sizes that are not filled up; None for all."""
    if (sizes == longest).all():
        return None
    return np.asarray(np.arange(longest) < sizes[:, None])


class PackedKeys:
    """Integers that sort as scores do, and hold what comes after them in their end.

    Parameters
    ----------
    width : int
        Number of the last bits, of the label or of the place in the input.
    itemsize : int
        Bytes of a key, as many as those of the floats that the scores are.

    Attributes
    ----------
    dtype : dtype
    low : int
        The last bits, all of them set.
    lowest : int
        The least integer of the dtype: no document has it.
    beyond : int
        The least key of what is not retrieved.
    """

    def __init__(self, width: int, itemsize: int) -> None:
        self.width = width
        self.low = (1 << width) - 1
        self.lowest = -1 << (8 * itemsize - 1)
        self.dtype, infinity = _OF_SIZE[itemsize]
        self.beyond = infinity & ~self.low

    def pack(
        self, values: NDArray[np.floating[Any]], minor: NDArray[np.integer[Any]]
    ) -> Keys:
        """Keys of the values, the least first; `minor` fits `width` bits."""
        bits = values.view(self.dtype)
        # the bits of floats compare as floats do, once negative ones are turned
        key: Keys = bits >> (8 * bits.itemsize - 1)
        key &= ~self.lowest & ~self.low
        key ^= bits
        if bits.itemsize == 8:
            # those of 32 bits were chosen for leaving them free
            key &= ~self.low
        np.bitwise_or(key, minor, out=key, casting="unsafe")
        return key

    def unpack(self, key: Keys, dtype: np.dtype[Any]) -> tuple[Keys, NDArray[Any]]:
        """What is equal for equal scores, and what came after; `key` is used up."""
        minor = key.astype(dtype)
        minor &= self.low
        key >>= self.width
        return key, minor

    def lose(
        self, values: NDArray[np.floating[Any]], axis: int | None = None
    ) -> NDArray[np.bool_]:
        """Whether, or in which rows, keys do not hold all bits of the values."""
        bits = np.bitwise_or.reduce(values.view(self.dtype), axis=axis)
        return np.asarray((bits & self.low) != 0)


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
    values = _as_floats(scores, width)
    if values is None:
        return None
    # 0.0 - x and x + 0.0 make one zero of two
    out = values + 0.0 if ascending else 0.0 - values
    if ascending and scores.dtype.kind == "f":
        out[np.isneginf(out)] = np.inf
    if inside is not None:
        np.copyto(out, np.inf, where=~inside)
    return out


def _as_floats(scores: NDArray[Any], width: int) -> NDArray[np.floating[Any]] | None:
    """Scores as 32-bit floats with `width` free bits, or as 64-bit ones.

    None where these do not hold them, and for NaN.
    """
    kind, itemsize = scores.dtype.kind, scores.dtype.itemsize
    if kind in "iu" and itemsize == 8:
        if max(abs(int(scores.max())), abs(int(scores.min()))) > _EXACT:
            return None
    elif itemsize > 8:
        return None
    # most that will not fit show it at once
    for part in (scores[:1], scores):
        with np.errstate(over="ignore"):
            values = part.astype(np.float32)
        if not (values == part).all() or PackedKeys(width, 4).lose(values):
            break
    else:
        return values
    doubles = scores.astype(np.float64, copy=False)
    # not a number: neither below nor above
    unordered = kind == "f" and np.isnan(doubles.max(initial=-np.inf))
    return None if unordered else doubles


def find_row_ties(
    scores: NDArray[Any],
    rows: Rows,
    everything: TieGroups,
    reaches: Sequence[Reach],
    *,
    ascending: bool = False,
    input_order: bool = False,
) -> TieGroups | None:
    """The tie groups of a block, those that no measure reaches left out.

    None for scores that floats do not hold, and for NaN.

    Parameters
    ----------
    scores : ndarray of shape (n_queries, longest)
    rows : Rows
    everything : TieGroups
        All documents of the same queries.
    reaches : sequence of Reach
        How far the measures look.
    ascending : bool
        Lower scores rank first.
    input_order : bool
        Break ties by the order of the rows.
    """
    longest = scores.shape[1]
    minor = np.arange(longest) if input_order else rows.label
    width = ((longest if input_order else len(everything.levels)) - 1).bit_length()
    values = descending_floats(scores, rows.inside, ascending, width)
    if values is None:
        return None
    keys = PackedKeys(width, values.itemsize)
    picked = _first_relevant(values, rows, everything.levels, reaches)
    if picked is None:
        key = keys.pack(values, minor)
        if all(reach.is_limited for reach in reaches):
            key, cells = _reached(key, keys, rows, everything.levels, reaches)
            if cells is not None:
                picked = cells, dense_ranks(values.ravel()[cells])[0]
    if picked is not None:
        cells, place = picked
        label = rows.label.ravel()[cells]
        return find_ties(
            cells // longest, place, label, everything, input_order=input_order
        )
    return _ties_of_keys(key, keys, values, minor, rows, everything, input_order)


def _ties_of_keys(
    key: Keys,
    keys: PackedKeys,
    values: NDArray[np.floating[Any]],
    minor: NDArray[np.integer[Any]],
    rows: Rows,
    everything: TieGroups,
    input_order: bool,
) -> TieGroups:
    """The tie groups of keys in rows, which are used up."""
    key.sort(axis=1)
    found = _retrieved(key, rows, keys.beyond)
    score, last = keys.unpack(key, minor.dtype)
    first = begins(score)
    if found.inside is not None:
        first |= ~found.inside
    _tell_apart(first, last, values, minor, keys)
    if input_order:
        first[:] = True
        last = np.take_along_axis(rows.label, last, axis=1)
    if found.inside is not None:
        first &= found.inside
    return TieGroups(
        everything.n_queries,
        everything.levels,
        owners(first.sum(axis=1)),
        np.flatnonzero(found.flat(first)),
        found.flat(last),
        everything,
        found.sizes,
    )


def _first_relevant(
    values: NDArray[np.floating[Any]],
    rows: Rows,
    levels: FloatArray,
    reaches: Sequence[Reach],
) -> tuple[IntArray, IntArray] | None:
    """Cells of the tie of the first relevant document and of all above it, as one tie.

    None where measures look further, and where that is most of the documents.
    """
    if len({reach.rel for reach in reaches}) > 1:
        return None
    rel = reaches[0].rel
    if rel is None or any(reach.depth is not None for reach in reaches):
        return None
    # a sum is three times as fast as a choice
    out_of_sight = np.where(levels >= rel, 0.0, np.inf).astype(values.dtype)
    first = (values + out_of_sight[rows.label]).min(axis=1)
    # without a relevant document there is nothing to look for
    first[np.isposinf(first)] = -np.inf
    cells = _picked(values <= first[:, None], rows)
    if cells is None:
        return None
    at_first = values.ravel()[cells] == first[cells // values.shape[1]]
    return cells, at_first.astype(np.int64)


def _picked(chosen: NDArray[np.bool_], rows: Rows) -> IntArray | None:
    """The chosen cells; None where they are too many for that to pay."""
    cells = np.flatnonzero(chosen)
    few = len(cells) < _WORTH_PICKING * int(rows.sizes.sum())
    return cells if few else None


def _reached(
    key: Keys,
    keys: PackedKeys,
    rows: Rows,
    levels: FloatArray,
    reaches: Sequence[Reach],
) -> tuple[Keys, IntArray | None]:
    """The keys of the documents that matter, in narrower rows if that pays.

    Where these would be of too different lengths: the cells of the documents.
    """
    longest = key.shape[1]
    depth = max(reach.depth or 0 for reach in reaches)
    if depth >= _DEEP * longest:
        return key, None
    last = np.full(len(key), keys.lowest, dtype=key.dtype)
    relevances = {reach.rel for reach in reaches if reach.rel is not None}
    if depth:
        nearest = _nearest(key, min(2 * depth, longest))
        last = nearest[:, depth - 1] | keys.low
        whole = (nearest[:, -1] > last) | (last >= keys.beyond)
        if not relevances and whole.all():
            # no tie that the cut-off splits is longer
            return np.where(nearest <= last[:, None], nearest, keys.beyond), None
    for rel in relevances:
        relevant = rows.label >= np.searchsorted(levels, rel)
        first = np.where(relevant, key, keys.beyond).min(axis=1)
        # without a relevant document there is nothing to look for
        first[first >= keys.beyond] = keys.lowest
        last = np.maximum(last, first | keys.low)
    # what is not retrieved is never kept
    last = np.minimum(last, keys.beyond - 1)
    cells = _picked(key <= last[:, None], rows)
    if cells is None:
        return key, None
    return _narrower(key, cells, keys.beyond)


def _nearest(key: Keys, room: int) -> Keys:
    """The least `room` keys of each row, sorted."""
    if key.itemsize * key.shape[1] <= _SORTED_AT_ONCE:
        return np.sort(key, axis=1)[:, :room]
    nearest = np.partition(key, room - 1, axis=1)[:, :room]
    nearest.sort(axis=1)
    return nearest


def _narrower(key: Keys, cells: IntArray, beyond: int) -> tuple[Keys, IntArray | None]:
    """Rows of these cells alone, or the cells where rows would be mostly filling."""
    n_queries, longest = key.shape
    counts = np.bincount(cells // longest, minlength=n_queries)
    widest = int(counts.max(initial=0))
    if n_queries * widest > _SPARE * len(cells):
        return key, cells
    narrow = np.full(n_queries * widest, beyond, dtype=key.dtype)
    narrow[consecutive(np.arange(n_queries) * widest, counts)] = key.ravel()[cells]
    return narrow.reshape(n_queries, widest), None


def _retrieved(key: Keys, rows: Rows, beyond: int) -> Rows:
    """Sorted rows of keys, what is not retrieved taken for filling."""
    if key.shape == rows.label.shape:
        last = np.take_along_axis(key, rows.sizes[:, None] - 1, axis=1)
        if (last < beyond).all():
            return rows
    sizes = (key < beyond).sum(axis=1)
    return rows._replace(sizes=sizes, inside=inside_rows(sizes, key.shape[1]))


def _tell_apart(
    first: NDArray[np.bool_],
    last: NDArray[np.integer[Any]],
    values: NDArray[np.floating[Any]],
    minor: NDArray[np.integer[Any]],
    keys: PackedKeys,
) -> None:
    """Settle by the scores themselves, in place, what differs in the last bits alone.

    `first` says where groups begin, `last` what is in the last bits, in rank order.
    """
    # keys of 32 bits hold all of a score
    if values.itemsize == 4 or first.all():
        return
    again = np.flatnonzero(keys.lose(values, axis=1) & ~first.all(axis=1))
    if not len(again):
        return
    order = np.argsort(values[again], axis=1)
    exact = begins(np.take_along_axis(values[again], order, axis=1))
    own = np.take_along_axis(np.broadcast_to(minor, values.shape)[again], order, axis=1)
    key = np.sort(np.cumsum(exact, axis=1) << keys.width | own, axis=1)
    n_kept = first.shape[1]
    first[again] = exact[:, :n_kept]
    last[again] = (key & keys.low)[:, :n_kept]
