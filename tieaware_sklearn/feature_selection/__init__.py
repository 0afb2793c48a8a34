"""Features screened: selected by what each is worth alone as a ranking."""

from ._selector import RankingFeatureSelector

__all__ = ["RankingFeatureSelector"]
