"""The metrics, names, limits and tools of LightGBM."""

import copy
import inspect
import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

import tieaware_sklearn as ta
from tests.boosters import conftest
from tests.boosters.helpers import EVAL3, ROWS3, LightGBM, exact, rows_of, sizes_of
from tests.strategies import queries
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric, feval
from tieaware_sklearn.measures import NDCG

web = conftest.web
valid = conftest.valid
ranker = LightGBM().ranker
#: LightGBM 4.6 takes neither `eval_X`, nor tables of polars and Arrow.
TAKES_EVAL_X = "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters
QUIET = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1}


def dataset(data, reference=None, **options):
    options = {"group": sizes_of(data), "reference": reference, **options}
    return lgb.Dataset(data.data, data.target, **options)


@settings(max_examples=30)
@given(queries(max_queries=6, max_documents=10))
def test_value_is_that_of_ranking_score(rows):
    """Labels and weights in tenths, which LightGBM's 32 bits do not hold."""
    labels, scores, qid = (np.array(column) for column in rows)
    labels = labels / 10
    weight = qid % 3 / 10 + 0.1
    order = np.argsort(qid, kind="stable")
    _, sizes = np.unique(qid, return_counts=True)
    measures = ["NDCG@3", "AP(rel=0.3)", "Fallout@2"]
    metric = eval_metric(measures)
    y = np.float32(labels[order])
    query_weight = np.float32(weight[order])
    for _ in range(2):
        results = metric(y, scores[order], query_weight, sizes)
        names, values, greater_is_better = zip(*results, strict=True)
        assert list(names) == measures
        assert greater_is_better == (True, True, False)
        for name, value in zip(names, values, strict=True):
            options = {"qid": qid, "query_weight": weight, "measure": name}
            expected = ta.ranking_score(labels, scores, **options)
            assert value == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("measure", ["ndcg@10", ["rr", NDCG(k=3), "fallout@5"]])
def test_values_in_training(web, valid, measure):
    weight = (web.qid % 4 + 1.0).astype(np.float32)
    train = dataset(web, weight=weight)
    history = {}
    options = {"feval": feval(measure), "callbacks": [lgb.record_evaluation(history)]}
    valid_sets = [train, dataset(valid, train)]
    booster = lgb.train(QUIET, train, 3, valid_sets=valid_sets, **options)
    names = [str(ta.parse_measure(name)) for name in np.atleast_1d(measure)]
    assert list(history["valid_1"]) == names
    for data, set_name, query_weight in [
        (web, "training", weight),
        (valid, "valid_1", None),
    ]:
        results = history[set_name]
        assert len(results) == len(names)
        for name, values in zip(names, results.values(), strict=True):
            for n_trees, value in enumerate(values, start=1):
                scores = booster.predict(data.data, num_iteration=n_trees)
                expected = exact(data, scores, measure=name, query_weight=query_weight)
                assert value == expected


@pytest.mark.parametrize(("zero", "value"), [(0.0, 0.25), (0.5, 0.5), ("skip", 0.5)])
def test_queries_without_a_relevant_document(zero, value):
    y = np.array([1, 0, 0, 0])
    scores = np.array([1.0, 2, 0, 0])
    sizes = [2, 2]
    metric = eval_metric("ap", zero_relevance=zero)
    assert metric(y, scores, None, sizes) == ("AP", value, True)
    data = lgb.Dataset(np.zeros((4, 1)), y, group=sizes).construct()
    metric = feval("ap", zero_relevance=zero)
    assert metric(scores, data) == ("AP", value, True)
    negated = feval("ap", zero_relevance=zero, negate=True)
    assert negated(scores, data) == ("neg_AP", -value, False)


def test_copies_and_pickles_of_metrics(web):
    metric = eval_metric(["ndcg@10", "rr"])
    data = web.target, web.data[:, 1], None, sizes_of(web)
    expected = metric(*data)
    for copied in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert not copied._prepared
        assert copied(*data) == expected
        assert repr(copied) == "eval_metric(NDCG@10, RR)"
    # the metric does not share its cache with copies
    assert len(metric._prepared) == 1
    assert repr(feval("rr")) == "feval(RR)"


