"""Systems compared on the same queries, and orderings compared with each other."""

from ._rank_correlation import OrderingCorrelation, rank_correlation
from ._systems import SystemComparison, compare_systems

__all__ = [
    "OrderingCorrelation",
    "SystemComparison",
    "compare_systems",
    "rank_correlation",
]
