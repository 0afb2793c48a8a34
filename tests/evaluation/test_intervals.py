"""Tests of averages over queries, and corrections for their number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.comparison._systems import QueryLosses, paired_test
from tieaware_sklearn.evaluation import _intervals
from tieaware_sklearn.evaluation._intervals import (
    QueryMoments,
    adjust,
    bootstrap_interval,
    t_test,
)

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
    """The p-value of each test that the package has of mean > 0."""
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


def bootstrapped(values, weight=None, n_resamples=999, random_state=0):
    weight = None if weight is None else np.array(weight, dtype=float)
    return bootstrap_interval(
        np.array(values, dtype=float),
        weight,
        n_resamples=n_resamples,
        random_state=random_state,
    )


def test_scipys_bootstrap():
    values = np.random.default_rng(0).beta(0.5, 2, 40)
    expected = stats.bootstrap((np.sort(values),), np.mean, n_resamples=999, rng=0)
    np.testing.assert_allclose(
        bootstrapped(values), expected.confidence_interval, rtol=1e-12
    )


def test_a_weighted_mean_by_a_loop_over_resamples():
    rng = np.random.default_rng(1)
    values, weight = rng.beta(0.5, 2, 25), rng.integers(1, 4, 25).astype(float)

    def mean(rows):
        rows = np.asarray(rows, dtype=int)
        return (weight[order][rows] * values[order][rows]).sum() / weight[order][
            rows
        ].sum()

    order = np.lexsort((weight, values))
    expected = stats.bootstrap(
        (np.arange(25),), mean, vectorized=False, n_resamples=299, rng=0
    )
    found = bootstrapped(values, weight, n_resamples=299)
    np.testing.assert_allclose(found, expected.confidence_interval, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_bootstrap_takes_linear_time(monkeypatch, weighted):
    # scipy's jackknife alone would take the mean of 999 * 1000 values
    cells, mean = [], _intervals._resampled_mean

    def counted(x, weight=None, *, axis):
        cells.append(x.size)
        return mean(x, weight, axis=axis)

    monkeypatch.setattr(_intervals, "_resampled_mean", counted)
    weight = np.arange(1000) % 3 + 1 if weighted else None
    bootstrapped(np.arange(1000) % 7, weight, n_resamples=9)
    assert sum(cells) <= 10 * 1000


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from([0, 1, 2])),
        min_size=1,
        max_size=9,
    ),
    weighted=st.booleans(),
    n_resamples=st.sampled_from([2, 3, 29]),
    seed=st.integers(0, 5),
)
def test_bootstraps_stay_inside_of_the_values(rows, weighted, n_resamples, seed):
    values, weight = map(np.array, zip(*rows, strict=True))
    given = weight if weighted else None
    found = bootstrapped(values, given, n_resamples, seed)
    there = values[weight > 0] if weighted else values
    if len(there) < 2:
        assert np.isnan(found).all()
        return
    assert there.min() <= found[0] <= found[1] <= there.max()
    order = np.random.default_rng(seed).permutation(len(rows))
    shuffled = bootstrapped(
        values[order], None if given is None else weight[order], n_resamples, seed
    )
    assert shuffled == found
    missing = np.append(values, math.nan)
    extended = None if given is None else np.append(weight, 1)
    assert bootstrapped(missing, extended, n_resamples, seed) == found


def test_where_no_bootstrap_is_defined():
    assert bootstrapped([0.1, 0.1, 0.1]) == (0.1, 0.1)
    assert bootstrapped([0.1, 0.1, 0.9], [1, 2, 0]) == (0.1, 0.1)
    assert np.isnan(bootstrapped([0.1])).all()
    assert np.isnan(bootstrapped([])).all()
    # all resamples may be on one side of the mean
    for seed in range(9):
        low, high = bootstrapped([0.0, 1.0], n_resamples=2, random_state=seed)
        assert 0 <= low <= high <= 1
    equal = bootstrapped([0.0, 0.5, 1.0], [2, 2, 2])
    assert equal == bootstrapped([0.0, 0.5, 1.0])
