"""Queries that the pairs of a comparison need."""

import math

import numpy as np
import pytest

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.statistics.power import effect_for_power, queries_for_power

WEB = make_web_search(n_queries=80, random_state=0)
SYSTEMS = {"a": WEB.data[:, 1], "b": WEB.data[:, 0], "c": WEB.data[:, 1]}


def compared(**options):
    return compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, measure="ap", **options)


def test_a_comparison_says_how_many_queries_its_pairs_need():
    result = compared()
    plan = result.queries_needed(0.05)
    apart = result.expected[:, 0] - result.expected[:, 1]
    std = apart.std(ddof=1)
    assert plan.std[0] == pytest.approx(std)
    needed = queries_for_power(0.05 / std, 0.8, 0.05, "two-sided")
    assert plan.queries_needed[0] == needed
    least = effect_for_power(80, 0.8, 0.05, "two-sided") * std
    assert plan.detectable[0] == pytest.approx(least)
    # of a and c nothing differs
    assert np.isnan([plan.queries_needed[1], plan.detectable[1]]).all()
    wanted = result.queries_needed(0.02, power=0.9, alpha=0.01)
    assert wanted.difference.tolist() == [0.02] * 3
    needed = queries_for_power(0.02 / std, 0.9, 0.01, "two-sided")
    assert wanted.queries_needed[0] == needed
    less = compared(alternative="less").queries_needed(0.02)
    assert "power 0.8 of the one-sided t test at" in str(less)
    assert less.queries_needed[0] < result.queries_needed(0.02).queries_needed[0]


def test_queries_with_weights_are_worth_less():
    weight = 1.0 + WEB.qid % 5
    plan = compared(query_weight=weight).queries_needed(0.02)
    weights = 1.0 + np.arange(80) % 5
    effective_n = weights.sum() ** 2 / (weights**2).sum()
    enough = queries_for_power(0.02 / plan.std[0], 0.8, 0.05, "two-sided")
    assert plan.queries_needed[0] == math.ceil(enough * 80 / effective_n)


BAD_OPTIONS = [
    ({"difference": 0}, "difference must be a number above 0, got 0"),
    ({"difference": "x"}, "difference must be a number above 0, got 'x'"),
    (
        {"difference": None},
        "got None. The power at the observed difference only restates the p-value",
    ),
    ({"power": 1.0}, r"power must be .* got 1\.0"),
    ({"alpha": 0}, "alpha must be .* got 0"),
    ({"power": 0.03}, r"power must be above alpha=0\.05, got 0\.03"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_errors_name_argument_rule_and_value(options, message):
    with pytest.raises(ValueError, match=message):
        compared().queries_needed(**{"difference": 0.05} | options)


def test_a_difference_is_required():
    with pytest.raises(
        ValueError, match="difference must be the smallest difference that matters"
    ):
        compared().queries_needed()
