"""Exact scores of rankings: one number, a report, and the effect of ties."""

from ._asked import Asked, ask
from ._averages import (
    column_sums,
    lift,
    logs,
    mean,
    means,
    median,
    reduce_queries,
    std_of_mean,
    stds_of_means,
    sums_of_squares,
)
from ._batches import evaluate_batches
from ._contingency import ContingencyTable, contingency_table
from ._evaluate import PreparedRanking, evaluate, ranking_score, tie_distributions
from ._intervals import (
    NO_DIFFERENCE,
    QueryMoments,
    adjust,
    average_interval,
    bootstrap_interval,
    t_test,
    warn_of_intervals,
)
from ._precision_recall_curve import PrecisionRecallCurve, precision_recall_curve
from ._prepared import (
    AVERAGES,
    DEFAULT_MEASURE,
    DEFAULT_MEASURES,
    ColumnNames,
    Prepared,
    QueryRows,
    check_averaging,
    columns_at_once,
    prepare,
    prepare_labels,
)
from ._relevance_evaluator import (
    JudgedTopics,
    RelevanceEvaluator,
    TopicRows,
    share_of_possible,
)
from ._report import HEADS, RankingReport, Summary, estimates, one_after_another
from ._residuals import ResidualReport, residuals
from ._sampled import CanonicalRows, SampledScore, sample_orderings, sampled
from ._statistics import LabelledQueries, RankedQueries, not_retrieved
from ._subtopics import SubtopicReport, evaluate_subtopics
from ._ties import (
    TieReport,
    TieRules,
    TieTreatments,
    break_ties,
    tie_report,
    tie_treatments,
)

__all__ = [
    "ContingencyTable",
    "PrecisionRecallCurve",
    "PreparedRanking",
    "RankingReport",
    "RelevanceEvaluator",
    "ResidualReport",
    "SampledScore",
    "SubtopicReport",
    "Summary",
    "TieReport",
    "TieTreatments",
    "break_ties",
    "contingency_table",
    "evaluate",
    "evaluate_batches",
    "evaluate_subtopics",
    "precision_recall_curve",
    "ranking_score",
    "residuals",
    "sample_orderings",
    "sampled",
    "tie_distributions",
    "tie_report",
    "tie_treatments",
]
