"""Bands of ranks and the most that they can cost; digits, bits and levels."""

import math
import re
from fractions import Fraction

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
def test_bands_cover_every_rank_once(rho, n):
    bands = geometric_bands(n, rho)
    following = [math.ceil(rho * int(band)) for band in bands]
    assert bands[0] == 1
    assert bands[-1] <= n < following[-1]
    assert bands[1:].tolist() == following[:-1]


@settings(max_examples=60)
@given(rho=RATIOS)
def test_safe_ranks_are_bands_of_their_own(rho):
    depth = rank_safe_depth(rho)
    bands = geometric_bands(depth + 3, rho).tolist()
    assert bands[:depth] == list(range(1, depth + 1))
    if depth > 0:
        assert math.ceil(rho * depth) == depth + 1
    assert math.ceil(rho * (depth + 1)) > depth + 2


SAFE_DEPTHS = [
    (1.1, 10),
    (1.2, 5),
    (1.4, 2),
    (1.7, 1),
    (2, 1),
    (2.5, 0),
    (np.float32(1.1), 10),
]


@pytest.mark.parametrize(("rho", "depth"), SAFE_DEPTHS)
def test_safe_depths_of_floats_are_those_of_decimals(rho, depth):
    assert rank_safe_depth(rho) == depth


@pytest.mark.parametrize("rho", [1.1, "11/10", "1.1"])
def test_floats_are_decimals(rho):
    # 11/10 of 170 is 187; products of floats say 188
    exact = geometric_bands(300, Fraction(11, 10))
    assert 188 not in exact
    assert geometric_bands(300, rho).tolist() == exact.tolist()


@settings(max_examples=40)
@given(case=queries(), rho=RATIOS, seed=st.integers(0, 99))
def test_banding_keeps_order_and_existing_ties(case, rho, seed):
    _, scores, qid = map(np.array, case)
    banded = band_scores(scores, rho, qid=qid)
    rounded = round_scores(scores, f"rho={rho}", qid=qid)
    assert np.array_equal(rounded, banded)
    for query, score, band_score in zip(qid, scores, banded, strict=True):
        query_scores = scores[qid == query]
        above = int(np.sum(query_scores > score))
        bands = geometric_bands(above + 1, rho)
        expected = 1 / len(bands)
        if score == -math.inf:
            expected = -math.inf
        assert band_score == expected
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(scores))
    shuffled = band_scores(scores[rows], rho, qid=qid[rows])
    assert np.array_equal(shuffled, banded[rows])


# the band score of the last of three tied documents
EXISTING_TIES = [("keep", 0.5), ("order", 1 / 3)]


@pytest.mark.parametrize(("existing_ties", "last"), EXISTING_TIES)
def test_existing_ties_are_kept_or_broken_by_the_order_of_rows(existing_ties, last):
    scores = [5, 3, 3, 3, 1, -math.inf]
    banded = band_scores(scores, 2, existing_ties=existing_ties)
    assert banded.tolist() == [1, 0.5, 0.5, last, 1 / 3, -math.inf]


def test_bands_keep_existing_ties_by_default():
    banded = band_scores([5, 3, 3, 3], 2)
    assert banded.tolist() == [1, 0.5, 0.5, 0.5]


def test_levels_are_those_of_each_query():
    scores = [0, 10, 0.4, 14, 1, 20]
    qid = [1, 2, 1, 2, 1, 2]
    rounded = round_scores(scores, "levels=2", qid=qid)
    assert rounded.tolist() == [0, 10, 0, 10, 1, 20]


TABLE_2 = [
    ("rr", [0.0038, 0.0119, 0.0417, 0.0833, 0.0833]),
    ("rbp(p=0.5)", [0.0002, 0.0052, 0.0429, 0.0945, 0.1016]),
    ("rbp(p=0.85)", [0.0087, 0.0231, 0.0482, 0.0777, 0.0971]),
]


@pytest.mark.parametrize(("measure", "printed"), TABLE_2)
def test_the_worst_loss_is_that_of_table_2(measure, printed):
    for rho, expected in zip((1.1, 1.2, 1.4, 1.7, 2.0), printed, strict=True):
        loss = worst_case_loss(measure, rho)
        assert round(loss, 4) == expected


# what lies deeper than ten ranks, or in a band that ten ranks cut, may lose this much
DEEPER = [("rr", 0), ("rbp(p=0.5)", 0.5**7), ("rbp(p=0.85)", 0.85**7)]


@pytest.mark.parametrize(("measure", "deeper"), DEEPER)
def test_the_worst_loss_is_that_of_the_worst_labelling(measure, deeper):
    n = 10
    n_labellings = 2**n
    numbers = np.arange(n_labellings)
    scores = -np.arange(n, dtype=float)
    labels = (numbers[:, None] >> np.arange(n)) & 1
    qid = np.repeat(numbers, n)

    def values(scores):
        repeated = np.tile(scores, n_labellings)
        return evaluate(labels.ravel(), repeated, qid=qid, measures=measure).expected

    exact = values(scores)
    for rho in ("3/2", 2, 3):
        banded = band_scores(scores, rho)
        loss = (exact - values(banded)).max()
        bound = worst_case_loss(measure, rho)
        assert bound - deeper - 1e-12 <= loss <= bound + 1e-12


DECIMALS = st.integers(-5, 20).map("decimals={}".format)
SIGNIFICANT = st.integers(1, 18).map("significant={}".format)
FLOATS = st.sampled_from(["bits=float16", "bits=bfloat16", "bits=float32"])
BITS = st.integers(1, 70).map("bits={}".format)
LEVELS = st.integers(2, 1000).map("levels={}".format)
COARSENESS = DECIMALS | SIGNIFICANT | FLOATS | BITS | LEVELS
LARGEST = 1.7976931348623157e308
FINITE = st.floats(-LARGEST, LARGEST) | st.floats(-10, 10)
ANY = FINITE | st.just(-math.inf)


