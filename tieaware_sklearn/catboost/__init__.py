"""CatBoost with query ids, and metrics that no order of rows changes."""

from ._metrics import eval_metric
from ._ranker import QueryCatBoostRanker

__all__ = ["QueryCatBoostRanker", "eval_metric"]
