"""Average precision and its likes: AUPRC and BPref."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._engine import segments
from .._engine.tie_groups import TieGroups, once_per_block
from .._typing import FloatArray, IntArray
from . import _measure, _places, _rank_tables

#: the last rank of the group of each place, if any
Last = IntArray | None
Pair = tuple[FloatArray, FloatArray]
#: a tie with more documents above it than this times its own is summed place by place:
#: shorter forms are differences that lose as many times the error of rounding
_DEEP = 1024
#: such a limit for variances, which lose the square of it
_DEEP_SPREAD = 64


def _reciprocal(rank: IntArray, last: Last) -> FloatArray:
    """1 / rank, or what that is more than 1 / last, to the last digit."""
    if last is None:
        return 1.0 / rank
    return (last - rank) / (rank * last.astype(np.float64))


class _SumOverPairs(_measure.RelevanceMeasure):
    """Σ_j x_j (a_j + u_j Σ_{i<j} x_i), x_j saying whether place j of a tie is relevant.

    The a_j count what is relevant above the group.
    """

    @abstractmethod
    def _parts(self, above: IntArray, rank: IntArray, last: Last = None) -> Pair:
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
        owner, before = segments.expand(inside)
        rank = lo[owner] + before
        above = groups.relevant_above(self.rel)[chosen][owner]
        alone, shared = self._parts(above, rank)
        rho = before * shared + self._later(rank, (lo + inside)[owner])
        whole = inside == groups.n[chosen]
        deep = np.flatnonzero(whole & (lo > _DEEP_SPREAD * inside))
        if len(deep):
            sizes = inside[deep]
            at = segments.consecutive(segments.starts_of(inside)[deep], sizes)
            last = np.repeat((lo + inside - 1)[deep], sizes)
            alone[at], shared[at] = self._parts(above[at], rank[at], last)
            rho[at] = before[at] * shared[at] + _places.sums_after(shared[at], sizes)

        n, relevant = groups.n[chosen].astype(np.float64), r[chosen].astype(np.float64)
        other, fewer = n - relevant, np.maximum(n - 2, 1)
        slope = (relevant - 1) / fewer
        b = alone + rho * slope[owner]
        mean = segments.sum_segments(b, inside) / n
        deviation = b - mean[owner]
        places = segments.sum_segments(deviation * deviation, inside)
        places += (n - inside) * mean * mean
        places *= relevant * other / (n * (n - 1))

        pairs = segments.sum_segments(before * shared * shared, inside)
        pairs -= segments.sum_segments(rho * rho, inside) / fewer
        ways = np.maximum(2 * (n - 1) * (n - 2), 1)
        pairs += segments.sum_segments(rho, inside) ** 2 / ways
        # 0 where r or n - r is 1: there are no pairs to choose
        chance = (relevant / n) * ((relevant - 1) / (n - 1))
        chance *= (other / fewer) * ((other - 1) / np.maximum(n - 3, 1))

        variance = np.zeros(len(groups.n))
        variance[chosen] = places + chance * np.maximum(pairs, 0)
        return groups.sum_groups(variance)


@dataclass(frozen=True)
class AveragePrecision(_SumOverPairs, _measure.CappedMeasure):
    """Average precision: the mean of the precision at each relevant document.

    Parameters
    ----------
    k : int, optional
        Cut-off. Documents below it do not count.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        Divisor: R, the number of relevant documents ("relevant", as in trec_eval's
        map_cut), or min(k, R) ("cutoff", so that a perfect list scores 1).

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

    Consider a tie group of n documents, r of them relevant. Above it are lo
    documents, R0 of them relevant. The j-th place of the group holds a relevant
    document with probability r/n. On average, (j - 1)(r - 1)/(n - 1) other relevant
    documents of the group are above it. The place adds
    r/n (R0 + 1 + (j - 1)(r - 1)/(n - 1)) / (lo + j) to the mean of the sum: McSherry
    and Najork (2008), section 2.4.

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
        # between 1/rank, of one relevant document, and -log(rank), of many
        return 1 / np.sqrt(rank + 1)

    def numerator(self, groups: TieGroups) -> FloatArray:
        # other groups add nothing
        chosen, per_query = groups.holding(self.rel)
        near = groups.inside(self.k, chosen) > 0
        per_query = segments.count_segments(near, per_query)
        chosen = chosen[near]
        r, lo = groups.relevant(self.rel)[chosen], groups.lo[chosen]
        above = segments.count_before(r, per_query)
        values = (above + 1) / (lo + 1)
        tied = np.flatnonzero(groups.n[chosen] > 1)
        if len(tied):
            of = chosen[tied]
            values[tied] = _tied_part(
                above[tied], r[tied], groups.n[of], lo[tied], groups.inside(self.k, of)
            )
        return segments.sum_segments(values, per_query)

    def _parts(self, above: IntArray, rank: IntArray, last: Last = None) -> Pair:
        weight = _reciprocal(rank + 1, None if last is None else last + 1)
        return (above + 1) * weight, weight

    def _later(self, rank: IntArray, end: IntArray) -> FloatArray:
        return _rank_tables.harmonic_difference(rank + 1, end)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        relevant = self._required(labels) >= self.rel
        parts = relevant[: self.k] / np.arange(1, len(relevant[: self.k]) + 1)
        # slides on C/W/L have a misprint: their sum starts at 1, and not at i
        from_here = np.cumsum(parts[::-1])[::-1]
        return from_here / max(self._divisor(relevant.sum()), 1)


