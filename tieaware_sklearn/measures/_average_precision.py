"""Average precision, and the related measures AUPRC and BPref."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._engine import segments
from .._engine.tie_groups import TieGroups, once_per_block
from .._typing import FloatArray, IntArray
from . import _measure, _places, _rank_tables

#: Type of the last rank of the group of each place, or None if no rank is needed.
LastRank = IntArray | None
Pair = tuple[FloatArray, FloatArray]
# The kernel repeats these formulas and limits in `_kernel/formulas.pxd`.

#: Closed forms are used up to this ratio of the documents above a tie group to the
#: documents of the group above the cut-off. Deeper groups are summed place by place,
#: because closed forms are differences, and the rounding errors of the differences grow
#: with this ratio.
_DEEP = 1024
#: The same limit for variances, whose rounding errors grow with the square of the
#: ratio.
_DEEP_SPREAD = 64


def _reciprocal(rank: IntArray, last: LastRank) -> FloatArray:
    """Return 1 / (rank + 1), or 1 / (rank + 1) - 1 / (last + 1), to the last digit."""
    if last is None:
        return 1.0 / (rank + 1)
    return (last - rank) / ((rank + 1) * (last + 1.0))


class _SumOverPairs(_measure.RelevanceMeasure):
    """Σ_j x_j (a_j + u_j Σ_{i<j} x_i), where x_j is 1 if place j of a tie is relevant.

    The a_j count the relevant documents above the group.
    """

    @abstractmethod
    def _terms(self, above: IntArray, rank: IntArray, last: LastRank = None) -> Pair:
        """Return a and u of places below `rank` documents, `above` of them relevant.

        With `last`, a and u are reduced by their values for a place below `last`
        documents.
        """

    @abstractmethod
    def _sums_below(self, rank: IntArray, end: IntArray) -> FloatArray:
        """Return the sum of u over the places below each place, down to rank `end`."""

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator over the orders of tied documents.

        The numerator is a sum over tie groups, which are independent, so the variances
        of the groups are added. Groups without a relevant or without a non-relevant
        document have variance 0. Consider a group of n documents, r of them relevant,
        with 0 < r < n. The group adds Σ_j x_j (a_j + u_j Σ_{i<j} x_i) to the numerator,
        where i and j count the places of the group from 1, and x_j is 1 if the document
        at place j is relevant and 0 otherwise. Beyond the cut-off, a_j and u_j are 0.
        Let U_j = Σ_{i>j} u_i, ρ_j = (j - 1) u_j + U_j and
        b_j = a_j + ρ_j (r - 1)/(n - 2), and let b̄ be the mean of the b_j. If r is 1,
        b_j is a_j. The variance of the group is the sum of
        r (n - r)/(n (n - 1)) Σ (b_j - b̄)² and
        r (r - 1)(n - r)(n - r - 1)/(n (n - 1)(n - 2)(n - 3))
        [Σ (j - 1) u_j² - Σ ρ_j²/(n - 2) + (Σ ρ_j)²/(2 (n - 1)(n - 2))].
        If r or n - r is 1, the second term is 0. The two terms are the variances of the
        two parts of Hoeffding's decomposition, which are uncorrelated.
        """
        r = groups.relevant(self.rel)
        inside = groups.inside(self.reach)
        is_mixed = (r > 0) & (r < groups.n)
        chosen = np.flatnonzero(is_mixed & (inside > 0))
        inside = inside[chosen]
        lo = groups.lo[chosen]
        end = lo + inside
        owner, before = segments.expand(inside)
        rank = lo[owner] + before
        above = groups.relevant_above(self.rel)[chosen][owner]
        a, u = self._terms(above, rank)
        rho = before * u + self._sums_below(rank, end[owner])
        # Only groups that the cut-off does not divide are reduced: the weights beyond
        # the cut-off are 0 and must stay 0.
        is_whole = inside == groups.n[chosen]
        deep = np.flatnonzero(is_whole & (lo > _DEEP_SPREAD * inside))
        if len(deep):
            sizes = inside[deep]
            starts = segments.starts_of(inside)
            places = segments.consecutive(starts[deep], sizes)
            last = np.repeat(end[deep] - 1, sizes)
            a[places], u[places] = self._terms(above[places], rank[places], last)
            sums = _places.sums_after(u[places], sizes)
            rho[places] = before[places] * u[places] + sums

        n = groups.n[chosen]
        relevant = r[chosen]
        non_relevant = n - relevant
        n_minus_2 = np.maximum(n - 2, 1)
        slope = (relevant - 1) / n_minus_2
        b = a + rho * slope[owner]
        mean = segments.sum_segments(b, inside) / n
        deviation = b - mean[owner]
        of_places = segments.sum_segments(deviation * deviation, inside)
        of_places += (n - inside) * mean * mean
        of_places *= relevant * non_relevant / (n * (n - 1))

        of_pairs = segments.sum_segments(before * u * u, inside)
        of_pairs -= segments.sum_segments(rho * rho, inside) / n_minus_2
        divisor = np.maximum(2 * (n - 1) * (n - 2), 1)
        of_pairs += segments.sum_segments(rho, inside) ** 2 / divisor
        # The chance is 0 if r or n - r is 1, because then there are no pairs to choose.
        chance = (relevant / n) * ((relevant - 1) / (n - 1))
        next_chance = (non_relevant - 1) / np.maximum(n - 3, 1)
        chance *= (non_relevant / n_minus_2) * next_chance

        variance = np.zeros(len(groups.n))
        variance[chosen] = of_places + chance * np.maximum(of_pairs, 0)
        return groups.sum_groups(variance)


