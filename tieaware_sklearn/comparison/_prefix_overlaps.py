"""How many documents the first d ranks of two rankings share, at every depth d."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import (
    begins,
    count_before,
    expand,
    offsets_of,
    runs,
    starts_of,
)
from .._engine.ties import FloatArray, IntArray, dense_ranks
from .._engine.validation import is_retrieved

#: rank of a document that is not retrieved, below all others
_MISSING = -1


class RankedLists(NamedTuple):
    """One ranking of the documents of all queries.

    Attributes
    ----------
    rank : ndarray of shape (n_documents,)
        Integers that compare as the scores do, -1 for documents not retrieved.
    group : ndarray of shape (n_documents,)
        The tie group of each document, numbered query by query from the top; -1 for
        documents not retrieved.
    at : ndarray of shape (n_retrieved,)
        The tie group at each rank of each query.
    lo, size : ndarray of shape (n_groups + 1,)
        Documents of the query above each group, and in it. The last entry is no group.
    length : ndarray of shape (n_queries,)
        Documents retrieved for each query.
    first : ndarray of shape (n_queries + 1,)
        The first group of each query, and the number of groups.
    """

    rank: IntArray
    group: IntArray
    at: IntArray
    lo: IntArray
    size: IntArray
    length: IntArray
    first: IntArray

    @classmethod
    def of(cls, scores: NDArray[Any], codes: IntArray, n_queries: int) -> RankedLists:
        """Of scores of any dtype, and the number of the query of each document."""
        rank = dense_ranks(scores)[0]
        rank[~is_retrieved(scores)] = _MISSING
        retrieved = np.flatnonzero(rank > _MISSING)
        order = retrieved[np.lexsort((-rank[retrieved], codes[retrieved]))]
        new = begins(codes[order]) | begins(rank[order])
        return cls._of_order(rank, order, new, codes, n_queries)

    def reordered(self, minor: IntArray, least: IntArray, codes: IntArray) -> Self:
        """The same ranking, its ties broken: smaller `minor` first, then `least`."""
        shown = np.flatnonzero(self.rank > _MISSING)
        # groups are numbered query by query
        keys = least[shown], minor[shown], self.group[shown]
        order = shown[np.lexsort(keys)]
        new = np.ones(len(order), dtype=bool)
        return self._of_order(self.rank, order, new, codes, len(self.length))

    @classmethod
    def _of_order(
        cls,
        rank: IntArray,
        order: IntArray,
        new: NDArray[np.bool_],
        codes: IntArray,
        n_queries: int,
    ) -> Self:
        """Of the retrieved documents in order, and where groups begin."""
        query = codes[order]
        length = np.bincount(query, minlength=n_queries)
        at = np.cumsum(new) - 1
        group = np.full(len(rank), _MISSING, dtype=np.int64)
        group[order] = at
        starts, size = runs(at)
        owner = query[starts]
        return cls(
            rank=rank,
            group=group,
            at=at,
            lo=np.append(starts - starts_of(length)[owner], 0),
            size=np.append(size, 1),
            length=length,
            first=offsets_of(np.bincount(owner, minlength=n_queries)),
        )

    def at_depths(self, owner: IntArray, place: IntArray) -> IntArray:
        """The group at each place of a query; below its list, that after its last."""
        found = self.first[owner + 1]
        inside = place < self.length[owner]
        found[inside] = self.at[starts_of(self.length)[owner[inside]] + place[inside]]
        return found

    def cuts(self, depth: IntArray, codes: IntArray) -> NDArray[np.bool_]:
        """Per query, whether so many ranks end inside a tie."""
        out = np.zeros(len(depth), dtype=bool)
        there = self.group > _MISSING
        lo, query = self.lo[self.group[there]], codes[there]
        size, cut = self.size[self.group[there]], depth[query]
        out[query[(lo < cut) & (cut < lo + size)]] = True
        return out


def mean_overlaps(
    a: RankedLists, b: RankedLists, codes: IntArray, deepest: IntArray
) -> FloatArray:
    """Mean overlap at depths 1, 2, ... `deepest` of each query, one after another.

    The orders of the ties of both rankings are independent, so that the mean is the
    sum over documents of P_a(rank <= d) P_b(rank <= d). At any depth at most one group
    of each ranking is cut: its documents have P = (d - lo)/n, those above it 1. So the
    sum has four parts: documents above both groups, those of one group that are above
    the other, and those of both. Counts are exact, and nothing is subtracted from
    anything but counts.
    """
    owner, place = expand(deepest)
    of_a, of_b = a.at_depths(owner, place), b.at_depths(owner, place)
    share_a = (place + 1 - a.lo[of_a]) / a.size[of_a]
    share_b = (place + 1 - b.lo[of_b]) / b.size[of_b]

    shared = (a.group > _MISSING) & (b.group > _MISSING)
    in_a, in_b, query = a.group[shared], b.group[shared], codes[shared]
    # above the groups at a depth are the groups that end before it
    end = np.maximum(a.lo[in_a] + a.size[in_a], b.lo[in_b] + b.size[in_b])
    kept = end < deepest[query]
    above = np.bincount(
        starts_of(deepest)[query[kept]] + end[kept], minlength=len(owner)
    )
    both_above = count_before(above, deepest) + above
    a_cut, both_cut = _within(in_a, in_b, of_a, of_b, len(b.size))
    b_cut, _ = _within(in_b, in_a, of_b, of_a, len(a.size))
    return np.asarray(
        both_above + a_cut * share_a + b_cut * share_b + both_cut * share_a * share_b
    )


def _within(
    inside: IntArray, other: IntArray, group: IntArray, beside: IntArray, n_other: int
) -> tuple[IntArray, IntArray]:
    """Documents of each `group` that the other ranking has above `beside`, and in it.

    `inside` and `other` are the groups of each document in the two rankings.
    """
    key = np.sort(inside * n_other + other)
    cell = group * n_other + beside
    start = np.searchsorted(key, cell)
    return (
        start - np.searchsorted(key, group * n_other),
        np.searchsorted(key, cell, side="right") - start,
    )


def extreme_orders(
    a: RankedLists, b: RankedLists, codes: IntArray, *, best: bool
) -> tuple[RankedLists, RankedLists]:
    """The orders of all ties with the most or the least overlap, at every depth.

    At depth d a ranking chooses some documents of the group that is cut there. Each
    that the other ranking has above its own cut adds 1, each that it has below adds 0,
    and those of both groups add 1 where both choose them. Most overlap: take documents
    in the order of the other ranking, and in one common order where they tie in both.
    Least: in its reverse, and in opposite orders. Neither depends on d, so that one
    order is extreme at all depths.
    """
    rows = np.arange(len(codes))
    if best:
        return a.reordered(-b.rank, rows, codes), b.reordered(-a.rank, rows, codes)
    return a.reordered(b.rank, rows, codes), b.reordered(a.rank, -rows, codes)
