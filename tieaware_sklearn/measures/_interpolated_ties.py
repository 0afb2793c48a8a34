"""Mean, variance and distribution of interpolated precision under ties.

The i-th relevant document, at rank pos_i, has precision i/pos_i; from document c on,
the value is the largest of these over i >= c. Groups are independent, and are taken
from the last to the first: the *law* of what comes from a place on is all that those
above need. Inside a mixed group, "something from its x-th relevant document on is worth
more than t" is cut up by the *last* document that is. For it to be the j-th, which is
worth more than t at the first d_j places, j relevant documents must stand at just those
d_j places, and each later one below its own d: a recursion over pairs of relevant
documents, for all t at once. About n r values of t make that n r³ operations, where a
walk over places takes (n r)².
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from .._engine.segments import runs
from .._engine.ties import FloatArray, IntArray, TieGroups, once_per_block
from ._sampled_places import generator, n_orders, places_of_some

#: beyond this Σ n r over the mixed groups of a query, orders are sampled; binomials of
#: a group so small fit floats
REACH = 10_000
#: a chance this small is rounding
_NOTHING = 1e-14
#: relevant documents drawn at a time
_CELLS = 1 << 20


class Law(NamedTuple):
    """Values, ascending, and P(value <= each), of which the last is 1."""

    values: FloatArray
    below: FloatArray

    def at_least(self, least: float) -> Law:
        """The law of the larger of this and `least`."""
        at = int(np.searchsorted(self.values, least, side="right"))
        if not at:
            return self
        return Law(np.append(least, self.values[at:]), self.below[at - 1 :])

    def chances(self) -> FloatArray:
        """The chance of each value."""
        chances = np.diff(self.below, prepend=0.0)
        chances[chances < _NOTHING] = 0.0
        return chances


#: below the last group
_NO_DOCUMENT = Law(np.zeros(1), np.ones(1))


class _Part(Protocol):
    """Neighbouring groups, and what is worth most from each relevant document on."""

    def law(self, document: int) -> Law:
        """From the relevant document with this number in the part on."""

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance from each relevant document on."""


@dataclass(eq=False)
class _Pure:
    """Groups of relevant documents alone: within them precision grows.

    Attributes
    ----------
    worth : ndarray of shape (n_relevant,)
        The largest precision of the part from each relevant document on.
    tail : Law
        Of what comes below.
    """

    worth: FloatArray
    tail: Law

    @classmethod
    def of(cls, n: IntArray, hi: IntArray, found: IntArray, tail: Law) -> _Pure:
        from_here = np.maximum.accumulate((found / hi)[::-1])[::-1]
        return cls(np.repeat(from_here, n), tail)

    def law(self, document: int) -> Law:
        return self.tail.at_least(self.worth[document])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        values, below = self.tail
        most = values[-1]
        at = np.searchsorted(values, self.worth, side="right")
        # what is worth more than each value, as deviations from the most of all
        chance = np.diff(below, prepend=0.0)
        off = values - most
        above = np.append(np.cumsum((chance * off)[::-1])[::-1], 0.0)[at]
        above2 = np.append(np.cumsum((chance * off**2)[::-1])[::-1], 0.0)[at]
        here = np.append(0.0, below)[at]
        deviation = self.worth - most
        mean = here * deviation + above
        variance = here * deviation**2 + above2 - mean**2
        mean = np.where(at == len(values), self.worth, most + mean)
        return mean, np.maximum(variance, 0.0)


@dataclass(eq=False)
class _Mixed:
    """A group of relevant and other documents.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Ascending.
    below : ndarray of shape (n_relevant, n_values)
        P(nothing from each relevant document on is worth more than each value).
    """

    values: FloatArray
    below: FloatArray

    @classmethod
    def of(cls, lo: int, n: int, r: int, above: int, tail: Law) -> _Mixed:
        x = np.arange(1, r + 1)[:, None]
        worth = (above + x) / (lo + x + np.arange(n - r + 1))
        # the last of them is worth that much at the least, and so are all
        least = max((above + r) / (lo + n), float(tail.values[0]))
        own = np.append(least, np.unique(worth[worth > least]))
        exceeded = np.cumsum(_last_above(lo, n, r, above, own)[::-1], axis=0)[::-1]
        kept = np.clip(1.0 - exceeded, 0.0, 1.0)
        values = np.union1d(own, tail.values[tail.values > least])
        of_tail = np.searchsorted(tail.values, values, side="right") - 1
        of_own = np.searchsorted(own, values, side="right") - 1
        return cls(values, kept[:, of_own] * tail.below[of_tail])

    def law(self, document: int) -> Law:
        below = self.below[document]
        end = int(np.argmax(below == 1.0)) + 1
        return Law(self.values[:end], below[:end])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        values, below = self.values, self.below
        mean = values[-1] - (below[:, :-1] * np.diff(values)).sum(axis=1)
        chance = np.diff(below, prepend=0.0, axis=1)
        variance = (chance * (values - mean[:, None]) ** 2).sum(axis=1)
        return mean, np.maximum(variance, 0.0)


