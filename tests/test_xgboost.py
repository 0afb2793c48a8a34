"""The real XGBoost with exact metrics."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from sklearn.base import clone

from tests.strategies import queries
from tieaware_sklearn import NDCG, ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.xgboost import custom_metric

ROUNDED = pytest.approx  # XGBoost keeps six decimals of custom metrics


@pytest.fixture(scope="module")
def web():
    web = make_web_search(n_queries=40, n_documents=15, random_state=0)
    # queries of one document, which XGBRanker would give 1.0
    single = np.isin(web.qid, [3, 4, 11])
    first = np.r_[True, web.qid[1:] != web.qid[:-1]]
    keep = ~single | first
    return web.data[keep], web.target[keep], web.qid[keep]


def matrix(web, **options):
    X, y, qid = web
    return xgb.DMatrix(X, y, qid=qid, **options)


PARAMS = {"objective": "rank:ndcg", "max_depth": 2, "nthread": 1}


@settings(max_examples=50)
@given(queries(max_queries=6, max_documents=10))
def test_value_is_that_of_ranking_score(rows):
    labels, scores, qid = (np.array(column) for column in rows)
    order = np.argsort(qid, kind="stable")
    data = xgb.DMatrix(np.zeros((len(qid), 1)), labels[order], qid=qid[order])
    metric = custom_metric(["ndcg@3", "fallout@2"])
    for _ in range(2):
        assert metric(scores[order], data) == [
            (
                "precise-NDCG@3",
                ranking_score(labels, scores, qid=qid, measure="ndcg@3"),
            ),
            ("Fallout@2", ranking_score(labels, scores, qid=qid, measure="fallout@2")),
        ]
    assert len(metric._prepared) == 1
    del data
    assert not metric._prepared


def test_train_with_weights(web):
    _, y, qid = web
    per_query = np.arange(1, len(np.unique(qid)) + 1) % 5 + 1.0
    data = matrix(web, weight=per_query)
    history = {}
    booster = xgb.train(
        PARAMS,
        data,
        4,
        evals=[(data, "train")],
        custom_metric=custom_metric(["ap", NDCG(k=5), "fallout@3"]),
        evals_result=history,
        verbose_eval=False,
    )
    weight = np.repeat(per_query, np.unique(qid, return_counts=True)[1])
    for tree in range(4):
        scores = booster.predict(data, iteration_range=(0, tree + 1))
        for name, measure in [
            ("precise-AP", "ap"),
            ("precise-NDCG@5", "ndcg@5"),
            ("Fallout@3", "fallout@3"),
        ]:
            expected = ranking_score(
                y, scores, qid=qid, measure=measure, query_weight=weight
            )
            assert history["train"][name][tree] == ROUNDED(expected, abs=1e-6)


def test_ranker(web):
    X, y, qid = web
    metric = custom_metric("ndcg@10")
    model = xgb.XGBRanker(n_estimators=5, max_depth=2, n_jobs=1, eval_metric=metric)
    model.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    scores = model.predict(X)
    theirs, ours = model.evals_result()["validation_0"].items()
    assert ours[0] == "precise-NDCG@10"
    assert ours[1][-1] == ROUNDED(ranking_score(y, scores, qid=qid), abs=1e-6)
    # XGBoost gives queries without a relevant document 1
    assert theirs[0] == "ndcg@32"
    assert theirs[1][-1] > ranking_score(y, scores, qid=qid, measure="ndcg@32") + 0.01
    again = clone(model).fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    assert again.evals_result() == model.evals_result()


def test_early_stopping_goes_the_right_way(web):
    X, y, qid = web
    valid = make_web_search(n_queries=20, n_documents=15, random_state=1)
    for measure in ("rr", "ndcg@10", "fallout@5"):
        model = xgb.XGBRanker(
            n_estimators=80,
            max_depth=3,
            learning_rate=0.5,
            n_jobs=1,
            early_stopping_rounds=5,
            eval_metric=custom_metric(measure),
        )
        model.fit(
            X, y, qid=qid, eval_set=[(valid.data, valid.target)], eval_qid=[valid.qid]
        )
        (values,) = [
            values
            for name, values in model.evals_result()["validation_0"].items()
            if measure in name.lower()
        ]
        best = min(values) if measure.startswith("fallout") else max(values)
        assert model.best_score == best
        assert model.best_iteration == values.index(best)
        assert len(values) == model.best_iteration + 6 < 80


def test_other_metrics_are_left_to_xgboost(web):
    X, y, qid = web
    seen = []

    def share(y_true, y_pred):
        seen.append(len(y_true))
        return 0.5

    model = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=share)
    model.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
    sizes = np.unique(qid, return_counts=True)[1]
    assert sorted(seen) == sorted(sizes[sizes > 1])
    assert "share" in model.evals_result()["validation_0"]


def test_cv(web):
    found = xgb.cv(
        PARAMS, matrix(web), 3, nfold=3, custom_metric=custom_metric("rr"), seed=0,
        as_pandas=False,
    )  # fmt: skip
    assert len(found["test-precise-RR-mean"]) == 3


def test_labels_in_32_bits(web):
    X, y, qid = web
    y = np.where(y >= 2, 0.7, 0.1)
    data = matrix((X, y, qid))
    scores = np.round(X[:, 0])
    name, value = custom_metric("ap(rel=0.7)")(scores, data)
    assert name == "precise-AP(rel=0.7)"
    assert value == ranking_score(y, scores, qid=qid, measure="ap(rel=0.7)") > 0


def test_copies_and_names(web):
    table = custom_metric("ndcg(gain={0:0,1:1,2:1,3:1,4:2})@5")
    data = matrix(web)
    booster = xgb.train(PARAMS, data, 1)
    text = booster.eval_set([(data, "x")], feval=table)
    (name, value) = xgb.core._parse_eval_str(text)[-1]
    assert name.startswith("x-precise-NDCG(gain={0=0")
    assert 0 < value < 1
    metric = custom_metric(["rr", "p@5"])
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert repr(other) == "custom_metric(RR, P@5)"
        assert other.__name__ == "precise-RR, precise-P@5"


def test_errors(web):
    with pytest.raises(ValueError, match=r"did you mean 'NDCG@10'\?"):
        custom_metric("ndgc@10")
    X, y, _ = web
    with pytest.raises(ValueError, match="must have query groups"):
        custom_metric("rr")(y, xgb.DMatrix(X, y))
    with pytest.raises(TypeError, match="takes predictions and a DMatrix, got ndarray"):
        custom_metric("rr")(y, y)
    with pytest.raises(ValueError, match="predictions must not be NaN"):
        custom_metric("rr")(np.full(len(y), np.nan), matrix(web))


def test_a_missing_xgboost_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost.sklearn", None)
    monkeypatch.delitem(sys.modules, "tieaware_sklearn.xgboost")
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[xgboost\]"'):
        importlib.import_module("tieaware_sklearn.xgboost")
