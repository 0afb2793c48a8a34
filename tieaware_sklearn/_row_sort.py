"""Ties of many queries at a time: one query per row of a matrix, sorted by rows.

Rows of about equal length sort three times as fast as one long array, and let
`np.partition` find the few documents that a cut-off leaves. `find_ties` is the simple
version: what is found here is the same, to the last bit of every measure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._ties import FloatArray, IntArray, Reach, TieGroups, dense_ranks, find_ties

#: whole numbers beyond are not all floats
_EXACT = 2**53
_SIGN = np.int64(2**63 - 1)
#: narrower rows may have so many cells for each document
_SPARE = 3


class Rows(NamedTuple):
    """Queries of a block as rows, those shorter than the longest filled up.

    Attributes
    ----------
    sizes : ndarray of shape (n_queries,)
    label : ndarray of shape (n_queries, longest)
        Indices into the levels.
    """

    sizes: IntArray
    label: NDArray[np.integer[Any]]

    @property
    def inside(self) -> NDArray[np.bool_] | None:
        """Where there is a document; None for everywhere."""
        return inside_rows(self.sizes, self.label.shape[1])


def inside_rows(sizes: IntArray, longest: int) -> NDArray[np.bool_] | None:
    """Cells of rows of these sizes that are not filled up; None for all."""
    if (sizes == longest).all():
        return None
    return np.asarray(np.arange(longest) < sizes[:, None])


def descending_floats(
    scores: NDArray[Any], inside: NDArray[np.bool_] | None, ascending: bool
) -> FloatArray | None:
    """Scores as floats of which the smallest ranks first, +inf where none is.

    None where floats cannot hold them, and for NaN.
    """
    if scores.dtype.kind in "iu" and scores.dtype.itemsize == 8:
        largest = max(abs(int(scores.max())), abs(int(scores.min())))
        if largest > _EXACT:
            return None
    if scores.dtype.kind == "f" and scores.dtype.itemsize > 8:
        return None
    values = scores.astype(np.float64)
    # 0.0 - x and x + 0.0 make one zero of two
    out = values + 0.0 if ascending else 0.0 - values
    if scores.dtype.kind == "f":
        # not a number: neither below nor above
        if np.isnan(out.max(initial=-np.inf)):
            return None
        if ascending:
            out[np.isneginf(out)] = np.inf
    if inside is not None:
        out[~inside] = np.inf
    return out


def find_row_ties(
    values: FloatArray,
    rows: Rows,
    everything: TieGroups,
    reaches: list[Reach],
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
    input_order : bool
        Break ties by the order of the rows.
    """
    if all(reach.is_limited for reach in reaches):
        kept = _reached(values, rows, everything.levels, reaches)
        if kept is not None:
            return _few_ties(values, rows, everything, kept, input_order)
    return _all_ties(values, rows, everything, input_order)


def _reached(
    values: FloatArray, rows: Rows, levels: FloatArray, reaches: list[Reach]
) -> IntArray | None:
    """Places in the matrix of the documents that matter, None where nearly all do."""
    longest = values.shape[1]
    depth = max((reach.depth or 0 for reach in reaches), default=0)
    if 3 * depth >= 2 * longest:
        return None
    last = np.full(len(values), -np.inf)
    if depth:
        last = np.partition(values, depth - 1, axis=1)[:, depth - 1]
    for rel in {reach.rel for reach in reaches if reach.rel is not None}:
        relevant = rows.label >= np.searchsorted(levels, rel)
        first = np.where(relevant, values, np.inf).min(axis=1)
        # without a relevant document there is nothing to look for
        first[np.isposinf(first)] = -np.inf
        last = np.maximum(last, first)
    # what is not retrieved is +inf: never kept
    last = np.minimum(last, np.finfo(np.float64).max)
    kept = np.flatnonzero(values <= last[:, None])
    return kept if 2 * len(kept) < int(rows.sizes.sum()) else None


