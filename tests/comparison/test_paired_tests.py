"""Paired tests, effect sizes and corrections."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.comparison._paired_tests import paired_effect, paired_test


def test_randomisation_counts_all_signs_of_few_queries():
    difference = np.array([0.3, 0.1, 0.25, -0.05])
    signs = list(itertools.product([1, -1], repeat=4))
    mean = difference.mean()
    as_far = sum(abs((difference * s).mean()) >= mean - 1e-12 for s in signs)
    assert paired_test(difference, "randomization").pvalue == as_far / 16
    up = sum((difference * s).mean() >= mean - 1e-12 for s in signs)
    assert paired_test(difference, "randomization", "greater").pvalue == up / 16


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_scipys_numbers(test):
    rng = np.random.default_rng(1)
    difference = rng.normal(0.1, 0.3, size=50)
    found = paired_test(difference, test, "greater", n_resamples=4999)
    if test == "t":
        assert found == stats.ttest_1samp(difference, 0, alternative="greater")[:2]
    elif test == "wilcoxon":
        expected = stats.wilcoxon(difference, alternative="greater")
        assert found == (expected.statistic, expected.pvalue)
    else:
        t = stats.ttest_1samp(difference, 0, alternative="greater").pvalue
        assert found.pvalue == pytest.approx(t, abs=0.01)
        again = paired_test(difference, test, "greater", n_resamples=4999)
        assert again == found


def test_the_same_difference_everywhere():
    up = np.full(5, 0.1)
    assert paired_test(up, "t") == (math.inf, 0.0)
    assert paired_test(up, "t", "greater").pvalue == 0
    assert paired_test(up, "t", "less").pvalue == 1
    assert paired_test(-up, "t", "less") == (-math.inf, 0.0)
    assert paired_effect(up, 0.95) == (math.inf,) * 3
    assert all(map(math.isnan, paired_test(up[:1], "t")))
    assert all(map(math.isnan, paired_effect(up[:1], 0.95)))


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=30),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_the_interval_of_an_effect_has_its_quantiles(values, confidence):
    difference = np.array(values)
    d, low, high = paired_effect(difference, confidence)
    if not math.isfinite(d) or abs(d) > 50:
        return
    n, tail = len(values), (1 - confidence) / 2
    assert low <= d <= high
    for end, share in ((low, 1 - tail), (high, tail)):
        found = stats.nct.cdf(d * math.sqrt(n), n - 1, end * math.sqrt(n))
        assert found == pytest.approx(share, abs=1e-7)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("n", [2, 3, 30])
def test_the_interval_of_a_huge_effect(n, scale):
    difference = 1 + np.linspace(-1, 1, n) / scale
    d, low, high = paired_effect(difference, 0.95)
    assert 0 < low < d < high
    # the mean is next to sure: only the standard deviation is open
    chi = np.sqrt(stats.chi2.ppf([0.025, 0.975], n - 1) / (n - 1))
    assert [low / d, high / d] == pytest.approx(chi, rel=0.02)
    assert paired_effect(-difference, 0.95) == pytest.approx((-d, -high, -low))


def test_rounding_gives_no_ranks():
    # 1 - 2/3 and 1/3 differ in their last bit
    exact = np.array([1, 1, -1, 1, 2, -3, 1, 1]) / 3
    rounded = exact.copy()
    rounded[0] = 1 - 2 / 3
    rounded[2] = 2 / 3 - 1
    assert rounded[0] != exact[0]
    found = paired_test(rounded, "wilcoxon")
    assert found == paired_test(exact, "wilcoxon")
