"""What several tests of this room share."""

from __future__ import annotations

from tieaware_sklearn.lightgbm import QueryLGBMRanker


def ranker(**parameters):
    defaults = {"n_estimators": 5, "num_leaves": 4, "verbosity": -1, "n_jobs": 1}
    return QueryLGBMRanker(**{**defaults, **parameters})
