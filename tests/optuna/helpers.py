"""Objectives, studies and expected values for tests of the Optuna objectives."""

from operator import attrgetter

import optuna
import pytest
from optuna.distributions import IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import QueryKFold, ranking_score
from tieaware_sklearn import optuna as ours


def boosted(trial, X):
    return X[:, 5] + trial.suggest_float("boost", 0, 5) * X[:, 1]


def twelve_weights(trial, X):
    return X @ [trial.suggest_float(f"w{j}", -1, 1) for j in range(12)]


def hard_pruner():
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        return optuna.pruners.WilcoxonPruner(p_threshold=0.4)


def scoring(web, score=boosted, y=None, **options):
    if y is None:
        y = web.target
    return ours.ScoringObjective(score, web.data, y, qid=web.qid, **options)


def linear(X, y, qid, **options):
    names = [f"f{j}" for j in range(X.shape[1])]
    return ours.LinearScoringObjective(X, y, qid=qid, feature_names=names, **options)


def tree(X, y, qid, **options):
    space = {"max_depth": IntDistribution(1, 6)}
    model = DecisionTreeRegressor(random_state=0)
    defaults = {"space": space, "cv": QueryKFold(3)}
    return ours.RankerObjective(model, X=X, y=y, qid=qid, **{**defaults, **options})


def optimized(objective, n_trials, seed=0, **options):
    """Return a study that the objective creates, after some trials."""
    study = objective.create_study(seed, **options)
    study.optimize(objective, n_trials=n_trials)
    return study


def exact(web, scores, rows=slice(None), **options):
    """Return the exact mean of a ranking of some rows."""
    return ranking_score(web.target[rows], scores, qid=web.qid[rows], **options)


def journal(folder):
    """Return a storage in a file, which several workers may share."""
    return JournalStorage(JournalFileBackend(str(folder / "log")))


def records(study):
    """Return what trials of equal studies have in common."""
    attributes = attrgetter("params", "values", "intermediate_values", "user_attrs")
    return [attributes(trial) for trial in study.trials]
