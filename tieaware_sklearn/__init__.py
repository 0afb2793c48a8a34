"""Exact scores of rankings when documents tie."""

from ._engine import SplitQueriesWarning
from ._kernel import show_versions
from .comparison import compare_systems, official_vs_exact, pvalues_over_orders
from .evaluation import (
    PreparedRanking,
    RankingReport,
    break_ties,
    evaluate,
    evaluate_batches,
    evaluate_subtopics,
    ranking_score,
    sampled,
    tie_report,
    tie_treatments,
)
from .feature_selection import FusedRanker, RankingFeatureSelector, Screening
from .inspection import (
    query_permutation_importance,
    selection_curve,
    selection_stability,
)
from .measures import Measure, parse_measure
from .model_selection import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    make_ranking_scorer,
    train_test_split_queries,
)
from .rankers import LinearRanker
from .score_precision import precision_study

__version__ = "0.1.0"

__all__ = [
    "FusedRanker",
    "LinearRanker",
    "Measure",
    "PreparedRanking",
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingFeatureSelector",
    "RankingReport",
    "Screening",
    "SplitQueriesWarning",
    "break_ties",
    "compare_systems",
    "evaluate",
    "evaluate_batches",
    "evaluate_subtopics",
    "make_ranking_scorer",
    "official_vs_exact",
    "parse_measure",
    "precision_study",
    "pvalues_over_orders",
    "query_permutation_importance",
    "ranking_score",
    "sampled",
    "selection_curve",
    "selection_stability",
    "show_versions",
    "tie_report",
    "tie_treatments",
    "train_test_split_queries",
]
