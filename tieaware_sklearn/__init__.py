"""What a ranking is really worth when scores tie."""

from .evaluation import RankingReport, RankingSummary, evaluate, ranking_score
from .feature_selection import RankingFeatureSelector
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
from .prevalence import TieReport, tie_report

__version__ = "0.1.0"

__all__ = [
    "CG",
    "DCG",
    "NDCG",
    "RBP",
    "AveragePrecision",
    "FBeta",
    "Fallout",
    "Measure",
    "Precision",
    "RPrecision",
    "RankingFeatureSelector",
    "RankingReport",
    "RankingSummary",
    "Recall",
    "ReciprocalRank",
    "Success",
    "TieReport",
    "evaluate",
    "parse_measure",
    "ranking_score",
    "tie_report",
]
