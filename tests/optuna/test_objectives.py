"""Score functions of the user, weights of linear scores, parameters of rankers."""

from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from optuna import distributions
from optuna.pruners import NopPruner
from optuna.trial import FixedTrial
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tieaware_sklearn as ta
from tests.optuna.helpers import exact, linear, optimized, scoring, tree
from tieaware_sklearn import optuna as ours
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.score_precision import CoarseRanker


@pytest.mark.parametrize("prune", [False, True])
def test_blocks_of_arrays_are_read_only(web, prune):
    def score(trial, X):
        X[:, 1] *= trial.suggest_float("x", 0, 1)

    with pytest.raises(ValueError, match="read-only"):
        optimized(scoring(web, score), 1, prune=prune)


def dense_column(X):
    """Return a copy of column 1 of an array, a frame or a sparse array."""
    dense = X.toarray() if sp.issparse(X) else X.to_numpy()
    return dense[:, 1].copy()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_a_function_gets_x_of_its_kind_and_cannot_change_it(web, make):
    def score(trial, X):
        assert type(X) is make
        # without pruning, all rows are scored at once
        assert X.shape == web.data.shape
        scores = dense_column(X)
        if sp.issparse(X):
            X.data[:] = 0
        elif hasattr(X, "iloc"):
            X.iloc[:, 1] = 0
        return scores

    order = np.argsort(web.qid, kind="stable")
    X, y, qid = web.data[order], web.target[order], web.qid[order]
    objective = ours.ScoringObjective(score, make(X), y, qid=qid)
    study = optimized(objective, 2)
    expected = ta.ranking_score(y, X[:, 1], qid=qid)
    for trial in study.trials:
        assert trial.value == expected


WRONG_SCORES = [
    (lambda trial, X: X[1:, 0], r"score\(trial, X\) returns must have one value"),
    (lambda trial, X: None, "returns must be an array, got None"),
]


@pytest.mark.parametrize(("score", "message"), WRONG_SCORES)
def test_scores_that_cannot_rank(web, score, message):
    objective = scoring(web, score)
    with pytest.raises(ValueError, match=message):
        objective(FixedTrial({}))


@pytest.mark.parametrize("prune", [False, True])
def test_an_error_names_the_row_of_the_user(web, prune):
    """The function gets rows in the order of ids, perhaps of a part of the queries."""
    row = len(web.qid) // 2
    X = np.column_stack([web.data, np.arange(len(web.qid)) == row])

    def score(trial, X):
        return np.where(X[:, -1], np.nan, trial.suggest_float("boost", 0, 5))

    objective = ours.ScoringObjective(score, X, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=f"not be NaN, got nan in row {row}$"):
        optimized(objective, 1, prune=prune)


WEIGHTS = [f"weight_f{j}" for j in range(12)]
TRANSFORMS = [f"transform_f{j}" for j in range(12)]
TRANSFORMED = [
    (None, WEIGHTS),
    ("log1p", WEIGHTS),
    (["rank", "identity"] * 6, WEIGHTS),
    (["tune"] * 12, WEIGHTS + TRANSFORMS),
]


@pytest.mark.parametrize(("transforms", "parameters"), TRANSFORMED)
def test_the_estimator_has_the_value_of_the_study(web, transforms, parameters):
    objective = linear(web.data, web.target, web.qid, transforms=transforms)
    study = optimized(objective, 10)
    ranker = objective.to_estimator(study)
    assert isinstance(ranker, ta.LinearRanker)
    assert study.best_value == exact(web, ranker.predict(web.data))
    assert set(study.best_params) == set(parameters)
    coef = study.best_trial.user_attrs["coef"]
    assert list(coef.values()) == ranker.coef_.tolist()
    assert list(coef) == objective.feature_names


def signed_log1p(X):
    return np.sign(X) * np.log1p(np.abs(X))


