"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

from ._folds import QueryKFold
from ._scorers import RankingScorer, make_ranking_scorer
from ._shuffled_splits import QueryShuffleSplit, train_test_split_queries
from ._time_series import QueryTimeSeriesSplit

__all__ = [
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingScorer",
    "make_ranking_scorer",
    "train_test_split_queries",
]
