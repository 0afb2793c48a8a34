"""Conventions with weights of queries, against the tools."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

from tests.evaluation.test_conventions import assert_same, case, together
from tieaware_sklearn import PreparedRanking, evaluate, ranking_score, tie_treatments
from tieaware_sklearn.measures import NDCG


def weighted_case(seed: int, *, top: int, some_undefined: bool):
    """A few queries, and their weights."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(int(rng.integers(2, 6))):
        n = int(rng.integers(2, 15))
        labels = rng.integers(0, top + 1, n).astype(float)
        labels[0] = 1
        if some_undefined and rng.random() < 0.4:
            labels[:] = 0
        parts.append((labels, rng.permutation(n) / 8.0))
    return parts, rng.integers(1, 9, len(parts)) / 4.0


def ours(parts, weight, measure, convention):
    labels, scores, qid, _ = together(parts)
    return ranking_score(
        labels,
        scores,
        qid=qid,
        measure=measure,
        convention=convention,
        query_weight=weight[qid],
    )


def of_lightgbm(parts, weight, metric):
    import lightgbm as lgb

    labels, scores, qid, sizes = together(parts)
    data = lgb.Dataset(
        np.arange(len(labels))[:, None].astype(float),
        label=labels,
        group=sizes,
        init_score=scores,
        weight=weight[qid],
        params={"min_data_in_leaf": 1, "min_data_in_bin": 1, "verbosity": -1},
    )
    name, k = metric.split("@")
    parameters = {"objective": "none", "metric": name, "eval_at": [int(k)]}
    return lgb.Booster({**parameters, "verbosity": -1}, data).eval_train()[0][2]


def of_xgboost(parts, weight, metric, **parameters):
    import xgboost as xgb

    labels, scores, _, sizes = together(parts)
    rows = np.arange(len(labels))[:, None].astype(float)
    data = xgb.DMatrix(rows, label=labels, base_margin=scores)
    data.set_group(sizes)
    data.set_weight(weight)
    parameters |= {"objective": "rank:ndcg", "eval_metric": metric}
    return float(xgb.Booster(parameters, [data]).eval(data).split(":")[-1])


def of_catboost(parts, weight, metric):
    from catboost.utils import eval_metric

    labels, scores, qid, _ = together(parts)
    group = {"group_id": qid, "group_weight": weight[qid]}
    return eval_metric(labels, scores, metric, **group)[0]


TOOLS = {"lightgbm": of_lightgbm, "xgboost": of_xgboost, "catboost": of_catboost}


@pytest.mark.parametrize("some_undefined", [False, True])
@pytest.mark.parametrize(
    ("convention", "theirs", "measure", "top"),
    [
        ("lightgbm", "ndcg@3", "ndcg@3", 4),
        ("lightgbm", "map@3", "ap@3", 4),
        ("xgboost", "ndcg@3", "ndcg@3", 4),
        ("xgboost", "map@3", "ap@3", 1),
        ("xgboost", "pre@3", "p@3", 1),
        ("catboost", "NDCG:top=3", "ndcg@3", 1),
        ("catboost", "DCG:top=3", "dcg@3", 4),
        ("catboost", "MRR:top=3", "rr@3", 1),
    ],
)
def test_weights_as_the_tools_weigh(convention, theirs, measure, top, some_undefined):
    once = convention != "catboost" and measure == "ndcg@3"
    for seed in range(20):
        parts, weight = weighted_case(seed, top=top, some_undefined=some_undefined)
        undefined = np.array([not labels.any() for labels, _ in parts])
        if once and (undefined & (weight != 1)).any():
            with pytest.raises(ValueError, match="query_weight must be 1 for queries"):
                ours(parts, weight, measure, convention)
            weight[undefined] = 1
        expected = TOOLS[convention](parts, weight, theirs)
        assert_same(ours(parts, weight, measure, convention), expected, 1e-6)


def test_an_unweighted_one_is_no_mean():
    parts = [(np.zeros(2), np.arange(2.0)), (np.array([0.0, 1]), np.arange(2.0))]
    weight = np.array([0.5, 1.5])
    # (1 + 1.5) / 2
    assert of_lightgbm(parts, weight, "ndcg@3") == 1.25
    with pytest.raises(
        ValueError,
        match=r"query_weight must be 1 for queries where NDCG@3 is undefined, because "
        "lightgbm counts each of them once, got 0.5 for query 0",
    ):
        ours(parts, weight, "ndcg@3", "lightgbm")


@pytest.mark.parametrize(
    ("theirs", "measure"),
    [("MAP:top=2", "ap@2"), ("PrecisionAt:top=2", "p@2"), ("RecallAt:top=2", "r@2")],
)
def test_catboost_ignores_weights_in_some_metrics(theirs, measure):
    parts = [(np.array([0.0, 0, 1]), np.arange(3.0)), (np.eye(3)[0], np.arange(3.0))]
    found = {of_catboost(parts, np.array(w), theirs) for w in ([1.0, 1], [1.0, 3])}
    assert len(found) == 1
    with pytest.raises(ValueError, match="'catboost': catboost ignores weights for"):
        ours(parts, np.array([1.0, 3]), measure, "catboost")


def test_weights_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (5, 6))
    scores = rng.permutation(30).reshape(5, 6).astype(float)
    labels[1] = 0
    weight = np.array([1, 2, 3, 0.5, 1])
    parts = list(zip(labels.astype(float), scores, strict=True))
    for k in (2, 6):
        expected = ndcg_score(labels, scores, k=k, sample_weight=weight)
        assert_same(ours(parts, weight, f"ndcg@{k}", "sklearn"), expected)
        expected = dcg_score(labels, scores, k=k, sample_weight=weight)
        assert_same(ours(parts, weight, f"dcg@{k}", "sklearn"), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no positive class
        expected = average_precision_score(
            labels, scores, average="samples", sample_weight=weight
        )
    assert_same(ours(parts, weight, "ap", "sklearn"), expected)


@pytest.mark.parametrize("convention", ["trec_eval", "trec_eval9", "trec_eval10"])
def test_trec_eval_has_no_weights(convention):
    given = {"measures": ["rr", "ap"], "convention": convention, "query_weight": [1, 1]}
    with pytest.raises(
        ValueError,
        match=f"query_weight must be None for RR .* {convention} has no",
    ):
        evaluate([0, 1], [1, 2], **given)
    prepared = PreparedRanking([0, 1], convention=convention, query_weight=[1, 1])
    with pytest.raises(ValueError, match="query_weight must be None"):
        prepared.score([1, 2], "rr")
    with pytest.raises(ValueError, match="query_weight must be None"):
        tie_treatments([0, 1], [1, 2], **given)


def test_modes_of_xgboost():
    for seed in range(20):
        parts, weight = [case(seed, tied=False)], np.ones(1)
        expected = of_xgboost(parts, weight, "ndcg@5", ndcg_exp_gain=False)
        assert_same(
            ours(parts, weight, "ndcg(gain=linear)@5", "xgboost"), expected, 1e-6
        )
        # a cut-off that no list reaches
        expected = of_xgboost(parts, weight, "ndcg@1000")
        assert_same(ours(parts, weight, NDCG(k=None), "xgboost"), expected, 1e-6)
