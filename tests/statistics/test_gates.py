"""Losses that queries exclude, against draws written out and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics import gates
from tieaware_sklearn.statistics.gates import (
    detectable_loss,
    excludable_loss,
    gaffke_pvalue,
)

#: two of forty queries lose much
RARE_LOSS = np.array([-0.38] * 2 + [0.02] * 38)
EXTREMES = np.array([-1.0, 0.0, 1.0])
NOISE = np.random.default_rng(0).normal(0.01, 0.1, 60).clip(-1, 1)


@pytest.mark.parametrize("differences", [RARE_LOSS, NOISE, NOISE[:1], EXTREMES])
@pytest.mark.parametrize(("room", "tolerance"), [(1.0, 0.03), (2.0, 0.2)])
def test_the_pvalue_is_the_share_of_random_means_at_most_minus_the_tolerance(
    differences, room, tolerance
):
    rng = np.random.default_rng(1)
    with_worst = [-room, *differences]
    n_draws = 20_000
    count = 0
    for _ in range(n_draws):
        weights = rng.dirichlet(np.ones(len(with_worst)))
        count += weights @ with_worst <= -tolerance
    expected = (1 + count) / (n_draws + 1)
    error = math.sqrt(expected * (1 - expected) * (1 / n_draws + 1 / 9999))
    assert gaffke_pvalue(differences, room, tolerance) == pytest.approx(
        expected, abs=4 * error
    )


def test_the_pvalue_is_the_mean_over_the_same_relative_weights():
    rng = np.random.default_rng(7)
    probabilities = []
    for _ in range(50):
        weights = rng.exponential(size=len(NOISE))
        mean = np.average(np.sort(NOISE), weights=weights)
        # the added query must weigh at least so much, and weighs Beta(1, n)
        least = (mean + 0.03) / (mean + 1)
        probabilities.append(stats.beta.sf(least, 1, len(NOISE)))
    pvalue = gaffke_pvalue(NOISE, 1.0, 0.03, n_draws=50, random_state=7)
    assert pvalue == pytest.approx(np.mean(probabilities), rel=1e-12)


@given(
    n=st.integers(1, 300),
    value=st.floats(-0.02, 1),
    room=st.sampled_from([1.0, 2.0]),
    tolerance=st.floats(0.03, 0.9),
)
def test_equal_differences_have_a_closed_form(n, value, room, tolerance):
    expected = ((room - tolerance) / (room + value)) ** n
    pvalue = gaffke_pvalue(np.full(n, value), room, tolerance, n_draws=20)
    assert pvalue == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n_lost", [0, 1, 4])
def test_losses_of_everything_have_the_binomial_pvalue(n_lost):
    differences = np.where(np.arange(40) < n_lost, -1.0, 0.0)
    expected = stats.binom.cdf(n_lost, 40, 0.1)
    assert gaffke_pvalue(differences, 1.0, 0.1) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("n", [10, 50, 100])
@pytest.mark.parametrize("loss", [0.1, 0.38, 1.0])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.3])
def test_at_a_loss_of_the_tolerance_no_more_than_alpha_pass(n, loss, share):
    """All samples of differences with two values."""
    tolerance = 0.03
    gain = (share * loss - tolerance) / (1 - share)
    pvalues = []
    for n_lost in range(n + 1):
        differences = np.where(np.arange(n) < n_lost, -loss, gain)
        pvalues.append(gaffke_pvalue(differences, 1.0, tolerance, n_draws=1000))
    probabilities = stats.binom.pmf(np.arange(n + 1), n, share)
    for alpha in (0.01, 0.05):
        assert probabilities[np.array(pvalues) <= alpha].sum() <= alpha


@pytest.mark.parametrize("value", [-1.0, -0.5, -0.03])
def test_a_loss_of_the_tolerance_or_more_on_each_query_is_never_excluded(value):
    assert gaffke_pvalue(np.full(500, value), 1.0, 0.03) == pytest.approx(1)


def test_without_a_difference_the_excludable_loss_has_the_pvalue_alpha():
    tolerance = excludable_loss(50, 0.05)
    assert tolerance == pytest.approx(0.058, abs=5e-4)
    assert gaffke_pvalue(np.zeros(50), 1.0, tolerance) == pytest.approx(0.05)
    assert excludable_loss(50, 0.05, room=3.0) == pytest.approx(3 * tolerance)
    # ln(0.05) / ln(1 - 0.03) is 98.4
    assert gaffke_pvalue(np.zeros(98), 1.0, 0.03) > 0.05
    assert gaffke_pvalue(np.zeros(99), 1.0, 0.03) < 0.05


def test_no_tolerance_and_no_difference_exclude_nothing():
    assert gaffke_pvalue(np.zeros(50), 1.0, 0.0) == 1


def test_units_do_not_matter():
    in_percent = gaffke_pvalue(100 * NOISE, 100.0, 3.0)
    assert in_percent == pytest.approx(gaffke_pvalue(NOISE, 1.0, 0.03), rel=1e-9)


def test_undefined_queries_are_left_out():
    with_gaps = np.append(NOISE, [np.nan, np.nan])
    assert gaffke_pvalue(with_gaps, 1.0, 0.03) == gaffke_pvalue(NOISE, 1.0, 0.03)
    assert math.isnan(gaffke_pvalue(np.full(3, np.nan), 1.0, 0.03))


def test_the_order_of_queries_changes_nothing_and_the_seed_little():
    pvalue = gaffke_pvalue(NOISE, 1.0, 0.03)
    assert gaffke_pvalue(NOISE[::-1], 1.0, 0.03) == pvalue
    second = gaffke_pvalue(NOISE, 1.0, 0.03, random_state=1)
    assert second != pvalue
    assert second == pytest.approx(pvalue, abs=0.02)


def test_weights_are_the_same_in_blocks_of_any_size(monkeypatch):
    at_once = gaffke_pvalue(NOISE, 1.0, 0.03, n_draws=100)
    monkeypatch.setattr(gates, "_CELLS", 7 * len(NOISE))
    in_blocks = gaffke_pvalue(NOISE, 1.0, 0.03, n_draws=100)
    assert in_blocks == pytest.approx(at_once, rel=1e-12)


def test_a_rare_loss_that_fools_the_t_test_does_not_pass():
    # no loss of 0.41 was drawn, which 5% of queries have
    differences = -0.01 + np.random.default_rng(2).normal(0, 1e-3, 50)
    assert stats.ttest_1samp(differences, -0.03, alternative="greater").pvalue < 1e-9
    assert gaffke_pvalue(differences, 1.0, 0.03) > 0.3


@pytest.mark.parametrize(("n", "alpha"), [(10, 0.05), (50, 0.01), (30.5, 0.05)])
def test_the_detectable_loss_has_the_power(n, alpha):
    std = 0.25
    loss = detectable_loss(std / math.sqrt(n), n, alpha)
    centre = loss / (std / math.sqrt(n))
    power = stats.nct.sf(stats.t.isf(alpha, n - 1), n - 1, centre)
    assert power == pytest.approx(0.8, abs=1e-5)
    assert detectable_loss(std / math.sqrt(n), n, alpha, power=0.9) > loss


def test_without_spread_or_with_one_query_no_loss_is_detectable():
    assert math.isnan(detectable_loss(0.0, 50, 0.05))
    assert math.isnan(detectable_loss(0.1, 1, 0.05))
