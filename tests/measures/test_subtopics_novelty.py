"""Gains that shrink with every repetition, of groups too long to enumerate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tieaware_sklearn import evaluate_subtopics
from tieaware_sklearn.measures import AlphaDCG
from tieaware_sklearn.measures._subtopics import mean_kept


def exact_mean(n, c, keep, x):
    """E[keep^H] by the hypergeometric distribution."""
    ways = [math.comb(c, h) * math.comb(n - c, x - h) for h in range(min(c, x) + 1)]
    total = sum(w * Fraction(keep) ** h for h, w in enumerate(ways))
    return float(total / math.comb(n, x))


@pytest.mark.parametrize("keep", [0.0, 0.5, 0.9, 1.0])
def test_means_are_those_of_the_hypergeometric_distribution(keep):
    cases = [(0, 0), (1, 1), (5, 2), (30, 30), (200, 13), (1000, 400)]
    n, c = np.array(cases).T
    found = mean_kept(n, c, keep, 64)
    for row, (own_n, own_c) in enumerate(cases):
        shown = min(own_n + 1, 64)
        for x in range(shown):
            twin = exact_mean(own_n, own_c, keep, x)
            assert found[row, x] == pytest.approx(twin, rel=1e-12)
        # whatever stands beside it
        alone = mean_kept(n[row : row + 1], c[row : row + 1], keep, 64)[0]
        np.testing.assert_array_equal(found[row, :shown], alone[:shown])


def of_all_tied(n, c):
    """α-DCG with α = 1/2 if n documents tie, c of them relevant to one subtopic."""
    if c == 1:
        return sum(1 / math.log2(x + 1) for x in range(1, n + 1)) / n
    # what is left after some hundred places is nothing
    return sum(
        c / n * exact_mean(n - 1, c - 1, 0.5, x - 1) / math.log2(x + 1)
        for x in range(1, min(n, 400) + 1)
    )


@pytest.mark.parametrize(("n", "c"), [(300, 5), (400, 30), (3000, 900), (20_000, 1)])
def test_a_long_tie_is_summed_to_its_end(n, c):
    labels = (np.arange(n) < c).astype(float)[:, None]
    report = evaluate_subtopics(labels, np.ones(n), measures=AlphaDCG())
    assert report.expected[0, 0] == pytest.approx(of_all_tied(n, c), rel=1e-11)


def test_a_million_tied_documents():
    labels = np.zeros((1_000_000, 1))
    labels[::1000] = 1
    report = evaluate_subtopics(
        labels, np.ones(len(labels)), measures=["alpha_dcg", "alpha_ndcg@20", "nrbp"]
    )
    value = sum(
        0.75 * 0.5**x * 1e-3 * exact_mean(999_999, 999, 0.5, x) for x in range(40)
    )
    assert report.expected[0, 2] == pytest.approx(value, rel=1e-9)
    assert 0 < report.expected[0, 1] < report.expected[0, 0]
