"""Plots of tie ranges, folds, screenings and coarse scores."""

from ._feature_screening import FeatureScreeningDisplay
from ._fold_scores import FoldScoresDisplay
from ._precision_recall import PrecisionRecallBandDisplay
from ._precision_study import PairwisePValueDisplay, PrecisionLossDisplay
from ._system_comparison import SystemComparisonDisplay
from ._tie_range import TieRangeDisplay

__all__ = [
    "FeatureScreeningDisplay",
    "FoldScoresDisplay",
    "PairwisePValueDisplay",
    "PrecisionLossDisplay",
    "PrecisionRecallBandDisplay",
    "SystemComparisonDisplay",
    "TieRangeDisplay",
]
