"""What a ranking is really worth when scores tie."""

from .evaluation._contingency import ContingencyTable, contingency_table
from .evaluation._evaluate import evaluate, ranking_score, tie_distributions
from .evaluation._precision_recall_curve import (
    PrecisionRecallCurve,
    precision_recall_curve,
)
from .evaluation._report import RankingReport, RankingSummary
from .evaluation._residuals import ResidualReport, residuals
from .evaluation._sampling import SampledScore, sample_orderings, sampled
from .evaluation._tie_report import TieReport, tie_report
from .evaluation._tie_treatments import TieTreatments, tie_treatments
from .feature_selection._selector import RankingFeatureSelector
from .measures import (
    CG,
    CWL,
    DCG,
    ERR,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    Distribution,
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
from .model_selection._folds import QueryKFold
from .model_selection._scorers import RankingScorer, make_ranking_scorer
from .rankers._linear import LinearRanker
from .score_precision import PrecisionStudy, precision_study

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
    "ContingencyTable",
    "Distribution",
    "FBeta",
    "Fallout",
    "InterpolatedAveragePrecision",
    "InterpolatedPrecision",
    "LinearRanker",
    "Measure",
    "Precision",
    "PrecisionRecallArea",
    "PrecisionRecallCurve",
    "PrecisionStudy",
    "QueryKFold",
    "RPrecision",
    "RaghavanPrecision",
    "RankingFeatureSelector",
    "RankingReport",
    "RankingScorer",
    "RankingSummary",
    "Recall",
    "ReciprocalRank",
    "ResidualReport",
    "SampledScore",
    "SearchLength",
    "Success",
    "TieReport",
    "TieTreatments",
    "contingency_table",
    "evaluate",
    "make_ranking_scorer",
    "parse_measure",
    "precision_recall_curve",
    "precision_study",
    "ranking_score",
    "residuals",
    "sample_orderings",
    "sampled",
    "tie_distributions",
    "tie_report",
    "tie_treatments",
]
