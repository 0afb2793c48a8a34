"""The real Optuna, tuning against exact measures."""

from __future__ import annotations

import importlib
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.pruners import (
    MedianPruner,
    NopPruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBRanker

from benchmarks.bm25 import bm25, made_up, tune
from tieaware_sklearn import (
    LinearRanker,
    QueryKFold,
    RankingFeatureSelector,
    evaluate,
    ranking_score,
)
from tieaware_sklearn._engine.digests import by_content, row_digests
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.optuna import (
    LinearScoringObjective,
    RankerObjective,
    ScoringObjective,
)

optuna.logging.set_verbosity(optuna.logging.WARNING)
ATTRIBUTES = {"best", "worst", "tie_std", "tied_documents", "n_queries", "pruned"}


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, n_documents=15, shuffle=True, random_state=2)


def boosted(trial, X):
    return X[:, 5] + trial.suggest_float("boost", 0, 5) * X[:, 1]


def scoring(web, score=boosted, **options):
    return ScoringObjective(score, web.data, web.target, qid=web.qid, **options)


def records(study):
    """All that must be equal of two studies."""
    return [
        (t.params, t.value, t.intermediate_values, t.user_attrs) for t in study.trials
    ]


def shuffled(web, seed=0):
    rows = np.random.default_rng(seed).permutation(len(web.qid))
    return web.data[rows], web.target[rows], web.qid[rows]


def hard_pruner():
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        return optuna.pruners.WilcoxonPruner(p_threshold=0.4)


# ------------------------------------------------------------------ a score function


@pytest.mark.parametrize("measure", ["ndcg@10", "rr", "fallout@5"])
@pytest.mark.parametrize("pruner", [NopPruner(), None])
def test_values_and_attributes_are_those_of_evaluate(web, measure, pruner):
    weight = web.qid % 3 + 1.0
    objective = scoring(web, measure=measure, query_weight=weight)
    study = objective.create_study(0, pruner=pruner)
    study.optimize(objective, n_trials=6)
    whole = [t for t in study.trials if not t.user_attrs["pruned"]]
    assert whole
    for trial in whole:
        scores = web.data[:, 5] + trial.params["boost"] * web.data[:, 1]
        report = evaluate(
            web.target, scores, qid=web.qid, measures=measure, query_weight=weight
        )
        summary = report.summary()
        assert trial.value == summary.mean[0]
        attributes = trial.user_attrs
        assert set(attributes) == ATTRIBUTES
        assert attributes["best"] == summary.best[0]
        assert attributes["worst"] == summary.worst[0]
        assert attributes["tie_std"] == pytest.approx(summary.tie_std[0], rel=1e-12)
        assert attributes["n_queries"] == 60


def test_tied_documents(web):
    study = scoring(web).create_study(0)
    study.enqueue_trial({"boost": 0.0})
    objective = scoring(web, lambda trial, X: X[:, 1])
    study.optimize(objective, n_trials=1)
    pairs = list(zip(web.qid.tolist(), web.data[:, 1].tolist(), strict=True))
    tied = np.mean([pairs.count(pair) > 1 for pair in pairs])
    assert study.trials[0].user_attrs["tied_documents"] == tied


@pytest.mark.parametrize("report_every", [None, 1, 7])
def test_fixed_buckets_are_reported_in_an_order_of_each_trial(web, report_every):
    objective = scoring(web, report_every=report_every, block_size=10)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=4)
    per_query = {}
    size = report_every or 1
    n_buckets = math.ceil(60 / size)
    orders = set()
    for trial in study.trials:
        assert set(trial.intermediate_values) <= set(range(n_buckets))
        orders.add(tuple(trial.intermediate_values))
        scores = web.data[:, 5] + trial.params["boost"] * web.data[:, 1]
        report = evaluate(web.target, scores, qid=web.qid, measures="ndcg@10")
        by_id = report.expected[np.argsort(report.qid), 0]
        for step, value in trial.intermediate_values.items():
            bucket = objective._dealt[step]
            assert value == pytest.approx(by_id[bucket].mean(), abs=1e-15)
            assert abs(len(bucket) - size) <= 1
            per_query.setdefault(step, set()).update(bucket)
    assert len(orders) == 4
    assert sorted(q for part in per_query.values() for q in part) == list(range(60))