@settings(max_examples=150)
@given(scores=st.lists(ANY, min_size=1, max_size=30), coarseness=COARSENESS)
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


DIGITS_BY_HAND = [
    ("decimals=0", [1.005, 2.675, 0.5], [1, 3, 0]),
    ("decimals=-2", [1250.0, 1350.0], [1200, 1400]),
    ("decimals=-1", [7, 8], [10, 10]),
    ("significant=3", [1234.5, 0.00123451], [1230, 0.00123]),
]


@pytest.mark.parametrize(("coarseness", "scores", "expected"), DIGITS_BY_HAND)
def test_digits_by_hand(coarseness, scores, expected):
    assert round_scores(scores, coarseness).tolist() == expected


BFLOAT16_BY_HAND = [
    # 8 bits of mantissa: 1 + 2^-8 is halfway and goes to even
    ([1, 1 + 2**-8, 1 + 3 * 2**-8], [1, 1, 1 + 2**-6]),
    ([1e39], [(2 - 2**-7) * 2.0**127]),
    # not by way of 32 bits, where this is halfway
    ([1 + 2**-8 + 2**-30, 2.0**-133], [1 + 2**-7, 2**-133]),
    ([1.6 * 2**-133, 2.0**-135], [2**-132, 0]),
]


@pytest.mark.parametrize(("scores", "expected"), BFLOAT16_BY_HAND)
def test_bfloat16_by_hand(scores, expected):
    assert round_scores(scores, "bits=bfloat16").tolist() == expected


def test_float16_is_that_of_numpy_without_infinity():
    rounded = round_scores([0.1, 70000.0], "bits=float16")
    assert rounded.tolist() == [float(np.float16(0.1)), 65504]


LEVELS_BY_HAND = [
    ("bits=1", [0, 0.4, 0.6, 1], [0, 0, 1, 1]),
    ("levels=4", [3.0, 3.0], [3, 3]),
    ("levels=2", [0.0, 5e-324], [0.0, 5e-324]),
]


@pytest.mark.parametrize(("coarseness", "scores", "expected"), LEVELS_BY_HAND)
def test_levels_by_hand(coarseness, scores, expected):
    assert round_scores(scores, coarseness).tolist() == expected


BAD_RATIOS = [
    (0, 2, "n_documents must be an integer >= 1, got 0"),
    (5, 1, "rho must be > 1, got 1"),
    (5, "1/0", "rho must be a number > 1, .* got '1/0'"),
    (5, math.inf, "rho must be a number > 1, .* got inf"),
]


@pytest.mark.parametrize(("n_documents", "rho", "message"), BAD_RATIOS)
def test_ratios_that_are_refused(n_documents, rho, message):
    with pytest.raises(ValueError, match=message):
        geometric_bands(n_documents, rho)


def test_scores_that_bands_refuse():
    with pytest.raises(ValueError, match="y_score must not be NaN"):
        band_scores([math.nan], 2)
    with pytest.raises(ValueError, match="y_score must not be empty"):
        band_scores([], 2)
    with pytest.raises(ValueError, match=r"existing_ties .* got 'x'"):
        band_scores([1], 2, existing_ties="x")
    with pytest.raises(ValueError, match="qid must have one value per row"):
        band_scores([1, 2], 2, qid=[1])


@pytest.mark.parametrize("measure", ["ap", "rr@5"])
def test_measures_without_a_worst_loss_are_refused(measure):
    with pytest.raises(ValueError, match="measure must be RR or RBP without a cut"):
        worst_case_loss(measure, 2)


def test_scores_that_rounding_refuses():
    message = r"y_score must be an array that .* If rows differ in length"
    with pytest.raises(ValueError, match=message):
        round_scores([[1], [1, 2]], "decimals=1")


def test_query_ids_that_rounding_refuses():
    with pytest.raises(ValueError, match="qid must have one value"):
        round_scores([1, 2], "bits=1", qid=[1])


BAD_COARSENESS = [
    (1.1, "coarseness must be a string .* got 1.1"),
    ("fine", "coarseness must be a string such as .* 'fine'"),
    ("size=3", "'size=3': the kind must be one of .* 'size'"),
    ("rho=", "rho must be a number > 1, .* got ''"),
    ("levels=1", "levels must be an integer >= 2, got '1'"),
    ("levels=float16", "levels .* >= 2, got 'float16'"),
    ("decimals=1.5", "decimals must be .* >= -308, got '1.5'"),
    ("decimals=-309", "decimals .* >= -308, got '-309'"),
    ("significant=0", "significant .* integer >= 1, got '0'"),
    ("bits=int8", "bits .*'bfloat16'.* or an integer >= 1"),
]


@pytest.mark.parametrize(("coarseness", "message"), BAD_COARSENESS)
def test_coarseness_that_is_refused(coarseness, message):
    with pytest.raises(ValueError, match=message):
        round_scores([1], coarseness)


RATING_SCALES = [(0, 10), (1, 5), (-7, 93), (0, 100)]


@pytest.mark.parametrize(("low", "high"), RATING_SCALES)
def test_bins_of_ratings_have_equal_width(low, high):
    """A rating on an edge goes into the upper bin."""
    ratings = np.arange(low, high + 1)
    width = high - low
    for n in range(2, 120):
        rounded = round_scores(ratings, f"levels={n}")
        bins = (ratings - low) * n // width
        bins = np.minimum(bins, n - 1)
        expected = low + bins / (n - 1) * width
        np.testing.assert_allclose(rounded, expected, rtol=0, atol=1e-12)
        assert len(np.unique(rounded)) == len(np.unique(bins))
