"""Geometric bands: how coarse scores may be far down a ranking, and at what cost."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from .._engine import checks, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..measures import RBP, Measure, ReciprocalRank, parse_measure

#: The loss of RBP ignores bands whose first rank has at most this weight.
_NEGLIGIBLE = 1e-18
EXISTING_TIES = ("keep", "order")


def check_rho(rho: Any) -> Fraction:
    """Return the growth factor of bands as a fraction: 1.1 is 11/10."""
    try:
        value = Fraction(str(rho))
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            'rho must be a number > 1, a Fraction or a string such as "11/10", got '
            f"{rho!r}"
        ) from None
    if value <= 1:
        raise ValueError(f"rho must be > 1, got {rho!r}")
    return value


def geometric_bands(n_documents: int, rho: Any) -> IntArray:
    """Return the first ranks of bands that grow by a factor.

    The first rank of band 1 is b_1 = 1, and b_{g+1} = ⌈rho b_g⌉.

    Parameters
    ----------
    n_documents : int
        Number of documents.
    rho : float, str or Fraction
        Growth factor of the bands, > 1. A float counts as the decimal number that it
        prints as: 1.1 is 11/10. A string contains a number or a fraction, such as
        ``"11/10"``.

    Returns
    -------
    ndarray of shape (n_bands,), int
        First ranks, ascending. A band ends before the first rank of the next band.

    Raises
    ------
    ValueError
        If `n_documents` is not an integer >= 1, or if `rho` is at most 1 or not a
        number.

    See Also
    --------
    band_scores : Replaces scores by bands.
    rank_safe_depth : Returns the rank down to which each band contains one document.

    Notes
    -----
    Yang, Moffat and Turpin define the bands in "How precise does document scoring need
    to be?", AIRS 2016.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import geometric_bands
    >>> geometric_bands(20, 2)
    array([ 1,  2,  4,  8, 16])
    >>> geometric_bands(10, "3/2")
    array([1, 2, 3, 5, 8])
    """
    checks.check_count(n_documents, "n_documents")
    ratio = check_rho(rho)
    bands = []
    first = 1
    while first <= n_documents:
        bands.append(first)
        # The product of fractions is exact. A rounded product could be too large.
        first = math.ceil(ratio * first)
    return np.array(bands, dtype=np.int64)


def rank_safe_depth(rho: Any) -> int:
    """Return the rank down to which each band contains one document.

    Parameters
    ----------
    rho : float, str or Fraction
        Growth factor of the bands, > 1, as in `geometric_bands`.

    Returns
    -------
    int
        The rank. Banding does not change measures with a cut-off of at most this rank,
        such as NDCG@10, unless ``existing_ties="order"`` breaks ties of the scores. The
        rank is 0 for rho > 2, because even the first band then contains more than one
        document.

    Raises
    ------
    ValueError
        If `rho` is at most 1 or not a number.

    See Also
    --------
    geometric_bands : Returns the bands.
    worst_case_loss : Returns the largest loss of RR and RBP by banding.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import rank_safe_depth
    >>> rank_safe_depth(1.1), rank_safe_depth(2)
    (10, 1)
    """
    ratio = check_rho(rho)
    # The band of rank b contains b alone if ⌈rho b⌉ = b + 1, so if (rho - 1) b <= 1.
    return math.floor(1 / (ratio - 1))


def band_scores(
    y_score: ArrayLike, rho: Any, *, qid: Any = None, existing_ties: str = "keep"
) -> FloatArray:
    """Make scores coarser: one score for each geometric band of ranks.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores. A score of -inf (not retrieved) is kept.
    rho : float, str or Fraction
        Growth factor of the bands, > 1, as in `geometric_bands`.
    qid : array-like of shape (n_documents,), optional
        Query of each document. By default, all documents belong to one query.
    existing_ties : {"keep", "order"}, default="keep"
        Treatment of documents that already tie. "keep" puts all documents of a tie into
        the band of their first rank, so the order of rows does not matter. "order"
        ranks tied documents in the order of rows, as in the paper.

    Returns
    -------
    ndarray of shape (n_documents,)
        Coarser scores: 1/g for the retrieved documents of band g, counted from 1.
        Higher scores rank first.

    Raises
    ------
    ValueError
        If `y_score` contains NaN or +inf, if `qid` has another length or contains
        missing ids, if `rho` is at most 1 or not a number, or if `existing_ties` is
        unknown.

    See Also
    --------
    geometric_bands : Returns the bands.
    round_scores : Makes scores coarser in several ways.
    worst_case_loss : Returns the largest loss of RR and RBP by banding.

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016) describe the method.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import band_scores
    >>> band_scores([9.5, 7.1, 6.0, 5.9, 5.8], 2).round(2)
    array([1.  , 0.5 , 0.5 , 0.33, 0.33])
    """
    checks.check_choice(existing_ties, "existing_ties", EXISTING_TIES)
    ratio = check_rho(rho)
    scores = checks.check_scores(y_score)
    queries = checks.check_qid(qid, n_rows=len(scores))
    return banded(scores, queries, ratio, existing_ties)


def banded(
    scores: Array, queries: checks.Queries, ratio: Fraction, existing_ties: str
) -> FloatArray:
    """Return 1/g for documents of band g of their query; -inf stays."""
    if existing_ties == "order":
        scores = break_ties_by_row(scores)
    above, tied = above_and_tied(scores, queries)
    first_ranks = geometric_bands(above.max(initial=0) + 1, ratio)
    band = np.searchsorted(first_ranks, above + 1, side="right")
    # Documents that are not retrieved are in no tie group.
    return np.where(tied > 0, 1.0 / band, -np.inf)


def break_ties_by_row(scores: Array) -> FloatArray:
    """Return scores in the same order, where earlier rows win ties; -inf stays."""
    rows = np.arange(len(scores))
    ranked = np.empty(len(scores))
    ranked[np.lexsort((-rows, scores))] = rows
    return np.where(checks.is_retrieved(scores), ranked, -np.inf)


def above_and_tied(scores: Array, queries: checks.Queries) -> tuple[IntArray, IntArray]:
    """Count the documents above the tie group of each document, and inside it.

    Both numbers are 0 for documents that are not retrieved.
    """
    arranged = queries.arrange(scores)
    retrieved = checks.is_retrieved(arranged)
    ties = tie_groups.ties_of_rows(arranged, retrieved, queries.sizes)
    rows = queries.original_rows(np.arange(len(scores)))
    # Documents that are not retrieved have group -1, which is the appended 0.
    above = np.zeros(len(scores), dtype=np.int64)
    tied = np.zeros_like(above)
    above[rows] = np.append(ties.lo, 0)[ties.group]
    tied[rows] = np.append(ties.n, 0)[ties.group]
    return above, tied


def worst_case_loss(measure: str | Measure, rho: Any) -> float:
    """Return the largest loss of RR or RBP that banding can cause, over all labels.

    Parameters
    ----------
    measure : str or Measure
        RR or RBP, without a cut-off. Other measures are refused. The parameter `gain`
        of RBP is ignored, because a gain of 0 or 1 for each document loses most.
    rho : float, str or Fraction
        Growth factor of the bands, > 1, as in `geometric_bands`.

    Returns
    -------
    float
        Value of a ranking without ties minus the mean value over the orders of the
        documents within the bands, for the labels that lose most.

    Raises
    ------
    ValueError
        If the measure is not RR or RBP without a cut-off, or if `rho` is at most 1 or
        not a number.

    See Also
    --------
    precision_study : Measures the loss on given labels.
    geometric_bands : Returns the bands.

    Notes
    -----
    The bound holds for rankings without ties. If scores tie before banding, the loss
    can be larger, because a tie group that extends beyond the end of a band goes into
    that band as a whole. Set ``existing_ties="order"`` to break ties first.

    A band of s ranks loses most if its t relevant documents are on top. RR depends only
    on the first band with a relevant document, and t = 1 loses most. For RBP, the
    result is the sum over bands of the largest loss over t = 1, ..., s. Yang, Moffat
    and Turpin (AIRS 2016, Table 2) describe the method.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import worst_case_loss
    >>> [round(worst_case_loss("rr", rho), 4) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
    [0.0038, 0.0119, 0.0417, 0.0833, 0.0833]
    """
    parsed = parse_measure(measure)
    ratio = check_rho(rho)
    if not isinstance(parsed, (ReciprocalRank, RBP)) or parsed.k is not None:
        raise ValueError(f"measure must be RR or RBP without a cut-off, got {parsed}")
    if isinstance(parsed, RBP):
        return _rbp_loss(parsed.p, ratio)
    return _rr_loss(ratio)


def _rr_loss(ratio: Fraction) -> float:
    """Return the largest difference between 1/b and the mean of 1/rank in band b."""
    first = rank_safe_depth(ratio) + 1
    largest = 0.0
    # 1/rank is convex, and the mean rank of a band is at most b + (rho - 1) b/2. So
    # bands from rank b on lose at most (1 - 2/(rho + 1)) / b.
    bound = float((ratio - 1) / (ratio + 1))
    while bound / first > largest:
        following = math.ceil(ratio * first)
        size = following - first
        if size > 1:
            # A single relevant document loses most: further relevant documents raise
            # the mean.
            mean = (digamma(following) - digamma(first)) / size
            largest = max(largest, 1 / first - float(mean))
        first = following
    return largest


def _rbp_loss(p: float, ratio: Fraction) -> float:
    """Return the largest loss of RBP, a sum of the largest losses of bands."""
    first = rank_safe_depth(ratio) + 1
    losses = []
    while p ** (first - 1) > _NEGLIGIBLE:
        following = math.ceil(ratio * first)
        size = following - first
        n_relevant = np.arange(1, size + 1, dtype=np.float64)
        # 1 - p^n is the weight of the first n ranks.
        on_top = -np.expm1(n_relevant * math.log(p))
        whole_band = -np.expm1(size * math.log(p))
        loss = p ** (first - 1) * (on_top - n_relevant / size * whole_band)
        losses.append(float(loss.max()))
        first = following
    return max(math.fsum(losses), 0.0)
