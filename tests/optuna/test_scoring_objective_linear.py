"""Weights of linear scores."""

from __future__ import annotations

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.pruners import NopPruner

from tests.optuna.helpers import linear
from tieaware_sklearn import (
    LinearRanker,
    RankingFeatureSelector,
    evaluate,
    ranking_score,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.optuna import LinearScoringObjective


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
        selector.mean_[best, 0]
    )
    assert set(study.best_params) == {f"weight_{name}" for name in web.feature_names}


PAIRS = [(0, 3), (-2, 0), (-2, 3)] * 4


@pytest.mark.parametrize(
    ("bounds", "pairs"),
    [
        ((0, 1), [(0, 1)] * 12),
        (PAIRS, PAIRS),
        (np.array(PAIRS), PAIRS),
        ({"f1": (0, 3), "f2": (-2, 0)}, [(-1, 1), (0, 3), (-2, 0), *[(-1, 1)] * 9]),
    ],
    ids=["of all", "of each", "as an array", "of some"],
)
def test_bounds(web, bounds, pairs):
    objective = linear(web.data, web.target, web.qid, bounds=bounds)
    study = objective.create_study(0, pruner=NopPruner())
    study.optimize(objective, n_trials=15)
    for trial in study.trials:
        ends = [(d.low, d.high) for d in trial.distributions.values()]
        assert list(trial.distributions) == [f"weight_f{j}" for j in range(12)]
        assert ends == pairs
        weights = np.array(list(trial.params.values()))
        assert (np.array(pairs)[:, 0] <= weights).all()
        assert (weights <= np.array(pairs)[:, 1]).all()


def test_weights_divided_by_their_sum_rank_alike(web):
    objective = linear(web.data, web.target, web.qid, bounds=(0, 1))
    study = objective.create_study(0)
    study.optimize(objective, n_trials=5)
    for trial in study.trials:
        weights = np.array(list(trial.params.values()))
        ranker = objective.to_estimator(trial)
        ranker.coef_ /= weights.sum()
        deviation = web.data.std(axis=0)
        assert (ranker.coef_ * deviation).sum() == pytest.approx(1)
        scores = ranker.predict(web.data)
        assert ranking_score(web.target, scores, qid=web.qid) == trial.value


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
    study.optimize(many, n_trials=150)
    # CMA-ES finds more than what it starts from
    assert study.best_value > max(t.value for t in study.trials[:3])


def test_starts_keep_to_bounds():
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=40, n_documents=15, random_state=0)
    noise = rng.normal(size=(len(web.qid), 3)) + web.target[:, None] * [0.3, 0.6, 0.3]
    names = {"feature_names": ["a", "b", "c"]}
    positive = LinearScoringObjective(
        noise, web.target, qid=web.qid, bounds=(0, 1), **names
    )
    starts = [list(start.values()) for start in positive.starts()]
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
        LinearRanker("equal").fit(np.array([[1.0, 1e200], [2.0, 0.0]]))


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
        ({"bounds": (1, 0)}, "two finite ascending numbers"),
        ({"bounds": (1,)}, "two finite ascending numbers"),
        ({"bounds": None}, "two finite ascending numbers"),
        ({"bounds": (0, np.inf)}, "two finite ascending numbers"),
        ({"bounds": "ab"}, "two finite ascending numbers"),
        ({"bounds": [(0, 1)] * 11}, r"such a pair for each feature \(12\), got"),
        ({"bounds": [(0, 1)] * 11 + [(1, 1)]}, "two finite ascending numbers"),
        ({"bounds": [(0, 1)] * 11 + [(1,)]}, "two finite ascending numbers"),
        ({"bounds": {"x1": (1, 0)}}, "two finite ascending numbers"),
        ({"bounds": {"y1": (0, 1)}}, r"bounds must name features .* got 'y1'"),
        ({"transforms": 3}, "transforms must be a name, or a list with one entry"),
        ({"feature_names": "abcdefghijkl"}, "a different name"),
        ({"transforms": "square"}, "transforms must be one of"),
        ({"measure": "ndgc"}, "did you mean 'NDCG'"),
        ({"report_every": 0}, "report_every must be an integer >= 1, got 0"),
        ({"block_size": 2.5}, "block_size must be an integer >= 1, got 2.5"),
        ({"random_state": "a"}, "random_state must be an integer from 0"),
        ({"random_state": -1}, "random_state must be an integer from 0"),
        ({"unjudged": "skip"}, "unjudged must be one of"),
    ],
)
def test_bad_linear_objectives(web, options, message):
    with pytest.raises(ValueError, match=message):
        LinearScoringObjective(web.data, web.target, qid=web.qid, **options)
