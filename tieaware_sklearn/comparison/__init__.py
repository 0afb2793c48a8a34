"""Systems compared on the same queries, and orderings compared with each other."""

from ._comparison_result import (
    SystemComparison,
    SystemComparisons,
    SystemSummary,
)
from ._pairwise_overlap import OverlapMatrix, pairwise_overlap
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
    "OverlapMatrix",
    "OverlapSummary",
    "RankBiasedOverlap",
    "SystemComparison",
    "SystemComparisons",
    "SystemSummary",
    "compare_systems",
    "pairwise_overlap",
    "rank_biased_overlap",
    "rank_correlation",
]
