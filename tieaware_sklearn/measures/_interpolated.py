"""Interpolated precision, its average, and their distributions under ties.

Seeded random orders of tied documents, for what has no closed form.

A seed comes from what is sampled and from nothing else: the same ties give the
same numbers, whatever stands before or beside them.

Mean, variance and distribution of interpolated precision under ties.

The i-th relevant document, at rank pos_i, has precision i/pos_i; from document c on,
the value is the largest of these over i >= c. Groups are independent, and are taken
from the last to the first: the *distribution* of what comes from a place on is all
that those above need. Inside a mixed group, "something from its x-th relevant document
on is worth more than t" is cut up by the *last* document that is. For it to be the
j-th, which is worth more than t at the first d_j places, j relevant documents must
stand at just those d_j places, and each later one below its own d: a recursion over
pairs of relevant documents, for all t at once. About n r values of t make that n r³
operations, where a walk over places takes (n r)².
"""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._engine import segments
from .._engine.tie_groups import TieGroups, once_per_block
from .._kernel import engines
from .._typing import BoolArray, FloatArray, IntArray
from . import _measure, _places, _sampled_orders

#: orders are sampled if Σ n r over the mixed groups of a query is larger; binomials of
#: smaller groups fit floats
REACH = 10_000
#: smaller chances come from rounding
_NOTHING = 1e-14


class Values(NamedTuple):
    """Values, ascending, and P(value <= each), of which the last is 1."""

    values: FloatArray
    below: FloatArray

    def chances(self) -> FloatArray:
        """The chance of each value."""
        chances = np.diff(self.below, prepend=0.0)
        chances[chances < _NOTHING] = 0.0
        return chances


#: the distribution below the last group
_NO_DOCUMENT = Values(np.zeros(1), np.ones(1))


