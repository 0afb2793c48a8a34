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
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from tests.optuna import helpers
from tests.optuna.helpers import optimized, scoring
from tieaware_sklearn import QueryKFold, measures
from tieaware_sklearn import optuna as ours


def enclosing(feature, times=1.0):
    def score(trial, X, power=1):
        return times * X[:, feature] ** power + trial.suggest_float("boost", 0, 5)

    return score


def trees(web, X=None, model=None, space=None, **options):
    space = {"max_depth": IntDistribution(1, 6)} if space is None else space
    model = DecisionTreeRegressor(random_state=0) if model is None else model
    X = web.data[:, [0, 1]] if X is None else X
    options = {"cv": QueryKFold(3), **options}
    return ours.RankerObjective(model, space, X, web.target, qid=web.qid, **options)


def weights(web, X=None, **options):
    X = web.data[:, [1, 5]] if X is None else X
    return ours.LinearScoringObjective(X, web.target, qid=web.qid, **options)


def one_other_cell(web):
    X = web.data[:, [0, 1]].copy()
    X[7, 1] += 1
    return X


def named(web, *names):
    return pd.DataFrame(web.data[:, [0, 1]], columns=names)


CHANGES = {
    "features": (trees, lambda web: {"X": web.data[:, [2]]}, "features"),
    "a cell": (trees, lambda web: {"X": one_other_cell(web)}, "features"),
    "names": (trees, lambda web: {"X": named(web, "a", "b")}, "features"),
    "class": (trees, lambda web: {"model": ExtraTreeRegressor(random_state=0)},
              "estimator"),
    "parameter": (trees, lambda web: {"model": DecisionTreeRegressor(
        random_state=0, min_samples_leaf=5)}, "estimator"),
    "folds": (trees, lambda web: {"cv": QueryKFold(4)}, "folds"),
    "space": (trees, lambda web: {"space": {"max_depth": IntDistribution(1, 9)}},
              "space"),
    "space of a function": (trees, lambda web: {"space": lambda trial: {}}, "space"),
    "fit": (trees, lambda web: {"fit_params": {"check_input": True}}, "fit_params"),
    "order": (trees, lambda web: {"row_order": "input"}, "row_order"),
    "bounds": (weights, lambda web: {"bounds": (0, 1)}, "bounds"),
    "transforms": (weights, lambda web: {"transforms": "log1p"}, "transforms"),
    "columns": (weights, lambda web: {"feature_names": ["a", "b"]}, "feature_names"),
    "function": (scoring, lambda web: {"score": helpers.twelve_weights}, "score"),
    "measure": (scoring, lambda web: {"measure": "rr"}, "measure"),
}  # fmt: skip


def storages(kind, folder):
    return None if kind == "memory" else f"sqlite:///{folder / 'studies.db'}"


@pytest.mark.parametrize(
    ("what", "kind"),
    [*((what, "memory") for what in CHANGES), ("features", "sqlite"),
     ("function", "sqlite")],
)  # fmt: skip
def test_trials_of_something_else_are_refused(web, what, kind, tmp_path):
    make, change, name = CHANGES[what]
    options = {"storage": storages(kind, tmp_path), "study_name": "one"}
    study = optimized(make(web), 2, **options)
    other = make(web, **change(web))
    match = f"got trials of NDCG@10 that differ in .*{name}"
    with pytest.raises(ValueError, match=match):
        study.optimize(other, n_trials=1)
    if kind == "sqlite":
        with pytest.raises(ValueError, match=match):
            other.create_study(0, load_if_exists=True, **options)
    # the same objective goes on, with other options of sessions
    study.optimize(make(web), n_trials=1)
    values = [trial.value for trial in study.trials if trial.value is not None]
    assert len(values) == 3


def decorated(score):
    @wraps(score)
    def timed(trial, X):
        return score(trial, X)

    return timed


def beside(companion, feature):
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


OTHER_FUNCTIONS = {
    "closure": (lambda: enclosing(1), lambda: enclosing(2)),
    "number": (lambda: enclosing(1), lambda: enclosing(1, times=2.0)),
    "partial": (lambda: partial(helpers.boosted),
                lambda: partial(helpers.twelve_weights)),
    "partial of a closure": (lambda: partial(enclosing(1)),
                             lambda: partial(enclosing(2))),
    "decorated closure": (lambda: decorated(enclosing(1)),
                          lambda: decorated(enclosing(2))),
    "closure with a module": (lambda: beside(np, 1), lambda: beside(np, 2)),
    "closure with a lock": (lambda: beside(threading.Lock(), 1),
                            lambda: beside(threading.Lock(), 2)),
    "closure with a mapping": (lambda: beside({"memory": 1}, 1),
                               lambda: beside({"memory": 2}, 1)),
    "recursion": (lambda: calling_itself(1), lambda: calling_itself(2)),
    "method": (lambda: Column(1).plain, lambda: Column(1).negative),
    "object of a method": (lambda: Column(1).plain, lambda: Column(2).plain),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_FUNCTIONS)
