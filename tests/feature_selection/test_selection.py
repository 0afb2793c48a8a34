"""From statistics to directions, tests and selected features."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Bunch

from tests.feature_selection.helpers import fitted
from tieaware_sklearn import RankingFeatureSelector
from tieaware_sklearn.feature_selection import _selection

#: the best features, whatever they repeat
PLAIN = {"max_correlation": None, "diversity": 0}


def quietly_fitted(data, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fitted(data, **parameters)


def test_auto_takes_the_better_direction_and_pays_for_it(web):
    down, up = fitted(web, direction="descending"), fitted(web, direction="ascending")
    auto = fitted(web)
    better = np.where(up.mean_[:, 0] > down.mean_[:, 0], "ascending", "descending")
    assert auto.directions_.tolist() == better.tolist()
    assert auto.directions_[web.feature_names.index("url_length")] == "ascending"
    one = np.where((better == "ascending")[:, None], up.pvalues_, down.pvalues_)
    np.testing.assert_array_equal(auto.pvalues_, np.minimum(1, 2 * one))
    assert fitted(web, direction=better.tolist()).pvalues_ == pytest.approx(one)


@pytest.mark.parametrize(("at", "name"), [(0, "ndcg@10"), (1, "fallout@5"), (2, "rr")])
def test_sort_by_alone_decides(web, at, name):
    measures = ["ndcg@10", "fallout@5", "rr"]
    selector = fitted(web, measures=measures, sort_by=name, n_features_to_select=3)
    alone = fitted(web, measures=name, n_features_to_select=3)
    np.testing.assert_array_equal(selector.mean_[:, [at]], alone.mean_)
    np.testing.assert_array_equal(selector.ranking_, alone.ranking_)
    np.testing.assert_array_equal(selector.support_, alone.support_)
    best = np.argmin if name == "fallout@5" else np.argmax
    assert alone.ranking_[best(alone.mean_[:, 0])] == 1


def test_no_constant_feature_is_ever_selected(web):
    rng = np.random.default_rng(0)
    per_query = rng.random(web.qid.max() + 1)[web.qid]
    X = np.column_stack([np.zeros(len(web.qid)), web.data[:, 1], per_query])
    data = Bunch(data=X, target=web.target, qid=web.qid)
    for parameters in (
        {},
        {"direction": "ascending", "alpha": 1.0, "min_lift": -100},
        {"zero_relevance": "skip", "alpha": 1.0},
    ):
        selector = fitted(data, **parameters)
        assert selector.support_.tolist() in ([False, True, False], [False] * 3)
        assert selector.pvalues_[[0, 2]].tolist() == [[1.0] * 3] * 2
        np.testing.assert_array_equal(selector.mean_[0], selector.chance_)
        np.testing.assert_array_equal(selector.lift_[0], [0.0] * 3)
    data.data = np.column_stack([X, X[:, 1] * 2])
    with (
        pytest.warns(UserWarning, match=r"=4, but only 2 of 4 features vary"),
        pytest.warns(UserWarning, match="1 of the selected features is an exact copy"),
    ):
        selector = fitted(data, n_features_to_select=4)
    assert selector.selection_order_.tolist() == [1, 3]
    assert selector.repeats_.tolist() == [-1] * 4


def test_a_single_query_keeps_everything_and_says_so(web):
    X = np.column_stack([web.data[:, :3], np.ones(len(web.qid)), -web.data[:, :3]])
    data = Bunch(data=X, target=web.target, qid=np.zeros(len(web.qid)))
    said = "p-values need at least two queries, got 1: every feature that is not const"
    with pytest.warns(UserWarning, match=f"{said}ant is"):
        selector = fitted(data, max_correlation=None)
    assert selector.support_.tolist() == [True, True, True, False, True, True, True]
    assert np.isnan(selector.pvalues_).all()
    assert np.isnan(selector.interval_).all()
    with pytest.warns(UserWarning, match=f"{said}ant and repeats no other is"):
        usable = RankingFeatureSelector().fit(
            X, web.target, web.qid, (web.qid == 3).astype(float)
        )
    order = usable.selection_order_
    assert sorted(order % 4 - order // 4) == [0, 1, 2]
    chosen = fitted(data, n_features_to_select=1)
    assert chosen.support_.sum() == 1
    assert chosen.ranking_[chosen.support_] == 1


@pytest.mark.parametrize(
    ("asked", "kept"), [(3, 3), (0.5, 6), (1.0, 12), (1e-9, 1), (7 / 12, 7)]
)
def test_number_of_features(web, asked, kept):
    options = {"n_features_to_select": asked, "redundancy": False}
    selector = fitted(web, **options, **PLAIN)
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= kept)
    assert selector.transform(web.data).shape == (len(web.qid), kept)
    assert (np.diff(selector.ranking_[selector.selection_order_]) > 0).all()
    # without a number, q and lift decide
    selector = fitted(web, alpha=0.01, min_lift=0.1, redundancy=False, **PLAIN)
    good = (selector.qvalues_[:, 0] <= 0.01) & (selector.lift_[:, 0] >= 0.1)
    np.testing.assert_array_equal(selector.support_, good)
    assert 0 < selector.support_.sum() < len(selector.support_)


# -- features that repeat others


def by_definition(selector, number, limit, diversity):
    """The features chosen, from lift and rank correlation alone."""
    lift, rank = selector.lift_[:, 0], selector.ranking_
    rho = np.round(np.abs(selector.rank_correlation_), 10)
    chosen = [int(np.argmin(rank))]
    while len(chosen) < number:
        closest = rho[:, chosen].max(axis=1)
        left = [j for j in np.argsort(rank) if j not in chosen]
        if limit is not None:
            left = [j for j in left if closest[j] <= limit and closest[j] < 1]
        if not left:
            break
        value = (1 - diversity) * lift / lift.max() - diversity * closest
        if not diversity:
            value = -rank.astype(float)
        chosen.append(max(left, key=lambda j: (round(value[j], 10), -rank[j])))
    return chosen


def similar_features(seed, n_features=8, n_queries=12):
    """Features of which some are much alike, and labels that they tell something of."""
    rng = np.random.default_rng(seed)
    n = 8 * n_queries
    y = rng.integers(0, 3, n)
    common = y[:, None] + rng.normal(0, 1, (n, 3))
    X = common[:, rng.integers(0, 3, n_features)]
    scale = 10.0 ** rng.integers(0, 3, n_features)
    X = np.round((X + rng.normal(0, 0.4, X.shape)) * scale) / scale
    return Bunch(data=X, target=y, qid=np.repeat(np.arange(n_queries), 8))


@pytest.mark.parametrize("limit", [0.3, 0.8, 1.0, None])
@pytest.mark.parametrize("diversity", [0, 0.3, 1])
def test_the_choice_is_that_of_the_definition(limit, diversity):
    for seed in range(8):
        data, number = similar_features(seed), seed + 1
        options = {"max_correlation": limit, "diversity": diversity}
        selector = quietly_fitted(data, n_features_to_select=number, **options)
        wanted = by_definition(selector, number, limit, diversity)
        # repeats fill up, the best first
        rest = [j for j in np.argsort(selector.ranking_) if j not in wanted]
        order = [*wanted, *rest][:number]
        assert selector.selection_order_.tolist() == order
        assert np.flatnonzero(selector.support_).tolist() == sorted(order)
        rho = np.round(np.abs(selector.rank_correlation_), 10)
        for j, own in enumerate(rho[:, order]):
            is_repeat = limit is not None and j not in order and own.max() > limit
            closest = order[np.argmax(own)] if is_repeat else -1
            assert selector.repeats_[j] == closest


@pytest.mark.parametrize(
    ("missing", "direction"), [("raise", "auto"), ("last", "descending")]
)
def test_copies_under_every_monotone_map_are_recognised(web, missing, direction):
    X = web.data[:, [1, 5, 2]] + 10.0
    if missing == "last":
        X[::7] = np.nan
    copies = np.hstack([np.log(X), X, 2 * X + 1, -X, X**3])
    given = Bunch(data=copies, target=web.target, qid=web.qid)
    options = {"missing": missing, "direction": direction, "measures": "ndcg@10"}
    for diversity in (0, 0.4, 1):
        selector = fitted(given, n_features_to_select=3, diversity=diversity, **options)
        assert sorted(selector.selection_order_ % 3) == [0, 1, 2]
        left_out = np.flatnonzero(~selector.support_)
        assert (selector.repeats_[left_out] % 3 == left_out % 3).all()
    by_q = fitted(given, **options)
    assert sorted(by_q.selection_order_ % 3) == [0, 1, 2]
    # a reversed copy is left out, though it ranks worse
    X = web.data[:, [1, 6]]
    data = Bunch(data=np.hstack([X, -X]), target=web.target, qid=web.qid)
    selector = fitted(data, n_features_to_select=2, direction="descending", diversity=0)
    assert selector.selection_order_.tolist() == [0, 3]
    assert selector.repeats_.tolist() == [-1, 3, 0, -1]
    table = selector.to_pandas().set_index("feature")
    assert table.loc["x2", "repeats"] == "x0"
    assert table.loc["x2", "correlation"] == pytest.approx(-1)
    assert table.chosen[["x0", "x3"]].tolist() == [1, 2]
    assert table.chosen.isna().sum() == 2


def test_copies_are_chosen_last_and_with_a_warning(web):
    # clicks and text_score; the noise and a similar feature remain before copies
    X = web.data[:, [1, 5, 6]]
    similar = X[:, [1]] + 0.1 * np.random.default_rng(0).normal(size=(len(X), 1))
    data = Bunch(data=np.hstack([X, 2 * X, similar]), target=web.target, qid=web.qid)
    for number, copies, which in [
        (3, 0, None),
        (4, 0, None),
        (5, 1, "is an exact copy"),
        (7, 3, "are exact copies"),
    ]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector = fitted(data, n_features_to_select=number, max_correlation=0.9)
        order = selector.selection_order_
        assert len(order) == number
        ranked = np.array([0, 1, 2, 0, 1, 2, 1])[order]
        assert sorted(ranked[:3]) == [0, 1, 2]
        assert (ranked[3:4] == 1).all()
        said = "but only 4 features rank differently: {} of the selected features {} of"
        assert len(caught) == bool(copies)
        assert all(said.format(copies, which) in str(one.message) for one in caught)
    # features that rank worse than chance, or that nothing is known of
    y = np.random.default_rng(0).integers(0, 2, 60)
    X = -y[:, None] + np.random.default_rng(1).normal(0, [0.1, 0.5, 0.9], (60, 3))
    data = Bunch(data=X, target=y, qid=np.repeat(np.arange(6), 10))
    selector = fitted(data, n_features_to_select=2, direction="descending")
    assert (selector.lift_ < 0).all()
    assert selector.selection_order_[0] == np.argmin(selector.ranking_)
    data.target = np.zeros(60)
    none = fitted(data, n_features_to_select=3, max_correlation=None)
    assert len(none.selection_order_) == 3


# -- parts of the data, and more features than are correlated in pairs


def many_features(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    X = y[:, None] * rng.random(n) + rng.normal(0, 1, (120, n))
    X = np.hstack([X, 2 * X + 1, -X])[:, rng.permutation(3 * n)]
    X[::9, ::5] = X[0, 0]  # ties
    return Bunch(data=X, target=y, qid=np.repeat(np.arange(8), 15))


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 10},
        {"n_features_to_select": 10, "diversity": 0},
        {"n_features_to_select": 10, "max_correlation": None, "diversity": 0.6},
        {"n_features_to_select": 90, "diversity": 0.9},
        {"n_features_to_select": 110, "diversity": 0, "missing": "last"},
        {"alpha": 0.05, "max_correlation": 0.6},
    ],
)
def test_of_many_features_fit_correlates_those_that_matter(options, monkeypatch):
    monkeypatch.setattr(_selection, "AUTO_REDUNDANCY", 299)
    data = many_features(100)
    if "missing" in options:
        data.data[::7] = np.nan
    found = quietly_fitted(data, measures="ap", **options)
    wanted = quietly_fitted(data, measures="ap", redundancy=True, **options)
    assert found.rank_correlation_ is None
    assert found.selection_order_.tolist() == wanted.selection_order_.tolist()
    assert found.repeats_.tolist() == wanted.repeats_.tolist()
    data.data = sp.csr_array(data.data)
    if "missing" not in options:
        again = quietly_fitted(data, measures="ap", **options)
        assert again.selection_order_.tolist() == wanted.selection_order_.tolist()


def test_many_features_in_parts_need_all_pairs():
    data = many_features(400)
    arguments = data.data, data.target, data.qid
    selector = RankingFeatureSelector("ap", n_features_to_select=5)
    one, other = (
        clone(selector).fit(*arguments[:2], qid=data.qid + first) for first in (0, 100)
    )
    screening = clone(selector).screen(*arguments)
    message = (
        r"redundancy must be True for more than 1000 features .* with "
        r"max_correlation=0.95 and diversity=0.4, got 'auto' and 1200 features.* "
        r"set max_correlation=None and diversity=0"
    )
    for call in (
        lambda: clone(selector).partial_fit(*arguments),
        lambda: clone(selector).adopt(screening, data.data),
        lambda: one.merge(other),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for options in (PLAIN, {"redundancy": True, "max_correlation": 0.95}):
        selector.set_params(**options)
        assert clone(selector).partial_fit(*arguments).support_.sum() == 5
