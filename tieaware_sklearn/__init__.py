"""What a ranking is really worth when scores tie."""

from ._report import RankingReport, RankingSummary
from .evaluation import evaluate, ranking_score, tie_distributions
from .feature_selection import RankingFeatureSelector
from .linear import LinearRanker
from .measures import (
    CG,
    CWL,
    DCG,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    Fallout,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Measure,
    Precision,
    PrecisionRecallArea,
    RaghavanPrecision,
    Recall,
    ReciprocalRank,
    RPrecision,
    SearchLength,
    Success,
    parse_measure,
)
from .model_selection import QueryKFold
from .prevalence import TieReport, tie_report
from .scorers import RankingScorer, make_ranking_scorer

__version__ = "0.1.0"

__all__ = [
    "CG",
    "CWL",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "AveragePrecision",
    "BPref",
    "FBeta",
    "Fallout",
    "InterpolatedAveragePrecision",
    "InterpolatedPrecision",
    "LinearRanker",
    "Measure",
    "Precision",
    "PrecisionRecallArea",
    "QueryKFold",
    "RPrecision",
    "RaghavanPrecision",
    "RankingFeatureSelector",
    "RankingReport",
    "RankingScorer",
    "RankingSummary",
    "Recall",
    "ReciprocalRank",
    "SearchLength",
    "Success",
    "TieReport",
    "evaluate",
    "make_ranking_scorer",
    "parse_measure",
    "ranking_score",
    "tie_distributions",
    "tie_report",
]
