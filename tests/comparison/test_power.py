"""Power of the paired t test, and the queries that a difference needs."""

import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn import compare_systems
from tieaware_sklearn.comparison._power import least_effect, power, queries_needed
from tieaware_sklearn.datasets import make_web_search

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


@pytest.mark.parametrize(("effect", "alternative", "alpha", "wanted", "n"), SOLVED)
def test_queries_are_those_of_statsmodels(effect, alternative, alpha, wanted, n):
    assert queries_needed(effect, wanted, alpha, alternative) == math.ceil(n)
    assert power(effect, n, alpha, alternative) == pytest.approx(wanted)
    assert power(-effect, n, alpha, alternative) == pytest.approx(wanted)


@pytest.mark.parametrize("effect", [3e-8, 1e-10, 1e-20, 1e-150])
def test_next_to_no_effect_needs_as_many_queries_as_the_normal_test(effect):
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    needed = queries_needed(effect, 0.8, 0.05, "two-sided")
    # up to 2^53 queries by the t distribution, of which SciPy has about six digits
    assert needed == pytest.approx((reach / effect) ** 2, rel=1e-5)


def test_power_has_two_sides():
    # TTestPower().power(0.3, 2, 0.05)
    assert power(0.3, 2, 0.05, "two-sided") == pytest.approx(0.05441466766810162)


@pytest.mark.parametrize("n", [2, 3, 10, 50, 1000, 10.5])
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
def test_the_least_effect_has_the_power(n, alternative):
    effect = least_effect(n, 0.8, 0.05, alternative)
    assert power(effect, n, 0.05, alternative) == pytest.approx(0.8, abs=1e-5)


WEB = make_web_search(n_queries=80, random_state=0)
SYSTEMS = {"a": WEB.data[:, 1], "b": WEB.data[:, 0], "c": WEB.data[:, 1]}


def compared(**options):
    return compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure="ap", **options)


def test_a_comparison_says_how_many_queries_its_pairs_need():
    result = compared()
    found = result.queries_needed()
    apart = result.expected[:, 0] - result.expected[:, 1]
    std = apart.std(ddof=1)
    assert found.std[0] == pytest.approx(std)
    needed = queries_needed(abs(apart.mean()) / std, 0.8, 0.05, "two-sided")
    assert found.queries_needed[0] == needed
    least = least_effect(80, 0.8, 0.05, "two-sided") * std
    assert found.detectable[0] == pytest.approx(least)
    # of a and c nothing differs
    assert np.isnan([found.queries_needed[1], found.detectable[1]]).all()
    wanted = result.queries_needed(0.02, power=0.9, alpha=0.01)
    assert wanted.difference.tolist() == [0.02] * 3
    needed = queries_needed(0.02 / std, 0.9, 0.01, "two-sided")
    assert wanted.queries_needed[0] == needed
    less = compared(alternative="less").queries_needed(0.02)
    assert "power 0.8 of the one-sided t test at" in str(less)
    assert less.queries_needed[0] < result.queries_needed(0.02).queries_needed[0]


def test_queries_with_weights_are_worth_less():
    weight = 1.0 + WEB.qid % 5
    found = compared(query_weight=weight).queries_needed(0.02)
    of = 1.0 + np.arange(80) % 5
    worth = of.sum() ** 2 / (of**2).sum()
    enough = queries_needed(0.02 / found.std[0], 0.8, 0.05, "two-sided")
    assert found.queries_needed[0] == math.ceil(enough * 80 / worth)


BAD_OPTIONS = [
    ({"difference": 0}, "difference must be a number above 0 or None, got 0"),
    ({"difference": "x"}, "difference must be a number above 0 or None, got 'x'"),
    ({"power": 1.0}, r"power must be .* got 1\.0"),
    ({"alpha": 0}, "alpha must be .* got 0"),
    ({"power": 0.03}, r"power must be above alpha=0\.05, got 0\.03"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_errors_name_argument_rule_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        compared().queries_needed(**options)
