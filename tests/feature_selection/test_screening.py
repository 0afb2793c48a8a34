"""The features of a screening as a table."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector


def test_table_names_what_a_feature_repeats(web):
    X = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector().fit(X, web.target, qid=web.qid)
    table = selector.to_pandas()
    assert table.index.tolist() == list(range(12))
    assert table.columns[:4].tolist() == ["feature", "rank", "direction", "selected"]
    assert table["rank"].tolist() == list(range(1, 13))
    chosen = table["feature"][table["selected"]].tolist()
    assert sorted(chosen) == sorted(selector.get_feature_names_out())
    low, high = table["NDCG@10_interval_low"], table["NDCG@10_interval_high"]
    assert (low < table["NDCG@10"]).all()
    assert (table["NDCG@10"] < high).all()
    assert (np.diff(table["NDCG@10"]) <= 0).all()
    by_name = table.set_index("feature")
    assert by_name.loc["log_clicks", "repeats"] == "clicks"
    assert by_name.loc["log_clicks", "correlation"] == pytest.approx(1)
    assert pd.isna(table.loc[0, "repeats"])
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
    without = fitted(web, redundancy=False, max_correlation=None)
    assert without.rank_correlation_ is None
    assert without.to_pandas()["repeats"].isna().all()


def test_the_selector_shows_its_screening(web):
    X = np.column_stack([web.data[:, :3], web.qid, web.data[:, 3:]])
    for selector in (fitted(web), RankingFeatureSelector(qid=3).fit(X, web.target)):
        screening = selector.screening_
        is_feature = np.asarray(selector.directions_) != "qid"
        shown = {
            "mean": selector.mean_,
            "interval": selector.interval_,
            **{
                name: getattr(selector, f"{name}_")
                for name in ("best", "worst", "tie_std", "lift", "pvalues", "qvalues")
            },
            "ranking": selector.ranking_,
            "directions": selector.directions_,
        }
        for name, values in shown.items():
            np.testing.assert_array_equal(getattr(screening, name), values[is_feature])
        assert screening.measures == selector.measures_
        assert screening.sort_by == "NDCG@10"
        columns = np.flatnonzero(is_feature)
        assert screening.feature_names == tuple(f"x{j}" for j in columns)


def test_it_prints_and_pickles(web):
    screening = fitted(web).screening_.named(web.feature_names)
    lines = str(screening).splitlines()
    # no room for the rank and the interval
    assert lines[0].split()[:5] == ["feature", "first", "chosen", "NDCG@10", "q"]
    best = [row["feature"] for row in screening.rows()]
    assert [line.split()[0] for line in lines[3:]] == best
    again = pickle.loads(pickle.dumps(screening))
    assert repr(again) == str(screening)
    assert again.to_pandas().equals(screening.to_pandas())
    wide = np.hstack([web.data, web.data])
    many = RankingFeatureSelector("ap").fit(wide, web.target, qid=web.qid)
    assert str(many.screening_).endswith("... and 4 more")
    with pytest.raises(
        ValueError, match=r"feature_names must have one name per feature \(12\), got 1"
    ):
        screening.named(["a"])


def test_parts_are_screened_merged_and_adopted(web):
    selector = RankingFeatureSelector(n_features_to_select=3)
    parts = [
        selector.screen(web.data[rows], web.target[rows], qid=web.qid[rows])
        for rows in (web.qid <= 20, web.qid > 20)
    ]
    assert not hasattr(selector, "screening_")
    whole = parts[0].merge(parts[1])
    assert whole.n_queries == 60
    adopted = selector.adopt(whole, web.data[:0])
    assert_same(adopted, fitted(web, n_features_to_select=3), tolerance=1e-12)
    assert adopted.transform(web.data).shape[1] == 3
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    named = RankingFeatureSelector().fit(frame, web.target, qid=web.qid).screening_
    assert named.feature_names == tuple(web.feature_names)
    for other in (named, fitted(web, measures="rr").screening_):
        with pytest.raises(ValueError, match="other must have the features, measures"):
            whole.merge(other)
    with pytest.raises(ValueError, match="other must be a Screening, got 3"):
        whole.merge(3)
    with pytest.raises(
        ValueError, match=r"the 2 features of X \(x0, x1\), got 12 \(x0"
    ):
        selector.adopt(whole, web.data[:, :2])
    for other in (
        RankingFeatureSelector("rr"),
        RankingFeatureSelector(zero_relevance="skip"),
        RankingFeatureSelector(missing="last"),
        RankingFeatureSelector(redundancy=False, max_correlation=None),
        RankingFeatureSelector(direction="descending"),
    ):
        with pytest.raises(ValueError, match="by the measures and options"):
            other.adopt(whole, web.data)
        assert not hasattr(other, "n_features_in_")
        with pytest.raises(ValueError, match="other must have the features, measures"):
            whole.merge(other.fit(web.data, web.target, qid=web.qid).screening_)


def test_what_is_refused_leaves_the_selector_as_it_is(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    selector = RankingFeatureSelector(n_features_to_select=1)
    selector.fit(frame, web.target, qid=web.qid)
    kept = selector.transform(frame)
    screening = selector.screening_
    turned = frame[frame.columns[::-1]]
    for wrong, X, message in [
        (screening, web.data[:, :5], "the 5 features of X .*, got 12 .in_degree"),
        (screening, turned, "the 12 features of X .log_clicks, .*got 12 .in_degree"),
        (None, frame, "screening must be a Screening, got None"),
        (selector, frame, "screening must be a Screening"),
    ]:
        with pytest.raises(ValueError, match=message):
            selector.adopt(wrong, X)
        np.testing.assert_array_equal(selector.transform(frame), kept)
    # without names, those of X are taken
    bare = selector.screen(web.data, web.target, qid=web.qid)
    assert (
        selector.adopt(bare, frame).screening_.feature_names == screening.feature_names
    )
    selector.partial_fit(frame, web.target, qid=web.qid + 1000)
    assert selector.n_queries_ == 120


def test_fitted_attributes_are_copies(web):
    selector = fitted(web)
    before = pickle.dumps(selector.screening_.to_pandas())
    for name in ("mean_", "ranking_", "chance_", "interval_", "rank_correlation_"):
        getattr(selector, name)[:] = 0
    assert pickle.dumps(selector.screening_.to_pandas()) == before


def test_weights_of_a_part_may_all_be_0(web):
    weight = (web.qid > 20).astype(float)
    selector = RankingFeatureSelector()
    parts = [
        selector.screen(web.data[rows], web.target[rows], web.qid[rows], weight[rows])
        for rows in (web.qid <= 20, web.qid > 20)
    ]
    rows = web.qid > 20
    only = selector.screen(web.data[rows], web.target[rows], web.qid[rows])
    np.testing.assert_allclose(parts[0].merge(parts[1]).mean, only.mean, atol=1e-12)