def _last_above(lo: int, n: int, r: int, above: int, t: FloatArray) -> FloatArray:
    """P(the last document worth more than t is the x-th relevant one of a mixed group).

    Of shape (r, len(t)). That is C(d, x) u_x / C(n, r): u_x counts the ways to place
    those below so that none is worth more than t, all C(n - d, r - x) ways less those
    with a last one that is.
    """
    x = np.arange(1, r + 1)[:, None]
    d = _places_above(lo, n, above + x, t)
    choose = _binomials(n, r)
    # fewer than x places, and the x-th is never worth more than t
    ways = np.where(d < x, 0.0, choose[r - x, n - d])
    row, flat = (n + 1) * x, choose.ravel()
    for i in range(r - 2, -1, -1):
        at = d[i + 1 :] - d[i]
        at += row[: r - 1 - i]
        less = (flat[at] * ways[i + 1 :]).sum(axis=0)
        ways[i] -= np.where(d[i] > i, less, 0.0)
    return np.asarray(np.maximum(ways, 0.0) * choose[x, d] / choose[r, n])


def _places_above(lo: int, n: int, found: IntArray, t: FloatArray) -> IntArray:
    """At how many of n places below rank `lo` a document is worth more than t."""
    d: IntArray = np.clip(np.ceil(found / t) - (lo + 1), 0, n).astype(np.int64)
    # what is rounded may be off by one; equal fractions are equal floats
    d += (d < n) & (found / (lo + d + 1) > t)
    d -= (d > 0) & ~(found / np.maximum(lo + d, 1) > t)
    return d


def _binomials(n: int, r: int) -> FloatArray:
    """C(m, k) for k up to r and m up to n, of shape (r + 1, n + 1)."""
    m = np.arange(n + 1.0)
    rows = [np.ones(n + 1)]
    for k in range(1, r + 1):
        rows.append(rows[-1] * np.maximum(m - (k - 1), 0.0) / k)
    return np.array(rows)


