"""Interpolated precision, at one recall level and averaged over many."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from .._engine.validation import check_choice
from ._base import Measure, relevance, set_number
from ._distribution import Distribution
from ._sampled_places import generator, n_orders, places_of

_ROUNDING = ("up", "nearest", "trec_eval9")
#: beyond this Σ n r over the mixed groups of a query, orders are sampled
_REACH = 10_000


class _Ties(NamedTuple):
    """The groups of one query that hold relevant documents, from the top.

    `above` counts relevant documents above a group of n documents, r of them
    relevant, at offset lo.
    """

    lo: IntArray
    n: IntArray
    r: IntArray
    above: IntArray

    @property
    def mixed(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return self.r < self.n


class _Sampled(NamedTuple):
    """Values over sampled orders."""

    mean: float
    variance: float
    orders: int


class _Query:
    """Interpolated precision of one query, worked out as far as it is asked for."""

    def __init__(self, ties: _Ties, depths: IntArray, weights: FloatArray) -> None:
        self._ties = ties
        self._depths = depths
        self._weights = weights
        self.mixed = bool(ties.mixed.any())
        #: the walk over all orders that matter would be too long
        self.cost = int((ties.n * ties.r)[ties.mixed].sum())
        self.is_long = self.cost > _REACH

    @cached_property
    def distribution(self) -> tuple[FloatArray, FloatArray]:
        return _distribution(self._ties, self._depths)

    @cached_property
    def sampled(self) -> _Sampled:
        return _sample(self._ties, self._depths, self._weights)

    def means(self) -> FloatArray:
        """Mean at each depth; not for long ties."""
        if not self.mixed:
            return _plain(self._ties, self._depths)
        grid, below = self.distribution
        return np.asarray(grid[-1] - (below[:, :-1] * np.diff(grid)).sum(axis=1))

    def mean(self) -> float:
        if self.is_long:
            return self.sampled.mean
        return float((self._weights * self.means()).sum())

    @property
    def estimated(self) -> bool:
        """The variance comes from sampled orders."""
        return self.mixed and (self.is_long or len(self._depths) > 1)

    def variance(self) -> float:
        if not self.mixed:
            return 0.0
        if self.estimated:
            return self.sampled.variance
        grid, below = self.distribution
        chance = np.diff(below[0], prepend=0.0)
        return max(float((chance * (grid - self.means()[0]) ** 2).sum()), 0.0)

    def error(self) -> float:
        if not self.is_long:
            return 0.0
        return float(np.sqrt(self.sampled.variance / self.sampled.orders))


@dataclass(frozen=True)
class _Interpolated(Measure):
    """A weighted mean of precisions interpolated at several depths.

    The precision interpolated at depth c is the largest i/pos_i over i >= c, pos_i
    being the rank of the i-th relevant document (0 where c are not retrieved).
    """

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self._rel())

    @abstractmethod
    def _rel(self) -> float:
        """The label from which a document is relevant."""

    @abstractmethod
    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        """Depths c, ascending, and their weights, for `total` relevant documents."""

    def _queries(self, groups: TieGroups) -> list[_Query | None]:
        """Each query, None without a relevant document."""

        def compute() -> list[_Query | None]:
            r = groups.relevant(self._rel())
            above = groups.relevant_above(self._rel())
            holding = np.flatnonzero(r > 0)
            queries = np.arange(groups.n_queries + 1)
            ends = np.searchsorted(groups.query[holding], queries).tolist()
            totals = groups.total_relevant(self._rel()).tolist()
            out: list[_Query | None] = []
            for query, total in enumerate(totals):
                own = holding[ends[query] : ends[query + 1]]
                ties = _Ties(groups.lo[own], groups.n[own], r[own], above[own])
                out.append(_Query(ties, *self._depths(total)) if total else None)
            return out

        result: list[_Query | None] = groups.memo(("interpolated", self), compute)
        return result

    def _column(self, groups: TieGroups, of: Callable[[_Query], float]) -> FloatArray:
        queries = self._queries(groups)
        return np.array([0.0 if q is None else of(q) for q in queries])

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.mean)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.variance)

    def standard_error(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.error)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, lambda query: float(query.estimated))

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return groups.total_relevant(self._rel()) > 0


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
    recall: float
    rel: float = 1.0
    rounding: str = "up"

    def __post_init__(self) -> None:
        set_number(self, "recall", least=0, most=1)
        set_number(self, "rel", above=0)
        check_choice(self.rounding, "rounding", _ROUNDING)

    def __str__(self) -> str:
        return f"{super().__str__()}@{self.recall!r}"

    def _is_shown(self, field: Any) -> bool:
        return field.name != "recall" and super()._is_shown(field)

    def _rel(self) -> float:
        return self.rel

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        return np.array([_depth(self.recall, total, self.rounding)]), np.ones(1)

    def distributions(self, groups: TieGroups) -> list[Distribution]:
        out = []
        for query in self._queries(groups):
            if query is None:
                out.append(Distribution.undefined())
                continue
            if query.is_long:
                raise ValueError(
                    f"the distribution of {self} is too large for ties of which n r "
                    f"is {query.cost} in a query, more than {_REACH} (sampled() "
                    "estimates it)"
                )
            grid, below = query.distribution
            out.append(Distribution.of(grid, np.diff(below[0], prepend=0.0)))
        return out


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
    points: Any = 11
    rel: float = 1.0
    rounding: str = "up"

    def __post_init__(self) -> None:
        whole = isinstance(self.points, (int, np.integer))
        whole = whole and not isinstance(self.points, bool)
        whole = whole and 2 <= self.points <= 1001
        if not (whole or (isinstance(self.points, str) and self.points == "all")):
            raise ValueError(
                'points must be an integer from 2 to 1001 or "all", got '
                f"{self.points!r}"
            )
        if whole:
            object.__setattr__(self, "points", int(self.points))
        set_number(self, "rel", above=0)
        check_choice(self.rounding, "rounding", _ROUNDING)

    def _rel(self) -> float:
        return self.rel

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        if self.points == "all":
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


def _plain(ties: _Ties, depths: IntArray) -> FloatArray:
    """Interpolated precisions where no order is open."""
    out = np.zeros(len(depths))
    if len(ties.r):
        # within a group of relevant documents precision grows
        ends = (ties.above + ties.r) / (ties.lo + ties.n)
        from_here = np.maximum.accumulate(ends[::-1])[::-1]
        at = np.searchsorted(ties.above + ties.r, depths)
        there = at < len(ends)
        out[there] = from_here[at[there]]
    return out


def _distribution(ties: _Ties, depths: IntArray) -> tuple[FloatArray, FloatArray]:
    """Attainable values, ascending from 0, and P(value <= each) for each depth.

    Groups are independent. Inside a mixed group, P(nothing from here on exceeds t)
    is a walk from its end to its start over (place, relevant so far), the next
    document being relevant with chance (r - x)/(n - y). The walk of a depth begins
    where its relevant document stands. Design, section 5.8.
    """
    rows = [tuple(map(int, row)) for row in zip(*ties, strict=True)]
    values = [np.zeros(1)]
    for lo, n, r, above in rows:
        if r == n:
            values.append(np.array([(above + r) / (lo + n)]))
        else:
            x = np.arange(1, r + 1)[:, None]
            y = x + np.arange(n - r + 1)
            values.append(((above + x) / (lo + y)).ravel())
    grid = np.unique(np.concatenate(values))
    below = np.ones((len(depths), len(grid)))
    tail = np.ones(len(grid))
    for lo, n, r, above in reversed(rows):
        own = np.flatnonzero((depths > above) & (depths <= above + r))
        if r == n:
            tail = tail * (grid >= (above + r) / (lo + n))
            below[own] = tail
        else:
            tail = _walk(lo, n, r, above, grid, tail, depths[own] - above, below, own)
    return grid, below


def _walk(
    lo: int,
    n: int,
    r: int,
    above: int,
    grid: FloatArray,
    tail: FloatArray,
    wanted: IntArray,
    below: FloatArray,
    rows: IntArray,
) -> FloatArray:
    """Walk up a mixed group; fills `below[rows]` for the `wanted` documents.

    Returns P(nothing from the start of the group on exceeds t).
    """
    x = np.arange(r)
    # chance of x relevant documents among the first y
    found = np.zeros((n + 1, r + 1))
    found[0, 0] = 1.0
    for y in range(n):
        up = np.clip((r - np.arange(r + 1)) / (n - y), 0, 1)
        found[y + 1] = found[y] * (1 - up)
        found[y + 1, 1:] += (found[y] * up)[:-1]
    below[rows] = 0.0
    wanted_here = list(zip(rows.tolist(), (wanted - 1).tolist(), strict=True))
    state = np.zeros((r + 1, len(grid)))
    state[r] = tail
    stepped, stayed = np.empty((2, r, len(grid)))
    for y in range(n - 1, -1, -1):
        up = np.clip((r - x) / (n - y), 0, 1)
        # a relevant document here is worth this much: nothing below it remains
        np.copyto(stepped, state[1:])
        worth = np.searchsorted(grid, (above + x + 1) / (lo + y + 1)).tolist()
        for document, first in enumerate(worth):
            stepped[document, :first] = 0.0
        for row, here in wanted_here:
            if found[y, here] > 0:
                below[row] += (found[y, here] * up[here]) * stepped[here]
        np.multiply(stepped, up[:, None], out=stepped)
        np.multiply(state[:r], (1 - up)[:, None], out=stayed)
        np.add(stepped, stayed, out=state[:r])
    return np.asarray(state[0])


def _sample(ties: _Ties, depths: IntArray, weights: FloatArray) -> _Sampled:
    rng = generator(*ties, depths, weights)
    total = int(ties.r.sum())
    orders = n_orders(total)
    mixed = ties.mixed.tolist()
    parts = []
    for lo, n, r, is_mixed in zip(
        ties.lo.tolist(), ties.n.tolist(), ties.r.tolist(), mixed, strict=True
    ):
        own = places_of(rng, n, r, orders) if is_mixed else np.arange(1, n + 1)
        parts.append(np.broadcast_to(lo + own, (orders, r)))
    precision = np.arange(1, total + 1) / np.concatenate(parts, axis=1)
    from_here = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    there = depths <= total
    values = (from_here[:, depths[there] - 1] * weights[there]).sum(axis=1)
    return _Sampled(float(values.mean()), float(values.var(ddof=1)), orders)
