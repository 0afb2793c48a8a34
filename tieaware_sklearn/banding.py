"""Scores made coarser: geometric bands of ranks, rounding, and what it can cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._ties import FloatArray, IntArray, dense_ranks, run_starts
from ._validation import (
    Queries,
    check_choice,
    check_count,
    check_qid,
    check_scores,
    is_missing,
)
from .measures import RBP, Measure, ReciprocalRank, parse_measure

__all__ = [
    "band_scores",
    "geometric_bands",
    "rank_safe_depth",
    "round_scores",
    "worst_case_loss",
]

EXISTING_TIES = ("keep", "order")
_NAMED_BITS = ("float16", "bfloat16", "float32")
#: bands of less attention than this can lose nothing
_NEGLIGIBLE = 1e-18


def check_rho(rho: Any) -> Fraction:
    """The growth of bands as a fraction: 1.1 is 11/10."""
    try:
        if isinstance(rho, bool) or is_missing(rho):
            raise ValueError
        value = Fraction(rho if isinstance(rho, (str, Fraction)) else repr(float(rho)))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(
            f'rho must be a number > 1, a Fraction or a text such as "11/10", got '
            f"{rho!r}"
        ) from None
    if value <= 1:
        raise ValueError(f"rho must be > 1, got {rho!r}")
    return value


def geometric_bands(n: int, rho: Any) -> IntArray:
    """First ranks of bands that grow by a factor: b_1 = 1, b_{g+1} = ⌈rho b_g⌉.

    Parameters
    ----------
    n : int
        Length of the list.
    rho : float, str or Fraction
        Growth, > 1. Floats are taken as the decimals they are written as: 1.1 is
        11/10, which products of floats get wrong from rank 187 on.

    Returns
    -------
    ndarray of shape (n_bands,), int
        Ascending, all <= n. Band g holds the ranks from its first one to the one
        before the next.

    Raises
    ------
    ValueError
        For n < 1 or rho <= 1.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS
    2016, section 4.

    Examples
    --------
    >>> from tieaware_sklearn.banding import geometric_bands
    >>> geometric_bands(20, 2)
    array([ 1,  2,  4,  8, 16])
    >>> geometric_bands(10, "3/2")
    array([1, 2, 3, 5, 8])
    """
    check_count(n, "n")
    ratio = check_rho(rho)
    first, bands = 1, []
    while first <= n:
        bands.append(first)
        # exact: rounding up a product of floats can be one too many
        first = -(-ratio.numerator * first // ratio.denominator)
    return np.array(bands, dtype=np.int64)


def rank_safe_depth(rho: Any) -> int:
    """Down to which rank banding leaves every document alone in its band.

    Parameters
    ----------
    rho : float, str or Fraction
        Growth, > 1, as in `geometric_bands`.

    Returns
    -------
    int
        Measures cut at this depth or above do not change by banding. 0 for rho > 2,
        where even the first band holds two documents.

    Raises
    ------
    ValueError
        For rho <= 1.

    Examples
    --------
    >>> from tieaware_sklearn.banding import rank_safe_depth
    >>> rank_safe_depth(1.1), rank_safe_depth(2)
    (10, 1)
    """
    ratio = check_rho(rho)
    # the band of b holds b alone while ⌈rho b⌉ = b + 1, so while (rho - 1) b <= 1
    return math.floor(1 / (ratio - 1))


def band_scores(
    y_score: ArrayLike, rho: Any, *, qid: Any = None, existing_ties: str = "keep"
) -> FloatArray:
    """Scores as coarse as geometric bands of ranks.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores; -inf (not retrieved) stays.
    rho : float, str or Fraction
        Growth of the bands, as in `geometric_bands`.
    qid : array-like of shape (n_documents,), optional
        Query of each document.
    existing_ties : {"keep", "order"}, default="keep"
        Documents that tie already go together into the band of the first of their
        ranks, so that no order of rows matters; "order" takes them as they stand,
        as in the paper.

    Returns
    -------
    ndarray of shape (n_documents,)
        1/g for documents of band g, higher is better.

    Raises
    ------
    ValueError
        For bad scores or ids, rho <= 1 or an unknown option.

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016), section 4.

    Examples
    --------
    >>> from tieaware_sklearn.banding import band_scores
    >>> band_scores([9.5, 7.1, 6.0, 5.9, 5.8], 2).round(2)
    array([1.  , 0.5 , 0.5 , 0.33, 0.33])
    """
    check_choice(existing_ties, "existing_ties", EXISTING_TIES)
    ratio = check_rho(rho)
    n_rows = np.asarray(y_score).shape[:1]
    scores = check_scores(y_score, n_rows=n_rows[0] if n_rows else 0)
    queries = check_qid(qid, n_rows=len(scores))
    first = _first_ranks(scores, queries, existing_ties == "order")
    out = np.full(len(scores), -np.inf)
    there = first > 0
    if there.any():
        bands = geometric_bands(int(first.max()), ratio)
        out[there] = 1.0 / np.searchsorted(bands, first[there], side="right")
    return out


def _first_ranks(scores: NDArray[Any], queries: Queries, input_order: bool) -> IntArray:
    """Rank of each document, ties at the first of theirs; 0 if not retrieved."""
    retrieved = np.ones(len(scores), dtype=bool)
    if scores.dtype.kind == "f":
        retrieved = ~np.isneginf(scores)
    owner = np.empty(len(scores), dtype=np.int64)
    owner[queries.arrange(np.arange(len(scores)))] = np.repeat(
        np.arange(queries.n_queries), queries.sizes
    )
    rows = np.flatnonzero(retrieved)
    out = np.zeros(len(scores), dtype=np.int64)
    if not len(rows):
        return out
    ranks, n_ranks = dense_ranks(scores[rows])
    key = owner[rows] * n_ranks + (n_ranks - 1 - ranks)
    order = np.argsort(key, kind="stable")
    query = owner[rows][order]
    start_of_query = np.searchsorted(query, query)
    place = np.arange(len(rows))
    if not input_order:
        starts = run_starts(key[order])
        place = np.repeat(starts, np.diff(starts, append=len(rows)))
    out[rows[order]] = place - start_of_query + 1
    return out


def round_scores(
    y_score: ArrayLike,
    *,
    decimals: int | None = None,
    significant: int | None = None,
    bits: int | str | None = None,
    levels: int | None = None,
    qid: Any = None,
) -> FloatArray:
    """Scores with less precision; higher ones never come out lower.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores; -inf (not retrieved) stays.
    decimals : int, optional
        Decimal places to keep; negative ones round to tens, hundreds and so on.
    significant : int, optional
        Significant decimal digits to keep.
    bits : {"float16", "bfloat16", "float32"} or int, optional
        The format to keep scores in: a float type (scores beyond its range become its
        largest ones), or an integer of so many bits, linear between the smallest
        and the largest score, as ``levels=2**bits``.
    levels : int, optional
        How many evenly spaced values to keep between the smallest and the largest
        score.
    qid : array-like of shape (n_documents,), optional
        Take the smallest and largest score of each query, not of all.

    Returns
    -------
    ndarray of shape (n_documents,), float64

    Raises
    ------
    ValueError
        For bad scores or ids, and unless exactly one precision is given.

    Examples
    --------
    >>> from tieaware_sklearn.banding import round_scores
    >>> round_scores([0.123, 12.35, 987.6], significant=2).tolist()
    [0.12, 12.0, 990.0]
    >>> round_scores([0.0, 0.2, 0.6, 1.0], levels=3).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    given = {
        "decimals": decimals,
        "significant": significant,
        "bits": bits,
        "levels": levels,
    }
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(
            "exactly one of decimals, significant, bits and levels must be given, got "
            f"{', '.join(named) or 'none'}"
        )
    n_rows = np.asarray(y_score).shape[:1]
    scores = check_scores(y_score, n_rows=n_rows[0] if n_rows else 0)
    queries = check_qid(qid, n_rows=len(scores))
    scores = scores.astype(np.float64)
    out, there = scores.copy(), np.isfinite(scores)
    if decimals is not None:
        check_count(decimals, "decimals", least=-308)
        out[there] = _each(scores[there], lambda x: _decimal(x, int(decimals)))
    elif significant is not None:
        check_count(significant, "significant")
        digits = min(int(significant), 17) - 1
        out[there] = _each(scores[there], lambda x: float(f"{x:.{digits}e}"))
    elif isinstance(bits, str):
        check_choice(bits, "bits", _NAMED_BITS)
        out[there] = _as_float(scores[there], bits)
    else:
        if bits is not None:
            check_count(bits, "bits")
            levels = 2 ** min(int(bits), 60)
        check_count(levels, "levels", least=2)
        out = _evenly(scores, there, queries, int(levels or 2))
    return out


