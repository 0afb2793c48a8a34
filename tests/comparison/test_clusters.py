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
    systems = {name: labels + rng.normal(0, 2, len(qid)).round() for name in "ab"}
    return labels, systems, qid


def sandwich(values, cluster):
    """Mean and standard error, written out as inference of clusters has it."""
    mean, total, names = values.mean(), 0.0, sorted(set(cluster.tolist()))
    for name in names:
        total += sum(values[i] - mean for i in np.flatnonzero(cluster == name)) ** 2
    n = len(names)
    return mean, np.sqrt(n / (n - 1) * total) / len(values), n


def test_equal_clusters_have_the_interval_of_their_means():
    labels, systems, qid = documents(48)
    report = evaluate(
        labels, systems["a"], qid=qid, measures=MEASURES, cluster=qid // 4
    )
    plain = evaluate(labels, systems["a"], qid=qid, measures=MEASURES).summary()
    summary = report.summary()
    for i, values in enumerate(report.expected.T):
        mean, error, n = sandwich(values, report.cluster)
        half = stats.t.ppf(0.975, n - 1) * error
        expected = np.clip([mean - half, mean + half], 0, 1)
        np.testing.assert_allclose(summary.interval[i], expected, rtol=1e-12)
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
    result, two = (x.summary(average, interval=ends) for x in (plain, report))
    for name, column in result.columns.items():
        np.testing.assert_array_equal(two.columns[name], column)


def test_a_repeated_query_adds_nothing():
    labels, systems, qid = documents(12)
    plain = compare_systems(labels, systems, qid=qid)
    repeated = compare_systems(
        np.tile(labels, 3),
        {name: np.tile(scores, 3) for name, scores in systems.items()},
        qid=np.concatenate([qid, qid + 100, qid + 200]),
        cluster=np.tile(qid, 3),
    )
    for name in ("difference", "difference_interval", "pvalues", "effect"):
        np.testing.assert_allclose(
            getattr(repeated, name), getattr(plain, name), rtol=1e-12
        )
    assert repeated.n_queries.tolist() == [36]


def test_the_paired_t_test_is_that_of_cluster_means():
    labels, systems, qid = documents(60)
    result = compare_systems(
        labels, systems, qid=qid, measure="rr", cluster=qid // 5, segment=qid % 2
    )
    apart = result.expected[:, 0] - result.expected[:, 1]
    mean, error, n = sandwich(apart, result.cluster)
    np.testing.assert_allclose(result.statistic, mean / error, rtol=1e-12)
    pvalue = 2 * stats.t.sf(abs(mean / error), n - 1)
    np.testing.assert_allclose(result.pvalues, pvalue, rtol=1e-12)
    in_segments = result.by_segment()
    np.testing.assert_allclose(in_segments.n_effective, [12, 12], rtol=0.2)
    assert np.isnan(in_segments.interaction).all()
    needed = result.queries_needed(0.05)
    assert needed.n_queries.tolist() == [60]
    assert "60 queries in 12 clusters" in str(result)


def test_clusters_are_observations_of_each_segment():
    labels, systems, qid = documents(60)
    result = compare_systems(
        labels, systems, qid=qid, measure="rr", cluster=qid // 3, segment=qid // 30
    )
    apart = (result.expected[:, 0] - result.expected[:, 1]).reshape(2, 30)
    for differences, pvalue in zip(apart, result.by_segment().pvalue, strict=True):
        mean, error, n = sandwich(differences, np.arange(30) // 3)
        expected = 2 * stats.t.sf(abs(mean / error), n - 1)
        np.testing.assert_allclose(pvalue, expected, rtol=1e-12)


def test_randomization_flips_whole_clusters():
    labels, systems, qid = documents(40)
    result = compare_systems(
        labels, systems, qid=qid, cluster=qid // 4, test="randomization"
    )
    apart = result.expected[:, 0] - result.expected[:, 1]
    sums = apart.reshape(10, 4).sum(axis=1)
    signs = 1 - 2 * ((np.arange(1024)[:, None] >> np.arange(10)) & 1)
    means = signs @ sums
    low, high = (means <= sums.sum() + 1e-9).mean(), (means >= sums.sum() - 1e-9).mean()
    np.testing.assert_allclose(result.pvalues, 2 * min(low, high), rtol=1e-12)


def test_unequal_clusters_weigh_as_their_queries():
    labels, systems, qid = documents(30)
    cluster = np.minimum(qid, 11)
    report = evaluate(labels, systems["a"], qid=qid, measures="rr", cluster=cluster)
    sizes = np.bincount(report.cluster.astype(int))
    n = sizes.sum() ** 2 / (sizes**2).sum()
    values, codes = report.expected[:, 0], report.cluster
    sums = np.bincount(codes, values - values.mean())
    error = np.sqrt((sums**2).sum() * n / (n - 1)) / len(values)
    half = stats.t.ppf(0.975, n - 1) * error
    expected = np.clip(values.mean() + np.array([-half, half]), 0, 1)
    np.testing.assert_allclose(report.summary().interval[0], expected, rtol=1e-12)
    np.testing.assert_allclose(report.summary().n_effective, n, rtol=1e-12)


def test_queries_without_a_value_and_of_weight_0_are_left_out():
    values = np.array([[1.0, np.nan], [0.0, 2.0], [3.0, np.nan], [5.0, 7.0]])
    weight, cluster = np.array([1.0, 3.0, 2.0, 0.0]), np.array([0, 0, 1, 1])
    means, weights = cluster_means(values, weight, cluster)
    np.testing.assert_array_equal(means, [[0.25, 2.0], [3.0, np.nan]])
    np.testing.assert_array_equal(weights, [[4, 3], [2, 0]])


def test_no_result_depends_on_the_order_of_rows():
    labels, systems, qid = documents(40)
    cluster = np.char.add("user ", (qid % 13).astype(str))
    order = np.random.default_rng(1).permutation(len(qid))
    result = compare_systems(labels, systems, qid=qid, cluster=cluster)
    two = compare_systems(
        labels[order],
        {name: scores[order] for name, scores in systems.items()},
        qid=qid[order],
        cluster=cluster[order],
    )
    np.testing.assert_array_equal(result.pvalues, two.pvalues)
    np.testing.assert_array_equal(result.difference_interval, two.difference_interval)


def test_a_saved_table_keeps_clusters():
    labels, systems, qid = documents(20)
    report = evaluate(labels, systems["a"], qid=qid, cluster=qid // 2)
    again = RankingReport.from_frame(report.to_pandas(settings=True))
    np.testing.assert_array_equal(again.cluster, report.cluster)
    np.testing.assert_array_equal(again.summary().interval, report.summary().interval)


def test_few_clusters_warn():
    labels, systems, qid = documents(20)
    with pytest.warns(UserWarning, match=r"cluster has 4 .* fewer than 10"):
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
    with pytest.raises(
        ValueError, match="cluster must be constant within a query, got 0 and 1"
    ):
        evaluate(labels, systems["a"], qid=qid, cluster=np.arange(len(qid)))
