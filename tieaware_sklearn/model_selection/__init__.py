"""Model selection with scikit-learn: scorers, and splits that keep queries whole."""

from ._scorers import (
    RankingScorer,
    check_response_method,
    fit_rows,
    make_ranking_scorer,
    predicted_scores,
)
from ._splits import (
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    query_folds,
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
