"""The real LightGBM with query ids and exact metrics."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
import warnings

import joblib
import lightgbm as lgb
import numpy as np
import optuna
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from optuna_integration.lightgbm import LightGBMPruningCallback, LightGBMTuner
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks.early_stopping import generated, stops
from tests.strategies import queries
from tieaware_sklearn import NDCG, QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric, feval


def ranker(**parameters):
    defaults = {"n_estimators": 5, "num_leaves": 4, "verbosity": -1, "n_jobs": 1}
    return QueryLGBMRanker(**{**defaults, **parameters})


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=40, n_documents=25, random_state=0)


@pytest.fixture(scope="module")
def valid():
    return make_web_search(n_queries=20, n_documents=25, random_state=1)


def dataset(web, reference=None, **options):
    sizes = np.unique(web.qid, return_counts=True)[1]
    return lgb.Dataset(
        web.data, web.target, group=sizes, reference=reference, **options
    )


QUIET = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1}


# ---------------------------------------------------------------- the demonstration


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


# ---------------------------------------------------------------- feval, eval_metric


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


def test_a_data_set_is_prepared_once_and_forgotten_with_it(web):
    metric = eval_metric("ndcg@10")
    sizes = np.unique(web.qid, return_counts=True)[1]
    labels = web.target.copy()
    scores = np.zeros(len(labels))
    value = metric(labels, scores, None, sizes)
    (prepared,) = metric._prepared.values()
    metric(labels, scores + web.data[:, 0], None, sizes)
    assert [*metric._prepared.values()] == [prepared]
    # other labels or groups in the same place are other data
    labels[:] = labels[::-1].copy()
    assert metric(labels, scores, None, sizes) != value
    merged = np.r_[sizes[0] + sizes[1], sizes[2:]]
    assert metric(labels, scores, None, merged) == (
        "NDCG@10",
        ranking_score(labels, scores, qid=np.repeat(np.arange(len(merged)), merged)),
        True,
    )
    assert len(metric._prepared) == 1
    del labels
    assert not metric._prepared


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


# ------------------------------------------------------------------- the ranker


def test_sorted_rows_give_lightgbms_own_model(web):
    sizes = np.unique(web.qid, return_counts=True)[1]
    theirs = lgb.LGBMRanker(n_estimators=5, num_leaves=4, verbosity=-1, n_jobs=1)
    theirs.fit(web.data, web.target, group=sizes)
    ours = ranker().fit(web.data, web.target, qid=web.qid)
    assert np.array_equal(ours.predict(web.data), theirs.predict(web.data))


@settings(max_examples=20)
@given(queries(max_queries=6, max_documents=10))
def test_queries_in_any_order_give_the_same_model(rows):
    labels, scores, qid = (np.array(column) for column in rows)
    if len(labels) < 2:
        return
    X = np.column_stack([np.nan_to_num(scores, neginf=-9), labels + scores * 0.5])
    X = np.nan_to_num(X, neginf=-9)
    options = {"min_child_samples": 1, "min_data_in_bin": 1, "n_estimators": 2}
    order = np.argsort(qid, kind="stable")
    plain = ranker(**options).fit(X[order], labels[order], qid=qid[order])
    mixed = ranker(**options).fit(X, labels, qid=qid)
    assert np.array_equal(mixed.predict(X), plain.predict(X))
    assert np.array_equal(mixed.query_ids_, np.unique(qid))
    assert np.array_equal(mixed.query_sizes_, np.unique(qid, return_counts=True)[1])


def mixed_up(web, seed=0):
    """Whole queries in another order, rows of a query in the same, spread out."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random(len(web.qid)))
    places = np.argsort(web.qid[order], kind="stable")
    rows = np.empty(len(order), dtype=int)
    rows[places] = np.argsort(web.qid, kind="stable")
    return rows


