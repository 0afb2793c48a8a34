"""Warnings of values per query whose interval is too short."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._display import words
from .._typing import Array, FloatArray, IndexArray
from ..io import _wording
from ..statistics.averages import GEOMETRIC_FLOOR, counted_queries
from ..statistics.moments import effective_number

#: t intervals of fewer queries are too short if most values are equal
_FEW = 200
_MOST = 0.8
#: queries needed per unit of squared skewness (Cochran 1977, p. 42)
_SKEWED = 25
#: queries after which values near 0 would have shown, if there are any
_MANY = 400
#: queries of equal weight that weighted ones must be worth for a t test
_LEAST_WORTH = 20


def warn_of_intervals(
    named: Iterable[tuple[str, FloatArray]],
    average: str = "macro",
    weight: FloatArray | None = None,
    segments: tuple[Array, Sequence[IndexArray]] | None = None,
) -> None:
    """Warn of values of queries of positive weight, whose interval is too short.

    All or nearly all of them are equal, they are skewed, or few are near 0, of a
    geometric mean; or few queries have most of the weight. `segments` are names of
    segments, and the queries of each.
    """
    if average == "median":
        return
    parts: list[tuple[str, Any]] = [("", slice(None))]
    if segments is not None:
        suffixes = [f" in segment {name}" for name in segments[0]]
        parts = list(zip(suffixes, segments[1], strict=True))
    names_by_reason: dict[str, list[str]] = {}
    heavy = []
    for name, all_values in named:
        for suffix, queries in parts:
            values = all_values[queries]
            weights = None if weight is None else weight[queries]
            is_counted, weights = counted_queries(~np.isnan(values), weights)
            values = values[is_counted]
            if len(values) < 2:
                continue
            heavy.append(why_heavy(weights, suffix))
            why = why_short(values, average)
            if why is not None:
                names_by_reason.setdefault(why, []).append(f"{name}{suffix}")
    warn_once(heavy)
    for why, names in names_by_reason.items():
        listed = _wording.listed(dict.fromkeys(names))
        words.warn(f"the values per query of {listed} {why}")


def warn_once(texts: Iterable[str | None]) -> None:
    """Warn of each text that is not None, once."""
    for text in dict.fromkeys(texts):
        if text is not None:
            words.warn(text)


def why_heavy(weight: FloatArray | None, suffix: str = "") -> str | None:
    """Say what weights that are worth few queries do to t tests; None if worth more."""
    if weight is None or (worth := effective_number(weight)) >= _LEAST_WORTH:
        return None
    if worth < 2:
        effect = "there is no t interval and no t test"
    else:
        effect = "the interval is too short, and t tests reject too often"
    return (
        f"the weights of {len(weight)} queries{suffix} are worth {worth:.1f} of equal "
        f"weight, fewer than {_LEAST_WORTH}: {effect}; test='randomization' holds"
    )


def why_short(values: FloatArray, average: str) -> str | None:
    """Say why the interval of these values is too short; None if it is not."""
    n = len(values)
    enough = _FEW if values.min() <= GEOMETRIC_FLOOR else _MANY
    scale = np.abs(values).max()
    if scale > 0:
        values = values / scale
    most = np.unique(np.round(values, 12), return_counts=True)[1].max()
    if most == n:
        return "are all equal: no spread, and no interval except at a bound"
    if n < _FEW and most > _MOST * n:
        return f"are equal for over {_MOST:.0%} of them: the interval is too short"
    if n < _SKEWED * _squared_skewness(values):
        return f"are too skewed for {n} queries: take more, or the interval is short"
    if n < enough and average == "geometric":
        return "are hardly ever near 0: if others are, the interval is too short"
    return None


def _squared_skewness(values: FloatArray) -> float:
    # scipy's skewness warns of values that hardly differ, and takes longer
    deviation = values - values.mean()
    return float((deviation**3).mean() ** 2 / (deviation**2).mean() ** 3)
