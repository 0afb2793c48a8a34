"""The chance level, and how far a score lies above it."""

import numpy as np

from .._typing import FloatArray


def lift(score: FloatArray, chance: FloatArray, ideal: FloatArray) -> FloatArray:
    """(score - chance) / (ideal - chance), 0 where ideal and chance are equal."""
    room = ideal - chance
    out = np.where(np.isnan(score), np.nan, 0.0)
    np.divide(score - chance, room, out=out, where=np.abs(room) > 1e-12)
    # 0 over a negative room is -0.0
    return out + 0.0
