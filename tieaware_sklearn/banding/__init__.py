"""Scores made coarser: geometric bands of ranks, rounding, and what it can cost."""

from ._geometric import band_scores, geometric_bands, rank_safe_depth
from ._loss import worst_case_loss
from ._ranker import CoarseRanker
from ._rounding import round_scores

__all__ = [
    "CoarseRanker",
    "band_scores",
    "geometric_bands",
    "rank_safe_depth",
    "round_scores",
    "worst_case_loss",
]