def test_at_most_256_values_are_reported():
    many = make_web_search(n_queries=700, n_documents=3, random_state=0)
    objective = scoring(many)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=1)
    assert 200 < len(study.trials[0].intermediate_values) <= 256


def test_a_pruned_trial_returns_its_running_mean(web):
    def score(trial, X):
        weight = trial.suggest_float("weight", -1, 1)
        return weight * X[:, 5] + (weight > 0) * X[:, 1]

    objective = scoring(web, score, block_size=5)
    study = objective.create_study(0, pruner=hard_pruner())
    study.enqueue_trial({"weight": 0.5})
    for weight in (-0.5, -0.7, -0.9):
        study.enqueue_trial({"weight": weight})
    study.optimize(objective, n_trials=4)
    pruned = [t for t in study.trials if t.user_attrs["pruned"]]
    assert pruned
    for trial in pruned:
        assert trial.state is optuna.trial.TrialState.COMPLETE
        assert 14 <= trial.user_attrs["n_queries"] < 60
        values = trial.intermediate_values.values()
        assert trial.value == pytest.approx(np.mean(list(values)), abs=1e-12)
        assert trial.value < study.best_value
    assert study.best_params == {"weight": 0.5}


def test_other_pruners_get_running_means_of_one_order(web):
    objective = scoring(web, block_size=10)
    study = objective.create_study(0, pruner=MedianPruner(n_startup_trials=2))
    study.optimize(objective, n_trials=6)
    steps = [tuple(t.intermediate_values) for t in study.trials]
    assert set(steps[0]) >= set().union(*steps)
    assert steps[0][-1] == 60
    first = study.trials[0]
    assert list(first.intermediate_values.values())[-1] == first.value
    stop = objective.create_study(0, pruner=ThresholdPruner(lower=2))
    stop.optimize(objective, n_trials=1)
    (trial,) = stop.trials
    assert trial.state is optuna.trial.TrialState.PRUNED
    assert trial.user_attrs["pruned"]
    assert trial.user_attrs["n_queries"] < 60


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "pruner",
    [None, MedianPruner(n_startup_trials=2), SuccessiveHalvingPruner(), "hard"],
    ids=["wilcoxon", "median", "halving", "hard"],
)
def test_the_best_trial_is_never_a_pruned_one(web, pruner, weighted):
    ids = np.unique(web.qid)
    seen = 0
    for seed in range(4):
        weight = np.random.default_rng(seed).lognormal(0, 2, len(ids))
        weight = weight[np.searchsorted(ids, web.qid)] if weighted else None
        objective = scoring(
            web,
            lambda trial, X: (
                X @ [trial.suggest_float(f"w{j}", -1, 1) for j in range(12)]
            ),
            query_weight=weight,
            block_size=6,
            random_state=seed,
        )
        given = hard_pruner() if pruner == "hard" else pruner
        study = objective.create_study(seed, pruner=given)
        study.optimize(objective, n_trials=20)
        best = study.best_trial
        assert not best.user_attrs["pruned"]
        assert best.user_attrs["n_queries"] == 60
        assert objective(optuna.trial.FixedTrial(best.params)) == best.value
        seen += sum(t.user_attrs["pruned"] for t in study.trials)
    assert seen > 0


def test_patience_around_a_paired_pruner_is_refused(web):
    objective = scoring(web)
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        pruner = optuna.pruners.PatientPruner(hard_pruner(), patience=1)
    study = objective.create_study(0, pruner=pruner)
    with pytest.raises(ValueError, match="must be WilcoxonPruner itself"):
        study.optimize(objective, n_trials=1)


def test_a_study_holds_reports_of_one_kind(web):
    storage = optuna.storages.InMemoryStorage()
    objective = scoring(web)
    objective.create_study(0, storage=storage, study_name="z").optimize(
        objective, n_trials=2
    )
    loaded = optuna.load_study(study_name="z", storage=storage)
    again = scoring(web)
    with pytest.raises(ValueError, match="got values of buckets of NDCG@10"):
        loaded.optimize(again, n_trials=1)
    for other in (scoring(web, measure="rr"), scoring(web, random_state=1)):
        study = other.create_study(
            0, storage=storage, study_name="z", load_if_exists=True
        )
        with pytest.raises(ValueError, match="must hold reports of this objective"):
            study.optimize(other, n_trials=1)
    with pytest.raises(ValueError, match="got values of buckets"):
        loaded.optimize(objective, n_trials=1)
    study = again.create_study(0, storage=storage, study_name="z", load_if_exists=True)
    study.optimize(again, n_trials=1)
    assert len([t for t in study.trials if t.state.name == "COMPLETE"]) == 3