class _Pure:
    """Groups of relevant documents alone: within them precision grows.

    Attributes
    ----------
    worth : ndarray of shape (n_relevant,)
        The largest precision of the part from each relevant document on.
    tail : Values
        Of what comes below.
    """

    def __init__(self, columns: IntArray, tail: Values) -> None:
        lo, n, _, above = columns
        from_here = np.maximum.accumulate(((above + n) / (lo + n))[::-1])[::-1]
        self.worth, self.tail = np.repeat(from_here, n), tail

    def distribution(self, document: int) -> Values:
        """From the relevant document with this number in the part on."""
        # the larger of the worth of the document and of what comes below
        least, (values, below) = self.worth[document], self.tail
        at = int(np.searchsorted(values, least, side="right"))
        if not at:
            return self.tail
        return Values(np.append(least, values[at:]), below[at - 1 :])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance from each relevant document on."""
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


class _Mixed:
    """A group of relevant and other documents.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Ascending.
    below : ndarray of shape (n_relevant, n_values)
        P(nothing from each relevant document on is worth more than each value).
    """

    def __init__(self, lo: int, n: int, r: int, above: int, tail: Values) -> None:
        x = np.arange(1, r + 1)[:, None]
        worth = (above + x) / (lo + x + np.arange(n - r + 1))
        # the last of them is worth that much at the least, and so are all
        least = max((above + r) / (lo + n), float(tail.values[0]))
        distinct = np.append(least, np.unique(worth[worth > least]))
        last = _last_above(lo, n, r, above, distinct)
        below = np.clip(1.0 - np.cumsum(last[::-1], axis=0)[::-1], 0.0, 1.0)
        self.values = np.union1d(distinct, tail.values[tail.values > least])
        of_tail = np.searchsorted(tail.values, self.values, side="right") - 1
        of_group = np.searchsorted(distinct, self.values, side="right") - 1
        self.below = below[:, of_group] * tail.below[of_tail]

    def distribution(self, document: int) -> Values:
        """As of `_Pure`."""
        below = self.below[document]
        end = int(np.argmax(below == 1.0)) + 1
        return Values(self.values[:end], below[:end])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """As of `_Pure`."""
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
    return np.maximum(ways, 0.0) * choose[x, d] / choose[r, n]


def _places_above(lo: int, n: int, i: IntArray, t: FloatArray) -> IntArray:
    """At how many of n places below rank `lo` a document is worth more than t."""
    d = np.clip(np.ceil(i / t) - (lo + 1), 0, n).astype(np.int64)
    # what is rounded may be off by one; equal fractions are equal floats
    d += (d < n) & (i / (lo + d + 1) > t)
    d -= (d > 0) & ~(i / np.maximum(lo + d, 1) > t)
    return d


def _binomials(n: int, r: int) -> FloatArray:
    """C(m, k) for k up to r and m up to n, of shape (r + 1, n + 1)."""
    m = np.arange(n + 1.0)
    rows = [np.ones(n + 1)]
    for k in range(1, r + 1):
        rows.append(rows[-1] * np.maximum(m - (k - 1), 0.0) / k)
    return np.array(rows)


class RelevantInTies:
    """The relevant documents of a query, and the moments of their precisions.

    What is averaged are precisions interpolated from relevant documents on, `depths`
    by number from 1 and ascending, with `weights`; 0 for those not retrieved.

    Parameters
    ----------
    columns : ndarray of shape (4, n_groups)
        The groups that hold relevant documents, from the top: documents above each,
        its documents, the relevant ones of these, and relevant ones above it.
    """

    def __init__(self, columns: IntArray) -> None:
        self._columns = columns
        _, n, r, _ = columns
        self._is_mixed = r < n
        self._any_mixed = bool(self._is_mixed.any())
        #: retrieved
        self.total = int(r.sum())
        #: what exact values cost
        self.cost = int((n * r)[self._is_mixed].sum())
        self.is_long = self.cost > REACH
        self._n_orders = _sampled_orders.n_orders(self.total)
        self._averages: dict[bytes, tuple[float, float]] = {}

    def mean(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_long:
            return self._sampled(depths, weights)[0]
        at = np.minimum(depths - 1, self.total)
        return float((weights * self._moments[0][at]).sum())

    def variance(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_estimate(depths):
            return self._sampled(depths, weights)[1]
        if not self._any_mixed:
            return 0.0
        return float(self._moments[1, self._at(depths)])

    def is_estimate(self, depths: IntArray, _: Any = None) -> bool:
        """Whether the variance comes from sampled orders."""
        return self.is_long or (self._any_mixed and len(depths) > 1)

    def error(self, depths: IntArray, weights: FloatArray) -> float:
        """Standard error of the mean."""
        if not self.is_long:
            return 0.0
        return math.sqrt(self.variance(depths, weights) / self._n_orders)

    def distribution(self, depth: int) -> Values:
        """The distribution of precision interpolated at a depth; not for long ties."""
        if depth <= self.total:
            for first, part in self._parts():
                if depth > first:
                    return part.distribution(depth - 1 - first)
        return _NO_DOCUMENT

    def _at(self, depths: IntArray) -> int:
        """The number of the first from 0, `total` for what is not retrieved."""
        return min(depths.item(0) - 1, self.total)

    @cached_property
    def _moments(self) -> FloatArray:
        """Mean and variance from each relevant document on, and 0 behind the last.

        Not for long ties.
        """
        out = np.zeros((2, self.total + 1))
        if engines.engine == "compiled":
            engines.compiled.interpolated(self._columns, out)
        else:
            for first, part in self._parts():
                moments = np.array(part.moments())
                out[:, first : first + moments.shape[1]] = moments
        return out

    def _parts(self) -> Iterator[tuple[int, _Pure | _Mixed]]:
        """From the last to the first: each mixed group, and runs of pure ones.

        With the number of relevant documents above it.
        """
        starts = np.flatnonzero(self._is_mixed | segments.begins(self._is_mixed))
        end, tail = len(self._is_mixed), _NO_DOCUMENT
        for start in starts[::-1].tolist():
            lo, n, r, above = self._columns[:, start].tolist()
            part: _Pure | _Mixed
            if r < n:
                part = _Mixed(lo, n, r, above, tail)
            else:
                part = _Pure(self._columns[:, start:end], tail)
            yield above, part
            end, tail = start, part.distribution(0)

    def _sampled(self, depths: IntArray, weights: FloatArray) -> tuple[float, float]:
        """Mean and variance over sampled orders, which are the same for all depths."""
        if len(depths) == 1:
            means, variances = self._sampled_moments
            at = self._at(depths)
            return float(weights[0] * means[at]), float(weights[0] ** 2 * variances[at])
        key = depths.tobytes() + weights.tobytes()
        if key not in self._averages:
            there = depths <= self.total
            places, weight = depths[there] - 1, weights[there]
            sums = [(part[:, places] * weight).sum(axis=1) for part in self._orders()]
            values = np.concatenate(sums)
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
        rng = _sampled_orders.generator(*self._columns)
        groups = self._columns.T.tolist()
        step = max(_places.CELLS // max(self.total, 1), 1)
        for orders in _sampled_orders.parts(self._n_orders, step):
            ranks = np.empty((orders, self.total))
            for lo, n, r, above in groups:
                places = _sampled_orders.fast_places_of(rng, n, r, orders)
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
    known = {}
    out = []
    # nothing is behind the last end
    for of_query in np.split(columns, np.cumsum(per_query), axis=1)[:-1]:
        lo, n, r, _ = of_query
        if len(lo) == 1 and lo[0] == 0 and n[0] * r[0] <= REACH:
            out.append(_one_tie(int(n[0]), int(r[0])))
        else:
            key = of_query.tobytes()
            if key not in known:
                known[key] = RelevantInTies(of_query)
            out.append(known[key])
    return out


@lru_cache(maxsize=4096)
def _one_tie(n: int, r: int) -> RelevantInTies:
    """Of a query that ties as a whole, as for its chance level."""
    return RelevantInTies(np.array([[0], [n], [r], [0]]))


_ROUNDING = ("up", "nearest", "trec_eval9")


#: the relevant documents of a query, and the depths and weights averaged of them
_Query = tuple[RelevantInTies, IntArray, FloatArray]


@dataclass(frozen=True)
class _Interpolated(_measure.RelevanceMeasure):
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
        totals, averaged = groups.total_relevant(self.rel).tolist(), cache(self._depths)
        each = zip(relevant_in_ties(groups, self.rel), totals, strict=True)
        return [(ties, *averaged(total)) if total else None for ties, total in each]

    def _column(self, groups: TieGroups, of: Callable[..., float]) -> FloatArray:
        queries = self._queries(groups)
        return np.array([0.0 if q is None else of(*q) for q in queries])

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, RelevantInTies.mean)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, RelevantInTies.variance)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, RelevantInTies.error)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, RelevantInTies.is_estimate)

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) > 0


@dataclass(frozen=True)
class InterpolatedPrecision(_Interpolated):
    """Interpolated precision: the highest precision at recall `recall` or above.

    Parameters
    ----------
    recall : float
        Recall level in [0, 1]. In names it follows @: ``IPrec@0.1``.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        How to round recall · R, with R relevant documents, to a number of documents.
        "up" gives ⌈recall · R⌉, and "nearest" the nearest integer, as in trec_eval
        10. "trec_eval9" adds 0.9 in floats and rounds down, sometimes to one less
        than ⌈recall · R⌉.

    Raises
    ------
    ValueError
        For a recall outside [0, 1], rel <= 0 or an unknown rounding.

    See Also
    --------
    precision_recall_curve : Interpolated precision at all recall levels.
    InterpolatedAveragePrecision : The average over recall levels.

    Notes
    -----
    Interpolated precision is undefined for queries without a relevant document.
    Otherwise it is the largest i/(rank of the i-th relevant document) over
    i >= max(1, ⌈recall · R⌉). The product is computed in exact arithmetic: 0.1 is a
    tenth. See Manning, Raghavan and Schütze (2008), section 8.4.

    Let a tie group have n documents, r of them relevant. Mean and standard deviation
    under ties are exact if Σ n r over the groups of a query is at most 10,000. Groups
    of relevant documents only do not count. Beyond this limit, both are estimates
    from 100 to 1,000 sampled orders (up to 20 million places of relevant documents).
    Reports state the standard error of the mean. The distribution is an error.

    A query takes up to a tenth of a second, or up to a second with thousands of short
    ties. With 10^6 tied documents, it takes a few seconds and 100 MB. Reports also
    compute the chance level, for which all documents tie. Results that several
    queries, levels or measures share are computed once.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import InterpolatedPrecision
    >>> ranking_score([0, 1, 1], [3, 2, 1], measure=InterpolatedPrecision(0.5))
    0.6666666666666666
    """

    name = "IPrec"
    at = "recall"
    recall: float = _measure.number(least=0, most=1)
    rel: float = _measure.relevant_label()
    rounding: str = _measure.choice(*_ROUNDING)

    def __post_init__(self) -> None:
        if isinstance(self.recall, np.floating):
            # 0.1 of 32 bits is above 1/10, and prints as 0.1
            object.__setattr__(self, "recall", float(str(self.recall)))
        super().__post_init__()

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        return np.array([_depth(self.recall, total, self.rounding)]), np.ones(1)

    def _outcomes(self, groups: TieGroups) -> _measure.Outcomes:
        for number_of_query, query in enumerate(self._queries(groups)):
            if query is None:
                continue
            ties, depths, _ = query
            if ties.is_long:
                raise ValueError(
                    f"the distribution of {self.name} is computed where the sum of n r "
                    "over the tie groups of a query (n documents, r of them relevant) "
                    f"is at most {REACH}, got {ties.cost} (sampled() estimates it)"
                )
            distribution = ties.distribution(int(depths[0]))
            yield number_of_query, distribution.values, distribution.chances()


def _points(value: Any, name: str) -> int | str:
    if isinstance(value, numbers.Integral) and 2 <= int(value) <= 1001:
        return int(value)
    if isinstance(value, str) and value == "all":
        return value
    raise ValueError(
        f'{name} must be an integer from 2 to 1001 or "all", got {value!r}'
    )


@dataclass(frozen=True)
class InterpolatedAveragePrecision(_Interpolated):
    """Interpolated precision averaged over 11 recall levels, or over all.

    Parameters
    ----------
    points : int or "all", default=11
        Number of evenly spaced recall levels from 0 to 1, at most 1,001. "all" has
        one level for each relevant document of the query (all-point interpolation).
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        As in `InterpolatedPrecision`.

    Raises
    ------
    ValueError
        For fewer than two points or more than 1,001, rel <= 0 or an unknown rounding.

    See Also
    --------
    InterpolatedPrecision : Interpolated precision at one recall level.
    precision_recall_curve : Interpolated precision at each recall level.
    AveragePrecision : The average without interpolation.

    Notes
    -----
    The measure is undefined for queries without a relevant document. It is described
    by Salton and McGill (1983). TREC averages over 11 points, and PASCAL VOC over all
    points since 2010. The mean under ties is exact under the same condition as for
    `InterpolatedPrecision`. The standard deviation is an estimate from 100 to 1,000
    sampled orders wherever ties change the value.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import InterpolatedAveragePrecision
    >>> ranked = [1, 0, 1, 0, 0, 1]
    >>> measure = InterpolatedAveragePrecision()
    >>> round(ranking_score(ranked, [6, 5, 4, 3, 2, 1], measure=measure), 4)
    0.7273
    """

    name = "IAP"
    points: int | str = _measure.parameter(11, _points)
    rel: float = _measure.relevant_label()
    rounding: str = _measure.choice(*_ROUNDING)

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        if isinstance(self.points, str):
            return np.arange(1, total + 1), np.full(total, 1 / total)
        recalls = [Fraction(step, self.points - 1) for step in range(self.points)]
        levels = [_depth(recall, total, self.rounding) for recall in recalls]
        depths, counts = np.unique(levels, return_counts=True)
        return depths, counts / self.points


@lru_cache(maxsize=4096)
def _depth(recall: float | Fraction, total: int, rounding: str) -> int:
    """Relevant documents that make up a recall, at least one."""
    if rounding != "up":
        added = 0.9 if rounding == "trec_eval9" else 0.5
        return max(int(float(recall) * total + added), 1)
    exact = Fraction(repr(recall)) if isinstance(recall, float) else recall
    return max(math.ceil(exact * total), 1)
