"""Hyperparameters of rankers by cross-validation."""

from __future__ import annotations

from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tieaware_sklearn import QueryKFold, RankingFeatureSelector, ranking_score
from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._engine.digests import by_content
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.optuna import RankerObjective
from tieaware_sklearn.score_precision import CoarseRanker


def test_the_column_is_for_estimators_alone(web):
    frame = pd.DataFrame(web.data).assign(qid=web.qid)
    space = {"num_leaves": IntDistribution(2, 4)}
    for options in (
        {"estimator": QueryLGBMRanker(qid="qid")},
        {"estimator": QueryLGBMRanker(), "cv": QueryKFold(3, qid="qid")},
    ):
        with pytest.raises(ValueError, match="given to the objective alone, got Query"):
            RankerObjective(space=space, X=frame, y=web.target, qid=web.qid, **options)


def test_xgboost_with_texts_as_ids(web):
    XGBRanker = pytest.importorskip("xgboost").XGBRanker
    ids = np.array([f"q{q:03}" for q in web.qid])
    values = []
    for qid in (web.qid, ids):
        objective = RankerObjective(
            XGBRanker(n_estimators=2, n_jobs=1),
            {"max_depth": IntDistribution(1, 3)},
            web.data,
            web.target,
            qid=qid,
        )
        values.append(objective(optuna.trial.FixedTrial({"max_depth": 2})))
    assert values[0] == values[1]


@pytest.mark.parametrize("prune", [False, True])
def test_cross_validated_value_by_hand(web, prune):
    cv = QueryKFold(4)
    objective = RankerObjective(
        QueryLGBMRanker(n_estimators=3, verbosity=-1, n_jobs=1),
        {
            "num_leaves": IntDistribution(2, 12),
            "learning_rate": FloatDistribution(0.01, 1, log=True),
            "reg_alpha": FloatDistribution(0, 1, step=0.5),
            "objective": CategoricalDistribution(["lambdarank", "rank_xendcg"]),
        },
        web.data,
        web.target,
        qid=web.qid,
        cv=cv,
        measure="ap",
    )
    study = objective.create_study(0, prune=prune)
    study.optimize(objective, n_trials=4)
    first = study.trials[0]
    queries = check_qid(web.qid, n_rows=len(web.qid))
    rows = by_content(web.data, queries, web.target).order
    X, y, qid = web.data[rows], web.target[rows], web.qid[rows]
    values = []
    for train, test in cv.split(X, groups=qid):
        model = clone(objective.estimator).set_params(**first.params)
        model.fit(X[train], y[train], qid=qid[train])
        values += ranking_score(
            y[test], model.predict(X[test]), qid=qid[test], measure="ap", average=None
        ).tolist()
    assert first.value == pytest.approx(np.mean(values), abs=1e-12)
    assert len(first.intermediate_values) == (60 if prune else 0)
    best = objective.best_estimator(study)
    assert {k: best.get_params()[k] for k in study.best_params} == study.best_params
    assert len(best._fitted_queries_.ids) == 60


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_rankers_of_all_kinds(web, make):
    X = make(web.data.astype(float))
    tree = DecisionTreeRegressor(random_state=0)
    cases = [(tree, "max_depth")]
    if make is np.asarray:
        cases += [
            (Pipeline([("s", StandardScaler()), ("t", tree)]), "t__max_depth"),
            (
                Pipeline(
                    [("s", RankingFeatureSelector(n_features_to_select=3)), ("t", tree)]
                ),
                "t__max_depth",
            ),
            (
                Pipeline(
                    [
                        ("s", StandardScaler()),
                        ("r", QueryLGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1)),
                    ]
                ),
                "r__max_depth",
            ),
            (
                Pipeline(
                    [
                        (
                            "s",
                            ColumnTransformer(
                                [
                                    (
                                        "f",
                                        RankingFeatureSelector(n_features_to_select=3),
                                        list(range(12)),
                                    )
                                ]
                            ),
                        ),
                        ("t", tree),
                    ]
                ),
                "t__max_depth",
            ),
        ]
    for model, name in cases:
        objective = RankerObjective(
            model, {name: IntDistribution(1, 5)}, X, web.target, qid=web.qid
        )
        study = objective.create_study(0)
        study.optimize(objective, n_trials=2)
        assert 0 < study.best_value < 1
        fitted = objective.best_estimator(study)
        assert len(fitted.predict(X)) == len(web.qid)


