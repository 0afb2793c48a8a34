"""Held-out curves: against a plain loop, without leaks, for any kind of selector."""

from __future__ import annotations

import joblib
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tieaware_sklearn import (
    FusedRanker,
    QueryKFold,
    QueryShuffleSplit,
    RankingFeatureSelector,
    ranking_score,
    selection_curve,
)
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.lightgbm import QueryLGBMRanker

WEB = make_web_search(n_queries=20, n_documents=8, shuffle=True, random_state=3)
X, Y, QID = WEB.data, WEB.target, WEB.qid
LIFT = RankingFeatureSelector("ndcg@5", max_correlation=None, diversity=0)
F = SelectKBest(f_regression)
FIGURES = ("values", "all_features", "selected", "mean", "interval", "difference")


def curve(selectors=LIFT, estimator=None, X=X, y=Y, qid=QID, **options):
    options = {"n_features": [1, 3], "measure": "ndcg@5", "cv": 4, **options}
    return selection_curve(selectors, estimator or Ridge(), X, y, qid=qid, **options)


def assert_same(one, other, names=FIGURES):
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_against_a_plain_loop():
    found = curve({"lift": LIFT, "F": F}, n_features=[4, 1, 4])
    assert found.n_features == (1, 4)
    values, everything = np.full((20, 2, 2), np.nan), np.full(20, np.nan)
    for f, (train, test) in enumerate(QueryKFold(4).split(X, groups=QID)):

        def held_out(columns, train=train, test=test):
            model = Ridge().fit(X[train][:, columns], Y[train])
            score = model.predict(X[test][:, columns])
            own = {"qid": QID[test], "measure": "ndcg@5", "average": None}
            return ranking_score(Y[test], score, **own)

        there = np.searchsorted(found.qid, pd.unique(QID[test]))
        lift = LIFT.fit(X[train], Y[train], qid=QID[train])
        for k, size in enumerate((1, 4)):
            best = np.sort(np.argsort(lift.ranking_)[:size])
            values[there, 0, k] = held_out(best)
            assert np.flatnonzero(found.selected[f, 0, k]).tolist() == best.tolist()
            support = SelectKBest(f_regression, k=size).fit(X[train], Y[train])
            values[there, 1, k] = held_out(support.get_support(indices=True))
        everything[there] = held_out(np.arange(X.shape[1]))
    np.testing.assert_allclose(found.values, values, atol=1e-9)
    np.testing.assert_allclose(found.all_features, everything, atol=1e-9)
    np.testing.assert_allclose(found.mean, values.mean(axis=0))
    assert found.mean_all == pytest.approx(everything.mean())
    apart = values[:, 1, 1] - values[:, 0, 1]
    low, high = stats.t.interval(0.95, 19, apart.mean(), stats.sem(apart))
    np.testing.assert_allclose(found.difference[1, 1], apart.mean())
    np.testing.assert_allclose(found.difference_interval[1, 1], [low, high])
    assert not found.difference[0].any()
    apart = (values - everything[:, None, None]).mean(axis=0)
    np.testing.assert_allclose(found.difference_from_all, apart)
    assert (found.interval >= 0).all()
    assert (found.interval <= 1).all()


class Watching(Ridge):
    """Notes the ids of the rows that it is fitted on, which the first column holds."""

    fits: list = []  # noqa: RUF012

    def fit(self, X, y, qid=None):
        self.fits.append(set(X[:, 0].tolist()))
        self.own_ = self.fits[-1]
        return super().fit(X, y)

    def predict(self, X):
        assert not self.own_ & set(X[:, 0].tolist())
        return super().predict(X)


class First(RankingFeatureSelector):
    """The column of ids first, then by lift."""

    def fit(self, X, y, qid=None):
        super().fit(X, y, qid=qid)
        assert set(X[:, 0].tolist()) == set(np.unique(qid).tolist())
        order = np.argsort(self.ranking_)
        self.selection_order_ = np.append(0, order[order != 0])
        return self


def test_training_and_test_queries_have_none_in_common():
    Watching.fits.clear()
    both = np.column_stack([QID, X])
    found = curve(First("ap"), Watching(), both, n_features=[2, 3])
    assert len(Watching.fits) == 4 * 3
    assert found.selected[:, :, :, 0].all()
    assert all(10 < len(ids) < 20 for ids in Watching.fits)


class Folds:
    def __init__(self, *folds):
        self.folds = folds

    def split(self, X, y, groups):
        assert len(X) == len(y) == len(groups)
        yield from self.folds


def test_values_of_a_query_are_averaged_over_repeats():
    cv = QueryKFold(2, shuffle=True, n_repeats=2, random_state=1)
    found, folds = curve(cv=cv), list(cv.split(X, groups=QID))
    halves = [curve(cv=Folds(*folds[:2])), curve(cv=Folds(*folds[2:]))]
    means = (halves[0].values + halves[1].values) / 2
    np.testing.assert_allclose(found.values, means)
    assert found.selected.shape[0] == 4


def test_queries_that_are_never_tested_are_left_out():
    found = curve(cv=QueryShuffleSplit(2, test_size=4, random_state=0))
    tested = ~np.isnan(found.all_features)
    assert 4 <= tested.sum() <= 8
    np.testing.assert_allclose(found.mean, found.values[tested].mean(axis=0))


def test_nothing_depends_on_the_order_of_rows_or_on_workers():
    trees = QueryLGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbosity=-1)
    both = {"lift": LIFT, "F": F}
    found = curve(both, trees)
    rows = np.random.default_rng(0).permutation(len(Y))
    assert_same(found, curve(both, trees, X[rows], Y[rows], QID[rows]))
    with joblib.parallel_config(backend="threading"):
        assert_same(found, curve(both, trees, n_jobs=2))