@pytest.mark.parametrize("transforms", [None, "log1p"])
def test_coefficients_are_of_features_as_they_are_in_x(web, transforms):
    objective = linear(web.data, web.target, web.qid, transforms=transforms)
    study = optimized(objective, 10)
    ranker = objective.to_estimator(study)
    assert set(ranker.transforms_) == {transforms or "identity"}
    features = signed_log1p(web.data) if transforms else web.data
    value = exact(web, features @ ranker.coef_)
    assert value == pytest.approx(study.best_value, abs=1e-3)


def test_weights_are_of_standardised_features(web):
    objective = linear(web.data, web.target, web.qid)
    study = optimized(objective, 10)
    weights = np.array(list(study.best_params.values()))
    coef = objective.to_estimator(study).coef_
    assert coef * web.data.std(axis=0) == pytest.approx(weights)


@pytest.fixture
def web_frame(web):
    return pd.DataFrame(web.data, columns=web.feature_names)


def test_starts_are_simple_weights_and_come_first(web, web_frame):
    objective = ours.LinearScoringObjective(web_frame, web.target, qid=web.qid)
    starts = optimized(objective, 4).trials[:3]
    values = [trial.value for trial in starts]
    assert values == sorted(values)
    weights = [list(trial.params.values()) for trial in starts]
    assert [1.0] * 12 in weights
    (single,) = [row for row in weights if np.count_nonzero(row) == 1]
    selector = ta.RankingFeatureSelector("ndcg@10", zero_relevance=0.0)
    selector.fit(web.data, web.target, qid=web.qid)
    best = int(np.argmin(selector.ranking_))
    assert single[best] != 0
    value = values[weights.index(single)]
    assert value == pytest.approx(selector.mean_[best, 0])


def test_columns_of_a_frame_name_the_weights(web, web_frame):
    objective = ours.LinearScoringObjective(web_frame, web.target, qid=web.qid)
    study = optimized(objective, 4)
    names = list(web.feature_names)
    assert set(study.best_params) == {f"weight_{name}" for name in names}
    ranker = objective.to_estimator(study)
    assert ranker.feature_names_in_.tolist() == names


def test_starts_are_good_by_the_first_measure(web):
    both = linear(web.data, web.target, web.qid, measure=["ndcg@10", "p@1"])
    first = linear(web.data, web.target, web.qid, measure="ndcg@10")
    assert both.starts() == first.starts()


@pytest.fixture
def noisy():
    """Return three noisy features of a ranking, the second of them the best."""
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=40, n_documents=15, random_state=0)
    noise = rng.normal(size=(len(web.qid), 3))
    return noise + web.target[:, None] * [0.3, 0.6, 0.3], web.target, web.qid


def test_starts_keep_to_bounds(noisy):
    objective = linear(*noisy, bounds=(0, 1))
    starts = [list(start.values()) for start in objective.starts()]
    assert [0.0, 1.0, 0.0] in starts
    assert [1.0, 1.0, 1.0] in starts
    assert len(starts) == 3


def test_starts_outside_of_bounds_are_left_out(noisy):
    objective = linear(*noisy, bounds=(0.5, 1))
    study = optimized(objective, 4)
    for trial in study.trials:
        weights = list(trial.params.values())
        assert min(weights) >= 0.5
        assert max(weights) <= 1
    again = objective.create_study(
        0, storage=study._storage, study_name=study.study_name, load_if_exists=True
    )
    assert len(again.trials) == 4


PAIRS = [(0, 3), (-2, 0), (-2, 3)] * 4
NAMED_PAIRS = [(-1, 1), (0, 3), (-2, 0), *[(-1, 1)] * 9]
BOUNDS = {
    "of all": ((0, 1), [(0, 1)] * 12),
    "of each": (PAIRS, PAIRS),
    "as an array": (np.array(PAIRS), PAIRS),
    "of two": ({"f1": (0, 3), "f2": (-2, 0)}, NAMED_PAIRS),
}