@dataclass(frozen=True)
class AveragePrecision(_SumOverPairs, _measure.CappedMeasure):
    """Average precision: the mean of the precisions at the relevant documents.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Relevant documents below the cut-off,
        and relevant documents that are not retrieved, add 0 to the sum of precisions.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        Divisor of the sum of precisions: R, the number of relevant documents
        ("relevant"), or min(k, R) ("cutoff"). trec_eval's map_cut divides by R. With
        "cutoff", the value of a perfect list is 1. Without a cut-off, both divisors are
        R.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], if `rel` is not a
        finite number above 0, or if the denominator is unknown.

    See Also
    --------
    PrecisionRecallArea : The area under the precision-recall curve, by the trapezoidal
        rule.
    InterpolatedAveragePrecision : The average of interpolated precision over recall
        levels.
    sklearn.metrics.average_precision_score : Treats each tie group as one step.

    Notes
    -----
    Average precision is undefined for queries without a relevant document.

    Consider a tie group of n documents, r of them relevant. Above the group are lo
    documents, R0 of them relevant. The j-th place of the group contains a relevant
    document with probability r/n. If the j-th place contains a relevant document,
    (j - 1)(r - 1)/(n - 1) other relevant documents of the group are on average above
    this place (0 if n is 1). Down to the cut-off, the j-th place therefore adds
    r/n (R0 + 1 + (j - 1)(r - 1)/(n - 1)) / (lo + j) to the mean of the sum of
    precisions (McSherry and Najork 2008, section 2.4).

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import AveragePrecision
    >>> ranking_score([1, 0, 1, 0], [4, 3, 2, 1], measure=AveragePrecision())
    0.8333333333333333
    """

    name = "AP"
    aliases: ClassVar = {"map": ()}

    def rank_worth(self, rank: IntArray) -> FloatArray:
        # The worth is a compromise between 1/rank, for one relevant document, and
        # -log(rank), for many relevant documents.
        return 1 / np.sqrt(rank + 1)

    def numerator(self, groups: TieGroups) -> FloatArray:
        # Groups without a relevant document add nothing.
        chosen, per_query = groups.holding(self.rel)
        is_near = groups.inside(self.k, chosen) > 0
        per_query = segments.count_segments(is_near, per_query)
        chosen = chosen[is_near]
        r = groups.relevant(self.rel)[chosen]
        lo = groups.lo[chosen]
        above = segments.count_before(r, per_query)
        values = (above + 1) / (lo + 1)
        tied = np.flatnonzero(groups.n[chosen] > 1)
        if len(tied):
            group = chosen[tied]
            inside = groups.inside(self.k, group)
            n = groups.n[group]
            values[tied] = _sums_of_ties(above[tied], r[tied], n, lo[tied], inside)
        return segments.sum_segments(values, per_query)

    def _terms(self, above: IntArray, rank: IntArray, last: LastRank = None) -> Pair:
        u = _reciprocal(rank, last)
        return (above + 1) * u, u

    def _sums_below(self, rank: IntArray, end: IntArray) -> FloatArray:
        return _rank_tables.harmonic_difference(rank + 1, end)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        is_relevant = self._required(labels) >= self.rel
        shown = is_relevant[: self.k]
        terms = shown / np.arange(1, len(shown) + 1)
        # The sum starts at rank i. The sum in slides on C/W/L starts at rank 1, which
        # is a misprint.
        sums_from = np.cumsum(terms[::-1])[::-1]
        divisor = self._divisor(is_relevant.sum())
        return sums_from / max(divisor, 1)


