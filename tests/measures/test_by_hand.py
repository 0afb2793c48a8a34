"""Figures of the literature, counts by hand, and expected reciprocal rank."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import ERR, SetAP
from tieaware_sklearn.measures._err import mean_double_products

NAN, INF = math.nan, math.inf
BINARY = [1, 0, 1, 0, 1]
GRADED = [3, 2, 3, 0, 1]
TEN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


@pytest.mark.parametrize(("name", "labels", "figures", "digits"), [
    ("P", BINARY, [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5], 15),
    ("R", BINARY, [1 / 3, 1 / 3, 2 / 3, 2 / 3, 1], 15),
    ("F1", BINARY, [2 / 4, 2 / 5, 4 / 6, 4 / 7, 6 / 8], 15),
    ("CG", GRADED, [3, 5, 8, 8, 9], 15),
    ("DCG(gain=linear)", GRADED, [3, 4.262, 5.762, 5.762, 6.149], 3),
    ("NDCG(gain=linear)", GRADED, [1, 0.871, 0.978, 0.911, 0.972], 3),
    ("DCG", TEN, [7, 8.89, 12.39, 12.39, 12.39, 12.75, 13.75, 14.7, 16.8, 16.8], 2),
    ("NDCG", TEN, [1, 0.78, 0.83, 0.76, 0.71, 0.69, 0.73, 0.78, 0.9, 0.9], 2),
])  # fmt: skip
def test_at_every_rank(name, labels, figures, digits):
    names = [f"{name}@{k}" for k in range(1, len(labels) + 1)]
    found = evaluate(labels, -np.arange(len(labels)), measures=names).expected[0]
    assert np.round(found, digits) == pytest.approx(figures, abs=1e-14)


@pytest.mark.parametrize(("ranking", "figures"), [
    ("10101", {"ap": 0.7556}),
    # .775 is printed as .78
    ("1011110001", {"ap": 0.775, "iap": 0.82}),
    ("0100111011", {"ap": 0.52, "iap": 0.60}),
])  # fmt: skip
def test_averages_of_precision(ranking, figures):
    labels, scores = [int(c) for c in ranking], -np.arange(len(ranking))
    for name, figure in figures.items():
        found = ranking_score(labels, scores, measure=name)
        assert found == pytest.approx(figure, abs=0.005)


def test_run_with_ties_of_yang_moffat_and_turpin():
    scores = [9.8, 9.3, 9.3, 9.3, 8.4, 8.4, 8.2, 8.0, 8.0, 8.0]
    labels = [0, 0, 1, 1, 0, 1, 1, 0, 0, 1]
    report = evaluate(labels, scores, measures=["P@5", "RR", "RBP(p=0.5)"])
    assert report.worst[0, :2] == pytest.approx([2 / 5, 1 / 3])
    assert report.best[0, :2] == pytest.approx([3 / 5, 1 / 2])
    assert report.expected[0, 0] == pytest.approx(2 / 5 + 1 / 5 / 2)
    share = [F(0), *[F(2, 3)] * 3, *[F(1, 2)] * 2, F(1), *[F(1, 3)] * 3]
    rbp = sum(s * F(1, 2) ** i for i, s in enumerate(share, start=1))
    assert report.expected[0, 2] == pytest.approx(float(rbp), abs=1e-15)


def test_judged_is_pooled_over_the_places_that_are_filled():
    labels, scores, qid = [1, NAN, 0, NAN], [1, 1, -INF, 2], [1, 1, 1, 2]
    options = {"qid": qid, "measure": "judged@5"}
    assert ranking_score(labels, scores, average=None, **options).tolist() == [0.5, 0]
    assert ranking_score(labels, scores, average="micro", **options) == 1 / 3


def test_set_ap_is_0_where_nothing_relevant_is_retrieved():
    labels, scores = [1, 0, 2, 0, 1], [1, 1, 1, 0, -INF]
    assert ranking_score(labels, scores, measure=SetAP(rel=2)) == 1 / 4
    none, options = [-INF, -INF], {"measure": "SetAP", "zero_relevance": 0.5}
    assert ranking_score([1, 0], none, **options) == 0
    assert ranking_score([0, 0], none, **options) == 0.5


def test_esl_is_compared_with_the_queries_that_have_it():
    # all retrieved in query 1, the relevant one missed in query 2, none there in 3
    labels, qid = [0, 1, 0, 1, 0, 0, 0], [1, 1, 1, 2, 2, 2, 3]
    scores = [3, 2, 1, -INF, 2, 1, 1]
    data = {"y_true": labels, "y_score": scores, "qid": qid}
    for zero_relevance in (0.0, 5.0, "skip"):
        report = evaluate(**data, measures="esl", zero_relevance=zero_relevance)
        for values in (report.expected, report.chance, report.ideal):
            assert np.isnan(values[:, 0]).tolist() == [False, True, True]
        summary = report.summary()
        assert (summary.mean[0], summary.chance[0], summary.lift[0]) == (1, 1, 0)
        assert (report.n_undefined[0], summary.n_queries[0]) == (2, 1)
    with pytest.raises(ValueError, match=r"ESL .*query 2.* too few relevant documents"):
        evaluate(**data, measures="esl", zero_relevance="raise")


def test_lift_of_esl_is_coopers_reduction_factor():
    report = evaluate([0, 1, 0, 1, 0, 0, 0], [7, 6, 5, 4, 3, 2, 1], measures="esl")
    # one other document above; 5/3 expected at random
    assert report.summary().lift[0] == pytest.approx(1 - 1 / (5 / 3))


# -- expected reciprocal rank


def test_err_takes_no_label_above_its_scale():
    with pytest.raises(ValueError, match="must be <= max_label=4 for ERR, got 5"):
        ranking_score([5, 0], [1, 2], measure="err")
    assert ranking_score([5, 0], [2, 1], measure="err(max_label=5)") == 31 / 32


def test_err_integrated_and_summed_agree():
    """Beyond 256 places whole groups are integrated, cut ones are summed."""
    rng = np.random.default_rng(0)
    few = rng.choice(5, 700, p=[0.96, 0.02, 0.01, 0.005, 0.005])
    every = np.round(rng.random(700) * 4, 6)
    for above, labels in ((0, few), (1, few), (50, few), (1, every)):
        y = np.concatenate([np.zeros(above), labels])
        scores = np.concatenate([np.ones(above), np.zeros(700)])
        cuts = [f"err@{700 + above}", f"err@{699 + above}"]
        whole, cut, almost = evaluate(y, scores, measures=["err", *cuts]).expected[0]
        assert whole == pytest.approx(cut, abs=1e-15)
        assert 0 <= whole - almost < 1e-4


def test_std_of_err_sampled_is_near_the_exact_one():
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 120, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    short = evaluate(labels, np.zeros(120), measures=["err@64", "err@65", "err"])
    assert short.std_is_estimate[0].tolist() == [False, True, True]
    assert short.std[0, 1:] == pytest.approx(short.std[0, 0], rel=0.01)


def test_few_relevant_documents_of_many_are_sampled_by_where_they_stand():
    n, (a, b) = 1500, (15 / 16, 3 / 16)
    labels = np.zeros(n)
    labels[:2] = 4, 2
    # all pairs of places
    first, second = 1 / np.arange(1.0, n + 1)[:, None], 1 / np.arange(1.0, n + 1)
    above, below = a * first + (1 - a) * b * second, b * second + (1 - b) * a * first
    values = np.where(first > second, above, below)[~np.eye(n, dtype=bool)]
    found = evaluate(labels, np.zeros(n), measures="err")
    assert found.expected[0, 0] == pytest.approx(values.mean(), rel=1e-9)
    assert found.std_is_estimate[0, 0]
    assert found.std[0, 0] == pytest.approx(values.std(), rel=0.05)


def test_rounding_spreads_nothing_beyond_its_range():
    labels = [1, 0, 0, 2, 3, 0, 1, 2, 3, 4] * 3
    report = evaluate(labels, [1] * 30, measures=[ERR(max_label=60)])
    assert report.std[0, 0] <= (report.best - report.worst)[0, 0] / 2


def test_second_moments_of_large_classes_neither_overflow_nor_vanish():
    counts = np.array([[900_000, 99_000, 1000], [3, 2, 1]])
    q = np.array([[1.0, 0.75, 0.25]] * 2)
    double = mean_double_products(counts, q, 64)
    assert np.isfinite(double).all()
    # nearly independent draws: E[P_x P_{x+z}] = E[q²]^x E[q]^z
    share = counts[0] / 1e6
    square, mean = share @ q[0] ** 2, share @ q[0]
    for x, z in ((0, 64), (64, 0), (20, 30)):
        assert double[0, x, z] == pytest.approx(square**x * mean**z, rel=1e-3)
