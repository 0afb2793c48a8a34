"""Functions of the user's own, tuned against exact measures."""

from __future__ import annotations

import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from optuna.pruners import NopPruner

from benchmarks.results.bm25 import bm25, made_up, tune
from tests.optuna.helpers import boosted, scoring
from tieaware_sklearn import ranking_score
from tieaware_sklearn.optuna import ScoringObjective


def test_tied_documents(web):
    study = scoring(web).create_study(0)
    study.enqueue_trial({"boost": 0.0})
    objective = scoring(web, lambda trial, X: X[:, 1])
    study.optimize(objective, n_trials=1)
    pairs = list(zip(web.qid.tolist(), web.data[:, 1].tolist(), strict=True))
    tied = np.mean([pairs.count(pair) > 1 for pair in pairs])
    assert study.trials[0].user_attrs["tied_documents"] == tied


@pytest.mark.parametrize("prune", [False, True])
def test_blocks_are_read_only_with_and_without_a_pruner(web, prune):
    def score(trial, X):
        X[:, 1] *= trial.suggest_float("x", 0, 1)
        return X[:, 1]

    objective = scoring(web, score)
    study = objective.create_study(0, prune=prune)
    with pytest.raises(ValueError, match="read-only"):
        study.optimize(objective, n_trials=1)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, sp.csr_array])
def test_a_function_cannot_write_into_x(web, make):
    def score(trial, X):
        trial.suggest_float("x", 0, 1)
        if sp.issparse(X):
            X.data[:] = 0
        elif hasattr(X, "iloc"):
            X.iloc[:, 1] = 0
        else:
            X[:, 1] = 0
        return np.zeros(X.shape[0])

    order = np.argsort(web.qid, kind="stable")
    X = make(web.data[order])
    objective = ScoringObjective(score, X, web.target[order], qid=web.qid[order])
    trial = optuna.trial.FixedTrial({"x": 0.5})
    if make is np.array:
        with pytest.raises(ValueError, match="read-only"):
            objective(trial)
    else:
        objective(trial)
    dense = X.toarray() if sp.issparse(X) else np.asarray(X)
    assert np.array_equal(dense, web.data[order])


def test_without_a_pruner_everything_is_scored_at_once(web):
    calls = []

    def score(trial, X):
        calls.append(len(X))
        return boosted(trial, X)

    objective = scoring(web, score)
    study = objective.create_study(0, pruner=NopPruner())
    study.optimize(objective, n_trials=2)
    assert calls == [len(web.qid)] * 2
    assert all(not t.intermediate_values for t in study.trials)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_x_of_any_kind(web, make):
    def score(trial, X):
        trial.suggest_float("x", 0, 1)
        values = X.toarray() if sp.issparse(X) else X.to_numpy()
        assert type(X) is type(make(web.data))
        return values[:, 1]

    objective = ScoringObjective(score, make(web.data), web.target, qid=web.qid)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=1)
    assert study.best_value == ranking_score(web.target, web.data[:, 1], qid=web.qid)


def test_bm25_of_a_sparse_matrix():
    data = made_up(n_queries=30, n_documents=60)
    study = tune(data, 12, seed=0, prune=True)
    fixed = optuna.trial.FixedTrial(study.best_params)
    scores = bm25(data)(fixed, data.X)
    assert study.best_value == ranking_score(data.y, scores, qid=data.qid)
    assert study.best_value > study.trials[0].value


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            lambda trial, X: X[1:, 0],
            r"score\(trial, X\) returns must have one value per",
        ),
        (
            lambda trial, X: X[:, 0] * np.nan,
            "returns must not be NaN, got nan in row 0",
        ),
        (lambda trial, X: None, "returns must be a 1-D array, got None"),
    ],
)
def test_scores_that_cannot_rank(web, score, message):
    study = optuna.create_study(direction="maximize")
    with pytest.raises(ValueError, match=message):
        study.optimize(scoring(web, score), n_trials=1)