def test_everything_with_rows_goes_along(web, valid):
    rng = np.random.default_rng(0)
    n, m = len(web.qid), len(valid.qid)
    weight, start = rng.uniform(1, 2, n), rng.normal(size=n)
    valid_start, valid_weight = rng.normal(size=m), valid.qid % 3 + 1.0
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    valid_frame = pd.DataFrame(valid.data, columns=web.feature_names)
    for table in (frame, valid_frame):
        table["n_slashes"] = pd.Categorical(
            table["n_slashes"].astype(int), categories=range(20)
        )
    ids, valid_ids = (np.array([f"q{q:04}" for q in d.qid]) for d in (web, valid))

    def fit(rows, eval_rows):
        model = ranker(subsample=0.7, subsample_freq=1, random_state=0)
        return model.fit(
            frame.iloc[rows],
            web.target[rows],
            qid=ids[rows],
            sample_weight=weight[rows],
            init_score=start[rows],
            eval_X=(valid_frame.iloc[eval_rows], frame),
            eval_y=(valid.target[eval_rows], web.target),
            eval_qid=(valid_ids[eval_rows], ids),
            eval_names=["held out", "seen"],
            eval_sample_weight=[valid_weight[eval_rows]],
            eval_init_score=(valid_start[eval_rows], start),
            eval_metric=["ap", "fallout@5"],
        )

    plain = fit(np.arange(n), np.arange(m))
    mixed = fit(mixed_up(web), mixed_up(valid, 1))
    assert np.array_equal(plain.predict(frame), mixed.predict(frame))
    assert plain.evals_result_ == mixed.evals_result_
    assert list(plain.evals_result_) == ["held out", "seen"]
    scores = plain.predict(valid_frame, raw_score=True) + valid_start
    assert plain.evals_result_["held out"]["AP"][-1] == pytest.approx(
        ranking_score(
            valid.target,
            scores,
            qid=valid.qid,
            measure="ap",
            query_weight=valid_weight,
        ),
        abs=1e-12,
    )
    assert plain.booster_.pandas_categorical == [list(range(20))]


def test_continues_from_a_model(web):
    first = ranker(n_estimators=3).fit(web.data, web.target, qid=web.qid)
    more = ranker(n_estimators=2).fit(
        web.data, web.target, qid=web.qid, init_model=first
    )
    assert more.booster_.num_trees() == 5
    seen = []
    ranker(n_estimators=2).fit(
        web.data, web.target, qid=web.qid, callbacks=[lambda env: seen.append(env)]
    )
    assert len(seen) == 2


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])}),
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
    ],
    ids=["list", "pandas", "polars", "arrow", "csr", "csc", "coo"],
)
def test_matrices_of_any_kind(web, make):
    rows = mixed_up(web)
    X = web.data.astype(float)
    plain = ranker().fit(X, web.target, qid=web.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker().fit(make(X[rows]), web.target[rows], qid=web.qid[rows])
        predicted = model.predict(make(X))
    np.testing.assert_array_equal(predicted, plain.predict(X))


@pytest.mark.parametrize("kind", ["pandas", "polars", "array", "sparse", "list"])
def test_query_ids_from_a_column(web, valid, kind):
    make = {
        "pandas": lambda X: pd.DataFrame(X).rename(columns={3: "qid"}),
        "polars": lambda X: pl.DataFrame(X).rename({"column_3": "qid"}),
        "array": np.asarray,
        "sparse": sp.csr_array,
        "list": np.ndarray.tolist,
    }[kind]
    column = "qid" if kind in ("pandas", "polars") else 3
    plain = ranker(early_stopping_rounds=3).fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=valid.data,
        eval_y=valid.target,
        eval_qid=valid.qid,
    )
    X, Z = (make(np.insert(d.data, 3, d.qid, axis=1)) for d in (web, valid))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ranker(early_stopping_rounds=3, qid=column)
        model.fit(X, web.target, eval_X=Z, eval_y=valid.target)
        assert model.evals_result_ == plain.evals_result_
        expected = plain.predict(valid.data)
        np.testing.assert_array_equal(model.predict(Z), expected)
        if kind == "array":
            np.testing.assert_array_equal(model.predict(valid.data), expected)
        if kind == "pandas":
            bare = Z.drop(columns="qid")
            np.testing.assert_array_equal(model.predict(bare), expected)
    assert model.n_features_in_ == web.data.shape[1]


