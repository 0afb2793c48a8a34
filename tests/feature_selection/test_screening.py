"""The features of a screening as a table."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.feature_selection.helpers import assert_same, fitted
from tieaware_sklearn import RankingFeatureSelector, Screening


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
    for other, said in (
        (named, "features differ: other has no 'x0'"),
        (fitted(web, measures="rr").screening_, "measures differ: RR in other, NDCG"),
    ):
        with pytest.raises(ValueError, match=f"of this screening: {said}"):
            whole.merge(other)
    with pytest.raises(ValueError, match="other must be a Screening, got 3"):
        whole.merge(3)
    with pytest.raises(
        ValueError, match=r"the 2 features of X \(x0, x1\), got 12 \(x0"
    ):
        selector.adopt(whole, web.data[:, :2])
    for options, said in (
        ({"measures": "rr"}, "measures differ: RR in other, NDCG@10, AP, RR in this s"),
        ({"sort_by": "ap"}, "measures to sort by differ: AP in other, NDCG@10 in this"),
        ({"zero_relevance": "skip"}, "values of zero_relevance differ: skip in other"),
        ({"missing": "last"}, "values of missing differ: last in other, raise in this"),
        ({"unjudged": "drop"}, "values of unjudged differ: drop in other, raise in th"),
        (
            {"redundancy": False, "max_correlation": None},
            "correlations of features differ: no in other, yes in this screening",
        ),
        (
            {"direction": ["auto"] * 11 + ["descending"]},
            "directions differ: descending in other, auto in this screening",
        ),
    ):
        other = RankingFeatureSelector(**options)
        with pytest.raises(ValueError, match="by the measures and options"):
            other.adopt(whole, web.data)
        assert not hasattr(other, "n_features_in_")
        with pytest.raises(ValueError, match=f"of this screening: {said}"):
            whole.merge(other.fit(web.data, web.target, qid=web.qid).screening_)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_screenings_with_and_without_weights_do_not_merge(web, weight):
    selector = RankingFeatureSelector("ap")
    first, second = web.qid <= 20, web.qid > 20
    weights = np.where(first, weight, np.arange(len(web.qid)) * 0.0 + 2.0)

    def of(rows, **options):
        return web.data[rows], web.target[rows], {"qid": web.qid[rows], **options}

    def screened(rows, *, weighted):
        X, y, options = of(rows, **{"query_weight": weights[rows]} if weighted else {})
        return selector.screen(X, y, **options)

    plain, given = screened(second, weighted=False), screened(first, weighted=True)
    # all of these are 0, or 1: they are weights all the same
    assert given.weighted
    assert not plain.weighted
    said = "weights of queries differ: {} in other, {} in this screening"
    for ours, theirs, names in (
        (plain, given, ("given", "none")),
        (given, plain, ("none", "given")),
    ):
        for other in (theirs, Screening.from_bytes(theirs.to_bytes())):
            with pytest.raises(ValueError, match=said.format(*names)):
                ours.merge(other)
    both = given.merge(screened(second, weighted=True))
    assert both.weighted
    assert Screening.from_bytes(both.to_bytes()).weighted

    X, y, options = of(second)
    added = RankingFeatureSelector("ap").partial_fit(X, y, **options)
    before = added.screening_.to_bytes()
    X, y, options = of(first, query_weight=weights[first])
    with pytest.raises(ValueError, match="all queries or for none, got weights after "):
        added.partial_fit(X, y, **options)
    assert added.screening_.to_bytes() == before
    X, y, options = of(second, query_weight=weights[second])
    added = RankingFeatureSelector("ap").partial_fit(X, y, **options)
    with pytest.raises(ValueError, match="for none, got none after queries with weigh"):
        added.partial_fit(web.data[first], web.target[first], qid=web.qid[first])
    with pytest.raises(ValueError, match="weights of queries differ: none in other"):
        added.merge(RankingFeatureSelector("ap").fit(web.data, web.target, qid=web.qid))


def test_labels_of_other_columns_do_not_merge(web):
    rows = pd.DataFrame(web.data, columns=web.feature_names)
    rows = rows.assign(qid=web.qid, l1=web.target, l2=web.target[::-1])
    features = list(web.feature_names)
    one, two, three = (
        RankingFeatureSelector("ap")
        .fit_batches([rows[rows.qid % 3 == part]], label=label, features=features)
        for part, label in enumerate(["l1", "l2", "l1"])
    )  # fmt: skip
    assert one.screening_.label == "l1"
    with pytest.raises(ValueError, match="labels differ: l2 in other, l1 in this scre"):
        one.merge(two)
    X, y = rows[features], rows.l2
    own = RankingFeatureSelector("ap")
    # labels of arrays have no name
    part = rows.qid % 3 == 1
    own.fit(X[part], y[part], qid=rows.qid[part])
    assert own.screening_.label is None
    assert own.screening_.merge(one.screening_).label == "l1"
    assert one.merge(three).merge(own).screening_.label == "l1"


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
