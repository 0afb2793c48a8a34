"""Many paired tests at once are those one by one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.comparison._systems import (
    ALTERNATIVES,
    TESTS,
    paired_pvalues,
    paired_test,
    random_signs,
)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 5, 13, 20, 51, 300])
def test_to_the_last_bit(test, alternative, n):
    rng = np.random.default_rng(n)
    # thirds, which no float is, of few values: ties, and sums that should be equal
    rows = np.round(rng.normal(0.1, 1, (8, n)), 1) / 3
    rows[0], rows[1, 1:], rows[2] = 0, 0, 1e-13
    rows[3:6] = rng.normal(0.1, 1, (3, n))
    options = {"n_resamples": 199, "random_state": 3}
    signs = partial(random_signs, **options)
    found = paired_pvalues(rows, test, alternative, signs=signs)
    alone = [paired_test(row, test, alternative, **options).pvalue for row in rows]
    assert np.array_equal(found, alone, equal_nan=True)
    halves = [
        paired_pvalues(part, test, alternative, signs=signs)
        for part in np.array_split(rows, 5)
    ]
    assert np.array_equal(found, np.concatenate(halves), equal_nan=True)


@given(
    st.lists(
        st.lists(st.sampled_from([-0.5, -1 / 3, 0.0, 0.1, 0.2, 1 / 3]), min_size=4,
                 max_size=4),
        min_size=1, max_size=4,
    ),
    st.sampled_from(TESTS),
    st.sampled_from(ALTERNATIVES),
)  # fmt: skip
def test_few_differences(rows, test, alternative):
    signs = partial(random_signs, n_resamples=9999, random_state=0)
    found = paired_pvalues(np.array(rows), test, alternative, signs=signs)
    alone = [paired_test(np.array(row), test, alternative).pvalue for row in rows]
    assert np.array_equal(found, alone)
