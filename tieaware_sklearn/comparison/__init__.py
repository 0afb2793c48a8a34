"""Systems compared on the same queries, and orderings compared with each other."""

from ._comparison_result import SystemComparison
from ._official import official_vs_exact
from ._official_result import OfficialVsExact
from ._pairwise_overlap import OverlapMatrix, pairwise_overlap
from ._posterior import ComparisonPosterior
from ._pvalues_over_orders import pvalues_over_orders
from ._pvalues_over_orders_result import PValuesOverOrders
from ._rank_biased_overlap import RankBiasedOverlap, rank_biased_overlap
from ._rank_correlation import OrderingCorrelation, rank_correlation
from ._systems import compare_systems
from ._tie_statistics import TieStatistics, tie_statistics

__all__ = [
    "ComparisonPosterior",
    "OfficialVsExact",
    "OrderingCorrelation",
    "OverlapMatrix",
    "PValuesOverOrders",
    "RankBiasedOverlap",
    "SystemComparison",
    "TieStatistics",
    "compare_systems",
    "official_vs_exact",
    "pairwise_overlap",
    "pvalues_over_orders",
    "rank_biased_overlap",
    "rank_correlation",
    "tie_statistics",
]
