"""Shares of random orders of ties, against drawn orders."""

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn.statistics.tie_orders import share_with_sign, shares_significant


def drawn(rng, n, shift):
    """Differences of n queries in 4,000 orders, each of three values at random."""
    means = rng.normal(shift, 0.3, (n, 1))
    values = means + rng.normal(0, 0.25, (n, 3))
    values[rng.random(n) < 0.3] = 0.1
    orders = rng.integers(0, 3, (4000, n))
    return values, values[np.arange(n), orders]


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("shift", [0.0, 0.05, -0.1])
def test_shares_of_significant_orders(n, shift):
    values, samples = drawn(np.random.default_rng(n), n, shift)
    tests = stats.ttest_1samp(samples, 0, axis=1)
    statistics = tests.statistic[tests.pvalue < 0.05]
    n_orders = len(samples)
    expected = np.sum(statistics > 0) / n_orders, np.sum(statistics < 0) / n_orders
    shares = shares_significant(values.mean(axis=1), values.var(axis=1), 0.05)
    assert shares == pytest.approx(expected, abs=0.03)


def test_the_threshold_follows_the_spread_of_differences():
    """Near the threshold, small variances of orders make shares sensitive to it."""
    rng = np.random.default_rng(3)
    n = 60
    deviations = rng.normal(0, 1, n)
    deviations -= deviations.mean()
    spread = deviations.std(ddof=1)
    threshold = stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n)
    differences = deviations + threshold
    variances = rng.uniform(0.002, 0.01, n)
    samples = rng.normal(differences, np.sqrt(variances), (20_000, n))
    pvalues = stats.ttest_1samp(samples, 0, axis=1).pvalue
    share, _ = shares_significant(differences, variances, 0.05)
    assert share == pytest.approx(np.mean(pvalues < 0.05), abs=0.015)


def test_the_systems_change_places_with_their_differences():
    values, _ = drawn(np.random.default_rng(0), 60, 0.04)
    mean = values.mean(axis=1)
    variance = values.var(axis=1)
    a_share, b_share = shares_significant(mean, variance, 0.05)
    swapped = shares_significant(-mean, variance, 0.05)
    assert swapped == pytest.approx((b_share, a_share))


@pytest.mark.parametrize("n", [20, 60])
def test_share_of_orders_that_keep_the_sign(n):
    values, samples = drawn(np.random.default_rng(n), n, 0.02)
    mean = values.mean(axis=1).mean()
    signs = np.sign(samples.mean(axis=1))
    expected = np.mean(signs == np.sign(mean))
    variance = values.var(axis=1).sum() / n**2
    assert share_with_sign(mean, variance) == pytest.approx(expected, abs=0.03)


def test_without_variance_the_sign_always_stays():
    assert share_with_sign(0.1, 0.0) == 1.0


def test_few_queries_have_no_shares_of_significant_orders():
    few = np.linspace(-0.1, 0.2, 49)
    assert np.isnan(shares_significant(few, np.full(49, 0.1), 0.05)).all()
    enough = np.linspace(-0.1, 0.2, 50)
    varying = np.where(np.arange(50) < 9, 0.1, 0.0)
    assert np.isnan(shares_significant(enough, varying, 0.05)).all()
    varying[9] = 0.1
    assert not np.isnan(shares_significant(enough, varying, 0.05)).any()
