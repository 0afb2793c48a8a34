"""RankingFeatureSelector against `evaluate` per feature and scipy's tests."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from tieaware_sklearn import RankingFeatureSelector, evaluate
from tieaware_sklearn.datasets import make_web_search

ARRAYS = (
    "scores_",
    "best_",
    "worst_",
    "tie_std_",
    "chance_",
    "ideal_",
    "lift_",
    "ci_",
    "pvalues_",
    "qvalues_",
)


@pytest.fixture(scope="module")
def web():
    return make_web_search(n_queries=60, n_documents=30, shuffle=True, random_state=3)


def fitted(web, **parameters):
    return RankingFeatureSelector(**parameters).fit(web.data, web.target, qid=web.qid)


def assert_same(a, b, tolerance=0.0):
    for name in ARRAYS:
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance, err_msg=name)
    for name in ("directions_", "ranking_", "support_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    assert a.n_queries_ == b.n_queries_


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([RankingFeatureSelector()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [RankingFeatureSelector(), RankingFeatureSelector(missing="last")]
)
def test_scikit_learn_checks_with_routing(estimator, check):
    with sklearn.config_context(enable_metadata_routing=True):
        check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("direction", ["descending", "ascending"])
def test_statistics_are_those_of_evaluate(web, direction, weighted):
    measures = ["ndcg@5", "ap(rel=2)", "fallout@3"]
    weight = (web.qid % 3 + 1.0) if weighted else None
    selector = RankingFeatureSelector(measures, direction=direction)
    selector.fit(web.data, web.target, qid=web.qid, query_weight=weight)
    for j in range(web.data.shape[1]):
        column = web.data[:, j] if direction == "descending" else -web.data[:, j]
        report = evaluate(
            web.target, column, qid=web.qid, measures=measures, query_weight=weight
        )
        summary = report.summary()
        assert np.array_equal(selector.scores_[j], summary.mean)
        assert np.array_equal(selector.best_[j], summary.best)
        assert np.array_equal(selector.worst_[j], summary.worst)
        np.testing.assert_allclose(selector.tie_std_[j], summary.tie_std, rtol=1e-14)
        assert np.array_equal(selector.chance_, summary.chance)
        assert np.array_equal(selector.ideal_, summary.ideal)
        assert np.array_equal(selector.lift_[j], summary.lift)
        np.testing.assert_allclose(selector.ci_[j], summary.interval, rtol=1e-13)
        if not weighted:
            for m, greater in enumerate([True, True, False]):
                test = stats.ttest_rel(
                    report.expected[:, m],
                    report.chance[:, m],
                    alternative="greater" if greater else "less",
                )
                assert selector.pvalues_[j, m] == pytest.approx(test.pvalue, rel=1e-9)
    for m in range(3):
        np.testing.assert_allclose(
            selector.qvalues_[:, m],
            stats.false_discovery_control(selector.pvalues_[:, m]),
        )


def test_auto_takes_the_better_direction_and_pays_for_it(web):
    down, up = fitted(web, direction="descending"), fitted(web, direction="ascending")
    auto = fitted(web)
    better = np.where(up.scores_[:, 0] > down.scores_[:, 0], "ascending", "descending")
    assert auto.directions_.tolist() == better.tolist()
    assert auto.directions_[web.feature_names.index("url_length")] == "ascending"
    one = np.where((better == "ascending")[:, None], up.pvalues_, down.pvalues_)
    np.testing.assert_array_equal(auto.pvalues_, np.minimum(1, 2 * one))
    assert fitted(web, direction=better.tolist()).pvalues_ == pytest.approx(one)


def test_sort_by_alone_decides(web):
    for name in ("rr", "fallout@5"):
        measures = ["ndcg@10", "fallout@5", "rr"]
        selector = fitted(web, measures=measures, sort_by=name, n_features_to_select=3)
        column = measures.index(name)
        alone = fitted(web, measures=name, n_features_to_select=3)
        np.testing.assert_array_equal(selector.scores_[:, [column]], alone.scores_)
        np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
        np.testing.assert_array_equal(selector.support_, alone.support_)
    best = np.argmin(alone.scores_[:, 0])
    assert alone.ranking_[best] == 1


def test_lower_is_better_handles_unsigned_integers(web):
    column = np.clip(web.data[:, [3]], 0, 255).astype(np.uint8)
    found = RankingFeatureSelector(direction="ascending").fit(
        column, web.target, qid=web.qid
    )
    same = RankingFeatureSelector(direction="descending").fit(
        -column.astype(float), web.target, qid=web.qid
    )
    np.testing.assert_array_equal(found.scores_, same.scores_)


def test_no_constant_feature_is_ever_selected(web):
    rng = np.random.default_rng(0)
    per_query = rng.random(web.qid.max() + 1)[web.qid]
    X = np.column_stack([np.zeros(len(web.qid)), web.data[:, 1], per_query])
    for parameters in (
        {},
        {"alpha": 1.0, "min_lift": -100},
        {"direction": "ascending", "alpha": 1.0, "min_lift": -100},
        {"zero_relevance": "skip", "alpha": 1.0},
    ):
        selector = RankingFeatureSelector(**parameters)
        selector.fit(X, web.target, qid=web.qid)
        assert selector.support_.tolist() in ([False, True, False], [False] * 3)
        assert selector.pvalues_[[0, 2]].tolist() == [[1.0] * 3] * 2
        np.testing.assert_array_equal(selector.scores_[0], selector.chance_)
        np.testing.assert_array_equal(selector.lift_[0], [0.0] * 3)
    selector = RankingFeatureSelector(n_features_to_select=3)
    with pytest.warns(UserWarning, match="only 1 of 3 features vary"):
        selector.fit(X, web.target, qid=web.qid)
    assert selector.support_.tolist() == [False, True, False]


def test_a_single_query_keeps_everything_and_says_so(web):
    X = np.column_stack([web.data[:, :3], np.ones(len(web.qid))])
    with pytest.warns(UserWarning, match="p-values need at least two queries, got 1"):
        selector = RankingFeatureSelector().fit(X, web.target)
    assert selector.support_.tolist() == [True, True, True, False]
    assert np.isnan(selector.pvalues_).all()
    assert np.isnan(selector.ci_).all()
    with pytest.warns(UserWarning, match="p-values need at least two queries, got 1"):
        usable = RankingFeatureSelector().fit(
            X, web.target, web.qid, (web.qid == 3).astype(float)
        )
    assert usable.support_.tolist() == [True, True, True, False]
    chosen = RankingFeatureSelector(n_features_to_select=1).fit(X, web.target)
    assert chosen.support_.sum() == 1
    assert chosen.ranking_[chosen.support_] == 1


@pytest.mark.parametrize(
    ("asked", "kept"), [(3, 3), (0.5, 6), (1.0, 12), (1e-9, 1), (7 / 12, 7)]
)
def test_number_of_features(web, asked, kept):
    selector = fitted(web, n_features_to_select=asked)
    assert selector.support_.sum() == kept
    assert sorted(selector.ranking_[selector.support_]) == list(range(1, kept + 1))
    assert selector.transform(web.data).shape == (len(web.qid), kept)


def test_alpha_and_lift_decide_without_a_number(web):
    selector = fitted(web, alpha=0.01, min_lift=0.1)
    np.testing.assert_array_equal(
        selector.support_,
        (selector.qvalues_[:, 0] <= 0.01) & (selector.lift_[:, 0] >= 0.1),
    )
    assert 0 < selector.support_.sum() < len(selector.support_)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_bit_depends_on_row_order(web, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(web.qid))
    weight = 1 / web.qid
    a = RankingFeatureSelector().fit(web.data, web.target, web.qid, weight)
    b = RankingFeatureSelector().fit(
        web.data[order], web.target[order], web.qid[order], weight[order]
    )
    assert_same(a, b)
    assert np.array_equal(a.rank_correlation_, b.rank_correlation_)


def test_correlations_of_a_huge_query_do_not_depend_on_row_order():
    rng = np.random.default_rng(0)
    X, y = rng.random((400_000, 2)), rng.integers(0, 2, 400_000)
    selector = RankingFeatureSelector("p@5", n_features_to_select=1)
    order = rng.permutation(len(y))
    first = clone(selector).fit(X, y).rank_correlation_
    again = clone(selector).fit(X[order], y[order]).rank_correlation_
    assert np.array_equal(first, again)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_no_bit_depends_on_jobs(web, backend):
    alone = fitted(web)
    with joblib.parallel_config(backend=backend):
        together = fitted(web, n_jobs=2)
    assert_same(alone, together)
    assert np.array_equal(alone.rank_correlation_, together.rank_correlation_)


def batches(web, n):
    for part in np.array_split(np.unique(web.qid), n):
        rows = np.isin(web.qid, part)
        yield web.data[rows], web.target[rows], web.qid[rows], 1.0 / web.qid[rows]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("zero_relevance", [0.0, "skip"])
@pytest.mark.parametrize("n", [2, 7, 60])
def test_partial_fit_and_merge_equal_one_fit(web, n, zero_relevance, weighted):
    measures = ["ndcg@5", "ap(rel=4)", "fallout@3"]
    weight = 1.0 / web.qid if weighted else None
    new = RankingFeatureSelector(
        measures, zero_relevance=zero_relevance, n_features_to_select=3
    )
    whole = clone(new).fit(web.data, web.target, web.qid, weight)
    streamed = clone(new)
    parts = []
    for X, y, qid, w in batches(web, n):
        w = w if weighted else None
        streamed.partial_fit(X, y, qid, w)
        parts.append(clone(new).fit(X, y, qid, w))
    merged = parts[0]
    for part in parts[1:]:
        merged.merge(part)
    for other in (streamed, merged):
        assert_same(whole, other, tolerance=1e-12)
        np.testing.assert_allclose(
            whole.rank_correlation_, other.rank_correlation_, atol=1e-12
        )


def test_partial_fit_refuses_a_query_that_goes_on(web):
    selector = RankingFeatureSelector()
    rows = np.isin(web.qid, [1, 2])
    selector.partial_fit(web.data[rows], web.target[rows], web.qid[rows])
    scores = selector.scores_.copy()
    rows = np.isin(web.qid, [2, 3])
    with pytest.raises(ValueError, match="query 2 was in the call before"):
        selector.partial_fit(web.data[rows], web.target[rows], web.qid[rows])
    np.testing.assert_array_equal(selector.scores_, scores)
    assert selector.n_queries_ == 2


def test_merge_refuses_what_does_not_fit(web):
    a = fitted(web)
    for different in (
        {"measures": "rr"},
        {"direction": "ascending"},
        {"missing": "last"},
        {"zero_relevance": "skip"},
        {"redundancy": False},
    ):
        with pytest.raises(ValueError, match="other must have the measures"):
            a.merge(fitted(web, **different))
    for other in (a, 3):
        with pytest.raises(ValueError, match="other must be another"):
            a.merge(other)
    first = RankingFeatureSelector(qid=0)
    first.fit(np.column_stack([web.qid, web.data]), web.target)
    last = RankingFeatureSelector(qid=12)
    last.fit(np.column_stack([web.data, web.qid]), web.target)
    with pytest.raises(ValueError, match="other must have the measures"):
        first.merge(last)


@pytest.mark.parametrize(
    "change",
    [
        {"measures": ["rr", "p@5", "ap"]},
        {"measures": ["rr"]},
        {"direction": "descending"},
        {"zero_relevance": 1.0},
        {"missing": "last"},
        {"qid": 3},
    ],
)
def test_settings_must_not_change_once_queries_are_added(web, change):
    selector, other = fitted(web), fitted(web)
    scores = selector.scores_.copy()
    selector.set_params(**change)
    with pytest.raises(ValueError, match="must not change once queries are added"):
        selector.partial_fit(web.data, web.target, web.qid + 1000)
    with pytest.raises(ValueError, match="must not change once queries are added"):
        selector.merge(other)
    np.testing.assert_array_equal(selector.scores_, scores)


def test_partial_fit_takes_a_batch_without_weight(web):
    weight = (web.qid > 30).astype(float)
    whole = RankingFeatureSelector().fit(web.data, web.target, web.qid, weight)
    parts = RankingFeatureSelector()
    for rows in (web.qid > 30, web.qid <= 30):
        parts.partial_fit(web.data[rows], web.target[rows], web.qid[rows], weight[rows])
    assert_same(whole, parts, tolerance=1e-12)


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_equals_dense(web, convert):
    X = np.where(web.data > 5, web.data, 0)
    dense = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    sparse = RankingFeatureSelector().fit(convert(X), web.target, qid=web.qid)
    assert_same(dense, sparse)
    assert np.array_equal(dense.rank_correlation_, sparse.rank_correlation_)
    assert sp.issparse(sparse.transform(convert(X)))


def test_data_frames_of_pandas_and_polars(web):
    columns = {name: web.data[:, j] for j, name in enumerate(web.feature_names)}
    plain = fitted(web)
    for frame, series in ((pd.DataFrame, pd.Series), (pl.DataFrame, pl.Series)):
        X = frame(columns)
        qid = series([f"query {q}" for q in web.qid])
        found = RankingFeatureSelector().fit(X, series(web.target), qid=qid)
        assert_same(plain, found)
        # scikit-learn before 1.9 sees no names in frames of polars 2
        names = getattr(found, "feature_names_in_", np.array(web.feature_names))
        assert names.tolist() == web.feature_names
    selector = RankingFeatureSelector(n_features_to_select=2)
    selector.set_output(transform="pandas")
    out = selector.fit(pd.DataFrame(columns), web.target, qid=web.qid).transform(
        pd.DataFrame(columns)
    )
    assert out.columns.tolist() == selector.get_feature_names_out().tolist()


def test_qid_from_a_column(web):
    plain = fitted(web, n_features_to_select=4)
    X = pd.DataFrame(web.data, columns=web.feature_names)
    X.insert(2, "qid", [f"q{q}" for q in web.qid])
    selector = RankingFeatureSelector(n_features_to_select=4, qid="qid")
    selector.fit(X, web.target)
    at = np.arange(13) != 2
    np.testing.assert_array_equal(selector.scores_[at], plain.scores_)
    np.testing.assert_array_equal(selector.support_[at], plain.support_)
    assert np.isnan(selector.scores_[2]).all()
    assert not selector.support_[2]
    assert selector.ranking_[2] == 13
    np.testing.assert_array_equal(selector.transform(X), plain.transform(web.data))
    assert "qid" not in selector.table()["feature"].tolist()
    polars = clone(selector).fit(pl.DataFrame(dict(X)), web.target)
    np.testing.assert_array_equal(polars.scores_, selector.scores_)
    out = clone(selector).set_output(transform="pandas").fit_transform(X, web.target)
    assert out.columns.tolist() == selector.get_feature_names_out().tolist()

    array = np.column_stack([web.data, web.qid])
    by_index = RankingFeatureSelector(n_features_to_select=4, qid=-1)
    by_index.fit(array, web.target)
    np.testing.assert_array_equal(by_index.scores_[:-1], plain.scores_)
    np.testing.assert_array_equal(by_index.transform(array), plain.transform(web.data))
    sparse = sp.csr_array(array)
    again = clone(by_index).fit(sparse, web.target)
    np.testing.assert_array_equal(again.scores_, by_index.scores_)

    integers = pd.DataFrame(array, columns=[*range(20, 32), 5])[[5, *range(20, 32)]]
    by_name = RankingFeatureSelector(n_features_to_select=4, qid=5)
    by_name.fit(integers, web.target)
    assert by_name.directions_[0] == "qid"
    np.testing.assert_array_equal(by_name.scores_[1:], plain.scores_)
    np.testing.assert_array_equal(
        by_name.transform(integers), plain.transform(web.data)
    )

    with pytest.raises(ValueError, match="X must have a feature, got its qid column"):
        selector.fit(X[["qid"]], web.target)
    with pytest.raises(ValueError, match="qid must be given once"):
        selector.fit(X, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="qid must name a column of X, got 'query'"):
        RankingFeatureSelector(qid="query").fit(X, web.target)
    with pytest.raises(ValueError, match="index of one of the 13 columns"):
        RankingFeatureSelector(qid=13).fit(array, web.target)


def test_missing_values_tie_below_everything(web):
    column = web.data[:, 5].copy()
    gone = np.random.default_rng(0).random(len(column)) < 0.3
    low, high = column.copy(), column.copy()
    low[gone], high[gone] = column.min() - 1, column.max() + 1
    column[gone] = np.nan
    X = np.column_stack([column, column])
    found = RankingFeatureSelector(
        direction=["descending", "ascending"], missing="last"
    ).fit(X, web.target, qid=web.qid)
    expected = RankingFeatureSelector(direction=["descending", "ascending"]).fit(
        np.column_stack([low, high]), web.target, qid=web.qid
    )
    assert_same(found, expected)
    message = (
        rf"X must not hold NaN, got {gone.sum()} in column 0 and 1 more \(missing="
    )
    for bad in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=message):
            RankingFeatureSelector().fit(bad, web.target, qid=web.qid)
    frame = pd.DataFrame({"good": low, "q": web.qid, "bad": column})
    with pytest.raises(ValueError, match=f"got {gone.sum()} in column 'bad' "):
        RankingFeatureSelector(qid="q").fit(frame, web.target)
    # w by higher values and -w by lower ones are the same ranking, NaN and all
    mirrored = RankingFeatureSelector(missing="last").fit(
        np.column_stack([column, -column]), web.target, qid=web.qid
    )
    assert mirrored.directions_.tolist() == ["descending", "ascending"]
    assert np.array_equal(mirrored.scores_[0], mirrored.scores_[1])
    assert mirrored.rank_correlation_[0, 1] == pytest.approx(1)
    named = RankingFeatureSelector(qid=0)
    with pytest.raises(ValueError, match=r"y must be judged \(leave .* row 1"):
        named.fit([[1, 1], [1, 2], [2, 3]], [1, np.nan, 0])


def test_table_names_what_a_feature_repeats(web):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    table = selector.table()
    assert table.index.tolist() == list(range(1, 13))
    assert (np.diff(table["NDCG@10"]) <= 0).all()
    by_name = table.set_index("feature")
    assert by_name.loc["log_clicks", "repeats"] == "clicks"
    assert by_name.loc["log_clicks", "correlation"] == pytest.approx(1)
    assert pd.isna(table.loc[1, "repeats"])
    # the mean of Spearman's rho over the queries
    i, j = (web.feature_names.index(name) for name in ("clicks", "url_length"))
    rho = []
    for query in np.unique(web.qid):
        X = web.data[web.qid == query]
        if np.ptp(X[:, i]) > 0 and np.ptp(X[:, j]) > 0:
            rho.append(stats.spearmanr(X[:, i], X[:, j]).statistic)
    # short URLs rank first
    assert selector.directions_[j] == "ascending"
    assert selector.rank_correlation_[i, j] == pytest.approx(-np.mean(rho), abs=1e-12)
    without = fitted(web, redundancy=False)
    assert without.rank_correlation_ is None
    assert without.table()["repeats"].isna().all()


def test_pickles_and_clones(web):
    selector = fitted(web)
    again = pickle.loads(pickle.dumps(selector))
    assert_same(selector, again)
    assert clone(selector).get_params() == selector.get_params()


def test_pipeline_in_a_grid_search(web):
    grid = {"select__n_features_to_select": [1, 3, 0.5]}
    pipeline = Pipeline([("select", RankingFeatureSelector()), ("rank", Ridge())])
    with sklearn.config_context(enable_metadata_routing=True):
        cv = GroupKFold(3).set_split_request(groups="qid")
        search = GridSearchCV(pipeline, grid, cv=cv, error_score="raise")
        search.fit(web.data, web.target, qid=web.qid)
        routed = search.cv_results_["mean_test_score"]
    X = pd.DataFrame(web.data, columns=web.feature_names).assign(qid=web.qid)
    pipeline.set_params(select__qid="qid")
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3), error_score="raise")
    search.fit(X, web.target, groups=web.qid)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], routed)


def test_progress_bar(web, capfd):
    fitted(web, progress=True)
    assert "12/12" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sort_by": "dcg"}, r"sort_by must be one of \['NDCG@10', .*, got DCG"),
        ({"measures": ["ndgc"]}, "did you mean 'NDCG'"),
        ({"n_features_to_select": 0}, "n_features_to_select must be .* got 0"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be .* got 1.5"),
        ({"n_features_to_select": True}, "n_features_to_select must be .* got True"),
        ({"alpha": 2}, r"alpha must be in \[0, 1\], got 2"),
        ({"min_lift": "much"}, "min_lift must be"),
        ({"direction": "up"}, "direction must be one of .* got 'up'"),
        ({"direction": None}, "direction must be one of .* got None"),
        ({"direction": ["auto"]}, r"one value per feature \(12\), got 1"),
        ({"missing": "first"}, "missing must be one of .* got 'first'"),
        ({"zero_relevance": "keep"}, "zero_relevance must be one of .* got 'keep'"),
        ({"redundancy": "yes"}, "redundancy must be one of"),
    ],
)
def test_bad_parameters(web, parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(web, **parameters)


def test_bad_input(web):
    X, y, qid = web.data, web.target, web.qid
    new = RankingFeatureSelector
    with pytest.raises(ValueError, match="y must be >= 0, got -1"):
        new().fit(X, y - 1.0, qid=qid)
    with pytest.raises(ValueError, match=r"qid must have one value per row.*got 3"):
        new().fit(X, y, qid=[1, 2, 3])
    with pytest.raises(ValueError, match="query_weight must be constant within"):
        new().fit(X, y, qid=qid, query_weight=np.arange(len(y)))
    none = np.where(qid == 5, 0, y)
    with pytest.raises(ValueError, match="is undefined for query"):
        new(zero_relevance="raise").fit(X, none, qid=qid)


def test_text_and_labels_that_are_missing_are_named(web):
    frame = pd.DataFrame(web.data[:, :2], columns=["in_degree", "clicks"])
    frame["url"] = "http://a.org"
    message = "X must hold numbers, got 'http://a.org' in column 'url'"
    with pytest.raises(ValueError, match=message):
        RankingFeatureSelector().fit(frame, web.target, qid=web.qid)
    with pytest.raises(ValueError, match=message):
        RankingFeatureSelector(qid="q").fit(frame.assign(q="a"), web.target)
    # numbers that are spelled out are numbers
    frame["url"] = [str(clicks) for clicks in frame["clicks"]]
    selector = RankingFeatureSelector().fit(frame, web.target, qid=web.qid)
    assert selector.scores_[1].tolist() == selector.scores_[2].tolist()
    unknown = web.target.astype(float)
    unknown[7] = np.nan
    with pytest.raises(ValueError, match=r"y must be judged \(leave .* row 7"):
        RankingFeatureSelector().fit(web.data, unknown, qid=web.qid)
