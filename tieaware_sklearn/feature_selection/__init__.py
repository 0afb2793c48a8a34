"""Feature selection by the exact scores of features as rankings, alone or fused."""

from ._fused_ranker import FusedRanker
from ._fused_selector import FusedRankingSelector
from ._score_func import RankingScoreFunc
from ._screening import Screening
from ._selector import RankingFeatureSelector

__all__ = [
    "FusedRanker",
    "FusedRankingSelector",
    "RankingFeatureSelector",
    "RankingScoreFunc",
    "Screening",
]
