"""Features fused into one ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import cross_val_score

from tieaware_sklearn import (
    FusedRanker,
    QueryKFold,
    SplitQueriesWarning,
    make_ranking_scorer,
    ranking_score,
)


def test_scores_are_sums_of_borda_scores_within_the_query():
    X = np.array([[3, 10], [2, 30], [2, 20], [1, 20], [5, 10], [4, 20]])
    qid = np.array([1, 1, 1, 1, 2, 2])
    ranker = FusedRanker(direction=["descending", "ascending"])
    ranker.fit(X, [0, 1, 1, 0, 0, 1], qid=qid)
    first, second = [3, 0, 0, -3, 1, -1], [3, -3, 0, 0, 1, -1]
    expected = np.add(first, second)
    np.testing.assert_array_equal(ranker.predict(X, qid=qid), expected)
    rows = [4, 1, 0, 3, 5, 2]
    np.testing.assert_array_equal(ranker.predict(X[rows], qid[rows]), expected[rows])
    # one query changes nothing of the other
    np.testing.assert_array_equal(ranker.predict(X[4:], qid[4:]), expected[4:])


@pytest.mark.parametrize("features", [None, [3, 0], [-1, 2]])
def test_directions_are_those_of_the_selector(web, features):
    ranker = FusedRanker(features).fit(web.data, web.target, qid=web.qid)
    selector = FusedRanker(n_features_to_select=1)
    selector.fit(web.data, web.target, qid=web.qid)
    n = web.data.shape[1]
    columns = np.arange(n) if features is None else np.array(features) % n
    np.testing.assert_array_equal(ranker.selection_order_, columns)
    np.testing.assert_array_equal(
        ranker.directions_[columns], selector.directions_[columns]
    )
    np.testing.assert_array_equal(ranker.mean_[columns], selector.mean_[columns])
    others = np.setdiff1d(np.arange(n), columns)
    assert set(ranker.directions_[others]) <= {"none"}
    assert np.isnan(ranker.mean_[others]).all()
    assert (ranker.ranking_[others] == n).all()
    assert sorted(ranker.ranking_[columns]) == list(range(1, len(columns) + 1))
    assert not hasattr(ranker, "path_scores_")
    np.testing.assert_array_equal(
        ranker.transform(web.data), web.data[:, np.sort(columns)]
    )


def test_names_and_a_column_of_ids(web):
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    with_ids = frame.assign(q=web.qid)[["clicks", "q", "url_length", "text_score"]]
    names = ["text_score", "clicks"]
    by_column = FusedRanker(names, qid="q").fit(with_ids, web.target)
    by_array = FusedRanker(names).fit(frame, web.target, qid=web.qid)
    assert by_column.selection_order_.tolist() == [3, 0]
    assert by_column.get_feature_names_out().tolist() == ["clicks", "text_score"]
    assert by_column.directions_.tolist() == ["descending", "qid", "none", "descending"]
    scores = by_column.predict(with_ids)
    np.testing.assert_array_equal(scores, by_array.predict(frame, qid=web.qid))
    assert by_column.n_features_in_ == 4
    expected = ranking_score(web.target, scores, qid=web.qid)
    assert by_column.score(with_ids, web.target) == expected
    assert by_array.score(frame, web.target, qid=web.qid) == expected
    with pytest.raises(ValueError, match="qid must be given once"):
        by_column.predict(with_ids, qid=web.qid)


def test_a_selection_among_the_features_given(web):
    names = ["text_score", "n_slashes", "clicks"]
    frame = pd.DataFrame(web.data, columns=web.feature_names)
    found = FusedRanker(names, n_features_to_select=2, direction="descending")
    found.fit(frame, web.target, qid=web.qid)
    alone = FusedRanker(n_features_to_select=2, direction="descending")
    alone.fit(frame[names], web.target, qid=web.qid)
    order = [names[j] for j in alone.selection_order_]
    assert [web.feature_names[j] for j in found.selection_order_] == order
    assert found.get_feature_names_out().tolist() == sorted(
        order, key=web.feature_names.index
    )
    np.testing.assert_array_equal(found.path_scores_, alone.path_scores_)
    np.testing.assert_array_equal(
        found.predict(frame, qid=web.qid), alone.predict(frame[names], qid=web.qid)
    )
    found.set_params(n_features_to_select=None).fit(frame, web.target, qid=web.qid)
    assert found.support_.sum() == 3
    assert not hasattr(found, "repeats_")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "at least one column"),
        ([0, -12], "each once"),
        ([12], "names or indices of the 12 columns"),
        (["clicks"], "names or indices of the 12 columns"),
        ([True], "names or indices of the 12 columns"),
    ],
)
def test_features_that_there_are_not(web, features, message):
    with pytest.raises(ValueError, match=message):
        FusedRanker(features).fit(web.data, web.target, qid=web.qid)


def test_the_column_of_ids_is_no_feature(web):
    X = np.column_stack([web.qid, web.data])
    with pytest.raises(ValueError, match="must not name the column of query ids"):
        FusedRanker([0], qid=0).fit(X, web.target)


def test_it_refuses_to_predict_without_ids(web):
    ranker = FusedRanker().fit(web.data, web.target, qid=web.qid)
    with pytest.raises(ValueError, match="qid must hold the query of each row"):
        ranker.predict(web.data)


def test_cross_validation(web):
    given = {"cv": QueryKFold(3), "scoring": make_ranking_scorer("ndcg@10")}
    with sklearn.config_context(enable_metadata_routing=True):
        scores, own = (
            cross_val_score(
                FusedRanker(), web.data, web.target, params={"qid": web.qid}, **options
            )
            for options in (given, {"cv": QueryKFold(3)})
        )
    np.testing.assert_array_equal(scores, own)
    assert scores.min() > 0.2


def test_it_knows_parts_of_its_own_queries(web):
    own = np.arange(len(web.qid)) % 3 == 0
    ranker = FusedRanker().fit(web.data[own], web.target[own], qid=web.qid[own])
    with pytest.warns(SplitQueriesWarning, match="ids that FusedRanker was fitted on"):
        ranker.score(web.data[~own], web.target[~own], qid=web.qid[~own])
