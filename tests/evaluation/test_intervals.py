"""Tests of averages over queries, and corrections for their number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn.comparison._inferiority import QueryLosses
from tieaware_sklearn.comparison._paired_tests import paired_test
from tieaware_sklearn.evaluation._intervals import QueryMoments, adjust, t_test

ALTERNATIVES = ("greater", "less", "two-sided")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_scipys_t_test(alternative):
    values = np.random.default_rng(0).normal(0.1, 0.3, size=(20, 4))
    expected = stats.ttest_1samp(values, 0, alternative=alternative)
    error = values.std(axis=0, ddof=1) / math.sqrt(20)
    found = t_test(values.mean(axis=0), error, 20, alternative)
    np.testing.assert_allclose(found.statistic, expected.statistic)
    np.testing.assert_allclose(found.pvalue, expected.pvalue)


def every_greater(values):
    """The p value of each test that the package has of mean > 0."""
    values = np.array(values)
    moments = QueryMoments.of(values[:, None])
    zeros = np.zeros_like(values)
    return [
        t_test(moments.mean, moments.standard_error(), moments.count).pvalue.item(),
        moments.p_greater().item(),
        paired_test(values, "t", "greater").pvalue,
        QueryLosses.of(zeros, values).inferiority(1.0, greater_is_better=True),
    ]


@pytest.mark.parametrize(
    ("values", "p"),
    [
        ([0.0, 0.0, 0.0], 1),
        ([1e-13, -1e-13, 2e-13], 1),
        ([0.1, 0.1, 0.1], 0),
        ([-0.1, -0.1, -0.1], 1),
        ([0.1, 0.1 + 1e-15, 0.1 - 1e-15], 0),
        ([5e-9, 5e-9, 5e-9], 0),
        ([200.0, 200.0, 200.0 + 1e-11], 0),
    ],
)
def test_one_rule_where_nothing_spreads(values, p):
    assert every_greater(values) == [p] * 4


def test_one_query_has_no_p_value():
    assert np.isnan(every_greater([0.1])).all()
    found = t_test([0.1, 0.0], [0.0, 0.0], [1, 0])
    assert np.isnan([found.statistic, found.pvalue]).all()


def test_a_sure_difference_by_alternative():
    found = {a: t_test([0.1, -0.1, 0.0], [0.0] * 3, 5, a) for a in ALTERNATIVES}
    for test in found.values():
        assert test.statistic.tolist() == [math.inf, -math.inf, 0]
    assert found["greater"].pvalue.tolist() == [0, 1, 1]
    assert found["less"].pvalue.tolist() == [1, 0, 1]
    assert found["two-sided"].pvalue.tolist() == [0, 0, 1]


def test_corrections_by_hand():
    p = np.array([0.01, np.nan, 0.04, 0.03])
    assert adjust(p, None).tolist()[0] == 0.01
    holm = adjust(p, "holm")
    assert holm[[0, 3, 2]].tolist() == [3 * 0.01, 2 * 0.03, 2 * 0.03]
    assert np.isnan(holm[1])
    bh = adjust(p, "bh")
    np.testing.assert_allclose(bh[[0, 3, 2]], [0.03, 0.04, 0.04])
    assert adjust(np.array([0.9, 0.8]), "holm").tolist() == [1, 1]
    assert np.isnan(adjust(np.array([np.nan]), "bh")).all()
