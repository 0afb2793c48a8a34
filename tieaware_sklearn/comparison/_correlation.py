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

#: A coefficient and its p-value.
Coefficient = tuple[float, float]

COEFFICIENTS = ("tau_a", "tau_b", "tau_ap", "spearman", "pearson")
#: Maximum number of documents for which the p-value of tau-AP counts all orders
#: (7! = 5040).
_FEW = 7
#: Significance level below which a summary counts p-values.
_ALPHA = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class OrderingCorrelation(html.Result):
    """Correlation coefficients of two orderings for each query, printed as a table.

    Attributes
    ----------
    coefficients : tuple of str
        Names of the coefficients.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    values : ndarray of shape (n_queries, n_coefficients)
        Coefficients. All coefficients are NaN for a query with one document. If a query
        has several documents and all scores of an ordering are equal, tau_a and tau_ap
        are 0, and the other coefficients are NaN. Pearson's r is computed as if the
        query contained only the documents that both orderings retrieve.
    pvalues : ndarray of shape (n_queries, n_coefficients)
        Two-sided p-values of the hypothesis that the orderings are unrelated. A p-value
        is NaN where the coefficient is NaN, for tau_ap_b, and for Spearman's ρ of two
        documents. If tau_a is 0 because all scores of an ordering are equal, the
        p-value of tau_a is also NaN, and the p-value of tau_ap is 1.
    n_documents : ndarray of shape (n_queries,), int
        Number of documents of each query, whether retrieved or not.

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
        """Average each coefficient over the queries for which it is defined.

        Returns
        -------
        Summary
            A row for each ``coefficient``, with these columns:

            - ``mean``, ``lowest`` and ``highest`` are the mean, the smallest and the
              largest coefficient over the queries.
            - ``n_significant`` is the number of queries with a p-value below 0.05, and
              is always 0 for tau_ap_b, which has no p-value.
            - ``n_queries`` is the number of queries in the mean.
        """
        columns: dict[str, Array] = {"coefficient": np.array(self.coefficients)}
        columns["mean"] = column_means(self.values)
        columns["lowest"] = np.fmin.reduce(self.values)
        columns["highest"] = np.fmax.reduce(self.values)
        columns["n_significant"] = (self.pvalues < _ALPHA).sum(axis=0)
        columns["n_queries"] = (~np.isnan(self.values)).sum(axis=0)
        return Summary(columns, ("coefficient",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        n_documents = np.broadcast_to(self.n_documents[:, None], self.values.shape)
        keys = {"qid": self.qid, "coefficient": self.coefficients}
        cells = {"value": self.values, "pvalue": self.pvalues}
        return html.by_cell(keys, {**cells, "n_documents": n_documents})


def rank_correlation(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    coefficients: str | Iterable[str] = COEFFICIENTS,
) -> OrderingCorrelation:
    """Correlate two orderings of documents for each query, or two orderings of systems.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the reference ordering. The document with the highest score ranks
        first. A document with a score of -inf is not retrieved. In a matrix, each row
        is a query.
    y_score : array-like of the shape of y_true
        Scores of the ordering to compare with the reference. All coefficients except
        tau_ap are symmetric in the two orderings.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all scores belong to one list, which may
        also be the means of systems. Matrices accept no `qid`: each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices contains a document. By default, cells that
        are missing in both matrices are padding.
    coefficients : str or list of str, default=("tau_a", "tau_b", "tau_ap", \
"spearman", "pearson")
        Coefficients to compute: Kendall's τ over all pairs (tau-a) or corrected for
        tied pairs (tau-b), the τ_AP of Yilmaz, Aslam and Robertson, Spearman's ρ, and
        Pearson's r of the scores. One more option is "tau_ap_b", the τ_AP,b of Urbano
        and Marrero, which treats tied documents as equally good.

    Returns
    -------
    OrderingCorrelation

    Raises
    ------
    ValueError
        If scores are NaN (except in padding) or +inf, if arrays differ in length or
        shape, if query ids are missing, if `qid` is set for matrices, if `mask` is set
        for one-dimensional arrays, if a row of a matrix contains no document, if a
        coefficient is unknown or listed twice, or if no coefficient is listed.

    See Also
    --------
    compare_systems : Compares systems by the values of a measure.
    rank_biased_overlap : Compares rankings that may retrieve different documents.
    scipy.stats.kendalltau, scipy.stats.spearmanr : Compute a coefficient of one pair of
        orderings.

    Notes
    -----
    For N documents without ties, τ_AP = 2/(N - 1) Σ C(i)/(i - 1) - 1, where the sum is
    over the ranks i = 2, ..., N in the ordering `y_score`. C(i) is the number of
    documents above rank i that `y_true` also ranks above the document at rank i
    (Yilmaz, Aslam and Robertson, SIGIR 2008). An error at the top of the ranking
    therefore costs more than an error at the bottom. With ties, τ_AP is the exact mean
    over the orders of the ties of both orderings. If `y_true` has no ties, this mean is
    the τ_AP,a of Urbano and Marrero (ICTIR 2017). For up to 7 documents, the p-value of
    τ_AP is computed exactly, from all orders. For more documents, the p-value comes
    from the normal distribution with the variance over random orders, which accounts
    for ties.

    τ_AP,b (Urbano and Marrero, ICTIR 2017) measures agreement where there is no true
    ordering and ties mean equality. τ_AP,b is the mean of two coefficients, one for
    each ordering: 2/(N - t) Σ C(d)/lo(d) - 1. The sum is over all documents d except
    the t documents in the first tie group of this ordering. lo(d) is the number of
    documents above the tie group of d. C(d) is the number of these lo(d) documents that
    the other ordering also ranks strictly above d. A pair that ties in only one
    ordering counts as disagreement in the coefficient of the other ordering. A pair
    that ties in both orderings does not count. τ_AP,b is undefined if all documents of
    one ordering tie. Otherwise, the τ_AP,b of an ordering with itself is 1, even with
    ties. Without ties, τ_AP,b is the mean of τ_AP in both directions. The authors'
    package ircor uses the same definition. τ_AP,b has no p-value, because the
    distribution of τ_AP,b under random orders is not known.

    Both orderings are scores, and the highest score ranks first. Two vectors of ranks
    (1 for the first document) can also be passed, but both vectors must be negated for
    τ_AP and τ_AP,b. Pearson's r depends on the values of the scores, not only on their
    order. For two vectors of ranks without ties, Pearson's r equals Spearman's ρ.

    Documents that an ordering does not retrieve (-inf) tie below all other documents of
    the ordering. Pearson's r leaves out the documents that either ordering does not
    retrieve. scipy computes tau-b, Spearman's ρ, Pearson's r and their p-values. tau-a
    is computed from tau-b. The p-value of tau-a is the p-value of tau-b, because both
    coefficients have the same numerator.

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

    Pearson's r of ranks, and of scores in the same orders:

    >>> places, scores = [1, 2, 3, 4], [9, 4, 2, 1]
    >>> of_places = rank_correlation(places, [1, 3, 2, 4], coefficients="pearson")
    >>> of_scores = rank_correlation(scores, [9, 5, 6, 1], coefficients="pearson")
    >>> [round(r.values.item(), 4) for r in (of_places, of_scores)]
    [0.8, 0.8504]
    """
    options = (*COEFFICIENTS, "tau_ap_b")
    names = checks.check_choices(coefficients, "coefficients", options)
    rankings = {"y_true": y_true, "y_score": y_score}
    columns, queries, _ = lists.check_rankings(rankings, qid, mask)
    reference, compared = map(queries.arrange, columns)
    results = []
    for start, end in itertools.pairwise(queries.offsets.tolist()):
        results.append(_correlate(reference[start:end], compared[start:end], names))
    values, pvalues = np.moveaxis(np.array(results), -1, 0)
    return OrderingCorrelation(
        tuple(names), queries.qid, values, pvalues, queries.sizes
    )


def _correlate(
    reference: Array, compared: Array, names: list[str]
) -> list[Coefficient]:
    """Return the coefficients and p-values of one query."""
    first, _ = tie_groups.dense_ranks(reference)
    second, _ = tie_groups.dense_ranks(compared)
    # Sums must not depend on the order of the rows, so this order is canonical.
    order = np.lexsort((first, second))
    first = first[order]
    second = second[order]
    results = []
    for name in names:
        if name == "pearson":
            result = _pearson(reference[order], compared[order])
        else:
            result = _OF_RANKS[name](first, second)
        results.append(result)
    return results


def _of_scipy(function: Callable[..., Any], first: Array, second: Array) -> Coefficient:
    """Return a coefficient of scipy and its p-value, or NaN if nothing varies."""
    for column in (first, second):
        if len(column) < 2 or (column == column[0]).all():
            return math.nan, math.nan
    result = function(first, second)
    return float(result.statistic), float(result.pvalue)


def _pearson(reference: Array, compared: Array) -> Coefficient:
    """Return Pearson's r of finite scores, and its p-value."""
    is_finite = np.isfinite(reference) & np.isfinite(compared)
    columns = []
    for scores in (reference, compared):
        values = scores[is_finite].astype(np.float64)
        # Values are scaled to at most 1, so that squares do not overflow and do not all
        # become 0. The divisor is positive even if all values are 0 or there are no
        # values.
        columns.append(values / np.abs(values).max(initial=1e-300))
    return _of_scipy(stats.pearsonr, *columns)


