"""Bands of ranks and the most that they can cost; digits, bits and levels."""

import math
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.strategies import queries
from tieaware_sklearn import evaluate
from tieaware_sklearn.score_precision import (
    band_scores,
    geometric_bands,
    rank_safe_depth,
    round_scores,
    worst_case_loss,
)

RATIOS = st.fractions(min_value=Fraction(101, 100), max_value=4)


@settings(max_examples=60)
@given(rho=RATIOS, n=st.integers(1, 10**6))
def test_bands_cover_every_rank_once_and_safe_ranks_are_alone(rho, n):
    bands = geometric_bands(n, rho)
    following = [math.ceil(rho * int(b)) for b in bands]
    assert bands[0] == 1
    assert bands[-1] <= n < following[-1]
    assert bands[1:].tolist() == following[:-1]
    depth = rank_safe_depth(rho)
    first = geometric_bands(depth + 3, rho).tolist()
    assert first[:depth] == list(range(1, depth + 1))
    assert not depth or math.ceil(rho * depth) == depth + 1
    assert math.ceil(rho * (depth + 1)) > depth + 2


def test_floats_are_decimals():
    depths = [rank_safe_depth(rho) for rho in (1.1, 1.2, 1.4, 1.7, 2, 2.5)]
    assert depths == [10, 5, 2, 1, 1, 0]
    assert rank_safe_depth(np.float32(1.1)) == 10
    # 11/10 of 170 is 187; products of floats say 188
    exact = geometric_bands(300, Fraction(11, 10)).tolist()
    assert 188 not in exact
    for rho in (1.1, "11/10", "1.1"):
        assert geometric_bands(300, rho).tolist() == exact


@settings(max_examples=40)
@given(case=queries(), rho=RATIOS, seed=st.integers(0, 99))
def test_banding_keeps_order_and_existing_ties(case, rho, seed):
    _, scores, qid = (np.array(column) for column in case)
    banded = band_scores(scores, rho, qid=qid)
    assert np.array_equal(round_scores(scores, f"rho={rho}", qid=qid), banded)
    for q, score, banded_score in zip(qid, scores, banded, strict=True):
        above = int((scores[qid == q] > score).sum())
        bands = len(geometric_bands(above + 1, rho))
        assert banded_score == (1 / bands if score > -math.inf else -math.inf)
    rows = np.random.default_rng(seed).permutation(len(scores))
    assert np.array_equal(band_scores(scores[rows], rho, qid=qid[rows]), banded[rows])


def test_ties_in_the_order_of_the_file_and_levels_of_queries():
    scores = [5, 3, 3, 3, 1, -math.inf]
    kept = [1, 1 / 2, 1 / 2, 1 / 2, 1 / 3, -math.inf]
    assert band_scores(scores, 2).tolist() == kept
    ordered = [1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, -math.inf]
    assert band_scores(scores, 2, existing_ties="order").tolist() == ordered
    apart = round_scores([0, 10, 0.4, 14, 1, 20], "levels=2", qid=[1, 2, 1, 2, 1, 2])
    assert apart.tolist() == [0, 10, 0, 10, 1, 20]


@pytest.mark.parametrize(("measure", "printed"), [
    ("rr", [0.0038, 0.0119, 0.0417, 0.0833, 0.0833]),
    ("rbp(p=0.5)", [0.0002, 0.0052, 0.0429, 0.0945, 0.1016]),
    ("rbp(p=0.85)", [0.0087, 0.0231, 0.0482, 0.0777, 0.0971]),
])  # fmt: skip
def test_the_worst_loss_is_that_of_table_2_and_of_every_labelling(measure, printed):
    losses = [worst_case_loss(measure, rho) for rho in (1.1, 1.2, 1.4, 1.7, 2.0)]
    assert [round(loss, 4) for loss in losses] == printed
    n = 10
    scores = -np.arange(n, dtype=float)
    labels = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).ravel()
    options = {"qid": np.repeat(np.arange(2**n), n), "measures": measure}
    exact = evaluate(labels, np.tile(scores, 2**n), **options).expected
    for rho in ("3/2", 2, 3):
        banded = np.tile(band_scores(scores, rho), 2**n)
        loss = (exact - evaluate(labels, banded, **options).expected).max()
        bound = worst_case_loss(measure, rho)
        # what lies deeper than ten ranks, or in a band that ten ranks cut
        rest = 0 if measure == "rr" else float(measure[6:-1]) ** 7
        assert bound - rest - 1e-12 <= loss <= bound + 1e-12


