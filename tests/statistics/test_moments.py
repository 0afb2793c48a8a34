"""Moments over queries merge, and have the intervals and tests of their means."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn.statistics.moments import MergeableSums, QueryMoments
from tieaware_sklearn.statistics.t_test import t_test


@dataclass
class Sums(MergeableSums):
    total: Any
    seen: Any
    inner: Any = None


def test_fields_merge_by_what_they_hold():
    a = Sums(np.array([1.0, 2.0]), np.array([True, False]), Sums(1, 2))
    b = Sums(np.array([10.0, 0.5]), np.array([False, False]), Sums(3, 4))
    both = a.merge(b)
    assert both.total.tolist() == [11, 2.5]
    assert both.seen.tolist() == [True, False]
    assert (both.inner.total, both.inner.seen) == (4, 6)
    # what one of them lacks, both lack
    assert a.merge(Sums(b.total, b.seen)).inner is None
    assert Sums(b.total, b.seen).merge(a).inner is None


VALUES = st.sampled_from([0.0, 0.25, 0.7, 1.0, 1e-9, math.nan])


def plain(values, weights):
    """Mean and its standard error, from the definition."""
    pairs = []
    for value, weight in zip(values, weights, strict=True):
        if weight > 0 and not math.isnan(value):
            pairs.append((Fraction(value), Fraction(weight)))
    if not pairs:
        return math.nan, math.nan
    total = sum(w for _, w in pairs)
    mean = sum(w * x for x, w in pairs) / total
    if len(pairs) == 1:
        return float(mean), math.nan
    spread = sum(w * w * (x - mean) ** 2 for x, w in pairs)
    # Kish's effective number of queries
    effective_n = total**2 / sum(w * w for _, w in pairs)
    if effective_n < 2:
        return float(mean), math.nan
    spread *= effective_n / (effective_n - 1)
    return float(mean), math.sqrt(spread) / float(total)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_stand_for_several_queries(weighted):
    values = np.array([[0.0, 0.5], [0.25, math.nan], [0.7, 1.0], [0.1, 0.2]])
    times = np.array([3, 2, 0, 1])
    weights = np.array([1.0, 2.0, 0.5, 0.0]) if weighted else None
    moments = QueryMoments.from_values(values, weights, times.astype(float))
    rows = np.repeat(np.arange(4), times)
    repeated = weights[rows] if weighted else None
    expected = QueryMoments.from_values(values[rows], repeated)
    for name, array in vars(expected).items():
        assert getattr(moments, name) == pytest.approx(array, rel=1e-14), name


ROWS = st.tuples(VALUES, VALUES, st.sampled_from([0, 0.5, 3.0]))


@given(st.lists(ROWS, min_size=1), st.booleans(), st.data())
def test_moments_of_all_and_merged(rows, weighted, data):
    *columns, weight = map(np.array, zip(*rows, strict=True))
    values = np.stack(columns, axis=1)
    weights = weight if weighted else None
    ends = st.lists(st.integers(0, len(rows)), max_size=3).map(sorted)
    merged = None
    for part in np.split(np.arange(len(rows)), data.draw(ends)):
        weights_of_part = weight[part] if weighted else None
        moments = QueryMoments.from_values(values[part], weights_of_part)
        merged = moments if merged is None else merged.merge(moments)
    whole = QueryMoments.from_values(values, weights)
    reverse = QueryMoments.join([whole.select([1]), whole.select([0])])
    joined = reverse.select([1, 0])
    counted = weight if weighted else np.ones(len(rows))
    expected = [plain(column, counted) for column in columns]
    means, errors = zip(*expected, strict=True)
    for moments in (whole, merged, joined):
        assert moments.averages() == pytest.approx(means, abs=1e-14, nan_ok=True)
        error = moments.standard_error()
        assert error == pytest.approx(errors, abs=1e-9, nan_ok=True)


WITHOUT_SPREAD = [
    ([0.0, 0.0, 0.0], 1),
    ([1e-13, -1e-13, 2e-13], 1),
    ([-0.1, -0.1, -0.1], 1),
    ([0.1, 0.1 + 1e-15, 0.1 - 1e-15], 1 / 2**3),
    ([5e-9, 5e-9, 5e-9], 1 / 2**3),
    ([200.0, 200.0, 200.0 + 1e-11], 1 / 2**3),
    ([0.1], math.nan),
]


@pytest.mark.parametrize(("values", "p"), WITHOUT_SPREAD)
def test_values_that_do_not_spread_are_tested_by_their_signs(values, p):
    moments = QueryMoments.from_values(np.array(values)[:, None])
    result = moments.t_test("greater")
    np.testing.assert_array_equal(result.pvalue, [p])


SIGN_PVALUES = [
    ("greater", [1 / 2**5, 1, 1]),
    ("less", [1, 1 / 2**5, 1]),
    ("two-sided", [2 / 2**5, 2 / 2**5, 1]),
]


@pytest.mark.parametrize(("alternative", "pvalues"), SIGN_PVALUES)
def test_the_t_test_without_an_error_is_that_of_signs(alternative, pvalues):
    result = t_test([0.1, -0.1, 0.0], [0.0] * 3, 5, alternative)
    assert result.statistic.tolist() == [math.inf, -math.inf, 0]
    assert result.pvalue.tolist() == pvalues


def test_fewer_than_two_queries_have_no_t_test():
    result = t_test([0.1, 0.0], [0.0, 0.0], [1, 0], "greater")
    assert np.isnan(result.statistic).all()
    assert np.isnan(result.pvalue).all()


@pytest.mark.parametrize("n", [2, 10])
def test_an_interval_where_nothing_spreads_is_binomial_at_a_bound(n):
    """Nothing is said of values within the bounds, or of a measure without them."""
    low = stats.binomtest(n, n).proportion_ci(0.9, "exact").low
    unknown = [math.nan, math.nan]
    columns = [
        # value, bounds, interval
        (1, [0, 1], [low, 1]),
        (1 - 1e-15, [0, 1], [low, 1]),
        (0, [0, 1], [0, 1 - low]),
        (0.5, [0, 1], unknown),
        (1, [-1, 1], [2 * low - 1, 1]),
        (2, [0, math.inf], unknown),
        (0, [0, math.inf], unknown),
    ]
    row, bounds, expected = zip(*columns, strict=True)
    values = np.tile(row, (n, 1))
    whole = QueryMoments.from_values(values)
    assert np.isnan(whole.interval(0.9)).all()
    first = QueryMoments.from_values(values[:1])
    merged = QueryMoments.from_values(values[1:]).merge(first)
    # equal weights change nothing
    weighted = QueryMoments.from_values(values, np.full(n, 0.1))
    for moments in (whole, merged, weighted):
        interval = moments.interval(0.9, bounds)
        np.testing.assert_allclose(interval, expected, atol=1e-14)


@pytest.mark.parametrize("n", [2, 10])
def test_a_query_that_outweighs_all_others_has_the_interval_of_one_query(n):
    weight = np.full(n, 0.1)
    weight[0] = 1e9
    moments = QueryMoments.from_values(np.ones((n, 1)), weight)
    (ends,) = moments.interval(0.9, [[0, 1]])
    assert ends == pytest.approx([0.05, 1], abs=1e-6)


@pytest.mark.parametrize("n", [2, 10])
def test_a_column_that_spreads_has_the_interval_that_it_has_alone(n):
    values = np.tile([1, 0.5], (n, 1))
    values[0, 1] = 0.6
    interval = QueryMoments.from_values(values).interval(0.9, [[0, 1], [0, 1]])
    alone = QueryMoments.from_values(values[:, [1]]).interval(0.9)
    np.testing.assert_array_equal(interval[1], alone[0])


@pytest.mark.parametrize("n", [3, 40])
def test_weights_are_worth_as_many_queries_as_kish_says(n):
    rng = np.random.default_rng(0)
    values = rng.random(n)
    weight = rng.exponential(size=n) + 1
    moments = QueryMoments.from_values(values, weight)
    effective_n = weight.sum() ** 2 / (weight**2).sum()
    assert moments.effective() == pytest.approx(effective_n)
    mean = moments.averages()
    error = moments.standard_error()
    ends = stats.t.interval(0.9, effective_n - 1, mean, error)
    assert moments.interval(0.9) == pytest.approx(ends)
    greater = stats.t.sf((mean - 0.4) / error, effective_n - 1)
    shifted = QueryMoments.from_values(values - 0.4, weight)
    assert shifted.t_test("greater").pvalue == pytest.approx(greater)


@pytest.mark.parametrize("equal", [1.0, 0.1, 3.7, 1e-5])
def test_equal_weights_have_the_error_and_degrees_of_none(equal):
    values = np.random.default_rng(1).random((33, 4))
    weight = np.full(33, equal)
    plain = QueryMoments.from_values(values)
    weighted = QueryMoments.from_values(values, weight)
    np.testing.assert_array_equal(weighted.effective(), 33)
    np.testing.assert_allclose(weighted.interval(), plain.interval(), rtol=1e-13)
