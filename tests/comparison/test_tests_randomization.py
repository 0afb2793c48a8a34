"""Fisher's randomisation test."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.comparison._systems import (
    ALTERNATIVES,
    random_signs,
    randomization_pvalue,
    randomization_pvalues,
    whole_numbers,
)

TENTHS = st.lists(st.integers(-9, 9), min_size=2, max_size=7).filter(any)


def by_all_signs(tenths, alternative):
    """The p-value by its definition, in fractions."""
    observed = Fraction(sum(tenths), 10)
    sums = [
        sum(map(mul, signs, tenths), Fraction()) / 10
        for signs in product([-1, 1], repeat=len(tenths))
    ]
    less = Fraction(sum(total <= observed for total in sums), len(sums))
    greater = Fraction(sum(total >= observed for total in sums), len(sums))
    both = min(2 * min(less, greater), Fraction(1))
    return {"less": less, "greater": greater, "two-sided": both}[alternative]


@given(TENTHS, st.sampled_from(ALTERNATIVES))
def test_the_share_of_all_signs(tenths, alternative):
    # sums of tenths are often equal but for rounding
    row = np.array(tenths) / 10
    expected = float(by_all_signs(tenths, alternative))
    assert randomization_pvalue(row, alternative, 9999, 0) == expected
    signs = random_signs(len(row), 9999, 0)
    assert randomization_pvalues(row[None], signs, alternative) == [expected]


def test_a_sum_of_0_but_for_rounding():
    # scipy.stats.permutation_test of the floats says .5
    row = np.array([-0.5, 0.2, 0.1, 0.2])
    assert randomization_pvalue(row, "greater", 9999, 0) == 0.5625


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_signs_are_those_of_many_rows(alternative):
    rows = np.random.default_rng(1).normal(0.1, 1, (3, 300))
    signs = random_signs(300, 999, 5)
    assert signs.shape == (999, 300)
    found = randomization_pvalues(rows, signs, alternative)
    alone = [randomization_pvalue(row, alternative, 999, 5) for row in rows]
    assert np.array_equal(found, alone)


def test_signs_are_all_or_random():
    every = random_signs(5, 99, 0)
    assert len({tuple(row) for row in every.tolist()}) == len(every) == 32
    some = random_signs(5, 31, 0)
    assert some.shape == (31, 5)
    assert set(some.ravel().tolist()) == {-1, 1}
    assert not np.array_equal(some, random_signs(5, 31, 1))


@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=50).filter(any),
    st.permutations(range(50)),
)
def test_sums_of_whole_numbers_are_exact(values, order):
    row = np.array(values) / 7e11
    (whole,) = whole_numbers(row[None])
    assert np.array_equal(whole, np.rint(whole))
    assert int(whole.sum()) == sum(map(int, whole.tolist()))
    shuffled = whole[[at for at in order if at < len(whole)]]
    assert np.add.accumulate(shuffled)[-1] == whole.sum()
    unit = np.abs(row).max() / np.abs(whole).max()
    assert np.allclose(whole * unit, row, rtol=0, atol=unit)