HOW = st.one_of(
    st.integers(-5, 20).map("decimals={}".format),
    st.integers(1, 18).map("significant={}".format),
    st.sampled_from(["float16", "bfloat16", "float32"]).map("bits={}".format),
    st.integers(1, 70).map("bits={}".format),
    st.integers(2, 1000).map("levels={}".format),
)
LARGEST = 1.7976931348623157e308
ANY = st.floats(-LARGEST, LARGEST) | st.floats(-10, 10) | st.just(-math.inf)


@settings(max_examples=150)
@given(scores=st.lists(ANY, min_size=1, max_size=30), coarseness=HOW)
@example(scores=[LARGEST, -9.9792015476736e291], coarseness="bits=1")
@example(scores=[LARGEST, -9.9792015476736e291], coarseness="decimals=0")
def test_rounding_never_reverses_an_order(scores, coarseness):
    rounded = round_scores(scores, coarseness)
    is_finite = np.isfinite(scores)
    assert np.array_equal(np.isneginf(rounded), ~is_finite)
    order = np.argsort(scores, kind="stable")
    ascending = rounded[order][is_finite[order]]
    assert (ascending[1:] >= ascending[:-1]).all()
    assert np.isfinite(rounded[is_finite]).all()
    if re.fullmatch("decimals=.*|significant=.*|bits=.*float.*", coarseness):
        assert np.array_equal(round_scores(rounded, coarseness), rounded)


BY_HAND = [
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
]


@pytest.mark.parametrize(("coarseness", "scores", "expected"), BY_HAND)
def test_rounding_by_hand(coarseness, scores, expected):
    assert round_scores(scores, coarseness).tolist() == expected


BAD_INPUT = [
    (geometric_bands, (0, 2), "n_documents must be an integer >= 1, got 0"),
    (geometric_bands, (5, 1), "rho must be > 1, got 1"),
    (geometric_bands, (5, "1/0"), "rho must be a number > 1, .* got '1/0'"),
    (geometric_bands, (5, math.inf), "rho must be a number > 1, .* got inf"),
    (band_scores, ([math.nan], 2), "y_score must not be NaN"),
    (band_scores, ([], 2), "y_score must not be empty"),
    (worst_case_loss, ("ap", 2), "measure must be RR or RBP without a cut"),
    (worst_case_loss, ("rr@5", 2), "measure must be RR or RBP without a cut"),
    (
        round_scores,
        ([[1], [1, 2]], "decimals=1"),
        "y_score must be an array that .* rows of equal length",
    ),
    (round_scores, ([1], 1.1), "coarseness must be a text .* got 1.1"),
    (round_scores, ([1], "fine"), "coarseness must be a text such as .* 'fine'"),
    (round_scores, ([1], "size=3"), "'size=3': the kind must be one of .* 'size'"),
    (round_scores, ([1], "rho="), "rho must be a number > 1, .* got ''"),
    (round_scores, ([1], "levels=1"), "levels must be an integer >= 2, got '1'"),
    (round_scores, ([1], "levels=float16"), "levels .* >= 2, got 'float16'"),
    (round_scores, ([1], "decimals=1.5"), "decimals must be .* >= -308, got '1.5'"),
    (round_scores, ([1], "decimals=-309"), "decimals .* >= -308, got '-309'"),
    (round_scores, ([1], "significant=0"), "significant .* integer >= 1, got '0'"),
    (round_scores, ([1], "bits=int8"), "bits .*'bfloat16'.* or an integer >= 1"),
    (partial(band_scores, existing_ties="x"), ([1], 2), "existing_ties .* got 'x'"),
    (partial(band_scores, qid=[1]), ([1, 2], 2), "qid must have one value per row"),
    (partial(round_scores, qid=[1]), ([1, 2], "bits=1"), "qid must have one value"),
]


@pytest.mark.parametrize(("call", "args", "message"), BAD_INPUT)
def test_bad_input(call, args, message):
    with pytest.raises(ValueError, match=message):
        call(*args)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (1, 5), (-7, 93), (0, 100)])
def test_bins_of_ratings_have_equal_width(low, high):
    """A rating on an edge goes into the upper bin."""
    ratings = np.arange(low, high + 1)
    for n in range(2, 120):
        rounded = round_scores(ratings, f"levels={n}")
        place = np.minimum((ratings - low) * n // (high - low), n - 1)
        expected = low + place / (n - 1) * (high - low)
        np.testing.assert_allclose(rounded, expected, rtol=0, atol=1e-12)
        assert len(np.unique(rounded)) == len(np.unique(place))
