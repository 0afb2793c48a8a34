"""What a label is worth: exponential, linear, a table or a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.ties import FloatArray

MAX_EXPONENTIAL_LABEL = 60
#: gains are squared and summed
MAX_GAIN = 1e100


def shortest(number: float) -> str:
    """The shortest spelling that reads back as the same number."""
    return repr(int(number)) if float(number).is_integer() else repr(float(number))


def normalise_gain(gain: Any) -> Any:
    """A hashable form of `gain`: a name, a callable, or (label, gain) pairs."""
    if isinstance(gain, str):
        if gain not in NAMED_GAINS:
            raise ValueError(
                f"gain must be one of {NAMED_GAINS}, a table of label: gain or a "
                f"callable, got {gain!r}"
            )
        return gain
    if callable(gain):
        try:
            hash(gain)
        except TypeError:
            raise ValueError(f"gain must be hashable, got {gain!r}") from None
        return gain
    try:
        if hasattr(gain, "items"):
            pairs = list(gain.items())
        else:
            pairs = list(gain)
            if not any(isinstance(pair, (tuple, list)) for pair in pairs):
                pairs = list(enumerate(pairs))
        table = tuple(sorted((float(label), float(worth)) for label, worth in pairs))
    except (TypeError, ValueError):
        raise ValueError(
            f"gain must be one of {NAMED_GAINS}, a table of label: gain or a "
            f"callable, got {gain!r}"
        ) from None
    if not table or len(dict(table)) < len(table):
        raise ValueError(
            f"gain must be a table of at least one label, each once, got {gain!r}"
        )
    for label, worth in table:
        if not (math.isfinite(label) and label >= 0):
            raise ValueError(f"labels of gain must be finite and >= 0, got {label}")
        _check_worth(label, worth)
    return table


def _check_worth(label: float, worth: float) -> float:
    if not 0 <= worth <= MAX_GAIN:
        raise ValueError(
            f"gain must be >= 0 and at most {MAX_GAIN:g}, got {worth} for label "
            f"{shortest(label)}"
        )
    return worth


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
NAMED_GAINS = tuple(_NAMED)


def _called(gain: Callable[[float], float], level: float) -> float:
    worth = gain(level)
    try:
        return _check_worth(level, float(worth))
    except TypeError:
        raise ValueError(
            f"gain must be a number, got {worth!r} for label {shortest(level)}"
        ) from None


def gain_spelling(gain: Any) -> str:
    """`gain` as it stands in the name of a measure."""
    if isinstance(gain, str):
        return gain
    if callable(gain):
        return getattr(gain, "__name__", type(gain).__name__)
    return "{" + ",".join(f"{shortest(a)}:{shortest(b)}" for a, b in gain) + "}"


def gains_of(gain: Any, levels: FloatArray) -> FloatArray:
    """The gain of each level; documents without a judgment gain what 0 does.

    Raises
    ------
    ValueError
        For a label above 60 with exponential gain, a label that the table does
        not have, a gain that is negative or not finite.
    """
    levels = np.maximum(levels, 0)
    if isinstance(gain, str):
        return _NAMED[gain](levels)
    if callable(gain):
        return np.array([_called(gain, level) for level in levels.tolist()])
    table = dict(gain)
    for level in levels.tolist():
        if level not in table:
            labels = [shortest(label) for label in table]
            raise ValueError(
                f"y_true must be one of the labels {labels} of the gain table, got "
                f"{shortest(level)}"
            )
    return np.array([table[level] for level in levels.tolist()])
