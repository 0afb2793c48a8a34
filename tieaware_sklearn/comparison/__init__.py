"""Systems compared on the same queries, and orderings compared with each other."""

from ._comparison_result import (
    SystemComparison,
    SystemSummary,
)
from ._posterior import ComparisonPosterior
from ._rank_correlation import (
    CorrelationSummary,
    OrderingCorrelation,
    rank_correlation,
)
from ._several_comparisons import SystemComparisons, SystemSummaries
from ._systems import compare_systems

__all__ = [
    "ComparisonPosterior",
    "CorrelationSummary",
    "OrderingCorrelation",
    "SystemComparison",
    "SystemComparisons",
    "SystemSummaries",
    "SystemSummary",
    "compare_systems",
    "rank_correlation",
]
