"""Expected reciprocal rank."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.measures import ERR
from tieaware_sklearn.measures._err import mean_double_products


def test_err_takes_no_label_above_its_scale():
    with pytest.raises(ValueError, match="must be <= max_label=4 for ERR, got 5"):
        ranking_score([5, 0], [1, 2], measure="err")
    assert ranking_score([5, 0], [2, 1], measure="err(max_label=5)") == 31 / 32


@pytest.mark.parametrize("k", [20, None])
def test_err_of_a_hundred_thousand_tied_documents(k):
    """One label above 0: the chance to pass x documents is a hypergeometric mean."""
    n, r, q = 100_000, 300, Fraction(9, 16)
    labels = np.zeros(n)
    labels[:r] = 3
    report = evaluate(labels, np.zeros(n), measures=[ERR(k)])
    # E[P_x] = Σ_j C(x, j) r^(j) (q - 1)^j / n^(j), falling powers: all places of
    # the same j together, Σ_x C(x - 1, j)/x done in floats of 40 digits
    if k is not None:
        passed = [Fraction(0)] * (k + 1)
        for x in range(k + 1):
            total, ways = Fraction(0), Fraction(1)
            for j in range(x + 1):
                total += ways * (q - 1) ** j
                ways = ways * (x - j) / (j + 1) * Fraction(r - j, n - j)
            passed[x] = total
        value = sum((passed[x - 1] - passed[x]) / x for x in range(1, k + 1))
        assert report.expected[0, 0] == pytest.approx(float(value), abs=1e-14)
        assert not report.std_is_estimate[0, 0]
    else:
        # P_x after x documents as the binomial limit cannot be: count places of
        # the i-th relevant one instead, Σ_i q^(i-1) (1-q) E[1/place_i]
        value = math.fsum(
            float(q) ** (i - 1) * float(1 - q) * mean_reciprocal_place(n, r, i)
            for i in range(1, 80)
        )
        assert report.expected[0, 0] == pytest.approx(value, rel=1e-9)
        assert report.std_is_estimate[0, 0]
        assert "tie std of 1 query is estimated from sampled orders" in str(report)


def mean_reciprocal_place(n: int, r: int, i: int) -> float:
    """E[1/place] of the i-th of r documents among n, by its distribution."""
    place = np.arange(i, n - r + i + 1, dtype=np.longdouble)
    # C(place-1, i-1) C(n-place, r-i) / C(n, r), from the mode outwards
    ratio = (place[:-1] / (place[:-1] - i + 1)) * (
        (n - place[:-1] - (r - i)) / (n - place[:-1])
    )
    logs = np.concatenate([[0], np.cumsum(np.log(ratio))])
    chance = np.exp(logs - logs.max())
    return float((chance / place).sum() / chance.sum())


def test_err_integrated_and_summed_agree():
    """Beyond 256 places whole groups are integrated, cut ones are summed."""
    rng = np.random.default_rng(0)
    labels = rng.choice(5, 700, p=[0.96, 0.02, 0.01, 0.005, 0.005])
    for above in (0, 1, 50):
        y = np.concatenate([np.zeros(above), labels])
        scores = np.concatenate([np.ones(above), np.zeros(700)])
        whole = ranking_score(y, scores, measure="err")
        cut = ranking_score(y, scores, measure=f"err@{700 + above}")
        almost = ranking_score(y, scores, measure=f"err@{699 + above}")
        assert whole == pytest.approx(cut, abs=1e-15)
        assert 0 <= whole - almost < 1e-4


def test_std_of_err_sampled_is_near_the_exact_one():
    rng = np.random.default_rng(3)
    labels = rng.choice(5, 120, p=[0.7, 0.1, 0.1, 0.05, 0.05])
    short = evaluate(labels, np.zeros(120), measures=["err@64", "err@65", "err"])
    assert short.std_is_estimate[0].tolist() == [False, True, True]
    assert short.std[0, 1:] == pytest.approx(short.std[0, 0], rel=0.01)
    # few relevant documents of many: sampled by where they stand
    labels = np.zeros(5000)
    labels[:3] = 4, 2, 1
    rare = evaluate(labels, np.zeros(5000), measures="err")
    # all places x < y < z of the three, in all orders of their labels
    n, ways = 5000, math.comb(5000, 3)
    x = np.arange(1.0, n + 1)
    inverse = 1 / x
    chances = [(n - x) * (n - x - 1) / 2, (x - 1) * (n - x), (x - 1) * (x - 2) / 2]
    later = np.cumsum((inverse * (n - x))[::-1])[::-1] - inverse * (n - x)
    pairs = [
        (inverse * later).sum(),  # x and y, z anywhere below
        sum(
            (inverse[i] * inverse[i + 1 :] * (x[: n - i - 1] - 1)).sum()
            for i in range(n)
        ),
        ((x - 1) * inverse * (np.cumsum(inverse[::-1])[::-1] - inverse)).sum(),
    ]
    mean = square = 0.0
    for a, b, c in itertools.permutations([15 / 16, 3 / 16, 1 / 16]):
        v = [a, (1 - a) * b, (1 - a) * (1 - b) * c]
        for worth, chance in zip(v, chances, strict=True):
            mean += worth * (chance * inverse).sum() / ways / 6
            square += worth**2 * (chance * inverse**2).sum() / ways / 6
        cross = v[0] * v[1] * pairs[0] + v[0] * v[2] * pairs[1] + v[1] * v[2] * pairs[2]
        square += 2 * cross / ways / 6
    exact = square - mean**2
    assert rare.expected[0, 0] == pytest.approx(mean, rel=1e-9)
    assert rare.std_is_estimate[0, 0]
    assert rare.std[0, 0] == pytest.approx(math.sqrt(exact), rel=0.05)


def test_err_of_many_labels_equals_that_of_an_enumeration_in_parts():
    """Distinct labels, one by one, against a few orders drawn."""
    rng = np.random.default_rng(0)
    labels = np.round(rng.random(300) * 4, 6)
    report = evaluate(labels, np.zeros(300), measures=["err@10", "err"])
    stop = (2**labels - 1) / 16
    drawn = np.stack([rng.permutation(stop) for _ in range(20_000)])
    reached = np.cumprod(1 - drawn, axis=1) / (1 - drawn)
    values = reached * drawn / np.arange(1, 301)
    for j, value in enumerate((values[:, :10].sum(axis=1), values.sum(axis=1))):
        error = value.std() / math.sqrt(len(value))
        assert report.expected[0, j] == pytest.approx(value.mean(), abs=4 * error)
        assert report.std[0, j] == pytest.approx(value.std(), rel=0.03)


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
    square = share @ np.array([1, 0.75, 0.25]) ** 2
    mean = share @ np.array([1, 0.75, 0.25])
    for x, z in ((0, 64), (64, 0), (20, 30)):
        assert double[0, x, z] == pytest.approx(square**x * mean**z, rel=1e-3)
