"""Scores rounded to digits, bits and levels."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tieaware_sklearn.score_precision import round_scores

FORMATS = ["float16", "bfloat16", "float32"]
HOW = st.one_of(
    st.fixed_dictionaries({"decimals": st.integers(-5, 20)}),
    st.fixed_dictionaries({"significant": st.integers(1, 18)}),
    st.fixed_dictionaries({"bits": st.sampled_from(FORMATS)}),
    st.fixed_dictionaries({"bits": st.integers(1, 70)}),
    st.fixed_dictionaries({"levels": st.integers(2, 1000)}),
)
ANY = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.just(-math.inf),
)


@settings(max_examples=500)
@given(scores=st.lists(ANY, min_size=1, max_size=30), how=HOW)
@example(scores=[1.7976931348623157e308, -9.9792015476736e291], how={"bits": 1})
@example(scores=[1.7976931348623157e308, -9.9792015476736e291], how={"decimals": 0})
def test_rounding_never_reverses_an_order(scores, how):
    rounded = round_scores(scores, **how)
    there = np.isfinite(scores)
    assert np.array_equal(np.isneginf(rounded), ~there)
    order = np.argsort(scores, kind="stable")
    ascending = rounded[order][there[order]]
    assert (ascending[1:] >= ascending[:-1]).all()
    assert np.isfinite(rounded[there]).all()
    again = round_scores(rounded, **how)
    if "levels" not in how and not isinstance(how.get("bits"), int):
        assert np.array_equal(again, rounded)


def test_rounding_by_hand():
    assert round_scores([1.005, 2.675, 0.5], decimals=0).tolist() == [1, 3, 0]
    assert round_scores([1250.0, 1350.0], decimals=-2).tolist() == [1200, 1400]
    assert round_scores([7, 8], decimals=-1).tolist() == [10, 10]
    assert round_scores([1234.5, 0.00123451], significant=3).tolist() == [1230, 0.00123]
    # 8 bits of mantissa: 1 + 2^-8 is halfway and goes to even
    eighth = [1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1e39]
    found = round_scores(eighth, bits="bfloat16")
    assert found.tolist()[:3] == [1, 1, 1 + 2**-6]
    assert np.isfinite(found).all()
    # not by way of 32 bits, where this is halfway
    above_half = [1 + 2**-8 + 2**-30, 2.0**-133, 1.6 * 2**-133, 2.0**-135]
    found = round_scores(above_half, bits="bfloat16")
    assert found.tolist() == [1 + 2**-7, 2**-133, 2**-132, 0]
    half = round_scores([0.1, 70000.0], bits="float16")
    assert half.tolist() == [float(np.float16(0.1)), 65504]
    assert round_scores([0, 0.4, 0.6, 1], bits=1).tolist() == [0, 0, 1, 1]
    assert round_scores([3.0, 3.0], levels=4).tolist() == [3, 3]
    by_query = round_scores([0, 0.4, 1, 10, 14, 20], levels=2, qid=[1, 1, 1, 2, 2, 2])
    assert by_query.tolist() == [0, 0, 1, 10, 10, 20]
    calibrated = round_scores([-5, 0.4, 9], levels=2, limits=(0, 1))
    assert calibrated.tolist() == [0, 0, 1]
    tiny = [0.0, 5e-324]
    assert round_scores(tiny, levels=2).tolist() == tiny
    apart = round_scores([0, 10, 0.4, 14, 1, 20], levels=2, qid=[1, 2, 1, 2, 1, 2])
    assert apart.tolist() == [0, 10, 0, 10, 1, 20]
