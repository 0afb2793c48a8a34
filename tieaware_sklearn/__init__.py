"""Exact scores of rankings when documents tie."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from ._engine.split_queries import SplitQueriesWarning
    from ._kernel.engines import show_versions
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
else:

    def __getattr__(name: str) -> Any:
        """A name of a room, or the room, imported when it is asked for."""
        for room, names in _ROOMS.items():
            if name == room or name in names:
                found = import_module(f"{__name__}.{room}")
                # the next time it is there
                return globals().setdefault(
                    name, found if name == room else getattr(found, name)
                )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*__all__, *(room for room in _ROOMS if "." not in room)})


#: imported when they are asked for
_ROOMS = {
    "_engine.split_queries": ["SplitQueriesWarning"],
    "_kernel.engines": ["show_versions"],
    "evaluation": [
        "PreparedRanking",
        "RankingReport",
        "break_ties",
        "evaluate",
        "evaluate_batches",
        "evaluate_subtopics",
        "ranking_score",
        "sampled",
        "tie_report",
        "tie_treatments",
    ],
    "measures": ["Measure", "parse_measure"],
    "comparison": ["compare_systems", "official_vs_exact", "pvalues_over_orders"],
    "feature_selection": ["FusedRanker", "RankingFeatureSelector", "Screening"],
    "inspection": [
        "query_permutation_importance",
        "selection_curve",
        "selection_stability",
    ],
    "model_selection": [
        "QueryKFold",
        "QueryShuffleSplit",
        "QueryTimeSeriesSplit",
        "make_ranking_scorer",
        "train_test_split_queries",
    ],
    "rankers": ["LinearRanker"],
    "score_precision": ["precision_study"],
}
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
