"""Paired tests, effect sizes and corrections."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn.comparison._systems import paired_effect, paired_test


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
    assert paired_effect(up) == math.inf
    assert all(map(math.isnan, paired_test(up[:1], "t")))
    assert math.isnan(paired_effect(up[:1]))


def test_rounding_gives_no_ranks():
    # 1 - 2/3 and 1/3 differ in their last bit
    exact = np.array([1, 1, -1, 1, 2, -3, 1, 1]) / 3
    rounded = exact.copy()
    rounded[0] = 1 - 2 / 3
    rounded[2] = 2 / 3 - 1
    assert rounded[0] != exact[0]
    found = paired_test(rounded, "wilcoxon")
    assert found == paired_test(exact, "wilcoxon")
