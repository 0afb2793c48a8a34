"""Feature selection by the exact scores of features as rankings."""

from ._screening import Screening
from ._selector import RankingFeatureSelector

__all__ = ["RankingFeatureSelector", "Screening"]
