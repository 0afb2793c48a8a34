"""Gains of labels: exponential, linear, a table or a function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from .._engine import DROPPED_LABEL, FloatArray
from ._base import shortest

MAX_EXPONENTIAL_LABEL = 60
#: gains are squared and summed
MAX_GAIN = 1e100


def normalise_gain(gain: Any, name: str = "gain") -> Any:
    """A hashable form of `gain`: a name, a callable, or (label, gain) pairs."""
    if callable(gain):
        try:
            hash(gain)
        except TypeError:
            raise ValueError(f"{name} must be hashable, got {gain!r}") from None
        return gain
    if isinstance(gain, str) and gain in _NAMED:
        return gain
    table = _table(gain)
    if table is None:
        raise ValueError(
            f"{name} must be one of {tuple(_NAMED)}, a table of gains by label or a "
            f"callable, got {gain!r}"
        )
    if not table or len(dict(table)) < len(table):
        raise ValueError(
            f"{name} must be a table of at least one label, with each label once, got "
            f"{gain!r}"
        )
    for label, worth in table:
        if not (math.isfinite(label) and label >= 0):
            raise ValueError(f"labels of {name} must be finite and >= 0, got {label}")
        _check_worth(label, worth)
    return table


def _table(gain: Any) -> tuple[tuple[float, float], ...] | None:
    """Pairs of a label and its gain, by label; None if it is no table."""
    if isinstance(gain, str):
        return None
    try:
        pairs = list(gain.items() if hasattr(gain, "items") else gain)
        if not any(isinstance(pair, (tuple, list)) for pair in pairs):
            pairs = list(enumerate(pairs))
        return tuple(sorted((float(label), float(worth)) for label, worth in pairs))
    except (TypeError, ValueError):
        return None


def _check_worth(label: float, worth: Any) -> float:
    try:
        number = float(worth)
    except TypeError:
        raise ValueError(
            f"gain must be a number, got {worth!r} for label {shortest(label)}"
        ) from None
    if not 0 <= number <= MAX_GAIN:
        raise ValueError(
            f"gain must be >= 0 and at most {MAX_GAIN:g}, got {number} for label "
            f"{shortest(label)}"
        )
    return number


def _linear(levels: FloatArray) -> FloatArray:
    if len(levels):
        _check_worth(levels[-1], float(levels[-1]))
    return levels


def _exponential(levels: FloatArray) -> FloatArray:
    """2^level - 1, exact for whole levels and without loss for small ones."""
    if len(levels) and levels[-1] > MAX_EXPONENTIAL_LABEL:
        raise ValueError(
            f"y_true must be <= {MAX_EXPONENTIAL_LABEL} with exponential gain "
            f'(gain="linear" takes any label), got {levels[-1]}'
        )
    return np.array(
        [
            2.0**level - 1 if level.is_integer() else math.expm1(level * math.log(2))
            for level in levels.tolist()
        ]
    )


#: gains by name, of ascending levels >= 0
_NAMED = {"exponential": _exponential, "linear": _linear}


def _look_up(table: dict[float, float], level: float) -> float:
    if level not in table:
        labels = list(map(shortest, table))
        raise ValueError(
            f"y_true must be one of the labels {labels} of the gain table, got "
            f"{shortest(level)}"
        )
    return table[level]


def refused_label(
    measures: Iterable[Any], labels: FloatArray
) -> tuple[int, str] | None:
    """The row of the first label that a measure refuses, and why; None if none does."""
    distinct = np.unique(labels)
    for measure in measures:
        if _refusal(measure, distinct):
            refused = [x for x in distinct if _refusal(measure, np.array([x]))]
            row = int(np.argmax(np.isin(labels, refused)))
            return row, _refusal(measure, labels[row : row + 1])
    return None


def _refusal(measure: Any, levels: FloatArray) -> str:
    try:
        measure.gains(levels)
    except ValueError as error:
        # a file has no y_true
        return f"{measure}: {error}".replace("y_true", "the label")
    return ""


def gains_of(gain: Any, levels: FloatArray) -> FloatArray:
    """The gain of each level; documents without a judgment gain what 0 does.

    What stands for documents that were all dropped gains nothing.

    Raises
    ------
    ValueError
        For a label above 60 with exponential gain, a label that the table does
        not have, a gain that is negative or not finite.
    """
    if len(levels) and levels[0] == DROPPED_LABEL:
        return np.concatenate([np.zeros(1), gains_of(gain, levels[1:])])
    levels = np.maximum(levels, 0)
    if isinstance(gain, str):
        return _NAMED[gain](levels)
    worth = gain if callable(gain) else partial(_look_up, dict(gain))
    return np.array([_check_worth(level, worth(level)) for level in levels.tolist()])
