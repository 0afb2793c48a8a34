"""Whether trials are pruned: as told, or as the first trial finds."""

from __future__ import annotations

from functools import wraps

import numpy as np
import optuna
import pytest
from optuna.distributions import IntDistribution
from optuna.pruners import MedianPruner, NopPruner, WilcoxonPruner
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sklearn.model_selection import PredefinedSplit
from sklearn.tree import DecisionTreeRegressor

from tests.optuna.helpers import boosted, linear, scoring, tree
from tieaware_sklearn.optuna import (
    RankerObjective,
    ScorePrecisionObjective,
    ScoringObjective,
    _ranker_objective,
    _reports,
    _scoring_objective,
)


class Clock:
    """Time passes when it is looked at, and when a function takes some."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1e-3
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in (_scoring_objective, _ranker_objective, _reports):
        monkeypatch.setattr(module, "perf_counter", made)
    return made


def slow(clock, seconds):
    """A function that takes so long for a block."""

    def score(trial, X):
        clock.now += seconds
        return X @ [trial.suggest_float(f"w{j}", -1, 1) for j in range(12)]

    return score


def told(study):
    return {
        name: value
        for name, value in study.user_attrs.items()
        if name in ("prune", "scoring_seconds", "checking_seconds")
    }


def records(study, first=0):
    return [
        (t.params, t.value, t.intermediate_values, t.user_attrs)
        for t in study.trials[first:]
    ]


def studied(objective, n_trials=12, **options):
    study = objective.create_study(1, **options)
    study.optimize(objective, n_trials=n_trials)
    return study


def test_a_dear_function_is_pruned_as_if_that_had_been_asked_for(web, clock):
    objective = scoring(web, slow(clock, 1.0))
    study = studied(objective)
    assert study.user_attrs["prune"] is True
    assert study.user_attrs["scoring_seconds"] == pytest.approx(1, abs=0.1)
    assert 0 < study.user_attrs["checking_seconds"] < 0.1
    assert any(t.user_attrs["pruned"] for t in study.trials)
    assert len(study.trials[0].intermediate_values) == 60
    assert records(study) == records(studied(objective, prune=True))


def test_a_cheap_function_is_not(web, clock):
    objective = scoring(web, slow(clock, 0.0))
    study = studied(objective)
    assert study.user_attrs["prune"] is False
    assert study.user_attrs["scoring_seconds"] < study.user_attrs["checking_seconds"]
    assert not any(t.user_attrs["pruned"] for t in study.trials)
    assert not any(t.intermediate_values for t in study.trials[1:])
    plain = studied(objective, prune=False)
    assert records(study, 1) == records(plain, 1)
    assert study.trials[0].value == plain.trials[0].value
    assert study.trials[0].user_attrs == plain.trials[0].user_attrs


def test_a_real_cheap_function_costs_no_check(web, monkeypatch):
    checks = []
    ask = WilcoxonPruner.prune
    monkeypatch.setattr(
        WilcoxonPruner, "prune", lambda *a: (checks.append(1), ask(*a))[1]
    )
    study = studied(scoring(web), 20)
    assert study.user_attrs["prune"] is False
    assert not checks


def test_a_slow_start_is_not_taken_for_a_dear_function(web, clock):
    started = []

    def score(trial, X):
        if not started:
            started.append(True)
            clock.now += 100.0
        return boosted(trial, X)

    assert studied(scoring(web, score)).user_attrs["prune"] is False


def test_folds_are_timed_as_blocks_are(web, clock, monkeypatch):
    fit = DecisionTreeRegressor.fit

    @wraps(fit)
    def fitted(self, *arguments, **options):
        clock.now += 1.0
        return fit(self, *arguments, **options)

    objective = tree(web.data, web.target, web.qid)
    assert studied(objective, 2).user_attrs["prune"] is False
    monkeypatch.setattr(DecisionTreeRegressor, "fit", fitted)
    assert studied(objective, 2).user_attrs["prune"] is True


def test_what_cannot_end_early_is_not_pruned(web, clock):
    few = web.qid <= 13
    objective = ScoringObjective(
        slow(clock, 1.0), web.data[few], web.target[few], qid=web.qid[few]
    )
    assert studied(objective, 2).user_attrs["prune"] is False
    blocks = scoring(web, slow(clock, 1.0), block_size=60)
    assert studied(blocks, 2).user_attrs["prune"] is False
    objective = RankerObjective(
        DecisionTreeRegressor(),
        {"max_depth": IntDistribution(1, 2)},
        web.data,
        web.target,
        qid=web.qid,
        cv=PredefinedSplit(np.where(web.qid > 30, 0, -1)),
    )
    assert studied(objective, 2).user_attrs["prune"] is False


def test_a_trial_that_fails_decides_nothing(web, clock):
    fails = [True]

    def score(trial, X):
        if fails:
            fails.pop()
            raise RuntimeError
        return slow(clock, 1.0)(trial, X)

    objective = scoring(web, score)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=1, catch=RuntimeError)
    assert told(study) == {"prune": "auto"}
    study.optimize(objective, n_trials=1)
    assert study.user_attrs["prune"] is True


def test_workers_keep_to_what_the_first_found(web, clock, tmp_path):
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "log")))
    options = {"storage": storage, "study_name": "s", "load_if_exists": True}
    dear, cheap = scoring(web, slow(clock, 1.0)), scoring(web, slow(clock, 0.0))
    first = dear.create_study(0, **options)
    second = cheap.create_study(0, **options)
    assert told(first) == told(second) == {"prune": "auto"}
    with pytest.raises(ValueError, match=r"must be joined with Wilcoxon.*Median"):
        optuna.load_study(study_name="s", storage=storage).optimize(dear, n_trials=1)
    first.optimize(dear, n_trials=1)
    decided = told(first)
    assert decided["prune"] is True
    second.optimize(cheap, n_trials=4)
    assert told(second) == told(first) == decided
    assert all(t.intermediate_values for t in first.trials[1:])
    third = cheap.create_study(0, prune=True, **options)
    assert told(third) == decided
    for other in ({"prune": False}, {"pruner": NopPruner()}):
        with pytest.raises(ValueError, match="the decision of the study, True, or"):
            cheap.create_study(0, **other, **options)


def test_a_trial_that_ends_after_the_decision_changes_nothing(web, clock):
    def score(trial, X):
        trial.study.set_user_attr("prune", False)
        return slow(clock, 1.0)(trial, X)

    study = studied(scoring(web, score), 2)
    assert told(study) == {"prune": False}


def test_pruners_that_are_given_prune_as_told(web, clock):
    objective = scoring(web, slow(clock, 0.0), block_size=5)
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        pruner = WilcoxonPruner(p_threshold=0.4)
    study = studied(objective, pruner=pruner)
    assert told(study) == {"prune": True}
    assert any(t.user_attrs["pruned"] for t in study.trials)
    own = optuna.create_study(direction="maximize", pruner=pruner)
    own.sampler = optuna.samplers.TPESampler(seed=1)
    own.optimize(objective, n_trials=12)
    assert told(own) == {}
    assert records(own) == records(study)
    assert studied(objective, 1, pruner=MedianPruner()).user_attrs["prune"] is True
    assert studied(objective, 1, pruner=NopPruner()).user_attrs["prune"] is False


def test_linear_scores_are_pruned_when_asked(web):
    objective = linear(web.data, web.target, web.qid)
    study = studied(objective, 2)
    assert told(study) == {"prune": False}
    study = studied(objective, 2, prune=True)
    assert isinstance(study.pruner, WilcoxonPruner)
    assert study.trials[0].intermediate_values


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prune": "yes"}, "prune must be True, False or \"auto\", got 'yes'"),
        ({"prune": None}, 'prune must be True, False or "auto", got None'),
        ({"prune": 1}, 'prune must be True, False or "auto", got 1'),
        (
            {"prune": True, "pruner": MedianPruner()},
            "left out if pruner is given, got True and MedianPruner",
        ),
    ],
)
def test_bad_options(web, options, message):
    with pytest.raises(ValueError, match=message):
        scoring(web).create_study(0, **options)


@pytest.mark.parametrize("options", [{"prune": True}, {"pruner": MedianPruner()}])
def test_several_objectives_are_not_pruned(web, options):
    for objective in (
        scoring(web, measure=["ndcg@10", "ap"]),
        ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid),
    ):
        with pytest.raises(ValueError, match="several objectives cannot prune, got"):
            objective.create_study(0, **options)
        assert told(objective.create_study(0)) == {"prune": False}
