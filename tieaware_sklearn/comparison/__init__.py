"""Systems compared on the same queries, and orderings compared with each other."""

from ._comparison_result import (
    SystemComparison,
    SystemComparisons,
    SystemSummary,
)
from ._rank_biased_overlap import (
    OverlapSummary,
    RankBiasedOverlap,
    rank_biased_overlap,
)
from ._rank_correlation import (
    CorrelationSummary,
    OrderingCorrelation,
    rank_correlation,
)
from ._systems import compare_systems

__all__ = [
    "CorrelationSummary",
    "OrderingCorrelation",
    "OverlapSummary",
    "RankBiasedOverlap",
    "SystemComparison",
    "SystemComparisons",
    "SystemSummary",
    "compare_systems",
    "rank_biased_overlap",
    "rank_correlation",
]
