"""Averages over queries, and their weights."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import AP_A, AP_C, LABELS, QID, SCORES, score
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation._averages import column_sums, median


def test_average_of_nothing_is_nan_and_says_so():
    with pytest.warns(UndefinedMetricWarning, match="NDCG@10 is undefined for every"):
        assert math.isnan(ranking_score([0, 0], [1, 2], zero_relevance="skip"))
    options = {"average": "micro", "zero_relevance": "skip"}
    with pytest.warns(UndefinedMetricWarning, match="R@1 is undefined for every"):
        assert math.isnan(ranking_score([0, 0], [1, 2], measure="R@1", **options))


def test_geometric_mean_has_the_floor_of_trec_eval():
    expected = (AP_A * 1e-5 * AP_C) ** (1 / 3)
    assert score(average="geometric") == pytest.approx(expected)
    weight = [1, 1, 0, 0, 1, 3, 3, 3]
    weighted = score(average="geometric", query_weight=weight)
    assert weighted == pytest.approx((AP_A * AP_C**3) ** (1 / 4))
    summary = evaluate(LABELS, SCORES, qid=QID, measures="ap").summary("geometric")
    assert summary.mean[0] == score(average="geometric")
    assert math.isnan(summary.tie_std[0])
    assert summary.interval[0, 0] < summary.mean[0] < summary.interval[0, 1]
    assert str(summary).startswith("geometric")


def test_micro_average_pools_counts():
    # relevant in the first two of a: 1, of b: 0, of c: 2/3
    hits = 1 + 0 + 2 / 3
    assert score("P@2", average="micro") == pytest.approx(hits / 6)
    assert score("R@2", average="micro") == pytest.approx(hits / (2 + 0 + 1))
    assert score("F@2", average="micro") == pytest.approx(2 * hits / (6 + 3))
    assert score("Fallout@2", average="micro") == pytest.approx(
        (6 - hits) / (1 + 2 + 2)
    )
    assert score("Rprec", average="micro") == pytest.approx((1 + 0 + 1 / 3) / 3)
    weight = [2, 2, 1, 1, 2, 0, 0, 0]
    weighted = score("R@2", average="micro", query_weight=weight)
    assert weighted == pytest.approx(2 * 1 / (2 * 2))
    best = score("R@2", average="micro", ties="best")
    assert best == pytest.approx(2 / 3)
    for measure in ("ap", "rr", "ndcg@10", "success@3"):
        with pytest.raises(ValueError, match="average='micro' requires measures that"):
            score(measure, average="micro")
    none = {"measure": "R@1", "average": "micro", "zero_relevance": 0.25}
    assert ranking_score([0, 0], [1, 2], **none) == 0.25


def test_query_weight():
    weight = np.array([2.0, 2, 5, 5, 2, 1, 1, 1])
    expected = (2 * AP_A + 0 + AP_C) / 8
    assert score(query_weight=weight) == pytest.approx(expected)
    skipped = score(query_weight=weight, zero_relevance="skip")
    assert skipped == pytest.approx((2 * AP_A + AP_C) / 3)
    report = evaluate(LABELS, SCORES, qid=QID, measures="ap", query_weight=weight)
    std = report.std[:, 0]
    summary = report.summary()
    assert summary.tie_std[0] == pytest.approx(np.hypot(2 * std[0], std[2]) / 8)
    assert report.query_weight.tolist() == [2, 5, 1]


def test_the_median_is_an_average_too():
    labels, qid = [1, 0, 1, 0, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    scores = [2, 1, 1, 1, 2, 1, 3, 1]
    # reciprocal ranks 1, 3/4, 1/2, 1
    data = {"qid": qid, "measure": "rr", "average": "median"}
    assert ranking_score(labels, scores, **data) == 7 / 8
    assert ranking_score(labels, scores, ties="worst", **data) == 3 / 4
    weight = np.array([1, 1, 1, 1, 5, 5, 0, 0])
    assert ranking_score(labels, scores, query_weight=weight, **data) == 1 / 2
    weight = np.array([1, 1, 3, 3, 2, 2, 0, 0])
    assert ranking_score(labels, scores, query_weight=weight, **data) == 3 / 4
    weight = np.array([1, 1, 1, 1, 2, 2, 0, 0])
    assert ranking_score(labels, scores, query_weight=weight, **data) == 5 / 8
    summary = evaluate(labels, scores, qid=qid, measures="rr").summary("median")
    assert summary.mean[0] == 7 / 8
    assert np.isnan(summary.interval).all()
    assert "median" in str(summary)


def test_the_interval_of_a_median_is_between_values_of_known_ranks():
    n = 20
    qid = np.repeat(np.arange(n), 30)
    labels = np.tile(np.arange(30) == 0, n)
    scores = -np.tile(np.arange(30.0), n)
    scores[np.arange(n) * 30] = -np.arange(n) - 0.5  # rank i + 2, but for the first
    report = evaluate(labels, scores, qid=qid, measures="rr")
    low, high = report.summary("median").interval[0]
    ranked = np.sort(report.expected[:, 0])
    assert (low, high) == (ranked[5], ranked[14])
    assert stats.binom.cdf(5, n, 0.5) <= 0.025 < stats.binom.cdf(6, n, 0.5)


@pytest.mark.parametrize("weight", [0.1, 0.7, 3.0, 1e-100, 1e100])
def test_equal_weights_do_not_change_a_median(weight):
    n = 10
    labels, qid = np.eye(n, n + 2).ravel(), np.repeat(np.arange(n), n + 2)
    data = {"qid": qid, "measure": "rr", "average": "median"}
    scores = np.tile(-np.arange(n + 2), n)
    expected = (1 / 5 + 1 / 6) / 2
    assert ranking_score(labels, scores, **data) == expected
    weights = np.full(len(labels), weight)
    assert ranking_score(labels, scores, query_weight=weights, **data) == expected


def test_weighted_medians_are_those_of_exact_arithmetic():
    rng = np.random.default_rng(0)
    for _ in range(500):
        n = int(rng.integers(1, 9))
        values = rng.integers(0, 6, n) / 7
        weight = rng.choice([0.1, 0.2, 0.3, 0.7, 1.1, 1e-100, 1e100], n)
        rows = sorted(zip(values.tolist(), map(Fraction, weight.tolist()), strict=True))
        half, reached = sum(w for _, w in rows) / 2, Fraction(0)
        at = -1
        while reached < half:
            at += 1
            reached += rows[at][1]
        value = rows[at][0]
        expected = (value + rows[at + 1][0]) / 2 if reached == half else value
        assert median(values, weight) == expected


@pytest.mark.parametrize("spread", [0, 1, 40, 300])
@pytest.mark.parametrize("n_queries", [0, 1, 5, 300, 5000])
def test_sums_over_queries_are_those_of_fsum(n_queries, spread):
    rng = np.random.default_rng(n_queries + spread)
    shape = n_queries, 2, 3
    values = rng.normal(size=shape) * 2.0 ** rng.integers(-spread, spread + 1, shape)
    values[rng.random(shape) < 0.1] = 0.0
    values[:, 0, 0] = 0.0
    values[:, 0, 1] = np.float64(0.1)
    values[::2, 1, 1] = -values[: n_queries - n_queries // 2, 1, 1]
    expected = [[math.fsum(own) for own in part] for part in values.T.tolist()]
    assert np.array_equal(column_sums(values), np.array(expected).reshape(3, 2).T)
    apart = np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
    assert np.array_equal(column_sums(apart), column_sums(values))


def test_sums_over_many_queries_may_be_infinite():
    values = np.ones((1000, 2))
    values[0, 0] = math.inf
    assert column_sums(values).tolist() == [math.inf, 1000.0]
    assert column_sums(values[:, 1:] * 1e305).tolist() == [1e308]
