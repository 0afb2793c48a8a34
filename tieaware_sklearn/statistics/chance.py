"""Lift over the chance level, and a test against the chance level.

The chance level is computed by `Measure.label_values`.
"""

import math

import numpy as np
from scipy.special import ndtr

from .._typing import FloatArray
from .averages import without_rounding
from .moments import QueryMoments


def lift(score: FloatArray, chance: FloatArray, ideal: FloatArray) -> FloatArray:
    """Return (score - chance) / (ideal - chance), or 0 where ideal equals chance."""
    largest = np.fmax(np.abs(ideal), np.abs(chance))
    room = without_rounding(ideal - chance, largest)
    ratio = np.where(np.isnan(score), np.nan, 0.0)
    np.divide(score - chance, room, out=ratio, where=np.abs(room) > 0)
    # 0 divided by a negative number is -0.0. Adding 0.0 makes it 0.0.
    return ratio + 0.0


def random_label_pvalues(
    gain: QueryMoments, null_variance: FloatArray, log_placements: FloatArray
) -> FloatArray:
    """Return one-sided p-values of gains over chance, if labels are placed at random.

    The sum of the gains over queries is assumed to be normal, with the variance
    `null_variance`. Random labels may happen to be the best placement, so no p-value is
    below 1 / exp(`log_placements`).
    """
    # If the sum is the same for all placements of the labels, the total and the
    # variance are 0. The floor then prevents 0 / 0.
    error = np.sqrt(np.maximum(null_variance, 1e-300))
    total = gain.mean * gain.weight
    # No p-value is 0, not even if exp underflows.
    least = max(math.exp(-log_placements), 1e-300)
    return np.maximum(ndtr(-total / error), least)
