"""What is particular to the real LightGBM: its metrics, names, limits and tools."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

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
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from benchmarks.results.early_stopping import generated, stops
from tests.lightgbm.helpers import ranker, rows_of
from tests.strategies import queries
from tieaware_sklearn import QueryKFold, make_ranking_scorer, ranking_score
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric, feval
from tieaware_sklearn.measures import NDCG

QUIET = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1}
X3 = np.arange(9.0).reshape(3, 3)


def sizes_of(web):
    return np.unique(web.qid, return_counts=True)[1]


def dataset(web, reference=None, **options):
    return lgb.Dataset(
        web.data, web.target, group=sizes_of(web), reference=reference, **options
    )


def trained(trees, metric, *sets, callbacks=(), **parameters):
    """A booster of the first set, which the others or itself evaluate."""
    history = {}
    booster = lgb.train(
        {**QUIET, **parameters},
        sets[0],
        trees,
        valid_sets=list(sets[1:] or sets),
        feval=metric,
        callbacks=[lgb.record_evaluation(history), *callbacks],
    )
    return booster, history


@pytest.fixture(scope="module")
def demonstration():
    found = stops(
        *generated(120),
        num_leaves=4,
        n_estimators=60,
        learning_rate=0.2,
        early_stopping_rounds=20,
    )
    return {(stop.rows, stop.metric): stop for stop in found}


def test_rows_sorted_by_label_stop_lightgbm_at_once_and_us_never(demonstration):
    theirs = demonstration["relevant first", "LightGBM ndcg@10"]
    ours = demonstration["relevant first", "exact NDCG@10"]
    assert theirs.trees <= 3
    assert ours.trees >= 15
    assert theirs.reported > theirs.exact + 0.2
    assert ours.reported == ours.exact
    assert ours.held_out > theirs.held_out + 0.1
    # no order of rows moves our stop
    ours = [stop for stop in demonstration.values() if stop.metric == "exact NDCG@10"]
    assert len(ours) == 3
    assert len({stop[2:] for stop in ours}) == 1


@settings(max_examples=40)
@given(queries(max_queries=6, max_documents=10))
def test_value_is_that_of_ranking_score(rows):
    labels, scores, qid = (np.array(column) for column in rows)
    order = np.argsort(qid, kind="stable")
    sizes = np.unique(qid, return_counts=True)[1]
    better = {"NDCG@3": True, "AP(rel=2)": True, "Fallout@2": False}
    metric = eval_metric(list(better))
    for _ in range(2):
        assert metric(labels[order], scores[order], None, sizes) == [
            (name, ranking_score(labels, scores, qid=qid, measure=name), is_better)
            for name, is_better in better.items()
        ]


@pytest.mark.parametrize("measure", ["ndcg@10", ["rr", NDCG(k=3), "fallout@5"]])
def test_values_in_training(web, valid, measure):
    weight = (web.qid % 4 + 1.0).astype(np.float32)
    train = dataset(web, weight=weight)
    booster, history = trained(3, feval(measure), train, train, dataset(valid, train))
    names = [measure] if isinstance(measure, str) else list(map(str, measure))
    assert len(history["valid_1"]) == len(names)
    for data, name, own in ((web, "training", weight), (valid, "valid_1", None)):
        for values, one in zip(history[name].values(), names, strict=True):
            for tree, value in enumerate(values, start=1):
                scores = booster.predict(data.data, num_iteration=tree)
                assert value == ranking_score(
                    data.target, scores, qid=data.qid, measure=one, query_weight=own
                )


def test_metrics_in_lightgbms_own_ranker(web, valid):
    model = lgb.LGBMRanker(n_estimators=4, verbosity=-1, metric="None", n_jobs=1)
    model.fit(
        web.data,
        web.target,
        group=sizes_of(web),
        eval_X=valid.data,
        eval_y=valid.target,
        eval_group=[sizes_of(valid)],
        eval_metric=eval_metric(["ndcg@10", "rr"]),
    )
    scores = model.predict(valid.data)
    for name in ("NDCG@10", "RR"):
        assert model.evals_result_["valid_0"][name][-1] == ranking_score(
            valid.target, scores, qid=valid.qid, measure=name
        )


def test_queries_without_a_relevant_document():
    y, scores, sizes = np.array([1, 0, 0, 0]), np.array([1.0, 2, 0, 0]), [2, 2]
    for options, value in (({}, 0.25), ({"zero_relevance": "skip"}, 0.5)):
        metric = eval_metric("ap", **options)
        assert metric(y, scores, None, sizes) == ("AP", value, True)
        data = lgb.Dataset(np.zeros((4, 1)), y, group=sizes).construct()
        assert feval("ap", **options)(scores, data) == ("AP", value, True)


def test_copies_and_pickles_of_metrics(web):
    metric = eval_metric(["ndcg@10", "rr"])
    expected = metric(web.target, web.data[:, 1], None, sizes_of(web))
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert not other._prepared
        assert other(web.target, web.data[:, 1], None, sizes_of(web)) == expected
        assert repr(other) == "eval_metric(NDCG@10, RR)"
    assert repr(feval("rr")) == "feval(RR)"
    # its own cache does not share with copies
    assert len(metric._prepared) == 1


def test_lightgbm_cv_with_our_folds(web):
    results = lgb.cv(
        QUIET,
        dataset(web),
        3,
        folds=QueryKFold(4),
        feval=feval("ndcg@10"),
        return_cvbooster=True,
    )
    scores = []
    folds = QueryKFold(4).split(web.data, groups=web.qid)
    for booster, (_, test) in zip(results["cvbooster"].boosters, folds, strict=True):
        predicted = booster.predict(web.data[test])
        scores.append(ranking_score(web.target[test], predicted, qid=web.qid[test]))
    assert results["valid NDCG@10-mean"][-1] == pytest.approx(np.mean(scores))


def test_lightgbm_tuner_maximises_the_negative(web, valid):
    from optuna_integration.lightgbm import LightGBMTuner

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


@pytest.mark.parametrize(("lower", "pruned"), [(0.3, False), (2.0, True)])
def test_optunas_pruning_callback_finds_our_names(web, valid, lower, pruned):
    from optuna_integration.lightgbm import LightGBMPruningCallback

    def objective(trial):
        train = dataset(web)
        callback = LightGBMPruningCallback(trial, "NDCG@10")
        sets = (train, dataset(valid, train))
        found, _ = trained(4, feval(), *sets, callbacks=[callback])
        return found.best_score["valid_0"]["NDCG@10"]

    pruner = optuna.pruners.ThresholdPruner(lower=lower)
    study = optuna.create_study(direction="maximize", pruner=pruner)
    study.optimize(objective, n_trials=1)
    assert study.trials[0].state.name == ("PRUNED" if pruned else "COMPLETE")
    assert len(study.trials[0].intermediate_values) == (1 if pruned else 4)


@pytest.mark.parametrize("make", [feval, eval_metric])
@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("ncdg@10", r"did you mean 'NDCG@10'\?"),
        (["rr", "mrr"], "measures must differ"),
        ([], "at least one"),
    ],
)
def test_bad_measures(make, measure, message):
    with pytest.raises(ValueError, match=message):
        make(measure)


Y2, S2, G2 = np.array([1, 0]), np.array([1.0, 2.0]), np.array([2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((Y2, S2, None, None), "must have query groups"),
        ((Y2, S2 * np.nan, None, G2), "predictions must not be NaN"),
        ((Y2, np.ones((2, 3)), None, G2), "predictions must be 1-dimensional"),
        ((Y2 - 1, S2, None, G2), "label must be >= 0"),
        ((Y2, S2, S2, G2), "weight must be constant within a query"),
        ((Y2, S2, None, np.array([1, 1])), "AP is undefined for query 1"),
    ],
)
def test_data_that_cannot_be_measured(data, message):
    with pytest.raises(ValueError, match=message):
        eval_metric("ap", zero_relevance="raise")(*data)


def test_the_two_forms_are_not_mixed_up(web):
    with pytest.raises(TypeError, match="fit of a ranker takes eval_metric"):
        ranker().fit(**rows_of(web, web), eval_metric=feval("rr"))
    with pytest.raises(TypeError, match="cv take feval"):
        trained(1, eval_metric("rr"), dataset(web))


KINDS = {
    "list": (3, np.ndarray.tolist),
    "array": (3, np.asarray),
    "pandas": ("qid", lambda X: pd.DataFrame(X).rename(columns={3: "qid"})),
    "polars": ("qid", lambda X: pl.DataFrame(X).rename({"column_3": "qid"})),
    "arrow": (
        "3",
        lambda X: pa.table({f"{j}": column for j, column in enumerate(X.T)}),
    ),
    "csr": (3, sp.csr_array),
    "csc": (3, sp.csc_matrix),
    "coo": (3, sp.coo_array),
}


@pytest.mark.filterwarnings("ignore:Converting data")
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_of_any_kind(web, valid, kind):
    column, make = KINDS[kind]
    plain = ranker(early_stopping_rounds=3).fit(**rows_of(web, valid))
    X, Z = (make(np.insert(d.data, 3, d.qid, axis=1)) for d in (web, valid))
    model = ranker(early_stopping_rounds=3, qid=column)
    model.fit(X, web.target, eval_X=(Z,), eval_y=(valid.target,))
    assert model.evals_result_ == plain.evals_result_
    expected = plain.predict(valid.data)
    np.testing.assert_array_equal(model.predict(Z), expected)
    assert model.n_features_in_ == web.data.shape[1] + 1
    if kind in ("list", "array", "csr"):
        np.testing.assert_array_equal(model.predict(make(valid.data)), expected)
    found = make_ranking_scorer(qid=column)(model, X, web.target)
    scores = plain.predict(web.data)
    assert found == ranking_score(web.target, scores, qid=web.qid)
    folds = QueryKFold(3, qid=column).split(X)
    again = QueryKFold(3).split(web.data, groups=web.qid)
    for (_, a), (_, b) in zip(folds, again, strict=True):
        assert np.array_equal(a, b)


def test_several_measures_stop_on_the_first(web, valid):
    options = {"n_estimators": 40, "early_stopping_rounds": 4, "learning_rate": 0.3}

    def best(measures, **more):
        model = ranker(**options, **more)
        model.fit(**rows_of(web, valid), eval_metric=measures)
        assert model.best_iteration_ < 40
        return model.best_iteration_, list(model.evals_result_["valid_0"])

    alone = {name: best(name)[0] for name in ("NDCG@10", "RR", "P@1")}
    assert len(set(alone.values())) > 1
    for first in alone:
        measures = [first, *(name for name in alone if name != first)]
        assert best(measures) == (alone[first], measures)
        # LightGBM's own metrics are shown too, and do not decide
        with_theirs, names = best(measures, metric=["ndcg", "map"])
        assert with_theirs == alone[first]
        assert {"ndcg@5", "map@1"} < set(names)
    any_of_them = best(list(alone), first_metric_only=False)[0]
    assert any_of_them <= max(alone.values())


def test_metrics_of_other_kinds(web, valid):
    def falling(y_true, y_pred):
        return "falling", -float(np.ptp(y_pred)), True

    model = ranker(early_stopping_rounds=3, n_estimators=30, metric="ndcg")
    for metric in (falling, [falling, "rr", NDCG(k=3)]):
        model.fit(**rows_of(web, valid), eval_metric=metric)
        assert model.best_iteration_ == 1
        assert next(iter(model.evals_result_["valid_0"])) == "falling"
    model = ranker()
    for metric, names in (
        (["rr", falling, NDCG(k=3)], ["RR", "falling", "NDCG@3"]),
        (falling, ["falling"]),
    ):
        model.fit(**rows_of(web, web), eval_metric=metric)
        assert list(model.evals_result_) == ["training"]
        assert list(model.evals_result_["training"]) == names
    own = rows_of(web, valid) | {"eval_y": valid.target > 1, "eval_metric": None}
    assert list(ranker(metric="auc").fit(**own).evals_result_["valid_0"]) == ["auc"]


def test_it_has_the_parameters_of_lightgbm(web):
    ours = {"qid", "row_order"}
    names = set(lgb.LGBMRanker().get_params())
    assert set(QueryLGBMRanker().get_params()) == names | ours
    for method in ("__init__", "predict"):
        found, theirs = (
            inspect.signature(getattr(cls, method)).parameters
            for cls in (QueryLGBMRanker, lgb.LGBMRanker)
        )
        assert {k: v for k, v in found.items() if k not in ours} == dict(theirs)
    model = ranker(label_gain=[0, 1, 3, 7, 15], qid=0)
    assert "qid=0" in repr(model)
    assert model.set_params(qid=None, num_leaves=5).get_params()["num_leaves"] == 5
    predicted = model.fit(**rows_of(web)).predict(web.data, True, 0, 2)
    model.set_params(n_estimators=2)
    assert np.array_equal(predicted, model.fit(**rows_of(web)).predict(web.data))
    seen = []
    model.fit(**rows_of(web), callbacks=[lambda env: seen.append(env)])
    assert len(seen) == 2


def test_lightgbm_is_told_nothing_that_it_does_not_know(web, capfd):
    model = ranker(verbosity=1, qid=0)
    model.fit(np.column_stack([web.qid, web.data]), web.target)
    model.predict(web.data)
    told = capfd.readouterr()
    assert "Unknown parameter" not in told.out + told.err


def as_tuples(valid):
    return {
        "eval_X": (valid.data,),
        "eval_y": (valid.target,),
        "eval_qid": (valid.qid,),
    }


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
        ).fit(web.data, web.target, qid=web.qid, **as_tuples(valid))
    best = search.best_estimator_[-1]
    assert 1 <= best.best_iteration_ < 20
    # of the whole set, as it was given: the pipeline did not transform it
    scores = best.predict(valid.data)
    expected = ranking_score(valid.target, scores, qid=valid.qid)
    assert best.best_score_["valid_0"]["NDCG@10"] == expected


def test_early_stopping_behind_a_transformer(web, valid):
    """The guide: transform_input has the pipeline transform the validation set."""
    scaler = PCA(n_components=5, random_state=0)
    model = make_pipeline(scaler, ranker(), transform_input=["eval_X"])
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(web.data, web.target, qid=web.qid, **as_tuples(valid))
    found = model[-1].evals_result_["valid_0"]["NDCG@10"][-1]
    scores = model.predict(valid.data)
    assert found == ranking_score(valid.target, scores, qid=valid.qid)


def test_sample_weight_is_routed_on_request(web):
    weight = np.random.default_rng(0).uniform(0.1, 9, len(web.qid))
    cv = QueryKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = ranker().set_fit_request(sample_weight=True)
        weighted.set_score_request(sample_weight=False)
        found = cross_val_score(
            weighted,
            web.data,
            web.target,
            cv=cv,
            params={"qid": web.qid, "sample_weight": weight},
            error_score="raise",
        )
    for weights, same in ((weight, True), (np.ones(len(weight)), False)):
        expected = []
        for train, test in cv.split(web.data, groups=web.qid):
            rows = {"qid": web.qid[train], "sample_weight": weights[train]}
            model = ranker().fit(web.data[train], web.target[train], **rows)
            test = web.data[test], web.target[test], web.qid[test]
            expected.append(model.score(*test[:2], qid=test[2]))
        assert (found.tolist() == expected) is same


LONG = np.zeros((10_001, 1))
TOO_LONG = {"X": LONG, "y": LONG[:, 0], "qid": ["a"] * 10_001}
SETS3 = {"eval_X": X3.copy(), "eval_y": [0, 1, 0], "eval_qid": [1, 1, 2]}


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"y": [0, 1.5, 1]}, "y must be integers for .*lambdarank.* 1.5 in row 1"),
        ({}, {"y": [0, 1, 31]}, "y must be below 31 for .*lambdarank.* 31.0 in row 2"),
        ({"label_gain": "0,1,3"}, {"y": [0, 3, 0]}, "y must be below 3 for .*lambda"),
        ({}, TOO_LONG, r"at most 10000 .*got 10001 in query 'a'"),
        ({"objective": "rank_xendcg"}, TOO_LONG, "at most 10000 rows .*rank_xendcg"),
        ({}, {"eval_metric": "auc"}, 'constructor, metric="auc"'),
        ({}, {"eval_metric": ["rr", eval_metric("rr")]}, "must differ, got RR twice"),
        ({"eval_metric": "ap"}, {}, "eval_metric must be given to fit, .*'ap'"),
        ({"n_iter_no_change": np.int64(5)}, {}, "than the training data, got none"),
        (
            {"early_stopping_rounds": 5},
            {**SETS3, "eval_metric": None},
            "early_stopping_rounds needs a metric.* give eval_metric to fit",
        ),
    ],
)
def test_what_is_refused(options, given, message):
    rows = {"X": X3, "y": [0, 1, 0], "qid": [2, 1, 2], **given}
    with pytest.raises(ValueError, match=message):
        ranker(**options).fit(**rows)


def test_limits_are_those_of_the_objective():
    long = np.arange(10_001.0)[:, None]
    y = np.arange(10_001) % 3 + 0.5
    ranker(objective="regression").fit(long, y, qid=np.zeros(len(y)))
    ranker().fit(long[1:], y[1:] - 0.5, qid=np.zeros(len(y) - 1))
    ranker().fit(X3, [0, 30, 1], qid=[1, 1, 1])
    ranker(label_gain=list(range(40))).fit(X3, [0, 39, 1], qid=[1, 1, 1])
    ranker(objective="rank_xendcg").fit(X3, [0, 39.5, 1], qid=[1, 1, 1])
    ranker(early_stopping_rounds=np.int64(5)).fit(X3, [0, 1, 0], qid=[1, 1, 2], **SETS3)
    # LightGBM prefers other names of a parameter
    model = ranker(objective="lambdarank", application="regression")
    with pytest.warns(UserWarning, match="Found 'application'"):
        model.fit(X3, [0, 0.5, 1], qid=[1, 1, 1])


def test_the_training_data_as_evaluation_set(web):
    weight = web.qid % 3 + 1.0
    rows = np.random.default_rng(0).uniform(1, 2, len(weight))

    def values(X, names=None, **more):
        model = ranker(
            n_estimators=3, **({"class_weight": "balanced"} if names else {})
        )
        given = {**rows_of(web, web), "eval_X": X, "eval_names": names}
        ((name, results),) = model.fit(**given, **more).evals_result_.items()
        return name, results["NDCG@10"]

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
    seen = Bunch(data=web.data[few], target=web.target[few], qid=web.qid[few])
    model = ranker(min_child_samples=3, early_stopping_rounds=8, n_estimators=60)

    def best(names=None, **more):
        model.fit(**rows_of(seen, seen, valid), eval_names=names, **more)
        return model.best_iteration_, set(model.evals_result_), set(model.best_score_)

    ones = {"sample_weight": np.ones(few.sum())}
    plain = best()
    assert plain == best(**ones)
    assert plain[1] == plain[2] == {"training", "valid_1"}
    assert best(["a", "b"], **ones) == (plain[0], {"a", "b"}, {"a", "b"})
    assert best(["a", "b"]) == (plain[0], {"a", "b"}, {"a", "b"})
    with pytest.raises(ValueError, match='must have "training" for the training data'):
        best(["a", "training"])
