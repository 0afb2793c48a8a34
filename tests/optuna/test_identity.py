"""A study holds trials of one objective: the same data, model, folds and space."""

import os
import subprocess
import sys
import threading
from functools import partial, wraps
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.distributions import IntDistribution
from optuna.trial import TrialState
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from tests.optuna import helpers
from tests.optuna.helpers import optimized, scoring
from tieaware_sklearn import QueryKFold, measures
from tieaware_sklearn import optuna as ours


def assert_refused(study, objective, names):
    """Assert that a study refuses an objective, and names the parts that differ."""
    message = f"that differ in {names}: use another study"
    with pytest.raises(ValueError, match=message):
        study.optimize(objective, n_trials=1)


def enclosing(feature, times=1.0):
    """Return a closure over a feature."""

    def score(trial, X, power=1):
        return times * X[:, feature] ** power + trial.suggest_float("boost", 0, 5)

    return score


DEPTHS = {"max_depth": IntDistribution(1, 6)}
TREE = DecisionTreeRegressor(random_state=0)


def trees(web, X=None, model=TREE, space=DEPTHS, **options):
    if X is None:
        X = web.data[:, [0, 1]]
    options.setdefault("cv", QueryKFold(3))
    return ours.RankerObjective(model, space, X, web.target, qid=web.qid, **options)


def weights(web, X=None, **options):
    if X is None:
        X = web.data[:, [1, 5]]
    return ours.LinearScoringObjective(X, web.target, qid=web.qid, **options)


@pytest.fixture(params=["memory", "sqlite"])
def storage(request, tmp_path):
    if request.param == "memory":
        return None
    return f"sqlite:///{tmp_path / 'studies.db'}"


def trees_of_another_feature(web):
    return trees(web, web.data[:, [2]])


def scoring_by_another_function(web):
    return scoring(web, helpers.twelve_weights)


@pytest.mark.parametrize(
    ("make", "make_another", "part"),
    [
        (trees, trees_of_another_feature, "features"),
        (scoring, scoring_by_another_function, "score"),
    ],
    ids=["features", "function"],
)
def test_trials_of_another_objective_are_refused(
    web, storage, make, make_another, part
):
    options = {"storage": storage, "study_name": part}
    study = optimized(make(web), 2, **options)
    objective = make_another(web)
    message = f"got trials of NDCG@10 that differ in .*{part}"
    with pytest.raises(ValueError, match=message):
        study.optimize(objective, n_trials=1)
    if storage is not None:
        with pytest.raises(ValueError, match=message):
            objective.create_study(0, load_if_exists=True, **options)
    # the same objective goes on
    study.optimize(make(web), n_trials=1)
    assert len(completed(study)) == 3


def completed(study):
    return study.get_trials(states=(TrialState.COMPLETE,))


def test_trials_with_another_cell_are_refused(web):
    study = optimized(trees(web), 2)
    X = web.data[:, [0, 1]].copy()
    X[7, 1] += 1
    assert_refused(study, trees(web, X), "features")
    study.optimize(trees(web), n_trials=1)
    assert len(completed(study)) == 3


def test_trials_with_names_of_features_are_refused(web):
    study = optimized(trees(web), 2)
    frame = pd.DataFrame(web.data[:, [0, 1]], columns=["a", "b"])
    assert_refused(study, trees(web, frame), "features")
    study.optimize(trees(web), n_trials=1)
    assert len(completed(study)) == 3


CHANGES = {
    "class": (trees, {"model": ExtraTreeRegressor(random_state=0)}, "estimator"),
    "parameter": (
        trees,
        {"model": DecisionTreeRegressor(random_state=0, min_samples_leaf=5)},
        "estimator",
    ),
    "folds": (trees, {"cv": QueryKFold(4)}, "folds"),
    "space": (trees, {"space": {"max_depth": IntDistribution(1, 9)}}, "space"),
    "space of a function": (trees, {"space": lambda trial: {}}, "space"),
    "fit": (trees, {"fit_params": {"check_input": True}}, "fit_params"),
    "order": (trees, {"row_order": "input"}, "labels, features, folds, row_order"),
    "bounds": (weights, {"bounds": (0, 1)}, "bounds"),
    "transforms": (weights, {"transforms": "log1p"}, "features, transforms"),
    "columns": (weights, {"feature_names": ["a", "b"]}, "feature_names"),
    "measure": (scoring, {"measure": "rr"}, "measure, parameters of measures"),
}


