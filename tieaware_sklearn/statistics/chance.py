"""The chance level: how far a score lies above it, and a test against it."""

import math

import numpy as np
from scipy.special import ndtr

from .._typing import FloatArray
from .averages import without_rounding
from .moments import QueryMoments


def lift(score: FloatArray, chance: FloatArray, ideal: FloatArray) -> FloatArray:
    """(score - chance) / (ideal - chance), 0 where ideal and chance are equal."""
    room = without_rounding(ideal - chance, np.fmax(np.abs(ideal), np.abs(chance)))
    ratio = np.where(np.isnan(score), np.nan, 0.0)
    np.divide(score - chance, room, out=ratio, where=np.abs(room) > 0)
    # 0 over a negative room is -0.0
    return ratio + 0.0


def random_label_pvalues(
    gain: QueryMoments, null_variance: FloatArray, log_placements: FloatArray
) -> FloatArray:
    """Return one-sided p-values of gains over chance, if labels are placed at random.

    The sum of the gains over queries is taken as normal, with the variance
    `null_variance`. Labels at random could be the best placement, so no p-value is
    below 1 / exp(`log_placements`).
    """
    error = np.sqrt(np.maximum(null_variance, 1e-300))
    pvalues = ndtr(-gain.mean * gain.weight / error)
    return np.maximum(pvalues, max(math.exp(-log_placements), 1e-300))
