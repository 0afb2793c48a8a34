"""RankingFeatureSelector as an estimator."""

from __future__ import annotations

import pickle
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch

from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import (
    QueryKFold,
    RankingFeatureSelector,
    evaluate,
    make_ranking_scorer,
)


def batch(web, *queries, ids=lambda qid: qid):
    rows = np.isin(web.qid, queries)
    return web.data[rows], web.target[rows], ids(web.qid[rows])


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (lambda qid: qid, "2"),
        (lambda qid: qid.astype(float), "2.0"),
        (lambda qid: [f"query 000{q}" for q in qid], "'query 0002'"),
        (lambda qid: [(q, "query") for q in qid.tolist()], "(2, 'query')"),
    ],
    ids=["integers", "floats", "texts", "tuples"],
)
def test_a_query_is_counted_once_whenever_it_comes_again(web, ids, name):
    selector = RankingFeatureSelector()
    for queries in ([1, 2], [3], [4, 5]):
        selector.partial_fit(*batch(web, *queries, ids=ids))
    scores = selector.mean_.copy()
    selector = pickle.loads(pickle.dumps(selector))
    with pytest.raises(ValueError, match=f"query {re.escape(name)} again"):
        selector.partial_fit(*batch(web, 2, 6, ids=ids))
    np.testing.assert_array_equal(selector.mean_, scores)
    assert selector.n_queries_ == 5
    # nor do ids travel with it
    assert b"query 000" not in pickle.dumps(selector)
    other = RankingFeatureSelector().fit(*batch(web, 7, 4, 5, ids=ids))
    with pytest.raises(
        ValueError, match=r"none of the queries .* got 2 of them among its 3"
    ):
        selector.merge(other)
    assert selector.n_queries_ == 5
    with pytest.raises(ValueError, match="none of the queries"):
        selector.screening_.merge(other.screening_)
    adopted = RankingFeatureSelector().adopt(selector.screening_, web.data)
    with pytest.raises(ValueError, match="again"):
        adopted.partial_fit(*batch(web, 5, ids=ids))
    adopted.partial_fit(*batch(web, 6, ids=ids))
    assert adopted.merge(clone(other).fit(*batch(web, 7, 8, ids=ids))).n_queries_ == 8


def test_ids_are_known_again_across_types_and_as_a_column(web):
    selector = RankingFeatureSelector().partial_fit(*batch(web, 1, 2))
    for ids in (np.float32, np.uint8, object):
        with pytest.raises(ValueError, match=r"query 2.* again"):
            selector.partial_fit(*batch(web, 2, ids=lambda qid, to=ids: qid.astype(to)))
    selector.partial_fit(*batch(web, 2, ids=lambda qid: qid.astype(str)))
    X, y, qid = batch(web, 1, 2)
    by_column = RankingFeatureSelector(qid=0)
    by_column.partial_fit(np.column_stack([qid, X]), y)
    with pytest.raises(ValueError, match=r"query 1\.0 again"):
        by_column.partial_fit(np.column_stack([qid, X])[qid == 1], y[qid == 1])


ONE_QUERY = r"without qid, all \d+ rows are ranked together as one query"


def test_without_query_ids_it_warns(web):
    X, y = web.data, web.target
    chosen = RankingFeatureSelector(n_features_to_select=2)
    one = np.zeros(len(y))
    wanted = clone(chosen).fit(X, y, qid=one)
    for fit in (chosen.fit, clone(chosen).partial_fit):
        with pytest.warns(UserWarning, match=ONE_QUERY) as caught:
            assert_same(fit(X, y), wanted)
        (message,) = (str(warning.message) for warning in caught)
        assert "set_config(enable_metadata_routing=True)" in message
        assert "RankingFeatureSelector(qid=<name or index>)" in message
        assert "pass equal ids, such as qid=np.zeros(len(y))" in message
    with pytest.warns(UserWarning, match=ONE_QUERY):
        assert chosen.screen(X, y).n_queries == 1
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.warns(UserWarning, match=r"search\.fit\(X, y, qid=qid\)"),
    ):
        chosen.fit(X, y)
    # what says that it is one query is believed
    for ids in (one, np.full(len(y), "a")):
        assert_same(chosen.fit(X, y, qid=ids), wanted)
    column = RankingFeatureSelector(n_features_to_select=2, qid=0)
    assert column.fit(np.column_stack([one, X]), y).n_queries_ == 1
    # each batch without ids is one more query
    with pytest.warns(UserWarning, match=ONE_QUERY):
        twice = clone(chosen).partial_fit(X, y).partial_fit(X, y)
    assert twice.n_queries_ == 2


