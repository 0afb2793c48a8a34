"""Systems compared on the same queries, and orderings compared with each other."""

from ._comparison_result import (
    SystemComparison,
    SystemComparisons,
    SystemSummary,
)
from ._pvalues_over_orders import pvalues_over_orders
from ._pvalues_over_orders_result import PValuesOverOrders
from ._rank_correlation import (
    CorrelationSummary,
    OrderingCorrelation,
    rank_correlation,
)
from ._systems import compare_systems

__all__ = [
    "CorrelationSummary",
    "OrderingCorrelation",
    "PValuesOverOrders",
    "SystemComparison",
    "SystemComparisons",
    "SystemSummary",
    "compare_systems",
    "pvalues_over_orders",
    "rank_correlation",
]
