"""Average precision, and the area under the precision-recall curve."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .._engine import (
    LONGEST,
    FloatArray,
    IntArray,
    TieGroups,
    Totals,
    consecutive,
    count_before,
    count_segments,
    expand,
    starts_of,
    sum_after,
    sum_segments,
)
from .._kernel import Walk
from ._base import BinaryMeasure, MeasureOverRelevant, RelevanceMeasure, choice
from ._cumulated_gain import harmonic_difference, n_ranks, rank_tables

#: a tie with more documents above it than this times its own is summed place by place:
#: shorter forms are differences that lose as many times the error of rounding
_DEEP = 1024
#: the same of variances, which lose its square
_DEEP_SPREAD = 64


def _reciprocal(rank: IntArray, last: IntArray | None) -> FloatArray:
    """1 / rank, or what that is more than 1 / last, to the last digit."""
    if last is None:
        return np.asarray(1.0 / rank)
    return np.asarray((last - rank) / (rank * last.astype(np.float64)))


class _SumOverPairs(RelevanceMeasure):
    """Σ_j x_j (a_j + u_j Σ_{i<j} x_i), x_j saying whether place j of a tie is relevant.

    The a_j count what is relevant above the group.
    """

    undefined_over_zero: ClassVar[bool] = True
    maximum: ClassVar[float] = 1.0

    @abstractmethod
    def _parts(
        self, above: IntArray, rank: IntArray, last: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """a and u of places with `rank` documents and `above` relevant ones above.

        With `last`, both less what they are where that many documents stand above.
        """

    @abstractmethod
    def _later(self, rank: IntArray, end: IntArray) -> FloatArray:
        """The sum of u over the places below each one, down to rank `end`."""

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """Groups are independent; so are places and pairs of places in one.

        With n places in a group, those beyond the cut-off weighing 0,
        U_j = Σ_{i>j} u_i, ρ_j = (j - 1) u_j + U_j and
        b_j = a_j + ρ_j (r - 1)/(n - 2): the part of a document's place,
        r (n - r)/(n (n - 1)) Σ (b_j - b̄)², and the part of pairs of places,
        r (r - 1)(n - r)(n - r - 1)/(n (n - 1)(n - 2)(n - 3))
        [Σ (j - 1) u_j² - Σ ρ_j²/(n - 2) + (Σ ρ_j)²/(2 (n - 1)(n - 2))],
        which are uncorrelated (Hoeffding's decomposition of the sum over pairs).
        Neither part changes if all a_j of a group, or all u_j, are less by the same:
        deep in a list, where they hardly differ, those of the last place are left out.
        """
        r, inside = groups.relevant(self.rel), groups.inside(self.reach)
        chosen = np.flatnonzero((r > 0) & (r < groups.n) & (inside > 0))
        inside, lo = inside[chosen], groups.lo[chosen]
        owner, before = expand(inside)
        rank = lo[owner] + before
        above = groups.relevant_above(self.rel)[chosen][owner]
        alone, shared = self._parts(above, rank)
        rho = before * shared + self._later(rank, (lo + inside)[owner])
        whole = inside == groups.n[chosen]
        deep = np.flatnonzero(whole & (lo > _DEEP_SPREAD * inside))
        if len(deep):
            sizes = inside[deep]
            at = consecutive(starts_of(inside)[deep], sizes)
            last = np.repeat((lo + inside - 1)[deep], sizes)
            alone[at], shared[at] = self._parts(above[at], rank[at], last)
            rho[at] = before[at] * shared[at] + sum_after(shared[at], sizes)

        n, relevant = groups.n[chosen].astype(np.float64), r[chosen].astype(np.float64)
        other = n - relevant
        slope = (relevant - 1) / np.maximum(n - 2, 1)
        b = alone + rho * slope[owner]
        mean = sum_segments(b, inside) / n
        deviation = b - mean[owner]
        places = sum_segments(deviation * deviation, inside)
        places += (n - inside) * mean * mean
        places *= relevant * other / (n * (n - 1))

        pairs = sum_segments(before * shared * shared, inside)
        pairs -= sum_segments(rho * rho, inside) / np.maximum(n - 2, 1)
        pairs += sum_segments(rho, inside) ** 2 / np.maximum(2 * (n - 1) * (n - 2), 1)
        # 0 where r or n - r is 1: there are no pairs to choose
        chance = (relevant / n) * ((relevant - 1) / (n - 1))
        chance *= (other / np.maximum(n - 2, 1)) * ((other - 1) / np.maximum(n - 3, 1))
        variance = np.zeros(len(groups.n))
        variance[chosen] = places + chance * np.maximum(pairs, 0)
        return groups.sum_groups(variance)


@dataclass(frozen=True)
class AveragePrecision(_SumOverPairs, BinaryMeasure):
    """Average precision: the mean of the precision at each relevant document.

    Parameters
    ----------
    k : int, optional
        Cut-off. Documents below it do not count.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        Divisor of the sum: R, the number of relevant documents, as in trec_eval's
        map_cut, or min(k, R), with which a perfect list scores 1.

    Raises
    ------
    ValueError
        For k < 1, rel <= 0 or an unknown denominator.

    See Also
    --------
    PrecisionRecallArea : The area under the same curve by the trapezoidal rule.
    InterpolatedAveragePrecision : The average of interpolated precision.
    sklearn.metrics.average_precision_score : Treats each tie group as one step.

    Notes
    -----
    Average precision is undefined for queries without a relevant document.

    Consider a tie group of n documents, r of them relevant, with lo documents above
    it, R0 of them relevant. Its j-th place holds a relevant document with
    probability r/n; then, on average, (j - 1)(r - 1)/(n - 1) other relevant documents
    of the group stand above that place. The place therefore adds
    r/n (R0 + 1 + (j - 1)(r - 1)/(n - 1)) / (lo + j) to the mean of the sum: McSherry
    and Najork (2008), section 3.5.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import AveragePrecision
    >>> ranking_score([1, 0, 1, 0], [4, 3, 2, 1], measure=AveragePrecision())
    0.8333333333333333
    """

    name: ClassVar[str] = "AP"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"map": ()}
    denominator: str = choice("relevant", "cutoff")

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        tables = _harmonic_tables(n_ranks(self.k, longest))
        return self._walk("precisions", levels, depth=self.k, tables=tables)

    def numerator(self, groups: TieGroups) -> FloatArray:
        # nothing is found in other groups
        chosen, per_query = groups.holding(self.rel)
        if self.k is not None:
            near = groups.lo[chosen] < self.k
            per_query = count_segments(near, per_query)
            chosen = chosen[near]
        r, lo = groups.relevant(self.rel)[chosen], groups.lo[chosen]
        above = count_before(r, per_query)
        values = (above + 1) / (lo + 1)
        tied = np.flatnonzero([] if groups.untied else groups.n[chosen] > 1)
        if len(tied):
            of = chosen[tied]
            values[tied] = _tied_part(
                above[tied], r[tied], groups.n[of], lo[tied], groups.inside(self.k, of)
            )
        return sum_segments(values, per_query)

    def _parts(
        self, above: IntArray, rank: IntArray, last: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        weight = _reciprocal(rank + 1, None if last is None else last + 1)
        return (above + 1) * weight, weight

    def _later(self, rank: IntArray, end: IntArray) -> FloatArray:
        return harmonic_difference(rank + 1, end)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        relevant = self._needed(labels) >= self.rel
        parts = relevant[: self.k] / np.arange(1, len(relevant[: self.k]) + 1)
        # Moffat et al. (2013) print the sum from 1 where it starts at i
        from_here = np.cumsum(parts[::-1])[::-1]
        return np.asarray(from_here / max(self._total(relevant.sum()), 1))

    def _total(self, relevant: Any) -> Any:
        if self.denominator == "cutoff" and self.k is not None:
            return np.minimum(relevant, min(self.k, LONGEST))
        return relevant

    def normaliser(self, groups: Totals) -> FloatArray:
        return np.asarray(self._total(groups.total_relevant(self.rel)), np.float64)


@lru_cache(maxsize=8)
def _harmonic_tables(size: int) -> FloatArray:
    return rank_tables(_reciprocal(np.arange(1, size + 1), None))


def _tied_part(
    above: IntArray, r: IntArray, n: IntArray, lo: IntArray, inside: IntArray
) -> FloatArray:
    """What ties of n > 1 documents add to the numerator of AP.

    With w_j = 1/(lo + j) and s = (r - 1)/(n - 1), and (j - 1) w_j = 1 - (lo + 1) w_j,
    the sum over the first `inside` places is short of `inside` s by
    (s (lo + 1) - (R0 + 1)) Σ w_j: by just 0 where all that is above is relevant, too.
    Of ties that are short and deep, that leaves a difference of much larger numbers:
    their places are summed one by one.
    """
    s = (r - 1) / (n - 1)
    weights = harmonic_difference(lo, lo + inside)
    sums = inside * s + (above + 1 - s * (lo + 1)) * weights
    deep = np.flatnonzero(lo > _DEEP * n)
    if len(deep):
        owner, before = expand(inside[deep])
        group = deep[owner]
        worth = (above[group] + 1 + before * s[group]) / (lo[group] + before + 1)
        sums[deep] = sum_segments(worth, inside[deep])
    return np.asarray(r / n * sums)


@dataclass(frozen=True)
class PrecisionRecallArea(_SumOverPairs, MeasureOverRelevant):
    """Area under the precision-recall curve, by the trapezoidal rule.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For rel <= 0.

    See Also
    --------
    AveragePrecision : The area under the same points by steps.
    sklearn.metrics.auc : The area under any curve by the trapezoidal rule.

    Notes
    -----
    The area is undefined for queries without a relevant document. The curve starts
    at recall 0 with precision 1, joins the recall and precision of every rank, and
    ends at the highest recall reached. With scikit-learn, ``auc(recall, precision)``
    of ``sklearn.metrics.precision_recall_curve`` gives the same area without ties;
    with ties it takes each tie group as one step, where this measure is the mean over
    the orders of its documents.
    `AveragePrecision` is the area under the same points by steps, and
    ``IAP(points=all)`` the area under interpolated precision.

    A relevant document at rank i adds the mean of the precisions at ranks i and
    i - 1, divided by the number of relevant documents. Straight lines between distant
    points overestimate the area (Davis and Goadrich 2006); here they join neighbouring
    ranks.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import PrecisionRecallArea
    >>> ranking_score([1, 0, 1], [3, 2, 1], measure=PrecisionRecallArea())
    0.7916666666666666
    """

    name: ClassVar[str] = "AUPRC"

    def numerator(self, groups: TieGroups) -> FloatArray:
        places = groups.documents(None)
        group, rank = places.group, places.rank
        r = groups.relevant(self.rel)
        alone, shared = self._parts(groups.relevant_above(self.rel)[group], rank)
        more = ((r - 1) / np.maximum(groups.n - 1, 1))[group]
        found = alone + shared * (rank - groups.lo[group]) * more
        return sum_segments((r / groups.n)[group] * found, places.counts)

    def _parts(
        self, above: IntArray, rank: IntArray, last: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        here = _reciprocal(rank + 1, None if last is None else last + 1)
        before = _reciprocal(np.maximum(rank, 1), last)
        at_top = rank == 0
        alone = ((above + 1) * here + np.where(at_top, 1.0, above * before)) / 2
        return alone, np.where(at_top, 0.0, (here + before) / 2)

    def _later(self, rank: IntArray, end: IntArray) -> FloatArray:
        later = harmonic_difference(rank + 1, end) + harmonic_difference(rank, end - 1)
        return later / 2