def test_routing_that_is_off_no_longer_selects_the_opposite_feature_in_silence():
    # within each query the first feature ranks the relevant document first; between
    # queries the second does
    n = 20
    qid = np.repeat(np.arange(n), 3)
    richness = np.repeat(np.arange(n) >= n / 2, 3)
    y = np.where(richness, [2, 2, 1] * n, [1, 0, 0] * n)
    within = y - 3.0 * richness
    between = np.where(richness, [5, 5, 6] * n, [0, 1, 1] * n)
    X = np.column_stack([within, between])
    selector = RankingFeatureSelector(
        "ap(rel=1)", n_features_to_select=1, direction="descending"
    )
    pipeline = Pipeline([("select", selector), ("rank", Ridge())])
    with pytest.warns(UserWarning, match=ONE_QUERY):
        pooled = clone(pipeline).fit(X, y)
    assert pooled[0].get_support().tolist() == [False, True]
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(pipeline).fit(X, y, qid=qid)
    by_step = clone(pipeline).fit(X, y, select__qid=qid)
    for right in (routed, by_step):
        assert right[0].get_support().tolist() == [True, False]


def test_weights_are_asked_for_only_on_request(web):
    weight = 1.0 / web.qid
    data = {"qid": web.qid, "query_weight": weight}
    with sklearn.config_context(enable_metadata_routing=True):
        selector = RankingFeatureSelector()
        scorer = make_ranking_scorer("ap").set_score_request(query_weight=True)
        search = GridSearchCV(
            Pipeline([("select", selector), ("rank", Ridge())]),
            {"select__n_features_to_select": [3]},
            scoring=scorer,
            cv=QueryKFold(3),
            error_score="raise",
        )
        search.fit(web.data, web.target, **data)
        assert_same(search.best_estimator_[0], fitted(web, n_features_to_select=3))
        selector.set_fit_request(query_weight=True)
        search.fit(web.data, web.target, **data)
        weighted = RankingFeatureSelector(n_features_to_select=3)
        weighted.fit(web.data, web.target, **data)
        assert_same(search.best_estimator_[0], weighted)
        # where nobody asks for them, scikit-learn says so
        alone = Pipeline([("select", RankingFeatureSelector()), ("rank", Ridge())])
        with pytest.raises(TypeError, match="query_weight"):
            alone.fit(web.data, web.target, **data)


def test_data_frames_keep_their_dtypes_beside_a_qid_column(web):
    X = pd.DataFrame(
        {
            "qid": [f"q{q}" for q in web.qid],
            "clicks": web.data[:, 11].astype(np.int32),
            "age": pd.array(web.data[:, 1].astype(int), dtype="Int64"),
            "noise": np.zeros(len(web.qid)),
            "score": web.data[:, 5].astype(np.float32),
        },
        index=np.arange(len(web.qid)) * 2,
    )
    kept = ["clicks", "age", "score"]
    selector = RankingFeatureSelector(qid="qid", n_features_to_select=3)
    array = selector.fit_transform(X, web.target)
    assert selector.get_feature_names_out().tolist() == kept
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, X[kept].to_numpy(float))
    out = selector.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(out, X[kept])
    assert X["qid"].iloc[0].startswith("q")
    # of arrays, sparse matrices and frames of polars, the ids decide no dtype either
    for to in (pl.DataFrame, lambda part: pa.table(dict(part))):
        part = to(X[["qid", "score", "noise"]])
        small = RankingFeatureSelector(qid="qid", n_features_to_select=1)
        out = small.fit_transform(part, web.target)
        assert isinstance(out, np.ndarray)
        assert out.dtype == np.float64  # noise is
        one = to(X[["qid", "score"]])
        assert small.fit_transform(one, web.target).dtype == np.float32
        out = small.set_output(transform="polars").transform(one)
        assert isinstance(out, pl.DataFrame)
        # scikit-learn before 1.9 sees no names in frames of polars 2
        assert out.dtypes == [pl.Float32]
    objects = X[["qid", "score", "noise"]].to_numpy(object)
    out = RankingFeatureSelector(qid=0, n_features_to_select=1).fit_transform(
        objects, web.target
    )
    assert out.dtype == np.float64
    numbers = np.column_stack([web.qid, web.data]).astype(np.float32)
    given = numbers.copy()
    for matrix in (numbers, sp.csr_array(numbers), sp.csc_matrix(numbers)):
        by_index = RankingFeatureSelector(qid=0, n_features_to_select=2)
        out = by_index.fit_transform(matrix, web.target)
        assert sp.issparse(out) == sp.issparse(matrix)
        assert out.dtype == np.float32
        out = out.toarray() if sp.issparse(out) else out
        np.testing.assert_array_equal(out, numbers[:, by_index.support_])
    np.testing.assert_array_equal(numbers, given)
    back = by_index.inverse_transform(out)
    assert (back[:, 0] == 0).all()


