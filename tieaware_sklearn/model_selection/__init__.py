"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

# The type of the scorers that make_ranking_scorer returns.
from ._scorers import RankingScorer as RankingScorer
from ._scorers import make_ranking_scorer
from ._splits import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    train_test_split_queries,
)

__all__ = [
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "make_ranking_scorer",
    "train_test_split_queries",
]
