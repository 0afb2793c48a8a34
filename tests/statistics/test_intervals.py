"""Bootstrap intervals of means."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics.intervals import bootstrap_interval


def bootstrapped(values, weight=None, n_resamples=999, seed=0):
    values = np.array(values, dtype=float)
    if weight is not None:
        weight = np.array(weight, dtype=float)
    options = {"n_resamples": n_resamples, "random_state": seed}
    return bootstrap_interval(values, weight, **options)


def test_scipys_bootstrap():
    rng = np.random.default_rng(1)
    values = rng.beta(0.5, 2, 25)
    weight = rng.integers(1, 4, 25).astype(float)
    # the order in which values are drawn
    order = np.lexsort((weight, values))

    def mean(rows, row_weights):
        drawn = order[np.asarray(rows, dtype=int)]
        return np.average(values[drawn], weights=row_weights[drawn])

    options = {"vectorized": False, "n_resamples": 299, "rng": 0}
    for weights in (None, weight):
        row_weights = np.ones(25) if weights is None else weights
        statistic = partial(mean, row_weights=row_weights)
        result = stats.bootstrap((range(25),), statistic, **options)
        interval = bootstrapped(values, weights, n_resamples=299)
        np.testing.assert_allclose(interval, result.confidence_interval, rtol=1e-9)


ROWS = st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 2))


N_RESAMPLES = st.sampled_from([2, 3, 29])


@settings(max_examples=40)
@given(
    st.lists(ROWS, min_size=1, max_size=9),
    st.booleans(),
    N_RESAMPLES,
    st.integers(0, 5),
)
def test_bootstraps_stay_inside_of_the_values(rows, weighted, n_resamples, seed):
    values, weights = map(np.array, zip(*rows, strict=True))
    if weighted:
        interval = bootstrapped(values, weights, n_resamples, seed)
    else:
        interval = bootstrapped(values, None, n_resamples, seed)
        weights = np.ones(len(rows))
    counted = values[weights > 0]
    if len(counted) < 2 or np.ptp(counted) == 0:
        assert np.isnan(interval).all()
        return
    low, high = interval
    assert counted.min() <= low <= high <= counted.max()
    # neither the order of rows nor one without a value matters, nor equal weights
    order = np.random.default_rng(seed).permutation(len(rows))
    values = np.append(values[order], math.nan)
    weights = np.append(weights[order], 1)
    assert bootstrapped(values, weights, n_resamples, seed) == interval


def test_bootstraps_of_many_values():
    # scipy's jackknife alone would take the mean of 50,000 * 49,999 values
    numbers = np.arange(50_000)
    low, high = bootstrapped(numbers % 7, numbers % 3, n_resamples=9)
    assert 2.9 < low < high < 3.1


UNDEFINED = [
    ([0.1, 0.1, 0.1], None),
    ([0.1, 0.1, 0.9], [1, 2, 0]),
    ([0.1], None),
    ([], None),
]


@pytest.mark.parametrize(("values", "weight"), UNDEFINED)
def test_values_that_do_not_differ_have_no_bootstrap(values, weight):
    interval = bootstrapped(values, weight)
    assert np.isnan(interval).all()


def test_equal_means_of_all_resamples_are_both_ends():
    # neither of two resamples has the last value
    values = [0] * 8 + [1]
    assert bootstrapped(values, n_resamples=2, seed=3) == (0, 0)