def test_lightgbm_cv_with_our_folds(web):
    options = {"folds": ta.QueryKFold(4), "feval": feval(), "return_cvbooster": True}
    results = lgb.cv(QUIET, dataset(web), 3, **options)
    scores = []
    folds = ta.QueryKFold(4).split(web.data, groups=web.qid)
    for booster, (_, test) in zip(results["cvbooster"].boosters, folds, strict=True):
        predicted = booster.predict(web.data[test])
        scores.append(ta.ranking_score(web.target[test], predicted, qid=web.qid[test]))
    assert results["valid NDCG@10-mean"][-1] == pytest.approx(np.mean(scores))


Y2 = np.array([1, 0])
S2 = np.array([1.0, 2.0])
G2 = np.array([2])


NOT_MEASURED = [
    ("ncdg@10", (), r"did you mean 'NDCG@10'\?"),
    (["rr", "mrr"], (), "measures must differ"),
    ([], (), "at least one"),
    ("ap", (Y2, S2, None, None), "must have query groups"),
    ("ap", (Y2, S2 * np.nan, None, G2), "predictions must not be NaN"),
    ("ap", (Y2, np.ones((2, 3)), None, G2), "predictions must be 1-dimensional"),
    ("ap", (Y2 - 1, S2, None, G2), "label must be >= 0"),
    ("ap", (Y2, S2, S2, G2), "weight must be constant within a query"),
    ("ap", (Y2, S2, None, np.array([1, 1])), "AP is undefined for query 1"),
]


@pytest.mark.parametrize(("measure", "data", "message"), NOT_MEASURED)
def test_what_cannot_be_measured(measure, data, message):
    with pytest.raises(ValueError, match=message):
        eval_metric(measure, zero_relevance="raise")(*data)


KINDS = {
    "list": (3, np.ndarray.tolist),
    "array": (3, np.asarray),
    "pandas": ("qid", lambda X: pd.DataFrame(X).rename(columns={3: "qid"})),
    "csr": (3, sp.csr_array),
    "csc": (3, sp.csc_matrix),
    "coo": (3, sp.coo_array),
}
if TAKES_EVAL_X:
    KINDS["polars"] = "qid", lambda X: pl.DataFrame(X).rename({"column_3": "qid"})
    KINDS["arrow"] = "3", lambda X: pa.table({f"{j}": x for j, x in enumerate(X.T)})


@pytest.mark.filterwarnings("ignore:Converting data")
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_of_any_kind_have_one_order(web, valid, kind):
    column, make = KINDS[kind]
    plain = ranker(early_stopping_rounds=3).fit(**rows_of(web, valid))
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(web.qid))
    X = np.insert(web.data, 3, web.qid, axis=1)
    eval_X = make(np.insert(valid.data, 3, valid.qid, axis=1))
    model = ranker(early_stopping_rounds=3, qid=column)
    evaluation = {"eval_X": (eval_X,), "eval_y": (valid.target,)}
    model.fit(make(X[rows]), web.target[rows], **evaluation)
    assert model.evals_result_ == plain.evals_result_
    expected = plain.predict(valid.data)
    np.testing.assert_array_equal(model.predict(eval_X), expected)
    assert model.n_features_in_ == web.data.shape[1] + 1
    if kind in ("list", "array", "csr"):
        without_ids = model.predict(make(valid.data))
        np.testing.assert_array_equal(without_ids, expected)


def test_several_measures_stop_on_the_first(web, valid):
    options = {"n_estimators": 40, "early_stopping_rounds": 4, "learning_rate": 0.3}

    def best(measures, **more):
        model = ranker(**options, **more)
        model.fit(**rows_of(web, valid), eval_metric=measures)
        assert model.best_iteration_ < 40
        return model.best_iteration_, list(model.evals_result_["valid_0"])

    names = ["NDCG@10", "RR", "P@1"]
    expected, shown = best(names)
    assert shown == names
    # LightGBM's own metrics are shown too, and do not decide
    number, shown = best(names, metric=["ndcg", "map"])
    assert number == expected
    assert {"ndcg@5", "map@1"} < set(shown)
    number, _ = best(names, first_metric_only=False)
    assert number < expected


