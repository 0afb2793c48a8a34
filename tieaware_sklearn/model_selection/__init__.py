"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

from ._folds import QueryKFold, QueryTimeSeriesSplit, query_folds
from ._predictions import check_response_method, fit_rows, predicted_scores
from ._scorers import RankingScorer, make_ranking_scorer
from ._splits import QueryShuffleSplit, train_test_split_queries

__all__ = [
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingScorer",
    "make_ranking_scorer",
    "train_test_split_queries",
]