def test_objectives_are_told_apart_by_all_that_steps_mean(web):
    tree = DecisionTreeRegressor(random_state=0)
    space = {"max_depth": IntDistribution(1, 3)}
    data = (web.data, web.target)
    folds = [QueryKFold(5), QueryKFold(4)]
    folds += [QueryKFold(5, shuffle=True, random_state=s) for s in (0, 1)]
    objectives = [
        RankerObjective(tree, space, *data, qid=web.qid, cv=cv) for cv in folds
    ]
    weight = web.qid % 3 + 1.0
    objectives += [
        scoring(web),
        scoring(web, random_state=1),
        scoring(web, report_every=2),
        scoring(web, zero_relevance="skip"),
        scoring(web, query_weight=weight),
        ScoringObjective(boosted, web.data, web.target[::-1], qid=web.qid),
    ]
    digests = [objective._data_digest() for objective in objectives]
    assert len(set(digests)) == len(digests)
    X, y, qid = shuffled(web)
    again = ScoringObjective(boosted, X, y, qid=qid)
    assert again._data_digest() == scoring(web)._data_digest()


def test_the_column_is_for_estimators_alone(web):
    frame = pd.DataFrame(web.data).assign(qid=web.qid)
    space = {"num_leaves": IntDistribution(2, 4)}
    for options in (
        {"estimator": QueryLGBMRanker(qid="qid")},
        {"estimator": QueryLGBMRanker(), "cv": QueryKFold(3, qid="qid")},
    ):
        with pytest.raises(ValueError, match="given to the objective alone, got Query"):
            RankerObjective(space=space, X=frame, y=web.target, qid=web.qid, **options)


def test_xgboost_with_texts_as_ids(web):
    ids = np.array([f"q{q:03}" for q in web.qid])
    values = []
    for qid in (web.qid, ids):
        objective = RankerObjective(
            XGBRanker(n_estimators=2, n_jobs=1),
            {"max_depth": IntDistribution(1, 3)},
            web.data,
            web.target,
            qid=qid,
        )
        values.append(objective(optuna.trial.FixedTrial({"max_depth": 2})))
    assert values[0] == values[1]


@pytest.mark.parametrize("pruner", [NopPruner(), None])
def test_blocks_are_read_only_with_and_without_a_pruner(web, pruner):
    def score(trial, X):
        X[:, 1] *= trial.suggest_float("x", 0, 1)
        return X[:, 1]

    objective = scoring(web, score)
    study = objective.create_study(0, pruner=pruner)
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


def test_queries_that_count_must_have_weight(web):
    y = np.where(web.qid <= 20, 0, web.target)
    with pytest.raises(ValueError, match="is defined and that has weight, got none"):
        ScoringObjective(
            boosted,
            web.data,
            y,
            qid=web.qid,
            zero_relevance="skip",
            query_weight=(web.qid <= 20).astype(float),
        )


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


def test_undefined_values_are_never_reported(web):
    y = np.where(web.qid <= 45, 0, web.target)
    objective = ScoringObjective(
        boosted,
        web.data,
        y,
        qid=web.qid,
        measure="ap",
        zero_relevance="skip",
        report_every=1,
    )
    study = objective.create_study(0, pruner=hard_pruner())
    study.optimize(objective, n_trials=5)
    first = study.trials[0]
    assert 0 < len(first.intermediate_values) <= 15
    assert np.isfinite(list(first.intermediate_values.values())).all()
    scores = web.data[:, 5] + first.params["boost"] * web.data[:, 1]
    assert first.value == ranking_score(
        y, scores, qid=web.qid, measure="ap", zero_relevance="skip"
    )
    with pytest.raises(ValueError, match="a query for which AP is defined, got none"):
        ScoringObjective(
            boosted, web.data, 0 * y, qid=web.qid, measure="ap", zero_relevance="skip"
        )


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
    assert study.best_value >= study.trials[0].value


