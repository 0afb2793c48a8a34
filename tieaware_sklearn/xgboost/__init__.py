"""XGBoost with query ids, and metrics that do not depend on the order of rows.

XGBoost breaks ties by the order of rows. The first trees tie many documents, so that
on validation rows sorted by label the first tree looks perfect, and early stopping
keeps it alone. The metrics here are exact under ties, which prevents this.
"""

from ._metrics import custom_metric
from ._ranker import QueryXGBRanker

__all__ = ["QueryXGBRanker", "custom_metric"]
