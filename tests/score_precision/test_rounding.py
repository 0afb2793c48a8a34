"""Bands of ranks and the most that they can cost; digits, bits and levels."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.strategies import queries
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.score_precision import (
    band_scores,
    geometric_bands,
    rank_safe_depth,
    round_scores,
    worst_case_loss,
)
from tieaware_sklearn.score_precision._coarse_ranker import parse_coarseness

RATIOS = st.fractions(min_value=Fraction(101, 100), max_value=4)


@settings(max_examples=60)
@given(rho=RATIOS, n=st.integers(1, 10**6))
def test_bands_cover_every_rank_once(rho, n):
    bands = geometric_bands(n, rho)
    assert bands[0] == 1
    assert bands[-1] <= n
    following = [math.ceil(rho * int(b)) for b in bands]
    assert bands[1:].tolist() == following[:-1]
    assert following[-1] > n
    assert (np.diff(bands) >= 1).all()


def test_floats_are_decimals():
    assert geometric_bands(300, 1.1).tolist() == geometric_bands(300, "11/10").tolist()
    assert geometric_bands(300, "1.1").tolist() == geometric_bands(300, 1.1).tolist()
    # 11/10 of 170 is 187; products of floats say 188
    assert math.ceil(1.1 * 170) == 188
    assert geometric_bands(300, Fraction(11, 10)).tolist().count(188) == 0
    assert rank_safe_depth(np.float32(1.1)) == rank_safe_depth(1.1)


@settings(max_examples=50)
@given(rho=RATIOS)
def test_rank_safe_means_alone_in_its_band(rho):
    depth = rank_safe_depth(rho)
    bands = geometric_bands(depth + 3, rho).tolist()
    assert bands[:depth] == list(range(1, depth + 1))
    if depth:
        assert math.ceil(rho * depth) == depth + 1
    assert math.ceil(rho * (depth + 1)) > depth + 2


def test_rank_safe_depth_of_known_ratios():
    found = [rank_safe_depth(rho) for rho in (1.1, 1.2, 1.4, 1.7, 2, 2.5)]
    assert found == [10, 5, 2, 1, 1, 0]


@settings(max_examples=40)
@given(case=queries(), rho=RATIOS, seed=st.integers(0, 99))
def test_banding_keeps_order_and_existing_ties(case, rho, seed):
    _, scores, qid = (np.array(column) for column in case)
    banded = band_scores(scores, rho, qid=qid)
    assert np.array_equal(np.isneginf(banded), np.isneginf(scores))
    for q in set(qid.tolist()):
        own, mine = scores[qid == q], banded[qid == q]
        for a, x in zip(own, mine, strict=True):
            above = (own > a).sum()
            assert (mine[own == a] == x).all()
            assert (mine[own < a] <= x).all()
            if a > -math.inf:
                bands = geometric_bands(int(above) + 1, rho)
                assert x == 1 / len(bands)
    shuffled = np.random.default_rng(seed).permutation(len(scores))
    again = band_scores(scores[shuffled], rho, qid=qid[shuffled])
    assert np.array_equal(again, banded[shuffled])


def test_the_bound_is_for_rankings_without_ties():
    labels, scores = np.array([0, 0, 1, 0, 0, 0]), np.array([5, 5, 4, 1, 1, 1])
    bound = worst_case_loss("rr", 1.4)
    exact = ranking_score(labels, scores, measure="rr")
    # ranks 3 and 4 are a band: all that tie from rank 4 on go into it
    kept = ranking_score(labels, band_scores(scores, 1.4), measure="rr")
    assert exact - kept == pytest.approx(1 / 3 - (1 / 3 + 1 / 4 + 1 / 5 + 1 / 6) / 4)
    assert exact - kept > bound
    for order in itertools.permutations(range(6)):
        own, ranked = labels[list(order)], scores[list(order)]
        bands = band_scores(ranked, 1.4, existing_ties="order")
        plain = ranking_score(own, ranked, measure="rr", ties="input")
        assert plain - ranking_score(own, bands, measure="rr") <= bound


def test_existing_ties_in_the_order_of_the_file():
    scores = [5, 3, 3, 3, 1, -math.inf]
    kept = [1, 1 / 2, 1 / 2, 1 / 2, 1 / 3, -math.inf]
    assert band_scores(scores, 2).tolist() == kept
    ordered = [1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, -math.inf]
    assert band_scores(scores, 2, existing_ties="order").tolist() == ordered


def test_table_2_of_the_paper():
    printed = {
        "rr": [0.0038, 0.0119, 0.0417, 0.0833, 0.0833],
        "rbp(p=0.5)": [0.0002, 0.0052, 0.0429, 0.0945, 0.1016],
        "rbp(p=0.85)": [0.0087, 0.0231, 0.0482, 0.0777, 0.0971],
    }
    for measure, row in printed.items():
        found = [worst_case_loss(measure, rho) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
        assert [round(loss, 4) for loss in found] == row


@pytest.mark.parametrize("measure", ["rr", "rbp(p=0.5)", "rbp(p=0.85)"])
@pytest.mark.parametrize("rho", ["3/2", 2, 3])
def test_no_ranking_loses_more_and_one_loses_that_much(measure, rho):
    """Every labelling of ten ranks."""
    n = 10
    scores = -np.arange(n, dtype=float)
    every = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    qid = np.repeat(np.arange(2**n), n)
    rows = np.tile(scores, 2**n)
    banded = np.tile(band_scores(scores, rho), 2**n)
    values = [
        evaluate(every.ravel(), s, qid=qid, measures=measure).expected[:, 0]
        for s in (rows, banded)
    ]
    loss = (values[0] - values[1]).max()
    bound = worst_case_loss(measure, rho)
    assert loss <= bound + 1e-12
    # what lies deeper than ten ranks, or in a band that ten ranks cut
    rest = 0 if measure == "rr" else float(measure[6:-1]) ** 7
    assert loss >= bound - rest - 1e-12


# -- digits, bits and levels

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


@settings(max_examples=150)
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


@pytest.mark.parametrize(
    ("how", "scores", "expected"),
    [
        ("decimals=0", [1.005, 2.675, 0.5], [1, 3, 0]),
        ("decimals=-2", [1250.0, 1350.0], [1200, 1400]),
        ("decimals=-1", [7, 8], [10, 10]),
        ("significant=3", [1234.5, 0.00123451], [1230, 0.00123]),
        # 8 bits of mantissa: 1 + 2^-8 is halfway and goes to even
        ("bits=bfloat16", [1, 1 + 2**-8, 1 + 3 * 2**-8], [1, 1, 1 + 2**-6]),
        ("bits=bfloat16", [1e39], [(2 - 2**-7) * 2.0**127]),
        # not by way of 32 bits, where this is halfway
        ("bits=bfloat16", [1 + 2**-8 + 2**-30, 2.0**-133], [1 + 2**-7, 2**-133]),
        ("bits=bfloat16", [1.6 * 2**-133, 2.0**-135], [2**-132, 0]),
        ("bits=float16", [0.1, 70000.0], [float(np.float16(0.1)), 65504]),
        ("bits=1", [0, 0.4, 0.6, 1], [0, 0, 1, 1]),
        ("levels=4", [3.0, 3.0], [3, 3]),
        ("levels=2", [0.0, 5e-324], [0.0, 5e-324]),
    ],
)
def test_rounding_by_hand(how, scores, expected):
    assert round_scores(scores, how).tolist() == expected


def test_levels_and_bands_of_queries():
    apart = round_scores([0, 10, 0.4, 14, 1, 20], "levels=2", qid=[1, 2, 1, 2, 1, 2])
    assert apart.tolist() == [0, 10, 0, 10, 1, 20]
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
    ("call", "message"),
    [
        (lambda: geometric_bands(0, 2), "n_documents must be an integer >= 1, got 0"),
        (lambda: geometric_bands(2**70, 2), "n_documents must be at most .*1180591"),
        (lambda: geometric_bands(5, 1), "rho must be > 1, got 1"),
        (lambda: geometric_bands(5, "x"), "rho must be a number > 1, .* got 'x'"),
        (lambda: geometric_bands(5, math.nan), "rho must be a number > 1, .* got nan"),
        (lambda: geometric_bands(5, math.inf), "rho must be a number > 1, .* got inf"),
        (lambda: geometric_bands(5, "1/0"), "rho must be a number > 1, .* got '1/0'"),
        (lambda: geometric_bands(5, None), "rho must be a number > 1, .* got None"),
        (lambda: band_scores([1], 2, existing_ties="x"), "existing_ties must be"),
        (lambda: band_scores([math.nan], 2), "y_score must not be NaN"),
        (lambda: band_scores([], 2), "y_score must not be empty"),
        (lambda: band_scores([1, 2], 2, qid=[1]), "qid must have one value per row"),
        (lambda: band_scores([[1], [1, 2]], 2), "y_score must be a 1-D array"),
        (lambda: worst_case_loss("ap", 2), "measure must be RR or RBP without a cut"),
        (lambda: worst_case_loss("rr@5", 2), "measure must be RR or RBP without a cut"),
        (lambda: round_scores([[1], [1, 2]], "decimals=1"), "y_score must be a 1-D"),
        (lambda: round_scores([math.nan], "rho=2"), "y_score must not be NaN"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
        ("levels=float16", "levels must be an integer >= 2, got 'float16'"),
        ("decimals=1.5", "decimals must be an integer >= -308, got '1.5'"),
        ("decimals=-309", "decimals must be an integer >= -308, got '-309'"),
        ("significant=0", "significant must be an integer >= 1, got '0'"),
        ("bits=int8", "bits must be one of .*'bfloat16'.* or an integer >= 1, got"),
    ],
)
def test_bad_coarseness(text, message):
    with pytest.raises(ValueError, match=message):
        round_scores([1], text)
