"""Paired tests, effect sizes and corrections."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from operator import mul

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.comparison._systems import (
    ALTERNATIVES,
    TESTS,
    QueryLosses,
    paired_effect,
    paired_pvalues,
    paired_test,
    random_signs,
    randomization_pvalue,
    randomization_pvalues,
    tukey_pvalues,
    whole_numbers,
)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_scipys_numbers(alternative):
    difference = np.random.default_rng(1).normal(0.1, 0.3, size=50)
    t = stats.ttest_1samp(difference, 0, alternative=alternative)
    assert paired_test(difference, "t", alternative) == t[:2]
    expected = stats.wilcoxon(difference, alternative=alternative)
    found = paired_test(difference, "wilcoxon", alternative)
    assert found == (expected.statistic, expected.pvalue)
    drawn = {"n_resamples": 4999, "random_state": 1}
    found = paired_test(difference, "randomization", alternative, **drawn)
    assert found.pvalue == pytest.approx(t.pvalue, abs=0.01)
    assert found.statistic == difference.mean()
    assert found == paired_test(difference, "randomization", alternative, **drawn)
    assert found != paired_test(difference, "randomization", alternative)
    assert paired_test(difference, "t") == paired_test(difference, "t", "two-sided")


@pytest.mark.parametrize(
    ("difference", "alternative", "expected"),
    [
        ([0.1] * 5, "two-sided", (math.inf, 0)),
        ([0.1] * 5, "greater", (math.inf, 0)),
        ([0.1] * 5, "less", (math.inf, 1)),
        ([-0.1] * 5, "less", (-math.inf, 0)),
        ([0.0] * 5, "two-sided", (0, 1)),
        ([1e-13] * 5, "greater", (0, 1)),
        ([0.1], "two-sided", (math.nan, math.nan)),
    ],
)
def test_the_same_difference_everywhere(difference, alternative, expected):
    difference = np.array(difference)
    found = paired_test(difference, "t", alternative)
    assert found == pytest.approx(expected, abs=0, nan_ok=True)
    effect = paired_effect(difference)
    assert effect == pytest.approx(expected[0], abs=0, nan_ok=True)


def test_rounding_gives_no_ranks():
    # 1 - 2/3 and 1/3 differ in their last bit
    exact = np.array([1, 1, -1, 1, 2, -3, 1, 1]) / 3
    rounded = exact.copy()
    rounded[[0, 2]] = 1 - 2 / 3, 2 / 3 - 1
    assert rounded[0] != exact[0]
    assert paired_test(rounded, "wilcoxon") == paired_test(exact, "wilcoxon")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n", [1, 2, 4, 13, 14, 50, 51, 300])
def test_many_tests_at_once_are_those_one_by_one_to_the_last_bit(test, n):
    rng = np.random.default_rng(n)
    # thirds, which no float is, of few values: ties, and sums that should be equal
    rows = np.round(rng.normal(0.1, 1, (8, n)), 1) / 3
    rows[0], rows[1, 1:], rows[2] = 0, 0, 1e-13
    rows[3:6] = rng.normal(0.1, 1, (3, n))
    options = {"n_resamples": 199, "random_state": 3}
    signs = partial(random_signs, **options)
    # there scipy goes through all signs of each row with ties
    slow = n == 13 and test == "wilcoxon"
    rows = rows[[0, 3, -1]] if slow else rows
    for alternative in ["greater"] if slow else ALTERNATIVES:
        found, *parts = (
            paired_pvalues(part, test, alternative, signs=signs)
            for part in (rows, *np.array_split(rows, 3))
        )
        alone = [paired_test(row, test, alternative, **options).pvalue for row in rows]
        assert np.array_equal(found, alone, equal_nan=True)
        assert np.array_equal(found, np.concatenate(parts), equal_nan=True)


def by_all_signs(tenths, alternative):
    """The p-value by its definition, in fractions."""
    signs = itertools.product([-1, 1], repeat=len(tenths))
    sums = [sum(map(mul, own, tenths)) for own in signs]
    less = Fraction(sum(total <= sum(tenths) for total in sums), len(sums))
    greater = Fraction(sum(total >= sum(tenths) for total in sums), len(sums))
    both = min(2 * min(less, greater), Fraction(1))
    return {"less": less, "greater": greater, "two-sided": both}[alternative]


@settings(max_examples=50)
@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=7).filter(any),
    st.sampled_from(ALTERNATIVES),
)
# scipy.stats.permutation_test of the floats, whose sum is 0 but for rounding, says .5
@example([-5, 2, 1, 2], "greater")
def test_randomization_is_the_share_of_all_signs(tenths, alternative):
    # sums of tenths are often equal but for rounding
    row = np.array(tenths) / 10
    expected = float(by_all_signs(tenths, alternative))
    assert randomization_pvalue(row, alternative, 9999, 0) == expected
    signs = random_signs(len(row), 9999, 0)
    assert randomization_pvalues(row[None], signs, alternative) == [expected]


def test_signs_are_all_or_random():
    every = random_signs(5, 99, 0)
    assert len({tuple(row) for row in every.tolist()}) == len(every) == 32
    some = random_signs(5, 31, 0)
    assert some.shape == (31, 5)
    assert set(some.ravel().tolist()) == {-1, 1}
    assert not np.array_equal(some, random_signs(5, 31, 1))
    assert random_signs(300, 999, 5).shape == (999, 300)


@settings(max_examples=30)
@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=50).filter(any),
    st.randoms(use_true_random=False),
)
def test_sums_of_whole_numbers_are_exact(values, random):
    row = np.array(values) / 7e11
    (whole,) = whole_numbers(row[None])
    assert np.array_equal(whole, np.rint(whole))
    assert int(whole.sum()) == sum(map(int, whole.tolist()))
    shuffled = random.sample(whole.tolist(), len(whole))
    assert np.add.accumulate(shuffled)[-1] == whole.sum()
    unit = np.abs(row).max() / np.abs(whole).max()
    assert np.allclose(whole * unit, row, rtol=0, atol=unit)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20),
    st.sampled_from([1.0, 0.99, 0.5]),
    st.booleans(),
)
def test_inferiority_is_scipys_test(pairs, share, up):
    exact, rough = np.array(pairs).T
    found = QueryLosses.of(exact, rough).inferiority(share, greater_is_better=up)
    d = rough - share * exact if up else exact - share * rough
    if np.ptp(d) < 1e-6:
        # such a variance is mostly rounding
        assert (found > 0.5) == (d.mean() < 0) or abs(d.mean()) < 1e-6
        return
    expected = stats.ttest_1samp(d, 0, alternative="greater").pvalue
    assert found == pytest.approx(expected, abs=1e-6)


def tukey(values):
    values = np.asarray(values, dtype=float)
    pairs = np.array(list(itertools.combinations(range(values.shape[1]), 2)))
    found = tukey_pvalues(values, pairs)
    turned = tukey_pvalues(values, pairs[:, ::-1])
    assert np.array_equal(found, turned, equal_nan=True)
    return found


def test_tukey_by_hand():
    # queries in rows; the means of systems are 4, 5 and 9, those of queries 4, 6 and
    # 8; the residuals x_ij - mean of query - mean of system + 6 are
    # 0 1 -1, 0 -1 1, 0 0 0
    found = tukey([[2, 4, 6], [4, 4, 10], [6, 7, 11]])
    mse = (1 + 1 + 1 + 1) / ((3 - 1) * (3 - 1))
    q = np.array([5 - 4, 9 - 4, 9 - 5]) / math.sqrt(mse / 3)
    assert found == pytest.approx(stats.studentized_range.sf(q, 3, 4), abs=1e-9)
    # where nothing spreads
    assert tukey(np.arange(5.0)[:, None] + np.array([0, 0, 1])).tolist() == [1, 0, 0]
    assert np.isnan(tukey(np.ones((1, 3)))).all()


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 8)] * 2), min_size=2, max_size=20))
def test_tukey_of_two_systems_is_a_paired_t_test(rows):
    values = np.array(rows) / 8
    (found,) = tukey(values)
    expected = paired_test(values[:, 0] - values[:, 1], "t").pvalue
    assert found == pytest.approx(expected, abs=1e-12)


def test_neither_the_order_nor_the_level_of_queries_matters_to_tukey():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(30, 3)) / 8 + rng.random((30, 1)) + np.arange(3) / 40
    found = tukey(values)
    # nor do queries where a system is undefined
    gaps = [[np.nan, 1, 0], [0, 1, np.nan]]
    again = tukey(np.vstack([values[rng.permutation(30)], gaps]))
    assert np.array_equal(found, again)
    # what queries add to all systems alike is taken out
    raised = tukey(values + np.arange(30)[:, None])
    assert raised == pytest.approx(found, abs=1e-9)
