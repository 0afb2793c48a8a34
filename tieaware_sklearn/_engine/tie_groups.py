"""The weak order of a block of queries by one sort, as flat arrays and offsets.

`TieGroups` contain everything that a measure needs: which documents tie, the ranks of
each tie group, and its labels. The list of all documents of a query, as if all
documents tied, is also a `TieGroups` object. The totals (such as the number of relevant
documents), the ideal order and the chance level are computed from this object.

For a single query, the function below returns the tie groups. The module does the same,
fast, for many queries::

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
#: Largest 32-bit integer. Integers of 32 bits are sorted faster than longer integers.
_32_BITS = 2**31 - 1
#: Largest cut-off. Larger cut-offs become `LONGEST`, because they may exceed 64 bits.
LONGEST = 2**62
#: Maximum number of counters per document in a counting sort. If more counters are
#: needed, the labels are sorted by comparisons.
_COUNTED = 4


class Documents(NamedTuple):
    """Places of a ranking, query by query, above a cut-off.

    Attributes
    ----------
    near : ndarray of shape (n_near,)
        Indices of the tie groups that reach above the cut-off.
    owner : ndarray of shape (n_places,)
        The tie group at each place, as an index into `near`.
    rank : ndarray of shape (n_places,)
        Number of documents of the query above the place: 0 at the top.
    counts : ndarray of shape (n_queries,)
        Number of places of each query.
    """

    near: IntArray
    owner: IntArray
    rank: IntArray
    counts: IntArray

    @property
    def group(self) -> IntArray:
        """Index of the tie group at each place."""
        return self.near[self.owner]


def once_per_block(compute: Callable[[A, B], Result]) -> Callable[[A, B], Result]:
    """Cache the result of a method on the block.

    The method is a method of `Totals` with one argument, or its argument is the block.
    """

    @wraps(compute)
    def remembered(first: A, second: B) -> Result:
        groups: Any = first
        key: Hashable = compute, second
        if not isinstance(first, Totals):
            groups = second
            key = compute, first
        result = groups.memo.get(key)
        if result is None:
            result = compute(first, second)
            groups.memo[key] = result
        return result

    return remembered


class Totals:
    """A block of queries, without the order of their documents.

    Attributes
    ----------
    n_queries : int
    everything : Totals
        All documents of each query, even documents that are not retrieved, in one
        group.
    retrieved : ndarray of shape (n_queries,) or (n_columns, n_queries)
        Number of retrieved documents of each query, in one ranking or in several.
    """

    n_queries: int

    def __init__(self, everything: Any, n_queries: int, retrieved: IntArray) -> None:
        # None means the block itself. A block with a reference to itself would be freed
        # only by the garbage collector.
        self._everything = everything
        self.n_queries = n_queries
        self.retrieved = retrieved
        #: Cached results of methods: see `once_per_block`.
        self.memo: dict[Hashable, Any] = {}

    @property
    def everything(self) -> Any:
        if self._everything is None:
            return self
        return self._everything

    def total_relevant(self, rel: float) -> IntArray:
        """Return the number of relevant documents of each query, retrieved or not."""
        return self.everything.relevant(rel)


class TieGroups(Totals):
    """The tie groups of a block of queries, in rank order.

    Attributes
    ----------
    n_queries : int
    levels : ndarray of shape (n_levels,), float64
        The distinct labels, ascending.
    query, lo, n, start : ndarray of shape (n_groups,)
        The query of each group, the number of documents above the group, the size of
        the group, and the index in `label` at which the labels of the group start.
    label : ndarray of shape (n_retrieved,)
        Indices into `levels`, ascending within a group.
    everything : TieGroups
        One group for each query, with all documents, including documents that are not
        retrieved.
    retrieved, n_groups_of_query : ndarray of shape (n_queries,)
        Number of retrieved documents and number of groups of each query.
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
        self.n_groups_of_query = retrieved
        if not self.untied:
            self.n_groups_of_query = np.bincount(query, minlength=n_queries)
        query_start = segments.starts_of(retrieved)
        self.lo = start - np.repeat(query_start, self.n_groups_of_query)
        # The cached arrays are as large as the ranking, so `forget` can free them.
        self._documents: dict[int | None, Documents] = {}
        self._ordered: dict[tuple[bytes, bool], TieGroups] = {}

    def forget(self) -> None:
        """Clear the cached places and orders. Counts and values per query are kept."""
        self._documents.clear()
        self._ordered.clear()

    @property
    def hi(self) -> IntArray:
        return self.lo + self.n

    @cached_property
    def mixed(self) -> bool:
        """Whether any group contains different labels."""
        if self.untied:
            return False
        last = self.label[self.start + self.n - 1]
        return bool((self.label[self.start] != last).any())

    def inside(
        self, k: int | IntArray | None, chosen: IntArray | None = None
    ) -> IntArray:
        """Return how many of the first `k` places of its query each group fills.

        The cut-off `k` is the same for all queries, or an array with one value per
        query. None means all places. `chosen` contains the indices of the groups. None
        means all groups.
        """
        groups = slice(None) if chosen is None else chosen
        n = self.n[groups]
        if k is None:
            return n
        cut = min(k, LONGEST) if isinstance(k, int) else k[self.query[groups]]
        return np.clip(cut - self.lo[groups], 0, n)

    def documents(self, k: int | None) -> Documents:
        """Return the first `k` places of each query. None means all places."""
        documents = self._documents.get(k)
        if documents is None:
            near = np.arange(len(self.n))
            per_query = self.retrieved
            if k is not None:
                near = np.flatnonzero(self.lo < k)
                per_query = np.minimum(per_query, min(k, LONGEST))
            owner = np.arange(len(near))
            rank = self.lo[near]
            if not self.untied:
                counts = self.inside(k, near)
                owner = np.repeat(owner, counts)
                rank = segments.consecutive(rank, counts)
            documents = self._documents[k] = Documents(near, owner, rank, per_query)
        return documents

    def sum_groups(self, values: Array) -> FloatArray:
        """Return the sum of the values of the groups of each query."""
        # Zeros are left out, so that their number does not change the bits of a sum.
        is_nonzero = values != 0
        counts = np.bincount(self.query[is_nonzero], minlength=self.n_queries)
        return segments.sum_segments(values[is_nonzero], counts)

    @once_per_block
    def relevant(self, rel: float) -> IntArray:
        """Return the number of documents of each group with labels >= `rel`."""
        least = np.searchsorted(self.levels, rel)
        if self.untied:
            return (self.label >= least).astype(np.int64)
        if not self.mixed:
            return np.where(self.label[self.start] >= least, self.n, 0)
        return segments.count_segments(self.label >= least, self.n)

    @once_per_block
    def holding(self, rel: float) -> tuple[IntArray, IntArray]:
        """Return the groups with any label >= `rel`, and their number in each query."""
        chosen = np.flatnonzero(self.relevant(rel))
        return chosen, np.bincount(self.query[chosen], minlength=self.n_queries)

    @once_per_block
    def relevant_above(self, rel: float) -> IntArray:
        """Return the number of documents with labels >= `rel` above each group."""
        return segments.count_before(self.relevant(rel), self.n_groups_of_query)

    def gain_sums(self, gains: FloatArray) -> FloatArray:
        """Return the sum of the gains of each group, from the gain of each level."""
        return np.add.reduceat(gains[self.label], self.start)

    def gain_means(
        self, gains: FloatArray, chosen: IntArray | None = None
    ) -> FloatArray:
        """Return the mean gain of each group, from the gain of each level.

        `chosen` contains the indices of the groups. None means all groups.
        """
        label = self.label
        start = self.start
        n = self.n
        is_part = chosen is not None and len(chosen) < len(start)
        if is_part:
            n = n[chosen]
            start = start[chosen]
        if not self.mixed:
            # All documents of a group have the same label.
            return gains[label[start]]
        if is_part:
            label = label[segments.consecutive(start, n)]
            start = segments.starts_of(n)
        gain = gains[label]
        means = np.add.reduceat(gain, start) / n
        is_whole = (gains == np.rint(gains)).all()
        largest_sum = float(gains.max(initial=0.0)) * len(gain)
        if is_whole and largest_sum <= exact_numbers.LARGEST_EXACT:
            # Floats represent all sums of these integers exactly.
            return means
        # In floats, the mean of n equal gains g may differ from g, but must be g.
        low = np.minimum.reduceat(gain, start)
        high = np.maximum.reduceat(gain, start)
        return np.clip(means, low, high)

    def gain_variances(self, gains: FloatArray) -> FloatArray:
        """Return S² = Σ(g - ḡ)²/(n - 1) of each group, 0 for a single document."""
        deviation = gains[self.label] - np.repeat(self.gain_means(gains), self.n)
        squares = segments.sum_segments(deviation * deviation, self.n)
        return squares / np.maximum(self.n - 1, 1)

    def ordered(self, gains: FloatArray, *, descending: bool) -> TieGroups:
        """Return the groups split by gain, with larger gains first or last.

        No group of the result mixes gains, so the expected value of a measure for the
        result is the best, or the worst, value for the groups before the split.
        """
        label = self.labels_by(gains)
        # All gains that rise with the labels share one order.
        gain_bytes = b"" if label is self.label else gains.tobytes()
        key = gain_bytes, descending
        groups = self._ordered.get(key)
        if groups is None:
            if descending:
                # The labels are reversed within each group: indices i and j of a group
                # change places if i + j is the sum of its first and its last index.
                index_sum = np.repeat(2 * self.start + self.n - 1, self.n)
                label = label[index_sum - np.arange(len(label))]
            is_start = segments.begins(label)
            is_start[self.start] = True
            start = np.flatnonzero(is_start)
            counts = segments.count_segments(is_start, self.n)
            query = np.repeat(self.query, counts)
            groups = self._ordered[key] = TieGroups(
                self.n_queries,
                self.levels,
                query,
                start,
                label,
                self.everything,
                self.retrieved,
            )
        return groups

    def labels_by(self, gains: FloatArray) -> NDArray[np.integer[Any]]:
        """Return the labels sorted by gain within each group, ascending."""
        if (gains[1:] >= gains[:-1]).all():
            return self.label
        level = np.argsort(gains)
        place = np.argsort(level)
        key = segments.owners(self.n) * len(gains) + place[self.label]
        return level[np.sort(key) % len(gains)]


