"""What a ranking is really worth when scores tie."""

from .evaluation import RankingReport, RankingSummary, evaluate, ranking_score
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
    "RankingReport",
    "RankingSummary",
    "Recall",
    "ReciprocalRank",
    "Success",
    "evaluate",
    "parse_measure",
    "ranking_score",
]
