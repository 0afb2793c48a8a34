"""The real XGBoost with exact metrics, in training by itself."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings

from tests.strategies import queries
from tieaware_sklearn import ranking_score
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.measures import NDCG
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


@pytest.mark.parametrize("measure", ["rr", "ndcg@10", "fallout@5"])
def test_early_stopping_goes_the_right_way(web, measure):
    valid = make_web_search(n_queries=20, n_documents=15, random_state=1)
    data = matrix((valid.data, valid.target, valid.qid))
    history = {}
    booster = xgb.train(
        {**PARAMS, "eta": 0.5, "disable_default_eval_metric": 1},
        matrix(web),
        80,
        evals=[(data, "valid")],
        custom_metric=custom_metric(measure),
        early_stopping_rounds=5,
        evals_result=history,
        verbose_eval=False,
    )
    (values,) = history["valid"].values()
    best = min(values) if measure.startswith("fallout") else max(values)
    assert booster.best_score == best
    assert booster.best_iteration == values.index(best)
    assert len(values) == booster.best_iteration + 6 < 80


def test_a_ranker_that_hands_over_single_queries_is_told(web):
    X, y, qid = web
    model = xgb.XGBRanker(n_estimators=1, n_jobs=1, eval_metric=custom_metric("rr"))
    with pytest.raises(TypeError, match=r"passes single queries.*QueryXGBRanker"):
        model.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])


def test_importing_has_no_side_effects():
    code = (
        "import xgboost.core, xgboost.sklearn, xgboost.training\n"
        "modules = [m for n, m in sys.modules.items() if n.startswith('xgboost')]\n"
        "before = [dict(vars(module)) for module in modules]\n"
        "classes = [v for b in before for v in b.values() if isinstance(v, type)]\n"
        "members = [dict(vars(c)) for c in classes]\n"
        "import tieaware_sklearn.xgboost\n"
        "assert [dict(vars(module)) for module in modules] == before\n"
        "assert [dict(vars(c)) for c in classes] == members\n"
    )
    subprocess.run([sys.executable, "-c", f"import sys\n{code}"], check=True)


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
    with pytest.raises(TypeError, match=r"predictions and a DMatrix.*got ndarray"):
        custom_metric("rr")(y, y)
    with pytest.raises(ValueError, match="predictions must not be NaN"):
        custom_metric("rr")(np.full(len(y), np.nan), matrix(web))


def test_a_missing_xgboost_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    monkeypatch.delitem(sys.modules, "tieaware_sklearn.xgboost")
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[xgboost\]"'):
        importlib.import_module("tieaware_sklearn.xgboost")