def test_a_fixed_trial_is_just_a_value(web):
    value = scoring(web)(optuna.trial.FixedTrial({"boost": 1.0}))
    scores = web.data[:, 5] + web.data[:, 1]
    assert value == ranking_score(web.target, scores, qid=web.qid)


# ---------------------------------------------------------------- all of them


def linear(X, y, qid, **options):
    names = [f"f{j}" for j in range(X.shape[1])]
    return LinearScoringObjective(X, y, qid=qid, feature_names=names, **options)


def lightgbm(X, y, qid):
    model = QueryLGBMRanker(n_estimators=3, min_child_samples=5, verbosity=-1, n_jobs=1)
    return RankerObjective(
        model, {"num_leaves": IntDistribution(2, 12)}, X, y, qid=qid, cv=QueryKFold(3)
    )


def tree(X, y, qid):
    space = {"max_depth": IntDistribution(1, 6)}
    return RankerObjective(
        DecisionTreeRegressor(random_state=0), space, X, y, qid=qid, cv=QueryKFold(3)
    )


OBJECTIVES = {
    "function": lambda X, y, qid: ScoringObjective(boosted, X, y, qid=qid),
    "linear": linear,
    "tuned transforms": lambda X, y, qid: linear(
        X[:, :3], y, qid, transforms=["tune", "rank", "identity"]
    ),
    "lightgbm": lightgbm,
    "tree": tree,
}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_equal_seeds_and_shuffled_rows_give_equal_studies(web, name):
    studies = []
    for data in ((web.data, web.target, web.qid), shuffled(web), shuffled(web, 1)):
        objective = OBJECTIVES[name](*data)
        study = objective.create_study(seed=5)
        study.optimize(objective, n_trials=6)
        studies.append(records(study))
    assert studies[0] == studies[1] == studies[2]
    other = OBJECTIVES[name](web.data, web.target, web.qid)
    study = other.create_study(seed=6)
    study.optimize(other, n_trials=6)
    assert records(study) != studies[0]


@pytest.mark.parametrize("name", ["function", "linear", "tree"])
def test_threads(web, name):
    objective = OBJECTIVES[name](web.data, web.target, web.qid)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=8, n_jobs=2)
    assert len(study.trials) == 8
    assert all(t.state is optuna.trial.TrialState.COMPLETE for t in study.trials)


@pytest.mark.parametrize("name", ["function", "linear", "tree"])
def test_studies_that_do_not_fit(web, name):
    objective = OBJECTIVES[name](web.data, web.target, web.qid)
    wrong = optuna.create_study(direction="minimize")
    with pytest.raises(
        ValueError, match=r'must maximize NDCG@10, got direction "minimize"'
    ):
        wrong.optimize(objective, n_trials=1)
    several = optuna.create_study(directions=["maximize", "maximize"])
    with pytest.raises(ValueError, match="cannot prune, got MedianPruner"):
        several.optimize(lambda trial: (objective(trial), 1.0), n_trials=1)
    several = optuna.create_study(
        directions=["maximize", "minimize"], pruner=NopPruner()
    )
    several.optimize(lambda trial: (objective(trial), 1.0), n_trials=2)
    assert len(several.best_trials) >= 1


def test_lower_is_better_is_minimised(web):
    objective = scoring(web, measure="fallout@5")
    assert objective.direction == "minimize"
    assert objective.create_study(0).direction.name == "MINIMIZE"
    with pytest.raises(ValueError, match=r"must minimize Fallout@5"):
        optuna.create_study(direction="maximize").optimize(objective, n_trials=1)


WORKER = """
import sys, optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import MaxTrialsCallback
from tests.optuna.test_scoring_objective import OBJECTIVES, make_web_search
import time

web = make_web_search(n_queries=60, n_documents=15, shuffle=True, random_state=2)
objective = OBJECTIVES["linear"](web.data, web.target, web.qid)
storage = JournalStorage(JournalFileBackend({path!r}))
study = objective.create_study(0, storage=storage, study_name="shared",
                               load_if_exists=True)
print("ready", flush=True)
slow = lambda trial: (time.sleep({pause}), objective(trial))[1]
study.optimize(slow, callbacks=[MaxTrialsCallback({n}, states=None)])
"""


def worker(path, n, pause=0.0):
    code = WORKER.format(path=path, n=n, pause=pause)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def load(path):
    storage = JournalStorage(JournalFileBackend(path))
    return optuna.load_study(study_name="shared", storage=storage)


