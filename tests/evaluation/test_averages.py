"""Averages and moments over queries, their weights, intervals and corrections."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from tests.evaluation.helpers import said_of
from tieaware_sklearn import evaluate, ranking_score
from tieaware_sklearn.evaluation._averages import column_sums
from tieaware_sklearn.evaluation._intervals import QueryMoments, bootstrap_interval
from tieaware_sklearn.evaluation._multiple_testing import adjust
from tieaware_sklearn.evaluation._paired_t_test import t_test


def test_average_of_nothing_is_nan_and_says_so():
    data = {"y_true": [0, 0], "y_score": [1, 2]}
    for measure, average in (("ndcg@10", "macro"), ("r@1", "micro")):
        data |= {"measure": measure, "average": average}
        said = f"{measure.upper()} is undefined for every"
        with pytest.warns(UndefinedMetricWarning, match=said):
            assert math.isnan(ranking_score(zero_relevance="skip", **data))
        assert ranking_score(zero_relevance=0.25, **data) == 0.25


def test_the_median_is_an_average_too():
    # reciprocal ranks 1, 3/4, 1/2, 1; what weighs nothing stands between no others
    data = {"y_true": [1, 0, 1, 0, 0, 1, 1, 0], "y_score": [2, 1, 1, 1, 2, 1, 3, 1]}
    data["qid"] = [1, 1, 2, 2, 3, 3, 4, 4]
    for weight, mean in ((None, 7 / 8), ([1, 1, 0, 0, 2, 2, 1, 1], 3 / 4)):
        data["query_weight"] = weight
        assert evaluate(**data, measures="rr").summary("median").mean[0] == mean


def test_the_interval_of_a_median_is_between_values_of_known_ranks():
    n = 20
    qid = np.repeat(np.arange(n), 30)
    labels = np.tile(np.arange(30) == 0, n)
    scores = -np.tile(np.arange(30.0), n)
    scores[np.arange(n) * 30] = -np.arange(n) - 0.5  # rank i + 2, but for the first
    report = evaluate(labels, scores, qid=qid, measures="rr")
    low, high = report.summary("median").interval[0]
    ranked = np.sort(report.expected[:, 0])
    assert (low, high) == (ranked[5], ranked[14])
    assert stats.binom.cdf(5, n, 0.5) <= 0.025 < stats.binom.cdf(6, n, 0.5)
    weighted = replace(report, query_weight=np.arange(1.0, n + 1))
    assert np.isnan(weighted.summary("median").interval).all()


@pytest.mark.parametrize("spread", [0, 1, 40, 300])
@pytest.mark.parametrize("n_queries", [0, 5, 256, 257, 3000])
def test_sums_over_queries_are_those_of_fsum(n_queries, spread):
    rng = np.random.default_rng(n_queries + spread)
    shape = n_queries, 2, 3
    values = rng.normal(size=shape) * 2.0 ** rng.integers(-spread, spread + 1, shape)
    values[rng.random(shape) < 0.1] = 0.0
    values[:, 0, 0] = 0.0
    values[:, 0, 1] = 0.1
    values[::2, 1, 1] = -values[: n_queries - n_queries // 2, 1, 1]
    expected = [[math.fsum(own) for own in part] for part in values.T.tolist()]
    assert np.array_equal(column_sums(values), np.array(expected).reshape(3, 2).T)
    alone = [column_sums(values[:, i, j]).item() for i in range(2) for j in range(3)]
    assert np.array_equal(np.reshape(alone, (2, 3)), column_sums(values))


@pytest.mark.parametrize("n_values", [3, 2000])
def test_values_that_come_several_times_add_up_exactly(n_values):
    rng = np.random.default_rng(n_values)
    values = rng.normal(size=(n_values, 2, 3)) * 2.0 ** rng.integers(-20, 20, 3)
    times = rng.integers(0, 5, (n_values, 2))
    found = column_sums(values, times.astype(float))
    for column in range(2):
        repeated = np.repeat(values[:, column], times[:, column], axis=0)
        assert np.array_equal(found[column], column_sums(repeated))


def test_sums_over_many_queries_may_be_infinite():
    values = np.ones((1000, 2))
    values[0, 0] = math.inf
    assert column_sums(values).tolist() == [math.inf, 1000.0]
    assert column_sums(values[:, 1:] * 1e305).tolist() == [1e308]


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
    worth = total**2 / sum(w * w for _, w in pairs)
    if worth < 2:
        return float(mean), math.nan
    spread *= worth / (worth - 1)
    return float(mean), math.sqrt(spread) / float(total)


@given(
    st.lists(st.tuples(VALUES, VALUES, st.sampled_from([0, 0.5, 3.0])), min_size=1),
    st.booleans(),
    st.data(),
)
def test_moments_of_all_and_merged(rows, weighted, data):
    *columns, weight = map(np.array, zip(*rows, strict=True))
    values = np.stack(columns, axis=1)
    given = weight if weighted else None
    ends = st.lists(st.integers(0, len(rows)), max_size=3).map(sorted)
    merged = None
    for part in np.split(np.arange(len(rows)), data.draw(ends)):
        found = QueryMoments.of(values[part], None if given is None else given[part])
        merged = found if merged is None else merged.merge(found)
    whole = QueryMoments.of(values, given)
    joined = QueryMoments.join([whole.some([1]), whole.some([0])]).some([1, 0])
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
        found = QueryMoments.of(np.array(values)[:, None]).t_test("greater").pvalue
        np.testing.assert_array_equal(found, [p])
    for alternative, p in (
        ("greater", [1 / 2**5, 1, 1]),
        ("less", [1, 1 / 2**5, 1]),
        ("two-sided", [2 / 2**5, 2 / 2**5, 1]),
    ):
        found = t_test([0.1, -0.1, 0.0], [0.0] * 3, 5, alternative)
        assert found.statistic.tolist() == [math.inf, -math.inf, 0]
        assert found.pvalue.tolist() == p
    few = t_test([0.1, 0.0], [0.0, 0.0], [1, 0])
    assert np.isnan([few.statistic, few.pvalue]).all()


@pytest.mark.parametrize("n", [2, 10])
def test_an_interval_where_nothing_spreads_is_binomial_at_a_bound(n):
    """Nothing is said of values within the bounds, or of a measure without them."""
    ends = stats.binomtest(n, n).proportion_ci(0.9, "exact")
    values = np.tile([1, 1 - 1e-15, 0, 0.5, 1, 2, 0], (n, 1))
    bounds = [[0, 1], [0, 1], [0, 1], [0, 1], [-1, 1], [0, math.inf], [0, math.inf]]
    unknown = [math.nan] * 2
    wanted = [[*ends], [*ends], [0, 1 - ends[0]], unknown, [2 * ends[0] - 1, 1]]
    moments = QueryMoments.of(values)
    found = moments.interval(0.9, bounds)
    np.testing.assert_allclose(found, [*wanted, unknown, unknown], atol=1e-14)
    assert np.isnan(moments.interval(0.9)).all()
    merged = QueryMoments.of(values[1:]).merge(QueryMoments.of(values[:1]))
    np.testing.assert_allclose(merged.interval(0.9, bounds), found, atol=1e-14)
    # equal weights are none; a query that counts for all others is as good as alone
    weight = np.full(n, 0.1)
    weighted = QueryMoments.of(values, weight).interval(0.9, bounds)
    np.testing.assert_allclose(weighted, found, atol=1e-14)
    weight[0] = 1e9
    (low, high), *_ = QueryMoments.of(values, weight).interval(0.9, bounds)
    assert (low, high) == pytest.approx((0.05, 1), abs=1e-6)
    # other columns keep theirs
    values[0, 3] = 0.6
    found = QueryMoments.of(values).interval(0.9, bounds)[3]
    np.testing.assert_array_equal(
        QueryMoments.of(values[:, [3]]).interval(0.9)[0], found
    )


def firsts(*hits):
    """A report on queries with two documents, the better of which is first or last."""
    scores = [[2, 1] if hit else [1, 2] for hit in hits]
    return evaluate([[1, 0]] * len(hits), scores, measures=["p@1", "rr", "ndcg"])


def test_intervals_that_say_little_are_warned_of_once_where_they_are_asked_for():
    equal = firsts(*[1] * 10)
    (said,) = said_of(equal.summary)
    assert said.startswith("the values per query of P@1, RR, NDCG are all equal: ")
    assert said_of(str, equal) == said_of(equal.summary, interval="bootstrap") == [said]
    for interval in ("t", "bootstrap"):
        found = equal.summary(interval=interval).interval
        np.testing.assert_allclose(found, [[0.025**0.1, 1]] * 3)
    (said,) = said_of(firsts(*[1] * 9, 0).summary)
    assert "NDCG are equal for over 80% of them: the interval is too short" in said
    for n_hits, n_others, warns in ((6, 4, 0), (8, 2, 1), (199, 1, 1), (1, 0, 0)):
        report = firsts(*[1] * n_hits, *[0] * n_others)
        assert len(said_of(report.summary)) == warns
    # the miss of a query of weight 0 does not count
    weighed = replace(firsts(*[1] * 9, 0), query_weight=np.append(np.ones(9), 0.0))
    (said,) = said_of(weighed.summary)
    assert said.startswith("the values per query of P@1, RR, NDCG are all equal: ")
    # nothing is asked for, or ranks give it
    assert not said_of(firsts, *[1] * 10)
    assert not said_of(equal.summary, "median")


def test_segments_are_warned_of_by_their_names():
    report = replace(firsts(1, 1, 0, 1), segment=np.array(["a", "a", "b", "b"]))
    *_, said = said_of(report.by_segment)
    assert "values per query of P@1 of a, RR of a, NDCG of a are all equal" in said


@pytest.mark.parametrize(("n_low", "n_high", "warns"), [
    (0, 10, True), (1, 198, True), (1, 199, False), (0, 399, True), (0, 400, False),
])  # fmt: skip
def test_geometric_means_warn_that_values_near_0_may_be_missed(n_low, n_high, warns):
    documents = [[1, 0]] * (n_low + n_high)
    scores = [[-math.inf, 1]] * n_low + [[2, 1], [1, 2]] * (n_high // 2)
    scores += [[1, 2]] * (n_high % 2)
    report = evaluate(documents, scores, measures="rr")
    said = said_of(report.summary, "geometric")
    assert len(said) == warns
    assert all("RR are hardly ever near 0: if others are, the int" in s for s in said)
    assert not said_of(report.summary)


def test_corrections_by_hand():
    p = np.array([0.01, np.nan, 0.04, 0.03])
    for correction, expected in (
        (None, p),
        ("holm", [3 * 0.01, np.nan, 2 * 0.03, 2 * 0.03]),
        ("bh", [0.03, np.nan, 0.04, 0.04]),
        # times 1 + 1/2 + 1/3
        ("by", [0.03 * 11 / 6, np.nan, 0.04 * 11 / 6, 0.04 * 11 / 6]),
    ):
        np.testing.assert_allclose(adjust(p, correction), expected, rtol=1e-15)
    assert adjust(np.array([0.9, 0.8]), "holm").tolist() == [1, 1]
    assert np.isnan(adjust(np.array([np.nan]), "bh")).all()


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
        found = bootstrapped(values, weights, n_resamples=299)
        np.testing.assert_allclose(found, wanted.confidence_interval, rtol=1e-9)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 2)),
             min_size=1, max_size=9),
    st.booleans(), st.sampled_from([2, 3, 29]), st.integers(0, 5),
)  # fmt: skip
def test_bootstraps_stay_inside_of_the_values(rows, weighted, n_resamples, seed):
    values, weight = map(np.array, zip(*rows, strict=True))
    given = weight if weighted else np.ones(len(rows))
    found = bootstrapped(values, weight if weighted else None, n_resamples, seed)
    there = values[given > 0]
    if len(there) < 2 or np.ptp(there) == 0:
        assert np.isnan(found).all()
        return
    assert there.min() <= found[0] <= found[1] <= there.max()
    # neither the order of rows nor one without a value matters, nor equal weights
    order = np.random.default_rng(seed).permutation(len(rows))
    values, given = np.append(values[order], math.nan), np.append(given[order], 1)
    assert bootstrapped(values, given, n_resamples, seed) == found


def test_where_no_bootstrap_is_defined():
    # scipy's jackknife alone would take the mean of 50,000 * 49,999 values
    low, high = bootstrapped(np.arange(50_000) % 7, np.arange(50_000) % 3, 9)
    assert 2.9 < low < high < 3.1
    assert np.isnan(bootstrapped([0.1, 0.1, 0.1])).all()
    assert np.isnan(bootstrapped([0.1, 0.1, 0.9], [1, 2, 0])).all()
    # two resamples, neither of which has the last
    assert bootstrapped([0] * 8 + [1], n_resamples=2, seed=3) == (0, 0)
    assert np.isnan([bootstrapped([0.1]), bootstrapped([])]).all()


@pytest.mark.parametrize("n", [3, 40])
def test_weights_are_worth_as_many_queries_as_kish_says(n):
    rng = np.random.default_rng(0)
    values, weight = rng.random(n), rng.exponential(size=n) + 1
    moments = QueryMoments.of(values, weight)
    worth = weight.sum() ** 2 / (weight**2).sum()
    assert moments.effective() == pytest.approx(worth)
    mean, error = moments.averages(), moments.standard_error()
    ends = stats.t.interval(0.9, worth - 1, mean, error)
    assert moments.interval(0.9) == pytest.approx(ends)
    greater = stats.t.sf((mean - 0.4) / error, worth - 1)
    found = QueryMoments.of(values - 0.4, weight).t_test("greater").pvalue
    assert found == pytest.approx(greater)


@pytest.mark.parametrize("equal", [1.0, 0.1, 3.7, 1e-5])
def test_equal_weights_have_the_error_and_degrees_of_none(equal):
    values = np.random.default_rng(1).random((33, 4))
    weight = np.full(33, equal)
    plain, weighted = QueryMoments.of(values), QueryMoments.of(values, weight)
    np.testing.assert_array_equal(weighted.effective(), 33)
    np.testing.assert_allclose(weighted.interval(), plain.interval(), rtol=1e-13)


def test_one_query_with_nearly_all_the_weight_has_no_interval():
    labels, scores, qid = np.tile([0, 1], 30), np.arange(60) % 7, np.arange(60) // 2
    weight = np.where(qid == 4, 1000.0, 1.0)
    report = evaluate(labels, scores, qid=qid, measures="rr", query_weight=weight)
    with pytest.warns(UserWarning, match=r"30 queries are worth 1\.1 of equal weight"):
        summary = report.summary()
    assert np.isnan(summary.interval).all()
    assert summary.n_effective == pytest.approx(1029**2 / (29 + 1e6))
    some = evaluate(labels, scores, qid=qid, measures="rr", query_weight=1.0 + qid % 2)
    said = "30 queries, whose weights are worth 27.0 of equal weight"
    assert str(some).endswith(said)
