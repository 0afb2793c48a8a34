"""Parameters that give the order of rows a meaning, against the libraries."""

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from optuna.distributions import IntDistribution
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.boosters.helpers import sizes_of
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.lightgbm import QueryLGBMRanker, eval_metric
from tieaware_sklearn.optuna import RankerObjective
from tieaware_sklearn.xgboost import QueryXGBRanker

LGBM = {"n_estimators": 5, "verbosity": -1, "n_jobs": 1}
XGB = {"n_estimators": 5, "lambdarank_unbiased": True, "n_jobs": 1}
CAT = {"iterations": 5, "verbose": False, "allow_writing_files": False}


def gradients(y_true, y_pred):
    return y_pred - y_true, np.ones(len(y_true))


def last_label(y_true, y_pred):
    return "last label", float(y_true[-1]), True


class Squared:
    def calc_ders_range(self, approxes, targets, weights):
        return [(t - a, -1.0) for a, t in zip(approxes, targets, strict=True)]


class SquaredOfMany:
    def calc_ders_multi(self, approxes, target, weight):
        return [target - approx for approx in approxes], [-1.0 for _ in approxes]


def shown_at(web):
    return np.concatenate([np.arange(size) for size in sizes_of(web)])


CASES = [
    (QueryXGBRanker, XGB, {}, "lambdarank_unbiased"),
    (QueryXGBRanker, {**XGB, "objective": "rank:pairwise"}, {}, "lambdarank_unbiased"),
    (QueryXGBRanker, {**XGB, "lambdarank_unbiased": "1"}, {}, "lambdarank_unbiased"),
    (QueryCatBoostRanker, {**CAT, "has_time": True}, {}, "has_time"),
    (QueryCatBoostRanker, {**CAT, "loss_function": Squared()}, {}, "loss_function"),
    (QueryCatBoostRanker, {**CAT, "objective": SquaredOfMany()}, {}, "objective"),
    (QueryLGBMRanker, {**LGBM, "objective": gradients}, {}, "objective"),
    (QueryLGBMRanker, {**LGBM, "loss": gradients}, {}, "loss"),
    (QueryLGBMRanker, {**LGBM, "eval_metric": last_label}, {}, "eval_metric"),
    (QueryLGBMRanker, LGBM, {"eval_metric": ["ap", last_label]}, "eval_metric"),
    (
        QueryLGBMRanker,
        LGBM,
        {"eval_metric": [eval_metric("ap"), last_label]},
        "eval_metric",
    ),
    (QueryLGBMRanker, LGBM, {"position": [0, 1, 0]}, "position"),
]


@pytest.mark.parametrize(("ranker", "options", "fit_options", "name"), CASES)
def test_canonical_order_is_refused(web, ranker, options, fit_options, name):
    message = f'row_order must be "input" with {name}, .*got row_order=.canonical'
    model = ranker(**options)
    with pytest.raises(ValueError, match=f"{message}.*{name}="):
        model.fit(web.data, web.target, qid=web.qid, **fit_options)


@pytest.mark.parametrize("value", [False, None, 0, "0"])
def test_a_switch_that_is_off_keeps_the_canonical_order(web, value):
    ranker = QueryXGBRanker(**{**XGB, "lambdarank_unbiased": value})
    ranker.fit(web.data, web.target, qid=web.qid)


def test_exact_metrics_keep_the_canonical_order(web):
    ranker = QueryLGBMRanker(**LGBM)
    ranker.fit(web.data, web.target, qid=web.qid, eval_metric=eval_metric("ap"))


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:pairwise"])
def test_unbiased_trees_are_those_of_xgboost(web, objective):
    options = {**XGB, "objective": objective}
    reference = xgboost.XGBRanker(**options)
    reference.fit(web.data, web.target, qid=web.qid)
    expected = reference.predict(web.data)
    ranker = QueryXGBRanker(**options, row_order="input")
    ranker.fit(web.data, web.target, qid=web.qid)
    assert np.array_equal(ranker.predict(web.data), expected)
    ranker.set_params(lambdarank_unbiased=False)
    ranker.fit(web.data, web.target, qid=web.qid)
    assert not np.array_equal(ranker.predict(web.data), expected)


def test_trees_in_time_order_are_those_of_catboost(web):
    options = {**CAT, "has_time": True}
    reference = catboost.CatBoostRanker(**options)
    reference.fit(web.data, web.target, group_id=web.qid)
    ranker = QueryCatBoostRanker(**options, row_order="input")
    ranker.fit(web.data, web.target, qid=web.qid)
    assert np.array_equal(ranker.predict(web.data), reference.predict(web.data))


