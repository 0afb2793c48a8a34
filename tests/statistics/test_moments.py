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
    rows = zip(values, weights, strict=True)
    pairs = [(Fraction(x), Fraction(w)) for x, w in rows if w > 0 and x == x]
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


@given(
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([0, 0.5, 3.0])), min_size=1),
    st.booleans(),
    st.data(),
)
def test_moments_of_all_and_merged(rows, weighted, data):
    *columns, weight = map(np.array, zip(*rows, strict=True))
    values = np.stack(columns, axis=1)
    weights = weight if weighted else None
    ends = st.lists(st.integers(0, len(rows)), max_size=3).map(sorted)
    merged = None
    for part in np.split(np.arange(len(rows)), data.draw(ends)):
        moments_of_part = QueryMoments.from_values(
            values[part], None if weights is None else weights[part]
        )
        merged = moments_of_part if merged is None else merged.merge(moments_of_part)
    whole = QueryMoments.from_values(values, weights)
    joined = QueryMoments.join([whole.select([1]), whole.select([0])]).select([1, 0])
    counted = weight if weighted else np.ones(len(rows))
    expected = [plain(column, counted) for column in columns]
    for moments in (whole, merged, joined):
        mean, error = moments.averages(), moments.standard_error()
        wanted, of_mean = map(np.array, zip(*expected, strict=True))
        assert mean == pytest.approx(wanted, abs=1e-14, nan_ok=True)
        assert error == pytest.approx(of_mean, abs=1e-9, nan_ok=True)


def test_one_rule_where_nothing_spreads():
    for values, p in (
        ([0.0, 0.0, 0.0], 1),
        ([1e-13, -1e-13, 2e-13], 1),
        ([-0.1, -0.1, -0.1], 1),
        ([0.1, 0.1 + 1e-15, 0.1 - 1e-15], 1 / 2**3),
        ([5e-9, 5e-9, 5e-9], 1 / 2**3),
        ([200.0, 200.0, 200.0 + 1e-11], 1 / 2**3),
        ([0.1], math.nan),
    ):
        result = (
            QueryMoments.from_values(np.array(values)[:, None]).t_test("greater").pvalue
        )
        np.testing.assert_array_equal(result, [p])
    for alternative, p in (
        ("greater", [1 / 2**5, 1, 1]),
        ("less", [1, 1 / 2**5, 1]),
        ("two-sided", [2 / 2**5, 2 / 2**5, 1]),
    ):
        result = t_test([0.1, -0.1, 0.0], [0.0] * 3, 5, alternative)
        assert result.statistic.tolist() == [math.inf, -math.inf, 0]
        assert result.pvalue.tolist() == p
    few = t_test([0.1, 0.0], [0.0, 0.0], [1, 0], "greater")
    assert np.isnan([few.statistic, few.pvalue]).all()


@pytest.mark.parametrize("n", [2, 10])
def test_an_interval_where_nothing_spreads_is_binomial_at_a_bound(n):
    """Nothing is said of values within the bounds, or of a measure without them."""
    ends = stats.binomtest(n, n).proportion_ci(0.9, "exact")
    values = np.tile([1, 1 - 1e-15, 0, 0.5, 1, 2, 0], (n, 1))
    bounds = [[0, 1], [0, 1], [0, 1], [0, 1], [-1, 1], [0, math.inf], [0, math.inf]]
    unknown = [math.nan] * 2
    wanted = [[*ends], [*ends], [0, 1 - ends[0]], unknown, [2 * ends[0] - 1, 1]]
    moments = QueryMoments.from_values(values)
    interval = moments.interval(0.9, bounds)
    np.testing.assert_allclose(interval, [*wanted, unknown, unknown], atol=1e-14)
    assert np.isnan(moments.interval(0.9)).all()
    merged = QueryMoments.from_values(values[1:]).merge(
        QueryMoments.from_values(values[:1])
    )
    np.testing.assert_allclose(merged.interval(0.9, bounds), interval, atol=1e-14)
    # equal weights are none; a query that counts for all others is as good as alone
    weight = np.full(n, 0.1)
    weighted = QueryMoments.from_values(values, weight).interval(0.9, bounds)
    np.testing.assert_allclose(weighted, interval, atol=1e-14)
    weight[0] = 1e9
    (low, high), *_ = QueryMoments.from_values(values, weight).interval(0.9, bounds)
    assert (low, high) == pytest.approx((0.05, 1), abs=1e-6)
    # other columns keep theirs
    values[0, 3] = 0.6
    interval = QueryMoments.from_values(values).interval(0.9, bounds)[3]
    np.testing.assert_array_equal(
        QueryMoments.from_values(values[:, [3]]).interval(0.9)[0], interval
    )


@pytest.mark.parametrize("n", [3, 40])
def test_weights_are_worth_as_many_queries_as_kish_says(n):
    rng = np.random.default_rng(0)
    values, weight = rng.random(n), rng.exponential(size=n) + 1
    moments = QueryMoments.from_values(values, weight)
    effective_n = weight.sum() ** 2 / (weight**2).sum()
    assert moments.effective() == pytest.approx(effective_n)
    mean, error = moments.averages(), moments.standard_error()
    ends = stats.t.interval(0.9, effective_n - 1, mean, error)
    assert moments.interval(0.9) == pytest.approx(ends)
    greater = stats.t.sf((mean - 0.4) / error, effective_n - 1)
    pvalue = QueryMoments.from_values(values - 0.4, weight).t_test("greater").pvalue
    assert pvalue == pytest.approx(greater)


@pytest.mark.parametrize("equal", [1.0, 0.1, 3.7, 1e-5])
def test_equal_weights_have_the_error_and_degrees_of_none(equal):
    values = np.random.default_rng(1).random((33, 4))
    weight = np.full(33, equal)
    plain, weighted = (
        QueryMoments.from_values(values),
        QueryMoments.from_values(values, weight),
    )
    np.testing.assert_array_equal(weighted.effective(), 33)
    np.testing.assert_allclose(weighted.interval(), plain.interval(), rtol=1e-13)
