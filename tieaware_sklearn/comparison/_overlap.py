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

    Each query has a place for each rank, and one more for what is below.

    Attributes
    ----------
    retrieved, n : ndarray of shape (n_queries,)
        Documents that are retrieved, and ranks that have documents.
    first : ndarray of shape (n_queries,)
        The place of rank 1.
    lo, hi : ndarray of shape (n_documents,)
        The places below as many ranks as documents are above the tie of each document,
        and as these are with its tie.
    cut : Cut
        The tie at each place, cut there.
    """

    retrieved: IntArray
    n: IntArray
    first: IntArray
    lo: IntArray
    hi: IntArray
    cut: _shared.Cut

    @classmethod
    def of(cls, scores: Array, sizes: IntArray, depth: int | None) -> _Ranking:
        """Rank scores of any dtype, which stand query by query."""
        retrieved = checks.is_retrieved(scores)
        ties = tie_groups.ties_of_rows(scores, retrieved, sizes)
        count = segments.count_segments(retrieved, sizes)
        # no list is longer than all of them
        deepest = len(scores) if depth is None else min(depth, len(scores))
        n, ranks = np.minimum(count, deepest), np.minimum(sizes, deepest)
        first = segments.starts_of(ranks + 1)
        # documents that are not retrieved are in a tie below all ranks
        lo, hi = (
            np.minimum(np.append(end, len(scores))[ties.group], np.repeat(ranks, sizes))
            + np.repeat(first, sizes)
            for end in (ties.lo, ties.lo + ties.n)
        )
        tied, fit = np.ones((2, int((ranks + 1).sum())), dtype=np.int64)
        within = np.clip(ranks[ties.query] - ties.lo, 0, ties.n)
        start = first[ties.query] + ties.lo
        places = segments.consecutive(start, within)
        tied[places] = np.repeat(ties.n, within)
        fit[places] = places - np.repeat(start, within) + 1
        return cls(count, n, first, lo, hi, _shared.Cut(tied, fit))


_OF_QUERIES = ("expected", "worst", "best", "minimum", "residual")


@dataclass(frozen=True, eq=False, repr=False)
class RankBiasedOverlap(html.Result):
    """Rank-biased overlap of two rankings for each query; prints as a table.

    All values are NaN for a query for which one ranking retrieves nothing.

    Attributes
    ----------
    p : float
        Persistence.
    depth : int or None
        Depth of evaluation.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, worst, best : ndarray of shape (n_queries,)
        Extrapolated overlap, RBO_EXT: its exact mean over the orders of the ties of
        both rankings, and its values in the orders with the least and the most overlap.
    minimum : ndarray of shape (n_queries,)
        Exact mean of RBO_MIN over the orders of ties. RBO_MIN is the overlap if the
        lists went on without a further document in common.
    residual : ndarray of shape (n_queries,)
        RBO_RES: how much greater the overlap could be if the lists went on. It is the
        same in every order of ties. NaN if `depth` ends inside a tie, because it then
        depends on the order.
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
            One row, ``overlap``, with the averages ``mean`` (of the expected values),
            ``worst``, ``best``, ``minimum``, ``residual`` (NaN if it is NaN for any
            query) and ``distance``, and the number ``n_queries``.
        """
        there = ~np.isnan(self.expected)
        at = "" if self.depth is None else f"@{self.depth}"
        cells: dict[str, Any] = {"overlap": f"RBO(p={self.p:g}){at}"}
        for name in (*_OF_QUERIES, "distance"):
            values = getattr(self, name)[there]
            unknown = name == "residual" and np.isnan(values).any()
            shown = "mean" if name == "expected" else name
            cells[shown] = np.nan if unknown else weighted_mean(values)
        cells["n_queries"] = there.sum()
        columns = {name: np.array([cell]) for name, cell in cells.items()}
        return Summary(columns, ("overlap",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in (*_OF_QUERIES, "distance")}
        first, second = self.n_retrieved.T
        return {
            "qid": self.qid,
            **values,
            "n_retrieved_true": first,
            "n_retrieved_score": second,
        }


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
    numbers of them.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the first ranking; the highest ranks first. A document with a score
        of -inf is not retrieved. In a matrix, each row is a query.
    y_score : array-like of the shape of y_true
        Scores of the second ranking, for the same documents. No result depends on
        which ranking is first.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices holds a document. By default, cells that are
        missing in both are padding.
    p : float, default=0.9
        Persistence: the probability that a reader who compares the rankings goes on
        from one depth to the next. With 0.9, the first ten ranks have 86% of the
        weight.
    depth : int, optional
        Number of top ranks of each ranking to compare. By default all ranks.

    Returns
    -------
    RankBiasedOverlap

    Raises
    ------
    ValueError
        For scores that are NaN or +inf, arrays of different lengths, missing query
        ids, `p` outside (0, 1), and `depth` < 1.

    See Also
    --------
    rank_correlation : Coefficients of two orderings of the same documents.
    compare_systems : Tests whether systems differ by a measure.
    RBP : The measure with the same model of a reader.

    Notes
    -----
    RBO = (1 - p) Σ_d p^(d - 1) X_d / d, where X_d is the number of documents among the
    first d of both rankings (Webber, Moffat and Zobel, TOIS 2010, equation 4). The
    rankings are known for s and l ranks only, s <= l. Three values are computed: the
    extrapolated overlap RBO_EXT (equation 32), the least overlap RBO_MIN (equation 11),
    and the residual RBO_RES. The lists may differ in length. The overlap of the whole
    rankings lies between RBO_MIN and RBO_MIN + RBO_RES.

    RBO_EXT and RBO_MIN are linear in X_1, ..., X_l. Their exact means over the orders
    of ties are therefore their values for the means of X_d. The orders of the ties of
    the two rankings are independent, so that the mean of X_d is the sum over
    documents of P(rank <= d) in one ranking times P(rank <= d) in the other. This is
    how the variant RBO^a of Corsi and Urbano (SIGIR 2024) treats ties. RBO_RES is not
    linear, but depends only on X_l, which no order of ties changes, unless `depth`
    ends inside a tie.

    `best` and `worst` are exact. One order of all ties has the greatest overlap at
    every depth: documents that tie in one ranking take the order of the other, and a
    common order if they tie in both. For the least overlap at every depth, they take
    the reverse order of the other ranking, and opposite orders if they tie in both.

    A ranking with ties has an expected overlap with itself below 1, because its ties
    are ordered independently. The best overlap is 1. The attribute `distance` of the
    result is the rank-biased distance, 1 - RBO. The variants RBO^w (ties share the
    highest of their ranks) and RBO^b (normalised so that a ranking with ties agrees
    fully with itself) are not means over orders of ties, and are not computed.

    Time is O(n log n) and memory O(n) in the number of documents, whatever their ties.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import rank_biased_overlap
    >>> overlap = rank_biased_overlap([4, 3, 2, 1], [2, 2, 2, 1])  # a b c d, (a b c) d
    >>> print(overlap)
                  mean   worst    best  minimum  residual  distance  queries
    ------------------------------------------------------------------------
    RBO(p=0.9)  0.9033  0.8550  1.0000   0.5097    0.3936    0.0967        1
    """
    given = {"y_true": y_true, "y_score": y_score}
    columns, queries, _ = lists.check_rankings(given, qid, mask)
    checks.check_share(p, "p")
    p = float(p)
    if depth is not None:
        checks.check_count(depth, "depth")
        depth = int(depth)
    arranged = map(queries.arrange, columns)
    a, b = (_Ranking.of(scores, queries.sizes, depth) for scores in arranged)
    return RankBiasedOverlap(
        p=p,
        depth=depth,
        qid=queries.qid,
        n_retrieved=np.column_stack([a.retrieved, b.retrieved]),
        **_overlaps(a, b, p),
    )


