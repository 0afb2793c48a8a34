"""Functions of the user's own, weights of linear scores, parameters of rankers."""

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


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_a_function_gets_x_of_its_kind_and_cannot_change_it(web, make):
    def score(trial, X):
        assert type(X) is make
        # where nothing is pruned, everything is scored at once
        assert X.shape == web.data.shape
        dense = X.toarray() if sp.issparse(X) else X.to_numpy()
        scores = dense[:, 1].copy()
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
    assert [trial.value for trial in study.trials] == [expected] * 2


@pytest.mark.parametrize(("score", "message"), [
    (lambda trial, X: X[1:, 0], r"score\(trial, X\) returns must have one value"),
    (lambda trial, X: None, "returns must be an array, got None"),
])  # fmt: skip
def test_scores_that_cannot_rank(web, score, message):
    with pytest.raises(ValueError, match=message):
        scoring(web, score)(FixedTrial({}))


@pytest.mark.parametrize("prune", [False, True])
def test_an_error_names_the_row_as_it_was_given(web, prune):
    """The rows of X stand in the order of ids, or are those of some queries."""
    row = len(web.qid) // 2
    X = np.column_stack([web.data, np.arange(len(web.qid)) == row])

    def score(trial, X):
        return np.where(X[:, -1], np.nan, trial.suggest_float("boost", 0, 5))

    objective = ours.ScoringObjective(score, X, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=f"not be NaN, got nan in row {row}$"):
        optimized(objective, 1, prune=prune)


TRANSFORMS = [
    (None, set()),
    ("log1p", set()),
    (["rank", "identity"] * 6, set()),
    (["tune"] * 12, {f"transform_f{j}" for j in range(12)}),
]


@pytest.mark.parametrize(("transforms", "more"), TRANSFORMS)
def test_the_estimator_scores_what_the_study_found(web, transforms, more):
    """Plain weights are kept, of the features as they are in X."""
    objective = linear(web.data, web.target, web.qid, transforms=transforms)
    study = optimized(objective, 10)
    ranker = objective.to_estimator(study)
    assert isinstance(ranker, ta.LinearRanker)
    assert study.best_value == exact(web, ranker.predict(web.data))
    assert set(study.best_params) == more | {f"weight_f{j}" for j in range(12)}
    coef = study.best_trial.user_attrs["coef"]
    assert list(coef.values()) == ranker.coef_.tolist()
    assert list(coef) == objective.feature_names
    if transforms is None or transforms == "log1p":
        assert set(ranker.transforms_) == {transforms or "identity"}
        X = web.data
        features = np.sign(X) * np.log1p(np.abs(X)) if transforms else X
        found = exact(web, features @ [*coef.values()])
        assert found == pytest.approx(study.best_value, abs=1e-3)
    if transforms is None:
        weights = np.array(list(study.best_params.values()))
        assert ranker.coef_ * web.data.std(axis=0) == pytest.approx(weights)


