"""Measures of a ranking, exact under ties."""

from ._average_precision import AveragePrecision, PrecisionRecallArea
from ._base import Distribution, Measure
from ._bpref import BPref
from ._counts import (
    Fallout,
    FBeta,
    Judged,
    Precision,
    Recall,
    RPrecision,
    SetAP,
)
from ._cumulated_gain import CG, CWL, DCG, NDCG, RBP
from ._err import ERR
from ._first_relevant import RaghavanPrecision, ReciprocalRank, SearchLength, Success
from ._inferred import InferredAveragePrecision
from ._interpolated import InterpolatedAveragePrecision, InterpolatedPrecision
from ._parse import parse_measure
from ._subtopics import (
    NRBP,
    AlphaDCG,
    AlphaNDCG,
    IntentAware,
    NormalisedERRIA,
    NormalisedNRBP,
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