def _tied_part(
    above: IntArray, r: IntArray, n: IntArray, lo: IntArray, inside: IntArray
) -> FloatArray:
    """The terms that ties of n > 1 documents add to the numerator of AP.

    With w_j = 1/(lo + j) and s = (r - 1)/(n - 1), and (j - 1) w_j = 1 - (lo + 1) w_j,
    the sum over the first `inside` places is short of `inside` s by
    (s (lo + 1) - (R0 + 1)) Σ w_j: by just 0 where all that is above is relevant, too.
    Of ties that are short and deep, that leaves a difference of much larger numbers:
    their places are summed one by one.
    """
    s = (r - 1) / (n - 1)
    weights = _rank_tables.harmonic_difference(lo, lo + inside)
    sums = inside * s + (above + 1 - s * (lo + 1)) * weights
    deep = np.flatnonzero(lo > _DEEP * n)
    if len(deep):
        owner, before = segments.expand(inside[deep])
        group = deep[owner]
        worth = (above[group] + 1 + before * s[group]) / (lo[group] + before + 1)
        sums[deep] = segments.sum_segments(worth, inside[deep])
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
        For rel <= 0.

    See Also
    --------
    AveragePrecision : The area under the same points by steps.
    sklearn.metrics.auc : The area under any curve by the trapezoidal rule.

    Notes
    -----
    The area is undefined for queries without a relevant document. The curve starts
    at recall 0 with precision 1, joins the recall and precision of every rank, and
    ends at the highest recall reached. Without ties, ``auc(recall, precision)`` of
    ``sklearn.metrics.precision_recall_curve`` gives the same area. With ties, it
    takes each tie group as one step. This measure is the mean over the orders of tied
    documents instead.
    `AveragePrecision` is the area under the same points by steps, and
    ``IAP(points=all)`` the area under interpolated precision.

    A relevant document at rank i adds the mean of the precisions at ranks i and
    i - 1, divided by the number of relevant documents. Straight lines between distant
    points overestimate the area (Davis and Goadrich 2006). Here they join neighbouring
    ranks.

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
        group, rank = places.group, places.rank
        r = groups.relevant(self.rel)
        alone, shared = self._parts(groups.relevant_above(self.rel)[group], rank)
        more = ((r - 1) / np.maximum(groups.n - 1, 1))[group]
        worth = alone + shared * (rank - groups.lo[group]) * more
        return segments.sum_segments((r / groups.n)[group] * worth, places.counts)

    def _parts(self, above: IntArray, rank: IntArray, last: Last = None) -> Pair:
        here = _reciprocal(rank + 1, None if last is None else last + 1)
        before = _reciprocal(np.maximum(rank, 1), last)
        at_top = rank == 0
        alone = ((above + 1) * here + np.where(at_top, 1.0, above * before)) / 2
        return alone, np.where(at_top, 0.0, (here + before) / 2)

    def _later(self, rank: IntArray, end: IntArray) -> FloatArray:
        here = _rank_tables.harmonic_difference(rank + 1, end)
        return (here + _rank_tables.harmonic_difference(rank, end - 1)) / 2


