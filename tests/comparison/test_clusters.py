"""Clusters of queries: variants of one question, sessions, users."""

import numpy as np
import pytest
from scipy import stats

from tieaware_sklearn import RankingReport, compare_systems, evaluate
from tieaware_sklearn.statistics.moments import cluster_means

MEASURES = ["ndcg@10", "rr"]


def documents(n_queries, seed=0, size=6):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), size)
    labels = rng.integers(0, 3, len(qid))
    a = labels + rng.normal(0, 2, len(qid)).round()
    b = labels + rng.normal(0, 2, len(qid)).round()
    return labels, {"a": a, "b": b}, qid


def sandwich(values, cluster):
    """Mean and standard error, written out as inference of clusters has it."""
    mean = values.mean()
    total = 0.0
    names = np.unique(cluster)
    for name in names:
        total += (values[cluster == name] - mean).sum() ** 2
    n = len(names)
    return mean, np.sqrt(n / (n - 1) * total) / len(values), n


def test_equal_clusters_have_the_interval_of_their_means():
    labels, systems, qid = documents(48)
    options = {"qid": qid, "measures": MEASURES}
    report = evaluate(labels, systems["a"], cluster=qid // 4, **options)
    summary = report.summary()
    for i, values in enumerate(report.expected.T):
        mean, error, n = sandwich(values, report.cluster)
        half = stats.t.ppf(0.975, n - 1) * error
        expected = np.clip([mean - half, mean + half], 0, 1)
        np.testing.assert_allclose(summary.interval[i], expected, rtol=1e-12)
    plain = evaluate(labels, systems["a"], **options).summary()
    for name in ("mean", "best", "worst", "tie_std", "chance", "ideal", "n_queries"):
        np.testing.assert_array_equal(getattr(summary, name), getattr(plain, name))
    np.testing.assert_array_equal(summary.n_effective, [12, 12])
    assert "48 queries in 12 clusters" in str(report)


@pytest.mark.filterwarnings("ignore:the values per query")
@pytest.mark.parametrize("ends", ["t", "bootstrap"])
@pytest.mark.parametrize("average", ["macro", "geometric"])
def test_clusters_of_one_query_are_no_clusters(average, ends):
    labels, systems, qid = documents(20)
    plain = evaluate(labels, systems["a"], qid=qid)
    report = evaluate(labels, systems["a"], qid=qid, cluster=qid)
    expected = plain.summary(average, interval=ends)
    summary = report.summary(average, interval=ends)
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(summary.columns[name], column)


def test_a_repeated_query_adds_nothing():
    labels, systems, qid = documents(12)
    plain = compare_systems(labels, systems, qid=qid)
    copies = {name: np.tile(scores, 3) for name, scores in systems.items()}
    ids = np.concatenate([qid, qid + 100, qid + 200])
    options = {"qid": ids, "cluster": np.tile(qid, 3)}
    repeated = compare_systems(np.tile(labels, 3), copies, **options)
    for name in ("difference", "difference_interval", "pvalues", "effect"):
        values = getattr(repeated, name)
        np.testing.assert_allclose(values, getattr(plain, name), rtol=1e-12)
    assert repeated.n_queries.tolist() == [36]


def test_the_paired_t_test_is_that_of_cluster_means():
    labels, systems, qid = documents(60)
    options = {"measure": "rr", "cluster": qid // 5, "segment": qid % 2}
    result = compare_systems(labels, systems, qid=qid, **options)
    apart = result.expected[:, 0] - result.expected[:, 1]
    mean, error, n = sandwich(apart, result.cluster)
    t = mean / error
    np.testing.assert_allclose(result.statistic, t, rtol=1e-12)
    pvalue = 2 * stats.t.sf(abs(t), n - 1)
    np.testing.assert_allclose(result.pvalues, pvalue, rtol=1e-12)
    in_segments = result.by_segment()
    np.testing.assert_allclose(in_segments.n_effective, [12, 12], rtol=0.2)
    assert np.isnan(in_segments.interaction).all()
    needed = result.queries_needed(0.05)
    assert needed.n_queries.tolist() == [60]
    assert "60 queries in 12 clusters" in str(result)


def test_clusters_are_observations_of_each_segment():
    labels, systems, qid = documents(60)
    options = {"measure": "rr", "cluster": qid // 3, "segment": qid // 30}
    result = compare_systems(labels, systems, qid=qid, **options)
    apart = result.expected[:, 0] - result.expected[:, 1]
    pvalues = result.by_segment().pvalue
    for differences, pvalue in zip(apart.reshape(2, 30), pvalues, strict=True):
        mean, error, n = sandwich(differences, np.arange(30) // 3)
        expected = 2 * stats.t.sf(abs(mean / error), n - 1)
        np.testing.assert_allclose(pvalue, expected, rtol=1e-12)


def test_randomization_flips_whole_clusters():
    labels, systems, qid = documents(40)
    options = {"cluster": qid // 4, "test": "randomization"}
    result = compare_systems(labels, systems, qid=qid, **options)
    apart = result.expected[:, 0] - result.expected[:, 1]
    sums = apart.reshape(10, 4).sum(axis=1)
    bits = (np.arange(1024)[:, None] >> np.arange(10)) & 1
    totals = (1 - 2 * bits) @ sums
    low = (totals <= sums.sum() + 1e-9).mean()
    high = (totals >= sums.sum() - 1e-9).mean()
    np.testing.assert_allclose(result.pvalues, 2 * min(low, high), rtol=1e-12)


def test_unequal_clusters_weigh_as_their_queries():
    labels, systems, qid = documents(30)
    cluster = np.minimum(qid, 11)
    report = evaluate(labels, systems["a"], qid=qid, measures="rr", cluster=cluster)
    sizes = np.bincount(report.cluster.astype(int))
    n = sizes.sum() ** 2 / (sizes**2).sum()
    values = report.expected[:, 0]
    mean = values.mean()
    sums = np.bincount(report.cluster, values - mean)
    error = np.sqrt((sums**2).sum() * n / (n - 1)) / len(values)
    half = stats.t.ppf(0.975, n - 1) * error
    expected = np.clip([mean - half, mean + half], 0, 1)
    summary = report.summary()
    np.testing.assert_allclose(summary.interval[0], expected, rtol=1e-12)
    np.testing.assert_allclose(summary.n_effective, n, rtol=1e-12)


def test_queries_without_a_value_and_of_weight_0_are_left_out():
    values = np.array([[1.0, np.nan], [0.0, 2.0], [3.0, np.nan], [5.0, 7.0]])
    weight, cluster = np.array([1.0, 3.0, 2.0, 0.0]), np.array([0, 0, 1, 1])
    means, weights = cluster_means(values, weight, cluster)
    np.testing.assert_array_equal(means, [[0.25, 2.0], [3.0, np.nan]])
    np.testing.assert_array_equal(weights, [[4, 3], [2, 0]])


def test_no_result_depends_on_the_order_of_rows():
    labels, systems, qid = documents(40)
    cluster = np.char.add("user ", (qid % 13).astype(str))
    result = compare_systems(labels, systems, qid=qid, cluster=cluster)
    rows = np.random.default_rng(1).permutation(len(qid))
    shuffled = {name: scores[rows] for name, scores in systems.items()}
    options = {"qid": qid[rows], "cluster": cluster[rows]}
    again = compare_systems(labels[rows], shuffled, **options)
    np.testing.assert_array_equal(result.pvalues, again.pvalues)
    np.testing.assert_array_equal(result.difference_interval, again.difference_interval)


def test_a_saved_table_keeps_clusters():
    labels, systems, qid = documents(20)
    report = evaluate(labels, systems["a"], qid=qid, cluster=qid // 2)
    again = RankingReport.from_frame(report.to_pandas(settings=True))
    np.testing.assert_array_equal(again.cluster, report.cluster)
    np.testing.assert_array_equal(again.summary().interval, report.summary().interval)


def test_few_clusters_warn():
    labels, systems, qid = documents(20)
    with pytest.warns(UserWarning, match=r"clusters is 4, .* fewer than 10"):
        evaluate(labels, systems["a"], qid=qid, cluster=qid // 5)


@pytest.mark.parametrize(
    "options", [{"test": "wilcoxon"}, {"correction": "tukey"}, {"average": "median"}]
)
def test_options_without_clusters(options):
    labels, systems, qid = documents(20)
    value = next(iter(options.values()))
    with pytest.raises(ValueError, match=f"with cluster, got.*{value}"):
        compare_systems(labels, systems, qid=qid, cluster=qid // 2, **options)


def test_a_cluster_is_constant_within_a_query():
    labels, systems, qid = documents(20)
    cluster = np.arange(len(qid))
    message = "cluster must be constant within a query, got 0 and 1"
    with pytest.raises(ValueError, match=message):
        evaluate(labels, systems["a"], qid=qid, cluster=cluster)
