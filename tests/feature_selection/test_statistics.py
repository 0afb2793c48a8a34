"""What is added up over queries, against `evaluate` and scipy's tests."""

from __future__ import annotations

import functools

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone

from tests.feature_selection.helpers import assert_same
from tieaware_sklearn import RankingFeatureSelector, Screening, evaluate
from tieaware_sklearn.evaluation import _prepared
from tieaware_sklearn.evaluation._statistics import LabelledQueries


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("direction", ["descending", "ascending"])
def test_statistics_are_those_of_evaluate(web, direction, weighted):
    measures = ["ndcg@5", "ap(rel=2)", "fallout@3"]
    weight = (web.qid % 3 + 1.0) if weighted else None
    given = {"qid": web.qid, "query_weight": weight}
    selector = RankingFeatureSelector(measures, direction=direction)
    selector.fit(web.data, web.target, **given)
    for j in range(web.data.shape[1]):
        column = web.data[:, j] if direction == "descending" else -web.data[:, j]
        report = evaluate(web.target, column, measures=measures, **given)
        summary = report.summary()
        assert np.array_equal(selector.chance_, summary.chance)
        assert np.array_equal(selector.ideal_, summary.ideal)
        for name in ("mean", "best", "worst", "tie_std", "lift", "interval"):
            found, expected = getattr(selector, f"{name}_")[j], getattr(summary, name)
            rtol = 1e-13 if name in ("tie_std", "interval") else 0
            np.testing.assert_allclose(found, expected, rtol=rtol)
        for m, side in enumerate([] if weighted else ["greater", "greater", "less"]):
            values = report.expected[:, m], report.chance[:, m]
            expected = stats.ttest_rel(*values, alternative=side).pvalue
            assert selector.pvalues_[j, m] == pytest.approx(expected, rel=1e-9)
    for q, p in zip(selector.qvalues_.T, selector.pvalues_.T, strict=True):
        np.testing.assert_allclose(q, stats.false_discovery_control(p))


@pytest.mark.parametrize("direction", ["auto", "descending", "mixed"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "missing", "skip"])
def test_features_of_one_call_are_as_each_alone(web, monkeypatch, kind, direction):
    some = np.flatnonzero(np.isin(web.qid, np.unique(web.qid)[:6]))
    X, y, qid = web.data[some], web.target[some].copy(), web.qid[some]
    X = np.hstack([X, np.ones((len(X), 1))])
    y[qid == qid[0]] = 0
    options = {"zero_relevance": "skip"} if kind == "skip" else {}
    if kind == "sparse":
        X = sp.csr_array(np.where(np.median(X, axis=0) < X, X, 0))
    elif kind == "missing":
        X[::7, ::2] = np.nan
        options = {"missing": "last"}
    if direction == "mixed":
        direction = ["ascending", "auto", "descending", "auto"] * 3 + ["ascending"]
    calls = []
    each_block = LabelledQueries.each_block

    def counted(self, *args, **options):
        calls.append(self)
        return each_block(self, *args, **options)

    monkeypatch.setattr(LabelledQueries, "each_block", counted)
    measures = ["ndcg@5", "ap", "fallout@3", "esl"]
    selector = RankingFeatureSelector(measures, direction=direction, **options)
    given = X, y, qid, np.unique(qid, return_inverse=True)[1] / 2
    whole = clone(selector).fit(*given)
    assert 1 <= len(calls) <= (1 if direction == "descending" else 2)
    for cells in (1, 3 * len(y)):
        monkeypatch.setattr(_prepared, "_CELLS", cells)
        parts = clone(selector).set_params(n_jobs=2).fit(*given)
        assert_same(whole, parts)
        assert np.array_equal(whole.screening_.varies, parts.screening_.varies)


def test_no_bit_depends_on_rows_or_jobs_or_how_columns_are_held(web):
    selector = RankingFeatureSelector()
    given = web.data, web.target, web.qid, 1 / web.qid
    whole = clone(selector).fit(*given)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(web.qid))
        assert_same(whole, clone(selector).fit(*(values[order] for values in given)))
    for backend in ("threading", "multiprocessing"):
        with joblib.parallel_config(backend=backend):
            assert_same(whole, clone(selector).set_params(n_jobs=2).fit(*given))
    X = np.where(web.data > 5, web.data, 0)
    dense = clone(selector).fit(X, *given[1:])
    for convert in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        sparse = clone(selector).fit(convert(X), *given[1:])
        assert_same(dense, sparse)
        assert sp.issparse(sparse.transform(convert(X)))