def test_two_processes_share_a_study_and_a_killed_one_is_resumed(tmp_path):
    path = str(tmp_path / "journal.log")
    both = [worker(path, 24), worker(path, 24)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    study = load(path)
    done = [t for t in study.trials if t.state.is_finished()]
    assert len(done) >= 24
    assert [t.number for t in study.trials] == list(range(len(study.trials)))
    assert len({tuple(t.params.values()) for t in done}) == len(done)

    third = worker(path, 200, pause=0.4)  # not killed inside the journal
    assert third.stdout.readline().strip() == "ready"
    before = len(study.trials)
    while len(load(path).trials) < before + 3:
        time.sleep(0.05)
    third.send_signal(signal.SIGKILL)
    third.communicate()
    killed = len(load(path).trials)
    last = worker(path, killed + 5)
    _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    study = load(path)
    assert len(study.trials) >= killed + 5
    running = [t for t in study.trials if not t.state.is_finished()]
    assert len(running) <= 1
    assert len({tuple(t.params.values()) for t in study.trials}) == len(study.trials)


def test_workers_derive_their_seeds(web, tmp_path):
    objective = scoring(web)
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "log")))
    options = {"storage": storage, "study_name": "s", "load_if_exists": True}
    first = objective.create_study(3, **options)
    first.optimize(objective, n_trials=2)
    alone = objective.create_study(3)
    alone.optimize(objective, n_trials=2)
    assert [t.params for t in first.trials] == [t.params for t in alone.trials]
    second = objective.create_study(3, **options)
    second.optimize(objective, n_trials=2)
    assert len({t.params["boost"] for t in second.trials}) == 4


# ---------------------------------------------------------------- linear scores


def test_the_estimator_scores_what_the_study_found(web):
    for transforms in (None, "log1p", ["tune"] * 12, ["rank", "identity"] * 6):
        objective = linear(web.data, web.target, web.qid, transforms=transforms)
        study = objective.create_study(0, pruner=NopPruner())
        study.optimize(objective, n_trials=10)
        ranker = objective.to_estimator(study)
        assert isinstance(ranker, LinearRanker)
        scores = ranker.predict(web.data)
        assert study.best_value == ranking_score(web.target, scores, qid=web.qid)
        tuned = {f"weight_f{j}" for j in range(12)}
        if transforms == ["tune"] * 12:
            tuned |= {f"transform_f{j}" for j in range(12)}
        assert set(study.best_params) == tuned


def test_starts_are_simple_weights_and_come_first(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    objective = LinearScoringObjective(frame, web.target, qid=web.qid)
    study = objective.create_study(0, pruner=NopPruner())
    study.optimize(objective, n_trials=4)
    first = [list(t.params.values()) for t in study.trials[:3]]
    assert [1.0] * 12 in first
    (single,) = [weights for weights in first if np.count_nonzero(weights) == 1]
    values = [t.value for t in study.trials[:3]]
    assert values == sorted(values)
    selector = RankingFeatureSelector("ndcg@10", zero_relevance=0.0)
    selector.fit(web.data, web.target, qid=web.qid)
    best = int(np.argmin(selector.ranking_))
    assert single[best] != 0
    assert study.trials[first.index(single)].value == pytest.approx(
        selector.scores_[best, 0]
    )
    assert set(study.best_params) == {f"weight_{name}" for name in web.feature_names}


def test_signs_bounds_and_simplex(web):
    signs = [1, -1, 0] * 4
    objective = linear(web.data, web.target, web.qid, signs=signs, bounds=(-2, 3))
    study = objective.create_study(0, pruner=NopPruner())
    study.optimize(objective, n_trials=15)
    for trial in study.trials:
        weights = np.array(list(trial.params.values()))
        assert (weights[::3] >= 0).all()
        assert (weights[1::3] <= 0).all()
        assert (weights >= -2).all()
        assert (weights <= 3).all()
    simplex = linear(web.data, web.target, web.qid, simplex=True)
    study = simplex.create_study(0, pruner=NopPruner())
    study.optimize(simplex, n_trials=15)
    deviation = web.data.std(axis=0)
    for trial in study.trials:
        weights = simplex.to_estimator(trial).coef_ * deviation
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1)


