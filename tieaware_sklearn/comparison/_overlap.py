"""Rank-biased overlap of rankings with ties."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import exp1

from .._display import html, text_tables
from .._engine import checks, segments, tie_groups
from .._engine import lists as _lists
from .._engine.segments import FloatArray, IntArray
from ..evaluation import Summary, _averages
from ..measures import _rank_tables
from . import _systems

#: rank of a document that is not retrieved, below all others
_MISSING = -1


class RankedLists(NamedTuple):
    """A ranking of the documents of each query, as tie groups.

    Attributes
    ----------
    rank : ndarray of shape (n_documents,)
        Integers that compare as the scores do, -1 for documents not retrieved.
    group : ndarray of shape (n_documents,)
        The tie group of each document, numbered query by query from the top; -1 for
        documents not retrieved.
    at : ndarray of shape (n_retrieved,)
        The tie group at each rank of each query.
    lo, size : ndarray of shape (n_groups + 1,)
        Documents of the query above each group, and in it. The last entry is no group.
    length : ndarray of shape (n_queries,)
        Documents retrieved for each query.
    first : ndarray of shape (n_queries + 1,)
        The first group of each query, and the number of groups.
    query : ndarray of shape (n_documents,)
        Number of the query of each document.
    """

    rank: IntArray
    group: IntArray
    at: IntArray
    lo: IntArray
    size: IntArray
    length: IntArray
    first: IntArray
    query: IntArray

    @classmethod
    def of(cls, scores: NDArray[Any], codes: IntArray, n_queries: int) -> RankedLists:
        """Rank scores of any dtype within queries, given by number."""
        rank = tie_groups.dense_ranks(scores)[0]
        rank[~checks.is_retrieved(scores)] = _MISSING
        retrieved = np.flatnonzero(rank > _MISSING)
        order = retrieved[np.lexsort((-rank[retrieved], codes[retrieved]))]
        new = segments.begins(codes[order]) | segments.begins(rank[order])
        return cls._of_order(rank, order, new, codes, n_queries)

    def reordered(self, minor: IntArray, least: IntArray) -> Self:
        """Break the ties of the ranking: smaller `minor` first, then `least`."""
        shown = np.flatnonzero(self.rank > _MISSING)
        # groups are numbered query by query
        keys = least[shown], minor[shown], self.group[shown]
        order = shown[np.lexsort(keys)]
        new = np.ones(len(order), dtype=bool)
        return self._of_order(self.rank, order, new, self.query, len(self.length))

    @classmethod
    def _of_order(
        cls, rank: IntArray, order: IntArray, new: Any, codes: IntArray, n_queries: int
    ) -> Self:
        """Build from the retrieved documents in order, and where groups begin."""
        length = np.bincount(codes[order], minlength=n_queries)
        at = np.cumsum(new) - 1
        group = np.full(len(rank), _MISSING, dtype=np.int64)
        group[order] = at
        starts, size = segments.runs(at)
        owner = codes[order][starts]
        lo = np.append(starts - segments.starts_of(length)[owner], 0)
        first = segments.offsets_of(np.bincount(owner, minlength=n_queries))
        return cls(rank, group, at, lo, np.append(size, 1), length, first, codes)

    def at_depths(self, owner: IntArray, place: IntArray) -> IntArray:
        """Tie group at each rank of a query; below its list, one after the last."""
        groups = self.first[owner + 1]
        inside = place < self.length[owner]
        groups[inside] = self.at[
            segments.starts_of(self.length)[owner[inside]] + place[inside]
        ]
        return groups

    def cuts(self, depth: IntArray) -> NDArray[np.bool_]:
        """Whether a depth cuts a tie group, for each query."""
        inside = (depth > 0) & (depth < self.length)
        last = self.at_depths(np.arange(len(depth)), np.maximum(depth - 1, 0))
        return inside & (self.lo[last] + self.size[last] > depth)


def mean_overlaps(a: RankedLists, b: RankedLists, deepest: IntArray) -> FloatArray:
    """Mean overlap of each query at depths 1, 2, ... `deepest`, one after another.

    The orders of the ties of both rankings are independent, so that the mean is the
    sum over documents of P_a(rank <= d) P_b(rank <= d). At any depth at most one group
    of each ranking is cut: its documents have P = (d - lo)/n, those above it 1. So the
    sum has four parts: documents above both groups, those of one group that are above
    the other, and those of both. Counts are exact, and nothing is subtracted from
    anything but counts.
    """
    owner, place = segments.expand(deepest)
    of_a, of_b = a.at_depths(owner, place), b.at_depths(owner, place)
    share_a = (place + 1 - a.lo[of_a]) / a.size[of_a]
    share_b = (place + 1 - b.lo[of_b]) / b.size[of_b]

    shared = (a.group > _MISSING) & (b.group > _MISSING)
    in_a, in_b, query = a.group[shared], b.group[shared], a.query[shared]
    # above the groups at a depth are the groups that end before it
    end = np.maximum(a.lo[in_a] + a.size[in_a], b.lo[in_b] + b.size[in_b])
    inside = end < deepest[query]
    at = segments.starts_of(deepest)[query[inside]] + end[inside]
    above = np.bincount(at, minlength=len(owner))
    both_above = segments.count_before(above, deepest) + above
    a_cut, both_cut = _within(in_a, in_b, of_a, of_b, len(b.size))
    b_cut, _ = _within(in_b, in_a, of_b, of_a, len(a.size))
    cut = both_above + a_cut * share_a + b_cut * share_b
    return np.asarray(cut + both_cut * share_a * share_b)


def _within(
    inside: IntArray, other: IntArray, group: IntArray, beside: IntArray, n_other: int
) -> tuple[IntArray, IntArray]:
    """Count documents of each `group` whose `other` group is above, and is, `beside`.

    `inside` and `other` are the groups of each document in the two rankings.
    """
    key = np.sort(inside * n_other + other)
    cell = group * n_other + beside
    start = np.searchsorted(key, cell)
    return (
        start - np.searchsorted(key, group * n_other),
        np.searchsorted(key, cell, side="right") - start,
    )


def extreme_orders(
    a: RankedLists, b: RankedLists, *, best: bool
) -> tuple[RankedLists, RankedLists]:
    """Order all ties for the most or the least overlap at every depth.

    At depth d a ranking chooses some documents of the group that is cut there. Each
    that the other ranking has above its own cut adds 1, each that it has below adds 0,
    and those of both groups add 1 where both choose them. Most overlap: take documents
    in the order of the other ranking, and in one common order where they tie in both.
    Least: in its reverse, and in opposite orders. Neither depends on d, so that one
    order is extreme at all depths.
    """
    rows = np.arange(len(a.rank))
    if best:
        return a.reordered(-b.rank, rows), b.reordered(-a.rank, rows)
    return a.reordered(b.rank, rows), b.reordered(a.rank, -rows)


_OF_QUERIES = ("expected", "worst", "best", "minimum", "residual")
_TERMS = {
    "minimum": "lower bound if the lists went on",
    "residual": "from this bound to the upper one",
    "distance": "rank-biased distance, 1 - mean",
}


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
    qid: NDArray[Any]
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
            cells[shown] = np.nan if unknown else _averages.mean(values)
        cells["n_queries"] = there.sum()
        columns = {name: np.array([cell]) for name, cell in cells.items()}
        return Summary(columns, ("overlap",), {}, _tables_of_means)

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in (*_OF_QUERIES, "distance")}
        first, second = self.n_retrieved.T
        counts = {"n_retrieved_true": first, "n_retrieved_score": second}
        return {"qid": self.qid, **values, **counts}

    def _tables(self) -> list[text_tables.Table]:
        return self.summary()._tables()


def _tables_of_means(of: Summary) -> list[text_tables.Table]:
    (_, name), *figures, (_, count) = of.columns.items()
    return [
        text_tables.Table.of(("", name), *figures, ("queries", count), terms=_TERMS)
    ]


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
    pairwise_overlap : The overlap of every pair of systems.
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
    columns, queries, _ = _lists.check_rankings(given, qid, mask)
    p, depth = check_reader(p, depth)
    a, b = _ranked(columns, queries)
    return RankBiasedOverlap(
        p=p,
        depth=depth,
        qid=queries.qid,
        **overlap_values(a, b, p, depth),
        n_retrieved=np.column_stack([a.length, b.length]),
    )


def check_reader(p: Any, depth: Any) -> tuple[float, int | None]:
    """Check the persistence `p` and the depth of evaluation."""
    checks.check_share(p, "p")
    if depth is not None:
        checks.check_count(depth, "depth")
    return float(p), None if depth is None else int(depth)


def _ranked(
    columns: Iterable[NDArray[Any]], queries: checks.Queries
) -> list[RankedLists]:
    codes, n = queries.codes, queries.n_queries
    return [RankedLists.of(queries.arrange(scores), codes, n) for scores in columns]


def overlap_values(
    a: RankedLists, b: RankedLists, p: float, depth: int | None
) -> dict[str, FloatArray]:
    """Compute all values of each query, NaN where a ranking retrieves nothing."""
    lengths = np.stack([a.length, b.length])
    if depth is not None:
        lengths = np.minimum(lengths, min(depth, int(lengths.max())))
    lists = _Lists(lengths.min(axis=0), lengths.max(axis=0))
    overlaps = mean_overlaps(a, b, lists.longer)
    orders = (extreme_orders(a, b, best=best) for best in (False, True))
    ends = (mean_overlaps(*pair, lists.longer) for pair in orders)
    worst, best = (lists.extrapolated(one, p) for one in ends)
    residual = lists.residual(overlaps, p)
    residual[a.cuts(lists.longer) | b.cuts(lists.longer)] = np.nan
    results = {
        # a mean equal to one of its bounds may differ from it in the last bit
        "expected": np.clip(lists.extrapolated(overlaps, p), worst, best),
        "worst": worst,
        "best": best,
        "minimum": lists.minimum(overlaps, p),
        "residual": residual,
    }
    nothing = lists.shorter == 0
    return {name: np.where(nothing, np.nan, value) for name, value in results.items()}


class _Lists(NamedTuple):
    """Two rankings of each query, and the ranks down to which these are known.

    Overlaps are those at ranks 1, 2, ... `longer` of each query, one after another.
    """

    shorter: IntArray
    longer: IntArray

    def extrapolated(self, overlaps: FloatArray, p: float) -> FloatArray:
        """RBO_EXT, which extends the shorter list with the agreement at its end.

        Equation 32 says that the agreement is (X_d + X_s (d - s)/s)/d below rank s,
        and stays what it is at rank l.
        """
        owner, place = segments.expand(self.longer)
        depth, short = place + 1, np.maximum(self.shorter[owner], 1)
        at_end = overlaps[segments.starts_of(self.longer)[owner] + short - 1]
        # documents in common that are expected below the end of the shorter list
        more = at_end * (np.maximum(depth - short, 0) / short)
        agreement = np.minimum((overlaps + more) / depth, 1.0)
        last = self._last(agreement)
        weight, beyond = _rank_tables.geometric_weight(place, p), p**self.longer
        direct = segments.sum_segments(weight * agreement, self.longer) + beyond * last
        # weights sum to 1: for p near 1, the missing part is more accurate
        lost = weight * (1.0 - agreement)
        distance = segments.sum_segments(lost, self.longer) + beyond * (1.0 - last)
        return np.where(distance < 0.5, 1.0 - distance, direct)

    def minimum(self, overlaps: FloatArray, p: float) -> FloatArray:
        """RBO_MIN, with no document in common below rank l."""
        place = segments.expand(self.longer)[1]
        seen = _rank_tables.geometric_weight(place, p) * (overlaps / (place + 1))
        rest = self._last(overlaps) * _tail(self.longer, p)
        return np.asarray(segments.sum_segments(seen, self.longer) + rest)

    def residual(self, overlaps: FloatArray, p: float) -> FloatArray:
        """RBO_RES, with all documents in common below s and l that could be.

        Below rank s each rank may add one document, below l two, until all agree at
        rank f = s + l - X_l.
        """
        total = self._last(overlaps)
        full = np.maximum(self.shorter + self.longer - np.rint(total), 0)
        full = full.astype(np.int64)
        owner, place = segments.expand(full - self.shorter)
        rank = place + self.shorter[owner]
        added = place + 1 + np.maximum(rank + 1 - self.longer[owner], 0)
        weight = _rank_tables.geometric_weight(rank, p)
        below = segments.sum_segments(
            weight * (added / (rank + 1)), full - self.shorter
        )
        beyond = p**full - total * _tail(full, p)
        return np.asarray(below + np.maximum(beyond, 0.0))

    def _last(self, values: FloatArray) -> FloatArray:
        """Value at rank l of each query; 0 where nothing is retrieved."""
        out = np.zeros(len(self.longer))
        filled = self.longer > 0
        out[filled] = values[(np.cumsum(self.longer) - 1)[filled]]
        return out


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
    return np.asarray((1.0 - p) * (direct + integral / p))


@dataclass(frozen=True, eq=False, repr=False)
class OverlapMatrix(html.Result):
    """Mean rank-biased overlap of every pair of systems; prints as a table.

    The matrices are symmetric. Each system is also paired with itself: its mean overlap
    is below 1 if ties leave its ranking open.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    p : float
        Persistence.
    depth : int or None
        Depth of evaluation.
    mean, worst, best : ndarray of shape (n_systems, n_systems)
        Averages over queries of the expected, worst and best overlaps, as in
        `RankBiasedOverlap`.
    n_queries : ndarray of shape (n_systems, n_systems), int
        Number of queries for which both systems retrieve documents.

    See Also
    --------
    pairwise_overlap : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import pairwise_overlap
    >>> overlaps = pairwise_overlap({"a": [3, 2, 1], "b": [2, 2, 1]}, p=0.5)
    >>> overlaps.mean
    array([[1.  , 0.75],
           [0.75, 0.75]])
    """

    systems: tuple[str, ...]
    p: float
    depth: int | None
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    n_queries: IntArray

    @property
    def distance(self) -> FloatArray:
        """Rank-biased distance, 1 - `mean`: of shape (n_systems, n_systems)."""
        return 1.0 - self.mean

    def _columns(self) -> dict[str, Any]:
        names = np.array(self.systems, dtype=object)
        rows, columns = np.triu_indices(len(names))
        values = {
            name: getattr(self, name)[rows, columns]
            for name in ("mean", "worst", "best", "distance", "n_queries")
        }
        return {"a": names[rows], "b": names[columns], **values}

    def _tables(self) -> list[text_tables.Table]:
        a, b, mean, worst, best, _, n_queries = self._columns().values()
        columns = {"A": a, "B": b, "mean": mean, "worst": worst, "best": best}
        columns["queries"], ranges = n_queries, text_tables.Ranges(worst, mean, best)
        return [text_tables.Table.of(*columns.items(), left=2, ranges=ranges)]


def pairwise_overlap(
    y_score: Any,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    p: float = 0.9,
    depth: int | None = None,
) -> OverlapMatrix:
    """Mean rank-biased overlap (RBO) of every pair of systems.

    Parameters
    ----------
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents, with -inf for documents that
        the system does not retrieve. A system may be a matrix with a query in each
        row, as in `compare_systems`.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices holds a document. By default, cells that are
        missing in all of them are padding.
    p, depth
        As in `rank_biased_overlap`.

    Returns
    -------
    OverlapMatrix

    Raises
    ------
    ValueError
        As in `rank_biased_overlap`, and for systems with different lengths or the same
        name.

    See Also
    --------
    rank_biased_overlap : Two rankings, query by query, and the definition.
    compare_systems : Tests whether systems differ by a measure.

    Notes
    -----
    The orders of the ties of two systems are independent, also if a system is compared
    with itself. Its mean overlap with itself equals that with any one order of its
    ties, such as the order of trec_eval.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import pairwise_overlap
    >>> systems = {"clicks": [9, 5, 5, 1], "age": [2, 3, 1, 1]}
    >>> print(pairwise_overlap(systems, p=0.5))
    A       B         mean   worst    best  queries
    -----------------------------------------------
    clicks  clicks  0.9375  0.8750  1.0000        1
    clicks  age     0.4167  0.3333  0.5000        1
    age     age     0.9792  0.9583  1.0000        1
    """
    names, columns, queries, _ = _systems.check_systems(y_score, qid, mask)
    p, depth = check_reader(p, depth)
    n_systems, lists = len(names), _ranked(columns, queries)
    averages = np.empty((3, n_systems, n_systems))
    counts = np.empty((n_systems, n_systems), dtype=np.int64)
    for i, j in zip(*np.triu_indices(n_systems), strict=True):
        pair = overlap_values(lists[i], lists[j], p, depth)
        values = [_averages.mean(pair[name]) for name in ("expected", "worst", "best")]
        averages[:, i, j] = averages[:, j, i] = values
        counts[i, j] = counts[j, i] = (~np.isnan(pair["expected"])).sum()
    return OverlapMatrix(names, p, depth, averages[0], averages[1], averages[2], counts)