def test_a_space_that_is_a_function(web):
    def space(trial):
        depth = trial.suggest_int("depth", 1, 4)
        return {"max_depth": depth, "min_samples_leaf": 2 * depth}

    objective = RankerObjective(
        DecisionTreeRegressor(random_state=0), space, web.data, web.target, qid=web.qid
    )
    study = objective.create_study(0)
    study.optimize(objective, n_trials=3)
    best = objective.best_estimator(study)
    assert best.min_samples_leaf == 2 * study.best_params["depth"]


CUT = SimpleNamespace(split=lambda X, y, groups: KFold(3).split(X))


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        ({}, {}, "space must be a dict of Optuna distributions"),
        ({"max_depth": [1, 2]}, {}, r"space\['max_depth'\] must be an Optuna distrib"),
        (
            {"max_depth": IntDistribution(1, 2)},
            {"cv": CUT},
            "cv must keep queries whole",
        ),
        ({"max_depth": IntDistribution(1, 2)}, {"cv": "5"}, "cv must be a number of"),
        (
            {"max_depth": IntDistribution(1, 2)},
            {"fit_params": {"qid": [1]}},
            r"must not hold qid or group.*\['qid'\]",
        ),
    ],
)
def test_bad_ranker_objectives(web, space, options, message):
    with pytest.raises(ValueError, match=message):
        RankerObjective(
            DecisionTreeRegressor(),
            space,
            web.data,
            web.target,
            qid=web.qid,
            **options,
        )


def test_folds_by_position_are_those_of_the_rows_given():
    n = 30
    qid = np.repeat(np.arange(n)[::-1], 10)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    fold = np.repeat(np.where(np.arange(n) < 5, 0, -1), 10)
    objective = RankerObjective(
        DecisionTreeRegressor(random_state=0),
        {"max_depth": IntDistribution(1, 3)},
        X,
        y,
        qid=qid,
        cv=PredefinedSplit(fold),
    )
    value = objective(optuna.trial.FixedTrial({"max_depth": 2}))
    test = fold == 0
    content = np.lexsort((*X.T, qid))  # any order of rows serves a tree
    train = content[~test[content]]
    model = DecisionTreeRegressor(random_state=0, max_depth=2).fit(X[train], y[train])
    assert value == ranking_score(y[test], model.predict(X[test]), qid=qid[test])


def test_texts_classifiers_and_lightgbms_own_ranker(web):
    texts = np.array([f"w{int(c)} w{int(d)}" for c, d in web.data[:, :2]], dtype=object)
    cases = [
        (make_pipeline(CountVectorizer(), Ridge()), "ridge__alpha", texts, {}),
        (
            DecisionTreeClassifier(random_state=0),
            "max_depth",
            web.data,
            {"response_method": "predict_proba"},
        ),
        (
            lgb.LGBMRanker(n_estimators=2, verbosity=-1, n_jobs=1),
            "num_leaves",
            web.data,
            {"fit_params": {"categorical_feature": [3]}},
        ),
    ]
    for model, name, X, options in cases:
        values = []
        for rows in (slice(None), np.random.default_rng(0).permutation(len(texts))):
            objective = RankerObjective(
                model,
                {name: IntDistribution(2, 5)},
                X[rows],
                web.target[rows],
                qid=web.qid[rows],
                **options,
            )
            values.append(objective(optuna.trial.FixedTrial({name: 3})))
        assert values[0] == values[1]
        assert 0 < values[0] < 1


def test_query_ids_reach_what_ranks_by_query(web):
    model = CoarseRanker(LinearRegression())
    space = {"coarseness": CategoricalDistribution(["rho=2"])}
    objective = RankerObjective(model, space, web.data, web.target, qid=web.qid, cv=2)
    study = objective.create_study(0)
    study.optimize(objective, n_trials=1)
    folds = QueryKFold(2).split(web.data, groups=web.qid)
    values = []
    for train, test in folds:
        model = CoarseRanker(LinearRegression(), "rho=2")
        scores = model.fit(web.data[train], web.target[train]).predict(
            web.data[test], qid=web.qid[test]
        )
        values += ranking_score(
            web.target[test], scores, qid=web.qid[test], average=None
        ).tolist()
    assert study.best_value == pytest.approx(np.mean(values), abs=1e-9)
