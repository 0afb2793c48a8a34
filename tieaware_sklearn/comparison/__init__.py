"""Systems compared on the same queries, and orderings compared with each other."""

from ._correlation import OrderingCorrelation, rank_correlation
from ._orders import PValuesOverOrders, pvalues_over_orders
from ._overlap import RankBiasedOverlap, rank_biased_overlap
from ._result import SystemComparison
from ._systems import compare_systems
from ._tie_statistics import TieStatistics, tie_statistics
from ._top_k_overlap import TopKOverlap, top_k_overlap
from ._values import compare_values

__all__ = [
    "OrderingCorrelation",
    "PValuesOverOrders",
    "RankBiasedOverlap",
    "SystemComparison",
    "TieStatistics",
    "TopKOverlap",
    "compare_systems",
    "compare_values",
    "pvalues_over_orders",
    "rank_biased_overlap",
    "rank_correlation",
    "tie_statistics",
    "top_k_overlap",
]
