"""Interpolated precision, its average, and their distributions under ties.

The i-th relevant document, at rank pos_i, has precision i/pos_i. From document c on,
the value is the largest precision over i >= c. Groups, which are independent, are read
from the last to the first, because a group needs only the *distribution* of the value
below it.

Inside a mixed group, the event "a document from the x-th relevant document on has a
precision above t" is split by the *last* such document. The j-th relevant document has
a precision above t at the first d_j places. The j-th relevant document is the last such
document if j relevant documents are at the first d_j places and each later relevant
document, the i-th, is below the first d_i places. The chances follow from a recursion
over pairs of relevant documents, for all t at once. With about n r values of t, the
recursion takes n r³ operations, and a walk over places (n r)².

Values without a closed form are estimated from seeded random orders of tied documents.
The seed depends only on the ties that are sampled, so the same ties give the same
values, whatever is above or beside them.
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

#: Largest Σ n r over the mixed groups of a query for which values are exact. Beyond
#: this limit, orders are sampled. Up to this limit, binomials are finite floats.
REACH = 10_000
#: Limit below which chances are rounding errors.
_NOTHING = 1e-14


class Values(NamedTuple):
    """Ascending values, and for each value v the chance P(value <= v)."""

    values: FloatArray
    below: FloatArray

    def chances(self) -> FloatArray:
        """Return the chance of each value."""
        chances = np.diff(self.below, prepend=0.0)
        chances[chances < _NOTHING] = 0.0
        return chances


#: Distribution of the value below the last group.
_NO_DOCUMENT = Values(np.zeros(1), np.ones(1))


class _Pure:
    """Consecutive groups of only relevant documents, within which precision rises.

    Attributes
    ----------
    precision : ndarray of shape (n_relevant,)
        The largest precision within the groups from each relevant document on.
    tail : Values
        The distribution of the value below the groups.
    """

    def __init__(self, columns: IntArray, tail: Values) -> None:
        lo, n, _, above = columns
        last_precision = (above + n) / (lo + n)
        largest_from = np.maximum.accumulate(last_precision[::-1])[::-1]
        self.precision = np.repeat(largest_from, n)
        self.tail = tail

    def distribution(self, document: int) -> Values:
        """Return the distribution of the value from a relevant document on."""
        # The value is the larger of the document's precision and the value below.
        least = self.precision[document]
        values, below = self.tail
        index = np.searchsorted(values, least, side="right")
        if not index:
            return self.tail
        return Values(np.append(least, values[index:]), below[index - 1 :])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the value from each relevant document on."""
        values, below = self.tail
        largest = values[-1]
        index = np.searchsorted(values, self.precision, side="right")
        # Sums, over the values above each precision, of deviations from the largest
        # value.
        chance = np.diff(below, prepend=0.0)
        deviation = values - largest
        sums = _sums_from(chance * deviation)
        sums = np.append(sums, 0.0)[index]
        squares = _sums_from(chance * deviation**2)
        squares = np.append(squares, 0.0)[index]
        chance_below = np.append(0.0, below)[index]
        deviation = self.precision - largest
        mean = chance_below * deviation + sums
        variance = chance_below * deviation**2 + squares - mean**2
        is_largest = index == len(values)
        mean = np.where(is_largest, self.precision, largest + mean)
        return mean, np.maximum(variance, 0.0)


def _sums_from(terms: FloatArray) -> FloatArray:
    """Return sums along the first axis, from each term to the last."""
    return np.cumsum(terms[::-1], axis=0)[::-1]