def _tau_a(first: IntArray, second: IntArray) -> Coefficient:
    """Return tau-a, with the p-value of tau-b.

    tau-a is 0 if all documents of an ordering tie.
    """
    n = len(first)
    if n < 2:
        return math.nan, math.nan
    tau_b, pvalue = _of_scipy(stats.kendalltau, first, second)
    if math.isnan(tau_b):
        return 0.0, pvalue
    n_pairs = n * (n - 1) / 2
    n_untied = []
    for ranks in (first, second):
        t = np.bincount(ranks)
        n_untied.append(n_pairs - (t * (t - 1) / 2).sum())
    root = math.sqrt(n_untied[0] * n_untied[1])
    return float(tau_b * root / n_pairs), pvalue


def _tau_ap(reference: IntArray, compared: IntArray) -> Coefficient:
    """Return τ_AP and its p-value.

    Ranks are dense and ascend with the scores, so the highest rank is at the top.
    """
    n = len(reference)
    if n < 2:
        return math.nan, math.nan
    reference, starts, sizes = _group_ties(reference, compared)
    weights = np.zeros(len(starts))
    terms = []
    for i, start in enumerate(starts.tolist()):
        size = int(sizes[i])
        if start:
            # The mean of 1/(i - 1) over the ranks i of the group.
            reciprocals = [1 / above for above in range(start, start + size)]
            weights[i] = math.fsum(reciprocals) / size
        # At the rank with x documents of the same group above, half of these documents
        # are also expected to be above in the reference. The group is in random order.
        shares = [x / (start + x) for x in range(1, size)]
        terms.append(math.fsum(shares) / 2)
    # Concordant pairs with documents of the groups above. A tie in the reference counts
    # half.
    greater, less = _pairs_above(reference, starts, sizes)
    concordant = (greater + (starts * sizes - less)) / 2
    terms += (weights * concordant).tolist()
    value = 2 * math.fsum(terms) / (n - 1) - 1
    if n <= _FEW:
        n_above = starts.repeat(sizes)
        return value, _exact_pvalue(reference, n_above, weights.repeat(sizes))
    variance = _null_variance(reference, starts, sizes, weights)
    if variance == 0:
        # All documents of an ordering tie, so τ_AP is the same in every order, as for
        # lists of few documents.
        return value, 1.0
    z = abs(value) / math.sqrt(variance)
    return value, float(2 * stats.norm.sf(z))


