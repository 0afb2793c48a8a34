"""Exact scores of rankings when documents tie."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

#: Public names by the module that defines them. A module is imported when one of its
#: names is first used, so that importing the package stays fast.
_PUBLIC_NAMES = {
    "_engine.split_queries": ["SplitQueriesWarning"],
    "_kernel.engines": ["show_versions"],
    "evaluation": [
        "PreparedRanking",
        "RankingReport",
        "break_ties",
        "evaluate",
        "evaluate_batches",
        "ranking_score",
        "sampled",
        "tie_report",
        "tie_treatments",
    ],
    "measures": ["Measure", "parse_measure"],
    "comparison": ["compare_systems", "compare_values", "pvalues_over_orders"],
    "feature_selection": ["RankingFeatureSelector", "Screening"],
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
__all__ = sorted(name for names in _PUBLIC_NAMES.values() for name in names)

if TYPE_CHECKING:  # Type checkers do not run `__getattr__`.
    from ._engine.split_queries import SplitQueriesWarning as SplitQueriesWarning
    from ._kernel.engines import show_versions as show_versions
    from .comparison import compare_systems as compare_systems
    from .comparison import compare_values as compare_values
    from .comparison import pvalues_over_orders as pvalues_over_orders
    from .evaluation import PreparedRanking as PreparedRanking
    from .evaluation import RankingReport as RankingReport
    from .evaluation import break_ties as break_ties
    from .evaluation import evaluate as evaluate
    from .evaluation import evaluate_batches as evaluate_batches
    from .evaluation import ranking_score as ranking_score
    from .evaluation import sampled as sampled
    from .evaluation import tie_report as tie_report
    from .evaluation import tie_treatments as tie_treatments
    from .feature_selection import RankingFeatureSelector as RankingFeatureSelector
    from .feature_selection import Screening as Screening
    from .measures import Measure as Measure
    from .measures import parse_measure as parse_measure
    from .model_selection import QueryKFold as QueryKFold
    from .model_selection import QueryShuffleSplit as QueryShuffleSplit
    from .model_selection import QueryTimeSeriesSplit as QueryTimeSeriesSplit
    from .model_selection import make_ranking_scorer as make_ranking_scorer
    from .model_selection import train_test_split_queries as train_test_split_queries
    from .rankers import LinearRanker as LinearRanker
    from .score_precision import precision_study as precision_study
else:

    def __getattr__(name: str) -> Any:
        """Import a module, or a name from the module that defines it."""
        for module_name, names in _PUBLIC_NAMES.items():
            if name == module_name or name in names:
                module = import_module(f"{__name__}.{module_name}")
                value = module if name == module_name else getattr(module, name)
                # The next access to the name does not call this function.
                globals()[name] = value
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        modules = {name for name in _PUBLIC_NAMES if "." not in name}
        return sorted(modules.union(__all__))