@pytest.mark.parametrize("qid", ["q", 0])
def test_n_features_in_counts_the_columns_of_x(web, qid):
    X = pd.DataFrame(web.data[:, :3], columns=list("abc"))
    X.insert(0, "q", web.qid)
    X = X if qid == "q" else X.to_numpy()
    selector = RankingFeatureSelector(qid=qid, n_features_to_select=1)
    assert selector.fit(X, web.target).n_features_in_ == 4
    assert selector.get_support().shape == (4,)


def test_merge_refuses_what_does_not_fit(web):
    a = fitted(web)
    for different, said in (
        ({"measures": "rr"}, "measures differ: RR in other"),
        ({"direction": "ascending"}, "directions differ: ascending in other, auto in"),
        ({"missing": "last"}, "values of missing differ: last in other, raise in this"),
        ({"zero_relevance": "skip"}, "values of zero_relevance differ: skip in other"),
        ({"redundancy": False, "max_correlation": None}, "correlations of features di"),
    ):
        with pytest.raises(ValueError, match=f"this screening: {said}"):
            a.merge(fitted(web, **different))
    for other in (a, 3):
        with pytest.raises(ValueError, match="other must be another"):
            a.merge(other)
    first = RankingFeatureSelector(qid=0)
    first.fit(np.column_stack([web.qid, web.data]), web.target)
    last = RankingFeatureSelector(qid=12)
    last.fit(np.column_stack([web.data, web.qid]), web.target)
    with pytest.raises(ValueError, match="other must have the features, measures"):
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
    scores = selector.mean_.copy()
    selector.set_params(**change)
    with pytest.raises(ValueError, match="must not change after the first queries"):
        selector.partial_fit(web.data, web.target, web.qid + 1000)
    with pytest.raises(ValueError, match="must not change after the first queries"):
        selector.merge(other)
    np.testing.assert_array_equal(selector.mean_, scores)


