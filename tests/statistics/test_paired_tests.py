"""Paired tests of differences, of many rows at once."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics import paired_tests
from tieaware_sklearn.statistics.paired_tests import ALTERNATIVES, TESTS


def paired_test(difference, *arguments, **drawn):
    """Statistic and p-value of one row."""
    row = np.asarray(difference)[None]
    statistics, pvalues = paired_tests.paired_tests(row, *arguments, **drawn)
    return statistics[0], pvalues[0]


@pytest.mark.parametrize("cells", [1, 2**18])
def test_random_signs_and_how_many_are_drawn_at_a_time(monkeypatch, cells):
    monkeypatch.setattr(paired_tests, "_CELLS", cells)
    rows = np.random.default_rng(1).integers(-9, 10, (3, 7))
    # the bits that scipy.stats.permutation_test draws
    rng = np.random.default_rng(2)
    signs = 2 * (rng.integers(2**32, size=(99, 7)) % 2) - 1
    sums = rows @ signs.T
    observed = rows.sum(axis=1)[:, None]
    less = ((sums <= observed).sum(axis=1) + 1) / 100
    more = ((sums >= observed).sum(axis=1) + 1) / 100
    both = np.minimum(2 * np.minimum(less, more), 1)
    for alternative, expected in zip(ALTERNATIVES, (both, more, less), strict=True):
        pvalues = paired_tests.randomization_pvalues(rows / 10, alternative, 99, 2)
        assert pvalues.tolist() == expected.tolist()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n", [1, 2, 4, 13, 14, 50, 51, 300])
def test_many_tests_at_once_are_those_one_by_one_to_the_last_bit(test, n):
    rng = np.random.default_rng(n)
    # thirds, which no float is, of few values: ties, and sums that should be equal
    rows = np.round(rng.normal(0.1, 1, (8, n)), 1) / 3
    rows[0] = 0
    rows[1, 1:] = 0
    rows[2] = 1e-13
    rows[3:6] = rng.normal(0.1, 1, (3, n))
    # differences that only rounding tells apart
    rows[-1, ::2] += 1e-15
    options = {"n_resamples": 199, "random_state": 3}
    alternatives = ALTERNATIVES
    if n == 13 and test == "wilcoxon":
        # scipy goes through all signs of each row with ties, which takes long
        rows = rows[[0, 3, -1]]
        alternatives = ["greater"]
    for alternative in alternatives:
        results = []
        for part in (rows, *np.array_split(rows, 3)):
            result = paired_tests.paired_tests(part, test, alternative, **options)
            results.append(result)
        whole, *parts = results
        alone = [paired_test(row, test, alternative, **options) for row in rows]
        np.testing.assert_array_equal(whole, np.transpose(alone))
        np.testing.assert_array_equal(whole, np.concatenate(parts, axis=1))
        if n == 1:
            continue
        # those of scipy, where rounding does not tell differences apart
        for row, result in zip(np.round(rows, 12), alone, strict=True):
            if test == "wilcoxon" and row.any():
                expected = stats.wilcoxon(row, alternative=alternative)
                assert result == (expected.statistic, expected.pvalue)
            elif test == "t" and np.ptp(row):
                expected = stats.ttest_1samp(row, 0, alternative=alternative)
                assert result == pytest.approx([*expected])
            elif test == "randomization":
                assert result[0] == pytest.approx(row.mean(), abs=1e-12)


@settings(max_examples=50)
@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=7).filter(any),
    st.sampled_from(ALTERNATIVES),
)
# of the floats, whose sum is 0 but for rounding, scipy says .5
@example([-5, 2, 1, 2], "greater")
@example([-9, 1, 8], "less")
@example([-5, 2, 1, 2], "two-sided")
def test_randomization_is_the_share_of_all_signs(tenths, alternative):
    options = {"permutation_type": "samples", "n_resamples": math.inf}
    options["alternative"] = alternative
    # exact for whole numbers; sums of tenths are often equal but for rounding
    expected = stats.permutation_test((tenths,), np.sum, **options).pvalue
    row = np.array(tenths) / 10
    pvalues = paired_tests.randomization_pvalues(row[None], alternative, 9999, 0)
    assert pvalues == [expected]


NUMBERS = st.integers(-(10**12), 10**12)


@settings(max_examples=30)
@given(
    st.lists(NUMBERS, min_size=1, max_size=50).filter(any),
    st.randoms(use_true_random=False),
)
def test_sums_of_whole_numbers_are_exact(values, random):
    row = np.array(values) / 7e11
    (whole,) = paired_tests.whole_numbers(row[None])
    assert np.array_equal(whole, np.rint(whole))
    total = whole.sum()
    numbers = whole.tolist()
    assert int(total) == sum(map(int, numbers))
    shuffled = random.sample(numbers, len(numbers))
    assert np.add.accumulate(shuffled)[-1] == total
    unit = np.abs(row).max() / np.abs(whole).max()
    assert np.allclose(whole * unit, row, rtol=0, atol=unit)


def test_the_statistic_of_a_weighted_randomization_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    rows = rng.normal(0.2, 1, (3, 12))
    weight = rng.integers(1, 5, 12).astype(float)
    statistics, _ = paired_tests.paired_tests(rows, "randomization", weight=weight)
    means = np.average(rows, axis=1, weights=weight)
    assert statistics == pytest.approx(means)