def test_starts_are_simple_weights_and_come_first(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    objective = ours.LinearScoringObjective(frame, web.target, qid=web.qid)
    study = optimized(objective, 4)
    first = [list(t.params.values()) for t in study.trials[:3]]
    assert [1.0] * 12 in first
    (single,) = [weights for weights in first if np.count_nonzero(weights) == 1]
    values = [t.value for t in study.trials[:3]]
    assert values == sorted(values)
    selector = ta.RankingFeatureSelector("ndcg@10", zero_relevance=0.0)
    selector.fit(web.data, web.target, qid=web.qid)
    best = int(np.argmin(selector.ranking_))
    assert single[best] != 0
    value = study.trials[first.index(single)].value
    assert value == pytest.approx(selector.mean_[best, 0])
    # the columns of a frame name the weights, and stay known
    assert set(study.best_params) == {f"weight_{name}" for name in web.feature_names}
    ranker = objective.to_estimator(study)
    assert ranker.feature_names_in_.tolist() == list(web.feature_names)


def test_starts_are_good_by_the_first_measure(web):
    data = (web.data, web.target, web.qid)
    both = linear(*data, measure=["ndcg@10", "p@1"])
    assert both.starts() == linear(*data, measure="ndcg@10").starts()


def test_starts_keep_to_bounds():
    rng = np.random.default_rng(0)
    web = make_web_search(n_queries=40, n_documents=15, random_state=0)
    noise = rng.normal(size=(len(web.qid), 3)) + web.target[:, None] * [0.3, 0.6, 0.3]
    positive = linear(noise, web.target, web.qid, bounds=(0, 1))
    starts = [list(start.values()) for start in positive.starts()]
    assert [0.0, 1.0, 0.0] in starts
    assert [1.0, 1.0, 1.0] in starts
    assert len(starts) == 3
    narrow = linear(noise, web.target, web.qid, bounds=(0.5, 1))
    study = optimized(narrow, 4)
    assert all(0.5 <= w <= 1 for t in study.trials for w in t.params.values())
    options = {"study_name": study.study_name, "load_if_exists": True}
    study = narrow.create_study(0, storage=study._storage, **options)
    assert len(study.trials) == 4


PAIRS = [(0, 3), (-2, 0), (-2, 3)] * 4


@pytest.mark.parametrize(("bounds", "pairs"), [
    ((0, 1), [(0, 1)] * 12),
    (PAIRS, PAIRS),
    (np.array(PAIRS), PAIRS),
    ({"f1": (0, 3), "f2": (-2, 0)}, [(-1, 1), (0, 3), (-2, 0), *[(-1, 1)] * 9]),
], ids=["of all", "of each", "as an array", "of some"])  # fmt: skip
def test_bounds(web, bounds, pairs):
    study = optimized(linear(web.data, web.target, web.qid, bounds=bounds), 4)
    names = [f"weight_f{j}" for j in range(12)]
    for trial in study.trials:
        ends = [(d.low, d.high) for d in trial.distributions.values()]
        assert [*trial.distributions] == names
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
ASCENDING = "bounds must be two finite ascending numbers"
UNBOUND = [(1, 0), (1,), None, (0, np.inf), "ab", {"x1": (1, 0)}]
UNBOUND += [[(0, 1)] * 11 + [(1, 1)], [(0, 1)] * 11 + [(1,)]]
SITE = pd.DataFrame({"clicks": [1.0, 2.0, 3.0], "site": "a"})


BAD_LINEAR = [
    ({"X": X3 * np.nan}, "Input X contains NaN"),
    ({"X": SITE}, r"got 'a' in column 'site' \(leave the column"),
    ({"X": X3 + np.inf}, "contains infinity"),
    ({"X": X3 * 1e-200}, "from 1e-100 to 1e100, got"),
    ({"feature_names": ["a"]}, r"different name for each feature \(12\)"),
    ({"feature_names": []}, r"different name for each feature \(12\), got \[\]"),
    ({"feature_names": ["a"] * 12}, "a different name"),
    ({"feature_names": "abcdefghijkl"}, "a different name"),
    *(({"bounds": bounds}, ASCENDING) for bounds in UNBOUND),
    ({"bounds": [(0, 1)] * 11}, r"such a pair for each feature \(12\), got"),
    ({"bounds": {"y1": (0, 1)}}, r"bounds must name features .* got 'y1'"),
    ({"transforms": 3}, "transforms must be a name, or a list with one entry"),
    ({"transforms": "square"}, "transforms must be one of"),
]


@pytest.mark.parametrize(("options", "message"), BAD_LINEAR)
def test_bad_linear_objectives(options, message):
    given = {"X": X3, "y": [0, 1, 0], "qid": [1, 1, 2], **options}
    with pytest.raises(ValueError, match=message):
        ours.LinearScoringObjective(**given)


TREE = DecisionTreeRegressor(random_state=0)
SPACE = {
    "max_depth": distributions.IntDistribution(2, 5),
    "min_weight_fraction_leaf": distributions.FloatDistribution(0.001, 0.1, log=True),
    "ccp_alpha": distributions.FloatDistribution(0, 0.002, step=0.001),
    "max_features": distributions.CategoricalDistribution([0.5, 1.0]),
}


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("n_values", [60, 10])
def test_cross_validated_value_by_hand(web, n_values, prune):
    """Folds by position are those of the rows given."""
    cv, groups = ta.QueryKFold(4), {"groups": web.qid}
    if n_values == 10:
        cv, groups = PredefinedSplit(np.where(web.qid % 6 == 0, 0, -1)), {}
    data = {"X": web.data, "y": web.target, "qid": web.qid}
    objective = ours.RankerObjective(TREE, SPACE, **data, cv=cv, measure="ap")
    study = optimized(objective, 4, prune=prune)
    first = study.trials[0]
    assert first.distributions == SPACE
    values = []
    for train, test in cv.split(web.data, **groups):
        model = clone(TREE).set_params(**first.params)
        model.fit(web.data[train], web.target[train])
        scores = model.predict(web.data[test])
        values.append(exact(web, scores, test, measure="ap", average=None))
    assert first.value == pytest.approx(np.concatenate(values).mean(), abs=1e-12)
    assert len(first.intermediate_values) == (n_values if prune else 0)
    best = objective.best_estimator(study)
    assert {k: best.get_params()[k] for k in study.best_params} == study.best_params
    assert best.tree_.n_node_samples[0] == len(web.qid)


FEW = ta.RankingFeatureSelector(n_features_to_select=3)
COLUMNS = ColumnTransformer([("few", FEW, list(range(12)))])
BY_CLASS = {"response_method": "predict_proba"}
LGBM = lgb.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1)


