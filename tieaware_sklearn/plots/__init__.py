"""Plots of tie ranges, screenings, importances and coarse scores (matplotlib)."""

from ._feature_screening import FeatureScreeningDisplay
from ._official_vs_exact import OfficialVsExactDisplay
from ._pairwise_p_value import PairwisePValueDisplay
from ._permutation_importance import PermutationImportanceDisplay
from ._precision_loss import PrecisionLossDisplay
from ._precision_recall_band import PrecisionRecallBandDisplay
from ._precision_recall_scatter import PrecisionRecallScatterDisplay
from ._score_precision_front import ScorePrecisionDisplay
from ._selection_curve import SelectionCurveDisplay
from ._tie_range import TieRangeDisplay
from ._topic_difference import TopicDifferenceDisplay
from ._user_model import UserModelDisplay

__all__ = [
    "FeatureScreeningDisplay",
    "OfficialVsExactDisplay",
    "PairwisePValueDisplay",
    "PermutationImportanceDisplay",
    "PrecisionLossDisplay",
    "PrecisionRecallBandDisplay",
    "PrecisionRecallScatterDisplay",
    "ScorePrecisionDisplay",
    "SelectionCurveDisplay",
    "TieRangeDisplay",
    "TopicDifferenceDisplay",
    "UserModelDisplay",
]
