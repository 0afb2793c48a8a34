"""Average precision, and the area under the curve."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, precision_recall_curve

from tieaware_sklearn import evaluate, ranking_score


@settings(max_examples=100)
@given(labels=st.lists(st.integers(0, 1), min_size=2, max_size=30))
def test_area_is_scikit_learns_without_ties(labels):
    assume(any(labels))
    scores = -np.arange(len(labels))
    precision, recall, _ = precision_recall_curve(labels, scores)
    ours = ranking_score(labels, scores, measure="auprc")
    assert ours == pytest.approx(auc(recall, precision), abs=1e-12)


def test_std_of_ap_of_large_groups_equals_the_sum_over_pairs():
    """Var Σ_i Σ_{j<=i} x_i x_j / i from the joint chances of up to four documents."""
    n, r, lo, above, k = 60, 17, 5, 2, 41

    def together(m: int) -> Fraction:
        out = Fraction(1)
        for i in range(m):
            out *= Fraction(r - i, n - i)
        return out

    inside = k - lo
    # whole numbers, to be divided by their scale
    scale = math.lcm(*range(lo + 1, k + 1))
    weights = [scale // (lo + j) for j in range(1, inside + 1)]
    # x_i (above + 1 + Σ_{j<i} x_j) w_i as a quadratic form in distinct x
    terms: dict[frozenset[int], int] = {}
    for i, w in enumerate(weights):
        terms[frozenset([i])] = (above + 1) * w
        for j in range(i):
            terms[frozenset([i, j])] = w
    mean = sum(c * together(len(s)) for s, c in terms.items()) / scale
    products = [0] * 5
    for s, c in terms.items():
        for t, d in terms.items():
            products[len(s | t)] += c * d
    square = sum(c * together(m) for m, c in enumerate(products)) / scale**2
    labels = [1] * above + [0] * (lo - above) + [1] * r + [0] * (n - r)
    scores = [100 - i for i in range(lo)] + [0] * n
    report = evaluate(labels, scores, measures=[f"AP@{k}"])
    total = above + r
    base = Fraction(0)  # the documents above the group: relevant at ranks 1, 2
    base += sum(Fraction(i, i) for i in range(1, above + 1))
    assert report.expected[0, 0] == pytest.approx(
        float((base + mean) / total), abs=1e-13
    )
    std = math.sqrt(square - mean**2) / total
    assert report.std[0, 0] == pytest.approx(std, rel=1e-10)


def moments_of_a_tie(lo, n, r, above, inside, k=None) -> tuple[Fraction, Fraction]:
    """Mean and variance of what a tie adds to AP, over all its orders."""
    values = []
    for relevant in itertools.combinations(range(n), r):
        ranks = enumerate((lo + 1 + place for place in relevant), start=above + 1)
        values.append(sum(Fraction(i, at) for i, at in ranks if at <= lo + inside))
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / len(values)


@pytest.mark.parametrize("measure", ["AP", "AP@{cut}"])
@pytest.mark.parametrize(("lo", "above"), [(100, 3), (20_000, 3), (3_000_000, 0)])
def test_ap_of_a_short_tie_deep_in_a_list_keeps_its_digits(lo, above, measure):
    n, r = 10, 5
    inside = 4 if "cut" in measure else n
    labels = np.zeros(lo + n)
    labels[:above] = 1
    labels[lo : lo + r] = 1
    scores = np.concatenate([-np.arange(lo), np.full(n, -lo)])
    report = evaluate(labels, scores, measures=measure.format(cut=lo + inside))
    mean, variance = moments_of_a_tie(lo, n, r, above, inside)
    total = above + r
    expected = float((above + mean) / total)
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)
    std = math.sqrt(variance) / total
    assert report.std[0, 0] == pytest.approx(std, rel=1e-11, abs=0)


@pytest.mark.parametrize("lo", [100, 20_000])
def test_area_under_a_short_tie_deep_in_a_list_keeps_its_digits(lo):
    n, r, above = 8, 3, 2
    labels = np.zeros(lo + n)
    labels[:above] = 1
    labels[lo : lo + r] = 1
    scores = np.concatenate([-np.arange(lo), np.full(n, -lo)])
    report = evaluate(labels, scores, measures="AUPRC")
    values = []
    for relevant in itertools.combinations(range(n), r):
        ranks = enumerate((lo + 1 + place for place in relevant), start=above + 1)
        # the mean of the precision there and one rank above
        values.append(sum(Fraction(i, at) + Fraction(i - 1, at - 1) for i, at in ranks))
    mean = sum(values) / len(values)
    square = sum((value - mean) ** 2 for value in values) / len(values)
    std = math.sqrt(square) / 2 / (above + r)
    assert report.std[0, 0] == pytest.approx(std, rel=1e-11, abs=0)
    expected = float((above + mean / 2) / (above + r))
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)


@pytest.mark.parametrize("name", ["P", "R", "F", "AP", "AP(denominator=cutoff)", "RR"])
@pytest.mark.parametrize("k", [2**63, 10**20, 10**400])
def test_a_cutoff_may_be_beyond_any_list(name, k):
    labels, scores = [3, 1, 0, 0, 2, 0], [1, 2, 3, 3, 3, 1]
    found = evaluate(labels, scores, measures=f"{name}@{k}").expected
    # P and F divide by k
    expected = 0 if name in "PF" else ranking_score(labels, scores, measure=name)
    assert found == pytest.approx(expected, abs=1e-17)
    if name in "PF":
        assert evaluate(labels, scores, measures=f"{name}@{k}").ideal < 1e-17