@pytest.mark.parametrize(("make", "options", "names"), CHANGES.values(), ids=CHANGES)
def test_trials_with_other_options_are_refused(web, make, options, names):
    study = optimized(make(web), 2)
    assert_refused(study, make(web, **options), names)
    study.optimize(make(web), n_trials=1)
    assert len(completed(study)) == 3


def decorated(score):
    @wraps(score)
    def timed(trial, X):
        return score(trial, X)

    return timed


def beside(companion, feature):
    """Return a closure over a feature and an object."""

    def score(trial, X):
        return X[:, feature] + (0 if companion else 1)

    return score


def calling_itself(feature):
    def score(trial, X, again=True):
        return score(trial, X, False) if again else X[:, feature]

    return score


class Column:
    def __init__(self, feature):
        self.feature = feature

    def plain(self, trial, X):
        return X[:, self.feature]

    def negative(self, trial, X):
        return -X[:, self.feature]


def partial_of_function(number):
    scores = {1: helpers.boosted, 2: helpers.twelve_weights}
    return partial(scores[number])


def method(number):
    column = Column(1)
    methods = {1: column.plain, 2: column.negative}
    return methods[number]


#: functions that return a score function for each of the numbers 1 and 2
FAMILIES = {
    "closure": enclosing,
    "number": lambda number: enclosing(1, times=float(number)),
    "partial": partial_of_function,
    "partial of a closure": lambda number: partial(enclosing(number)),
    "decorated closure": lambda number: decorated(enclosing(number)),
    "closure with a module": lambda number: beside(np, number),
    "closure with a lock": lambda number: beside(threading.Lock(), number),
    "closure with a mapping": lambda number: beside({"memory": number}, 1),
    "recursion": calling_itself,
    "method": method,
    "object of a method": lambda number: Column(number).plain,
}


@pytest.mark.parametrize("make", FAMILIES.values(), ids=FAMILIES)
def test_functions_are_told_apart_by_name_and_closure(web, make):
    study = optimized(scoring(web, make(1)), 1)
    assert_refused(study, scoring(web, make(2)), "score")
    study.optimize(scoring(web, make(1)), n_trials=1)
    assert len(completed(study)) == 2


def test_an_empty_cell_of_a_closure_is_left_out(web):
    def optional(is_used):
        if is_used:
            factor = 2.0

        def score(trial, X):
            return X[:, 0] * (factor if is_used else 1)

        return score

    study = optimized(scoring(web, optional(False)), 1)
    study.optimize(scoring(web, optional(False)), n_trials=1)
    assert_refused(study, scoring(web, optional(True)), "score")


def test_gains_of_one_name_are_told_apart(web):
    def power(exponent):
        def gain(label):
            return label**exponent

        return measures.NDCG(10, gain=gain)

    study = optimized(scoring(web, measure=power(2)), 1)
    study.optimize(scoring(web, measure=power(2)), n_trials=1)
    assert_refused(study, scoring(web, measure=power(3)), "parameters of measures")


# -- estimators


def pipeline(web, *steps):
    model = make_pipeline(*steps, DecisionTreeRegressor(random_state=0))
    space = {"decisiontreeregressor__max_depth": IntDistribution(1, 6)}
    return trees(web, model=model, space=space)


def test_a_fitted_step_is_the_same_estimator(web):
    study = optimized(pipeline(web, StandardScaler()), 1)
    fitted = StandardScaler().fit(web.data)
    study.optimize(pipeline(web, fitted), n_trials=1)
    assert len(completed(study)) == 2


def test_parameters_of_the_space_are_not_of_the_estimator(web):
    study = optimized(trees(web), 1)
    model = DecisionTreeRegressor(random_state=0, max_depth=3)
    study.optimize(trees(web, model=model), n_trials=1)
    assert len(completed(study)) == 2