class RelevantInTies:
    """The relevant documents of a query, and what is worked out of them.

    What is averaged are precisions interpolated from relevant documents on, `depths`
    by number from 1 and ascending, with `weights`; 0 for those not retrieved.

    Parameters
    ----------
    lo, n, r, above : ndarray of shape (n_groups,)
        The groups that hold relevant documents, from the top: documents above each,
        its documents, the relevant ones of these, and relevant ones above it.
    """

    def __init__(self, lo: IntArray, n: IntArray, r: IntArray, above: IntArray) -> None:
        self.lo, self.n, self.r, self.above = lo, n, r, above
        self._is_mixed = r < n
        #: retrieved
        self.total = int(r.sum())
        #: what exact values cost
        self.cost = int((n * r)[self._is_mixed].sum())
        self.is_long = self.cost > REACH
        self._averages: dict[bytes, tuple[float, float]] = {}

    def mean(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_long:
            return self._sampled(depths, weights)[0]
        return float((weights * self._moments[0][self._at(depths)]).sum())

    def variance(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_estimate(depths):
            return self._sampled(depths, weights)[1]
        if not self._is_mixed.any():
            return 0.0
        return float(self._moments[1][self._at(depths)[0]])

    def is_estimate(self, depths: IntArray) -> bool:
        """Whether the variance comes from sampled orders."""
        return self.is_long or (bool(self._is_mixed.any()) and len(depths) > 1)

    def error(self, depths: IntArray, weights: FloatArray) -> float:
        """Standard error of the mean."""
        if not self.is_long:
            return 0.0
        return math.sqrt(self.variance(depths, weights) / self._n_orders)

    def law(self, depth: int) -> Law:
        """What precision interpolated at one depth can be; not for long ties."""
        for first, part in self._parts():
            if depth > first:
                return (
                    part.law(depth - 1 - first) if depth <= self.total else _NO_DOCUMENT
                )
        return _NO_DOCUMENT

    def _at(self, depths: IntArray) -> IntArray:
        """Numbers from 0, and `total` for what is not retrieved."""
        return np.minimum(depths - 1, self.total)

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance from each relevant document on, and 0 behind the last.

        Not for long ties.
        """
        out = np.zeros((2, self.total + 1))
        for first, part in self._parts():
            moments = np.array(part.moments())
            out[:, first : first + moments.shape[1]] = moments
        return out[0], out[1]

    def _parts(self) -> Iterator[tuple[int, _Part]]:
        """From the last to the first: each mixed group, and runs of pure ones.

        With the number of relevant documents above it.
        """
        tail = _NO_DOCUMENT
        starts, sizes = runs(self._is_mixed)
        for start, size in zip(
            starts[::-1].tolist(), sizes[::-1].tolist(), strict=True
        ):
            step = 1 if self._is_mixed[start] else size
            for at in range(start + size - step, start - 1, -step):
                part = self._part(slice(at, at + step), tail)
                yield int(self.above[at]), part
                tail = part.law(0)

    def _part(self, own: slice, tail: Law) -> _Part:
        lo, n, r, above = self.lo[own], self.n[own], self.r[own], self.above[own]
        if self._is_mixed[own.start]:
            return _Mixed.of(int(lo[0]), int(n[0]), int(r[0]), int(above[0]), tail)
        return _Pure.of(n, lo + n, above + n, tail)

    @property
    def _n_orders(self) -> int:
        return n_orders(self.total)

    def _sampled(self, depths: IntArray, weights: FloatArray) -> tuple[float, float]:
        """Mean and variance over sampled orders, which are the same for all depths."""
        if len(depths) == 1:
            means, variances = self._sampled_moments
            at = self._at(depths)[0]
            return float(weights[0] * means[at]), float(weights[0] ** 2 * variances[at])
        key = depths.tobytes() + weights.tobytes()
        if key not in self._averages:
            there = depths <= self.total
            at, weight = depths[there] - 1, weights[there]
            values = np.concatenate(
                [(part[:, at] * weight).sum(axis=1) for part in self._orders()]
            )
            self._averages[key] = float(values.mean()), float(values.var(ddof=1))
        return self._averages[key]

    @cached_property
    def _sampled_moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances over sampled orders, 0 for what is not retrieved."""
        total, squares, near = np.zeros((3, self.total))
        for i, part in enumerate(self._orders()):
            if not i:
                near = part.mean(axis=0)
            # deviations from about the mean
            part -= near
            total += part.sum(axis=0)
            squares += np.square(part, out=part).sum(axis=0)
        mean = total / self._n_orders
        variance = (squares - mean * total) / (self._n_orders - 1)
        return np.append(near + mean, 0.0), np.append(np.maximum(variance, 0.0), 0.0)

    def _orders(self) -> Iterator[FloatArray]:
        """Interpolated precisions in sampled orders, (orders, total), part by part."""
        columns = self.lo, self.n, self.r, self.above
        rng = generator(*columns)
        groups = list(zip(*(column.tolist() for column in columns), strict=True))
        step = max(_CELLS // max(self.total, 1), 1)
        for at in range(0, self._n_orders, step):
            orders = min(step, self._n_orders - at)
            ranks = np.empty((orders, self.total))
            for lo, n, r, above in groups:
                places = places_of_some(rng, n, r, orders)
                np.add(lo, places, out=ranks[:, above : above + r])
            precision = np.divide(np.arange(1, self.total + 1), ranks, out=ranks)
            reverse = precision[:, ::-1]
            yield np.maximum.accumulate(reverse, axis=1, out=reverse)[:, ::-1]


@once_per_block
def relevant_in_ties(groups: TieGroups, rel: float) -> list[RelevantInTies]:
    """Of each query. Equal ones are one, and so share what is worked out of them."""
    holding, per_query = groups.holding(rel)
    r, above = groups.relevant(rel)[holding], groups.relevant_above(rel)[holding]
    columns = np.array([groups.lo[holding], groups.n[holding], r, above])
    # chance levels are those of queries that tie as a whole
    of_chance: dict[bytes, RelevantInTies] = groups.everything.memo.setdefault(
        "relevant in ties, all tied", {}
    )
    known: dict[bytes, RelevantInTies] = {}
    out = []
    ends = np.cumsum(per_query).tolist()
    for start, end in zip([0, *ends], ends, strict=False):
        own = columns[:, start:end]
        there = of_chance if end - start == 1 and not own[0, 0] else known
        out.append(there.setdefault(own.tobytes(), RelevantInTies(*own)))
    return out
