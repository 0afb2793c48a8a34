"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

from ._folds import QueryKFold, RepeatedQueryKFold
from ._learning_curve import query_learning_curve
from ._scorers import RankingScorer, make_ranking_scorer
from ._shuffled_splits import QueryShuffleSplit, train_test_split_queries
from ._stratified_folds import StratifiedQueryKFold
from ._time_series import QueryTimeSeriesSplit

__all__ = [
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingScorer",
    "RepeatedQueryKFold",
    "StratifiedQueryKFold",
    "make_ranking_scorer",
    "query_learning_curve",
    "train_test_split_queries",
]
