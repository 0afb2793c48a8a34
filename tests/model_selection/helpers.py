"""What several tests of this room share."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.xgboost import QueryXGBRanker

QUIET = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
#: rankers with query ids, and a parameter to search over
BOOSTERS = {
    "lightgbm": (QueryLGBMRanker(n_estimators=4, verbosity=-1, n_jobs=1), "num_leaves"),
    "xgboost": (QueryXGBRanker(n_estimators=4, n_jobs=1), "max_depth"),
    "catboost": (QueryCatBoostRanker(n_estimators=4, **QUIET), "depth"),
}


class Folds:
    """A cross-validator with folds of any kind."""

    def __init__(self, *folds):
        self.folds = folds

    def split(self, X, y, groups):
        assert len(X) == len(y) == len(groups)
        return self.folds

    def __repr__(self):
        return "these"


class Column(BaseEstimator):
    """Predicts a column of X."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        return self

    def predict(self, X):
        values = X[self.column] if hasattr(X, "columns") else X[:, self.column]
        self.n_predictions_ = getattr(self, "n_predictions_", 0) + 1
        return values
