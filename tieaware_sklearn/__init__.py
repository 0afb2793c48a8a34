"""What a ranking is really worth when scores tie."""

from . import evaluation, measures
from .comparison import SystemComparison, compare_systems
from .evaluation import *  # noqa: F403
from .feature_selection import RankingFeatureSelector, RankingScoreFunc, Screening
from .measures import *  # noqa: F403
from .model_selection import QueryKFold, RankingScorer, make_ranking_scorer
from .rankers import LinearRanker
from .score_precision import PrecisionStudy, precision_study

__version__ = "0.1.0"

__all__ = [
    "LinearRanker",
    "PrecisionStudy",
    "QueryKFold",
    "RankingFeatureSelector",
    "RankingScoreFunc",
    "RankingScorer",
    "Screening",
    "SystemComparison",
    "compare_systems",
    "make_ranking_scorer",
    "precision_study",
]
__all__ += evaluation.__all__
__all__ += measures.__all__