#: a distribution that takes more steps is an error
_MOST_STEPS = 200_000_000


class _Judged(NamedTuple):
    """Judged documents of each group, and what a relevant one there is worth.

    A relevant document has x of the s non-relevant ones of its group above it, x
    being 0 ... s with equal chances, and B above the group: it is worth
    max(M - B - x, 0)/M, positive for the first t values of x.

    Attributes
    ----------
    r, s : ndarray of shape (n_groups,)
        Relevant documents, and those judged not relevant.
    headroom : ndarray of shape (n_groups,)
        h = max(M - B, 0).
    share : ndarray of shape (n_groups,)
        t / (s + 1), the chance to be worth anything.
    mean, variance : ndarray of shape (n_groups,)
        Of what it is then worth.
    """

    r: IntArray
    s: IntArray
    headroom: IntArray
    share: FloatArray
    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True)
class BPref(_measure.MeasureOverRelevant):
    """Binary preference: how often relevant documents rank above judged others.

    The value is Σ (1 - min(B_d, M)/M) / R over the relevant documents d that are
    retrieved. B_d is the number of documents judged not relevant that stand above d.
    R is the number of relevant documents. M is the smaller of R and the number of
    documents judged not relevant.

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
    AveragePrecision : The measure that BPref replaces where judgments are few.
    residuals : Bounds of other measures where documents are unjudged.

    Notes
    -----
    Unjudged documents (NaN labels) are ignored. BPref is undefined for queries
    without a relevant document. The definition is that of Buckley and Voorhees (2004)
    in the form that trec_eval has used since version 8. In a tie group with s
    documents judged not relevant, each relevant document has 0, 1, ... or s of them
    above it with equal probability. Mean and variance under ties follow from this.

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
        """M of each query."""
        total = groups.total_relevant(self.rel)
        # every judged document has a label of at least 0
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
        t_float = t.astype(np.float64)
        variance = np.maximum(t_float**2 - 1, 0) / 12 / scale / scale
        share = t / (s + 1)
        # without non-relevant documents all preferences hold
        none = most == 0
        share[none], mean[none], variance[none] = 1.0, 1.0, 0.0
        return _Judged(r, s, headroom, share, mean, variance)

    def numerator(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        return groups.sum_groups(judged.r * (judged.share * judged.mean))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        judged = self._judged(groups)
        spread = judged.share * judged.variance
        spread += judged.share * (1 - judged.share) * judged.mean**2
        together = (judged.r + judged.s + 1) / (judged.s + 2)
        return groups.sum_groups(judged.r * spread * together)

    def _outcomes(self, groups: TieGroups) -> _measure.Outcomes:
        judged = self._judged(groups)
        most, total = self._most(groups).tolist(), groups.total_relevant(self.rel)
        sums = [np.ones(1) for _ in range(groups.n_queries)]
        for g in np.flatnonzero(judged.r > 0).tolist():
            query = groups.query[g]
            r, s, headroom = (int(a[g]) for a in (judged.r, judged.s, judged.headroom))
            # without non-relevant documents each relevant one is worth 1
            of_group = _sums(r, s, headroom) if most[query] else np.arange(r + 1) == r
            sums[query] = np.convolve(sums[query], of_group)
        for query, chances in enumerate(sums):
            scale = max(most[query], 1) * max(total[query], 1)
            yield query, np.arange(len(chances)) / scale, chances


def _sums(r: int, s: int, headroom: int) -> FloatArray:
    """Chances of Σ max(headroom - x, 0) over r relevant documents among s others."""
    most = r * headroom
    steps = (r + 1) * (s + 1) * (most + 1)
    if steps > _MOST_STEPS:
        raise ValueError(
            f"the distribution of BPref is computed in at most {_MOST_STEPS:.0e} "
            f"steps, got {steps:.0e} for a tie of {r} relevant and {s} other judged "
            "documents (sampled() estimates it)"
        )
    # rows: relevant documents met so far; columns: their sum
    state = np.zeros((r + 1, most + 1))
    state[0, 0] = 1.0
    for x in range(s + 1):
        worth = max(headroom - x, 0)
        for met in range(r):
            chance = (r - met) / (r - met + s - x)
            moved = chance * state[met]
            state[met + 1, worth:] += moved[: most + 1 - worth]
            state[met] -= moved
    return state[r]
