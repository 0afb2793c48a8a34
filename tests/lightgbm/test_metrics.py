"""Exact metrics in the real LightGBM."""

from __future__ import annotations

import copy
import pickle
import warnings

import lightgbm as lgb
import numpy as np
import optuna
import pytest
from hypothesis import given
from optuna_integration.lightgbm import LightGBMPruningCallback, LightGBMTuner

from benchmarks.results.early_stopping import generated, stops
from tests.lightgbm.helpers import ranker, rows_of
from tests.strategies import queries
from tieaware_sklearn import QueryKFold, ranking_score
from tieaware_sklearn.lightgbm import eval_metric, feval
from tieaware_sklearn.measures import NDCG


def dataset(web, reference=None, **options):
    sizes = np.unique(web.qid, return_counts=True)[1]
    return lgb.Dataset(
        web.data, web.target, group=sizes, reference=reference, **options
    )


QUIET = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1}


@pytest.fixture(scope="module")
def demonstration():
    found = stops(
        *generated(120),
        num_leaves=4,
        n_estimators=200,
        learning_rate=0.1,
        early_stopping_rounds=20,
    )
    return {(stop.rows, stop.metric): stop for stop in found}


def test_rows_sorted_by_label_stop_lightgbm_at_once_and_us_never(demonstration):
    theirs = demonstration["relevant first", "LightGBM ndcg@10"]
    ours = demonstration["relevant first", "exact NDCG@10"]
    assert theirs.trees <= 3
    assert ours.trees >= 30
    assert theirs.reported > theirs.exact + 0.2
    assert ours.reported == ours.exact
    assert ours.held_out > theirs.held_out + 0.1


def test_no_order_of_rows_moves_our_stop(demonstration):
    ours = [stop for stop in demonstration.values() if stop.metric == "exact NDCG@10"]
    assert len(ours) == 3
    assert len({stop[2:] for stop in ours}) == 1


@given(queries(max_queries=6, max_documents=10))
def test_value_is_that_of_ranking_score(rows):
    labels, scores, qid = (np.array(column) for column in rows)
    order = np.argsort(qid, kind="stable")
    sizes = np.unique(qid, return_counts=True)[1]
    metric = eval_metric(["ndcg@3", "ap(rel=2)", "fallout@2"])
    for _ in range(2):
        found = metric(labels[order], scores[order], None, sizes)
        assert found == [
            (name, ranking_score(labels, scores, qid=qid, measure=name), better)
            for name, better in [
                ("NDCG@3", True),
                ("AP(rel=2)", True),
                ("Fallout@2", False),
            ]
        ]


@pytest.mark.parametrize("measure", ["ndcg@10", ["rr", NDCG(k=3), "fallout@5"]])
def test_values_during_training(web, valid, measure):
    train = dataset(web)
    history = {}
    booster = lgb.train(
        QUIET,
        train,
        4,
        valid_sets=[train, dataset(valid, train)],
        feval=feval(measure),
        callbacks=[lgb.record_evaluation(history)],
    )
    names = [measure] if isinstance(measure, str) else list(map(str, measure))
    assert len(history["valid_1"]) == len(names)
    for data, name in ((web, "training"), (valid, "valid_1")):
        for values, one in zip(history[name].values(), names, strict=True):
            for tree, value in enumerate(values, start=1):
                scores = booster.predict(data.data, num_iteration=tree)
                assert value == ranking_score(
                    data.target, scores, qid=data.qid, measure=one
                )


def test_weights_weigh_queries(web):
    weight = (web.qid % 4 + 1.0).astype(np.float32)
    history = {}
    train = dataset(web, weight=weight)
    booster = lgb.train(
        QUIET,
        train,
        3,
        valid_sets=[train],
        feval=feval("ap"),
        callbacks=[lgb.record_evaluation(history)],
    )
    scores = booster.predict(web.data)
    assert history["training"]["AP"][-1] == ranking_score(
        web.target, scores, qid=web.qid, measure="ap", query_weight=weight
    )
    uneven = dataset(web, weight=np.arange(len(weight)) + 1.0)
    with pytest.raises(ValueError, match="weight must be constant within a query"):
        lgb.train(QUIET, uneven, 3, valid_sets=[uneven], feval=feval("ap"))


def test_queries_without_a_relevant_document():
    y, scores = np.array([1, 0, 0, 0]), np.array([1.0, 2.0, 0.0, 0.0])
    sizes = np.array([2, 2])
    assert eval_metric("ap")(y, scores, None, sizes) == ("AP", 0.25, True)
    skip = eval_metric("ap", zero_relevance="skip")
    assert skip(y, scores, None, sizes) == ("AP", 0.5, True)
    assert eval_metric("p@1")(y, scores, None, sizes) == ("P@1", 0.0, True)


def test_copies_and_pickles_of_metrics(web):
    sizes = np.unique(web.qid, return_counts=True)[1]
    metric = eval_metric(["ndcg@10", "rr"])
    expected = metric(web.target, web.data[:, 1], None, sizes)
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert not other._prepared
        assert other(web.target, web.data[:, 1], None, sizes) == expected
        assert repr(other) == "eval_metric(NDCG@10, RR)"
    assert repr(feval("rr")) == "feval(RR)"
    # its own cache does not share with copies
    assert len(metric._prepared) == 1


