"""Measures of a ranking, exact under ties."""

from ._average_precision import AveragePrecision, PrecisionRecallArea
from ._base import Measure
from ._bpref import BPref
from ._dcg import CG, DCG, NDCG
from ._distribution import Distribution
from ._err import ERR
from ._inferred_average_precision import InferredAveragePrecision
from ._interpolated_precision import InterpolatedAveragePrecision, InterpolatedPrecision
from ._novelty import NRBP, AlphaDCG, AlphaNDCG, NormalisedERRIA, NormalisedNRBP
from ._parse import parse_measure
from ._precision_recall import (
    Fallout,
    FBeta,
    Judged,
    Precision,
    Recall,
    RPrecision,
    SetAP,
)
from ._rbp import CWL, RBP
from ._reciprocal_rank import ReciprocalRank, Success
from ._search_length import RaghavanPrecision, SearchLength
from ._subtopics import (
    IntentAware,
    SubtopicMeasure,
    SubtopicRecall,
    parse_subtopic_measure,
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
