"""The linear ranker, and what the rankers of LightGBM, XGBoost and CatBoost share."""

from ._linear import LinearRanker

__all__ = ["LinearRanker"]
