"""Measures of a ranking, exact under ties."""

from ._base import Measure
from ._cascade import ReciprocalRank, Success
from ._distribution import Distribution
from ._err import ERR
from ._gain_measures import CG, CWL, DCG, NDCG, RBP
from ._interpolated import InterpolatedAveragePrecision, InterpolatedPrecision
from ._judged import BPref
from ._parse import accepted_unjudged, parse_measure, parse_measures
from ._precision import AveragePrecision, PrecisionRecallArea
from ._search_length import RaghavanPrecision, SearchLength
from ._sets import Fallout, FBeta, Precision, Recall, RPrecision

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
    "Measure",
    "Precision",
    "PrecisionRecallArea",
    "RPrecision",
    "RaghavanPrecision",
    "Recall",
    "ReciprocalRank",
    "SearchLength",
    "Success",
    "accepted_unjudged",
    "parse_measure",
    "parse_measures",
]
