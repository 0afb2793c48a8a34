"""CatBoost with query ids, and metrics that do not depend on the order of rows."""

from ._metrics import eval_metric
from ._ranker import QueryCatBoostRanker

__all__ = ["QueryCatBoostRanker", "eval_metric"]
