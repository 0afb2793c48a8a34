"""Rank-biased overlap of rankings with ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import exp1

from .._display import html
from .._engine import checks, lists, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..evaluation import Summary
from ..measures import _rank_tables
from ..statistics.averages import weighted_mean
from . import _shared, _text


class _Ranking(NamedTuple):
    """A ranking of the documents of each query, down to a depth.

    Each query has a place for each rank, and a last place for all lower ranks. The
    places of all queries are numbered together, one query after another.

    Attributes
    ----------
    n_retrieved, n : ndarray of shape (n_queries,)
        Number of retrieved documents, and number of ranks with documents.
    first : ndarray of shape (n_queries,)
        Place of rank 1.
    lo, hi : ndarray of shape (n_documents,)
        For the tie of each document, the place of the first rank and the place below
        the last rank.
    cut : Cut
        Sizes of the tie at each place, if the ranking is cut below this place.
    """

    n_retrieved: IntArray
    n: IntArray
    first: IntArray
    lo: IntArray
    hi: IntArray
    cut: _shared.Cut


def _rank(scores: Array, sizes: IntArray, depth: int | None) -> _Ranking:
    """Rank documents by scores of any dtype, which are sorted by query."""
    retrieved = checks.is_retrieved(scores)
    ties = tie_groups.ties_of_rows(scores, retrieved, sizes)
    n_retrieved = segments.count_segments(retrieved, sizes)
    deepest = len(scores)
    if depth is not None:
        deepest = min(depth, deepest)
    n = np.minimum(n_retrieved, deepest)
    ranks = np.minimum(sizes, deepest)
    first = segments.starts_of(ranks + 1)
    # Documents that are not retrieved form a tie below all ranks. The group of these
    # documents is -1, which is the index of the last entry.
    starts = np.append(ties.lo, len(scores))[ties.group]
    ends = np.append(ties.lo + ties.n, len(scores))[ties.group]
    below = np.repeat(ranks, sizes)
    shift = np.repeat(first, sizes)
    lo = np.minimum(starts, below) + shift
    hi = np.minimum(ends, below) + shift
    n_places = int((ranks + 1).sum())
    tied = np.ones(n_places, dtype=np.int64)
    fit = np.ones(n_places, dtype=np.int64)
    within = np.clip(ranks[ties.query] - ties.lo, 0, ties.n)
    start = first[ties.query] + ties.lo
    places = segments.consecutive(start, within)
    tied[places] = np.repeat(ties.n, within)
    fit[places] = places - np.repeat(start, within) + 1
    return _Ranking(n_retrieved, n, first, lo, hi, _shared.Cut(tied, fit))


#: Names of the attributes with a statistic for each query.
_STATISTICS = ("expected", "worst", "best", "minimum", "residual", "distance")


@dataclass(frozen=True, eq=False, repr=False)
class RankBiasedOverlap(html.Result):
    """Rank-biased overlap of two rankings for each query, printed as a table.

    The overlaps, `residual` and `distance` are NaN for a query for which at least one
    ranking retrieves no document.

    Attributes
    ----------
    p : float
        Persistence, as given to `rank_biased_overlap`.
    depth : int or None
        Number of top ranks that were compared, or None if all ranks were compared.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, worst, best : ndarray of shape (n_queries,)
        Extrapolated overlap, RBO_EXT: the exact mean over the orders of the ties of
        both rankings, the smallest value, and the largest value.
    minimum : ndarray of shape (n_queries,)
        Exact mean of RBO_MIN over the orders of ties. RBO_MIN is the overlap of lists
        that continue below the known ranks without further documents in common.
    residual : ndarray of shape (n_queries,)
        RBO_RES: the largest amount by which the overlap of lists that continue below
        the known ranks can exceed RBO_MIN. If `depth` ends inside a tie, RBO_RES may
        depend on the order of the tie, so the residual is NaN. Otherwise, RBO_RES is
        the same in every order of ties.
    n_retrieved : ndarray of shape (n_queries, 2), int
        Number of documents that each ranking retrieves.

    See Also
    --------
    rank_biased_overlap : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import rank_biased_overlap
    >>> overlap = rank_biased_overlap([2, 1, 2, 1], [1, 2, 2, 1], qid=[1, 1, 2, 2])
    >>> overlap.expected.round(4)
    array([0.9, 1. ])
    >>> overlap.distance.round(4)
    array([0.1, 0. ])
    """

    p: float
    depth: int | None
    qid: Array
    expected: FloatArray
    worst: FloatArray
    best: FloatArray
    minimum: FloatArray
    residual: FloatArray
    n_retrieved: IntArray

    @property
    def distance(self) -> FloatArray:
        """Rank-biased distance, 1 - `expected`: ndarray of shape (n_queries,)."""
        return 1.0 - self.expected

    def summary(self) -> Summary:
        """Average over the queries for which both rankings retrieve documents.

        Returns
        -------
        Summary
            One row, whose ``overlap`` is a name such as ``"RBO(p=0.9)"``, with these
            columns:

            - ``mean`` is the average of the expected values.
            - ``worst``, ``best``, ``minimum`` and ``distance`` are averages of the
              attributes with these names.
            - ``residual`` is the average of `residual`, or NaN if `residual` is NaN for
              any of these queries.
            - ``n_queries`` is the number of queries in the averages.
        """
        is_defined = ~np.isnan(self.expected)
        overlap = f"RBO(p={self.p:g})"
        if self.depth is not None:
            overlap += f"@{self.depth}"
        columns = {"overlap": np.array([overlap])}
        for name in _STATISTICS:
            values = getattr(self, name)[is_defined]
            average = weighted_mean(values)
            # `weighted_mean` leaves out NaN.
            if name == "residual" and np.isnan(values).any():
                average = np.nan
            head = "mean" if name == "expected" else name
            columns[head] = np.array([average])
        columns["n_queries"] = np.array([is_defined.sum()])
        return Summary(columns, ("overlap",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        columns = {"qid": self.qid}
        for name in _STATISTICS:
            columns[name] = getattr(self, name)
        columns["n_retrieved_true"] = self.n_retrieved[:, 0]
        columns["n_retrieved_score"] = self.n_retrieved[:, 1]
        return columns


def rank_biased_overlap(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    p: float = 0.9,
    depth: int | None = None,
) -> RankBiasedOverlap:
    """Compute the rank-biased overlap (RBO) of two rankings for each query.

    Both rankings may have ties, and may retrieve different documents and different
    numbers of documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the first ranking. The document with the highest score ranks first. A
        document with a score of -inf is not retrieved. In a matrix, each row is a
        query.
    y_score : array-like of the shape of y_true
        Scores of the second ranking, for the same documents. The overlap does not
        depend on which ranking is first.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all documents belong to one query. Matrices
        accept no `qid`: each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices contains a document. By default, cells that
        are missing in both matrices are padding.
    p : float, default=0.9
        Persistence: the probability, above 0 and below 1, that a reader who compares
        the rankings goes on from one depth to the next. With 0.9, the first ten ranks
        have 86% of the weight.
    depth : int, optional
        Number of top ranks of each ranking to compare. By default, all ranks are
        compared.

    Returns
    -------
    RankBiasedOverlap

    Raises
    ------
    ValueError
        If scores are NaN (except in padding) or +inf, if arrays differ in length or
        shape, if query ids are missing, if `qid` is set for matrices, if `mask` is set
        for one-dimensional arrays, if a row of a matrix contains no document, if `p` is
        outside (0, 1), or if `depth` is not an integer >= 1.

    See Also
    --------
    rank_correlation : Computes coefficients of two orderings of the same documents.
    compare_systems : Compares systems by the values of a measure.
    RBP : Evaluates a ranking with the same model of a reader.

    Notes
    -----
    RBO = (1 - p) Σ_d p^(d - 1) X_d / d, where X_d is the number of documents that are
    among the first d documents of both rankings (Webber, Moffat and Zobel, TOIS 2010,
    equation 4). The shorter ranking is known down to rank s, and the longer ranking
    down to rank l. Three values are computed: the extrapolated overlap RBO_EXT
    (equation 32), the least overlap RBO_MIN (equation 11), and the residual RBO_RES.
    The overlap of the whole rankings lies between RBO_MIN and RBO_MIN + RBO_RES.

    RBO_EXT and RBO_MIN are linear in X_1, ..., X_l. The exact means of RBO_EXT and
    RBO_MIN over the orders of ties therefore follow from the means of X_d. The orders
    of the ties of the two rankings are independent, so the mean of X_d is the sum over
    documents of P(rank <= d) in one ranking times P(rank <= d) in the other ranking.
    The variant RBO^a of Corsi and Urbano (SIGIR 2024) treats ties in the same way.
    RBO_RES is not linear, but depends only on s, l and X_l. X_l does not depend on the
    order of ties unless `depth` ends inside a tie.

    `best` and `worst` are exact. One order of all ties has the greatest overlap at
    every depth: documents that tie in one ranking are in the order of the other
    ranking, and documents that tie in both rankings are in a common order. One order of
    all ties also has the least overlap at every depth: documents that tie in one
    ranking are in the reverse order of the other ranking, and documents that tie in
    both rankings are in opposite orders.

    The expected overlap of a ranking with itself is below 1 if compared ranks are tied,
    because the ties of the two copies are ordered independently. The best overlap is 1.
    The attribute `distance` of the result is the rank-biased distance, 1 - RBO. The
    variants RBO^w (ties share the highest of their ranks) and RBO^b (normalised so that
    a ranking with ties agrees fully with itself) are not means over orders of ties, and
    are not computed.

    With or without ties, time is O(n log n) and memory is O(n) in the number of
    documents n.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import rank_biased_overlap
    >>> overlap = rank_biased_overlap([4, 3, 2, 1], [2, 2, 2, 1])  # a b c d, (a b c) d
    >>> print(overlap)
                  mean   worst    best  minimum  residual  distance  queries
    ------------------------------------------------------------------------
    RBO(p=0.9)  0.9033  0.8550  1.0000   0.5097    0.3936    0.0967        1
    """
    rankings = {"y_true": y_true, "y_score": y_score}
    columns, queries, _ = lists.check_rankings(rankings, qid, mask)
    checks.check_share(p, "p")
    p = float(p)
    if depth is not None:
        checks.check_count(depth, "depth")
        depth = int(depth)
    first, second = columns
    a = _rank(queries.arrange(first), queries.sizes, depth)
    b = _rank(queries.arrange(second), queries.sizes, depth)

    # The rankings are known down to the ranks s and l, s <= l. Arrays of overlaps
    # contain the ranks d = 1, 2, ... l of each query, one query after another.
    shorter = np.minimum(a.n, b.n)
    longer = np.maximum(a.n, b.n)
    owner, place = segments.expand(longer)
    d = place + 1
    is_last = d == longer[owner]
    weight = _rank_tables.geometric_weight(place, p)
    # Both rankings have the same places, because they have the same documents.
    n_places = len(a.cut.fit)
    places_per_query = segments.sizes_of(a.first, n_places)

    def count(a_place: IntArray, b_place: IntArray) -> IntArray:
        # A document counts at the lower one of its two places, and at all places below.
        added = np.bincount(np.maximum(a_place, b_place), minlength=n_places)
        return segments.count_before(added, places_per_query) + added

    def total(values: Array) -> FloatArray:
        return segments.sum_segments(values, longer)

    def at_rank_l(values: Array) -> FloatArray:
        return total(np.where(is_last, values, 0.0))

    # The mean over the orders of ties is the sum over documents of P_a(rank <= d)
    # P_b(rank <= d). A depth d cuts at most one tie of each ranking. If h documents
    # are above this tie, its t documents have P = (d - h)/t, and the documents above it
    # have P = 1. Counts are exact, and only counts are subtracted, so no bits are lost.
    # One order of all ties has the least overlap at every depth, and one order has the
    # greatest (see the notes). The extremes at all depths therefore belong to the same
    # order.
    shared = _shared.SharedCounts.from_bounds(count, (a.lo, a.hi), (b.lo, b.hi))
    least, most = shared.extremes(a.cut, b.cut)
    places = segments.consecutive(a.first, longer)
    mean = shared.mean(a.cut, b.cut)[places]

    # RBO_EXT extends the shorter list with the agreement at its end. By equation 32,
    # the agreement is (X_d + X_s (d - s)/s)/d below rank s. Below rank l, it is the
    # agreement at rank l.
    # If one ranking retrieves nothing, s is 0, and the value is set to NaN below.
    short = np.maximum(shorter, 1)[owner]
    # The place of rank s in the arrays of overlaps.
    end = segments.starts_of(longer)[owner] + short - 1
    extension = np.maximum(d - short, 0) / short
    beyond = p**longer
    extrapolated = []
    for overlaps in (mean, least[places], most[places]):
        # The overlap includes documents that are expected below the shorter list.
        extended = overlaps + overlaps[end] * extension
        # Only by rounding could the agreement exceed 1.
        agreement = np.minimum(extended / d, 1.0)
        last = at_rank_l(agreement)
        overlap = total(weight * agreement) + beyond * last
        # The weights sum to 1, so the overlap is 1 - distance. If the overlap is near
        # 1, 1 - distance is more accurate than the sum of many terms.
        distance = total(weight * (1.0 - agreement)) + beyond * (1.0 - last)
        overlap = np.where(distance < 0.5, 1.0 - distance, overlap)
        extrapolated.append(np.where(shorter > 0, overlap, np.nan))
    expected, worst, best = extrapolated
    # A computed mean may exceed its exact bound in the last bit.
    expected = np.clip(expected, worst, best)

    # RBO_MIN assumes no document in common below rank l.
    shared_at_l = at_rank_l(mean)
    minimum = total(weight * (mean / d)) + shared_at_l * _tail(longer, p)

    # RBO_RES assumes as many documents in common below s and l as possible. Each rank
    # from s + 1 to l may add one document, and each rank below l two documents, until
    # all agree at rank f = s + l - X_l. X_l is rounded, because it is a whole number
    # unless the depth cuts a tie, where RBO_RES becomes NaN.
    full = np.maximum(shorter + longer - np.rint(shared_at_l), 0).astype(np.int64)
    owner, place = segments.expand(full - shorter)
    rank = place + shorter[owner]
    added = place + 1 + np.maximum(rank + 1 - longer[owner], 0)
    gained = _rank_tables.geometric_weight(rank, p) * (added / (rank + 1))
    until_full = segments.sum_segments(gained, full - shorter)
    beyond_full = p**full - shared_at_l * _tail(full, p)
    # Only by rounding could the second part be below 0.
    residual = until_full + np.maximum(beyond_full, 0.0)

    minimum[shorter == 0] = np.nan
    residual[shorter == 0] = np.nan
    is_cut = (a.cut.fit < a.cut.tied) | (b.cut.fit < b.cut.tied)
    residual[at_rank_l(is_cut[places]) > 0] = np.nan
    n_retrieved = np.column_stack([a.n_retrieved, b.n_retrieved])
    return RankBiasedOverlap(
        p, depth, queries.qid, expected, worst, best, minimum, residual, n_retrieved
    )


#: Number of terms of a series that are added. An integral replaces the remaining terms.
_DIRECT = 64
#: Coefficients B_2j / (2j)! of the Euler-Maclaurin formula.
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)


def _tail(above: IntArray, p: float) -> FloatArray:
    """Return the sums of (1 - p) p^(d - 1)/d over the ranks d > `above`.

    The closed form is -(1 - p) ln(1 - p) / p minus the terms of the first ranks. This
    difference loses all precision deep in a list, so the first terms after `above` are
    added directly. For the remaining terms, the Euler-Maclaurin formula for exp(-λx)/x
    is accurate to the last bits if p^64 is large enough to matter.
    """
    ranks = above[:, None] + np.arange(1, _DIRECT + 1)
    direct = (p ** (ranks - 1) / ranks).sum(axis=1)
    rate = -np.log(p)
    start = (above + _DIRECT + 1).astype(float)
    decay = np.exp(-rate * start)
    remainder = exp1(rate * start) + decay / start / 2
    # Derivatives of order m, without the sign and exp(-λx), are sums of positive terms.
    derivative = 1.0 / start
    correction = np.zeros(len(start))
    for m in range(1, 2 * len(_BERNOULLI)):
        derivative = (rate**m + m * derivative) / start
        if m % 2:
            correction += _BERNOULLI[m // 2] * derivative
    remainder += decay * correction
    # The remainder is a sum of p^d/d.
    return (1.0 - p) * (direct + remainder / p)
