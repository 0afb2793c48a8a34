"""Tests of ERR against exact fractions, with gains down to 2^-60 and long ties."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn import evaluate
from tieaware_sklearn import measures as m


def root(value: Fraction) -> float:
    """Return the square root of a fraction of any size as the nearest float."""
    scaled = math.isqrt(int(value * 4**400))
    return float(Fraction(scaled, 2**400))


def moments_of_a_tie(lo, gains, places):
    """Return mean and variance of a tie's part of ERR, and the chance to read on.

    The mean of P_x P_{x+z} is a coefficient of Π (1 + s q² + u q)^count.
    """
    n = sum(gains.values())
    product = {(0, 0): Fraction(1)}
    for gain, count in gains.items():
        joined = Counter()
        for (x, z), value in product.items():
            left = places - x - z
            for i in range(min(count, left) + 1):
                for j in range(min(count - i, left - i) + 1):
                    n_choices = math.comb(count, i) * math.comb(count - i, j)
                    chance = n_choices * (1 - gain) ** (2 * i + j)
                    joined[x + i, z + j] += value * chance
        product = joined

    def mean(x, z):
        n_choices = math.comb(n, x) * math.comb(n - x, z)
        return product[x, z] / n_choices

    ranks = range(1, places + 1)
    weight = {}
    for x in ranks:
        rank = lo + x
        weight[x] = Fraction(-1, rank * (rank + 1))
    weight[places] = Fraction(-1, lo + places)
    expected = Fraction(1, lo + 1)
    for x in ranks:
        expected += weight[x] * mean(0, x)
    variance = Fraction(0)
    for x, y in itertools.product(ranks, ranks):
        product_mean = mean(min(x, y), abs(x - y))
        covariance = product_mean - mean(0, x) * mean(0, y)
        variance += weight[x] * weight[y] * covariance
    passed = math.prod((1 - gain) ** count for gain, count in gains.items())
    return expected, variance, passed


def exact(ties, max_label, k):
    """Return mean and deviation of ERR. Each tie is a list of integer labels."""
    lo = 0
    reached = Fraction(1)
    expected = Fraction(0)
    variance = Fraction(0)
    for labels in ties:
        gains = Counter(Fraction(2**label - 1, 2**max_label) for label in labels)
        places = len(labels)
        if k is not None:
            places = min(places, k - lo)
        if places > 0:
            mean, spread, passed = moments_of_a_tie(lo, gains, places)
            expected += reached * mean
            variance += reached**2 * spread
            reached *= passed
        lo += len(labels)
    return float(expected), root(variance)


def assert_exact(ties, max_label, k):
    labels = []
    scores = []
    for number, tie in enumerate(ties):
        labels += tie
        scores += [-number] * len(tie)
    expected, std = exact(ties, max_label, k)
    # Floats round the largest gains to 1, so no user reads on below them.
    lost = 1e-16 if max(labels) > 50 else 0
    measure = m.ERR(k, max_label=max_label)
    report = evaluate(labels, scores, measures=measure)
    assert not report.std_is_estimate.any()
    # With these tolerances, the engines agree with each other, too.
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)
    assert report.std[0, 0] == pytest.approx(std, rel=5e-13, abs=lost)


@st.composite
def lists_of_ties(draw):
    max_label = draw(st.integers(4, 60))
    few = st.sampled_from([0, 1])
    labels = st.one_of(few, st.integers(0, 2), st.integers(0, max_label))
    tie = st.lists(labels, min_size=1, max_size=6)
    ties = draw(st.lists(tie, min_size=1, max_size=4))
    k = draw(st.none() | st.integers(1, 26))
    return ties, max_label, k


@settings(max_examples=60)
@given(lists_of_ties())
def test_moments_of_any_scale_are_exact(case):
    assert_exact(*case)


SMALL_GAINS = {
    "nearly all of one label": ([[1] * 5 + [0]], 20, None),
    "two documents": ([[1, 0]], 30, None),
    "the least gain of all": ([[1, 0]], 60, None),
    "small after large": ([[59], [1] * 3 + [0]], 60, None),
    "far down": ([[0] * 50, [30, 1, 0]], 30, 100),
    "many places": ([[1] * 40 + [0]], 30, None),
    "one of many is not relevant": ([[1] * 999 + [0]], 20, 10),
    "one of many is relevant": ([[0] * 999 + [1]], 60, 10),
    "large classes": ([[3] * 500 + [1] * 500 + [0] * 200], 40, 6),
    "one document": ([[1]], 60, None),
    "no relevant document": ([[0] * 3, [0]], 60, None),
}


@pytest.mark.parametrize("case", SMALL_GAINS.values(), ids=SMALL_GAINS)
def test_moments_are_exact_where_gains_are_small(case):
    assert_exact(*case)


def test_chance_varies_as_a_list_that_ties():
    labels = [2, 1, 1, 1, 1, 0, 0, 0]
    _, std = exact([labels], 50, None)
    measure = m.ERR(max_label=50)
    report = evaluate(labels, [1] * 8, measures=measure)
    assert report.std[0, 0] == pytest.approx(std, rel=1e-9, abs=0)
    assert report.chance[0, 0] == report.expected[0, 0]


#: Gains that neither rise nor fall with the labels.
UNORDERED = {0: 0.0, 1: 0.5, 2: 0.25, 3: 0.75, 4: 0.125}
#: One of them is below 0.
SIGNED = {0: -0.5, 1: 1.0, 2: 0.25, 3: 0.5, 4: -0.125}


def with_gains(base, table):
    def gains(self, levels):
        return np.array([table[level] for level in levels])

    body = {"gains": gains, "name": "Own"}
    return type(f"Own{base.__name__}", (base,), body)


def stops(ranked, missing):
    """Return the ERR of unordered gains."""
    expected = Fraction(0)
    reached = Fraction(1)
    for rank, label in enumerate(ranked, start=1):
        gain = Fraction(UNORDERED[label])
        expected += reached * gain / rank
        reached *= 1 - gain
    return expected


def summed(table, weight):
    def plain(ranked, missing):
        total = Fraction(0)
        for rank, label in enumerate(ranked, start=1):
            total += Fraction(table[label]) * weight(rank)
        return total

    return plain


def logarithmic(rank):
    return Fraction(1 / math.log2(rank + 1))


def geometric(rank):
    return Fraction(1, 2**rank)


OWN = [
    (with_gains(m.ERR, UNORDERED)(), stops),
    (with_gains(m.DCG, UNORDERED)(), summed(UNORDERED, logarithmic)),
    (with_gains(m.DCG, SIGNED)(), summed(SIGNED, logarithmic)),
    (with_gains(m.CG, SIGNED)(), summed(SIGNED, lambda rank: 1)),
    (with_gains(m.RBP, UNORDERED)(0.5), summed(UNORDERED, geometric)),
]


def assert_close(values, expected):
    assert values[0, 0] == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.data())
def test_gains_of_subclasses_need_not_rise_with_labels(labels, data):
    n = len(labels)
    scores = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    for measure, plain in OWN:
        report = evaluate(labels, scores, measures=measure)
        expected, best, worst, variance = naive.over_ties(plain, labels, scores)
        std = root(variance)
        assert_close(report.expected, expected)
        assert_close(report.best, best)
        assert_close(report.worst, worst)
        assert_close(report.std, std)


def test_equal_gains_of_different_labels_do_not_spread():
    table = {1: 0.5, 2: 0.25, 3: 0.5}
    measure = with_gains(m.ERR, table)()
    unequal = evaluate([1, 2], [1, 1], measures=measure)
    assert unequal.expected[0, 0] == 0.5
    assert unequal.std[0, 0] == 0.0625
    equal = evaluate([1, 3], [1, 1], measures=measure)
    assert equal.std[0, 0] == 0
