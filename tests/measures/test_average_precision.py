"""Average precision, the area under the curve, BPref and inferred AP."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import InferredAveragePrecision
from tieaware_sklearn.measures import _average_precision as module

NAN = math.nan


def moments_of_a_tie(name, lo, n, r, above, inside) -> tuple[Fraction, Fraction]:
    """Mean and variance of what a tie adds to AP or AUPRC, over all its orders."""
    # the area has the mean of the precision at a rank and one above
    values = []
    for relevant in itertools.combinations(range(n), r):
        ranks = enumerate((lo + 1 + place for place in relevant), start=above + 1)
        shown = [(i, at) for i, at in ranks if at <= lo + inside]
        found = sum(Fraction(i, at) for i, at in shown)
        if name == "AUPRC":
            found = (found + sum(Fraction(i - 1, at - 1) for i, at in shown)) / 2
        values.append(found)
    mean = sum(values) / len(values)
    return mean, sum(value * value for value in values) / len(values) - mean**2


@pytest.mark.parametrize("name", ["AP", "AP@{cut}", "AUPRC"])
@pytest.mark.parametrize(
    ("lo", "above", "n", "r"),
    [(5, 2, 14, 6), (100, 3, 10, 5), (20_000, 3, 8, 3), (1_000_000, 0, 10, 5)],
)
def test_a_tie_anywhere_in_a_list_keeps_its_digits(name, lo, above, n, r):
    inside = n // 2 - 1 if "cut" in name else n
    labels = np.zeros(lo + n)
    labels[:above] = 1
    labels[lo : lo + r] = 1
    scores = np.concatenate([-np.arange(lo), np.full(n, -lo)])
    report = evaluate(labels, scores, measures=name.format(cut=lo + inside))
    mean, variance = moments_of_a_tie(name, lo, n, r, above, inside)
    total = above + r
    expected = float((above + mean) / total)
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)
    std = math.sqrt(variance) / total
    assert report.std[0, 0] == pytest.approx(std, rel=1e-11, abs=0)


def test_a_cutoff_may_be_beyond_any_list():
    labels, scores = [3, 1, 0, 0, 2, 0], [1, 2, 3, 3, 3, 1]
    for k in (2**63, 10**20, 10**400):
        for name in ("R", "AP", "AP(denominator=cutoff)", "RR"):
            found = ranking_score(labels, scores, measure=f"{name}@{k}")
            whole = ranking_score(labels, scores, measure=name)
            assert found == pytest.approx(whole, abs=1e-17)
        for name in "PF":  # which divide by k
            report = evaluate(labels, scores, measures=f"{name}@{k}")
            assert max(report.expected[0, 0], report.ideal[0, 0]) < 1e-17


def plain_mean(pools_all, lo, n, judged, relevant, judged_above, relevant_above):
    """Mean of inferred AP by sums of products of binomials, in fractions."""
    epsilon, total, others = Fraction(1, 100_000), Fraction(0), judged - 1
    share = Fraction(relevant - 1, max(others, 1))
    for x in range(n):
        for j in range(max(0, x - (n - 1 - others)), min(x, others) + 1):
            ways = math.comb(others, j) * math.comb(n - 1 - others, x - j)
            chance = Fraction(ways, math.comb(n - 1, x))
            m = judged_above + j
            precision = (relevant_above + share * j + epsilon) / (m + 2 * epsilon)
            pooled = lo + x if pools_all else m
            total += chance * (1 + pooled * precision) / (lo + x + 1)
    return float(relevant * total / n)


@pytest.mark.parametrize("pools_all", [False, True])
def test_means_of_inferred_precisions_in_longer_ties(pools_all):
    ties = [(0, 60, 20, 5, 0, 0), (0, 60, 1, 1, 0, 0), (7, 60, 59, 30, 0, 0)]
    ties += [(7, 60, 30, 30, 4, 2), (100, 61, 12, 3, 100, 50), (0, 200, 100, 40, 0, 0)]
    for tie in ties:
        found = module.mean_of_tie(module.InferredTies(pools_all), tie)
        assert found == pytest.approx(plain_mean(pools_all, *tie), rel=1e-12)


def test_counts_left_out_are_nothing():
    """Of long ties, a band of counts is added up; all of them have no other mean."""
    n, marked = 3000, 700
    for x, first, chances in module._judged_above(n, marked):
        assert chances.shape[1] < marked
        numbers = first[:, None] + np.arange(chances.shape[1])
        mean = (chances * numbers).sum(axis=1)
        assert mean == pytest.approx(x * marked / n, rel=1e-10, abs=1e-10)
        spread = (chances * (numbers - mean[:, None]) ** 2).sum(axis=1)
        share = marked / n
        wanted = x * share * (1 - share) * (n - x) / (n - 1)
        assert spread == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("pools_all", [False, True])
def test_variances_have_the_same_bits_whatever_else_is_computed(monkeypatch, pools_all):
    rng = np.random.default_rng(4)
    n = rng.integers(2, 12, 60)
    judged = np.where(rng.random(60) < 0.5, n, rng.integers(1, n + 1))
    relevant = rng.integers(1, judged + 1)
    above = np.sort(rng.integers(0, 9, (3, 60)), axis=0)
    ties = module.Ties(above[2], n, judged, relevant, above[1], above[0])
    worth = module.InferredTies(pools_all)
    together, sampled = worth.variances(ties)
    assert not sampled.any()
    alone = [
        worth.variances(module.Ties(*(column[[g]] for column in ties)))[0][0]
        for g in range(60)
    ]
    assert together.tolist() == alone
    # batches of several sizes
    monkeypatch.setattr(module, "_BATCH_CELLS", 100)
    assert worth.variances(ties)[0].tolist() == alone


@pytest.mark.parametrize("pool", ["judged", "all"])
@pytest.mark.parametrize("judged", [30, 12])
def test_sampled_variances_are_near_the_exact_ones(monkeypatch, pool, judged):
    labels = np.full(30, NAN)
    labels[:judged] = 0
    labels[:4] = 1
    measure = InferredAveragePrecision(pool=pool)
    exact = evaluate(labels, np.zeros(30), measures=measure)
    monkeypatch.setattr(module, "_STEPS", 0)
    found = evaluate(labels, np.zeros(30), measures=measure)
    assert (exact.std_is_estimate, found.std_is_estimate) == (False, True)
    assert found.expected == exact.expected
    assert found.std[0, 0] == pytest.approx(exact.std[0, 0], rel=0.15)
