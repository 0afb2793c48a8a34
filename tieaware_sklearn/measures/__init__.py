"""Measures of a ranking that are exact under ties."""

from ._average_precision import AveragePrecision, BPref, PrecisionRecallArea
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

__all__ = [
    "CG",
    "CWL",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "AveragePrecision",
    "BPref",
    "Distribution",
    "FBeta",
    "Fallout",
    "InterpolatedAveragePrecision",
    "InterpolatedPrecision",
    "Judged",
    "Measure",
    "Precision",
    "PrecisionRecallArea",
    "RPrecision",
    "RaghavanPrecision",
    "Rank",
    "Recall",
    "ReciprocalRank",
    "SearchLength",
    "SetAP",
    "Success",
    "parse_measure",
]