def test_the_sampler_suits_the_number_of_weights_and_trials(web):
    few = linear(web.data, web.target, web.qid)
    wide = np.hstack([web.data, web.data[:, :9] ** 2])
    many = linear(wide, web.target, web.qid)
    cases = [
        (few, None, "TPESampler"),
        (few, 200, "TPESampler"),
        (few, 201, "CmaEsSampler"),
        (many, None, "CmaEsSampler"),
        (linear(wide, web.target, web.qid, transforms="tune"), 500, "TPESampler"),
        (linear(web.data[:, :1], web.target, web.qid), 500, "TPESampler"),
    ]
    for objective, n_trials, expected in cases:
        study = objective.create_study(0, n_trials=n_trials)
        assert type(study.sampler).__name__ == expected
        assert isinstance(study.pruner, NopPruner)
    study = many.create_study(0)
    study.optimize(many, n_trials=30)
    assert study.best_value >= max(t.value for t in study.trials[:3])


def test_starts_keep_to_a_simplex_and_to_bounds():
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=40, n_documents=15, random_state=0)
    noise = rng.normal(size=(len(web.qid), 3)) + web.target[:, None] * [0.3, 0.6, 0.3]
    names = {"feature_names": ["a", "b", "c"]}
    simplex = LinearScoringObjective(
        noise, web.target, qid=web.qid, simplex=True, **names
    )
    starts = [list(start.values()) for start in simplex.starts()]
    assert [0.0, 1.0, 0.0] in starts
    assert [1.0, 1.0, 1.0] in starts
    assert len(starts) == 3
    narrow = LinearScoringObjective(
        noise, web.target, qid=web.qid, bounds=(0.5, 1), **names
    )
    study = narrow.create_study(0)
    study.optimize(narrow, n_trials=4)
    assert all(0.5 <= w <= 1 for t in study.trials for w in t.params.values())
    study = narrow.create_study(
        0, storage=study._storage, study_name=study.study_name, load_if_exists=True
    )
    assert len(study.trials) == 4


def test_features_of_extreme_scale(web):
    X = web.data[:, [1, 5]] * [1e-200, 1]
    with pytest.raises(ValueError, match="from 1e-100 to 1e100, got"):
        LinearScoringObjective(X, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in column 1"):
        LinearRanker().fit(np.array([[1.0, 1e200], [2.0, 0.0]]))


def test_the_estimator_knows_the_columns(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    objective = LinearScoringObjective(frame, web.target, qid=web.qid)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=3)
    ranker = objective.to_estimator(study)
    assert ranker.feature_names_in_.tolist() == list(web.feature_names)
    scores = ranker.predict(frame)
    assert ranking_score(web.target, scores, qid=web.qid) == study.best_value


def test_constant_features_and_equal_rows(web):
    X = np.column_stack([web.data[:, 1], np.full(len(web.qid), 7.0)])
    objective = linear(X, web.target, web.qid)
    value = objective(optuna.trial.FixedTrial({"weight_f0": 0.0, "weight_f1": 1.0}))
    report = evaluate(web.target, X[:, 1], qid=web.qid, measures="ndcg@10")
    assert value == report.summary().chance[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a"]}, r"different name for each feature \(12\)"),
        ({"feature_names": ["a"] * 12}, "a different name"),
        ({"bounds": (1, 0)}, "two finite numbers that rise"),
        ({"signs": [1]}, r"one entry per feature \(12\), got 1"),
        ({"signs": [0.5] * 12}, "signs must be -1, 0 or 1, got 0.5"),
        ({"signs": [-1] * 12, "bounds": (0, 1)}, "leave room within bounds"),
        ({"signs": [1] * 12, "simplex": True}, "left out with simplex"),
        ({"bounds": (0, 1), "simplex": True}, "left out with simplex"),
        ({"bounds": (1,)}, "two finite numbers that rise"),
        ({"bounds": None}, "two finite numbers that rise"),
        ({"signs": 1}, "signs must be a list of -1, 0 and 1"),
        ({"transforms": 3}, "transforms must be a name or a list"),
        ({"feature_names": "abcdefghijkl"}, "a different name"),
        ({"transforms": "square"}, "transforms must be one of"),
        ({"measure": "ndgc"}, "did you mean 'NDCG'"),
        ({"report_every": 0}, "report_every must be an integer >= 1, got 0"),
        ({"block_size": 2.5}, "block_size must be an integer >= 1, got 2.5"),
        ({"random_state": None}, "random_state must be an integer >= 0, got None"),
    ],
)
def test_bad_linear_objectives(web, options, message):
    with pytest.raises(ValueError, match=message):
        LinearScoringObjective(web.data, web.target, qid=web.qid, **options)


