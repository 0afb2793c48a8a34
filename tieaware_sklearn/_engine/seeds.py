"""Randomness, of every kind that scikit-learn takes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_MOST = 2**31 - 1


def check_seed(random_state: Any) -> np.random.RandomState:
    """What draws; equal integers draw equally.

    Raises
    ------
    ValueError
        For anything but an integer from 0 to 2**32 - 1, a Generator, a RandomState
        or None.
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    try:
        return check_random_state(random_state)  # type: ignore[no-any-return]
    except ValueError:
        raise ValueError(
            "random_state must be an integer from 0 to 2**32 - 1, a Generator, a "
            f"RandomState or None, got {random_state!r}"
        ) from None


def seed_of(random_state: Any) -> int:
    """A seed to be used again: an integer itself, or one that is drawn."""
    drawn = check_seed(random_state).randint(_MOST)
    return int(random_state if isinstance(random_state, numbers.Integral) else drawn)