def test_several_measures_stop_on_the_first(web, valid):
    rows = {"eval_X": valid.data, "eval_y": valid.target, "eval_qid": valid.qid}
    data = {"X": web.data, "y": web.target, "qid": web.qid, **rows}
    options = {"n_estimators": 60, "early_stopping_rounds": 4, "learning_rate": 0.3}

    def best(measures, **more):
        model = ranker(**options, **more).fit(**data, eval_metric=measures)
        assert model.best_iteration_ < 60
        return model.best_iteration_, list(model.evals_result_["valid_0"])

    alone = {name: best(name)[0] for name in ("ndcg@10", "rr", "p@1")}
    assert len(set(alone.values())) > 1
    for first in alone:
        measures = [first, *(name for name in alone if name != first)]
        stopped, names = best(measures)
        assert stopped == alone[first]
        assert [name.lower() for name in names] == measures
        # LightGBM's own metrics are shown too, and do not decide
        with_theirs, names = best(measures, metric=["ndcg", "map"])
        assert with_theirs == alone[first]
        assert {"ndcg@5", "map@1"} < set(names)
    any_of_them = best(list(alone), first_metric_only=False)[0]
    assert any_of_them <= max(alone.values())


def test_metrics_of_other_kinds(web, valid):
    def share(y_true, y_pred):
        return "share", float(np.mean(y_pred > 0)), True

    model = ranker().fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=valid.data,
        eval_y=valid.target,
        eval_qid=valid.qid,
        eval_metric=["rr", share, NDCG(k=3)],
    )
    assert list(model.evals_result_["valid_0"]) == ["RR", "share", "NDCG@3"]
    model.fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=web.data,
        eval_y=web.target,
        eval_qid=web.qid,
        eval_metric=share,
    )
    # the training data is known as such
    assert {k: list(v) for k, v in model.evals_result_.items()} == {
        "training": ["share"]
    }
    own = ranker(metric="auc").fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=valid.data,
        eval_y=valid.target > 1,
        eval_qid=valid.qid,
        eval_metric=None,
    )
    assert list(own.evals_result_["valid_0"]) == ["auc"]


def test_clone_params_and_pickle(web):
    model = ranker(qid="topic", early_stopping_rounds=3, label_gain=[0, 1, 3, 7, 15])
    text = (
        "QueryLGBMRanker(early_stopping_rounds=3, label_gain=[0, 1, 3, 7, 15], "
        "n_estimators=5, n_jobs=1, num_leaves=4, qid='topic', verbosity=-1)"
    )
    assert " ".join(repr(model).split()) == text
    assert repr(clone(model)) == repr(model)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(qid=None, num_leaves=5).get_params()["num_leaves"] == 5
    names = set(lgb.LGBMRanker().get_params())
    assert set(QueryLGBMRanker().get_params()) == names | {"qid"}
    fitted = ranker().fit(web.data, web.target, qid=web.qid)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert np.array_equal(other.predict(web.data), fitted.predict(web.data))
        assert np.array_equal(other.query_ids_, fitted.query_ids_)


def test_a_fitted_ranker_through_a_file(web, tmp_path):
    fitted = ranker().fit(web.data, web.target, qid=web.qid)
    joblib.dump(fitted, tmp_path / "ranker.joblib")
    loaded = joblib.load(tmp_path / "ranker.joblib")
    assert np.array_equal(loaded.predict(web.data), fitted.predict(web.data))


def test_lightgbm_is_told_nothing_that_it_does_not_know(web, capfd):
    model = ranker(verbosity=1, qid=0)
    model.fit(np.column_stack([web.qid, web.data]), web.target)
    model.predict(web.data)
    told = capfd.readouterr()
    assert "Unknown parameter" not in told.out + told.err