def test_the_order_of_steps_is_of_the_estimator(web):
    first, second = FunctionTransformer(lambda X: X), StandardScaler()
    study = optimized(pipeline(web, first, second), 1)
    assert_refused(study, pipeline(web, second, first), "estimator")


def test_threads_and_messages_decide_no_value(web):
    def bagged(**options):
        regressor = RandomForestRegressor(3, random_state=0, **options)
        model = make_pipeline(StandardScaler(), regressor)
        space = {"randomforestregressor__max_depth": IntDistribution(1, 3)}
        return trees(web, model=model, space=space)

    study = optimized(bagged(), 1)
    study.optimize(bagged(n_jobs=2, verbose=0), n_trials=1)
    assert_refused(study, bagged(min_samples_leaf=9), "estimator")


# -- features, functions and bounds


def test_cells_may_be_lists(web):
    def score(trial, X):
        return X["clicks"]

    def objective(words):
        frame = pd.DataFrame({"clicks": web.data[:, 1]})
        frame["words"] = [words] * len(frame)
        return ours.ScoringObjective(score, frame, web.target, qid=web.qid)

    study = optimized(objective(["a", "b"]), 1)
    study.optimize(objective(["a", "b"]), n_trials=1)
    assert_refused(study, objective(["a", "c"]), "features")


def test_bounds_in_any_form_are_the_same(web):
    study = optimized(weights(web, bounds=(0, 1)), 1)
    by_place = weights(web, bounds=[(0, 1), (0, 1)])
    study.optimize(by_place, n_trials=1)
    by_name = weights(web, bounds={"x0": (0, 1), "x1": (0.0, 1.0)})
    study.optimize(by_name, n_trials=1)
    assert len(study.trials) == 3


def test_a_function_that_cannot_be_pickled_has_its_name(web):
    enclosed = (number for number in range(3))

    def score(trial, X):
        return X[:, 0] + next(enclosed, 0)

    study = optimized(scoring(web, score), 1)
    study.optimize(scoring(web, score), n_trials=1)
    assert_refused(study, scoring(web), "score")


def test_lambdas_of_one_name_are_told_apart(web):
    first, second = (lambda trial, X: X[:, 0]), (lambda trial, X: X[:, 1])
    assert first.__qualname__ == second.__qualname__
    study = optimized(scoring(web, first), 1)
    assert_refused(study, scoring(web, second), "score")
    study.optimize(scoring(web, first), n_trials=1)


@pytest.mark.parametrize(
    "options", [{"random_state": 3}, {"report_every": 4}, {"block_size": 7}]
)
def test_options_that_decide_no_value_may_change(web, options):
    study = optimized(scoring(web), 1)
    study.optimize(scoring(web, **options), n_trials=1)
    assert len(study.trials) == 2


def test_the_order_of_rows_may_change(web):
    study = optimized(scoring(web), 1)
    rows = np.random.default_rng(0).permutation(len(web.qid))
    permuted = ours.ScoringObjective(
        helpers.boosted, web.data[rows], web.target[rows], qid=web.qid[rows]
    )
    study.optimize(permuted, n_trials=1)
    assert len(study.trials) == 2


def test_finished_trials_without_a_mark_are_refused(web):
    study = optuna.create_study(direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("boost", 0, 5), n_trials=2)
    with pytest.raises(ValueError, match=r"\(NDCG@10\), got 2 finished trials of an"):
        study.optimize(scoring(web), n_trials=1)
    # the mark of version 1.1
    study.set_user_attr("trials", "NDCG@10, data 0123")
    with pytest.raises(ValueError, match="2 finished trials of an unknown objective"):
        study.optimize(scoring(web), n_trials=1)


def test_enqueued_trials_need_no_mark(web):
    study = optuna.create_study(direction="maximize")
    study.enqueue_trial({"boost": 2.0})
    study.optimize(scoring(web), n_trials=1)
    assert study.best_params == {"boost": 2.0}


SESSION = """
from tests.optuna.test_identity import beside, enclosing, scoring, trees, weights
from tieaware_sklearn.datasets import make_web_search
web = make_web_search(n_queries=20, random_state=0)
words = frozenset({"a", "b", "c", "d"})
scores = (enclosing(1), beside(words, 1), beside({words: 1}, 1))
objectives = [trees(web), weights(web), *(scoring(web, score) for score in scores)]
for objective in objectives:
    print(objective._identity)
"""


