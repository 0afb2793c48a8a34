"""How coarse scores are: its spelling, and scores made so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.exact import as_floats
from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_qid,
    check_scores,
    is_number,
)
from ._bands import banded, check_rho

Item = TypeVar("Item")

FORMATS = ("float16", "bfloat16", "float32")
_LARGEST = float(np.finfo(np.float64).max)
#: more significant digits, or decimals, change no float
_MOST_DIGITS, _MOST_DECIMALS = 17, 400
#: the least number of each kind but rho
_LEAST = {"decimals": -308, "significant": 1, "bits": 1, "levels": 2}
KINDS = ("rho", *_LEAST)
#: so many bits hold every distinct score that fits into memory
_MOST_BITS = 60


@dataclass(frozen=True)
class Coarseness:
    """One way to make scores coarser; prints as its text, such as ``rho=1.1``.

    Attributes
    ----------
    kind : {"rho", "decimals", "significant", "bits", "levels"}
    value : Fraction, int or str
        The growth of bands, a number of digits, bits or levels, or the name of a
        float type.
    text : str
        Two texts may mean the same, ``rho=2`` and ``rho=4/2``.
    """

    kind: str
    value: Any
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def is_linear(self) -> bool:
        """Whether it divides the range between two scores."""
        return self.kind in ("bits", "levels") and self.value not in FORMATS

    def by_query(self, scale: str) -> bool:
        """Whether it must know the queries, if levels lie as `scale` says."""
        return self.kind == "rho" or (self.is_linear and scale == "query")

    def apply(
        self,
        scores: NDArray[Any],
        queries: Queries,
        *,
        limits: Any = None,
        existing_ties: str = "keep",
    ) -> FloatArray:
        """Checked scores, made coarser; -inf stays.

        Bands are those of each query, and levels lie between its extremes unless
        there are `limits`.
        """
        if self.kind == "rho":
            return banded(scores, queries, self.value, existing_ties)
        out = as_floats(scores, "y_score").copy()
        there = np.isfinite(out)
        if self.kind == "decimals":
            out[there] = _to_decimals(out[there], self.value)
        elif self.kind == "significant":
            out[there] = _to_significant(out[there], self.value)
        elif not self.is_linear:
            out[there] = _to_format(out[there], self.value)
        else:
            bits = self.kind == "bits"
            levels = 2 ** min(self.value, _MOST_BITS) if bits else self.value
            low, high = _extremes(out, queries) if limits is None else limits
            low, high = (np.broadcast_to(end, out.shape)[there] for end in (low, high))
            out[there] = _to_levels(out[there], low, high, levels)
        return out


def _extremes(scores: FloatArray, queries: Queries) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score that is retrieved of the query of each row."""
    arranged, starts = queries.arrange(scores), queries.offsets[:-1]
    low = np.where(np.isfinite(arranged), arranged, np.inf)
    codes = queries.row_codes()
    return (
        np.minimum.reduceat(low, starts)[codes],
        np.maximum.reduceat(arranged, starts)[codes],
    )


def _to_decimals(scores: FloatArray, decimals: int) -> FloatArray:
    """Scores rounded to decimal places."""
    # Python rounds the exact value: no product that overflows or rounds twice
    return _each(scores, lambda x: float(round(x, min(decimals, _MOST_DECIMALS))))


def _to_significant(scores: FloatArray, digits: int) -> FloatArray:
    """Scores rounded to significant decimal digits."""
    return _each(scores, lambda x: float(f"{x:.{min(digits, _MOST_DIGITS) - 1}e}"))


def _each(scores: FloatArray, rounded: Callable[[float], float]) -> FloatArray:
    """A function of the distinct scores."""

    def finite(score: float) -> float:
        try:
            return min(max(rounded(score), -_LARGEST), _LARGEST)
        except OverflowError:
            return math.copysign(_LARGEST, score)

    distinct, at = np.unique(scores, return_inverse=True)
    return np.array([finite(x) for x in distinct.tolist()], dtype=np.float64)[at]


def _to_format(scores: FloatArray, name: str) -> FloatArray:
    """Nearest values of a shorter float type; its largest ones beyond its range."""
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


def _to_levels(
    scores: FloatArray, low: FloatArray, high: FloatArray, levels: int
) -> FloatArray:
    """The nearest of evenly spaced levels from `low` to `high`, all of one shape."""
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


