"""The spelling of coarseness; scores rounded to digits, bits and levels."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tieaware_sklearn.score_precision import band_scores, round_scores
from tieaware_sklearn.score_precision._coarse_ranker import parse_coarseness

FORMATS = ["float16", "bfloat16", "float32"]
HOW = st.one_of(
    st.integers(-5, 20).map("decimals={}".format),
    st.integers(1, 18).map("significant={}".format),
    st.sampled_from(FORMATS).map("bits={}".format),
    st.integers(1, 70).map("bits={}".format),
    st.integers(2, 1000).map("levels={}".format),
)
ANY = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.just(-math.inf),
)


@settings(max_examples=500)
@given(scores=st.lists(ANY, min_size=1, max_size=30), how=HOW)
@example(scores=[1.7976931348623157e308, -9.9792015476736e291], how="bits=1")
@example(scores=[1.7976931348623157e308, -9.9792015476736e291], how="decimals=0")
def test_rounding_never_reverses_an_order(scores, how):
    rounded = round_scores(scores, how)
    there = np.isfinite(scores)
    assert np.array_equal(np.isneginf(rounded), ~there)
    order = np.argsort(scores, kind="stable")
    ascending = rounded[order][there[order]]
    assert (ascending[1:] >= ascending[:-1]).all()
    assert np.isfinite(rounded[there]).all()
    again = round_scores(rounded, how)
    if re.fullmatch("decimals=.*|significant=.*|bits=.*float.*", how):
        assert np.array_equal(again, rounded)


def test_rounding_by_hand():
    assert round_scores([1.005, 2.675, 0.5], "decimals=0").tolist() == [1, 3, 0]
    assert round_scores([1250.0, 1350.0], "decimals=-2").tolist() == [1200, 1400]
    assert round_scores([7, 8], "decimals=-1").tolist() == [10, 10]
    assert round_scores([1234.5, 0.00123451], "significant=3").tolist() == [
        1230,
        0.00123,
    ]
    # 8 bits of mantissa: 1 + 2^-8 is halfway and goes to even
    eighth = [1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1e39]
    found = round_scores(eighth, "bits=bfloat16")
    assert found.tolist()[:3] == [1, 1, 1 + 2**-6]
    assert np.isfinite(found).all()
    # not by way of 32 bits, where this is halfway
    above_half = [1 + 2**-8 + 2**-30, 2.0**-133, 1.6 * 2**-133, 2.0**-135]
    found = round_scores(above_half, "bits=bfloat16")
    assert found.tolist() == [1 + 2**-7, 2**-133, 2**-132, 0]
    half = round_scores([0.1, 70000.0], "bits=float16")
    assert half.tolist() == [float(np.float16(0.1)), 65504]
    assert round_scores([0, 0.4, 0.6, 1], "bits=1").tolist() == [0, 0, 1, 1]
    assert round_scores([3.0, 3.0], "levels=4").tolist() == [3, 3]
    by_query = round_scores([0, 0.4, 1, 10, 14, 20], "levels=2", qid=[1, 1, 1, 2, 2, 2])
    assert by_query.tolist() == [0, 0, 1, 10, 10, 20]
    tiny = [0.0, 5e-324]
    assert round_scores(tiny, "levels=2").tolist() == tiny
    apart = round_scores([0, 10, 0.4, 14, 1, 20], "levels=2", qid=[1, 2, 1, 2, 1, 2])
    assert apart.tolist() == [0, 10, 0, 10, 1, 20]


def test_bands_are_one_more_coarseness():
    scores, qid = [9.5, 7.1, 6.0, 5.9, -math.inf, 5.8], list("aababa")
    for ids in (None, qid):
        expected = band_scores(scores, "3/2", qid=ids)
        assert round_scores(scores, "rho=3/2", qid=ids).tolist() == expected.tolist()


def test_one_spelling():
    level = parse_coarseness(" levels = 7")
    assert str(level) == "levels=7"
    assert parse_coarseness(level) is level
    assert parse_coarseness("rho=2") == parse_coarseness("rho=4/2")
    assert str(parse_coarseness("rho=4/2")) == "rho=4/2"
    assert parse_coarseness("bits=8") != parse_coarseness("levels=8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (1.1, 'coarseness must be a text such as "rho=1.1", .* got 1.1'),
        (None, "coarseness must be a text such as .* got None"),
        ({"bits": 8}, "coarseness must be a text such as .* got {'bits': 8}"),
        ("fine", "coarseness must be a text such as .* got 'fine'"),
        ("size=3", "coarseness 'size=3': the kind must be one of .* got 'size'"),
        ("rho=0.9", "rho must be > 1, got '0.9'"),
        ("rho=", "rho must be a number > 1, .* got ''"),
        ("levels=1", "levels must be an integer >= 2, got '1'"),
        ("levels=x", "levels must be an integer >= 2, got 'x'"),
        ("decimals=1.5", "decimals must be an integer >= -308, got '1.5'"),
        ("decimals=-309", "decimals must be an integer >= -308, got '-309'"),
        ("significant=0", "significant must be an integer >= 1, got '0'"),
        ("bits=int8", "bits must be one of .*'bfloat16'.* or an integer >= 1, got"),
        ("levels=float16", "levels must be an integer >= 2, got 'float16'"),
    ],
)
def test_bad_coarseness(text, message):
    with pytest.raises(ValueError, match=message):
        round_scores([1], text)


@pytest.mark.parametrize(
    ("scores", "coarseness", "message"),
    [
        ([[1], [1, 2]], "decimals=1", "y_score must be a 1-D"),
        ([math.nan], "rho=2", "y_score must not be NaN"),
    ],
)
def test_bad_input(scores, coarseness, message):
    with pytest.raises(ValueError, match=message):
        round_scores(scores, coarseness)
