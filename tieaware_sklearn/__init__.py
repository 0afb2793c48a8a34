"""What a ranking is really worth when scores tie."""

from ._report import RankingReport, RankingSummary
from .evaluation import evaluate, ranking_score
from .feature_selection import RankingFeatureSelector
from .linear import LinearRanker
from .measures import (
    CG,
    DCG,
    NDCG,
    RBP,
    AveragePrecision,
    Fallout,
    FBeta,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    RPrecision,
    Success,
    parse_measure,
)
from .model_selection import QueryKFold
from .prevalence import TieReport, tie_report
from .scorers import RankingScorer, make_ranking_scorer

__version__ = "0.1.0"

__all__ = [
    "CG",
    "DCG",
    "NDCG",
    "RBP",
    "AveragePrecision",
    "FBeta",
    "Fallout",
    "LinearRanker",
    "Measure",
    "Precision",
    "QueryKFold",
    "RPrecision",
    "RankingFeatureSelector",
    "RankingReport",
    "RankingScorer",
    "RankingSummary",
    "Recall",
    "ReciprocalRank",
    "Success",
    "TieReport",
    "evaluate",
    "make_ranking_scorer",
    "parse_measure",
    "ranking_score",
    "tie_report",
]
