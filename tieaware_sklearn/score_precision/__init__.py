"""How precise scores have to be: bands, rounding, worst-case losses, and the study."""

from ._bands import band_scores, geometric_bands, rank_safe_depth, worst_case_loss
from ._coarse_ranker import CoarseRanker, round_scores
from ._study import PrecisionStudy, precision_study

__all__ = [
    "CoarseRanker",
    "PrecisionStudy",
    "band_scores",
    "geometric_bands",
    "precision_study",
    "rank_safe_depth",
    "round_scores",
    "worst_case_loss",
]
