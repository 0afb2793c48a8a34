"""Corrections for multiple testing."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics.multiple_testing import adjust, tukey_test
from tieaware_sklearn.statistics.paired_tests import paired_tests

CORRECTIONS = [
    (None, [0.01, math.nan, 0.04, 0.03]),
    ("holm", [3 * 0.01, math.nan, 2 * 0.03, 2 * 0.03]),
    ("bh", [0.03, math.nan, 0.04, 0.04]),
    # times 1 + 1/2 + 1/3
    ("by", [0.03 * 11 / 6, math.nan, 0.04 * 11 / 6, 0.04 * 11 / 6]),
]


@pytest.mark.parametrize(("correction", "expected"), CORRECTIONS)
def test_corrections_by_hand(correction, expected):
    p = np.array([0.01, np.nan, 0.04, 0.03])
    adjusted = adjust(p, correction)
    np.testing.assert_allclose(adjusted, expected, rtol=1e-15)


def test_corrected_p_values_are_at_most_1_and_undefined_ones_stay():
    assert adjust(np.array([0.9, 0.8]), "holm").tolist() == [1, 1]
    assert np.isnan(adjust(np.array([np.nan]), "bh")).all()


def tukey(values, confidence=0.95):
    """p-values and intervals of all pairs, which may be turned round."""
    values = np.asarray(values, dtype=float)
    systems = range(values.shape[1])
    pairs = np.array([*itertools.combinations(systems, 2)])
    pvalues, ends = tukey_test(values, pairs, confidence)
    turned, mirrored = tukey_test(values, pairs[:, ::-1], confidence)
    np.testing.assert_array_equal(pvalues, turned)
    np.testing.assert_array_equal(ends, -mirrored[:, ::-1])
    return pvalues, ends


def test_tukey_by_hand():
    # queries in rows; the means of systems are 4, 5 and 9, those of queries 4, 6 and
    # 8; the residuals x_ij - mean of query - mean of system + 6 are
    # 0 1 -1, 0 -1 1, 0 0 0
    pvalues, ends = tukey([[2, 4, 6], [4, 4, 10], [6, 7, 11]], 0.9)
    degrees = (3 - 1) * (3 - 1)
    mse = (1 + 1 + 1 + 1) / degrees
    error = math.sqrt(mse / 3)
    gaps = np.array([4 - 5, 4 - 9, 5 - 9])
    expected = stats.studentized_range.sf(np.abs(gaps) / error, 3, degrees)
    assert pvalues == pytest.approx(expected, abs=1e-9)
    half = stats.studentized_range.ppf(0.9, 3, degrees) * error
    low, high = ends.T
    assert low == pytest.approx(gaps - half, rel=1e-9)
    assert high == pytest.approx(gaps + half, rel=1e-9)


def test_tukey_says_what_signs_say_where_nothing_spreads():
    steady = np.arange(5.0)[:, None] + np.array([0, 0, 1])
    pvalues, ends = tukey(steady)
    # for three pairs
    assert pvalues.tolist() == [1, 3 * 2 / 2**5, 3 * 2 / 2**5]
    assert np.isnan(ends).all()
    single_pair, _ = tukey(steady[:, 1:])
    assert single_pair.tolist() == [2 / 2**5]
    single_query, _ = tukey(np.ones((1, 3)))
    assert np.isnan(single_query).all()


def test_tukey_depends_on_neither_the_order_nor_the_level_of_queries():
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(30, 3)) / 8
    values = noise + rng.random((30, 1)) + np.arange(3) / 40
    pvalues, _ = tukey(values)
    # queries where a system is undefined are left out
    gaps = [[np.nan, 1, 0], [0, 1, np.nan]]
    shuffled = values[rng.permutation(30)]
    again, _ = tukey(np.vstack([shuffled, gaps]))
    assert np.array_equal(pvalues, again)
    # what queries add to all systems alike is taken out
    raised, _ = tukey(values + np.arange(30)[:, None])
    assert raised == pytest.approx(pvalues, abs=1e-9)


EIGHTHS = st.integers(0, 8)


@settings(max_examples=20)
@given(st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=2, max_size=20))
def test_tukey_of_two_systems_is_a_paired_t_test(rows):
    values = np.array(rows) / 8
    pvalues, _ = tukey(values)
    difference = values[:, 0] - values[:, 1]
    _, expected = paired_tests(difference[None], "t")
    assert pvalues == pytest.approx(expected, abs=1e-12)
