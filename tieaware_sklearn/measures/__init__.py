"""Measures of a ranking, exact under ties."""

from ._average_precision import (
    AveragePrecision,
    BPref,
    InferredAveragePrecision,
    PrecisionRecallArea,
)
from ._base import (
    OF_LABELS,
    STATISTICS,
    Distribution,
    Measure,
    divide,
    is_ours,
    names_where,
    spelled_out,
)
from ._counts import (
    Fallout,
    FBeta,
    Judged,
    Precision,
    RaghavanPrecision,
    Rank,
    Recall,
    ReciprocalRank,
    RPrecision,
    SearchLength,
    SetAP,
    Success,
)
from ._cumulated_gain import CG, CWL, DCG, NDCG, RBP, geometric_weight, refused_label
from ._err import ERR
from ._interpolated import InterpolatedAveragePrecision, InterpolatedPrecision
from ._parse import names_to_save, parse_measure, parse_measures, read_back
from ._subtopics import (
    NRBP,
    AlphaDCG,
    AlphaNDCG,
    IntentAware,
    NormalisedERRIA,
    NormalisedNRBP,
    NoveltyMeasure,
    SubtopicMeasure,
    SubtopicRecall,
    as_ndeval,
    parse_subtopic_measure,
    parse_subtopic_measures,
)

__all__ = [
    "CG",
    "CWL",
    "DCG",
    "ERR",
    "NDCG",
    "NRBP",
    "RBP",
    "AlphaDCG",
    "AlphaNDCG",
    "AveragePrecision",
    "BPref",
    "Distribution",
    "FBeta",
    "Fallout",
    "InferredAveragePrecision",
    "IntentAware",
    "InterpolatedAveragePrecision",
    "InterpolatedPrecision",
    "Judged",
    "Measure",
    "NormalisedERRIA",
    "NormalisedNRBP",
    "Precision",
    "PrecisionRecallArea",
    "RPrecision",
    "RaghavanPrecision",
    "Rank",
    "Recall",
    "ReciprocalRank",
    "SearchLength",
    "SetAP",
    "SubtopicMeasure",
    "SubtopicRecall",
    "Success",
    "parse_measure",
    "parse_subtopic_measure",
]