def _overlaps(a: _Ranking, b: _Ranking, p: float) -> dict[str, FloatArray]:
    """Compute RBO_EXT (mean, least and greatest), RBO_MIN and RBO_RES of each query.

    NaN where one ranking retrieves nothing. The rankings are known down to the ranks s
    and l, s <= l. Arrays of overlaps have the ranks 1, 2, ... l of each query, one
    after another.

    The mean over the orders of ties is the sum over documents of P_a(rank <= d)
    P_b(rank <= d). At any depth at most one tie of each ranking is cut: its documents
    have P = (d - lo)/n, those above it 1. Counts are exact, and nothing is subtracted
    from anything but counts.

    One order of all ties has the least overlap at every depth, and one the greatest:
    see the notes of `rank_biased_overlap`. So the extremes at each depth are those of
    one order.
    """
    shorter, longer = np.minimum(a.n, b.n), np.maximum(a.n, b.n)
    owner, place = segments.expand(longer)
    depth = place + 1
    is_last = depth == longer[owner]
    weight = _rank_tables.geometric_weight(place, p)
    ranks = segments.sizes_of(a.first, len(a.cut.fit))

    def count(one: IntArray, other: IntArray) -> IntArray:
        # documents count from the place on that is below both of their bounds
        new = np.bincount(np.maximum(one, other), minlength=len(a.cut.fit))
        return segments.count_before(new, ranks) + new

    def total(values: Array) -> FloatArray:
        return segments.sum_segments(values, longer)

    def at_rank_l(values: Array) -> FloatArray:
        return total(np.where(is_last, values, 0.0))

    shared = _shared.Shared.of(count, (a.lo, a.hi), (b.lo, b.hi))
    least, most = shared.extremes(a.cut, b.cut)
    at = segments.consecutive(a.first, longer)
    mean = shared.mean(a.cut, b.cut)[at]

    # RBO_EXT extends the shorter list with the agreement at its end. By equation 32,
    # the agreement is (X_d + X_s (d - s)/s)/d below rank s, and stays what it is at
    # rank l.
    short = np.maximum(shorter, 1)[owner]
    end = segments.starts_of(longer)[owner] + short - 1
    more, beyond = np.maximum(depth - short, 0) / short, p**longer
    extrapolated = []
    for overlaps in (mean, least[at], most[at]):
        # with documents in common that are expected below the end of the shorter
        agreement = np.minimum((overlaps + overlaps[end] * more) / depth, 1.0)
        last = at_rank_l(agreement)
        direct = total(weight * agreement) + beyond * last
        # weights sum to 1: for p near 1, the missing part is more accurate
        distance = total(weight * (1.0 - agreement)) + beyond * (1.0 - last)
        value = np.where(distance < 0.5, 1.0 - distance, direct)
        extrapolated.append(np.where(shorter > 0, value, np.nan))
    expected, worst, best = extrapolated

    # RBO_MIN has no document in common below rank l.
    shared_at_l = at_rank_l(mean)
    minimum = total(weight * (mean / depth)) + shared_at_l * _tail(longer, p)

    # RBO_RES has all documents in common below s and l that could be: below rank s
    # each rank may add one document, below l two, until all agree at rank
    # f = s + l - X_l.
    full = np.maximum(shorter + longer - np.rint(shared_at_l), 0).astype(np.int64)
    owner, place = segments.expand(full - shorter)
    rank = place + shorter[owner]
    added = place + 1 + np.maximum(rank + 1 - longer[owner], 0)
    gained = _rank_tables.geometric_weight(rank, p) * (added / (rank + 1))
    below = segments.sum_segments(gained, full - shorter)
    beyond = p**full - shared_at_l * _tail(full, p)
    residual = below + np.maximum(beyond, 0.0)
    cut = (a.cut.fit < a.cut.tied) | (b.cut.fit < b.cut.tied)
    nothing = shorter == 0
    return {
        # a mean equal to one of its bounds may differ from it in the last bit
        "expected": np.clip(expected, worst, best),
        "worst": worst,
        "best": best,
        "minimum": np.where(nothing, np.nan, minimum),
        "residual": np.where(nothing | (at_rank_l(cut[at]) > 0), np.nan, residual),
    }