def _each(scores: FloatArray, rounded: Callable[[float], float]) -> FloatArray:
    """A function of the distinct scores."""
    largest = float(np.finfo(np.float64).max)

    def finite(score: float) -> float:
        try:
            return min(max(rounded(score), -largest), largest)
        except OverflowError:
            return math.copysign(largest, score)

    distinct, at = np.unique(scores, return_inverse=True)
    return np.array([finite(x) for x in distinct.tolist()], dtype=np.float64)[at]


def _decimal(score: float, decimals: int) -> float:
    # Python rounds the exact value: no product that overflows or rounds twice
    return float(round(score, min(decimals, 400)))


def _as_float(scores: FloatArray, name: str) -> FloatArray:
    """Nearest values of a shorter float type."""
    if name == "bfloat16":
        largest = float(np.uint32(0x7F7F0000).view(np.float32))
    else:
        largest = float(np.finfo(name).max)
    inside = np.clip(scores, -largest, largest)
    if name != "bfloat16":
        return inside.astype(name).astype(np.float64)
    # the upper half of a 32-bit float, to the nearest, halves to even
    whole = inside.astype(np.float32).view(np.uint32).astype(np.uint64)
    half = (whole + 0x7FFF + ((whole >> 16) & 1)) & 0xFFFF0000
    nearest = half.astype(np.uint32).view(np.float32).astype(np.float64)
    return np.clip(nearest, -largest, largest)