def all_tied(
    sizes: IntArray, label: NDArray[np.integer[Any]], levels: FloatArray
) -> TieGroups:
    """Return one group per query, with all documents of the query. No query is empty.

    `label` contains indices into the `levels`, query by query.
    """
    n_queries = len(sizes)
    n_levels = len(levels)
    n_keys = n_queries * n_levels
    key = segments.owners(sizes) * n_levels + label
    if n_keys <= _COUNTED * len(key):
        key = segments.owners(np.bincount(key, minlength=n_keys))
    else:
        key.sort()
    codes = (key % n_levels).astype(label.dtype)
    start = segments.starts_of(sizes)
    return TieGroups(n_queries, levels, np.arange(n_queries), start, codes)


def dense_ranks(score: Array) -> tuple[IntArray, int]:
    """Return ranks of scores from the lowest, 0, and the number of distinct ranks.

    Equal scores have equal ranks, and NaN has rank -1. Ranks compare like scores. Ranks
    are small integers whatever the dtype, so later sorts are fast.
    """
    order = np.argsort(score)
    ranks = np.full(len(score), -1, dtype=np.int64)
    if score.dtype.kind == "f":
        # NaN is sorted last.
        n_valid = len(score) - int(np.isnan(score).sum())
        order = order[:n_valid]
    if not len(order):
        return ranks, 0
    dense = np.cumsum(segments.begins(score[order]))
    ranks[order] = dense - 1
    return ranks, int(dense[-1])


