"""Warnings about intervals that are too short for their values per query."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._display import words
from .._typing import Array, FloatArray, IndexArray
from ..io import _wording
from ..statistics.averages import GEOMETRIC_FLOOR, counted_queries
from ..statistics.moments import effective_number

#: Number of queries below which t intervals are too short if the share of equal values
#: is above `_MOST`.
_FEW = 200
_MOST = 0.8
#: Number of queries that a t interval needs per unit of squared skewness (Cochran 1977,
#: p. 42).
_SKEWED = 25
#: Number of queries among which some values near 0 are expected, if values near 0 occur
#: at all.
_MANY = 400
#: Smallest effective number of weighted queries for a t test.
_LEAST_WORTH = 20


def warn_of_intervals(
    named: Iterable[tuple[str, FloatArray]],
    average: str = "macro",
    weight: FloatArray | None = None,
    segments: tuple[Array, Sequence[IndexArray]] | None = None,
) -> None:
    """Warn about intervals that are too short for their values per query.

    Only queries of positive weight count. An interval is too short if all or nearly all
    values are equal, if values are skewed, or if few queries have most of the weight.
    The interval of a geometric mean is also too short if few values are near 0.
    `segments` are the names of segments, and the queries of each segment.
    """
    if average == "median":
        # The interval of a median follows from ranks, not from the spread of values.
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
                # A single value has no interval.
                continue
            heavy.append(why_heavy(weights, suffix))
            reason = why_short(values, average)
            if reason is not None:
                names_by_reason.setdefault(reason, []).append(f"{name}{suffix}")
    warn_once(heavy)
    for reason, names in names_by_reason.items():
        listed = _wording.listed(dict.fromkeys(names))
        words.warn(f"the values per query of {listed} {reason}")


def warn_once(texts: Iterable[str | None]) -> None:
    """Emit each text that is not None as a warning, once."""
    for text in dict.fromkeys(texts):
        if text is not None:
            words.warn(text)


def why_heavy(weight: FloatArray | None, suffix: str = "") -> str | None:
    """Explain how weights affect t tests, or return None if weights are similar."""
    if weight is None:
        return None
    n_effective = effective_number(weight)
    if n_effective >= _LEAST_WORTH:
        return None
    effect = "the interval is too short, and t tests reject too often"
    if n_effective < 2:
        effect = "there is no t interval and no t test"
    return (
        f"the weights of {len(weight)} queries{suffix} are worth {n_effective:.1f} "
        f"queries of equal weight, fewer than {_LEAST_WORTH}, so {effect}. In "
        "comparisons, test='randomization' remains valid"
    )


def why_short(values: FloatArray, average: str) -> str | None:
    """Explain why the interval of these values is too short, or return None."""
    n = len(values)
    # Number of queries that is enough for a geometric mean.
    enough = _FEW if values.min() <= GEOMETRIC_FLOOR else _MANY
    # Values that differ only by rounding count as equal.
    scale = np.abs(values).max()
    if scale > 0:
        values = values / scale
    _, counts = np.unique(np.round(values, 12), return_counts=True)
    most = counts.max()
    if most == n:
        return "do not vary, so there is no interval unless the value is a bound"
    if n < _FEW and most > _MOST * n:
        return f"are equal for over {_MOST:.0%} of queries: the interval is too short"
    # scipy.stats.skew is slower, and warns about similar values.
    deviation = values - values.mean()
    third_moment = (deviation**3).mean()
    variance = (deviation**2).mean()
    squared_skewness = third_moment**2 / variance**3
    if n < _SKEWED * squared_skewness:
        return f"are too skewed for {n} queries, so the interval is too short"
    if n < enough and average == "geometric":
        return "are rarely near 0, so the interval may be too short"
    return None
