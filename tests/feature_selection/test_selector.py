"""RankingFeatureSelector as an estimator."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector, evaluate


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


def test_partial_fit_refuses_a_query_that_goes_on(web):
    selector = RankingFeatureSelector()
    rows = np.isin(web.qid, [1, 2])
    selector.partial_fit(web.data[rows], web.target[rows], web.qid[rows])
    scores = selector.mean_.copy()
    rows = np.isin(web.qid, [2, 3])
    with pytest.raises(ValueError, match="query 2 was in the call before"):
        selector.partial_fit(web.data[rows], web.target[rows], web.qid[rows])
    np.testing.assert_array_equal(selector.mean_, scores)
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
        with pytest.raises(ValueError, match="other must have the features, measures"):
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
    with pytest.raises(ValueError, match="must not change once queries are added"):
        selector.partial_fit(web.data, web.target, web.qid + 1000)
    with pytest.raises(ValueError, match="must not change once queries are added"):
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

    with pytest.raises(ValueError, match="X must have a feature, got its qid column"):
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