class RowTies(NamedTuple):
    """The ties of rows that are sorted by query.

    Attributes
    ----------
    group : ndarray of shape (n_rows,)
        Index of the tie of each row, or -1 for rows that are not retrieved. Ties are
        numbered query by query, from the highest score.
    query, lo, n : ndarray of shape (n_groups,)
        The query of each tie, the number of documents above the tie, and the number of
        documents in the tie.
    """

    group: IntArray
    query: IntArray
    lo: IntArray
    n: IntArray


def ties_of_rows(score: Array, retrieved: BoolArray, sizes: IntArray) -> RowTies:
    """Return the ties of scores of any dtype, in queries of these sizes."""
    rank, n_ranks = dense_ranks(score)
    rows = np.flatnonzero(retrieved)
    place = n_ranks - 1 - rank[rows]
    key = segments.owners(sizes)[rows] * n_ranks + place
    tie, number, n = np.unique(key, return_inverse=True, return_counts=True)
    group = np.full(len(score), -1, dtype=np.int64)
    group[rows] = number
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
    """Return the tie groups of a block of queries, by one sort.

    Parameters
    ----------
    query : ndarray of shape (n_rows,)
        Query of each row, ascending.
    place : ndarray of shape (n_rows,)
        Non-negative integers. Smaller integers rank first, and equal integers tie.
    label : ndarray of shape (n_rows,)
        Indices into the levels of `everything`.
    everything : TieGroups
        All documents of the same queries.
    retrieved : ndarray of shape (n_rows,)
        Mask of the rows that are in the ranking.
    input_order : bool
        Whether to break ties by the order of the rows.
    """
    if not retrieved.all():
        query = query[retrieved]
        place = place[retrieved]
        label = label[retrieved]
    n_queries = everything.n_queries
    levels = everything.levels
    minor: Array = label
    n_minor = len(levels)
    if input_order:
        n_minor = len(label)
        minor = np.arange(n_minor)
    # A key consists of the query, the place and the label or row of a document (63 bits
    # are enough for a billion rows). So a single sort without an index is enough.
    n_places = int(place.max(initial=0)) + 1
    width = max(n_minor - 1, 0).bit_length()
    key = query * n_places
    key += place
    key <<= width
    key |= minor
    if n_queries * n_places <= _32_BITS >> width:
        key = key.astype(np.int32)
    key.sort()
    minor = key & ((1 << width) - 1)
    if input_order:
        # Every row is a group.
        start = segments.run_starts(key)
        labels = label[minor]
    else:
        start = segments.run_starts(key >> width)
        labels = minor.astype(label.dtype)
    return TieGroups(n_queries, levels, query[start], start, labels, everything)
