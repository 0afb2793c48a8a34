"""Feature selection by the exact score of each feature alone as a ranking."""

from ._score_func import RankingScoreFunc
from ._screening import Screening
from ._selector import RankingFeatureSelector

__all__ = ["RankingFeatureSelector", "RankingScoreFunc", "Screening"]
