"""ERR against exact fractions, where gains are as small as 2^-60 and ties are long."""

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
    """The square root to the last digits, however small."""
    scaled = math.isqrt(int(value * 4**400))
    return float(Fraction(scaled, 2**400))


def moments_of_a_tie(lo, gains, places):
    """Mean and variance of what a tie adds, and the chance to pass all of it.

    The mean of P_x P_{x+z} is a coefficient of Π (1 + s q² + u q)^count.
    """
    n = sum(gains.values())
    product = {(0, 0): Fraction(1)}
    for gain, count in gains.items():
        joined = Counter()
        for (x, z), value in product.items():
            for i in range(min(count, places - x - z) + 1):
                for j in range(min(count - i, places - x - z - i) + 1):
                    of_class = math.comb(count, i) * math.comb(count - i, j)
                    joined[x + i, z + j] += value * of_class * (1 - gain) ** (2 * i + j)
        product = joined

    def mean(x, z):
        return product[x, z] / (math.comb(n, x) * math.comb(n - x, z))

    ranks = range(1, places + 1)
    weight = [Fraction(-1, (lo + x) * (lo + x + 1)) for x in ranks[:-1]]
    weight.append(Fraction(-1, lo + places))
    expected = Fraction(1, lo + 1)
    expected += sum(w * mean(0, x) for x, w in zip(ranks, weight, strict=True))
    variance = Fraction(0)
    for x, y in itertools.product(ranks, ranks):
        covariance = mean(min(x, y), abs(x - y)) - mean(0, x) * mean(0, y)
        variance += weight[x - 1] * weight[y - 1] * covariance
    passed = math.prod((1 - gain) ** count for gain, count in gains.items())
    return expected, variance, passed


def exact(ties, max_label, k):
    """Mean and standard deviation of a list of ties, each a list of whole labels."""
    lo = 0
    reached = Fraction(1)
    expected = Fraction(0)
    variance = Fraction(0)
    for labels in ties:
        gains = Counter(Fraction(2**label - 1, 2**max_label) for label in labels)
        places = len(labels) if k is None else min(len(labels), k - lo)
        if places > 0:
            mean, spread, passed = moments_of_a_tie(lo, gains, places)
            expected += reached * mean
            variance += reached**2 * spread
            reached *= passed
        lo += len(labels)
    return float(expected), root(variance)


def assert_exact(ties, max_label, k):
    labels = [label for tie in ties for label in tie]
    scores = [-at for at, tie in enumerate(ties) for _ in tie]
    expected, std = exact(ties, max_label, k)
    # of users who reach the ties below a gain that floats round to 1, none is left
    lost = 1e-16 if max(labels) > 50 else 0
    report = evaluate(labels, scores, measures=m.ERR(k, max_label=max_label))
    assert not report.std_is_estimate.any()
    # so close that the engines agree, too
    assert report.expected[0, 0] == pytest.approx(expected, rel=1e-13, abs=0)
    assert report.std[0, 0] == pytest.approx(std, rel=5e-13, abs=lost)


@st.composite
def lists_of_ties(draw):
    max_label = draw(st.integers(4, 60))
    labels = st.one_of(
        st.sampled_from([0, 1]), st.integers(0, 2), st.integers(0, max_label)
    )
    tie = st.lists(labels, min_size=1, max_size=6)
    ties = draw(st.lists(tie, min_size=1, max_size=4))
    return ties, max_label, draw(st.none() | st.integers(1, 26))


@settings(max_examples=60)
@given(lists_of_ties())
def test_moments_of_any_scale_are_exact(case):
    assert_exact(*case)


@pytest.mark.parametrize(
    ("ties", "max_label", "k"),
    [
        pytest.param([[1] * 5 + [0]], 20, None, id="nearly all of one label"),
        pytest.param([[1, 0]], 30, None, id="two documents"),
        pytest.param([[1, 0]], 60, None, id="the least gain of all"),
        pytest.param([[59], [1] * 3 + [0]], 60, None, id="small after large"),
        pytest.param([[0] * 50, [30, 1, 0]], 30, 100, id="far down"),
        pytest.param([[1] * 40 + [0]], 30, None, id="many places"),
        pytest.param([[1] * 999 + [0]], 20, 10, id="one of many is not relevant"),
        pytest.param([[0] * 999 + [1]], 60, 10, id="one of many is relevant"),
        pytest.param([[3] * 500 + [1] * 500 + [0] * 200], 40, 6, id="large classes"),
        pytest.param([[1]], 60, None, id="one document"),
        pytest.param([[0] * 3, [0]], 60, None, id="no relevant document"),
    ],
)
def test_moments_are_exact_where_gains_are_small(ties, max_label, k):
    assert_exact(ties, max_label, k)


def test_chance_varies_as_a_list_that_ties():
    labels = [2] + [1] * 4 + [0] * 3
    _, std = exact([labels], 50, None)
    report = evaluate(labels, [1] * 8, measures=m.ERR(max_label=50))
    assert report.std[0, 0] == pytest.approx(std, rel=1e-9, abs=0)
    assert report.chance[0, 0] == report.expected[0, 0]


#: Gains that neither rise nor fall with the labels.
UNORDERED = {0: 0.0, 1: 0.5, 2: 0.25, 3: 0.75, 4: 0.125}
#: One of them is below 0.
SIGNED = {0: -0.5, 1: 1.0, 2: 0.25, 3: 0.5, 4: -0.125}


def with_gains(base, table):
    def gains(self, levels):
        return np.array([table[level] for level in levels.tolist()])

    return type(f"Own{base.__name__}", (base,), {"gains": gains, "name": "Own"})


def stops(ranked, missing):
    """ERR of unordered gains."""
    expected, reached = Fraction(0), Fraction(1)
    for rank, label in enumerate(ranked, start=1):
        gain = Fraction(UNORDERED[label])
        expected += reached * gain / rank
        reached *= 1 - gain
    return expected


def summed(table, weight):
    def plain(ranked, missing):
        gains = [Fraction(table[label]) for label in ranked]
        return sum(gain * weight(i) for i, gain in enumerate(gains, start=1))

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


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.data())
def test_gains_of_subclasses_need_not_rise_with_labels(labels, data):
    scores = data.draw(
        st.lists(st.integers(0, 1), min_size=len(labels), max_size=len(labels))
    )
    for measure, plain in OWN:
        report = evaluate(labels, scores, measures=measure)
        *values, variance = naive.over_ties(plain, labels, scores)
        expected = [*map(float, values), root(variance)]
        statistics = [report.expected, report.best, report.worst, report.std]
        np.testing.assert_allclose(
            np.ravel(statistics), expected, rtol=1e-12, atol=1e-15
        )


def test_equal_gains_of_different_labels_do_not_spread():
    own = with_gains(m.ERR, {1: 0.5, 2: 0.25, 3: 0.5})()
    report = evaluate([1, 2], [1, 1], measures=own)
    assert report.expected[0, 0] == 0.5
    assert report.std[0, 0] == 0.0625
    assert evaluate([1, 3], [1, 1], measures=own).std[0, 0] == 0
