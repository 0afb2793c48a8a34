"""Geometric bands of ranks, and the most that they can cost."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import queries
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.score_precision import (
    band_scores,
    geometric_bands,
    rank_safe_depth,
    worst_case_loss,
)

RATIOS = st.fractions(min_value=Fraction(101, 100), max_value=4)


@settings(max_examples=200)
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


@given(rho=RATIOS)
def test_rank_safe_means_alone_in_its_band(rho):
    depth = rank_safe_depth(rho)
    bands = geometric_bands(depth + 3, rho).tolist()
    alone = range(1, depth + 1)
    assert bands[:depth] == list(alone)
    if depth:
        assert math.ceil(rho * depth) == depth + 1
    assert math.ceil(rho * (depth + 1)) > depth + 2


def test_rank_safe_depth_of_known_ratios():
    found = [rank_safe_depth(rho) for rho in (1.1, 1.2, 1.4, 1.7, 2, 2.5)]
    assert found == [10, 5, 2, 1, 1, 0]


@settings(max_examples=100)
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


def test_a_ratio_close_to_one_changes_nothing():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 300), rng.random(300)
    banded = band_scores(scores, 1.001)
    for measure in ("ndcg", "ap", "rr"):
        exact = ranking_score(labels, scores, measure=measure)
        assert ranking_score(labels, banded, measure=measure) == exact


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geometric_bands(0, 2), "n_documents must be an integer >= 1, got 0"),
        (
            lambda: geometric_bands(2**70, 2),
            "n_documents must be at most .* got 1180591",
        ),
        (lambda: geometric_bands(5, 1), "rho must be > 1, got 1"),
        (lambda: geometric_bands(5, "x"), "rho must be a number > 1, .* got 'x'"),
        (lambda: geometric_bands(5, math.nan), "rho must be a number > 1, .* got nan"),
        (lambda: geometric_bands(5, math.inf), "rho must be a number > 1, .* got inf"),
        (lambda: geometric_bands(5, "1/0"), "rho must be a number > 1, .* got '1/0'"),
        (lambda: geometric_bands(5, None), "rho must be a number > 1, .* got None"),
        (
            lambda: band_scores([1], 2, existing_ties="x"),
            "existing_ties must be",
        ),
        (lambda: band_scores([math.nan], 2), "y_score must not be NaN"),
        (lambda: band_scores([], 2), "y_score must not be empty"),
        (lambda: band_scores([1, 2], 2, qid=[1]), "qid must have one value per row"),
        (lambda: worst_case_loss("ap", 2), "measure must be RR or RBP without a cut"),
        (lambda: worst_case_loss("rr@5", 2), "measure must be RR or RBP without a cut"),
        (lambda: band_scores([[1], [1, 2]], 2), "y_score must be a 1-D array"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
