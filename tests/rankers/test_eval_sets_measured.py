"""Measures taken again and again on the same data."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from tests.lightgbm.helpers import ranker, rows_of
from tieaware_sklearn import ranking_score
from tieaware_sklearn.lightgbm import eval_metric, feval
from tieaware_sklearn.xgboost import custom_metric


def test_a_data_set_is_prepared_once_and_a_few_are_kept(web):
    metric = eval_metric("ndcg@10")
    sizes = np.unique(web.qid, return_counts=True)[1]
    labels = web.target.copy()
    scores = np.zeros(len(labels))
    value = metric(labels, scores, None, sizes)
    (prepared,) = metric._prepared.values()
    metric(labels, scores + web.data[:, 0], None, sizes)
    assert [*metric._prepared.values()] == [prepared]
    # other labels or groups in the same place are other data
    labels[:] = labels[::-1].copy()
    assert metric(labels, scores, None, sizes) != value
    merged = np.r_[sizes[0] + sizes[1], sizes[2:]]
    assert metric(labels, scores, None, merged) == (
        "NDCG@10",
        ranking_score(labels, scores, qid=np.repeat(np.arange(len(merged)), merged)),
        True,
    )
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(labels)
        metric(labels, scores, None, sizes)
    assert len(metric._prepared) <= 16


def test_labels_and_weights_in_32_bits(web, valid):
    """LightGBM keeps 0.7 as 0.699999988, which is not >= 0.7."""
    y, z = (np.where(d.target >= 2, 0.7, 0.1) for d in (web, valid))
    weight = valid.qid % 3 * 0.1 + 0.1
    measures = ["ap(rel=0.7)", "ndcg(gain={0.1:0,0.7:1})@10"]
    model = ranker(objective="regression").fit(
        **{**rows_of(web, valid), "y": y, "eval_y": z},
        eval_sample_weight=weight,
        eval_metric=measures,
    )
    scores = model.predict(valid.data)
    found = model.best_score_["valid_0"].values()
    for measure, value in zip(measures, found, strict=True):
        expected = ranking_score(
            z, scores, qid=valid.qid, measure=measure, query_weight=weight
        )
        assert value == pytest.approx(expected, abs=1e-15)


def test_whole_numbers_in_32_bits_stay_as_they_are():
    labels = np.array([134217728, 0, 2147483648], dtype=np.float32)
    sizes = np.array([3])
    found = eval_metric("cg")(labels, np.array([3.0, 2.0, 1.0]), None, sizes)
    assert found == ("CG", 134217728.0 + 2147483648.0, True)


@pytest.mark.parametrize(("zero", "value"), [(0.0, 0.5), (0.5, 0.75), ("skip", 1.0)])
def test_queries_without_a_relevant_document(zero, value):
    X, y, scores = np.zeros((4, 1)), np.array([1, 0, 0, 0]), np.array([2.0, 1, 1, 2])
    sizes = [2, 2]
    in_lightgbm = lgb.Dataset(X, y, group=sizes).construct()
    found = feval("ap", zero_relevance=zero)(scores, in_lightgbm)
    assert found == ("AP", value, True)
    found = eval_metric("ap", zero_relevance=zero)(y, scores, None, np.array(sizes))
    assert found == ("AP", value, True)
    in_xgboost = xgb.DMatrix(X, y, qid=[0, 0, 1, 1])
    found = custom_metric("ap", zero_relevance=zero)(scores, in_xgboost)
    assert found == ("precise-AP", value)
