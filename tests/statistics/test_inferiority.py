"""The test that a cheaper system keeps a share of the mean, against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn.statistics.inferiority import QueryLosses

RNG = np.random.default_rng(0)
EXACT = RNG.random(40)
CHEAPER = np.clip(EXACT - RNG.normal(0.01, 0.05, 40), 0, 1)


@pytest.mark.parametrize("tolerance", [0.9, 0.97, 1.0])
@pytest.mark.parametrize("greater_is_better", [True, False])
def test_the_t_test_is_that_of_scipy(tolerance, greater_is_better):
    losses = QueryLosses.from_values(EXACT, CHEAPER)
    kept = CHEAPER - tolerance * EXACT
    if not greater_is_better:
        kept = EXACT - tolerance * CHEAPER
    expected = stats.ttest_1samp(kept, 0, alternative="greater").pvalue
    result = losses.inferiority(tolerance, greater_is_better=greater_is_better)
    assert result == pytest.approx(expected, rel=1e-9)


def test_means_and_second_moments_are_those_of_numpy():
    losses = QueryLosses.from_values(EXACT, CHEAPER)
    loss = EXACT - CHEAPER
    covariance = np.cov(CHEAPER, loss) / 40
    assert losses.n_queries == losses.effective == 40
    assert losses.value == pytest.approx(CHEAPER.mean())
    assert losses.loss == pytest.approx(loss.mean())
    assert losses.value_variance == pytest.approx(covariance[0, 0])
    assert losses.loss_variance == pytest.approx(covariance[1, 1])
    assert losses.covariance == pytest.approx(covariance[0, 1])


def test_equal_weights_are_no_weights_and_queries_of_weight_0_are_left_out():
    weight = np.array([2.0] * 30 + [0.0] * 10)
    losses = QueryLosses.from_values(EXACT, CHEAPER, weight)
    assert losses == pytest.approx(QueryLosses.from_values(EXACT[:30], CHEAPER[:30]))


def test_weights_have_the_error_of_weighted_means():
    weight = np.array([3.0] * 10 + [1.0] * 30)
    losses = QueryLosses.from_values(EXACT, CHEAPER, weight)
    effective_n = weight.sum() ** 2 / (weight**2).sum()
    deviations = (CHEAPER - np.average(CHEAPER, weights=weight)) * weight
    square = (deviations**2).sum() / weight.sum() ** 2 * effective_n / (effective_n - 1)
    assert losses.value == pytest.approx(np.average(CHEAPER, weights=weight))
    assert losses.effective == pytest.approx(effective_n)
    assert losses.value_variance == pytest.approx(square)


def test_one_query_has_means_and_no_test():
    losses = QueryLosses.from_values(np.array([0.5]), np.array([0.4]))
    assert (losses.n_queries, losses.value) == (1, 0.4)
    assert losses.loss == pytest.approx(0.1)
    assert math.isnan(losses.value_variance)
    assert losses.effective == 1
    assert math.isnan(losses.inferiority(0.9, greater_is_better=True))