def _tau_ap_b(first: IntArray, second: IntArray) -> Coefficient:
    """Return τ_AP,b without a p-value, or NaN if all documents of an ordering tie."""
    total = 0.0
    for reference, compared in ((first, second), (second, first)):
        # Each document below the first tie group is compared with the documents of all
        # groups above its own.
        reference, starts, sizes = _group_ties(reference, compared)
        greater, _ = _pairs_above(reference, starts, sizes)
        n_below = len(reference) - int(sizes[0])
        if not n_below:
            return math.nan, math.nan
        shares = greater[1:] / starts[1:]
        total += 2 * math.fsum(shares.tolist()) / n_below - 1
    return total / 2, math.nan


_OF_RANKS: dict[str, Callable[..., Coefficient]] = {
    "tau_a": _tau_a,
    "tau_b": partial(_of_scipy, stats.kendalltau),
    "tau_ap": _tau_ap,
    "tau_ap_b": _tau_ap_b,
    "spearman": partial(_of_scipy, stats.spearmanr),
}


def _group_ties(
    reference: IntArray, compared: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return reference ranks in the compared order, and starts and sizes of ties."""
    order = np.argsort(-compared, kind="stable")
    starts, sizes = segments.runs(compared[order])
    return reference[order], starts, sizes


def _pairs_above(
    values: IntArray, starts: IntArray, sizes: IntArray
) -> tuple[IntArray, IntArray]:
    """Count pairs of values of each group with greater and smaller values above.

    The values are in the compared order, so the groups above are the groups before.
    """
    above: list[int] = []
    greater = np.zeros(len(starts), dtype=np.int64)
    smaller = np.zeros(len(starts), dtype=np.int64)
    for i, group in enumerate(np.split(values, starts[1:])):
        ranks = group.tolist()
        greater[i] = sum(len(above) - bisect_right(above, rank) for rank in ranks)
        smaller[i] = sum(bisect_left(above, rank) for rank in ranks)
        for rank in ranks:
            insort(above, rank)
    return greater, smaller


def _exact_pvalue(reference: IntArray, n_above: IntArray, weights: FloatArray) -> float:
    """Return the two-sided p-value of τ_AP over all orders of the reference.

    `n_above` and `weights` contain a value for each document: the number of documents
    above the group of the document, and the weight of the group.
    """
    is_above = np.arange(len(reference)) < n_above[:, None]
    # The first order is the reference itself.
    orders = np.array(list(itertools.permutations(reference.tolist())))
    # For a document and a document above it: 1 if the orders agree, -1 if they differ,
    # and 0 for a tie.
    signs = np.sign(orders[:, None, :] - orders[:, :, None])
    agreements = (signs * is_above).sum(axis=-1)
    totals = (weights * agreements).sum(axis=-1)
    # Sums that differ only by rounding are equally far from 0.
    distances = np.round(np.abs(totals), 12)
    is_closer = distances < distances[0]
    return float(1.0 - is_closer.mean())


def _null_variance(
    reference: IntArray, starts: IntArray, sizes: IntArray, weights: FloatArray
) -> float:
    """Return the variance of τ_AP for a reference in random order.

    The agreement between a group and the documents above the group is a Mann-Whitney
    statistic. The statistics of different groups are uncorrelated. Ties of the
    reference lower the variance by their mean effect among the first M of N documents.
    """
    n = len(reference)
    ties = np.bincount(reference).astype(float)
    tied_pairs = ties * (ties - 1)
    triples = (tied_pairs * (ties - 2)).sum() / (n * (n - 1) * (n - 2))
    doubles = tied_pairs.sum() / (n * (n - 1))
    reached = starts + sizes
    # The mean of Σ (t³ - t) / (M (M - 1)), where t³ - t = t(t-1)(t-2) + 3 t(t-1).
    tied = (reached - 2) * triples + 3 * doubles
    spread = sizes * starts * (reached + 1 - tied) / 12
    terms = weights**2 * spread
    return float(4 * math.fsum(terms.tolist()) / (n - 1) ** 2)


def order_agreement(
    exact: FloatArray, coarse: FloatArray, greater_is_better: bool
) -> FloatArray:
    """Return tau-b and tau-AP of two orders of systems by their means.

    `exact` contains means for exact scores, and `coarse` for coarser scores. Systems
    that lack one of the means are left out.
    """
    means = np.array([exact, coarse])
    means = means[:, ~np.isnan(means).any(axis=0)]
    if not means.size:
        return np.full(2, np.nan)
    if not greater_is_better:
        means = -means
    return rank_correlation(*means, coefficients=("tau_b", "tau_ap")).values[0]