def lightgbm_scores(web, rows, sizes, position):
    """Return the scores of LightGBM with these rows and positions in its dataset."""
    X = web.data[rows]
    y = web.target[rows]
    data = lightgbm.Dataset(X, y, group=sizes, position=position[rows])
    options = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    return lightgbm.train(options, data, 5).predict(web.data)


def test_positions_are_those_of_a_dataset(web):
    position = shown_at(web)
    rows = np.arange(len(position))
    expected = lightgbm_scores(web, rows, sizes_of(web), position)
    ranker = QueryLGBMRanker(**LGBM, row_order="input")
    ranker.fit(web.data, web.target, qid=web.qid, position=position)
    assert np.array_equal(ranker.predict(web.data), expected)


def test_positions_of_queries_whose_rows_stand_apart(web):
    """The rows of each query keep their order."""
    position = shown_at(web)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(position))
    X = web.data[order]
    y = web.target[order]
    qid = web.qid[order]
    by_query = [order[qid == query] for query in dict.fromkeys(qid)]
    sizes = [len(rows) for rows in by_query]
    expected = lightgbm_scores(web, np.concatenate(by_query), sizes, position)
    ranker = QueryLGBMRanker(**LGBM, row_order="input")
    ranker.fit(X, y, qid=qid, position=position[order])
    assert np.array_equal(ranker.predict(web.data), expected)
    ranker.fit(X, y, qid=qid)
    assert not np.array_equal(ranker.predict(web.data), expected)


BAD_POSITIONS = [
    ({}, [0, 1], "position"),
    ({}, [0, 0.5, 1], "position must be integers >= 0.*0.5"),
    ({}, [0, -1, 1], "position must be integers >= 0.*-1"),
    ({"objective": "rank_xendcg"}, [0, 1, 2], 'objective="lambdarank".*rank_xendcg'),
]


@pytest.mark.parametrize(("options", "position", "message"), BAD_POSITIONS)
def test_positions_that_are_refused(options, position, message):
    ranker = QueryLGBMRanker(**LGBM, **options, row_order="input")
    with pytest.raises(ValueError, match=message):
        ranker.fit(np.eye(3), [0, 1, 0], qid=[1, 1, 1], position=position)


def objective_of(estimator, web, **options):
    name = "queryxgbranker__max_depth" if hasattr(estimator, "steps") else "max_depth"
    space = {name: IntDistribution(2, 2)}
    options |= {"qid": web.qid, "cv": 2}
    return RankerObjective(estimator, space, web.data, web.target, **options)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_study_refuses_the_canonical_order(web, wrapped):
    ranker = QueryXGBRanker(**XGB, row_order="input")
    if wrapped:
        ranker = make_pipeline(StandardScaler(), ranker)
    objective = objective_of(ranker, web)
    study = objective.create_study(seed=0)
    with pytest.raises(ValueError, match='row_order must be "input" with lambdarank_u'):
        study.optimize(objective, n_trials=1)
    objective = objective_of(ranker, web, row_order="input")
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=1)
    assert study.best_value > 0


@pytest.mark.parametrize("ranker", [QueryXGBRanker, xgboost.XGBRanker])
def test_a_study_keeps_rows_as_given(web, ranker):
    estimator = ranker(**XGB)
    qid = web.qid
    if ranker is QueryXGBRanker:
        estimator.set_params(row_order="input")
        # our ranker takes queries in falling order of their ids, too
        qid = -qid
    space = {"max_depth": IntDistribution(2, 2)}
    options = {"qid": qid, "cv": 2, "row_order": "input"}
    objective = RankerObjective(estimator, space, web.data, web.target, **options)
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=1)
    best = objective.best_estimator(study)
    reference = xgboost.XGBRanker(**XGB, max_depth=2)
    reference.fit(web.data, web.target, qid=web.qid)
    assert np.array_equal(best.predict(web.data), reference.predict(web.data))


def test_a_study_leaves_estimators_of_libraries_alone(web):
    objective = objective_of(xgboost.XGBRanker(**XGB), web)
    study = objective.create_study(seed=0)
    study.optimize(objective, n_trials=1)


def test_an_unknown_row_order_of_a_study_is_refused(web):
    with pytest.raises(ValueError, match=r"row_order must be one of.*'sorted'"):
        objective_of(QueryXGBRanker(), web, row_order="sorted")


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_a_study_names_the_ranker_for_catboost(web, wrap):
    with pytest.raises(ValueError, match=r"CatBoostRanker: use.*QueryCatBoostRanker"):
        objective_of(wrap(catboost.CatBoostRanker()), web)
