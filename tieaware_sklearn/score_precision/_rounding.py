"""Scores rounded to fewer digits, bits or levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_count,
    check_qid,
    check_scores,
)

NAMED_BITS = ("float16", "bfloat16", "float32")


def round_scores(
    y_score: ArrayLike,
    *,
    decimals: int | None = None,
    significant: int | None = None,
    bits: int | str | None = None,
    levels: int | None = None,
    qid: Any = None,
    limits: tuple[float, float] | None = None,
) -> FloatArray:
    """Scores with less precision; higher ones never come out lower.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores, taken as 64-bit floats; -inf (not retrieved) stays.
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
        Take the smallest and largest score of each query, not of all, for `levels`
        and a number of `bits`; digits and formats do not need it.
    limits : pair of float, optional
        Take these for the smallest and largest score; scores beyond become them. For
        `levels`, and a number of `bits`.

    Returns
    -------
    ndarray of shape (n_documents,), float64

    Raises
    ------
    ValueError
        For bad scores or ids, unless exactly one precision is given, and for limits
        together with `qid`, or that are not two ascending numbers.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import round_scores
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
    linear = levels is not None or (bits is not None and not isinstance(bits, str))
    if limits is not None and not linear:
        raise ValueError(
            f"limits go with levels or a number of bits, got {named[0]}="
            f"{given[named[0]]!r}"
        )
    scores = check_scores(y_score)
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
        check_choice(bits, "bits", NAMED_BITS)
        out[there] = _as_float(scores[there], bits)
    else:
        if bits is not None:
            check_count(bits, "bits")
            levels = 2 ** min(int(bits), 60)
        check_count(levels, "levels", least=2)
        low, high = _limits(scores, there, queries, limits, qid is not None)
        out[there] = _evenly(scores[there], low[there], high[there], int(levels or 2))
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
    if name != "bfloat16":
        largest = float(np.finfo(name).max)
        return np.clip(scores, -largest, largest).astype(name).astype(np.float64)
    # 8 bits of significand, and the exponents of a 32-bit float
    largest = float(np.uint32(0x7F7F0000).view(np.float32))
    inside = np.clip(scores, -largest, largest)
    _, exponent = np.frexp(inside)
    unit = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
    # whole units: to the nearest, halves to even
    return np.asarray(np.clip(np.rint(inside / unit) * unit, -largest, largest))


def _limits(
    scores: FloatArray,
    there: NDArray[np.bool_],
    queries: Queries,
    limits: Any,
    by_query: bool,
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest level of each document."""
    if limits is not None:
        try:
            ends = np.asarray(limits)
        except ValueError:
            ends = np.zeros(0)
        numbers = ends.shape == (2,) and ends.dtype.kind in "iuf"
        if not (numbers and np.isfinite(ends).all() and ends[0] <= ends[1]):
            raise ValueError(
                f"limits must be two finite ascending numbers, got {limits!r}"
            )
        if by_query:
            raise ValueError(
                "limits are the same for all queries: give either limits or qid, got "
                "both"
            )
        low, high = np.broadcast_to(ends.astype(np.float64), (len(scores), 2)).T
        return low, high
    arranged, kept = queries.arrange(scores), queries.arrange(there)
    codes = queries.row_codes()
    low, high = (
        reduce(np.where(kept, arranged, missing), queries.offsets[:-1])[codes]
        for reduce, missing in (
            (np.minimum.reduceat, np.inf),
            (np.maximum.reduceat, -np.inf),
        )
    )
    return low, high


def _evenly(
    scores: FloatArray, low: FloatArray, high: FloatArray, levels: int
) -> FloatArray:
    """The nearest of evenly spaced levels from `low` to `high`."""
    out = np.clip(scores, low, high)
    # halves: the difference of the largest floats overflows
    spread = high / 2 - low / 2 > 0
    low, high, value = low[spread], high[spread], out[spread]
    span = high / 2 - low / 2
    place = np.rint((value / 2 - low / 2) / span * (levels - 1))
    with np.errstate(over="ignore"):  # a level beyond the largest float is cut off
        level = 2 * (low / 2 + place / (levels - 1) * span)
    out[spread] = np.where(place == levels - 1, high, np.clip(level, low, high))
    return out