def test_eval_metric_in_lightgbms_own_ranker(web, valid):
    sizes = [np.unique(data.qid, return_counts=True)[1] for data in (web, valid)]
    model = lgb.LGBMRanker(n_estimators=4, verbosity=-1, metric="None").fit(
        web.data,
        web.target,
        group=sizes[0],
        eval_X=valid.data,
        eval_y=valid.target,
        eval_group=[sizes[1]],
        eval_metric=eval_metric(["ndcg@10", "rr"]),
    )
    scores = model.predict(valid.data)
    for name in ("NDCG@10", "RR"):
        assert model.evals_result_["valid_0"][name][-1] == ranking_score(
            valid.target, scores, qid=valid.qid, measure=name
        )


def test_lightgbm_cv_with_our_folds(web):
    results = lgb.cv(
        QUIET,
        dataset(web),
        3,
        folds=QueryKFold(4),
        feval=feval("ndcg@10"),
        return_cvbooster=True,
    )
    boosters = results["cvbooster"].boosters
    group = np.unique(web.qid, return_inverse=True)[1]
    scores = []
    folds = QueryKFold(4).split(web.data, groups=group)
    for booster, (_, test) in zip(boosters, folds, strict=True):
        predicted = booster.predict(web.data[test])
        scores.append(ranking_score(web.target[test], predicted, qid=web.qid[test]))
    assert results["valid NDCG@10-mean"][-1] == pytest.approx(np.mean(scores))


def test_lightgbm_tuner_maximises_the_negative(web, valid):
    train = dataset(web, params={"feature_pre_filter": False})
    tuner = LightGBMTuner(
        {**QUIET, "metric": "neg_NDCG@10"},
        train,
        valid_sets=[dataset(valid, train)],
        num_boost_round=5,
        feval=feval("ndcg@10", negate=True),
        study=optuna.create_study(direction="minimize"),
        show_progress_bar=False,
        optuna_seed=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tuner.tune_feature_fraction(n_trials=3)
    values = [trial.value for trial in tuner.study.trials]
    assert tuner.best_score == min(values) < max(values) < 0
    scores = tuner.get_best_booster().predict(valid.data)
    assert -tuner.best_score == ranking_score(valid.target, scores, qid=valid.qid)


def test_optunas_pruning_callback_finds_our_names(web, valid):
    def objective(trial):
        train = dataset(web)
        leaves = trial.suggest_int("num_leaves", 2, 20)
        booster = lgb.train(
            {**QUIET, "num_leaves": leaves},
            train,
            8,
            valid_sets=[dataset(valid, train)],
            feval=feval("ndcg@10"),
            callbacks=[LightGBMPruningCallback(trial, "NDCG@10")],
        )
        return booster.best_score["valid_0"]["NDCG@10"]

    study = optuna.create_study(
        direction="maximize",
        pruner=optuna.pruners.ThresholdPruner(lower=0.5, n_warmup_steps=6),
        sampler=optuna.samplers.RandomSampler(seed=0),
    )
    study.optimize(objective, n_trials=4)
    assert all(len(t.intermediate_values) >= 7 for t in study.trials)
    worst = optuna.create_study(
        direction="maximize", pruner=optuna.pruners.ThresholdPruner(lower=2.0)
    )
    worst.optimize(objective, n_trials=1)
    assert worst.trials[0].state is optuna.trial.TrialState.PRUNED


@pytest.mark.parametrize("make", [feval, eval_metric])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ncdg@10",), r"did you mean 'NDCG@10'\?"),
        ((["rr", "mrr"],), "measures must differ"),
        (([],), "at least one"),
    ],
)
def test_bad_measures(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(*arguments)


def test_data_that_cannot_be_measured():
    y, scores = np.array([1, 0]), np.array([1.0, 2.0])
    metric = eval_metric("rr")
    with pytest.raises(ValueError, match="must have query groups"):
        metric(y, scores, None, None)
    with pytest.raises(ValueError, match="predictions must not be NaN"):
        metric(y, np.array([1.0, np.nan]), None, np.array([2]))
    with pytest.raises(ValueError, match="predictions must be 1-dimensional"):
        metric(y, np.ones((2, 3)), None, np.array([2]))
    with pytest.raises(ValueError, match="label must be >= 0"):
        metric(y - 1, scores, None, np.array([2]))
    with pytest.raises(ValueError, match="AP is undefined for query 1"):
        eval_metric("ap", zero_relevance="raise")(
            np.array([1, 0, 0]), np.zeros(3), None, np.array([1, 2])
        )


def test_the_two_forms_are_not_mixed_up(web):
    with pytest.raises(TypeError, match="fit of a ranker takes eval_metric"):
        ranker().fit(
            **rows_of(web, web),
            eval_metric=feval("rr"),
        )
    train = dataset(web)
    with pytest.raises(TypeError, match="cv take feval"):
        lgb.train(QUIET, train, 1, valid_sets=[train], feval=eval_metric("rr"))