def test_bad_data(web):
    with pytest.raises(ValueError, match=r"one row per label \(\d+\), got 3"):
        ScoringObjective(boosted, web.data[:3], web.target, qid=web.qid)
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ScoringObjective(boosted, web.data, web.target, qid=[1, 2])
    with pytest.raises(ValueError, match="score must be a function of a trial"):
        scoring(web, "bm25")
    with pytest.raises(ValueError, match="X contains NaN"):
        linear(np.where(web.data > 1, np.nan, 1), web.target, web.qid)


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


# ---------------------------------------------------------------- rankers


@pytest.mark.parametrize("pruner", [NopPruner(), None])
def test_cross_validated_value_by_hand(web, pruner):
    cv = QueryKFold(4)
    objective = RankerObjective(
        QueryLGBMRanker(n_estimators=3, verbosity=-1),
        {
            "num_leaves": IntDistribution(2, 12),
            "learning_rate": FloatDistribution(0.01, 1, log=True),
            "reg_alpha": FloatDistribution(0, 1, step=0.5),
            "objective": CategoricalDistribution(["lambdarank", "rank_xendcg"]),
        },
        web.data,
        web.target,
        qid=web.qid,
        cv=cv,
        measure="ap",
    )
    study = objective.create_study(0, pruner=pruner)
    study.optimize(objective, n_trials=4)
    first = study.trials[0]
    order = np.argsort(web.qid, kind="stable")
    starts = np.searchsorted(web.qid[order], np.unique(web.qid))
    content = by_content(
        web.data[order], web.target[order].astype(float), np.r_[starts, len(order)]
    )
    rows = order[content]
    X, y, qid = web.data[rows], web.target[rows], web.qid[rows]
    values = []
    for train, test in cv.split(X, qid=qid):
        model = QueryLGBMRanker(n_estimators=3, verbosity=-1, **first.params)
        model.fit(X[train], y[train], qid=qid[train])
        values += ranking_score(
            y[test], model.predict(X[test]), qid=qid[test], measure="ap", average=None
        ).tolist()
    assert first.value == pytest.approx(np.mean(values), abs=1e-12)
    assert len(first.intermediate_values) == (0 if pruner else 60)
    best = objective.best_estimator(study)
    assert {k: best.get_params()[k] for k in study.best_params} == study.best_params
    assert best.query_ids_.tolist() == list(range(1, 61))


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_rankers_of_all_kinds(web, make):
    X = make(web.data.astype(float))
    tree = DecisionTreeRegressor(random_state=0)
    cases = [(tree, "max_depth")]
    if make is np.asarray:
        cases += [
            (XGBRanker(n_estimators=2, n_jobs=1), "max_depth"),
            (Pipeline([("s", StandardScaler()), ("t", tree)]), "t__max_depth"),
            (
                Pipeline(
                    [("s", RankingFeatureSelector(n_features_to_select=3)), ("t", tree)]
                ),
                "t__max_depth",
            ),
            (
                Pipeline(
                    [
                        ("s", StandardScaler()),
                        ("r", QueryLGBMRanker(n_estimators=2, verbosity=-1)),
                    ]
                ),
                "r__max_depth",
            ),
            (
                Pipeline(
                    [
                        (
                            "s",
                            ColumnTransformer(
                                [
                                    (
                                        "f",
                                        RankingFeatureSelector(n_features_to_select=3),
                                        list(range(12)),
                                    )
                                ]
                            ),
                        ),
                        ("t", tree),
                    ]
                ),
                "t__max_depth",
            ),
        ]
    for model, name in cases:
        objective = RankerObjective(
            model, {name: IntDistribution(1, 5)}, X, web.target, qid=web.qid
        )
        study = objective.create_study(0)
        study.optimize(objective, n_trials=2)
        assert 0 < study.best_value < 1
        fitted = objective.best_estimator(study)
        assert len(fitted.predict(X)) == len(web.qid)