def test_data_of_any_kind():
    found = curve()
    frame = pd.DataFrame(X, columns=WEB.feature_names)
    for data in (sparse.csr_array(X), frame, pl.from_pandas(frame)):
        np.testing.assert_allclose(curve(X=data).values, found.values, atol=1e-9)
    other = curve(X=frame.assign(query=QID), qid="query")
    assert_same(found, other)
    assert other.feature_names == tuple(WEB.feature_names)


def test_estimators_get_the_ids_that_they_take():
    options = {"n_estimators": 3, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    ours = QueryLGBMRanker(row_order="input", **options)
    found = curve(estimator=ours)
    assert_same(found, curve(estimator=lightgbm.LGBMRanker(**options)))
    # a pipeline routes them
    curve(estimator=make_pipeline(StandardScaler(), ours))
    curve(estimator=make_pipeline(StandardScaler(), Ridge()))


def test_the_first_features_are_those_chosen_first():
    walk = RankingFeatureSelector("ndcg@5")
    fused = FusedRanker(measure="ndcg@5")
    found = curve({"walk": walk, "fused": fused})
    folds = QueryKFold(4).split(X, groups=QID)
    for (train, _), chosen in zip(folds, found.selected, strict=True):
        for selector, own in zip((walk, fused), chosen, strict=True):
            for k, size in enumerate((1, 3)):
                one = clone(selector).set_params(n_features_to_select=size)
                one.fit(X[train], Y[train], qid=QID[train])
                np.testing.assert_array_equal(one.get_support(), own[k])


def test_selectors_whose_ranks_tie_are_fitted_for_every_number():
    found = curve({"RFE": RFE(Ridge()), "ours": LIFT})
    assert (found.selected.sum(axis=3) == [1, 3]).all()
    folds = QueryKFold(4).split(X, groups=QID)
    for (train, _), chosen in zip(folds, found.selected[:, 0], strict=True):
        for size, own in zip((1, 3), chosen, strict=True):
            cut = RFE(Ridge(), n_features_to_select=size).fit(X[train], Y[train])
            np.testing.assert_array_equal(cut.get_support(), own)


class Nothing(BaseEstimator):
    """Selects no feature."""

    def fit(self, X, y):
        self.selection_order_ = np.zeros(0, int)
        return self

    def get_support(self):
        return np.zeros(X.shape[1], bool)


def test_without_a_feature_all_documents_tie():
    chance = ranking_score(Y, np.zeros(len(Y)), qid=QID, measure="ndcg@5")
    found = curve(Nothing())
    np.testing.assert_allclose(found.mean, chance)
    assert not found.selected.any()


def test_numbers_of_features_by_default():
    for width, numbers in [(12, (1, 2, 5, 10)), (2, (1,)), (1, (1,))]:
        assert curve(X=X[:, :width], n_features=None, cv=2).n_features == numbers


def test_weights_and_undefined_queries():
    y = np.where(QID[0] == QID, 0, Y)
    weight = 1.0 + (QID % 3)
    found = curve(y=y, zero_relevance="skip", query_weight=weight)
    first = np.flatnonzero(found.qid == QID[0])
    assert np.isnan(found.values[first]).all()
    w = 1.0 + (found.qid % 3)
    there = ~np.isnan(found.all_features)
    expected = np.average(found.all_features[there], weights=w[there])
    assert found.mean_all == pytest.approx(expected)


def test_table_data_frame_and_page():
    found = curve({"lift": LIFT, "F": F}, confidence=0.9)
    frame = found.to_pandas()
    assert frame.selector.tolist() == ["lift"] * 2 + ["F"] * 2 + ["all features"]
    assert frame.n_features.tolist() == [1, 3, 1, 3, 12]
    np.testing.assert_array_equal(frame["mean"][:4], found.mean.ravel())
    np.testing.assert_array_equal(frame.difference[:4], found.difference.ravel())
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) == 2 + 5
    assert "difference" in lines[0]
    assert "90% interval" in lines[0]
    assert "mean minus that of lift with as many features" in found._repr_html_()
    alone = str(curve())
    assert "difference" not in alone
    assert alone.splitlines()[2].startswith("RankingFeatureSelector")


ROWS = np.arange(len(Y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selectors": {}}, "selectors must have at least one entry"),
        ({"selectors": SelectFromModel(Ridge())}, "must have selection_order_"),
        ({"estimator": QueryLGBMRanker(qid="q")}, "qid must be given once, as an arg"),
        ({"n_features": [0]}, "n_features must be an integer >= 1, got 0"),
        ({"n_features": [13]}, r"integers from 1 to .*12.*got \[13\]"),
        ({"n_features": [2.5]}, "got 2.5"),
        ({"n_features": []}, r"n_features must be integers .*got \[\]"),
        ({"measure": "nothing"}, "nothing"),
        ({"cv": "five"}, "cv must be a number of folds"),
        ({"cv": Folds((ROWS[:5], ROWS[5:]))}, "cv must keep queries whole"),
        ({"cv": Folds((ROWS, ROWS))}, "cv must keep queries whole"),
        ({"cv": Folds()}, "cv must make a fold"),
        ({"cv": QueryKFold(2, qid=0)}, "cv must leave its qid at None"),
        ({"qid": None}, "qid must say which rows"),
        ({"X": X[:, 0]}, "X must be 2-dimensional"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        curve(**options)
