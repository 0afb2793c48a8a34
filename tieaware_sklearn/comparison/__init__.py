"""Systems compared on the same queries, and orderings compared with each other."""

from ._rank_correlation import (
    CorrelationSummary,
    OrderingCorrelation,
    rank_correlation,
)
from ._systems import SystemComparison, SystemSummary, compare_systems

__all__ = [
    "CorrelationSummary",
    "OrderingCorrelation",
    "SystemComparison",
    "SystemSummary",
    "compare_systems",
    "rank_correlation",
]
