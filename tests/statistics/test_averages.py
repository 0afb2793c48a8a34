"""Sums over queries are exact."""

import math

import numpy as np
import pytest

from tieaware_sklearn.statistics.averages import AVERAGE_FUNCTIONS, column_sums


@pytest.mark.parametrize("spread", [0, 1, 40, 300])
@pytest.mark.parametrize("n_queries", [0, 5, 256, 257, 3000])
def test_sums_over_queries_are_those_of_fsum(n_queries, spread):
    rng = np.random.default_rng(n_queries + spread)
    shape = n_queries, 2, 3
    values = rng.normal(size=shape)
    values *= 2.0 ** rng.integers(-spread, spread + 1, shape)
    values[rng.random(shape) < 0.1] = 0.0
    values[:, 0, 0] = 0.0
    values[:, 0, 1] = 0.1
    values[::2, 1, 1] = -values[: n_queries - n_queries // 2, 1, 1]
    sums = column_sums(values)
    assert sums.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        column = values[:, i, j]
        assert sums[i, j] == math.fsum(column)
        assert sums[i, j] == column_sums(column)


AVERAGES = [
    ("macro", [0.3, 0.0, 1.0], [2.0, 1.0, 2.0], 0.52),
    ("median", [0.3, 0.0, 1.0], [2.0, 1.0, 2.0], 0.3),
    # the geometric mean raises 0 to 1e-5
    ("geometric", [0.0, 1.0, 100.0], [1.0, 1.0, 1.0], 0.1),
]


@pytest.mark.parametrize(("name", "values", "weights", "expected"), AVERAGES)
def test_weighted_averages(name, values, weights, expected):
    average = AVERAGE_FUNCTIONS[name](np.array(values), np.array(weights))
    assert average == pytest.approx(expected)


@pytest.mark.parametrize("n_values", [3, 2000])
def test_values_that_come_several_times_add_up_exactly(n_values):
    rng = np.random.default_rng(n_values)
    values = rng.normal(size=(n_values, 2, 3))
    values *= 2.0 ** rng.integers(-20, 20, 3)
    times = rng.integers(0, 5, (n_values, 2))
    sums = column_sums(values, times.astype(float))
    for column in range(2):
        repeated = np.repeat(values[:, column], times[:, column], axis=0)
        assert np.array_equal(sums[column], column_sums(repeated))


def test_sums_over_many_queries_may_be_infinite():
    values = np.ones((1000, 2))
    values[0, 0] = math.inf
    assert column_sums(values).tolist() == [math.inf, 1000.0]
    assert column_sums(values[:, 1:] * 1e305).tolist() == [1e308]
