"""Interpolated precision, at one recall level and averaged over many."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups, once_per_block
from .._engine.validation import is_number
from ._base import BoolArray, Outcomes, RelevanceMeasure
from ._fields import choice, number
from ._sampled_places import generator, n_orders, places_of

_ROUNDING = ("up", "nearest", "trec_eval9")
#: beyond this Σ n r over the mixed groups of a query, orders are sampled
_REACH = 10_000


@dataclass(eq=False)
class _Query:
    """Interpolated precision of one query, worked out as far as it is asked for.

    Attributes
    ----------
    lo, n, r, above : ndarray of shape (n_groups,)
        The groups that hold relevant documents, from the top: documents above each,
        its documents, the relevant ones of these, and relevant ones above it.
    depths, weights : ndarray of shape (n_depths,)
        What is averaged, as `_Interpolated._depths` has it.
    """

    lo: IntArray
    n: IntArray
    r: IntArray
    above: IntArray
    depths: IntArray
    weights: FloatArray

    def __post_init__(self) -> None:
        mixed = self.r < self.n
        self.is_mixed = bool(mixed.any())
        #: the walk over all orders that matter would be too long
        self.cost = int((self.n * self.r)[mixed].sum())
        self.is_long = self.cost > _REACH
        #: the variance comes from sampled orders
        self.estimated = self.is_long or (self.is_mixed and len(self.depths) > 1)

    def _groups(self) -> list[tuple[int, int, int, int]]:
        columns = (a.tolist() for a in (self.lo, self.n, self.r, self.above))
        return list(zip(*columns, strict=True))

    def chances(self) -> tuple[FloatArray, FloatArray]:
        """Values at the first depth and their chances; not for long ties."""
        grid, below = self._distribution
        return grid, np.diff(below[0], prepend=0.0)

    def means(self) -> FloatArray:
        """Mean at each depth; not for long ties."""
        if not self.is_mixed:
            # within a group of relevant documents precision grows
            ends = (self.above + self.r) / (self.lo + self.n)
            from_here = np.maximum.accumulate(ends[::-1])[::-1]
            at = np.searchsorted(self.above + self.r, self.depths)
            return np.append(from_here, 0.0)[at]
        grid, below = self._distribution
        return np.asarray(grid[-1] - (below[:, :-1] * np.diff(grid)).sum(axis=1))

    def mean(self) -> float:
        if self.is_long:
            return float(self._sampled.mean())
        return float((self.weights * self.means()).sum())

    def variance(self) -> float:
        if self.estimated:
            return float(self._sampled.var(ddof=1))
        if not self.is_mixed:
            return 0.0
        values, chance = self.chances()
        return max(float((chance * (values - self.means()[0]) ** 2).sum()), 0.0)

    def error(self) -> float:
        return math.sqrt(self.variance() / len(self._sampled)) if self.is_long else 0.0

    @cached_property
    def _distribution(self) -> tuple[FloatArray, FloatArray]:
        """Attainable values, ascending from 0, and P(value <= each) for each depth.

        Groups are independent. Inside a mixed group, P(nothing from here on exceeds t)
        is a walk from its end to its start over (place, relevant so far), the next
        document being relevant with chance (r - x)/(n - y). The walk of a depth begins
        where its relevant document stands. Design, section 5.8.
        """
        values = [np.zeros(1)]
        for lo, n, r, above in self._groups():
            x = np.arange(1, r + 1)[:, None]
            worth = (above + x) / (lo + x + np.arange(n - r + 1))
            # within a group of relevant documents precision grows
            values.append(worth[-1] if r == n else worth.ravel())
        grid = np.unique(np.concatenate(values))
        below = np.ones((len(self.depths), len(grid)))
        tail = np.ones(len(grid))
        for lo, n, r, above in reversed(self._groups()):
            own = np.flatnonzero((self.depths > above) & (self.depths <= above + r))
            if r == n:
                tail = tail * (grid >= (above + r) / (lo + n))
                below[own] = tail
            else:
                wanted = (self.depths[own] - above - 1).tolist()
                tail, below[own] = _walk(lo, n, r, above, grid, tail, wanted)
        return grid, below

    @cached_property
    def _sampled(self) -> FloatArray:
        """Weighted means of interpolated precisions in sampled orders."""
        depths, weights = self.depths, self.weights
        rng = generator(self.lo, self.n, self.r, self.above, depths, weights)
        total = int(self.r.sum())
        orders = n_orders(total)
        parts = []
        for lo, n, r, _ in self._groups():
            own = np.arange(1, n + 1) if r == n else places_of(rng, n, r, orders)
            parts.append(np.broadcast_to(lo + own, (orders, r)))
        precision = np.arange(1, total + 1) / np.concatenate(parts, axis=1)
        from_here = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
        there = depths <= total
        values = from_here[:, depths[there] - 1] * weights[there]
        return np.asarray(values.sum(axis=1))


@dataclass(frozen=True)
class _Interpolated(RelevanceMeasure):
    """A weighted mean of precisions interpolated at several depths.

    The precision interpolated at depth c is the largest i/pos_i over i >= c, pos_i
    being the rank of the i-th relevant document (0 where c are not retrieved).
    """

    @abstractmethod
    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        """Depths c, ascending, and their weights, for `total` relevant documents."""

    @once_per_block
    def _queries(self, groups: TieGroups) -> list[_Query | None]:
        """Each query, None without a relevant document."""
        holding, per_query = groups.holding(self.rel)
        r, above = groups.relevant(self.rel), groups.relevant_above(self.rel)
        out: list[_Query | None] = []
        for own, total in zip(
            np.split(holding, np.cumsum(per_query)),
            groups.total_relevant(self.rel).tolist(),
            strict=False,  # nothing comes after the last query
        ):
            ties = groups.lo[own], groups.n[own], r[own], above[own]
            out.append(_Query(*ties, *self._depths(total)) if total else None)
        return out

    def _column(self, groups: TieGroups, of: Callable[[_Query], float]) -> FloatArray:
        queries = self._queries(groups)
        return np.array([0.0 if q is None else of(q) for q in queries])

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.mean)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.variance)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.error)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, lambda query: float(query.estimated))

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) > 0


@dataclass(frozen=True)
class InterpolatedPrecision(_Interpolated):
    """Interpolated precision: the best precision at a recall of `recall` or more.

    Parameters
    ----------
    recall : float
        Recall level in [0, 1], written after @ in names: ``IPrec@0.1``.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        How recall R becomes a number of documents: ⌈recall R⌉; the nearest one, as
        in trec_eval 10; or the whole part of recall R + 0.9 in floats, as in
        trec_eval 9, which now and then is one less than ⌈recall R⌉.

    Raises
    ------
    ValueError
        For a recall outside [0, 1], rel <= 0 or an unknown rounding.

    Notes
    -----
    Undefined for queries without a relevant document. With R of them, it is the
    largest i/(rank of the i-th relevant document) over i >= max(1, ⌈recall R⌉), in
    exact arithmetic: 0.1 is a tenth. Manning, Raghavan and Schütze (2008), section
    8.4. Mean, standard deviation and distribution under ties are exact where Σ n r
    over tie groups of n documents, r of them relevant, is at most 10,000 (groups of
    relevant documents only are free); beyond, they are estimates from 100 to 1,000
    sampled orders, with their standard error in reports.

    Examples
    --------
    >>> from tieaware_sklearn import InterpolatedPrecision, ranking_score
    >>> ranking_score([0, 1, 1], [3, 2, 1], measure=InterpolatedPrecision(0.5))
    0.6666666666666666
    """

    name: ClassVar[str] = "IPrec"
    at: ClassVar[str] = "recall"
    example: ClassVar[str] = "IPrec@0.1"
    recall: float = number(least=0, most=1)
    rel: float = number(1.0, above=0)
    rounding: str = choice(*_ROUNDING)

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        return np.array([_depth(self.recall, total, self.rounding)]), np.ones(1)

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for number_of_query, query in enumerate(self._queries(groups)):
            if query is None:
                continue
            if query.is_long:
                raise ValueError(
                    f"the distribution of {self} is too large for ties of which n r "
                    f"is {query.cost} in a query, more than {_REACH} (sampled() "
                    "estimates it)"
                )
            yield number_of_query, *query.chances()


def _points(value: Any, name: str) -> int | str:
    if isinstance(value, str) and value == "all":
        return value
    if isinstance(value, numbers.Integral) and is_number(value, least=2, most=1001):
        return int(value)
    raise ValueError(
        f'{name} must be an integer from 2 to 1001 or "all", got {value!r}'
    )


@dataclass(frozen=True)
class InterpolatedAveragePrecision(_Interpolated):
    """Interpolated precision averaged over recall levels: 11 points, or all.

    Parameters
    ----------
    points : int or "all", default=11
        Evenly spaced recall levels from 0 to 1; "all" takes every relevant
        document of the query as a level (all-point interpolation).
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        See `InterpolatedPrecision`.

    Raises
    ------
    ValueError
        For fewer than two points or more than 1,001, rel <= 0 or an unknown rounding.

    Notes
    -----
    Undefined for queries without a relevant document. Salton and McGill (1983);
    the 11 points are those of TREC, all points those of PASCAL VOC since 2010. The
    mean under ties is exact as for `InterpolatedPrecision`; the standard deviation
    is an estimate from 100 to 1,000 sampled orders wherever ties matter.

    Examples
    --------
    >>> from tieaware_sklearn import InterpolatedAveragePrecision, ranking_score
    >>> ranked = [1, 0, 1, 0, 0, 1]
    >>> measure = InterpolatedAveragePrecision()
    >>> round(ranking_score(ranked, [6, 5, 4, 3, 2, 1], measure=measure), 4)
    0.7273
    """

    name: ClassVar[str] = "IAP"
    points: int | str = field(default=11, metadata={"check": _points})
    rel: float = number(1.0, above=0)
    rounding: str = choice(*_ROUNDING)

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        if isinstance(self.points, str):
            return np.arange(1, total + 1), np.full(total, 1 / total)
        last = self.points - 1
        levels = [
            _depth(Fraction(step, last), total, self.rounding)
            for step in range(self.points)
        ]
        depths, counts = np.unique(levels, return_counts=True)
        return depths, counts / self.points


def _depth(recall: float | Fraction, total: int, rounding: str) -> int:
    """Relevant documents that make up a recall, at least one."""
    if rounding != "up":
        added = 0.9 if rounding == "trec_eval9" else 0.5
        return max(int(float(recall) * total + added), 1)
    exact = Fraction(repr(recall)) if isinstance(recall, float) else recall
    return max(math.ceil(exact * total), 1)


def _walk(
    lo: int,
    n: int,
    r: int,
    above: int,
    grid: FloatArray,
    tail: FloatArray,
    wanted: list[int],
) -> tuple[FloatArray, FloatArray]:
    """P(nothing from the start of a mixed group on exceeds t), by a walk up the group.

    And the same from each of the `wanted` of its relevant documents on, counted from 0.
    """
    x = np.arange(r + 1)
    up = np.clip((r - x) / (n - np.arange(n))[:, None], 0, 1)
    # chance of x relevant documents among the first y
    found = np.zeros((n + 1, r + 1))
    found[0, 0] = 1.0
    for y in range(n):
        found[y + 1] = found[y] * (1 - up[y])
        found[y + 1, 1:] += (found[y] * up[y])[:-1]
    below = np.zeros((len(wanted), len(grid)))
    state = np.zeros((r + 1, len(grid)))
    state[r] = tail
    stepped, stayed = np.empty((2, r, len(grid)))
    for y in reversed(range(n)):
        # a relevant document here is worth this much: nothing below it remains
        np.copyto(stepped, state[1:])
        worth = np.searchsorted(grid, (above + x[1:]) / (lo + y + 1)).tolist()
        for document, first in enumerate(worth):
            stepped[document, :first] = 0.0
        for row, here in enumerate(wanted):
            if found[y, here] > 0:
                below[row] += (found[y, here] * up[y, here]) * stepped[here]
        np.multiply(stepped, up[y, :r, None], out=stepped)
        np.multiply(state[:r], (1 - up[y, :r])[:, None], out=stayed)
        np.add(stepped, stayed, out=state[:r])
    return state[0], below