def test_processes_agree():
    root = Path(__file__).parents[2]
    outputs = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        run = subprocess.run(
            [sys.executable, "-c", SESSION],
            env=environment,
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1


# -- precision of scores


def precision(web, **options):
    scores = web.data[:, 5]
    return ours.ScorePrecisionObjective(web.target, scores, qid=web.qid, **options)


def test_precision_does_not_depend_on_the_order_of_rows(web):
    study = optimized(precision(web), 1)
    rows = np.random.default_rng(0).permutation(len(web.qid))
    permuted = ours.ScorePrecisionObjective(
        web.target[rows], web.data[rows, 5], qid=web.qid[rows]
    )
    study.optimize(permuted, n_trials=1)


def test_precisions_of_other_scores_are_refused(web):
    study = optimized(precision(web), 1)
    doubled = ours.ScorePrecisionObjective(web.target, 2 * web.data[:, 5], qid=web.qid)
    assert_refused(study, doubled, "labels and scores")


PRECISIONS = [
    ({"scale": "all"}, "existing_ties and scale"),
    ({"existing_ties": "order"}, "labels and scores, existing_ties and scale"),
    ({"kinds": ["bits"]}, "kinds and max_rho"),
    ({"max_rho": 5.0}, "kinds and max_rho"),
]


@pytest.mark.parametrize(("options", "names"), PRECISIONS)
def test_precisions_of_another_scale_are_refused(web, options, names):
    study = optimized(precision(web), 1)
    assert_refused(study, precision(web, **options), names)


# -- bounds of coefficients


COEF_BOUNDS = [
    ((0, 1), [0, 0], [1, 1]),
    ([(-2, -1), (3, 4)], [-2, 3], [-1, 4]),
    ({"clicks": (0, 0.5)}, [0, -1], [0.5, 1]),
]


@pytest.mark.parametrize("transforms", [None, "log1p", ["identity", "rank"]])
@pytest.mark.parametrize(("coef_bounds", "low", "high"), COEF_BOUNDS)
def test_bounds_of_coefficients_hold_for_coef(web, transforms, coef_bounds, low, high):
    objective = weights(
        web,
        coef_bounds=coef_bounds,
        feature_names=["clicks", "text"],
        transforms=transforms,
    )
    study = optimized(objective, 12)
    coefs = [objective.to_estimator(study).coef_]
    for trial in study.trials:
        coefs.append(list(trial.user_attrs["coef"].values()))
    assert len(coefs) == 13
    assert np.all(np.array(coefs) >= low)
    assert np.all(np.array(coefs) <= high)


@pytest.mark.parametrize("coef_bounds", [(0, 2), (-1, 0), (1, 2)])
def test_a_constant_feature_has_a_weight_within_its_bounds(web, coef_bounds):
    X = np.column_stack([web.data[:, 1], np.ones(len(web.target))])
    objective = ours.LinearScoringObjective(
        X, web.target, qid=web.qid, coef_bounds=coef_bounds
    )
    study = optimized(objective, 6)
    low, high = coef_bounds
    for trial in study.trials:
        assert all(
            low <= weight <= high for weight in trial.user_attrs["coef"].values()
        )


WRONG_BOUNDS = [
    ({"bounds": (0, 1)}, r"bounds must be left out if coef_bounds.*\(0, 1\)"),
    ({"transforms": "tune"}, r"coef_bounds must be left out .*got \(0, 2\)"),
    ({"coef_bounds": (1, 0)}, r"coef_bounds must be a pair of finite .*got \(1, 0\)"),
    ({"coef_bounds": {"z": (0, 1)}}, "coef_bounds must name features .*got 'z'"),
]


@pytest.mark.parametrize(("options", "message"), WRONG_BOUNDS)
def test_wrong_bounds_of_coefficients(web, options, message):
    options = {"coef_bounds": (0, 2), **options}
    with pytest.raises(ValueError, match=message):
        weights(web, **options)
