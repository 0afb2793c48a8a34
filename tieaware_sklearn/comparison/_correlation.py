"""Rank correlation of two orderings."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._display import html
from .._engine import checks, lists, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..evaluation import Summary
from ..statistics.averages import column_means
from . import _text

COEFFICIENTS = ("tau_a", "tau_b", "tau_ap", "spearman", "pearson")
#: all orders of so few documents are counted, for the p-value of tau-AP
_FEW = 7
#: level of the p-values that a summary counts
_ALPHA = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class OrderingCorrelation(html.Result):
    """Correlation coefficients of two orderings for each query; prints as a table.

    Attributes
    ----------
    coefficients : tuple of str
        Names of the coefficients.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    values : ndarray of shape (n_queries, n_coefficients)
        Coefficients. They are NaN where undefined: for a list of one document, and
        for a list whose scores are all equal (tau-a and tau-AP are 0 there).
    pvalues : ndarray of shape (n_queries, n_coefficients)
        Two-sided p-values under random orders; NaN for tau_ap_b, which has none.
    n_documents : ndarray of shape (n_queries,), int
        Number of documents of each query.

    See Also
    --------
    rank_correlation : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import rank_correlation
    >>> result = rank_correlation([3, 2, 1, 1, 2], [3, 1, 2, 2, 1], qid=[1, 1, 1, 2, 2])
    >>> result.qid, len(result.coefficients)
    (array([1, 2]), 5)
    """

    coefficients: tuple[str, ...]
    qid: Array
    values: FloatArray
    pvalues: FloatArray
    n_documents: IntArray

    _tables = _text.table_of_correlation

    def summary(self) -> Summary:
        """Average each coefficient over the queries where it is defined.

        Returns
        -------
        Summary
            A row for each ``coefficient``, with its ``mean``, ``lowest`` and
            ``highest`` value. ``n_significant`` counts the queries with a p-value below
            0.05 (0 for tau_ap_b), ``n_queries`` the queries in the average.
        """
        columns = {
            "coefficient": np.array(self.coefficients),
            "mean": column_means(self.values),
            "lowest": np.fmin.reduce(self.values),
            "highest": np.fmax.reduce(self.values),
            "n_significant": (self.pvalues < _ALPHA).sum(axis=0),
            "n_queries": (~np.isnan(self.values)).sum(axis=0),
        }
        return Summary(columns, ("coefficient",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        n_documents = np.broadcast_to(self.n_documents[:, None], self.values.shape)
        return html.by_cell(
            {"qid": self.qid, "coefficient": self.coefficients},
            {
                "value": self.values,
                "pvalue": self.pvalues,
                "n_documents": n_documents,
            },
        )


def rank_correlation(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    coefficients: str | Iterable[str] = COEFFICIENTS,
) -> OrderingCorrelation:
    """Correlate two orderings of the documents of each query, or of systems.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the reference ordering; the highest ranks first. A document with a
        score of -inf is not retrieved. In a matrix, each row is a query.
    y_score : array-like of the shape of y_true
        Scores of the ordering to compare with it. All coefficients but tau_ap are
        symmetric in the two orderings.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all rows are one list, such as the means of
        systems.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices holds a document. By default, cells that are
        missing in both are padding.
    coefficients : str or list of str, default=("tau_a", "tau_b", "tau_ap", \
"spearman", "pearson")
        Coefficients to compute: Kendall's τ over all pairs (tau-a) or corrected for
        tied pairs (tau-b), the τ_AP of Yilmaz, Aslam and Robertson, Spearman's ρ, and
        Pearson's r of the scores. One more option is "tau_ap_b", the τ_AP,b of Urbano
        and Marrero. It treats tied documents as equally good.

    Returns
    -------
    OrderingCorrelation

    Raises
    ------
    ValueError
        For scores that are NaN or +inf, arrays of different lengths, missing query
        ids, and an unknown coefficient.

    See Also
    --------
    compare_systems : Tests whether systems differ by a measure.
    rank_biased_overlap : Agreement of rankings that may retrieve different documents.
    scipy.stats.kendalltau, scipy.stats.spearmanr : Coefficients of one pair of
        orderings.

    Notes
    -----
    τ_AP = 2/(N - 1) Σ_{i >= 2} C(i)/(i - 1) - 1, where C(i) is the number of documents
    above rank i that `y_true` also ranks above the document at rank i (Yilmaz, Aslam
    and Robertson, SIGIR 2008). Errors at the top of the ranking therefore cost more.
    Under ties, τ_AP is the exact mean over the orders of the ties of both orderings.
    Where `y_true` has no ties, this is τ_AP,a of Urbano and Marrero (ICTIR 2017). Its
    p-values are exact, from all orders, for up to 7 documents. For longer lists they
    come from the normal distribution with the variance over random orders, which
    accounts for ties.

    τ_AP,b (Urbano and Marrero, ICTIR 2017) measures agreement where there is no true
    ordering and ties mean equality. It is the mean of two coefficients, one for each
    ordering: 2/(N - t) Σ C(i)/lo(i) - 1. The sum is over the N - t documents that do
    not tie at the top of this ordering. lo(i) is the number of documents above the tie
    group of i. C(i) is how many of them the other ordering also ranks strictly above i.
    A pair that ties in only one ordering counts as disagreement. A pair that ties in
    both does not count. An ordering with ties agrees fully with itself: 1. Without
    ties, τ_AP,b is the mean of τ_AP in both directions. This is the definition of the
    authors' package ircor. τ_AP,b is undefined if all documents of one ordering tie. It
    has no p-value, because its distribution under random orders is not known; under
    ties its mean is below 0.

    Both orderings are scores, and the highest score ranks first. Two vectors of places
    (1 for the first document) can also be passed, but must both be negated for τ_AP and
    τ_AP,b. Pearson's r depends on the numbers: for places it equals Spearman's ρ, for
    scores it does not.

    Documents that an ordering does not retrieve (-inf) tie below all its other
    documents. Pearson's r leaves them out. All coefficients and p-values except those
    of τ_AP and τ_AP,b come from scipy. tau-a is computed from tau-b and has the same
    p-value, because both have the same numerator.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import rank_correlation
    >>> result = rank_correlation([4, 3, 2, 1], [4, 2, 3, 1])  # a b c d, a c b d
    >>> print(result)
    coefficient   value  pvalue
    ---------------------------
    tau_a        0.6667  0.3333
    tau_b        0.6667  0.3333
    tau_ap       0.6667  0.2500
    spearman     0.8000  0.2000
    pearson      0.8000  0.2000

    Pearson's r of places, and of scores in the same orders:

    >>> places, scores = [1, 2, 3, 4], [9, 4, 2, 1]
    >>> of_places = rank_correlation(places, [1, 3, 2, 4], coefficients="pearson")
    >>> of_scores = rank_correlation(scores, [9, 5, 6, 1], coefficients="pearson")
    >>> [round(float(one.values[0, 0]), 4) for one in (of_places, of_scores)]
    [0.8, 0.8504]
    """
    names = checks.check_choices(
        coefficients, "coefficients", (*COEFFICIENTS, "tau_ap_b")
    )
    given = {"y_true": y_true, "y_score": y_score}
    columns, queries, _ = lists.check_rankings(given, qid, mask)
    right, judged = map(queries.arrange, columns)
    ends = itertools.pairwise(queries.offsets.tolist())
    results = [_correlate(right[a:b], judged[a:b], names) for a, b in ends]
    values, pvalues = np.moveaxis(np.array(results), 2, 0)
    return OrderingCorrelation(
        tuple(names), queries.qid, values, pvalues, queries.sizes
    )


def _correlate(
    right: Array, judged: Array, names: list[str]
) -> list[tuple[float, float]]:
    """Compute the coefficients and p-values of one query."""
    first, second = tie_groups.dense_ranks(right)[0], tie_groups.dense_ranks(judged)[0]
    # a canonical order of rows: sums must not depend on that of the input
    order = np.lexsort((first, second))
    first, second = first[order], second[order]
    finite = np.isfinite(right[order]) & np.isfinite(judged[order])
    values = right[order][finite], judged[order][finite]
    columns = {"pearson": list(map(_scaled, values))}
    return [_KNOWN[name](*columns.get(name, (first, second))) for name in names]


def _of_scipy(
    function: Callable[..., Any], first: Array, second: Array
) -> tuple[float, float]:
    """A coefficient of scipy and its p-value; NaN where nothing varies."""
    if len(first) < 2 or (first == first[0]).all() or (second == second[0]).all():
        return math.nan, math.nan
    result = function(first, second)
    return float(result.statistic), float(result.pvalue)


def _scaled(column: Array) -> FloatArray:
    """Scale values to at most 1, so that squares neither overflow nor vanish."""
    values = column.astype(np.float64)
    return values / np.abs(values).max(initial=1e-300)


def _tau_a(first: IntArray, second: IntArray) -> tuple[float, float]:
    """Tau-a, 0 where all documents tie, with the p-value of tau-b."""
    n = len(first)
    tau_b, pvalue = _of_scipy(stats.kendalltau, first, second)
    if math.isnan(tau_b):
        return 0.0 if n > 1 else math.nan, pvalue
    every = n * (n - 1) / 2
    apart = [every - (t * (t - 1) / 2).sum() for t in map(np.bincount, (first, second))]
    return float(tau_b * math.sqrt(apart[0] * apart[1]) / every), pvalue


def _tau_ap(right: IntArray, judged: IntArray) -> tuple[float, float]:
    """τ_AP and its p-value; ranks are dense, higher first."""
    n = len(right)
    if n < 2:
        return math.nan, math.nan
    order = np.argsort(-judged, kind="stable")
    right = right[order]
    starts, sizes = segments.runs(judged[order])
    groups = list(zip(starts.tolist(), sizes.tolist(), strict=True))
    weights = np.array([_weight(lo, size) for lo, size in groups])
    # a document is above one of its own group half the time: Σ (x - 1)/(lo + x - 1)
    # over its places x, halved
    inside = [math.fsum(x / (lo + x) for x in range(1, k)) / 2 for lo, k in groups]
    # concordant pairs with documents above, ties counted half
    greater, less = _pairs_above(right, groups)
    above = (greater + (starts * sizes - less)) / 2
    total = math.fsum([*(weights * above).tolist(), *inside])
    value = 2 * total / (n - 1) - 1
    if n <= _FEW:
        n_above = np.repeat(starts, sizes)
        return value, _exact_pvalue(right, n_above, np.repeat(weights, sizes))
    variance = _null_variance(right, starts, sizes, weights)
    if variance == 0:
        return value, math.nan
    return value, float(2 * stats.norm.sf(abs(value) / math.sqrt(variance)))


def _tau_ap_b(first: IntArray, second: IntArray) -> tuple[float, float]:
    """τ_AP,b, without a p-value; NaN where all documents of an ordering tie."""
    total = 0.0
    for right, judged in ((first, second), (second, first)):
        # τ_AP of the documents below the first tie group, each with those above it
        order = np.argsort(-judged, kind="stable")
        starts, sizes = segments.runs(judged[order])
        groups = list(zip(starts.tolist(), sizes.tolist(), strict=True))
        greater, _ = _pairs_above(right[order], groups)
        below = len(right) - int(sizes[0])
        if not below:
            return math.nan, math.nan
        total += 2 * math.fsum((greater[1:] / starts[1:]).tolist()) / below - 1
    return total / 2, math.nan


_KNOWN: dict[str, Callable[..., tuple[float, float]]] = {
    "tau_a": _tau_a,
    "tau_b": partial(_of_scipy, stats.kendalltau),
    "tau_ap": _tau_ap,
    "tau_ap_b": _tau_ap_b,
    "spearman": partial(_of_scipy, stats.spearmanr),
    "pearson": partial(_of_scipy, stats.pearsonr),
}


def _weight(lo: int, size: int) -> float:
    """Mean of 1/(i - 1) over the ranks i of a group, without rank 1."""
    return math.fsum(1 / above for above in range(lo, lo + size)) / size if lo else 0.0


def _pairs_above(
    values: IntArray, groups: list[tuple[int, int]]
) -> tuple[IntArray, IntArray]:
    """Count, per group, its values' pairs with greater and with smaller ones above."""
    above: list[int] = []
    greater, smaller = [], []
    for start, size in groups:
        group = values[start : start + size].tolist()
        greater.append(sum(len(above) - bisect_right(above, value) for value in group))
        smaller.append(sum(bisect_left(above, value) for value in group))
        for value in group:
            insort(above, value)
    return np.array(greater), np.array(smaller)


