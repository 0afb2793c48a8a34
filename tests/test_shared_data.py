"""Real learning-to-rank files, where they are at hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd
from optuna.distributions import IntDistribution
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from tieaware_sklearn import (
    QueryKFold,
    QueryShuffleSplit,
    RankingFeatureSelector,
    evaluate,
    make_ranking_scorer,
    precision_study,
    query_permutation_importance,
    train_test_split_queries,
)
from tieaware_sklearn.catboost import QueryCatBoostRanker
from tieaware_sklearn.cli import main
from tieaware_sklearn.dask import fit_selector
from tieaware_sklearn.datasets import dump_letor, load_letor, load_trec
from tieaware_sklearn.lightgbm import QueryLGBMRanker
from tieaware_sklearn.optuna import RankerObjective
from tieaware_sklearn.score_precision import worst_case_loss
from tieaware_sklearn.xgboost import QueryXGBRanker

FILES = {
    "mslr": ("mslr/msn1.fold1.train.5k.txt.gz", (5000, 136), 43),
    "lambdarank train": ("lightgbm_lambdarank/rank.train", (3005, 300), 201),
    "lambdarank test": ("lightgbm_lambdarank/rank.test", (768, 300), 50),
    "mq2008": ("mq2008/S*.txt", (9630, 46), 471),
    "ohsumed": ("ohsumed/*.txt", (9029, 25), 64),
}


def test_of_features_given_three_ways_distinct_ones_are_chosen(
    shared_data, tmp_path, capsys
):
    data = load_letor(shared_data / FILES["mslr"][0])
    X = np.hstack([data.data, 2 * data.data + 1, -data.data])
    y, qid = data.target, data.qid
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    parts = [qid % 2 == 0, qid % 2 == 1]
    for path, rows in zip(files, parts, strict=True):
        dump_letor(X[rows], y[rows], path, qid=qid[rows])
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(label=y, qid=qid)
    spread = dd.from_pandas(frame, npartitions=3)
    selector = RankingFeatureSelector("ndcg@10", n_features_to_select=20)
    order = clone(selector).fit(X, y, qid=qid).selection_order_
    assert len(set(order % data.data.shape[1])) == 20
    added, fits = clone(selector), []
    for rows in parts:
        added.partial_fit(X[rows], y[rows], qid[rows])
        fits.append(clone(selector).fit(X[rows], y[rows], qid[rows]))
    for other in (added, fits[0].merge(fits[1]), fit_selector(selector, spread)):
        assert other.selection_order_.tolist() == order.tolist()
    words = ["screen", *map(str, files), "--measures", "ndcg@10", "--json", "--quiet"]
    for batches in ([], ["--batch-rows", "1000"]):
        assert main([*words, "--select", "20", *batches]) == 0
        selected = json.loads(capsys.readouterr().out)["selected"]
        assert selected == [str(j + 1) for j in order]


@pytest.mark.parametrize("name", FILES)
def test_loads_and_screens(shared_data, name):
    pattern, shape, n_queries = FILES[name]
    data = load_letor(sorted(shared_data.glob(pattern)))
    if name == "lambdarank test":
        assert data.data.shape[0] == shape[0]
    else:
        assert data.data.shape == shape
    assert len(np.unique(data.qid)) == n_queries
    selector = RankingFeatureSelector().fit(data.data, data.target, qid=data.qid)
    assert selector.n_queries_ == n_queries
    assert np.isfinite(selector.mean_).all()
    assert (selector.worst_ <= selector.mean_).all()
    assert (selector.mean_ <= selector.best_).all()
    assert 0 < selector.support_.sum() <= data.data.shape[1]
    constant = np.ptp(data.data, axis=0) == 0
    assert not selector.support_[constant].any()
    best = int(np.argmin(selector.ranking_))
    sign = 1 if selector.directions_[best] == "descending" else -1
    report = evaluate(data.target, sign * data.data[:, best], qid=data.qid)
    assert np.array_equal(report.summary().mean, selector.mean_[best])


@pytest.mark.parametrize("run", ["MU03rob01", "humR03dc", "InexpC2"])
def test_bands_of_runs_lose_no_more_than_the_bound(shared_data, run):
    folder = shared_data / "robust03"
    trec = load_trec(folder / "qrels.robust03.txt.gz", folder / f"input.{run}.gz")
    study = precision_study(
        trec.target,
        trec.score,
        qid=trec.qid,
        measure="rbp(p=0.5)",
        coarseness="rho=1.1",
        unjudged="nonrelevant",
        existing_ties="order",
    )
    assert 0 < study.changes().max() <= worst_case_loss("rbp(p=0.5)", 1.1) < 0.0002


@pytest.mark.parametrize("within", [False, True])
def test_splits_and_importances_do_not_go_by_the_order_of_rows(shared_data, within):
    pattern, *_ = FILES["mslr"]
    data = load_letor(sorted(shared_data.glob(pattern)))
    order = np.random.default_rng(0).permutation(len(data.target))
    found = []
    for rows in (np.arange(len(order)), order):
        X, y, qid = data.data[rows], data.target[rows], data.qid[rows]
        cuts = [
            [sorted(set(qid[test])) for _, test in cv.split(X, y, qid)]
            for cv in (
                QueryKFold(4, stratify="n_relevant"),
                QueryShuffleSplit(3, random_state=0),
            )
        ]
        _, X_test, _, y_test, _, test = train_test_split_queries(
            X, y, qid=qid, stratify=y, random_state=0
        )
        model = DecisionTreeRegressor(max_depth=6, random_state=0)
        model.fit(data.data, data.target)
        options = {"columns": [106, 124, 133], "within_queries": within}
        importance = query_permutation_importance(
            model, X_test, y_test, qid=test, **options
        )
        found.append((cuts, importance.importances, importance.interval))
    assert found[0][0] == found[1][0]
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_array_equal(one, other)


BOOSTERS = {
    "lightgbm": (
        QueryLGBMRanker(verbosity=-1, n_jobs=1),
        {"num_leaves": [4, 16]},
        "n_estimators",
    ),
    "xgboost": (QueryXGBRanker(n_jobs=1), {"max_depth": [2, 4]}, "n_estimators"),
    "catboost": (
        QueryCatBoostRanker(verbose=False, allow_writing_files=False, thread_count=1),
        {"depth": [2, 4]},
        "iterations",
    ),
}


@pytest.mark.parametrize("library", BOOSTERS)
def test_searches_stops_and_studies_do_not_go_by_the_order_of_rows(
    shared_data, library
):
    ranker, grid, trees = BOOSTERS[library]
    data = load_letor(sorted(shared_data.glob(FILES["mslr"][0])))

    def found(rows):
        X, y, qid = data.data[rows], data.target[rows], data.qid[rows]
        model = clone(ranker).set_params(**{trees: 5})
        with config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                model,
                grid,
                cv=QueryKFold(3),
                scoring=make_ranking_scorer(["ndcg@10", "ap"]),
                refit="ap",
                error_score="raise",
            ).fit(X, y, qid=qid)
        (parameter, values), *_ = grid.items()
        objective = RankerObjective(
            model, {parameter: IntDistribution(*values)}, X, y, qid=qid, cv=2
        )
        study = objective.create_study(0)
        study.optimize(objective, n_trials=2)
        X, X_valid, y, y_valid, qid, qid_valid = train_test_split_queries(
            X, y, qid=qid, random_state=0
        )
        stopped = model.set_params(**{trees: 60, "early_stopping_rounds": 3}).fit(
            X, y, qid=qid, eval_X=X_valid, eval_y=y_valid, eval_qid=qid_valid
        )
        scores = [of for key, of in search.cv_results_.items() if key[:5] == "split"]
        return (
            np.array(scores).tolist(),
            search.predict(data.data).tolist(),
            [trial.value for trial in study.trials],
            stopped.evals_result_,
            stopped.predict(data.data).tolist(),
        )

    as_given = np.arange(len(data.target))
    assert found(np.random.default_rng(0).permutation(as_given)) == found(as_given)
