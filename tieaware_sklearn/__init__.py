"""Exact scores of rankings when documents tie."""

from ._display import interrupts as _interrupts  # noqa: F401, before what takes time

# isort: split
from . import evaluation, measures
from ._engine.fitted_queries import SplitQueriesWarning
from ._kernel.engines import show_versions
from .comparison import (
    OfficialVsExact,
    PValuesOverOrders,
    SystemComparison,
    compare_systems,
    official_vs_exact,
    pvalues_over_orders,
)
from .evaluation import *  # noqa: F403
from .feature_selection import (
    FusedRanker,
    RankingFeatureSelector,
    Screening,
)
from .inspection import (
    PermutationImportance,
    SelectionCurve,
    SelectionStability,
    query_permutation_importance,
    selection_curve,
    selection_stability,
)
from .measures import *  # noqa: F403
from .model_selection import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RankingScorer,
    make_ranking_scorer,
    train_test_split_queries,
)
from .rankers import LinearRanker
from .score_precision import PrecisionStudy, precision_study

__version__ = "0.1.0"

__all__ = [
    "FusedRanker",
    "LinearRanker",
    "OfficialVsExact",
    "PValuesOverOrders",
    "PermutationImportance",
    "PrecisionStudy",
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingFeatureSelector",
    "RankingScorer",
    "Screening",
    "SelectionCurve",
    "SelectionStability",
    "SplitQueriesWarning",
    "SystemComparison",
    "compare_systems",
    "make_ranking_scorer",
    "official_vs_exact",
    "precision_study",
    "pvalues_over_orders",
    "query_permutation_importance",
    "selection_curve",
    "selection_stability",
    "show_versions",
    "train_test_split_queries",
]
__all__ += evaluation.__all__
__all__ += measures.__all__
