"""Systems compared on the same queries, and orderings compared with each other."""

from ._correlation import OrderingCorrelation, order_agreement, rank_correlation
from ._official import (
    OfficialVsExact,
    TieStatistics,
    official_vs_exact,
    score_ties,
    tie_statistics,
)
from ._orders import PValuesOverOrders, pvalues_over_orders
from ._overlap import (
    OverlapMatrix,
    RankBiasedOverlap,
    pairwise_overlap,
    rank_biased_overlap,
)
from ._paired_test import CORRECTIONS, TESTS, QueryLosses, paired_test
from ._result import EXPECTED, STATISTICS, SystemComparison
from ._systems import (
    ONE_SYSTEM,
    MeasuredSystems,
    check_baselines,
    check_options,
    check_systems,
    compare_systems,
    compared,
    pairs_of,
    values_of_systems,
    warn_undefined,
)

__all__ = [
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