@pytest.mark.parametrize(("bounds", "pairs"), BOUNDS.values(), ids=BOUNDS)
def test_bounds(web, bounds, pairs):
    study = optimized(linear(web.data, web.target, web.qid, bounds=bounds), 4)
    for trial in study.trials:
        assert list(trial.distributions) == WEIGHTS
        ends = [(space.low, space.high) for space in trial.distributions.values()]
        assert ends == pairs


SAMPLERS = [
    (12, None, {}, "TPESampler"),
    (12, 200, {}, "TPESampler"),
    (12, 201, {}, "CmaEsSampler"),
    (20, None, {}, "TPESampler"),
    (21, None, {}, "CmaEsSampler"),
    (21, 500, {"transforms": "tune"}, "TPESampler"),
    (21, 500, {"measure": ["ndcg@10", "p@1"]}, "TPESampler"),
    (1, 500, {}, "TPESampler"),
    (2, 500, {}, "CmaEsSampler"),
]


@pytest.mark.parametrize(("n_features", "n_trials", "options", "sampler"), SAMPLERS)
def test_the_sampler_suits_the_weights_and_trials(
    web, n_features, n_trials, options, sampler
):
    X = np.hstack([web.data, web.data[:, :9] ** 2])[:, :n_features]
    objective = linear(X, web.target, web.qid, **options)
    study = objective.create_study(0, n_trials=n_trials)
    assert type(study.sampler).__name__ == sampler
    assert isinstance(study.pruner, NopPruner)
    if sampler == "CmaEsSampler":
        study.optimize(objective, n_trials=5)


X3 = np.arange(36.0).reshape(3, 12)
SITE = pd.DataFrame({"clicks": [1.0, 2.0, 3.0], "site": "a"})
NAMES = r"different name for each feature \(12\)"
LINEAR_ERRORS = [
    ({"X": X3 * np.nan}, "Input X contains NaN"),
    ({"X": SITE}, r"got 'a' in column 'site': leave the column"),
    ({"X": X3 + np.inf}, "contains infinity"),
    ({"X": X3 * 1e-200}, "from 1e-100 to 1e100, got"),
    ({"feature_names": ["a"]}, NAMES),
    ({"feature_names": []}, NAMES + r", got \[\]"),
    ({"feature_names": ["a"] * 12}, "a different name"),
    ({"feature_names": "abcdefghijkl"}, "a different name"),
    ({"transforms": 3}, "transforms must be a name, or a list with one entry"),
    ({"transforms": "square"}, "transforms must be one of"),
]


@pytest.mark.parametrize(("options", "message"), LINEAR_ERRORS)
def test_errors_of_linear_objectives(options, message):
    options = {"X": X3, **options}
    with pytest.raises(ValueError, match=message):
        ours.LinearScoringObjective(**options, y=[0, 1, 0], qid=[1, 1, 2])


ASCENDING = "bounds must be a pair of finite ascending numbers"
UNIT = [(0, 1)] * 11
BOUNDS_ERRORS = [
    ((1, 0), ASCENDING),
    ((1,), ASCENDING),
    (None, ASCENDING),
    ((0, np.inf), ASCENDING),
    ("ab", ASCENDING),
    ({"x1": (1, 0)}, ASCENDING),
    ([*UNIT, (1, 1)], ASCENDING),
    ([*UNIT, (1,)], ASCENDING),
    (UNIT, r"one pair for each of 12 features, or a dict .* got"),
    ({"y1": (0, 1)}, r"bounds must name features .* got 'y1'"),
]


@pytest.mark.parametrize(("bounds", "message"), BOUNDS_ERRORS)
def test_errors_of_bounds(bounds, message):
    with pytest.raises(ValueError, match=message):
        ours.LinearScoringObjective(X3, [0, 1, 0], qid=[1, 1, 2], bounds=bounds)


# -- rankers

