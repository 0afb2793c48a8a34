"""Tukey's honestly significant difference over queries and systems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tieaware_sklearn import compare_systems
from tieaware_sklearn.comparison._systems import tukey_pvalues
from tieaware_sklearn.datasets import make_web_search

WEB = make_web_search(n_queries=40, random_state=3)
SYSTEMS = dict(zip(WEB.feature_names[:4], WEB.data.T[:4], strict=True))


def every_pair(m):
    return np.array(list(itertools.combinations(range(m), 2)))


def larger_range(q, m, degrees):
    """P(range of m standard normals / S > q), S = sqrt(chi² / degrees)."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    z = 9 * nodes[:, None]
    # where all but 1e-15 of S lies
    low, high = np.sqrt(stats.chi2.isf([1 - 1e-15, 1e-15], degrees) / degrees)
    s = (high + low) / 2 + (high - low) / 2 * nodes
    # all others between the largest, at z, and as far below it
    others = stats.norm.cdf(z) - stats.norm.cdf(z - q * s)
    within = m * (9 * weights) @ (stats.norm.pdf(z) * others ** (m - 1))
    density = stats.chi.pdf(s * math.sqrt(degrees), degrees) * math.sqrt(degrees)
    return (high - low) / 2 * weights @ (density * (1 - within))


def test_a_table_by_hand():
    # queries in rows; the means of systems are 4, 5 and 9, those of queries 4, 6 and 8
    values = np.array([[2.0, 4, 6], [4, 4, 10], [6, 7, 11]])
    # x_ij - mean of query - mean of system + 6
    residuals = [
        *(2 - 4 - 4 + 6, 4 - 4 - 5 + 6, 6 - 4 - 9 + 6),
        *(4 - 6 - 4 + 6, 4 - 6 - 5 + 6, 10 - 6 - 9 + 6),
        *(6 - 8 - 4 + 6, 7 - 8 - 5 + 6, 11 - 8 - 9 + 6),
    ]
    assert residuals == [0, 1, -1, 0, -1, 1, 0, 0, 0]
    mse = (1 + 1 + 1 + 1) / ((3 - 1) * (3 - 1))
    found = tukey_pvalues(values, every_pair(3))
    for p, apart in zip(found, (5 - 4, 9 - 4, 9 - 5), strict=True):
        wanted = larger_range(apart / math.sqrt(mse / 3), 3, 4)
        assert p == pytest.approx(wanted, abs=1e-9)


def test_published_critical_values():
    # 5% points of the studentized range in every table: 3 means and 10 degrees of
    # freedom, 4 and 20, 5 and 60
    for q, m, degrees in ((3.88, 3, 10), (3.96, 4, 20), (3.98, 5, 60)):
        # a change of q by .01 makes one of .0006
        assert larger_range(q, m, degrees) == pytest.approx(0.05, abs=5e-4)


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 2), min_size=2, max_size=20))
def test_two_systems_are_a_paired_t_test(rows):
    values = np.array(rows) / 8
    found = compare_systems_of(values, correction="tukey")
    assert found.adjusted_pvalues[0] == pytest.approx(found.pvalues[0], abs=1e-12)


def compare_systems_of(values, **options):
    """Systems whose precision at 8 of each query is this."""
    n, m = values.shape
    relevant = (np.arange(8) < 8 * values.reshape(-1, 1)).reshape(n, m, 8)
    # a system retrieves documents of its own
    labels = relevant.reshape(-1).astype(float)
    owner = np.tile(np.repeat(np.arange(m), 8), n)
    scores = {f"s{j}": np.where(owner == j, 1.0, -np.inf) for j in range(m)}
    qid = np.repeat(np.arange(n), m * 8)
    return compare_systems(labels, scores, qid=qid, measure="p@8", **options)


@pytest.mark.parametrize("m", [3, 5])
def test_neither_the_order_nor_the_level_of_queries_matters(m):
    rng = np.random.default_rng(m)
    values = rng.normal(size=(30, m)) / 8 + rng.random((30, 1)) + np.arange(m) / 40
    found = tukey_pvalues(values, every_pair(m))
    shuffled = tukey_pvalues(values[rng.permutation(30)], every_pair(m))
    assert np.array_equal(found, shuffled)
    # what queries add to all systems alike is taken out
    raised = tukey_pvalues(values + np.arange(30)[:, None], every_pair(m))
    assert raised == pytest.approx(found, abs=1e-9)
    turned = tukey_pvalues(values, every_pair(m)[:, ::-1])
    assert np.array_equal(found, turned)
    # a test of one-way layouts loses power to the queries
    one_way = stats.tukey_hsd(*values.T).pvalue
    assert all(
        p <= one_way[a, b] for p, (a, b) in zip(found, every_pair(m), strict=True)
    )


def test_where_nothing_spreads():
    values = np.arange(5.0)[:, None] + np.array([0, 0, 1])
    found = tukey_pvalues(values, every_pair(3))
    assert found.tolist() == [1, 0, 0]
    assert np.isnan(tukey_pvalues(np.ones((1, 3)), every_pair(3))).all()


def test_queries_where_a_system_is_undefined_are_left_out():
    values = np.random.default_rng(0).random((12, 3))
    gaps = np.vstack([values, [[np.nan, 1, 0], [0, 1, np.nan]]])
    assert np.array_equal(
        tukey_pvalues(gaps, every_pair(3)), tukey_pvalues(values, every_pair(3))
    )


def test_it_is_a_correction_of_compare_systems():
    options = {"qid": WEB.qid, "measure": "ap"}
    found = compare_systems(WEB.target, SYSTEMS, correction="tukey", **options)
    plain = compare_systems(WEB.target, SYSTEMS, **options)
    assert np.array_equal(found.pvalues, plain.pvalues)
    wanted = tukey_pvalues(found.expected, found.pairs)
    assert found.adjusted_pvalues.tolist() == wanted.tolist()
    assert found.correction == "tukey"
    assert "p (tukey)" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "wilcoxon"}, "test must be 't' with correction='tukey'"),
        ({"alternative": "less"}, "alternative must be 'two-sided' with correction"),
        ({"baseline": "clicks"}, "baseline must be None .* got 'clicks'.* Dunnett"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        compare_systems(WEB.target, SYSTEMS, qid=WEB.qid, correction="tukey", **options)
