"""The linear ranker, and what the companions of LightGBM and XGBoost share."""

from ._linear import LinearRanker

__all__ = ["LinearRanker"]
