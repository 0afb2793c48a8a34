"""Plots (matplotlib): what ties and coarse scores leave open, as pictures."""

from ._curves import PrecisionRecallBandDisplay
from ._front import ScorePrecisionDisplay
from ._screening import FeatureScreeningDisplay
from ._study import PairwisePValueDisplay, PrecisionLossDisplay
from ._systems import TieRangeDisplay
from ._user_models import UserModelDisplay

__all__ = [
    "FeatureScreeningDisplay",
    "PairwisePValueDisplay",
    "PrecisionLossDisplay",
    "PrecisionRecallBandDisplay",
    "ScorePrecisionDisplay",
    "TieRangeDisplay",
    "UserModelDisplay",
]
