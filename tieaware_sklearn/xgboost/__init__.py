"""XGBoost with query ids, and metrics that no order of rows changes.

XGBoost breaks ties by the order of the rows. While trees are few, documents tie
everywhere, and on validation rows sorted by label the first tree looks perfect:
early stopping ends there. The metrics here are exact, so that it does not.
"""

from ._metrics import custom_metric
from ._ranker import QueryXGBRanker

__all__ = ["QueryXGBRanker", "custom_metric"]
