"""What several tests of this room share."""

from __future__ import annotations

from optuna.distributions import IntDistribution
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import QueryKFold
from tieaware_sklearn.optuna import (
    LinearScoringObjective,
    RankerObjective,
    ScoringObjective,
)


def boosted(trial, X):
    return X[:, 5] + trial.suggest_float("boost", 0, 5) * X[:, 1]


def scoring(web, score=boosted, y=None, **options):
    labels = web.target if y is None else y
    return ScoringObjective(score, web.data, labels, qid=web.qid, **options)


def linear(X, y, qid, **options):
    names = [f"f{j}" for j in range(X.shape[1])]
    return LinearScoringObjective(X, y, qid=qid, feature_names=names, **options)


def tree(X, y, qid, **options):
    space = {"max_depth": IntDistribution(1, 6)}
    model = DecisionTreeRegressor(random_state=0)
    options = {"space": space, "cv": QueryKFold(3), **options}
    return RankerObjective(model, X=X, y=y, qid=qid, **options)


def records(study):
    """All that must be equal of two studies."""
    return [
        (t.params, t.values, t.intermediate_values, t.user_attrs) for t in study.trials
    ]
