"""Labels prepared once."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn.evaluation._labelled_queries import label_codes


@given(
    st.lists(
        st.sampled_from([-1.0, 0.0, 1.0, 2.5, 7.0, 253.0, 254.0, 300.0, math.inf]),
        min_size=1,
    )
)
def test_codes_of_labels(labels):
    values = np.array(labels)
    levels, codes = label_codes(values)
    assert np.array_equal(levels[codes], values)
    assert np.array_equal(levels, np.unique(values))
