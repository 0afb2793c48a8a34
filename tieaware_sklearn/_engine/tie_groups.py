"""The weak order of a block of queries, as flat arrays and offsets.

Everything that a measure needs is in here: which documents tie, where their
group stands, and which labels it holds. The lists of all documents of a query,
as if all of them tied, are `TieGroups` too: they hold the totals (how many
relevant documents there are), the ideal order, and the chance level.

Of one query, all of it comes down to this; the rest is how to do it fast, for many::

    def tie_groups(labels, scores):
        groups, lo = [], 0
        for score in sorted(set(scores) - {-math.inf}, reverse=True):
            tied = sorted(y for y, s in zip(labels, scores) if s == score)
            groups.append((lo, lo + len(tied), tied))
            lo += len(tied)
        return groups
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Array, BoolArray, FloatArray, IntArray
from . import exact_numbers, segments

A = TypeVar("A")
B = TypeVar("B")
Result = TypeVar("Result")
#: the largest integer of 32 bits, which sort faster
_32_BITS = 2**31 - 1
#: no list is that long; larger cut-offs would not fit 64 bits
LONGEST = 2**62
#: labels are counted, not sorted, with up to so many counts for each of them
_COUNTED = 4


class Documents(NamedTuple):
    """Places of the ranking, query by query, down to a cut-off.

    Attributes
    ----------
    near : ndarray of shape (n_near,)
        Indices of the tie groups that fill any place.
    owner : ndarray of shape (n_places,)
        Which of these fills the place.
    rank : ndarray of shape (n_places,)
        Documents of the query that stand above the place: 0 at the top.
    counts : ndarray of shape (n_queries,)
        Number of places of each query.
    """

    near: IntArray
    owner: IntArray
    rank: IntArray
    counts: IntArray

    @property
    def group(self) -> IntArray:
        """Index of the tie group that fills each place."""
        return self.near[self.owner]


def once_per_block(compute: Callable[[A, B], Result]) -> Callable[[A, B], Result]:
    """A method that `Totals` remember: one of theirs, or of a measure.

    It has one argument, which for a method of a measure are the groups.
    """

    @wraps(compute)
    def remembered(first: A, second: B) -> Result:
        of_groups = isinstance(first, Totals)
        groups, argument = (first, second) if of_groups else (second, first)
        memo = groups.memo  # type: ignore[union-attr]
        result = memo.get((compute, argument))
        if result is None:
            result = memo[compute, argument] = compute(first, second)
        return result

    return remembered


class Totals:
    """A block of queries, apart from the order of their documents.

    Attributes
    ----------
    n_queries : int
    everything : Totals
        All documents of each query, not retrieved ones included, in one group.
    retrieved : ndarray of shape (n_queries,) or (n_columns, n_queries)
        Documents of each query in the ranking, or in each of several.
    """

    n_queries: int

    def __init__(self, everything: Any, n_queries: int, retrieved: IntArray) -> None:
        # a reference to itself would keep a block until the collector comes
        self._everything = everything
        self.n_queries = n_queries
        self.retrieved = retrieved
        #: results that are needed again: see `once_per_block`
        self.memo: dict[Hashable, Any] = {}

    @property
    def everything(self) -> Any:
        return self if self._everything is None else self._everything

    def total_relevant(self, rel: float) -> IntArray:
        """Relevant documents of each query, retrieved or not."""
        return self.everything.relevant(rel)


class TieGroups(Totals):
    """The tie groups of a block of queries, in rank order.

    Attributes
    ----------
    n_queries : int
    levels : ndarray of shape (n_levels,), float64
        The distinct labels, ascending.
    query, lo, n, start : ndarray of shape (n_groups,)
        Of each group: its query, the number of documents above it, its size,
        and where its labels start in `label`.
    label : ndarray of shape (n_retrieved,)
        Indices into `levels`, ascending within a group.
    everything : TieGroups
        All documents of each query, not retrieved ones included, in one group.
    retrieved, n_groups_of_query : ndarray of shape (n_queries,)
        Documents of each query in all of its groups, and the number of these.
    untied : bool
        Whether every group is a single document.
    """

    def __init__(
        self,
        n_queries: int,
        levels: FloatArray,
        query: IntArray,
        start: IntArray,
        label: NDArray[np.integer[Any]],
        everything: TieGroups | None = None,
        retrieved: IntArray | None = None,
    ) -> None:
        self.levels = levels
        self.query = query
        self.start = start
        self.label = label
        self.n = segments.sizes_of(start, len(label))
        if retrieved is None:
            retrieved = np.bincount(query, self.n, n_queries).astype(np.int64)
        super().__init__(everything, n_queries, retrieved)
        self.untied = len(start) == len(label)
        self.n_groups_of_query = (
            retrieved if self.untied else np.bincount(query, minlength=n_queries)
        )
        self.lo = start - np.repeat(
            segments.starts_of(retrieved), self.n_groups_of_query
        )
        # as large as the ranking itself: see `forget`
        self._documents: dict[int | None, Documents] = {}
        self._ordered: dict[tuple[bytes, bool], TieGroups] = {}

    def forget(self) -> None:
        """Let go of what was remembered, but for counts and values per query."""
        self._documents.clear()
        self._ordered.clear()

    @property
    def hi(self) -> IntArray:
        return self.lo + self.n

    @cached_property
    def mixed(self) -> bool:
        """Whether any group holds different labels."""
        if self.untied:
            return False
        last = self.label[self.start + self.n - 1]
        return bool((self.label[self.start] != last).any())

    def inside(
        self, k: int | IntArray | None, chosen: IntArray | None = None
    ) -> IntArray:
        """Places of each group, or of the `chosen`, inside the cut-off `k`.

        There is one cut-off, or one per query.
        """
        groups = slice(None) if chosen is None else chosen
        n = self.n[groups]
        if k is None:
            return n
        cut = min(k, LONGEST) if isinstance(k, int) else k[self.query[groups]]
        return np.clip(cut - self.lo[groups], 0, n)

    def documents(self, k: int | None) -> Documents:
        """Every place of every query down to rank `k`."""
        documents = self._documents.get(k)
        if documents is None:
            near, per_query = np.arange(len(self.n)), self.retrieved
            if k is not None:
                near = np.flatnonzero(self.lo < k)
                per_query = np.minimum(per_query, min(k, LONGEST))
            owner, rank = np.arange(len(near)), self.lo[near]
            if not self.untied:
                counts = self.inside(k, near)
                owner = np.repeat(owner, counts)
                rank = segments.consecutive(rank, counts)
            documents = self._documents[k] = Documents(near, owner, rank, per_query)
        return documents

    def sum_groups(self, values: Array) -> FloatArray:
        """Per query, the sum of one value per group."""
        filled = values != 0
        # without its zeros, a sum has the same bits however many of them there are
        query = np.bincount(self.query[filled], minlength=self.n_queries)
        return segments.sum_segments(values[filled], query)

    @once_per_block
    def relevant(self, rel: float) -> IntArray:
        """Documents of each group with a label of at least `rel`."""
        least = np.searchsorted(self.levels, rel)
        if self.untied:
            return (self.label >= least).astype(np.int64)
        if not self.mixed:
            return np.where(self.label[self.start] >= least, self.n, 0)
        return segments.count_segments(self.label >= least, self.n)

    @once_per_block
    def holding(self, rel: float) -> tuple[IntArray, IntArray]:
        """Groups with a label of at least `rel`, and how many each query has."""
        chosen = np.flatnonzero(self.relevant(rel))
        return chosen, np.bincount(self.query[chosen], minlength=self.n_queries)

    @once_per_block
    def relevant_above(self, rel: float) -> IntArray:
        """Documents above each group with a label of at least `rel`."""
        return segments.count_before(self.relevant(rel), self.n_groups_of_query)

    def gain_sums(self, gains: FloatArray) -> FloatArray:
        """Sum of the gains of each group, `gains` given per level."""
        return np.add.reduceat(gains[self.label], self.start)

    def gain_means(
        self, gains: FloatArray, chosen: IntArray | None = None
    ) -> FloatArray:
        """Mean gain of each group, or of the `chosen`, `gains` given per level."""
        label, start, n = self.label, self.start, self.n
        part = chosen is not None and len(chosen) < len(start)
        if part:
            n, start = n[chosen], start[chosen]
        if not self.mixed:
            # the label of any one of its documents
            return gains[label[start]]
        if part:
            label, start = label[segments.consecutive(start, n)], segments.starts_of(n)
        gain = gains[label]
        means = np.add.reduceat(gain, start) / n
        if _sums_are_exact(gains, len(gain)):
            return means
        # n * g / n is not always g: a group of equal gains must have just that
        low, high = np.minimum.reduceat(gain, start), np.maximum.reduceat(gain, start)
        return np.clip(means, low, high)

    def gain_variances(self, gains: FloatArray) -> FloatArray:
        """S² = Σ(g - ḡ)²/(n - 1) of each group, 0 for a single document."""
        deviation = gains[self.label] - np.repeat(self.gain_means(gains), self.n)
        squares = segments.sum_segments(deviation * deviation, self.n)
        return squares / np.maximum(self.n - 1, 1)

    def ordered(self, gains: FloatArray, *, descending: bool) -> TieGroups:
        """Each group split by gain, the larger gains first or last in it.

        No group of the result mixes gains, so that the expected value of a
        measure over it is its best, or worst, over the groups split.
        """
        label = self.labels_by(gains)
        # label order serves every gain that follows the labels
        key = b"" if label is self.label else gains.tobytes(), descending
        groups = self._ordered.get(key)
        if groups is None:
            if descending:
                mirrored = np.repeat(2 * self.start + self.n - 1, self.n)
                label = label[mirrored - np.arange(len(label))]
            first = segments.begins(label)
            first[self.start] = True
            groups = self._ordered[key] = TieGroups(
                self.n_queries,
                self.levels,
                np.repeat(self.query, segments.count_segments(first, self.n)),
                np.flatnonzero(first),
                label,
                self.everything,
                self.retrieved,
            )
        return groups

    def labels_by(self, gains: FloatArray) -> NDArray[np.integer[Any]]:
        """Labels by their gains, ascending within a group."""
        if (gains[1:] >= gains[:-1]).all():
            return self.label
        level = np.argsort(gains)
        place = np.argsort(level)
        key = segments.owners(self.n) * len(gains) + place[self.label]
        return level[np.sort(key) % len(gains)]


def _sums_are_exact(gains: FloatArray, n: int) -> bool:
    """Whether floats hold each sum of up to `n` gains: sums of whole numbers."""
    whole = bool((gains == np.rint(gains)).all())
    return whole and float(gains.max(initial=0.0)) * n <= exact_numbers.LARGEST_EXACT


def all_tied(
    sizes: IntArray, label: NDArray[np.integer[Any]], levels: FloatArray
) -> TieGroups:
    """One group per query, holding all its documents; none has no document."""
    n_queries, n_levels = len(sizes), len(levels)
    key = segments.owners(sizes) * n_levels + label
    if n_queries * n_levels <= _COUNTED * len(key):
        key = segments.owners(np.bincount(key, minlength=n_queries * n_levels))
    else:
        key.sort()
    codes = (key % n_levels).astype(label.dtype)
    return TieGroups(
        n_queries, levels, np.arange(n_queries), segments.starts_of(sizes), codes
    )


def dense_ranks(score: Array) -> tuple[IntArray, int]:
    """Ranks 0, 1, ... of the distinct scores, ascending; NaN gets -1.

    Returns the ranks and their number. Ranks compare as the scores do, so that
    the sorts that follow are of small integers, whatever the dtype.
    """
    order = np.argsort(score)
    n_valid = len(score)
    if score.dtype.kind == "f":
        n_valid -= int(np.isnan(score).sum())
    ranks = np.full(len(score), -1, dtype=np.int64)
    dense = np.cumsum(segments.begins(score[order[:n_valid]]))
    ranks[order[:n_valid]] = dense - 1
    return ranks, int(dense[-1]) if n_valid else 0


class RowTies(NamedTuple):
    """The ties that rows belong to, which stand query by query.

    Attributes
    ----------
    group : ndarray of shape (n_rows,)
        The tie of each row, numbered query by query from the top; -1 for rows that are
        not retrieved.
    query, lo, n : ndarray of shape (n_groups,)
        Of each tie: its query, the documents above it, and in it.
    """

    group: IntArray
    query: IntArray
    lo: IntArray
    n: IntArray


def ties_of_rows(score: Array, retrieved: BoolArray, sizes: IntArray) -> RowTies:
    """Find the ties of scores of any dtype, in queries of these sizes."""
    rank, n_ranks = dense_ranks(score)
    shown = np.flatnonzero(retrieved)
    key = segments.owners(sizes)[shown] * n_ranks + (n_ranks - 1 - rank[shown])
    tie, number, n = np.unique(key, return_inverse=True, return_counts=True)
    group = np.full(len(score), -1, dtype=np.int64)
    group[shown] = number
    query = tie // max(n_ranks, 1)
    lo = segments.count_before(n, np.bincount(query, minlength=len(sizes)))
    return RowTies(group, query, lo, n)


def find_ties(
    query: IntArray,
    place: IntArray,
    label: NDArray[np.integer[Any]],
    everything: TieGroups,
    *,
    retrieved: BoolArray,
    input_order: bool,
) -> TieGroups:
    """The tie groups of a block of queries, by one sort.

    Parameters
    ----------
    query : ndarray of shape (n_rows,)
        Query of each row, ascending.
    place : ndarray of shape (n_rows,)
        Non-negative integers, smaller ranked first, equal ones tied.
    label : ndarray of shape (n_rows,)
        Indices into the levels of `everything`.
    everything : TieGroups
        All documents of the same queries.
    retrieved : ndarray of shape (n_rows,)
        False for rows that are left out of the ranking.
    input_order : bool
        Break ties by the order of the rows.
    """
    if not retrieved.all():
        query, place, label = query[retrieved], place[retrieved], label[retrieved]
    n_queries, levels = everything.n_queries, everything.levels
    n_places = int(place.max(initial=0)) + 1
    minor = np.arange(len(label)) if input_order else label
    width = (max(len(label) if input_order else len(levels), 1) - 1).bit_length()
    # query, place and label in one integer (63 bits hold a billion rows): a single
    # sort, without an index
    key = query * n_places
    key += place
    key <<= width
    key |= minor
    if n_queries * n_places <= _32_BITS >> width:
        key = key.astype(np.int32)
    key.sort()
    minor = key & ((1 << width) - 1)
    # no two rows have the same place in the input
    start = segments.run_starts(key if input_order else key >> width)
    labels = label[minor] if input_order else minor.astype(label.dtype)
    return TieGroups(n_queries, levels, query[start], start, labels, everything)