def _sums_of_ties(
    above: IntArray, r: IntArray, n: IntArray, lo: IntArray, inside: IntArray
) -> FloatArray:
    """Return the terms that ties of n > 1 documents add to the numerator of AP.

    Let w_j = 1/(lo + j) and s = (r - 1)/(n - 1). Because
    (j - 1) w_j = 1 - (lo + 1) w_j, the sum over the first `inside` places is less than
    `inside` s by (s (lo + 1) - (R0 + 1)) Σ w_j, which is 0 if all documents above are
    relevant and s = 1. For short and deep ties, the sum is a difference between much
    larger numbers, so the places of such ties are summed one by one.
    """
    s = (r - 1) / (n - 1)
    weights = _rank_tables.harmonic_difference(lo, lo + inside)
    sums = inside * s + (above + 1 - s * (lo + 1)) * weights
    deep = np.flatnonzero(lo > _DEEP * inside)
    if len(deep):
        owner, before = segments.expand(inside[deep])
        group = deep[owner]
        relevant_above = above[group] + 1 + before * s[group]
        terms = relevant_above / (lo[group] + before + 1)
        sums[deep] = segments.sum_segments(terms, inside[deep])
    return r / n * sums


@dataclass(frozen=True)
class PrecisionRecallArea(_SumOverPairs, _measure.MeasureOverRelevant):
    """Area under the precision-recall curve, by the trapezoidal rule.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `rel` is not a finite number above 0.

    See Also
    --------
    AveragePrecision : The area if the points of the curve are joined by steps.
    sklearn.metrics.auc : Computes the area under any curve by the trapezoidal rule.

    Notes
    -----
    The area is undefined for queries without a relevant document. The curve starts at
    recall 0 with precision 1. Straight lines then join the points (recall, precision)
    of all ranks, from the top down. If no documents tie and all documents are
    retrieved, ``auc(recall, precision)`` returns the same area for the arrays that
    ``sklearn.metrics.precision_recall_curve`` returns for binary labels. If documents
    tie, scikit-learn treats each tie group as one step, while the value of AUPRC is the
    mean of the area over the orders of tied documents. `AveragePrecision` is the area
    if the points are joined by steps, and ``IAP(points=all)`` is the area under
    interpolated precision.

    A relevant document at rank i adds the mean of the precisions at ranks i and i - 1,
    divided by the number of relevant documents. The precision at rank 0 is 1. Straight
    lines between distant points can overestimate the area (Davis and Goadrich 2006).
    The lines of AUPRC join only neighbouring ranks.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import PrecisionRecallArea
    >>> ranking_score([1, 0, 1], [3, 2, 1], measure=PrecisionRecallArea())
    0.7916666666666666
    """

    name = "AUPRC"

    def numerator(self, groups: TieGroups) -> FloatArray:
        places = groups.documents(None)
        group = places.group
        rank = places.rank
        r = groups.relevant(self.rel)
        above = groups.relevant_above(self.rel)
        a, u = self._terms(above[group], rank)
        slope = (r - 1) / np.maximum(groups.n - 1, 1)
        means = a + u * (rank - groups.lo[group]) * slope[group]
        share = r / groups.n
        return segments.sum_segments(share[group] * means, places.counts)

    def _terms(self, above: IntArray, rank: IntArray, last: LastRank = None) -> Pair:
        reciprocal = _reciprocal(rank, last)
        last_before = None if last is None else last - 1
        before = _reciprocal(np.maximum(rank - 1, 0), last_before)
        is_first = rank == 0
        precision_before = np.where(is_first, 1.0, above * before)
        a = ((above + 1) * reciprocal + precision_before) / 2
        u = np.where(is_first, 0.0, (reciprocal + before) / 2)
        return a, u

    def _sums_below(self, rank: IntArray, end: IntArray) -> FloatArray:
        sums = _rank_tables.harmonic_difference(rank + 1, end)
        sums_before = _rank_tables.harmonic_difference(rank, end - 1)
        return (sums + sums_before) / 2


#: Maximum number of steps for the distribution of a tie.
_MOST_STEPS = 200_000_000