def test_partial_fit_takes_a_batch_without_weight(web):
    weight = (web.qid > 30).astype(float)
    whole = RankingFeatureSelector().fit(web.data, web.target, web.qid, weight)
    parts = RankingFeatureSelector()
    for rows in (web.qid > 30, web.qid <= 30):
        parts.partial_fit(web.data[rows], web.target[rows], web.qid[rows], weight[rows])
    assert_same(whole, parts, tolerance=1e-12)


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
    np.testing.assert_array_equal(selector.mean_[at], plain.mean_)
    np.testing.assert_array_equal(selector.support_[at], plain.support_)
    assert np.isnan(selector.mean_[2]).all()
    assert not selector.support_[2]
    assert selector.ranking_[2] == 13
    np.testing.assert_array_equal(selector.transform(X), plain.transform(web.data))
    assert "qid" not in selector.to_pandas()["feature"].tolist()
    polars = clone(selector).fit(pl.DataFrame(dict(X)), web.target)
    np.testing.assert_array_equal(polars.mean_, selector.mean_)
    out = clone(selector).set_output(transform="pandas").fit_transform(X, web.target)
    assert out.columns.tolist() == selector.get_feature_names_out().tolist()

    array = np.column_stack([web.data, web.qid])
    by_index = RankingFeatureSelector(n_features_to_select=4, qid=-1)
    by_index.fit(array, web.target)
    np.testing.assert_array_equal(by_index.mean_[:-1], plain.mean_)
    np.testing.assert_array_equal(by_index.transform(array), plain.transform(web.data))
    sparse = sp.csr_array(array)
    again = clone(by_index).fit(sparse, web.target)
    np.testing.assert_array_equal(again.mean_, by_index.mean_)

    integers = pd.DataFrame(array, columns=[*range(20, 32), 5])[[5, *range(20, 32)]]
    by_name = RankingFeatureSelector(n_features_to_select=4, qid=5)
    by_name.fit(integers, web.target)
    assert by_name.directions_[0] == "qid"
    np.testing.assert_array_equal(by_name.mean_[1:], plain.mean_)
    np.testing.assert_array_equal(
        by_name.transform(integers), plain.transform(web.data)
    )

    with pytest.raises(ValueError, match="a feature beside its qid column 'qid', got"):
        selector.fit(X[["qid"]], web.target)
    with pytest.raises(ValueError, match="qid must be given once"):
        selector.fit(X, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="qid must name a column of X, got 'query'"):
        RankingFeatureSelector(qid="query").fit(X, web.target)
    with pytest.raises(ValueError, match="index of one of the 13 columns"):
        RankingFeatureSelector(qid=13).fit(array, web.target)


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
        ({"alpha": True}, r"alpha must be in \[0, 1\], got True"),
        ({"min_lift": "much"}, "min_lift must be"),
        ({"direction": "up"}, "direction must be one of .* got 'up'"),
        ({"direction": None}, "direction must be one of .* got None"),
        ({"direction": ["auto"]}, r"one value per feature \(12\), got 1"),
        ({"missing": "first"}, "missing must be one of .* got 'first'"),
        ({"unjudged": "last"}, "unjudged must be one of .* got 'last'"),
        ({"zero_relevance": "keep"}, "zero_relevance must be one of .* got 'keep'"),
        ({"redundancy": "yes"}, "redundancy must be one of"),
        ({"max_correlation": 1.5}, r"max_correlation must be in \[0, 1\] or None, got"),
        ({"max_correlation": True}, "max_correlation must be .* got True"),
        ({"max_correlation": "auto"}, "max_correlation must be .* got 'auto'"),
        ({"diversity": -0.1}, r"diversity must be in \[0, 1\], got -0.1"),
        ({"diversity": None}, r"diversity must be in \[0, 1\], got None"),
        (
            {"redundancy": False},
            r"redundancy must be .* with max_correlation=0.95, got False; to select "
            r"without correlations, set max_correlation=None$",
        ),
        (
            {"redundancy": False, "n_features_to_select": 2},
            "with max_correlation=0.95 and diversity=0.4, got False.* set "
            "max_correlation=None and diversity=0$",
        ),
        (
            {"redundancy": False, "n_features_to_select": 2, "max_correlation": None},
            "with diversity=0.4, got False.* set diversity=0$",
        ),
        ({"progress": "x"}, "progress must be True or False, got 'x'"),
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


def test_unjudged_labels_may_count_as_not_relevant(web):
    labels = np.where(np.arange(len(web.target)) % 7, web.target, np.nan)
    found = RankingFeatureSelector(unjudged="nonrelevant")
    found.fit(web.data, labels, qid=web.qid)
    wanted = fitted(Bunch(data=web.data, target=np.nan_to_num(labels), qid=web.qid))
    assert_same(found, wanted)
    X = np.column_stack([web.data, web.qid])
    by_column = RankingFeatureSelector(unjudged="nonrelevant", qid=-1)
    with_na = pd.Series(labels).astype("Int64")
    np.testing.assert_array_equal(by_column.fit(X, with_na).mean_[:-1], found.mean_)
    # BPref knows of them by itself, and sees that they are not judged
    bpref = RankingFeatureSelector("bpref").fit(web.data, labels, qid=web.qid)
    report = evaluate(labels, -web.data[:, 3], qid=web.qid, measures="bpref")
    assert bpref.directions_[3] == "ascending"
    assert bpref.mean_[3, 0] == report.summary().mean[0]
    with pytest.raises(ValueError, match="by the measures and options"):
        RankingFeatureSelector().adopt(found.screening_, web.data)


def test_the_column_of_query_ids_is_in_no_table(web):
    X = np.column_stack([web.data[:, :3], web.qid, web.data[:, 3:]])
    selector = RankingFeatureSelector(qid=3).fit(X, web.target)
    table = selector.to_pandas()
    names = selector.get_feature_names_out().tolist()
    assert sorted(table["feature"][table["selected"]]) == sorted(names)
    assert len(table) == 12


def test_a_table_needs_pandas(web, monkeypatch):
    selector = fitted(web)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install"):
        selector.to_pandas()


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
    assert selector.mean_[1].tolist() == selector.mean_[2].tolist()
    unknown = web.target.astype(float)
    unknown[7] = np.nan
    with pytest.raises(ValueError, match=r"y must be judged \(leave .* row 7"):
        RankingFeatureSelector().fit(web.data, unknown, qid=web.qid)
