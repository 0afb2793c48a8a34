"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

from ._scorers import RankingScorer, make_ranking_scorer
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
    "RankingScorer",
    "make_ranking_scorer",
    "train_test_split_queries",
]


def __dir__() -> list[str]:
    return __all__