@pytest.mark.parametrize(("model", "name", "options"), [
    (make_pipeline(COLUMNS, TREE), "decisiontreeregressor__max_depth", {}),
    (DecisionTreeClassifier(random_state=0), "max_depth", BY_CLASS),
    (LGBM, "num_leaves", {"fit_params": {"categorical_feature": [3]}}),
    (make_pipeline(CountVectorizer(), Ridge()), "ridge__alpha", {}),
], ids=lambda case: case if isinstance(case, str) else "")  # fmt: skip
def test_rankers_of_all_kinds(web, model, name, options):
    X = web.data
    if name == "ridge__alpha":
        X = np.array([f"w{int(c)} w{int(d)}" for c, d in X[:, :2]], dtype=object)
    values, trial = [], FixedTrial({name: 3})
    space = {name: distributions.IntDistribution(2, 5)}
    for rows in (slice(None), np.random.default_rng(0).permutation(len(X))):
        given = {"X": X[rows], "y": web.target[rows], "qid": web.qid[rows], **options}
        objective = ours.RankerObjective(model, space, cv=3, **given)
        values.append(objective(trial))
    assert values[0] == values[1]
    assert 0 < values[0] < 1
    fitted = objective.best_estimator(trial)
    assert len(fitted.predict(X)) == len(web.qid)


def test_x_and_ids_of_any_kind(web):
    texts = np.array([f"q{q:03}" for q in web.qid])
    values = {
        tree(make(web.data), web.target, qid)(FixedTrial({"max_depth": 3}))
        for make in (np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array)
        for qid in (web.qid, texts)
    }
    assert len(values) == 1


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


def test_an_estimator_is_made_of_a_trial_that_is_chosen(web):
    measures = ["ndcg@10", "ESL"]
    frontier = linear(web.data, web.target, web.qid, measure=measures)
    study = optimized(frontier, 8)
    with pytest.raises(RuntimeError, match="multi-objective study"):
        frontier.to_estimator(study)
    for trial in study.best_trials:
        scores = frontier.to_estimator(trial).predict(web.data)
        assert trial.values == [exact(web, scores, measure=one) for one in measures]
    forest = tree(web.data, web.target, web.qid, measure=measures)
    study = optimized(forest, 3)
    with pytest.raises(RuntimeError, match="multi-objective study"):
        forest.best_estimator(study)
    chosen = forest.best_estimator(study.best_trials[0])
    assert chosen.max_depth == study.best_trials[0].params["max_depth"]


CUT = SimpleNamespace(split=lambda X, y, groups: KFold(3).split(X))


BAD_RANKERS = [
    ({"space": {}}, "space must be a dict of Optuna distributions"),
    ({"space": {"max_depth": [1, 2]}}, r"space\['max_depth'\] must be an Optuna d"),
    ({"cv": CUT}, "cv must keep queries whole"),
    ({"cv": "5"}, "cv must be a number of"),
    ({"cv": ta.QueryKFold(3, qid="qid")}, "qid must be given once"),
]


@pytest.mark.parametrize(("options", "message"), BAD_RANKERS)
def test_bad_ranker_objectives(web, options, message):
    given = {"estimator": TREE, "space": {"max_depth": SPACE["max_depth"]}}
    frame = pd.DataFrame(web.data).assign(qid=web.qid)
    with pytest.raises(ValueError, match=message):
        ours.RankerObjective(**given | options, X=frame, y=web.target, qid=web.qid)


def test_query_ids_reach_what_ranks_by_query(web):
    space = {"coarseness": distributions.CategoricalDistribution(["rho=2"])}
    model = CoarseRanker(LinearRegression())
    data = {"X": web.data, "y": web.target, "qid": web.qid}
    objective = ours.RankerObjective(model, space, **data, cv=2)
    values = []
    for train, test in ta.QueryKFold(2).split(web.data, groups=web.qid):
        model = CoarseRanker(LinearRegression(), "rho=2")
        model.fit(web.data[train], web.target[train])
        scores = model.predict(web.data[test], qid=web.qid[test])
        values += exact(web, scores, test, average=None).tolist()
    value = objective(FixedTrial({"coarseness": "rho=2"}))
    assert value == pytest.approx(np.mean(values), abs=1e-9)