TREE = DecisionTreeRegressor(random_state=0)
SPACE = {
    "max_depth": distributions.IntDistribution(2, 5),
    "min_weight_fraction_leaf": distributions.FloatDistribution(0.001, 0.1, log=True),
    "ccp_alpha": distributions.FloatDistribution(0, 0.002, step=0.001),
    "max_features": distributions.CategoricalDistribution([0.5, 1.0]),
}


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("n_values", [60, 10])
def test_value_is_the_mean_over_queries_of_the_folds(web, n_values, prune):
    cv = ta.QueryKFold(4)
    splits = list(cv.split(web.data, groups=web.qid))
    if n_values == 10:
        # folds by position are folds of the user's rows
        cv = PredefinedSplit(np.where(web.qid % 6 == 0, 0, -1))
        splits = list(cv.split())
    objective = ours.RankerObjective(
        TREE, SPACE, web.data, web.target, qid=web.qid, cv=cv, measure="ap"
    )
    first, *_ = optimized(objective, 4, prune=prune).trials
    assert first.distributions == SPACE
    assert len(first.intermediate_values) == (n_values if prune else 0)
    values = []
    for train, test in splits:
        model = clone(TREE).set_params(**first.params)
        model.fit(web.data[train], web.target[train])
        scores = model.predict(web.data[test])
        values.extend(exact(web, scores, test, measure="ap", average=None))
    assert first.value == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("prune", [False, True])
def test_the_best_estimator_is_fitted_on_all_rows(web, prune):
    objective = tree(web.data, web.target, web.qid, space=SPACE)
    study = optimized(objective, 4, prune=prune)
    best = objective.best_estimator(study)
    parameters = best.get_params()
    for name, value in study.best_params.items():
        assert parameters[name] == value
    assert best.tree_.n_node_samples[0] == len(web.qid)


def assert_ranks(model, name, X, web, **options):
    """Assert that a model has a value in any order of rows, and can be fitted."""
    trial = FixedTrial({name: 3})
    space = {name: distributions.IntDistribution(2, 5)}
    objective = ours.RankerObjective(
        model, space, X, web.target, qid=web.qid, cv=3, **options
    )
    value = objective(trial)
    assert 0 < value < 1
    order = np.random.default_rng(0).permutation(len(X))
    y, qid = web.target[order], web.qid[order]
    permuted = ours.RankerObjective(model, space, X[order], y, qid=qid, cv=3, **options)
    assert permuted(trial) == value
    fitted = permuted.best_estimator(trial)
    assert len(fitted.predict(X)) == len(web.qid)


def test_a_pipeline_with_a_selector(web):
    selector = ta.RankingFeatureSelector(n_features_to_select=3)
    columns = ColumnTransformer([("selected", selector, list(range(12)))])
    model = make_pipeline(columns, TREE)
    assert_ranks(model, "decisiontreeregressor__max_depth", web.data, web)


def test_a_classifier_by_probabilities(web):
    model = DecisionTreeClassifier(random_state=0)
    options = {"response_method": "predict_proba"}
    assert_ranks(model, "max_depth", web.data, web, **options)


def test_a_ranker_with_parameters_of_fit(web):
    model = lgb.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1)
    options = {"fit_params": {"categorical_feature": [3]}}
    assert_ranks(model, "num_leaves", web.data, web, **options)


def test_a_ranker_of_texts(web):
    texts = [f"w{int(first)} w{int(second)}" for first, second in web.data[:, :2]]
    model = make_pipeline(CountVectorizer(), Ridge())
    assert_ranks(model, "ridge__alpha", np.array(texts, dtype=object), web)


MATRICES = [pd.DataFrame, pl.DataFrame, sp.csr_array]


@pytest.mark.parametrize("make", MATRICES)
def test_x_and_ids_of_any_kind(web, make):
    trial = FixedTrial({"max_depth": 3})
    expected = tree(web.data, web.target, web.qid)(trial)
    X = make(web.data)
    assert tree(X, web.target, web.qid)(trial) == expected
    texts = np.array([f"q{query:03}" for query in web.qid])
    assert tree(X, web.target, texts)(trial) == expected
    assert tree(web.data, web.target, texts)(trial) == expected