def _few_ties(
    values: FloatArray,
    rows: Rows,
    everything: TieGroups,
    kept: IntArray,
    input_order: bool,
) -> TieGroups:
    """The ties of some documents only, in narrower rows if these are of a width."""
    n_queries, longest = values.shape
    query = kept // longest
    value, label = values.ravel()[kept], rows.label.ravel()[kept]
    counts = np.bincount(query, minlength=n_queries)
    widest = int(counts.max())
    if n_queries * widest > _SPARE * len(kept):
        place, _ = dense_ranks(value)
        return find_ties(query, place, label, everything, input_order=input_order)
    start = np.arange(n_queries) * widest - (np.cumsum(counts) - counts)
    at = np.arange(len(kept)) + np.repeat(start, counts)
    narrow = np.full(n_queries * widest, np.inf)
    narrow[at] = value
    codes = np.zeros(n_queries * widest, dtype=label.dtype)
    codes[at] = label
    shape = n_queries, widest
    narrower = Rows(counts, codes.reshape(shape))
    return _all_ties(narrow.reshape(shape), narrower, everything, input_order)


def _all_ties(
    values: FloatArray, rows: Rows, everything: TieGroups, input_order: bool
) -> TieGroups:
    n_queries, longest = values.shape
    if input_order:
        place = np.broadcast_to(np.arange(longest), values.shape)
        first, at = _sorted_rows(values, place, max(longest - 1, 0).bit_length())
        first[:] = True
        label = np.take_along_axis(rows.label, at, axis=1)
    else:
        width = int(len(everything.levels) - 1).bit_length()
        first, label = _sorted_rows(values, rows.label, width)
    retrieved = (values < np.inf).sum(axis=1)
    if (retrieved == longest).all():
        flags, labels = first.ravel(), label.ravel()
    else:
        there = np.arange(longest) < retrieved[:, None]
        flags, labels = first[there], label[there]
        first &= there
    start = np.flatnonzero(flags)
    query = np.repeat(np.arange(n_queries), first.sum(axis=1))
    return TieGroups(
        n_queries, everything.levels, query, start, labels, everything, retrieved
    )


def _sorted_rows(
    values: FloatArray, label: NDArray[np.integer[Any]], width: int
) -> tuple[NDArray[np.bool_], NDArray[np.integer[Any]]]:
    """Where groups begin, and labels in rank order, ascending within groups.

    The label stands in the last `width` bits of the score, and one sort moves both.
    Where those bits were not zero, different scores can look alike: rows in which
    any two do are sorted again, the slow and sure way.
    """
    low = np.int64((1 << width) - 1)
    bits = values.view(np.int64)
    loose = (np.bitwise_or.reduce(bits, axis=1) & low) != 0
    # the bits of floats compare as floats do, once negative ones are turned
    key = bits ^ ((bits >> 63) & _SIGN)
    key = (key & ~low) | label
    key.sort(axis=1)
    first = np.ones(values.shape, dtype=bool)
    # beyond the last bits, as numbers without a sign
    apart = (key[:, 1:] ^ key[:, :-1]).view(np.uint64)
    np.greater(apart, np.uint64(low), out=first[:, 1:])
    found = (key & low).astype(label.dtype)
    if loose.any():
        beyond = np.array(np.inf).view(np.int64) & ~low
        alike = (~first[:, 1:] & (key[:, 1:] < beyond)).any(axis=1)
        again = np.flatnonzero(loose & alike)
        if len(again):
            first[again], found[again] = _surely(values[again], label[again], width)
    return first, found


def _surely(
    values: FloatArray, label: NDArray[np.integer[Any]], width: int
) -> tuple[NDArray[np.bool_], NDArray[np.integer[Any]]]:
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    first = np.ones(values.shape, dtype=bool)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
    group = np.cumsum(first, axis=1) << width
    key = np.sort(group | np.take_along_axis(label, order, axis=1), axis=1)
    return first, (key & ((1 << width) - 1)).astype(label.dtype)