def test_values_are_logged_under_stable_names(web, valid):
    """Callbacks and records of LightGBM have canonical names."""
    history = {}
    model = ranker(metric="ndcg", n_estimators=3)
    model.fit(
        **rows_of(web, valid, web),
        eval_metric=["ndcg@10", "ap"],
        eval_at=[10],
        callbacks=[lgb.record_evaluation(history)],
    )
    assert history == model.evals_result_
    assert set(history) == {"training", "valid_0"}
    for results in history.values():
        # LightGBM's own metrics keep their names, which no measure has
        names = list(results)
        assert names[0] == "NDCG@10"
        assert set(names) == {"NDCG@10", "AP", "ndcg@10"}
        for values in results.values():
            assert len(values) == 3
    expected = exact(web, model.predict(web.data))
    assert history["training"]["NDCG@10"][2] == expected
    assert model.best_score_["training"]["NDCG@10"] == expected


def falling(y_true, y_pred):
    """A metric that is best at the first tree."""
    return "falling", -float(np.ptp(y_pred)), True


@pytest.mark.parametrize("metric", [falling, [falling, "rr", NDCG(k=3)]])
def test_the_first_metric_may_be_a_function(web, valid, metric):
    model = ranker(early_stopping_rounds=3, n_estimators=30, row_order="input")
    model.fit(**rows_of(web, valid), eval_metric=metric)
    assert model.best_iteration_ == 1
    first, *_ = model.evals_result_["valid_0"]
    assert first == "falling"


WITH_FUNCTIONS = [
    (["rr", falling, NDCG(k=3)], ["RR", "falling", "NDCG@3"]),
    (falling, ["falling"]),
]


@pytest.mark.parametrize(("metric", "names"), WITH_FUNCTIONS)
def test_functions_are_evaluated_beside_measures(web, metric, names):
    model = ranker(row_order="input")
    model.fit(**rows_of(web, web), eval_metric=metric)
    assert list(model.evals_result_) == ["training"]
    assert list(model.evals_result_["training"]) == names


def test_without_measures_lightgbm_evaluates_its_own_metric(web, valid):
    rows = rows_of(web, valid) | {"eval_y": valid.target > 1}
    model = ranker(metric="auc").fit(**rows, eval_metric=None)
    assert list(model.evals_result_["valid_0"]) == ["auc"]


@pytest.mark.parametrize("method", ["__init__", "predict"])
def test_its_methods_have_the_parameters_of_lightgbm(method):
    signature = inspect.signature(getattr(QueryLGBMRanker, method))
    parameters = dict(signature.parameters)
    parameters.pop("qid", None)
    parameters.pop("row_order", None)
    reference = inspect.signature(getattr(lgb.LGBMRanker, method))
    assert parameters == dict(reference.parameters)


def test_it_trains_and_predicts_with_the_parameters_of_lightgbm(web, capfd):
    model = ranker(label_gain=[0, 1, 3, 7, 15], qid=0, verbosity=1)
    assert "qid=0" in repr(model)
    model.set_params(qid=None, num_leaves=5)
    assert model.get_params()["num_leaves"] == 5
    model.fit(**rows_of(web))
    predicted = model.predict(web.data, True, 0, 2)
    model.set_params(n_estimators=2)
    iterations = []
    model.fit(**rows_of(web), callbacks=[lambda env: iterations.append(env)])
    assert np.array_equal(predicted, model.predict(web.data))
    assert len(iterations) == 2
    captured = capfd.readouterr()
    assert "Unknown parameter" not in captured.out
    assert "Unknown parameter" not in captured.err


