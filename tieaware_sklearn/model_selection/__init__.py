"""Rankers chosen with scikit-learn: scorers, and folds that keep queries whole."""

from ._folds import QueryKFold
from ._scorers import RankingScorer, make_ranking_scorer

__all__ = ["QueryKFold", "RankingScorer", "make_ranking_scorer"]