def test_scores_of_rows_in_another_order_are_refused(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    order = np.random.default_rng(0).permutation(len(frame))
    frame, y, qid = frame.iloc[order], web.target[order], web.qid[order]
    outside = frame["clicks"]

    def value(score):
        objective = ours.ScoringObjective(score, frame, y, qid=qid, measure="rr")
        return optimized(objective, 1).best_value

    with pytest.raises(ValueError, match="must have the index of this X"):
        value(lambda trial, X: outside)
    expected = ta.ranking_score(y, outside, qid=qid, measure="rr")
    assert value(lambda trial, X: X["clicks"]) == expected
    assert value(lambda trial, X: X["clicks"].to_numpy()) == expected


def test_a_space_that_is_a_function(web):
    def space(trial):
        depth = trial.suggest_int("depth", 1, 4)
        return {"max_depth": depth, "min_samples_leaf": 2 * depth}

    objective = tree(web.data, web.target, web.qid, space=space)
    study = optimized(objective, 3)
    best = objective.best_estimator(study)
    assert best.min_samples_leaf == 2 * study.best_params["depth"]


def test_a_linear_ranker_is_made_of_a_chosen_trial(web):
    measures = ["ndcg@10", "ESL"]
    objective = linear(web.data, web.target, web.qid, measure=measures)
    study = optimized(objective, 8)
    with pytest.raises(RuntimeError, match="multi-objective study"):
        objective.to_estimator(study)
    for trial in study.best_trials:
        scores = objective.to_estimator(trial).predict(web.data)
        values = [exact(web, scores, measure=measure) for measure in measures]
        assert trial.values == values


def test_an_estimator_is_made_of_a_chosen_trial(web):
    measures = ["ndcg@10", "ESL"]
    objective = tree(web.data, web.target, web.qid, measure=measures)
    study = optimized(objective, 3)
    with pytest.raises(RuntimeError, match="multi-objective study"):
        objective.best_estimator(study)
    trial, *_ = study.best_trials
    assert objective.best_estimator(trial).max_depth == trial.params["max_depth"]


def split_rows(X, y, groups):
    """Return folds that split queries."""
    return KFold(3).split(X)


RANKER_ERRORS = [
    ({"space": {}}, "space must be a non-empty dict of Optuna distributions"),
    ({"space": {"max_depth": [1, 2]}}, r"space\['max_depth'\] must be an Optuna d"),
    ({"cv": SimpleNamespace(split=split_rows)}, "cv must keep queries whole"),
    ({"cv": "5"}, "cv must be a number of"),
    ({"cv": ta.QueryKFold(3, qid="qid")}, "qid must be given only once"),
]


@pytest.mark.parametrize(("options", "message"), RANKER_ERRORS)
def test_errors_of_ranker_objectives(web, options, message):
    options = {"space": {"max_depth": SPACE["max_depth"]}, **options}
    frame = pd.DataFrame(web.data).assign(qid=web.qid)
    with pytest.raises(ValueError, match=message):
        ours.RankerObjective(TREE, X=frame, y=web.target, qid=web.qid, **options)


def test_query_ids_reach_models_that_rank_by_query(web):
    space = {"coarseness": distributions.CategoricalDistribution(["rho=2"])}
    model = CoarseRanker(LinearRegression())
    objective = ours.RankerObjective(
        model, space, web.data, web.target, qid=web.qid, cv=2
    )
    values = []
    for train, test in ta.QueryKFold(2).split(web.data, groups=web.qid):
        model = CoarseRanker(LinearRegression(), "rho=2")
        model.fit(web.data[train], web.target[train])
        scores = model.predict(web.data[test], qid=web.qid[test])
        values.extend(exact(web, scores, test, average=None))
    value = objective(FixedTrial({"coarseness": "rho=2"}))
    assert value == pytest.approx(np.mean(values), abs=1e-9)