def test_functions_are_told_apart_by_name_and_closure(web, name):
    first, other = OTHER_FUNCTIONS[name]
    study = optimized(scoring(web, first()), 1)
    with pytest.raises(ValueError, match="that differ in score"):
        study.optimize(scoring(web, other()), n_trials=1)
    study.optimize(scoring(web, first()), n_trials=1)
    assert len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))) == 2


def test_an_empty_cell_of_a_closure_is_left_out(web):
    def optional(is_used):
        if is_used:
            factor = 2.0

        def score(trial, X):
            return X[:, 0] * (factor if is_used else 1)

        return score

    study = optimized(scoring(web, optional(False)), 1)
    study.optimize(scoring(web, optional(False)), n_trials=1)
    with pytest.raises(ValueError, match="that differ in score"):
        study.optimize(scoring(web, optional(True)), n_trials=1)


def test_gains_of_one_name_are_told_apart(web):
    def power(exponent):
        def gain(label):
            return label**exponent

        return measures.NDCG(10, gain=gain)

    study = optimized(scoring(web, measure=power(2)), 1)
    study.optimize(scoring(web, measure=power(2)), n_trials=1)
    with pytest.raises(ValueError, match="that differ in parameters of measures"):
        study.optimize(scoring(web, measure=power(3)), n_trials=1)


def pipeline(*steps):
    return {
        "model": make_pipeline(*steps, DecisionTreeRegressor(random_state=0)),
        "space": {"decisiontreeregressor__max_depth": IntDistribution(1, 6)},
    }


SAME_MODELS = {
    "fitted": lambda web: (
        pipeline(StandardScaler()), pipeline(StandardScaler().fit(web.data))
    ),
    "tuned": lambda web: (
        {"model": DecisionTreeRegressor(random_state=0)},
        {"model": DecisionTreeRegressor(random_state=0, max_depth=3)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME_MODELS)
def test_estimators_are_those_that_trials_fit(web, name):
    first, again = SAME_MODELS[name](web)
    study = optimized(trees(web, **first), 1)
    study.optimize(trees(web, **again), n_trials=1)
    assert len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE,))) == 2


def test_the_order_of_steps_is_of_the_estimator(web):
    steps = [FunctionTransformer(lambda X: X), StandardScaler()]
    study = optimized(trees(web, **pipeline(*steps)), 1)
    with pytest.raises(ValueError, match="that differ in estimator"):
        study.optimize(trees(web, **pipeline(*steps[::-1])), n_trials=1)


def test_cells_may_be_lists(web):
    def texts(words):
        frame = pd.DataFrame({"clicks": web.data[:, 1]})
        return frame.assign(words=[words] * len(frame))

    def score(trial, X):
        return X["clicks"]

    def objective(words):
        return ours.ScoringObjective(score, texts(words), web.target, qid=web.qid)

    study = optimized(objective(["a", "b"]), 1)
    study.optimize(objective(["a", "b"]), n_trials=1)
    with pytest.raises(ValueError, match="that differ in features"):
        study.optimize(objective(["a", "c"]), n_trials=1)


def test_bounds_in_any_form_are_the_same(web):
    study = optimized(weights(web, bounds=(0, 1)), 1)
    for bounds in ([(0, 1), (0, 1)], {"x0": (0, 1), "x1": (0.0, 1.0)}):
        study.optimize(weights(web, bounds=bounds), n_trials=1)
    assert len(study.trials) == 3


def test_a_function_that_cannot_be_pickled_has_its_name(web):
    enclosed = (number for number in range(3))

    def score(trial, X):
        return X[:, 0] + next(enclosed, 0)

    study = optimized(scoring(web, score), 1)
    study.optimize(scoring(web, score), n_trials=1)
    with pytest.raises(ValueError, match="that differ in score"):
        study.optimize(scoring(web), n_trials=1)


def test_lambdas_of_one_name_are_told_apart(web):
    first, second = (lambda trial, X: X[:, 0]), (lambda trial, X: X[:, 1])
    assert first.__qualname__ == second.__qualname__
    study = optimized(scoring(web, first), 1)
    with pytest.raises(ValueError, match="that differ in score"):
        study.optimize(scoring(web, second), n_trials=1)
    study.optimize(scoring(web, first), n_trials=1)


