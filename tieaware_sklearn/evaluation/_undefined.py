"""Queries for which a measure means nothing: what they get, and who says so."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_choice
from ..measures import Measure


def check_zero_relevance(zero_relevance: Any) -> None:
    """A finite number, "skip" or "raise"."""
    if isinstance(zero_relevance, str):
        check_choice(zero_relevance, "zero_relevance", ("skip", "raise"))
    elif (
        isinstance(zero_relevance, bool)
        or not isinstance(zero_relevance, (int, float, np.integer, np.floating))
        or not math.isfinite(zero_relevance)
    ):
        raise ValueError(
            'zero_relevance must be a finite number, "skip" or "raise", got '
            f"{zero_relevance!r}"
        )


def fill_undefined(
    values: FloatArray,
    undefined: NDArray[np.bool_],
    zero_relevance: float | str | list[float],
    measures: Sequence[Measure],
    queries: Queries,
) -> FloatArray:
    """`values` with the undefined ones as `zero_relevance` says (one per measure)."""
    if zero_relevance == "raise" and undefined.any():
        query, column = np.argwhere(undefined)[0]
        measure = measures[column]
        why = (
            'its labels leave nothing to divide by (zero_relevance=0.0 or "skip" '
            "accepts it)"
            if measure.takes_zero_relevance
            else "too few relevant documents are retrieved (any other zero_relevance "
            "leaves it out)"
        )
        raise ValueError(
            f"{measure} is undefined for query {queries.name(query)}: {why}"
        )
    if isinstance(zero_relevance, str):
        return values
    fillable = np.array([measure.takes_zero_relevance for measure in measures])
    return np.where(undefined & fillable, np.asarray(zero_relevance, float), values)


def fill_std(
    std: FloatArray,
    undefined: NDArray[np.bool_],
    zero_relevance: float | str | list[float],
    measures: Sequence[Measure],
    queries: Queries,
) -> FloatArray:
    """Standard deviations of the same values: a number put in does not vary."""
    value = zero_relevance if isinstance(zero_relevance, str) else 0.0
    return fill_undefined(std, undefined, value, measures, queries)


def warn_undefined(measure: Measure) -> None:
    warnings.warn(
        f"{measure} is undefined for every query: its average is NaN",
        UndefinedMetricWarning,
        stacklevel=3,
    )
