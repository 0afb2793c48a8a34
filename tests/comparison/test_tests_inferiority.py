"""The test of inferiority."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.comparison._systems import QueryLosses

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20)


@given(VALUES, st.sampled_from([1.0, 0.99, 0.5]), st.booleans())
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
