"""Bootstrap intervals of means."""

import math
from functools import partial

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics.intervals import bootstrap_interval


def bootstrapped(values, weight=None, n_resamples=999, seed=0):
    values = np.array(values, dtype=float)
    weight = None if weight is None else np.array(weight, dtype=float)
    options = {"n_resamples": n_resamples, "random_state": seed}
    return bootstrap_interval(values, weight, **options)


def test_scipys_bootstrap():
    rng = np.random.default_rng(1)
    values, weight = rng.beta(0.5, 2, 25), rng.integers(1, 4, 25).astype(float)
    x, w = np.array([values, weight])[:, np.lexsort((weight, values))]

    def mean(rows, of_rows):
        rows = np.asarray(rows, dtype=int)
        return (of_rows[rows] * x[rows]).sum() / of_rows[rows].sum()

    for weights, own in ((None, np.ones(25)), (weight, w)):
        statistic, options = partial(mean, of_rows=own), {"n_resamples": 299, "rng": 0}
        wanted = stats.bootstrap((range(25),), statistic, vectorized=False, **options)
        interval = bootstrapped(values, weights, n_resamples=299)
        np.testing.assert_allclose(interval, wanted.confidence_interval, rtol=1e-9)


ROWS = st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 2))


@settings(max_examples=40)
@given(
    st.lists(ROWS, min_size=1, max_size=9),
    st.booleans(),
    st.sampled_from([2, 3, 29]),
    st.integers(0, 5),
)
def test_bootstraps_stay_inside_of_the_values(rows, weighted, n_resamples, seed):
    values, weight = map(np.array, zip(*rows, strict=True))
    weights = weight if weighted else np.ones(len(rows))
    interval = bootstrapped(values, weight if weighted else None, n_resamples, seed)
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


def test_where_no_bootstrap_is_defined():
    # scipy's jackknife alone would take the mean of 50,000 * 49,999 values
    low, high = bootstrapped(np.arange(50_000) % 7, np.arange(50_000) % 3, 9)
    assert 2.9 < low < high < 3.1
    assert np.isnan(bootstrapped([0.1, 0.1, 0.1])).all()
    assert np.isnan(bootstrapped([0.1, 0.1, 0.9], [1, 2, 0])).all()
    # two resamples, neither of which has the last
    assert bootstrapped([0] * 8 + [1], n_resamples=2, seed=3) == (0, 0)
    assert np.isnan([bootstrapped([0.1]), bootstrapped([])]).all()