def test_early_stopping_inside_a_search(web, valid):
    """A validation set of its own goes to every fit, uncut."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = ranker(early_stopping_rounds=2, n_estimators=20)
        search = GridSearchCV(
            make_pipeline(StandardScaler(), model),
            {"querylgbmranker__num_leaves": [3, 7]},
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            error_score="raise",
        ).fit(
            web.data,
            web.target,
            qid=web.qid,
            eval_X=(valid.data,),
            eval_y=(valid.target,),
            eval_qid=(valid.qid,),
        )
        best = search.best_estimator_[-1]
        assert 1 <= best.best_iteration_ < 20
        assert len(best.evals_result_["valid_0"]["NDCG@10"]) >= best.best_iteration_


def test_early_stopping_behind_a_transformer(web, valid):
    """The README: transform_input has the pipeline transform the validation set."""
    scaler = PCA(n_components=5, random_state=0)
    model = make_pipeline(scaler, ranker(), transform_input=["eval_X"])
    given = {"eval_X": (valid.data,), "eval_y": (valid.target,)}
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(web.data, web.target, qid=web.qid, **given, eval_qid=(valid.qid,))
    found = model[-1].evals_result_["valid_0"]["NDCG@10"][-1]
    scores = model.predict(valid.data)
    assert found == ranking_score(valid.target, scores, qid=valid.qid)


def test_sample_weight_is_routed_on_request(web):
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            ranker().set_fit_request(sample_weight=True),
            web.data,
            web.target,
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            params={"qid": web.qid, "sample_weight": np.ones(len(web.qid))},
            error_score="raise",
        )
        plain = cross_val_score(
            ranker(),
            web.data,
            web.target,
            scoring=make_ranking_scorer(),
            cv=QueryKFold(3),
            params={"qid": web.qid},
            error_score="raise",
        )
    assert scores.tolist() == plain.tolist()


EXPECTED_FAILURES = {
    "check_no_attributes_set_in_init": "LightGBM keeps **kwargs as attributes",
    "check_all_zero_sample_weights_error": "LightGBM trains on weights of 0",
    "check_n_features_in_after_fitting": "n_features_in_ leaves out the qid column",
    "check_n_features_in": "n_features_in_ leaves out the qid column",
    "check_complex_data": "y is refused first",
    "check_dtype_object": "query ids are not hashable there",
    "check_estimators_pickle": "query ids are NaN there",
    "check_estimators_empty_data_messages": "there is no qid column there",
    "check_fit2d_1feature": "the only column holds query ids there",
    "check_array_api_input": "not for this release of SciPy",
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [QueryLGBMRanker(qid=0, objective="regression", verbosity=-1)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------- its errors

X3 = np.arange(9.0).reshape(3, 3)
EVAL3 = {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0], "eval_qid": [1, 1, 2]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "qid must name the query of each row of X, got None: pass qid to fit"),
        ({"qid": [1, 2]}, r"qid must have one value per row \(3\), got 2"),
        ({"qid": [1, None, 2]}, "qid must not be missing"),
        ({"qid": [1, 1, 2], "y": [0, 1]}, r"y must have one value per row of X \(3\)"),
        (
            {"qid": [1, 1, 2], "y": [0, 1, np.nan]},
            "y must be judged .* nan in row 2",
        ),
        ({"qid": [1, 1, 2], "y": [0, 1, -1]}, "y must be >= 0, got -1.0 in row 2"),
        (
            {"qid": [2, 1, 2], "y": [0, 1.5, 1]},
            "y must be integers for LightGBM's lambdarank.*got 1.5 in row 1",
        ),
        (
            {"qid": [2, 1, 2], "y": [0, 1, 31]},
            "y must be below 31 for LightGBM's lambdarank.*got 31.0 in row 2",
        ),
        (
            {"qid": [1, 1, 2], "sample_weight": [1.0]},
            r"sample_weight must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "init_score": [1.0]},
            r"init_score must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0]},
            "eval_qid must name the query of each row of eval_X, got None",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_qid": [1, 1, 2]},
            "eval_y must have the labels of eval_X",
        ),
        (
            {"qid": [1, 1, 2], "eval_qid": [1, 1, 2]},
            "eval_X must come with eval_qid",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": X3, "eval_y": [0, 1, 0], "eval_qid": [1]},
            r"eval_qid must have one value per row \(3\), got 1",
        ),
        (
            {"qid": [1, 1, 2], "eval_X": (X3, X3), "eval_y": [0, 1, 0]},
            "eval_y must be a tuple of 2 like eval_X",
        ),
        (
            {
                "qid": [1, 1, 2],
                "eval_X": X3,
                "eval_y": [0, 1, 0],
                "eval_qid": [1, 1, 2],
                "eval_sample_weight": [1.0, 2.0, 1.0],
            },
            "eval_sample_weight must be constant within a query, got 1.0 and 2.0",
        ),
        (
            {
                "qid": [1, 1, 2],
                "eval_X": (X3, X3),
                "eval_y": ([0, 1, 0], [0, 1, 0]),
                "eval_qid": ([1, 1, 2], [1, 1, 2]),
                "eval_sample_weight": np.ones(3),
            },
            "eval_sample_weight must be a tuple of 2",
        ),
        ({"qid": [1, 1, 2], "eval_metric": "ndgc@10"}, r"did you mean 'NDCG@10'\?"),
        ({"qid": [1, 1, 2], "eval_metric": "auc"}, 'constructor, metric="auc"'),
        ({"qid": [1, 1, 2], "eval_metric": "ndcg10"}, r"did you mean 'NDCG@10'\?"),
        (
            {"qid": [1, 1, 2], "eval_metric": ["rr", eval_metric("rr")]},
            "measures must differ, got RR twice",
        ),
        ({"qid": "qid"}, "got the text 'qid'"),
        ({"qid": [1, 1, 2], "sample_weight": 2.0}, "sample_weight must be 1-dim"),
        (
            {"qid": [1, 1, 2], "sample_weight": [1.0, -1.0, 1.0]},
            "sample_weight must be >= 0, got -1.0 in row 1",
        ),
        (
            {"qid": [1, 1, 2], "init_score": [1.0, np.nan, 1.0]},
            "init_score must not be NaN, got nan in row 1",
        ),
        ({**EVAL3, "eval_X": X3[:, :2]}, "fitted on, in order: 3 features, got 2"),
        ({**EVAL3, "eval_sample_weight": {1: [1, 1, 1]}}, r"as keys \(0 to 0\)"),
        ({**EVAL3, "eval_sample_weight": ([1, 1, 1], None)}, "at most one entry"),
        ({**EVAL3, "eval_names": ["a", "b"]}, r"each evaluation set \(1\)"),
    ],
)
def test_bad_fits(arguments, message):
    with pytest.raises(ValueError, match=message):
        ranker().fit(X3, **{"y": [0, 1, 0], **arguments})


def test_other_errors(web):
    with pytest.raises(ValueError, match="early_stopping_rounds needs an evaluation"):
        ranker(early_stopping_rounds=5).fit(web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=r"given once.*set_fit_request\(qid=False\)"):
        ranker(qid=0).fit(X3, [0, 1, 0], qid=[1, 1, 2])
    with pytest.raises(ValueError, match="qid must name a column of X, got 'topic'"):
        ranker(qid="topic").fit(pd.DataFrame(X3), [0, 1, 0])
    long = np.zeros((10_001, 1))
    with pytest.raises(ValueError, match=r"at most 10000 .*got 10001 in query 'a'"):
        ranker().fit(long, long[:, 0], qid=["a"] * 10_001)
    with pytest.raises(ValueError, match="y must be below 3 for LightGBM's lambda"):
        ranker(label_gain="0,1,3").fit(X3, [0, 3, 0], qid=[1, 1, 1])
    with pytest.raises(ValueError, match="at most 10000 rows"):
        ranker(objective="rank_xendcg").fit(long, long[:, 0], qid=["a"] * 10_001)


def test_early_stopping_needs_something_to_stop_on(web):
    data = (web.data, web.target)
    own = {"eval_X": web.data, "eval_y": web.target, "eval_qid": web.qid}
    with pytest.raises(ValueError, match="got none but the training data"):
        ranker(n_iter_no_change=np.int64(5)).fit(*data, qid=web.qid, **own)
    own["eval_X"] = web.data.copy()
    with pytest.raises(ValueError, match="early_stopping_rounds needs a metric"):
        ranker(early_stopping_rounds=5).fit(*data, qid=web.qid, **own, eval_metric=None)
    ranker(early_stopping_rounds=np.int64(5)).fit(*data, qid=web.qid, **own)


def test_the_two_forms_are_not_mixed_up(web):
    with pytest.raises(TypeError, match="fit of a ranker takes eval_metric"):
        ranker().fit(
            web.data,
            web.target,
            qid=web.qid,
            eval_X=web.data,
            eval_y=web.target,
            eval_qid=web.qid,
            eval_metric=feval("rr"),
        )
    train = dataset(web)
    with pytest.raises(TypeError, match="cv take feval"):
        lgb.train(QUIET, train, 1, valid_sets=[train], feval=eval_metric("rr"))


def test_frames_must_have_the_columns_of_fit(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    other = frame[frame.columns[::-1]]
    model = ranker().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="in order: 'in_degree' as column 0, got"):
        model.predict(other)
    with pytest.raises(ValueError, match="eval_X must have the columns"):
        ranker().fit(
            frame,
            web.target,
            qid=web.qid,
            eval_X=other,
            eval_y=web.target,
            eval_qid=web.qid,
        )
    fewer = frame.drop(columns="clicks")
    with pytest.raises(ValueError, match="12 features, got 11"):
        model.predict(fewer)


def test_labels_and_weights_in_32_bits(web, valid):
    """LightGBM keeps 0.7 as 0.699999988, which is not >= 0.7."""
    y, z = (np.where(d.target >= 2, 0.7, 0.1) for d in (web, valid))
    weight = valid.qid % 3 * 0.1 + 0.1
    measures = ["ap(rel=0.7)", "ndcg(gain={0.1:0,0.7:1})@10"]
    model = ranker(objective="regression").fit(
        web.data,
        y,
        qid=web.qid,
        eval_X=valid.data,
        eval_y=z,
        eval_qid=valid.qid,
        eval_sample_weight=weight,
        eval_metric=measures,
    )
    scores = model.predict(valid.data)
    found = model.best_score_["valid_0"].values()
    for measure, value in zip(measures, found, strict=True):
        expected = ranking_score(
            z, scores, qid=valid.qid, measure=measure, query_weight=weight
        )
        assert value == pytest.approx(expected, abs=1e-15)


def test_the_training_data_as_evaluation_set(web):
    def values(X, names=None, **more):
        model = ranker(**({"class_weight": "balanced"} if names else {})).fit(
            web.data,
            web.target,
            qid=web.qid,
            eval_X=X,
            eval_y=web.target,
            eval_qid=web.qid,
            eval_names=names,
            **more,
        )
        ((name, results),) = model.evals_result_.items()
        return name, results["NDCG@10"]

    weight = web.qid % 3 + 1.0
    rows = np.random.default_rng(0).uniform(1, 2, len(weight))
    for more in (
        {},
        {"eval_sample_weight": weight},
        {"sample_weight": weight},
        {"sample_weight": rows},
        {"eval_init_score": rows},
    ):
        name, seen = values(web.data, **more)
        assert name == "training"
        assert seen == values(web.data.copy(), **more)[1]
    assert values(web.data, "mine")[0] == "mine"


def test_the_training_data_never_stops_training(web, valid):
    few = web.qid <= 3
    seen = web.data[few], web.target[few], web.qid[few]
    model = ranker(min_child_samples=3, early_stopping_rounds=8, n_estimators=60)

    def best(names=None, **more):
        model.fit(
            *seen[:2],
            qid=seen[2],
            eval_X=(seen[0], valid.data),
            eval_y=(seen[1], valid.target),
            eval_qid=(seen[2], valid.qid),
            eval_names=names,
            **more,
        )
        return model.best_iteration_, set(model.evals_result_), set(model.best_score_)

    ones = {"sample_weight": np.ones(few.sum())}
    plain = best()
    assert plain == best(**ones)
    assert plain[1] == plain[2] == {"training", "valid_1"}
    assert best(["a", "b"], **ones) == (plain[0], {"a", "b"}, {"a", "b"})
    assert best(["a", "b"]) == (plain[0], {"a", "b"}, {"a", "b"})
    with pytest.raises(ValueError, match='must keep "training" for the training data'):
        best(["a", "training"])


def test_a_callable_decides_before_lightgbms_metrics(web, valid):
    def falling(y_true, y_pred):
        return "falling", -float(np.ptp(y_pred)), True

    model = ranker(early_stopping_rounds=3, n_estimators=30, metric="ndcg")
    for metric in (falling, [falling, "rr"]):
        model.fit(
            web.data,
            web.target,
            qid=web.qid,
            eval_X=valid.data,
            eval_y=valid.target,
            eval_qid=valid.qid,
            eval_metric=metric,
        )
        assert model.best_iteration_ == 1
        assert next(iter(model.evals_result_["valid_0"])) == "falling"


def test_score_with_and_without_the_column(web, valid):
    frame = pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)
    held_out = pd.DataFrame(valid.data, columns=web.feature_names)
    ids = valid.qid + 1000
    model = ranker(qid="qid").fit(frame, web.target)
    expected = ranking_score(valid.target, model.predict(held_out), qid=ids)
    assert model.score(held_out, valid.target, qid=ids) == expected
    assert model.score(held_out.assign(qid=ids), valid.target) == expected


def test_frames_with_numbers_as_names(web):
    frame = pd.DataFrame(np.column_stack([web.qid, web.data]))
    model = ranker(qid=0).fit(frame, web.target)
    with pytest.raises(ValueError, match="in order: 1 as column 0, got 12"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X must be 2-dimensional"):
        ranker().fit(web.data[:, 0], web.target, qid=web.qid)


def test_whole_numbers_in_32_bits_stay_as_they_are():
    labels = np.array([134217728, 0, 2147483648], dtype=np.float32)
    sizes = np.array([3])
    found = eval_metric("cg")(labels, np.array([3.0, 2.0, 1.0]), None, sizes)
    assert found == ("CG", 134217728.0 + 2147483648.0, True)


def test_several_sets_as_lists(web, valid):
    model = ranker().fit(
        web.data,
        web.target,
        qid=web.qid,
        eval_X=[valid.data, web.data.copy()],
        eval_y=[valid.target, web.target],
        eval_qid=[valid.qid, web.qid],
    )
    assert list(model.evals_result_) == ["valid_0", "valid_1"]


def test_categorical_features_are_counted_with_the_qid_column(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    frame.insert(0, "topic", web.qid)
    data = frame.to_numpy()

    def categories(X, qid, wanted):
        model = ranker(qid=qid, min_data_per_group=1, cat_smooth=0.1, n_estimators=20)
        model.fit(X, web.target, categorical_feature=wanted)
        trees = model.booster_.trees_to_dataframe()
        return set(trees[trees.decision_type == "=="].split_feature)

    assert categories(frame, "topic", [5]) == {frame.columns[5]}
    assert categories(frame, "topic", [frame.columns[5]]) == {frame.columns[5]}
    assert categories(data, 0, [5]) == {"Column_4"}
    for X, qid, wanted in ((frame, "topic", [0]), (data, 0, [0]), (data, -13, [0])):
        with pytest.raises(ValueError, match="must not hold the qid column"):
            ranker(qid=qid).fit(X, web.target, categorical_feature=wanted)
    with pytest.raises(ValueError, match="must not hold the qid column, got 'topic'"):
        ranker(qid="topic").fit(frame, web.target, categorical_feature=["topic"])


def test_an_arrow_table_with_a_qid_column(web):
    table = pa.table({f"x{j}": web.data[:, j].astype(float) for j in range(12)})
    plain = ranker().fit(table, web.target, qid=web.qid)
    with_qid = table.append_column("qid", pa.array(web.qid))
    model = ranker(qid="qid").fit(with_qid, web.target)
    assert np.array_equal(model.predict(with_qid), plain.predict(table))
    scorer = make_ranking_scorer(qid="qid")
    assert scorer(model, with_qid, web.target) == ranking_score(
        web.target, plain.predict(table), qid=web.qid
    )
    folds = QueryKFold(3, qid="qid").split(with_qid)
    again = QueryKFold(3).split(web.data, qid=web.qid)
    for (_, a), (_, b) in zip(folds, again, strict=True):
        assert np.array_equal(a, b)


def test_score_is_the_default_of_searches(web):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            ranker(), {"num_leaves": [3]}, cv=QueryKFold(3), error_score="raise"
        ).fit(web.data, web.target, qid=web.qid)
        expected = cross_val_score(
            ranker(num_leaves=3),
            web.data,
            web.target,
            scoring=make_ranking_scorer("ndcg@10"),
            cv=QueryKFold(3),
            params={"qid": web.qid},
        )
    assert search.best_score_ == expected.mean()
    model = ranker().fit(web.data, web.target, qid=web.qid)
    assert model.score(web.data, web.target, qid=web.qid) == ranking_score(
        web.target, model.predict(web.data), qid=web.qid
    )


def test_limits_are_those_of_the_objective():
    long = np.arange(20_000.0)[:, None]
    y = np.arange(20_000) % 3 + 0.5
    model = ranker(objective="regression").fit(long, y, qid=np.zeros(20_000))
    assert model.query_sizes_.tolist() == [20_000]
    gains = list(range(40))
    ranker(label_gain=gains).fit(X3, [0, 39, 1], qid=[1, 1, 1])
    ranker(objective="rank_xendcg").fit(X3, [0, 39.5, 1], qid=[1, 1, 1])
    # LightGBM prefers other names of a parameter
    model = ranker(objective="lambdarank", application="regression")
    with pytest.warns(UserWarning, match="Found 'application'"):
        model.fit(X3, [0, 0.5, 1], qid=[1, 1, 1])


def test_a_missing_lightgbm_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    for name in list(sys.modules):
        if name.startswith("tieaware_sklearn.lightgbm"):
            monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        ImportError, match=r'pip install "tieaware-sklearn\[lightgbm\]"'
    ):
        importlib.import_module("tieaware_sklearn.lightgbm")