@pytest.mark.parametrize(
    ("n", "zero_relevance", "weighted"), [(2, 0.0, False), (7, "skip", True)]
)
def test_partial_fit_and_merge_equal_one_fit(web, n, zero_relevance, weighted):
    new = RankingFeatureSelector(
        ["ndcg@5", "ap(rel=4)", "fallout@3"],
        zero_relevance=zero_relevance,
        n_features_to_select=3,
    )
    # of a part, all weights may be 0
    weight = np.where(web.qid > 20, 1 / web.qid, 0) if weighted else None
    whole = clone(new).fit(web.data, web.target, web.qid, weight)
    streamed, parts = clone(new), []
    for part in np.array_split(np.unique(web.qid), n):
        rows = np.isin(web.qid, part)
        own = web.data[rows], web.target[rows], web.qid[rows]
        own += (weight[rows] if weighted else None,)
        streamed.partial_fit(*own)
        parts.append(clone(new).screen(*own))
    merged = functools.reduce(Screening.merge, parts)
    for other in (streamed, clone(new).adopt(merged, web.data[:0])):
        assert_same(whole, other, tolerance=1e-12)


def test_missing_values_tie_below_everything(web):
    column = web.data[:, 5].copy()
    gone = np.random.default_rng(0).random(len(column)) < 0.3
    low, high = column.copy(), column.copy()
    low[gone], high[gone] = column.min() - 1, column.max() + 1
    column[gone] = np.nan
    X, rows = np.column_stack([column, column]), {"y": web.target, "qid": web.qid}
    both = RankingFeatureSelector(direction=["descending", "ascending"])
    expected = clone(both).fit(np.column_stack([low, high]), **rows)
    assert_same(both.set_params(missing="last").fit(X, **rows), expected)
    got = rf"X must not hold NaN, got {gone.sum()} in column"
    frame = pd.DataFrame({"good": low, "q": web.qid, "bad": column})
    for bad, message in (
        (X, rf"{got} 0 and 1 more \(missing="),
        (sp.csr_array(X), rf"{got} 0 and 1 more \(missing="),
        (frame, f"{got} 'bad' "),
    ):
        with pytest.raises(ValueError, match=message):
            RankingFeatureSelector().fit(bad, **rows)
    # w by higher values and -w by lower ones are the same ranking, NaN and all
    mirrored = RankingFeatureSelector(missing="last")
    mirrored.fit(np.column_stack([column, -column]), **rows)
    assert mirrored.directions_.tolist() == ["descending", "ascending"]
    assert np.array_equal(mirrored.mean_[0], mirrored.mean_[1])
    assert mirrored.rank_correlation_[0, 1] == pytest.approx(1)


def test_correlations_of_a_huge_query_do_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    X, y = rng.random((400_000, 2)), rng.integers(0, 2, 400_000)
    selector = RankingFeatureSelector("p@5", n_features_to_select=1)
    order, one = rng.permutation(len(y)), np.zeros(len(y))
    first = clone(selector).fit(X, y, qid=one).rank_correlation_
    again = clone(selector).fit(X[order], y[order], qid=one).rank_correlation_
    assert np.array_equal(first, again)
    # and single documents correlate nothing
    for missing in ("raise", "last"):
        selector = RankingFeatureSelector("p@5", missing=missing)
        single = selector.screen([[1.0, 2.0], [3.0, 4.0]], [1, 0], qid=[1, 2])
        assert not single.rank_correlation.any()


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_are_means_of_those_of_each_query(weighted):
    rng = np.random.default_rng(1)
    sizes = np.concatenate([rng.integers(2, 40, 60), [400, 401, 1]])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.integers(0, 50, (len(qid), 5)).astype(float)
    # constant within a query
    X[qid == 3, 1] = 2.0
    weight = rng.integers(0, 4, len(sizes)).astype(float)
    options = {"query_weight": weight[qid]} if weighted else {}
    selector = RankingFeatureSelector("p@5", direction="descending")
    found = selector.fit(X, rng.integers(0, 2, len(qid)), qid=qid, **options)
    total, n = np.zeros((2, 5, 5))
    for query in np.flatnonzero(sizes > 1):
        part = X[qid == query]
        there = np.ptp(part, axis=0) > 0
        both = np.ix_(there, there)
        own = weight[query] if weighted else 1.0
        total[both] += own * stats.spearmanr(part[:, there]).statistic
        n[both] += own
    np.testing.assert_allclose(found.rank_correlation_, total / n, atol=1e-12)