class _Mixed:
    """A group of relevant and non-relevant documents.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Ascending values.
    below : ndarray of shape (n_relevant, n_values)
        Chances that no document from each relevant document on exceeds each value.
    """

    def __init__(self, lo: int, n: int, r: int, above: int, tail: Values) -> None:
        x = np.arange(1, r + 1)[:, None]
        precision = (above + x) / (lo + x + np.arange(n - r + 1))
        # The last relevant document, and so each value, has at least this precision.
        least = max((above + r) / (lo + n), tail.values[0])
        larger = np.unique(precision[precision > least])
        distinct = np.append(least, larger)
        last = _last_above(lo, n, r, above, distinct)
        below = np.clip(1.0 - _sums_from(last), 0.0, 1.0)
        self.values = np.union1d(distinct, tail.values[tail.values > least])
        in_tail = np.searchsorted(tail.values, self.values, side="right") - 1
        in_group = np.searchsorted(distinct, self.values, side="right") - 1
        self.below = below[:, in_group] * tail.below[in_tail]

    def distribution(self, document: int) -> Values:
        """Return the distribution of the value from a relevant document on."""
        below = self.below[document]
        end = np.argmax(below == 1.0) + 1
        return Values(self.values[:end], below[:end])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the value from each relevant document on."""
        values, below = self.values, self.below
        lost = below[:, :-1] * np.diff(values)
        mean = values[-1] - lost.sum(axis=1)
        chance = np.diff(below, prepend=0.0, axis=1)
        squares = (values - mean[:, None]) ** 2
        variance = (chance * squares).sum(axis=1)
        return mean, np.maximum(variance, 0.0)


def _last_above(lo: int, n: int, r: int, above: int, t: FloatArray) -> FloatArray:
    """Return the chances that the x-th relevant document is the last above each t.

    A document is above t if its precision is above t. The array has shape (r, len(t)).
    The chance is C(d, x) u_x / C(n, r), where u_x is the number of ways to place the
    later relevant documents so that none is above t: all C(n - d, r - x) ways minus the
    ways in which a later document is the last above t.
    """
    x = np.arange(1, r + 1)[:, None]
    d = _places_above(lo, n, above + x, t)
    # C(m, k) is binomial[k, m].
    m = np.arange(n + 1.0)
    binomial = np.ones((r + 1, n + 1))
    for k in range(1, r + 1):
        binomial[k] = binomial[k - 1] * np.maximum(m - (k - 1), 0.0) / k
    # With fewer than x places, the x-th relevant document is never above t.
    placements = np.where(d < x, 0.0, binomial[r - x, n - d])
    # The flat index of C(m, k) is (n + 1) k + m. A later document j > i, as the last
    # above t, excludes C(d_j - d_i, j - i) ways for each of its own placements.
    row = (n + 1) * x
    flat = binomial.ravel()
    for i in range(r - 2, -1, -1):
        index = d[i + 1 :] - d[i]
        index += row[: r - 1 - i]
        excluded = (flat[index] * placements[i + 1 :]).sum(axis=0)
        placements[i] -= np.where(d[i] > i, excluded, 0.0)
    placements = np.maximum(placements, 0.0)
    return placements * binomial[x, d] / binomial[r, n]


def _places_above(lo: int, n: int, i: IntArray, t: FloatArray) -> IntArray:
    """Return at how many of n places below rank `lo` the precision is above t."""
    places = np.ceil(i / t) - (lo + 1)
    d = np.clip(places, 0, n).astype(np.int64)
    # Rounding may change d by 1, but equal fractions are equal floats.
    d += (d < n) & (i / (lo + d + 1) > t)
    d -= (d > 0) & ~(i / np.maximum(lo + d, 1) > t)
    return d


class RelevantInTies:
    """The relevant documents of a query, and the moments of interpolated precision.

    The moments are moments of a weighted sum, over `depths`, of interpolated
    precisions. A depth is a number of relevant documents, at least 1, and the depths
    ascend. The interpolated precision at depth c is the largest precision at any
    relevant document from the c-th on, or 0 if fewer than c relevant documents are
    retrieved.

    Parameters
    ----------
    columns : ndarray of shape (4, n_groups)
        The groups with relevant documents, from the top. The rows contain the number of
        documents above each group, the number of documents in the group, the number of
        relevant documents in the group, and the number of relevant documents above the
        group.
    """

    def __init__(self, columns: IntArray) -> None:
        self._columns = columns
        _, n, r, _ = columns
        self._is_mixed = r < n
        #: Number of retrieved relevant documents.
        self.total = int(r.sum())
        #: Cost of exact values.
        self.cost = int((n * r)[self._is_mixed].sum())
        self.is_long = self.cost > REACH
        self._n_orders = _sampled_orders.n_orders(self.total)
        self._averages: dict[bytes, tuple[float, float]] = {}

    def mean(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_long:
            return self._sampled(depths, weights)[0]
        index = np.minimum(depths - 1, self.total)
        return float((weights * self._moments[0][index]).sum())

    def variance(self, depths: IntArray, weights: FloatArray) -> float:
        if self.is_estimate(depths):
            return self._sampled(depths, weights)[1]
        if not self.cost:
            return 0.0
        return float(self._moments[1, self._first_index(depths)])

    def is_estimate(self, depths: IntArray, _: Any = None) -> bool:
        """Return whether the variance is estimated from sampled orders.

        The weights do not matter. `_by_query` passes them to all methods.
        """
        return self.is_long or (self.cost > 0 and len(depths) > 1)

    def error(self, depths: IntArray, weights: FloatArray) -> float:
        """Return the standard error of the mean."""
        if not self.is_long:
            return 0.0
        return math.sqrt(self.variance(depths, weights) / self._n_orders)

    def distribution(self, depth: int) -> Values:
        """Return the distribution of precision interpolated at a depth.

        Do not call this method for long ties.
        """
        if depth <= self.total:
            for first, part in self._parts():
                if depth > first:
                    return part.distribution(depth - 1 - first)
        return _NO_DOCUMENT

    def _first_index(self, depths: IntArray) -> int:
        """Return the first depth as an index from 0, at most `total`."""
        return min(depths.item(0) - 1, self.total)

    @cached_property
    def _moments(self) -> FloatArray:
        """The mean and variance from each relevant document on, and 0 after the last.

        Do not call this method for long ties.
        """
        moments = np.zeros((2, self.total + 1))
        if engines.engine == "compiled":
            engines.compiled.interpolated(self._columns, moments)
        else:
            for first, part in self._parts():
                mean, variance = part.moments()
                end = first + len(mean)
                moments[0, first:end] = mean
                moments[1, first:end] = variance
        return moments

    def _parts(self) -> Iterator[tuple[int, _Pure | _Mixed]]:
        """Yield each mixed group and each run of pure groups, from the last on.

        Each part comes after the number of relevant documents above the part.
        """
        is_start = self._is_mixed | segments.begins(self._is_mixed)
        starts = np.flatnonzero(is_start)
        end = len(self._is_mixed)
        tail = _NO_DOCUMENT
        for start in starts[::-1].tolist():
            lo, n, r, above = self._columns[:, start].tolist()
            part: _Pure | _Mixed
            if r < n:
                part = _Mixed(lo, n, r, above, tail)
            else:
                part = _Pure(self._columns[:, start:end], tail)
            yield above, part
            end = start
            tail = part.distribution(0)

    def _sampled(self, depths: IntArray, weights: FloatArray) -> tuple[float, float]:
        """Return mean and variance over sampled orders, which all depths share."""
        if len(depths) == 1:
            means, variances = self._sampled_moments
            index = self._first_index(depths)
            weight = weights[0]
            return float(weight * means[index]), float(weight**2 * variances[index])
        key = depths.tobytes() + weights.tobytes()
        if key not in self._averages:
            is_retrieved = depths <= self.total
            columns = depths[is_retrieved] - 1
            weights = weights[is_retrieved]
            sums = []
            for part in self._orders():
                sums.append((part[:, columns] * weights).sum(axis=1))
            values = np.concatenate(sums)
            self._averages[key] = float(values.mean()), float(values.var(ddof=1))
        return self._averages[key]

    @cached_property
    def _sampled_moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances over sampled orders, 0 for documents not retrieved."""
        total, squares, near = np.zeros((3, self.total))
        for i, part in enumerate(self._orders()):
            if i == 0:
                near = part.mean(axis=0)
            # Deviations from a value near the mean lose less to rounding.
            part -= near
            total += part.sum(axis=0)
            squares += np.square(part, out=part).sum(axis=0)
        mean = total / self._n_orders
        variance = (squares - mean * total) / (self._n_orders - 1)
        variance = np.maximum(variance, 0.0)
        return np.append(near + mean, 0.0), np.append(variance, 0.0)

    def _orders(self) -> Iterator[FloatArray]:
        """Yield interpolated precisions in sampled orders, of shape (orders, total)."""
        rng = _sampled_orders.generator(*self._columns)
        groups = self._columns.T.tolist()
        step = max(_places.CELLS // max(self.total, 1), 1)
        for orders in _sampled_orders.parts(self._n_orders, step):
            ranks = np.empty((orders, self.total))
            for lo, n, r, above in groups:
                places = _sampled_orders.fast_places_of(rng, n, r, orders)
                np.add(lo, places, out=ranks[:, above : above + r])
            precision = np.divide(np.arange(1, self.total + 1), ranks, out=ranks)
            from_last = precision[:, ::-1]
            np.maximum.accumulate(from_last, axis=1, out=from_last)
            yield precision


@once_per_block
def relevant_in_ties(groups: TieGroups, rel: float) -> list[RelevantInTies]:
    """Return the relevant documents of each query. Equal queries share an object."""
    holding, per_query = groups.holding(rel)
    r = groups.relevant(rel)[holding]
    above = groups.relevant_above(rel)[holding]
    columns = np.array([groups.lo[holding], groups.n[holding], r, above])
    ends = np.cumsum(per_query)
    known = {}
    ties = []
    # The part behind the last end is empty.
    for query_columns in np.split(columns, ends, axis=1)[:-1]:
        lo, n, r, _ = query_columns
        # For the chance level, all documents of a query tie. The same ties occur in
        # many blocks, so they are cached beyond this block. Sampled values of longer
        # ties are not, because they take more memory.
        if len(lo) == 1 and lo[0] == 0 and n[0] * r[0] <= REACH:
            ties.append(_one_tie(n[0], r[0]))
            continue
        key = query_columns.tobytes()
        if key not in known:
            known[key] = RelevantInTies(query_columns)
        ties.append(known[key])
    return ties


@lru_cache(maxsize=4096)
def _one_tie(n: int, r: int) -> RelevantInTies:
    """Return the relevant documents of a query in which all documents tie."""
    return RelevantInTies(np.array([[0], [n], [r], [0]]))


_ROUNDING = ("up", "nearest", "trec_eval9")
#: Type of the relevant documents of a query, with the depths and weights to average.
_Query = tuple[RelevantInTies, IntArray, FloatArray]


@dataclass(frozen=True)
class _Interpolated(_measure.RelevanceMeasure):
    """A weighted mean of precisions interpolated at several depths.

    The precision interpolated at depth c is the largest i/pos_i over i >= c, where
    pos_i is the rank of the i-th relevant document. The precision is 0 if fewer than c
    relevant documents are retrieved.
    """

    @abstractmethod
    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        """Return ascending depths and their weights for `total` relevant documents."""

    @once_per_block
    def _queries(self, groups: TieGroups) -> list[_Query | None]:
        """Return each query, or None for queries without a relevant document."""
        depths_of = cache(self._depths)
        totals = groups.total_relevant(self.rel).tolist()
        queries = []
        for ties, total in zip(relevant_in_ties(groups, self.rel), totals, strict=True):
            queries.append((ties, *depths_of(total)) if total else None)
        return queries

    def _by_query(
        self, groups: TieGroups, function: Callable[..., float]
    ) -> FloatArray:
        """Return a value for each query, 0 for queries without a relevant document."""
        values = np.zeros(groups.n_queries)
        for i, query in enumerate(self._queries(groups)):
            if query is not None:
                values[i] = function(*query)
        return values

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._by_query(groups, RelevantInTies.mean)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._by_query(groups, RelevantInTies.variance)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        return self._by_query(groups, RelevantInTies.error)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return self._by_query(groups, RelevantInTies.is_estimate)

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) > 0