def _evenly(
    scores: FloatArray, there: NDArray[np.bool_], queries: Queries, levels: int
) -> FloatArray:
    """The nearest of evenly spaced levels between the extremes of each query."""
    arranged, kept = queries.arrange(scores), queries.arrange(there)
    low, high = (
        np.repeat(
            reduce(np.where(kept, arranged, missing), queries.offsets[:-1]),
            queries.sizes,
        )
        for reduce, missing in (
            (np.minimum.reduceat, np.inf),
            (np.maximum.reduceat, -np.inf),
        )
    )
    out = arranged.copy()
    spread = kept & (high > low)
    low, high, value = low[spread], high[spread], arranged[spread]
    # halves: the difference of the largest floats overflows
    span = high / 2 - low / 2
    place = np.rint((value / 2 - low / 2) / span * (levels - 1))
    level = 2 * (low / 2 + place / (levels - 1) * span)
    out[spread] = np.where(place == levels - 1, high, np.clip(level, low, high))
    back = np.empty_like(out)
    back[queries.arrange(np.arange(len(out)))] = out
    return back


def worst_case_loss(measure: str | Measure, rho: Any) -> float:
    """The most that banding can take from a measure, whatever is relevant.

    Parameters
    ----------
    measure : str or Measure
        RR or RBP, without a cut-off.
    rho : float, str or Fraction
        Growth of the bands, as in `geometric_bands`.

    Returns
    -------
    float
        Value of the ranking less the mean over the orders inside its bands, at the
        ranking that loses most.

    Raises
    ------
    ValueError
        For another measure or rho <= 1.

    Notes
    -----
    A band of s ranks loses most with its t relevant documents on top; RR stops at
    the first band that holds one, RBP adds up the bands, each at its worst t in
    1 ... s. Yang, Moffat and Turpin (AIRS 2016), section 4 and Table 2 (their bound
    on t, as printed, leaves values out).

    Examples
    --------
    >>> from tieaware_sklearn.banding import worst_case_loss
    >>> [round(worst_case_loss("rr", rho), 4) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
    [0.0038, 0.0119, 0.0417, 0.0833, 0.0833]
    """
    parsed = parse_measure(measure)
    ratio = check_rho(rho)
    known = isinstance(parsed, (ReciprocalRank, RBP)) and parsed.k is None
    if not known:
        raise ValueError(f"measure must be RR or RBP without a cut-off, got {parsed}")
    if isinstance(parsed, RBP):
        return _rbp_loss(parsed.p, ratio)
    return _rr_loss(ratio)


def _bands(ratio: Fraction, first: int) -> tuple[int, int]:
    """First rank of the band after this one, and the size of this one."""
    following = -(-ratio.numerator * first // ratio.denominator)
    return following, following - first


def _rr_loss(ratio: Fraction) -> float:
    first, most = rank_safe_depth(ratio) + 1, 0.0
    # the ranks of a band are below rho b: from b on none loses (1 - 1/rho)/b
    reach = float(1 - 1 / ratio)
    while reach / first > most:
        following, size = _bands(ratio, first)
        if size > 1:
            # more relevant documents only raise the mean
            mean = math.fsum(1 / rank for rank in range(first, following)) / size
            most = max(most, 1 / first - mean)
        first = following
    return most


def _rbp_loss(p: float, ratio: Fraction) -> float:
    first, losses = rank_safe_depth(ratio) + 1, []
    while p ** (first - 1) > _NEGLIGIBLE:
        following, size = _bands(ratio, first)
        weights = (1 - p) * p ** np.arange(first - 1, following - 1, dtype=np.float64)
        share = np.arange(1, size + 1) / size
        losses.append(float((np.cumsum(weights) - share * weights.sum()).max()))
        first = following
    return max(math.fsum(losses), 0.0)
