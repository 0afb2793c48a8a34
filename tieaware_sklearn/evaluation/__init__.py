"""Exact scores of rankings: one number, a report, and the effect of ties."""

from ._batches import evaluate_batches
from ._evaluate import PreparedRanking, evaluate, ranking_score, tie_distributions
from ._precision_recall_curve import PrecisionRecallCurve, precision_recall_curve
from ._relevance_evaluator import RelevanceEvaluator
from ._report import RankingReport, Summary
from ._residuals import ResidualReport, residuals
from ._sampled import SampledScore, sample_orderings, sampled
from ._ties import TieReport, TieTreatments, break_ties, tie_report, tie_treatments

__all__ = [
    "PrecisionRecallCurve",
    "PreparedRanking",
    "RankingReport",
    "RelevanceEvaluator",
    "ResidualReport",
    "SampledScore",
    "Summary",
    "TieReport",
    "TieTreatments",
    "break_ties",
    "evaluate",
    "evaluate_batches",
    "precision_recall_curve",
    "ranking_score",
    "residuals",
    "sample_orderings",
    "sampled",
    "tie_distributions",
    "tie_report",
    "tie_treatments",
]