@dataclass(frozen=True)
class InterpolatedPrecision(_Interpolated):
    """Interpolated precision: the highest precision at recall `recall` or above.

    Parameters
    ----------
    recall : float
        Recall level in [0, 1]. In names, the level follows @, as in ``IPrec@0.1``.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        How to round recall · R to a number c of relevant documents, where R is the
        number of relevant documents of the query. "up" gives ⌈recall · R⌉ in exact
        arithmetic, in which a recall of 0.1 is exactly 1/10. "nearest" gives the
        nearest integer, as in trec_eval 10, and rounds halves up. "trec_eval9" adds 0.9
        in floats and rounds down, sometimes to one less than ⌈recall · R⌉. If the
        result is 0, c is 1.

    Raises
    ------
    ValueError
        If the recall is not a number in [0, 1], if `rel` is not a finite number above
        0, or if the rounding is unknown.

    See Also
    --------
    precision_recall_curve : Interpolated precision at several recall levels.
    InterpolatedAveragePrecision : The average over recall levels.

    Notes
    -----
    Interpolated precision is undefined for queries without a relevant document.
    Otherwise, the value is the largest i/(rank of the i-th relevant document) over
    i >= c, or 0 if fewer than c relevant documents are retrieved. See Manning, Raghavan
    and Schütze (2008), section 8.4.

    Let a tie group contain n documents, r of them relevant. The mean and the standard
    deviation under ties are exact if Σ n r over the tie groups of a query is at most
    10,000. Groups that contain only relevant documents are left out of this sum. Beyond
    this limit, the mean and the standard deviation are estimated from 1,000 sampled
    orders, or from 100 to 1,000 if more than 20,000 relevant documents are retrieved.
    Reports then show the standard error of the mean, and `tie_distributions` raises an
    error. The chance level, for which all documents tie, may be an estimate even if the
    mean is exact.

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
            # The 32-bit float 0.1 is above 1/10, but prints as 0.1. The repr of any
            # NumPy float is not the text of a fraction.
            object.__setattr__(self, "recall", float(str(self.recall)))
        super().__post_init__()

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        depth = _depth(self.recall, total, self.rounding)
        return np.array([depth]), np.ones(1)

    def _outcomes(self, groups: TieGroups) -> _measure.Outcomes:
        for i, query in enumerate(self._queries(groups)):
            if query is None:
                continue
            ties, depths, _ = query
            if ties.is_long:
                raise ValueError(
                    f"the distribution of {self.name} is computed only if the sum of "
                    "documents times relevant documents over the tie groups of a query "
                    f"is at most {REACH}, got {ties.cost}: estimate the distribution "
                    "by sampled()"
                )
            distribution = ties.distribution(depths[0])
            yield i, distribution.values, distribution.chances()


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
    """Interpolated precision averaged over evenly spaced recall levels (11 by default).

    Parameters
    ----------
    points : int or "all", default=11
        Number of evenly spaced recall levels from 0 to 1, at least 2 and at most 1,001.
        "all" means one level for each of the R relevant documents of the query: 1/R,
        2/R, ..., R/R (all-point interpolation).
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        How to round recall · R to a number of relevant documents, as in
        `InterpolatedPrecision`. With ``points="all"``, nothing is rounded.

    Raises
    ------
    ValueError
        If `points` is neither an integer from 2 to 1,001 nor "all", if `rel` is not a
        finite number above 0, or if the rounding is unknown.

    See Also
    --------
    InterpolatedPrecision : Interpolated precision at one recall level.
    precision_recall_curve : Interpolated precision at each recall level.
    AveragePrecision : The average of precision without interpolation.

    Notes
    -----
    The measure is undefined for queries without a relevant document. Salton and McGill
    (1983) describe the measure. TREC averages over 11 points. Since 2010, PASCAL VOC
    has averaged over all points.

    The mean under ties is exact under the same condition as for
    `InterpolatedPrecision`. The standard deviation is exact if no tie group contains
    both relevant and non-relevant documents, or if the query has a single relevant
    document and the mean is exact. Otherwise, the standard deviation is estimated from
    100 to 1,000 sampled orders.

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
    """Return the number of relevant documents, at least 1, that make up a recall."""
    if rounding != "up":
        added = 0.9 if rounding == "trec_eval9" else 0.5
        return max(int(float(recall) * total + added), 1)
    exact = Fraction(repr(recall)) if isinstance(recall, float) else recall
    return max(math.ceil(exact * total), 1)
