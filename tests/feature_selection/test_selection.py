"""From statistics to directions, tests and selected features."""

from __future__ import annotations

import numpy as np
import pytest

from tests.feature_selection.helpers import fitted
from tieaware_sklearn import RankingFeatureSelector

#: the best features, whatever they repeat
PLAIN = {"max_correlation": None, "diversity": 0}


def test_auto_takes_the_better_direction_and_pays_for_it(web):
    down, up = fitted(web, direction="descending"), fitted(web, direction="ascending")
    auto = fitted(web)
    better = np.where(up.mean_[:, 0] > down.mean_[:, 0], "ascending", "descending")
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
        np.testing.assert_array_equal(selector.mean_[:, [column]], alone.mean_)
        np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
        np.testing.assert_array_equal(selector.support_, alone.support_)
    best = np.argmin(alone.mean_[:, 0])
    assert alone.ranking_[best] == 1


def test_lower_is_better_handles_unsigned_integers(web):
    column = np.clip(web.data[:, [3]], 0, 255).astype(np.uint8)
    found = RankingFeatureSelector(direction="ascending").fit(
        column, web.target, qid=web.qid
    )
    same = RankingFeatureSelector(direction="descending").fit(
        -column.astype(float), web.target, qid=web.qid
    )
    np.testing.assert_array_equal(found.mean_, same.mean_)


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
        np.testing.assert_array_equal(selector.mean_[0], selector.chance_)
        np.testing.assert_array_equal(selector.lift_[0], [0.0] * 3)
    selector = RankingFeatureSelector(n_features_to_select=3)
    with pytest.warns(UserWarning, match="only 1 of 3 features vary"):
        selector.fit(X, web.target, qid=web.qid)
    assert selector.support_.tolist() == [False, True, False]


def test_a_single_query_keeps_everything_and_says_so(web):
    X = np.column_stack([web.data[:, :3], np.ones(len(web.qid))])
    one = np.zeros(len(web.qid))
    with pytest.warns(UserWarning, match="p-values need at least two queries, got 1"):
        selector = RankingFeatureSelector().fit(X, web.target, qid=one)
    assert selector.support_.tolist() == [True, True, True, False]
    assert np.isnan(selector.pvalues_).all()
    assert np.isnan(selector.interval_).all()
    with pytest.warns(UserWarning, match="p-values need at least two queries, got 1"):
        usable = RankingFeatureSelector().fit(
            X, web.target, web.qid, (web.qid == 3).astype(float)
        )
    assert usable.support_.tolist() == [True, True, True, False]
    chosen = RankingFeatureSelector(n_features_to_select=1)
    chosen.fit(X, web.target, qid=one)
    assert chosen.support_.sum() == 1
    assert chosen.ranking_[chosen.support_] == 1


@pytest.mark.parametrize(
    ("asked", "kept"), [(3, 3), (0.5, 6), (1.0, 12), (1e-9, 1), (7 / 12, 7)]
)
def test_number_of_features(web, asked, kept):
    selector = fitted(web, n_features_to_select=asked, **PLAIN)
    assert selector.support_.sum() == kept
    assert sorted(selector.ranking_[selector.support_]) == list(range(1, kept + 1))
    assert selector.transform(web.data).shape == (len(web.qid), kept)


def test_alpha_and_lift_decide_without_a_number(web):
    selector = fitted(web, alpha=0.01, min_lift=0.1, **PLAIN)
    np.testing.assert_array_equal(
        selector.support_,
        (selector.qvalues_[:, 0] <= 0.01) & (selector.lift_[:, 0] >= 0.1),
    )
    assert 0 < selector.support_.sum() < len(selector.support_)