def test_a_space_that_is_a_function(web):
    def space(trial):
        depth = trial.suggest_int("depth", 1, 4)
        return {"max_depth": depth, "min_samples_leaf": 2 * depth}

    objective = RankerObjective(
        DecisionTreeRegressor(random_state=0), space, web.data, web.target, qid=web.qid
    )
    study = objective.create_study(0)
    study.optimize(objective, n_trials=3)
    best = objective.best_estimator(study)
    assert best.min_samples_leaf == 2 * study.best_params["depth"]


CUT = SimpleNamespace(split=lambda X, y, groups: KFold(3).split(X))


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        ({}, {}, "space must be a dict of Optuna distributions"),
        ({"max_depth": [1, 2]}, {}, r"space\['max_depth'\] must be an Optuna distrib"),
        (
            {"max_depth": IntDistribution(1, 2)},
            {"cv": CUT},
            "cv must keep queries whole",
        ),
        ({"max_depth": IntDistribution(1, 2)}, {"cv": "5"}, "cv must be a number of"),
        (
            {"max_depth": IntDistribution(1, 2)},
            {"fit_params": {"qid": [1]}},
            r"must not hold qid or group.*\['qid'\]",
        ),
    ],
)
def test_bad_ranker_objectives(web, space, options, message):
    with pytest.raises(ValueError, match=message):
        RankerObjective(
            DecisionTreeRegressor(),
            space,
            web.data,
            web.target,
            qid=web.qid,
            **options,
        )


def test_folds_by_position_are_those_of_the_rows_given():
    n = 30
    qid = np.repeat(np.arange(n)[::-1], 10)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    fold = np.repeat(np.where(np.arange(n) < 5, 0, -1), 10)
    objective = RankerObjective(
        DecisionTreeRegressor(random_state=0),
        {"max_depth": IntDistribution(1, 3)},
        X,
        y,
        qid=qid,
        cv=PredefinedSplit(fold),
    )
    value = objective(optuna.trial.FixedTrial({"max_depth": 2}))
    test = fold == 0
    content = np.lexsort((*X.T, qid))  # any order of rows serves a tree
    train = content[~test[content]]
    model = DecisionTreeRegressor(random_state=0, max_depth=2).fit(X[train], y[train])
    assert value == ranking_score(y[test], model.predict(X[test]), qid=qid[test])


def test_texts_classifiers_and_lightgbms_own_ranker(web):
    texts = np.array([f"w{int(c)} w{int(d)}" for c, d in web.data[:, :2]], dtype=object)
    cases = [
        (make_pipeline(CountVectorizer(), Ridge()), "ridge__alpha", texts, {}),
        (
            DecisionTreeClassifier(random_state=0),
            "max_depth",
            web.data,
            {"response_method": "predict_proba"},
        ),
        (
            lgb.LGBMRanker(n_estimators=2, verbosity=-1),
            "num_leaves",
            web.data,
            {"fit_params": {"categorical_feature": [3]}},
        ),
    ]
    for model, name, X, options in cases:
        values = []
        for rows in (slice(None), np.random.default_rng(0).permutation(len(texts))):
            objective = RankerObjective(
                model,
                {name: IntDistribution(2, 5)},
                X[rows],
                web.target[rows],
                qid=web.qid[rows],
                **options,
            )
            values.append(objective(optuna.trial.FixedTrial({name: 3})))
        assert values[0] == values[1]
        assert 0 < values[0] < 1


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        pd.DataFrame,
        pl.DataFrame,
        sp.csr_array,
        sp.csc_array,
    ],
)
def test_digests_tell_rows_apart_and_nothing_else(make):
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, size=(200, 4)).astype(float)
    X[X == 0] *= rng.choice([1, -1], size=(X == 0).sum())
    rows = {tuple(row + 0.0) for row in X}
    digests = row_digests(make(X))
    if make in (pd.DataFrame, pl.DataFrame):
        X = X + 0.0
        digests = row_digests(make(X))
    assert len(set(digests.tolist())) == len(rows)
    order = rng.permutation(200)
    assert np.array_equal(row_digests(make(X[order])), digests[order])


def test_a_missing_optuna_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    for name in list(sys.modules):
        if name.startswith("tieaware_sklearn.optuna"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[optuna\]"'):
        importlib.import_module("tieaware_sklearn.optuna")