class _Judged(NamedTuple):
    """Judged documents of each group, and the worth of a relevant document.

    Let x be the number of judged non-relevant documents of the group that are above a
    relevant document: 0, 1, ... or s, with equal chances. With B judged non-relevant
    documents above the group, the worth of the relevant document is
    max(M - B - x, 0)/M, which is positive for the first t values of x.

    Attributes
    ----------
    r, s : ndarray of shape (n_groups,)
        Numbers of relevant documents, and of documents judged not relevant.
    headroom : ndarray of shape (n_groups,)
        Headroom h = max(M - B, 0).
    share : ndarray of shape (n_groups,)
        Chance t / (s + 1) of a positive worth.
    mean, variance : ndarray of shape (n_groups,)
        Mean and variance of the worth if it is positive.
    """

    r: IntArray
    s: IntArray
    headroom: IntArray
    share: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class BPref(_measure.MeasureOverRelevant):
    """Binary preference: how often relevant documents outrank non-relevant documents.

    The value is Σ (1 - min(B_d, M)/M) / R over the relevant documents d that are
    retrieved. B_d is the number of documents judged not relevant that rank above d.
    R is the number of relevant documents of the query. M is the smaller of R and the
    number of documents of the query that are judged not relevant. If M is 0, each
    retrieved relevant document adds 1/R.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `rel` is not a finite number above 0.

    See Also
    --------
    AveragePrecision : A measure for rankings of judged documents.
    residuals : Reports bounds of other measures if documents are unjudged.

    Notes
    -----
    Unjudged documents (NaN labels) are ignored. BPref is undefined for queries
    without a relevant document. Buckley and Voorhees (2004) define BPref. The formula
    above is the variant that trec_eval has used since version 8. Let a tie group
    contain s documents judged not relevant. The number of these documents that are
    above a given relevant document of the group is 0, 1, ... or s, each with
    probability 1/(s + 1). The mean under ties follows from these probabilities.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import BPref
    >>> unjudged = float("nan")
    >>> ranking_score([unjudged, 1, 0, 1, 0], [5, 4, 3, 2, 1], measure=BPref())
    0.75
    """

    name = "BPref"
    takes_unjudged = True

    def _most(self, groups: TieGroups) -> IntArray:
        """Return M of each query."""
        total = groups.total_relevant(self.rel)
        # Every judged document has a label of at least 0.
        return np.minimum(total, groups.total_relevant(0.0) - total)

    @once_per_block
    def _judged(self, groups: TieGroups) -> _Judged:
        r = groups.relevant(self.rel)
        s = groups.relevant(0.0) - r
        above = groups.relevant_above(0.0) - groups.relevant_above(self.rel)
        most = self._most(groups)[groups.query]
        headroom = np.maximum(most - above, 0)
        t = np.minimum(headroom, s + 1)
        scale = np.maximum(most, 1)
        mean = np.maximum(headroom - (t - 1) / 2, 0) / scale
        t_squared = t.astype(np.float64) ** 2
        variance = np.maximum(t_squared - 1, 0) / 12 / scale / scale
        share = t / (s + 1)
        # Without judged non-relevant documents, all preferences hold.
        is_empty = most == 0
        share[is_empty] = 1.0
        mean[is_empty] = 1.0
        variance[is_empty] = 0.0
        return _Judged(r, s, headroom, share, mean, variance)

    def numerator(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        return groups.sum_groups(judged.r * (judged.share * judged.mean))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        spread = judged.share * judged.variance
        spread += judged.share * (1 - judged.share) * judged.mean**2
        # The worths of two relevant documents of a group have correlation 1/(s + 2).
        inflation = (judged.r + judged.s + 1) / (judged.s + 2)
        return groups.sum_groups(judged.r * spread * inflation)

    def _outcomes(self, groups: TieGroups) -> _measure.Outcomes:
        judged = self._judged(groups)
        most = self._most(groups).tolist()
        total = groups.total_relevant(self.rel)
        sums = [np.ones(1) for _ in range(groups.n_queries)]
        for group in np.flatnonzero(judged.r > 0).tolist():
            query = groups.query[group]
            r = int(judged.r[group])
            if most[query]:
                s = int(judged.s[group])
                chances = _sums(r, s, int(judged.headroom[group]))
            else:
                # Without judged non-relevant documents, each relevant document adds 1.
                chances = np.arange(r + 1) == r
            sums[query] = np.convolve(sums[query], chances)
        for query, chances in enumerate(sums):
            scale = max(most[query], 1) * max(total[query], 1)
            yield query, np.arange(len(chances)) / scale, chances


def _sums(r: int, s: int, headroom: int) -> FloatArray:
    """Return the chances of the values of Σ max(headroom - x, 0).

    The sum is over r relevant documents, each with x of s non-relevant documents above.
    """
    most = r * headroom
    steps = (r + 1) * (s + 1) * (most + 1)
    if steps > _MOST_STEPS:
        raise ValueError(
            f"the distribution of BPref is computed in at most {_MOST_STEPS:.0e} "
            f"steps, got {steps:.0e} for a tie of {r} relevant and {s} other judged "
            "documents: estimate the distribution by sampled()"
        )
    # Rows are numbers of relevant documents so far. Columns are sums.
    state = np.zeros((r + 1, most + 1))
    state[0, 0] = 1.0
    for x in range(s + 1):
        gain = max(headroom - x, 0)
        # The numbers ascend, because several relevant documents may follow each other.
        for n_above in range(r):
            # The chance that the next document is relevant.
            chance = (r - n_above) / (r - n_above + s - x)
            moved = chance * state[n_above]
            state[n_above + 1, gain:] += moved[: most + 1 - gain]
            state[n_above] -= moved
    return state[r]