def test_its_attributes_are_those_of_the_lgbm_model_that_it_trains(web, valid):
    options = {"early_stopping_rounds": 3, "n_estimators": 20}
    model = ranker(**options)
    assert isinstance(model, lgb.LGBMModel)
    names = [
        name
        for name, member in inspect.getmembers(lgb.LGBMRanker)
        if isinstance(member, property) and not name.startswith("_")
    ]
    assert len(names) > 10
    for name in names:
        with pytest.raises((NotFittedError, AttributeError)):
            getattr(model, name)
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    held = pd.DataFrame(valid.data, columns=valid.feature_names)
    model.fit(**rows_of(web, valid) | {"X": frame, "eval_X": held})
    evaluated = {"eval_set": [(held, valid.target)]}
    if TAKES_EVAL_X:
        evaluated = {"eval_X": held, "eval_y": valid.target}
    reference = lgb.LGBMRanker(**LightGBM.options | options)
    sizes = {"group": sizes_of(web), "eval_group": [sizes_of(valid)]}
    reference.fit(frame, web.target, **sizes, **evaluated)
    for name in names:
        assert type(getattr(model, name)) is type(getattr(reference, name)), name


def test_parameters_set_since_the_fit_hold(web, monkeypatch):
    """As in LightGBM, whose predict reads n_jobs and others when it is called."""
    seen = []
    model = ranker().fit(**rows_of(web))
    original = type(model.booster_).predict

    def predict(booster, X, **options):
        seen.append((options["num_threads"], options.get("pred_early_stop")))
        return original(booster, X, **options)

    monkeypatch.setattr(type(model.booster_), "predict", predict)
    model.predict(web.data)
    model.set_params(n_jobs=2, pred_early_stop=True).predict(web.data)
    assert seen == [(1, None), (2, True)]
    assert model.objective_ == "lambdarank"


def test_early_stopping_inside_a_search(web, valid):
    """Tuples are whole evaluation sets; transform_input has a pipeline transform."""
    evaluation = {}
    for name in ("eval_X", "eval_y", "eval_qid"):
        evaluation[name] = (rows_of(valid, valid)[name],)
    with sklearn.config_context(enable_metadata_routing=True):
        model = ranker(early_stopping_rounds=2, n_estimators=20)
        scaler = PCA(n_components=5, random_state=0)
        pipeline = make_pipeline(scaler, model, transform_input=["eval_X"])
        grid = {"querylgbmranker__num_leaves": [3, 7]}
        options = {"scoring": ta.make_ranking_scorer(), "error_score": "raise"}
        search = GridSearchCV(pipeline, grid, cv=ta.QueryKFold(3), **options)
        search.fit(web.data, web.target, qid=web.qid, **evaluation)
    best = search.best_estimator_[-1]
    assert 1 <= best.best_iteration_ < 20
    expected = exact(valid, search.predict(valid.data))
    assert best.best_score_["valid_0"]["NDCG@10"] == expected


LONG = np.arange(10_001.0)[:, None]
TOO_LONG = {"X": LONG, "y": 0 * LONG[:, 0], "qid": ["a"] * 10_001}
NO_METRIC = EVAL3 | {"eval_metric": None}


REFUSED = [
    ({}, {"y": [0, 1.5, 1]}, "y must be integers for .*lambdarank.* 1.5 in row 1"),
    ({}, {"y": [0, 1, 31]}, "y must be below 31 for .*lambdarank.* 31.0 in row 2"),
    ({"label_gain": "0,1,3"}, {"y": [0, 3, 0]}, "y must be below 3 for .*lambda"),
    ({}, TOO_LONG, r"at most 10000 .*got 10001 in query 'a'"),
    ({"objective": "rank_xendcg"}, TOO_LONG, "at most 10000 rows .*rank_xendcg"),
    ({}, {"eval_metric": "auc"}, "unknown measure 'auc'"),
    ({"n_iter_no_change": np.int64(5)}, {}, "the training data, got none"),
    (
        {"early_stopping_rounds": 5},
        NO_METRIC,
        "early_stopping_rounds requires a metric.* give eval_metric to fit",
    ),
]