#: terms of a series that are added before an integral replaces the rest
_DIRECT = 64
#: B_2j / (2j)! of the Euler-Maclaurin formula
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600)


def _tail(above: IntArray, p: float) -> FloatArray:
    """Sum (1 - p) p^(d - 1)/d over the ranks d below `above`.

    The closed form, -ln(1 - p) less the terms above, loses everything deep in a list.
    The first terms are added up; for the rest, where p^64 matters at all, the
    Euler-Maclaurin formula of exp(-λx)/x is right to the last bits.
    """
    ranks = above[:, None] + np.arange(1, _DIRECT + 1)
    direct = (p ** (ranks - 1) / ranks).sum(axis=1)
    rate, start = -np.log(p), (above + _DIRECT + 1).astype(float)
    integral = exp1(rate * start) + np.exp(-rate * start) / start / 2
    # derivatives of order m, without their sign and exp(-λx): sums of positive terms
    derivative, correction = 1.0 / start, np.zeros(len(start))
    for m in range(1, 2 * len(_BERNOULLI)):
        derivative = (rate**m + m * derivative) / start
        if m % 2:
            correction = correction + _BERNOULLI[m // 2] * derivative
    integral = integral + np.exp(-rate * start) * correction
    return (1.0 - p) * (direct + integral / p)
