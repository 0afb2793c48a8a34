"""What all objectives share: values, reports, pruning, studies."""

from __future__ import annotations

import importlib
import inspect
import math
import sys

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import IntDistribution
from optuna.pruners import (
    MedianPruner,
    NopPruner,
    SuccessiveHalvingPruner,
    ThresholdPruner,
)
from sklearn.tree import DecisionTreeRegressor

from tests.optuna.helpers import boosted, linear, scoring, tree
from tieaware_sklearn import QueryKFold, evaluate, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.optuna import (
    LinearScoringObjective,
    QueryObjective,
    RankerObjective,
    ScorePrecisionObjective,
    ScoringObjective,
)

ATTRIBUTES = {"best", "worst", "tie_std", "tied_documents", "n_queries", "pruned"}


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


@pytest.mark.parametrize("measure", ["ndcg@10", "rr", "fallout@5"])
@pytest.mark.parametrize("prune", [False, True])
def test_values_and_attributes_are_those_of_evaluate(web, measure, prune):
    weight = web.qid % 3 + 1.0
    objective = scoring(web, measure=measure, query_weight=weight)
    study = objective.create_study(0, prune=prune)
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


@pytest.mark.parametrize("report_every", [None, 1, 7])
def test_fixed_buckets_are_reported_in_an_order_of_each_trial(web, report_every):
    objective = scoring(web, report_every=report_every, block_size=10)
    study = objective.create_study(0, prune=True)
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
    study = objective.create_study(0, prune=True)
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
        study = objective.create_study(seed, pruner=given, prune=given is None)
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
    options = {"storage": storage, "study_name": "z", "load_if_exists": True}
    options["prune"] = True
    objective.create_study(0, **options).optimize(objective, n_trials=2)
    loaded = optuna.load_study(study_name="z", storage=storage)
    again = scoring(web)
    with pytest.raises(ValueError, match="got values of buckets of NDCG@10"):
        loaded.optimize(again, n_trials=1)
    for other in (scoring(web, measure="rr"), scoring(web, random_state=1)):
        study = other.create_study(0, **options)
        with pytest.raises(ValueError, match="must hold reports of this objective"):
            study.optimize(other, n_trials=1)
    with pytest.raises(ValueError, match="got values of buckets"):
        loaded.optimize(objective, n_trials=1)
    study = again.create_study(0, **options)
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
    digests = [objective._data_digest for objective in objectives]
    assert len(set(digests)) == len(digests)
    X, y, qid = shuffled(web)
    again = ScoringObjective(boosted, X, y, qid=qid)
    assert again._data_digest == scoring(web)._data_digest


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


def test_every_kind_of_random_state_deals_buckets(web):
    def dealt(random_state):
        objective = scoring(web, random_state=random_state, report_every=7)
        return [bucket.tolist() for bucket in objective._dealt]

    # an int deals the same in every process; a RandomState goes on
    assert dealt(3) == dealt(np.int64(3)) != dealt(4)
    rng = np.random.RandomState(0)
    first, second = dealt(rng), dealt(rng)
    assert first != second
    assert dealt(np.random.RandomState(0)) == first
    assert dealt(None) != dealt(None)


@pytest.mark.parametrize("name", ["function", "linear", "tree"])
def test_documents_that_nobody_judged(web, name):
    missing = np.arange(len(web.qid)) % 5 == 0
    y = np.where(missing, np.nan, web.target)
    with pytest.raises(ValueError, match="y must be judged"):
        OBJECTIVES[name](web.data, y, web.qid)
    accepted = OBJECTIVES[name](web.data, y, web.qid, unjudged="nonrelevant")
    plain = OBJECTIVES[name](web.data, np.where(missing, 0, web.target), web.qid)
    study = plain.create_study(0)
    study.optimize(plain, n_trials=3)
    for trial in study.trials:
        assert accepted(optuna.trial.FixedTrial(trial.params)) == trial.value


def test_bpref_leaves_out_documents_that_nobody_judged(web):
    y = np.where(web.target == 1, np.nan, web.target)
    value = ScoringObjective(boosted, web.data, y, qid=web.qid, measure="bpref")(
        optuna.trial.FixedTrial({"boost": 1.0})
    )
    scores = web.data[:, 5] + web.data[:, 1]
    assert value == ranking_score(y, scores, qid=web.qid, measure="bpref")


