"""Studies that objectives create: workers that join them, and pruning."""

import optuna
import pytest
from optuna.pruners import MedianPruner, NopPruner, WilcoxonPruner

from tests.optuna import helpers
from tests.optuna.helpers import linear, optimized, scoring
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import ScorePrecisionObjective


@pytest.fixture
def shared(tmp_path):
    """Options of a study that several workers join."""
    storage = helpers.journal(tmp_path)
    return {"storage": storage, "study_name": "s", "load_if_exists": True}


def test_workers_derive_their_seeds(web, shared):
    objective = scoring(web)
    first = optimized(objective, 2, 3, **shared)
    alone = optimized(objective, 2, 3)
    assert [t.params for t in first.trials] == [t.params for t in alone.trials]
    second = optimized(objective, 2, 3, **shared)
    assert len({t.params["boost"] for t in second.trials}) == 4


def test_workers_of_other_objectives_join_too(shared):
    web = make_web_search(n_queries=20, random_state=1)
    objective = ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid)
    for _ in range(2):
        study = optimized(objective, 12, 1, **shared)
    enqueued = [t for t in study.trials if "fixed_params" in t.system_attrs]
    assert len(enqueued) == 9
    tried = [tuple(t.params.items()) for t in study.trials[9:]]
    assert len(set(tried)) > len(tried) / 2


def test_nothing_is_pruned_unless_asked_for(web):
    for objective in (scoring(web), linear(web.data, web.target, web.qid)):
        study = optimized(objective, 2, 1)
        assert isinstance(study.pruner, NopPruner)
        assert not any(t.intermediate_values for t in study.trials)
        study = optimized(objective, 2, 1, prune=True)
        assert isinstance(study.pruner, WilcoxonPruner)
        assert study.trials[0].intermediate_values


def test_pruners_that_are_given_prune_as_told(web):
    objective = scoring(web, helpers.twelve_weights, block_size=5)
    pruner = helpers.hard_pruner()
    study = optimized(objective, 12, 1, pruner=pruner)
    assert any(t.user_attrs["pruned"] for t in study.trials)
    expected = optuna.create_study(direction="maximize", pruner=pruner)
    expected.sampler = optuna.samplers.TPESampler(seed=1)
    expected.optimize(objective, n_trials=12)
    assert helpers.records(study) == helpers.records(expected)


BAD_OPTIONS = [
    ({"prune": "auto"}, "prune must be True or False, got 'auto'"),
    ({"prune": None}, "prune must be True or False, got None"),
    (
        {"prune": True, "pruner": MedianPruner()},
        "prune must be False if pruner is given, got True and MedianPruner",
    ),
    ({"seed": -1}, "seed must be an integer >= 0, got -1"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options(web, options, message):
    with pytest.raises(ValueError, match=message):
        scoring(web).create_study(**options)


def several_measures(web):
    return scoring(web, measure=["ndcg@10", "ap"])


def score_precision(web):
    return ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid)


@pytest.mark.parametrize("make", [several_measures, score_precision])
def test_several_objectives_are_not_pruned(web, make):
    objective = make(web)
    message = "several objectives cannot prune, got True"
    with pytest.raises(ValueError, match=message):
        objective.create_study(0, prune=True)
    study = objective.create_study(0, pruner=helpers.hard_pruner())
    study.optimize(objective, n_trials=1)