def parse_coarseness(coarseness: Any) -> Coarseness:
    """The one that a text such as ``"bits=8"`` names."""
    if isinstance(coarseness, Coarseness):
        return coarseness
    if not (isinstance(coarseness, str) and "=" in coarseness):
        raise ValueError(
            'coarseness must be a text such as "rho=1.1", "decimals=2", '
            '"significant=3", "bits=float16", "bits=8" or "levels=100", got '
            f"{coarseness!r}"
        )
    kind, _, given = (part.strip() for part in coarseness.partition("="))
    check_choice(kind, f"coarseness {coarseness!r}: the kind", KINDS)
    value: Fraction | int | str = given
    if kind == "rho":
        value = check_rho(given)
    elif kind != "bits" or given not in FORMATS:
        value = _number(kind, given)
    return Coarseness(kind, value, f"{kind}={given}")


def _number(kind: str, given: str) -> int:
    """A number of digits, bits or levels."""
    try:
        value = int(given)
    except ValueError:
        value = _LEAST[kind] - 1
    if value < _LEAST[kind]:
        formats = f"one of {FORMATS} or " if kind == "bits" else ""
        raise ValueError(
            f"{kind} must be {formats}an integer >= {_LEAST[kind]}, got {given!r}"
        )
    return value


def several(given: Any, name: str, parse: Callable[[Any], Item]) -> list[Item]:
    """One or several, each parsed, all different."""
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    parsed = [parse(one) for one in (given if listed else [given])]
    if not parsed:
        raise ValueError(f"{name} must not be empty")
    for i, one in enumerate(parsed):
        first = parsed.index(one)
        if first < i:
            raise ValueError(
                f"{name} must not repeat an entry, got {parsed[first]} and {one}"
            )
    return parsed


def round_scores(
    y_score: ArrayLike,
    coarseness: str,
    *,
    qid: Any = None,
    limits: tuple[float, float] | None = None,
) -> FloatArray:
    """Round scores to less precision.

    Distinct scores may become equal, but their order is never reversed.

    Parameters
    ----------
    y_score : array-like of shape (n_documents,)
        Scores; -inf (not retrieved) is kept. For all kinds but bands they are converted
        to 64-bit floats; scores that would become equal by this are an error.
    coarseness : str
        The coarseness:

        - ``"rho=1.1"``: geometric bands of ranks that grow by this factor, as in
          `band_scores`;
        - ``"decimals=2"``: number of decimal places; negative numbers round to tens,
          hundreds and so on;
        - ``"significant=3"``: number of significant decimal digits;
        - ``"bits=float16"``, ``"bits=bfloat16"`` or ``"bits=float32"``: the values of a
          float type; scores beyond its range become its extreme values;
        - ``"levels=100"``: number of evenly spaced values between the smallest and the
          largest score;
        - ``"bits=8"``: number of bits of an integer, the same as ``"levels=256"``.
    qid : array-like of shape (n_documents,), optional
        Query of each document. Bands are those of each query, and levels (or a number
        of bits) are between its smallest and largest score. By default all documents
        are one query. Digits and float types do not need it.
    limits : pair of float, optional
        Smallest and largest level, for levels and a number of bits; scores beyond them
        become the nearest of them. By default the extreme scores.

    Returns
    -------
    ndarray of shape (n_documents,), float64
        The coarser scores.

    Raises
    ------
    ValueError
        If scores or ids are not allowed, if `coarseness` is unknown, or if `limits` are
        not two ascending numbers, are given together with `qid`, or do not go with
        `coarseness`.

    See Also
    --------
    band_scores : Bands of ranks.
    precision_study : Measures the effect of coarser scores.
    CoarseRanker : A ranker whose scores are made coarser.

    Examples
    --------
    >>> from tieaware_sklearn.score_precision import round_scores
    >>> round_scores([0.123, 12.35, 987.6], "significant=2").tolist()
    [0.12, 12.0, 990.0]
    >>> round_scores([0.0, 0.2, 0.6, 1.0], "levels=3").tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    parsed = parse_coarseness(coarseness)
    if limits is not None:
        _check_limits(limits, parsed, qid)
    scores = check_scores(y_score)
    return parsed.apply(scores, check_qid(qid, n_rows=len(scores)), limits=limits)


def _check_limits(limits: Any, coarseness: Coarseness, qid: Any) -> None:
    if not coarseness.is_linear:
        raise ValueError(f"limits go with levels or a number of bits, got {coarseness}")
    ends = list(limits) if isinstance(limits, Iterable) else []
    numbers = len(ends) == 2 and all(map(is_number, ends))
    if not (numbers and ends[0] <= ends[1]):
        raise ValueError(f"limits must be two finite ascending numbers, got {limits!r}")
    if qid is not None:
        raise ValueError(
            "limits are the same for all queries: give either limits or qid, got both"
        )