def test_all_objectives_show_one_set_of_options():
    shared = inspect.signature(QueryObjective).parameters
    for cls in (ScoringObjective, LinearScoringObjective, RankerObjective):
        own = inspect.signature(cls).parameters
        assert not {"options", "self"} & set(own)
        for name, parameter in shared.items():
            assert own[name].default == parameter.default, name
            assert own[name].kind == parameter.kind, name
    studies = {
        inspect.signature(cls.create_study)
        for cls in (LinearScoringObjective, RankerObjective, ScorePrecisionObjective)
    }
    assert len(studies) == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'signs'"):
        LinearScoringObjective([[1.0]], [1], qid=[1], signs=[1])


def test_a_fixed_trial_is_just_a_value(web):
    value = scoring(web)(optuna.trial.FixedTrial({"boost": 1.0}))
    scores = web.data[:, 5] + web.data[:, 1]
    assert value == ranking_score(web.target, scores, qid=web.qid)


def lightgbm(X, y, qid, **options):
    model = QueryLGBMRanker(n_estimators=3, min_child_samples=5, verbosity=-1, n_jobs=1)
    space = {"num_leaves": IntDistribution(2, 12)}
    return RankerObjective(model, space, X, y, qid=qid, cv=QueryKFold(3), **options)


OBJECTIVES = {
    "function": lambda X, y, qid, **more: ScoringObjective(
        boosted, X, y, qid=qid, **more
    ),
    "linear": linear,
    "tuned transforms": lambda X, y, qid: linear(
        X[:, :3], y, qid, transforms=["tune", "rank", "identity"]
    ),
    "lightgbm": lightgbm,
    "tree": tree,
}


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_equal_seeds_and_shuffled_rows_give_equal_studies(web, name, prune):
    studies = []
    for data in ((web.data, web.target, web.qid), shuffled(web), shuffled(web, 1)):
        objective = OBJECTIVES[name](*data)
        study = objective.create_study(seed=5, prune=prune)
        study.optimize(objective, n_trials=6)
        studies.append(records(study))
    assert studies[0] == studies[1] == studies[2]
    other = OBJECTIVES[name](web.data, web.target, web.qid)
    study = other.create_study(seed=6, prune=prune)
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
    message = r"must maximize NDCG@10, got directions \['minimize'\]"
    with pytest.raises(ValueError, match=message):
        wrong.optimize(objective, n_trials=1)
    several = optuna.create_study(directions=["maximize", "maximize"])
    with pytest.raises(ValueError, match="cannot prune, got MedianPruner"):
        several.optimize(lambda trial: (objective(trial), 1.0), n_trials=1)
    several = optuna.create_study(
        directions=["maximize", "minimize"], pruner=NopPruner()
    )
    several.optimize(lambda trial: (objective(trial), 1.0), n_trials=2)
    for trial in several.trials:
        assert trial.values == [objective(optuna.trial.FixedTrial(trial.params)), 1.0]


def test_lower_is_better_is_minimised(web):
    objective = scoring(web, measure="fallout@5")
    assert objective.direction == "minimize"
    assert objective.create_study(0).direction.name == "MINIMIZE"
    with pytest.raises(ValueError, match=r"must minimize Fallout@5"):
        optuna.create_study(direction="maximize").optimize(objective, n_trials=1)


def test_bad_data(web):
    with pytest.raises(ValueError, match=r"y must have one value per row \(3\)"):
        ScoringObjective(boosted, web.data[:3], web.target, qid=web.qid)
    with pytest.raises(ValueError, match="qid must have one value per row"):
        ScoringObjective(boosted, web.data, web.target, qid=[1, 2])
    with pytest.raises(ValueError, match="score must be a function of a trial"):
        scoring(web, "bm25")
    with pytest.raises(ValueError, match=r"must not hold NaN, got .* in column 'f0'"):
        linear(np.where(web.data > 1, np.nan, 1), web.target, web.qid)
    frame = pd.DataFrame(web.data[:, :1], columns=["clicks"]).assign(site="a")
    with pytest.raises(
        ValueError, match=r"got 'a' in column 'site' \(leave the column"
    ):
        linear(frame, web.target, web.qid)


def test_a_missing_optuna_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    for name in list(sys.modules):
        if name.startswith("tieaware_sklearn.optuna"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[optuna\]"'):
        importlib.import_module("tieaware_sklearn.optuna")
