"""Measures of a ranking, exact under ties."""

from ._average_precision import (
    AveragePrecision,
    BPref,
    PrecisionRecallArea,
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
from ._cumulated_gain import CG, CWL, DCG, NDCG, RBP
from ._err import ERR
from ._interpolated import InterpolatedAveragePrecision, InterpolatedPrecision
from ._measure import Distribution, Measure
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


def __dir__() -> list[str]:
    return __all__
