"""The weak order of a block of queries, as flat arrays and offsets.

Everything that a measure needs is in here: which documents tie, where their
group stands, and which labels it holds. The lists of all documents of a query,
as if all of them tied, are `TieGroups` too: they hold the totals (how many
relevant documents there are), the ideal order, and the chance level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
#: whole numbers up to here are floats
_EXACT = 2.0**53
#: the largest integer of 32 bits
_32_BITS = 2**31 - 1
#: no list is that long; larger cut-offs would not fit 64 bits
_BEYOND = 2**62


class Reach(NamedTuple):
    """How far down a ranking a measure looks.

    Attributes
    ----------
    depth : int or None
        Down to this rank.
    rel : float or None
        Down to the first document with a label of at least this.
    """

    depth: int | None = None
    rel: float | None = None

    @property
    def is_limited(self) -> bool:
        return self.depth is not None or self.rel is not None


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


def expand(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Owners and 0-based positions of `counts` places each, one after another."""
    owner = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - starts[owner]


def consecutive(first: IntArray, counts: IntArray) -> IntArray:
    """first, first + 1, ... of each, so many as `counts`, one after another."""
    numbers = np.repeat(first - (np.cumsum(counts) - counts), counts)
    numbers += np.arange(len(numbers))
    return numbers


def running_sum(values: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Sums of the first 0, 1, ... of `values`."""
    sums: NDArray[Any] = np.empty(len(values) + 1, dtype=dtype)
    sums[0] = 0
    np.cumsum(values, out=sums[1:])
    return sums


def sum_segments(values: NDArray[Any], counts: IntArray) -> FloatArray:
    """Sums of consecutive segments, empty ones included.

    A segment's sum depends on its own values alone, to the last bit; the
    difference of two running sums would depend on what stands before it.
    """
    out = np.zeros(len(counts))
    filled = counts > 0
    starts = (np.cumsum(counts) - counts)[filled]
    if len(starts):
        out[filled] = np.add.reduceat(values, starts)
    return out


def count_segments(flags: NDArray[np.bool_], counts: IntArray) -> IntArray:
    """Numbers of true flags in consecutive segments, empty ones included."""
    # whole numbers: here differences of a running sum lose nothing
    before = running_sum(flags, np.int64)
    ends = np.cumsum(counts)
    return np.asarray(before[ends] - before[ends - counts])


def count_before(values: IntArray, counts: IntArray) -> IntArray:
    """Sums of what stands before each of `values` in consecutive segments."""
    before = running_sum(values, np.int64)
    first = np.cumsum(counts) - counts
    return np.asarray(before[:-1] - np.repeat(before[first], counts))


class TieGroups:
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
    retrieved : ndarray of shape (n_queries,)
        Documents of each query in all of its groups.
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
        self.n_queries = n_queries
        self.levels = levels
        self.query = query
        self.start = start
        self.label = label
        self.n: IntArray = np.empty(len(start), dtype=np.int64)
        np.subtract(start[1:], start[:-1], out=self.n[:-1])
        self.n[-1:] = len(label) - start[-1:]
        if retrieved is None:
            retrieved = np.bincount(query, self.n, n_queries).astype(np.int64)
        self.retrieved: IntArray = retrieved
        self.n_groups_of_query: IntArray = (
            retrieved if self.untied else np.bincount(query, minlength=n_queries)
        )
        above = np.cumsum(self.retrieved) - self.retrieved
        self.lo: IntArray = start - np.repeat(above, self.n_groups_of_query)
        self.everything = self if everything is None else everything
        self._memo: dict[Any, Any] = {}

    def memo(self, key: Any, compute: Callable[[], Any]) -> Any:
        """`compute()`, once per `key`, a tuple that begins with what it is."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]

    @property
    def untied(self) -> bool:
        """Whether every group is a single document."""
        return len(self.start) == len(self.label)

    @property
    def hi(self) -> IntArray:
        return self.lo + self.n

    def inside(
        self, k: int | IntArray | None, chosen: IntArray | None = None
    ) -> IntArray:
        """Places of each group, or of the `chosen`, inside the cut-off `k`.

        There is one cut-off, or one per query.
        """
        of = slice(None) if chosen is None else chosen
        n = self.n[of]
        if k is None:
            return n
        cut = min(k, _BEYOND) if isinstance(k, int) else k[self.query[of]]
        return np.clip(cut - self.lo[of], 0, n)

    def documents(self, k: int | None) -> Documents:
        """Every place of every query down to rank `k`."""

        def compute() -> Documents:
            near, per_query = np.arange(len(self.n)), self.retrieved
            if k is not None:
                near = np.flatnonzero(self.lo < k)
                per_query = np.minimum(per_query, min(k, _BEYOND))
            owner, rank = np.arange(len(near)), self.lo[near]
            if not self.untied:
                counts = self.inside(k, near)
                owner, rank = np.repeat(owner, counts), consecutive(rank, counts)
            return Documents(near, owner, rank, per_query)

        result: Documents = self.memo(("documents", k), compute)
        return result

    def sum_groups(self, values: NDArray[Any]) -> FloatArray:
        """Per query, the sum of one value per group."""
        filled = values != 0
        # without its zeros, a sum has the same bits however many of them there are
        query = np.bincount(self.query[filled], minlength=self.n_queries)
        return sum_segments(values[filled], query)

    def relevant(self, rel: float) -> IntArray:
        """Documents of each group with a label of at least `rel`."""

        def compute() -> IntArray:
            least = np.searchsorted(self.levels, rel)
            if self.untied:
                return (self.label >= least).astype(np.int64)
            if not self.mixed:
                return np.where(self.label[self.start] >= least, self.n, 0)
            return _exact_sums(self.label >= least, self.start, np.int64)

        counts: IntArray = self.memo(("relevant", rel), compute)
        return counts

    def holding(self, rel: float) -> tuple[IntArray, IntArray]:
        """Groups with a label of at least `rel`, and how many each query has."""

        def compute() -> tuple[IntArray, IntArray]:
            chosen = np.flatnonzero(self.relevant(rel))
            ends = np.searchsorted(chosen, np.cumsum(self.n_groups_of_query))
            return chosen, np.diff(ends, prepend=0)

        found: tuple[IntArray, IntArray] = self.memo(("holding", rel), compute)
        return found

    def relevant_above(self, rel: float) -> IntArray:
        """Documents above each group with a label of at least `rel`."""

        def compute() -> IntArray:
            return count_before(self.relevant(rel), self.n_groups_of_query)

        counts: IntArray = self.memo(("above", rel), compute)
        return counts

    def total_relevant(self, rel: float) -> IntArray:
        """Relevant documents of each query, retrieved or not."""
        return self.everything.relevant(rel)

    def gain_sums(self, gains: FloatArray) -> FloatArray:
        """Sum of the gains of each group, `gains` given per level."""
        return _sums(gains, gains[self.label], self.start, self.n)

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
            return np.asarray(gains[label[start]])
        if part:
            label, start = label[consecutive(start, n)], np.cumsum(n) - n
        gain = gains[label]
        means = _sums(gains, gain, start, n) / n
        if _sums_are_exact(gains, len(gain)) or not len(gain):
            return means
        # n * g / n is not always g: a group of equal gains must have just that
        low, high = np.minimum.reduceat(gain, start), np.maximum.reduceat(gain, start)
        return np.clip(means, low, high)

    def gain_variances(self, gains: FloatArray) -> FloatArray:
        """S² = Σ(g - ḡ)²/(n - 1) of each group, 0 for a single document."""
        if not len(self.label):
            return np.zeros(0)
        deviation = gains[self.label] - np.repeat(self.gain_means(gains), self.n)
        squares = np.add.reduceat(deviation * deviation, self.start)
        return np.asarray(squares / np.maximum(self.n - 1, 1))

    def forget(self) -> None:
        """Let go of what was remembered, but for counts and ideals per query."""
        for key in [key for key in self._memo if key[0] in ("documents", "ordered")]:
            del self._memo[key]

    @property
    def mixed(self) -> bool:
        """Whether any group holds different labels."""

        def compute() -> bool:
            if self.untied:
                return False
            last = self.label[self.start + self.n - 1]
            return bool((self.label[self.start] != last).any())

        mixed: bool = self.memo(("mixed groups",), compute)
        return mixed

    def ordered(self, gains: FloatArray, *, descending: bool) -> TieGroups:
        """Each group split by gain, the larger gains first or last in it.

        No group of the result mixes gains, so that the expected value of a
        measure over it is its best, or worst, over the groups split.
        """
        if (gains[1:] >= gains[:-1]).all():
            # label order serves every gain that follows the labels
            return self._by_label(descending)
        keys = np.argsort(np.argsort(gains))

        def compute() -> TieGroups:
            n_levels = len(gains)
            code = n_levels - 1 - keys if descending else keys
            level_of_code = np.argsort(code)
            group = np.repeat(np.arange(len(self.n)), self.n)
            key = np.sort(group * n_levels + code[self.label])
            start = run_starts(key)
            return TieGroups(
                self.n_queries,
                self.levels,
                self.query[key[start] // n_levels],
                start,
                level_of_code[key % n_levels],
                self.everything,
            )

        key = ("ordered", gains.tobytes(), descending)
        result: TieGroups = self.memo(key, compute)
        return result

    def _by_label(self, descending: bool) -> TieGroups:
        """Each group split by label: they stand in order already."""

        def compute() -> TieGroups:
            label = self.label
            if descending:
                mirrored = np.repeat(2 * self.start + self.n - 1, self.n)
                label = label[mirrored - np.arange(len(label))]
            first = np.ones(len(label), dtype=bool)
            np.not_equal(label[1:], label[:-1], out=first[1:])
            first[self.start] = True
            start = np.flatnonzero(first)
            query = np.repeat(self.query, count_segments(first, self.n))
            return TieGroups(
                self.n_queries, self.levels, query, start, label, self.everything
            )

        result: TieGroups = self.memo(("ordered", None, descending), compute)
        return result


def _sums(
    gains: FloatArray, gain: FloatArray, start: IntArray, n: IntArray
) -> FloatArray:
    """Sums of consecutive groups of `gain`, each of whose values is one of `gains`."""
    if _sums_are_exact(gains, len(gain)):
        return _exact_sums(gain, start, np.float64)
    return sum_segments(gain, n)


def _exact_sums(values: NDArray[Any], start: IntArray, dtype: type) -> NDArray[Any]:
    """Sums of consecutive groups of `values`, where a running sum loses nothing."""
    before = running_sum(values, dtype)
    return np.diff(before[start], append=before[-1])


def _sums_are_exact(gains: FloatArray, n: int) -> bool:
    """Whether floats hold each sum of up to `n` gains: sums of whole numbers."""
    whole = bool((gains == np.rint(gains)).all())
    return whole and float(gains.max(initial=0.0)) * n <= _EXACT


def run_starts(values: NDArray[Any]) -> IntArray:
    """Where runs of equal values start."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])


def all_tied(
    query: IntArray, n_queries: int, label: NDArray[np.integer[Any]], levels: FloatArray
) -> TieGroups:
    """One group per query, holding all its documents."""
    n_levels = len(levels)
    key = query * n_levels + label
    if n_queries * n_levels <= 4 * len(key):
        # counting sorts, too
        counts = np.bincount(key, minlength=n_queries * n_levels)
        key = np.repeat(np.arange(len(counts)), counts)
    else:
        key = np.sort(key)
    start = run_starts(key // n_levels)
    codes = (key % n_levels).astype(label.dtype)
    return TieGroups(n_queries, levels, np.arange(n_queries), start, codes)


def dense_ranks(score: NDArray[Any]) -> tuple[IntArray, int]:
    """Ranks 0, 1, ... of the distinct scores, ascending; NaN gets -1.

    Returns the ranks and their number. Ranks compare as the scores do, so that
    the sorts that follow are of small integers, whatever the dtype.
    """
    order = np.argsort(score)
    ascending = score[order]
    n_valid = len(score)
    if score.dtype.kind == "f":
        n_valid -= int(np.isnan(score).sum())
    ranks = np.full(len(score), -1, dtype=np.int64)
    new = ascending[1:n_valid] != ascending[: max(n_valid - 1, 0)]
    dense = np.zeros(n_valid, dtype=np.int64)
    np.cumsum(new, out=dense[1:])
    ranks[order[:n_valid]] = dense
    return ranks, int(dense[-1]) + 1 if n_valid else 0


def midranks(query: IntArray, place: IntArray, sizes: IntArray) -> FloatArray:
    """Twice the midrank of each row in its query, less its mean: whole numbers.

    `query` is ascending and `sizes` are the numbers of rows of each query.
    """
    n_places = int(place.max(initial=0)) + 1
    n_rows = len(place)
    key = np.sort((query * n_places + place) * n_rows + np.arange(n_rows))
    group = key // n_rows
    start = run_starts(group)
    n = np.diff(start, append=n_rows)
    of_group = group[start] // n_places
    lo = start - (np.cumsum(sizes) - sizes)[of_group]
    out = np.empty(n_rows)
    out[key % n_rows] = np.repeat(2 * lo + n - sizes[of_group], n)
    return out


def find_ties(
    query: IntArray,
    place: IntArray,
    label: NDArray[np.integer[Any]],
    everything: TieGroups,
    *,
    retrieved: NDArray[np.bool_] | None = None,
    input_order: bool = False,
) -> TieGroups:
    """The tie groups of a block of queries.

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
    retrieved : ndarray of shape (n_rows,), optional
        False for rows that are left out of the ranking.
    input_order : bool
        Break ties by the order of the rows.
    """
    if retrieved is not None:
        query, place, label = query[retrieved], place[retrieved], label[retrieved]
    levels = everything.levels
    n_places = int(place.max(initial=0)) + 1
    minor = np.arange(len(label)) if input_order else label
    n_minor = max(len(label) if input_order else len(levels), 1)
    # query, place and label in one integer (63 bits hold three billion rows):
    # a single sort, without an index
    key = (query * n_places + place) * n_minor + minor
    if everything.n_queries * n_places * n_minor <= _32_BITS:
        key = key.astype(np.int32)
    key.sort()
    position = key % n_minor
    if input_order:
        start = np.arange(len(key))
        return TieGroups(
            everything.n_queries, levels, query, start, label[position], everything
        )
    group = key // n_minor
    start = run_starts(group)
    return TieGroups(
        everything.n_queries,
        levels,
        (group[start] // n_places).astype(np.int64),
        start,
        position.astype(label.dtype),
        everything,
    )