@pytest.mark.parametrize(("options", "arguments", "message"), REFUSED)
def test_what_is_refused(options, arguments, message):
    rows = ROWS3 | {"qid": [2, 1, 2]} | arguments
    with pytest.raises(ValueError, match=message):
        ranker(**options).fit(**rows)


LIMITS = [
    ({"objective": "regression"}, TOO_LONG | {"y": np.arange(10_001) % 3 + 0.5}),
    ({}, {"X": LONG[1:], "y": np.arange(10_000) % 3, "qid": [1] * 10_000}),
    ({}, {"y": [0, 30, 1]}),
    ({"label_gain": list(range(40))}, {"y": [0, 39, 1]}),
    ({"objective": "rank_xendcg"}, {"y": [0, 39.5, 1]}),
    ({"early_stopping_rounds": np.int64(5)}, EVAL3),
    # LightGBM prefers other names of a parameter
    ({"objective": "lambdarank", "application": "regression"}, {"y": [0, 0.5, 1]}),
]


@pytest.mark.parametrize(("options", "arguments"), LIMITS)
@pytest.mark.filterwarnings("ignore:Found 'application'")
def test_limits_are_those_of_the_objective(options, arguments):
    ranker(**options).fit(**ROWS3 | arguments)


def test_the_training_data_as_evaluation_set(web):
    weight = web.qid % 3 + 1.0
    rows = np.random.default_rng(0).uniform(1, 2, len(weight))

    def values(X, names=None, **more):
        rows = rows_of(web, web)
        rows["eval_X"] = X
        options = {"class_weight": "balanced"} if names else {}
        model = ranker(**options).fit(**rows, eval_names=names, **more)
        ((name, results),) = model.evals_result_.items()
        return name, results["NDCG@10"]

    of_training = ({}, {"sample_weight": weight}, {"sample_weight": rows})
    of_eval = ({"eval_query_weight": weight}, {"eval_init_score": rows})
    for more in (*of_training, *of_eval):
        name, seen = values(web.data, **more)
        assert name == "training"
        assert seen == values(web.data.copy(), **more)[1]
    assert values(web.data, "mine")[0] == "mine"


@pytest.fixture(scope="module")
def few(web):
    """The rows of three queries."""
    is_few = web.qid <= 3
    return Bunch(data=web.data[is_few], target=web.target[is_few], qid=web.qid[is_few])


def test_the_training_data_never_stops_training(few, valid):
    rows = rows_of(few, few, valid)
    model = ranker(min_child_samples=3, early_stopping_rounds=8, n_estimators=60)
    weight = np.ones(len(few.qid))
    best_iterations = set()
    for names, expected in [
        (None, {"training", "valid_1"}),
        (["a", "b"], {"a", "b"}),
    ]:
        for options in ({}, {"sample_weight": weight}):
            model.fit(**rows, eval_names=names, **options)
            assert set(model.evals_result_) == expected
            assert set(model.best_score_) == expected
            best_iterations.add(model.best_iteration_)
    assert len(best_iterations) == 1
    with pytest.raises(ValueError, match='must have "training" for the training data'):
        model.fit(**rows, eval_names=["a", "training"])


@pytest.mark.parametrize(("zero", "value"), [(0.5, 0.5), (1, 0.75)])
def test_a_group_without_rows_is_no_query(zero, value):
    metric = eval_metric("ap", zero_relevance=zero)
    labels = np.array([1, 0, 0, 0])
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    sizes = np.array([2, 0, 2])
    assert metric(labels, scores, None, sizes) == ("AP", value, True)


def test_large_whole_labels_stay_as_they_are():
    # the shortest decimal of these labels in 32 bits is another number
    labels = np.array([134217728, 0, 2147483648], dtype=np.float32)
    scores = np.array([3.0, 2.0, 1.0])
    result = eval_metric("cg")(labels, scores, None, np.array([3]))
    assert result == ("CG", 134217728.0 + 2147483648.0, True)
