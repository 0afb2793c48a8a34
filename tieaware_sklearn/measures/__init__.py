"""Measures of a ranking, exact under ties."""

from ._base import Measure
from ._cascade import ReciprocalRank, Success
from ._gain_measures import CG, DCG, NDCG, RBP
from ._parse import accepted_unjudged, parse_measure, parse_measures
from ._precision import AveragePrecision
from ._sets import Fallout, FBeta, Precision, Recall, RPrecision

__all__ = [
    "CG",
    "DCG",
    "NDCG",
    "RBP",
    "AveragePrecision",
    "FBeta",
    "Fallout",
    "Measure",
    "Precision",
    "RPrecision",
    "Recall",
    "ReciprocalRank",
    "Success",
    "accepted_unjudged",
    "parse_measure",
    "parse_measures",
]
