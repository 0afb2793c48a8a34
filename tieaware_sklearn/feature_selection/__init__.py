"""Feature selection by the exact scores of features as rankings, alone or fused."""

from ._fused import FusedRanker
from ._screening import Screening
from ._selector import RankingFeatureSelector

__all__ = ["FusedRanker", "RankingFeatureSelector", "Screening"]


def __dir__() -> list[str]:
    return __all__