def test_threads_and_messages_decide_no_value(web):
    def bagged(**options):
        regressor = RandomForestRegressor(3, random_state=0, **options)
        model = make_pipeline(StandardScaler(), regressor)
        space = {"randomforestregressor__max_depth": IntDistribution(1, 3)}
        return trees(web, model=model, space=space)

    study = optimized(bagged(), 1)
    study.optimize(bagged(n_jobs=2, verbose=0), n_trials=1)
    with pytest.raises(ValueError, match="that differ in estimator"):
        study.optimize(bagged(min_samples_leaf=9), n_trials=1)


def test_what_decides_no_value_does_not_matter(web):
    study = optimized(scoring(web), 1)
    for options in ({"random_state": 3}, {"report_every": 4}, {"block_size": 7}):
        study.optimize(scoring(web, **options), n_trials=1)
    rows = np.random.default_rng(0).permutation(len(web.qid))
    same = ours.ScoringObjective(
        helpers.boosted, web.data[rows], web.target[rows], qid=web.qid[rows]
    )
    study.optimize(same, n_trials=1)
    assert len(study.trials) == 5


def test_finished_trials_without_a_mark_are_refused(web):
    study = optuna.create_study(direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("boost", 0, 5), n_trials=2)
    with pytest.raises(ValueError, match=r"\(NDCG@10\), got 2 finished trials of an"):
        study.optimize(scoring(web), n_trials=1)
    # the mark of version 1.1
    study.set_user_attr("trials", "NDCG@10, data 0123")
    with pytest.raises(ValueError, match="2 finished trials of an unknown objective"):
        study.optimize(scoring(web), n_trials=1)
    fresh = optuna.create_study(direction="maximize")
    fresh.enqueue_trial({"boost": 2.0})
    fresh.optimize(scoring(web), n_trials=1)
    assert fresh.best_params == {"boost": 2.0}


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
    said = set()
    for seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        run = subprocess.run(
            [sys.executable, "-c", SESSION],
            env=environment,
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(run.stdout)
    assert len(said) == 1


def test_precisions_are_of_one_scale(web):
    def searching(scores=web.data[:, 5], **options):
        given = {"qid": web.qid, **options}
        return ours.ScorePrecisionObjective(web.target, scores, **given)

    study = optimized(searching(), 1)
    rows = np.random.default_rng(0).permutation(len(web.qid))
    permuted = ours.ScorePrecisionObjective(
        web.target[rows], web.data[rows, 5], qid=web.qid[rows]
    )
    study.optimize(permuted, n_trials=1)
    for options, name in (
        ({"scale": "all"}, "scale"),
        ({"existing_ties": "order"}, "existing_ties"),
        ({"kinds": ["bits"]}, "kinds"),
        ({"max_rho": 5.0}, "max_rho"),
        ({"scores": 2 * web.data[:, 5]}, "scores"),
    ):
        with pytest.raises(ValueError, match=f"NDCG@10 that differ in .*{name}"):
            study.optimize(searching(**options), n_trials=1)


# -- bounds of coefficients


@pytest.mark.parametrize("transforms", [None, "log1p", ["identity", "rank"]])
@pytest.mark.parametrize(
    ("given", "low", "high"),
    [((0, 1), [0, 0], [1, 1]), ([(-2, -1), (3, 4)], [-2, 3], [-1, 4]),
     ({"clicks": (0, 0.5)}, [0, -1], [0.5, 1])],
)  # fmt: skip
def test_bounds_of_coefficients_hold_for_coef(web, transforms, given, low, high):
    options = {"feature_names": ["clicks", "text"], "transforms": transforms}
    objective = weights(web, coef_bounds=given, **options)
    study = optimized(objective, 12)
    for trial in study.trials:
        coef = np.array(list(trial.user_attrs["coef"].values()))
        assert ((coef >= low) & (coef <= high)).all()
    coef = objective.to_estimator(study).coef_
    assert ((coef >= low) & (coef <= high)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (0, 1)}, r"bounds must be left out with coef_bounds.*\(0, 1\)"),
        ({"transforms": "tune"}, r"coef_bounds must be left out .*got \(0, 2\)"),
        ({"coef_bounds": (1, 0)}, r"coef_bounds must be two finite .*got \(1, 0\)"),
        ({"coef_bounds": {"z": (0, 1)}}, "coef_bounds must name features .*got 'z'"),
    ],
)
def test_bad_bounds_of_coefficients(web, options, message):
    with pytest.raises(ValueError, match=message):
        weights(web, **{"coef_bounds": (0, 2)} | options)
