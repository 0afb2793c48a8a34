"""Feature selection by the exact scores of features as rankings, alone or fused."""

from ._fused import FusedRanker
from ._screening import SHOWN, Screening, table_of
from ._selection import AUTO_REDUNDANCY, DIRECTIONS, Rule
from ._selector import RankingFeatureSelector

__all__ = ["FusedRanker", "RankingFeatureSelector", "Screening"]
