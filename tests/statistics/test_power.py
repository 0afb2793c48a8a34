"""Power of the paired t test, and the queries that a difference needs."""

import math

import pytest
from scipy import stats

from tieaware_sklearn.statistics.power import (
    effect_for_power,
    queries_for_power,
    t_test_power,
)

SOLVED = [
    # statsmodels 0.14, TTestPower().solve_power(effect, alpha=..., power=...)
    (2.0, "two-sided", 0.05, 0.8, 4.22071858501904),
    (0.5, "two-sided", 0.05, 0.8, 33.36713118431779),
    (0.5, "greater", 0.05, 0.8, 26.137503817059283),
    (0.5, "two-sided", 0.01, 0.9, 62.87023528078392),
    (0.2, "two-sided", 0.05, 0.8, 198.150820955562),
    (0.2, "less", 0.01, 0.9, 328.1363551275051),
    (0.2, "two-sided", 0.05, 0.3, 53.38643431253028),
    (0.05, "two-sided", 0.05, 0.8, 3141.4654741036425),
    (0.05, "greater", 0.05, 0.3, 503.5206027952425),
]


@pytest.mark.parametrize(("effect", "alternative", "alpha", "power", "n"), SOLVED)
def test_queries_are_those_of_statsmodels(effect, alternative, alpha, power, n):
    assert queries_for_power(effect, power, alpha, alternative) == math.ceil(n)
    # the sign of an effect is left to the alternative
    for signed in (effect, -effect):
        computed = t_test_power(signed, n, alpha, alternative)
        assert computed == pytest.approx(power)


@pytest.mark.parametrize("effect", [3e-8, 1e-10, 1e-20, 1e-150])
def test_next_to_no_effect_needs_as_many_queries_as_the_normal_test(effect):
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    needed = queries_for_power(effect, 0.8, 0.05, "two-sided")
    # up to 2^53 queries by the t distribution, of which SciPy has about six digits
    assert needed == pytest.approx((reach / effect) ** 2, rel=1e-5)


def test_power_has_two_sides():
    power = t_test_power(0.3, 2, 0.05, "two-sided")
    # TTestPower().power(0.3, 2, 0.05)
    assert power == pytest.approx(0.05441466766810162)


@pytest.mark.parametrize("n", [2, 3, 10, 50, 1000, 10.5])
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_the_least_effect_has_the_power(n, alternative):
    effect = effect_for_power(n, 0.8, 0.05, alternative)
    power = t_test_power(effect, n, 0.05, alternative)
    assert power == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.8, 0.9])
def test_no_effect_is_needed_if_alpha_is_the_power(alpha):
    assert effect_for_power(20, 0.8, alpha, "less") == 0.0