def _exact_pvalue(right: IntArray, n_above: IntArray, weights: FloatArray) -> float:
    """Two-sided p-value of τ_AP over all orders of the reference.

    Each document has the number of documents above its group, and its group's weight.
    """
    is_above = np.arange(len(right)) < n_above[:, None]

    def distance(ranks: IntArray, axis: int) -> FloatArray:
        # of a document with one above it: 1 if they agree, -1 if not, 0 for a tie
        signs = np.sign(ranks[..., None, :] - ranks[..., :, None])
        total = (weights * (signs * is_above).sum(axis=-1)).sum(axis=-1)
        return np.asarray(np.round(np.abs(total), 12))

    tested = stats.permutation_test(
        (right,),
        distance,
        permutation_type="pairings",
        n_resamples=np.inf,
        alternative="greater",
        vectorized=True,
    )
    return float(1.0 - (tested.null_distribution < tested.statistic).mean())


def _null_variance(
    right: IntArray, starts: IntArray, sizes: IntArray, weights: FloatArray
) -> float:
    """Variance of τ_AP for a reference in random order.

    The pairs of a group with those above it are a Mann-Whitney statistic; those of
    different groups are uncorrelated. Ties of the reference among the first M of
    N documents lower it by what they are on average.
    """
    n = len(right)
    ties = np.bincount(right).astype(float)
    triples = (ties * (ties - 1) * (ties - 2)).sum() / max(n * (n - 1) * (n - 2), 1)
    doubles = (ties * (ties - 1)).sum() / (n * (n - 1))
    above, size = starts.astype(float), sizes.astype(float)
    reached = above + size
    # mean of Σ (t³ - t) / (M (M - 1)), with t³ - t = t(t-1)(t-2) + 3 t(t-1)
    tied = (reached - 2) * triples + 3 * doubles
    spread = size * above * (reached + 1 - tied) / 12
    return float(4 * math.fsum((weights**2 * spread).tolist()) / (n - 1) ** 2)


def order_agreement(exact: FloatArray, coarse: FloatArray, up: bool) -> FloatArray:
    """Tau-b and tau-AP of two orders of systems by their means.

    Systems without one of the means are left out; `up` says whether more is better.
    """
    there = ~(np.isnan(exact) | np.isnan(coarse))
    if not there.any():
        return np.full(2, np.nan)
    sign = 1 if up else -1
    correlation = rank_correlation(
        sign * exact[there], sign * coarse[there], coefficients=("tau_b", "tau_ap")
    )
    return correlation.values[0]
