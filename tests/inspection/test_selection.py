"""Held-out curves and stability: by plain loops and definitions, for any selector."""

import itertools
import re
from dataclasses import replace
from fractions import Fraction

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

import tieaware_sklearn as ta
from tests._engine.test_lists import alike
from tests.model_selection.helpers import Folds
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.inspection._selection_stability import nogueira
from tieaware_sklearn.lightgbm import QueryLGBMRanker

WEB = make_web_search(n_queries=20, n_documents=8, shuffle=True, random_state=3)
X, Y, QID = WEB.data, WEB.target, WEB.qid
LIFT = ta.RankingFeatureSelector("ndcg@5", max_correlation=None)
F = SelectKBest(f_regression, k=2)
BEST = ta.RankingFeatureSelector("ndcg@5", n_features_to_select=3)
ROWS = np.arange(len(Y))
#: quick tests, of what needs no interval
FEW = pytest.mark.filterwarnings("ignore:n_bootstraps must be at least 50")


def curve(selectors=LIFT, estimator=None, X=X, y=Y, qid=QID, **options):
    options = {"n_features": [1, 3], "measure": "ndcg@5", "cv": 4, **options}
    return ta.selection_curve(selectors, estimator or Ridge(), X, y, qid=qid, **options)


def stability(selector=BEST, X=X, y=Y, qid=QID, **options):
    return ta.selection_stability(selector, X, y, qid=qid, **options)


def test_against_a_plain_loop():
    found = curve({"lift": LIFT, "F": F}, n_features=[4, 1, 4])
    assert found.n_features == (1, 4)
    values, everything = np.full((20, 2, 2), np.nan), np.full(20, np.nan)
    for f, (train, test) in enumerate(ta.QueryKFold(4).split(X, groups=QID)):

        def held_out(columns, train=train, test=test):
            model = Ridge().fit(X[train][:, columns], Y[train])
            score = model.predict(X[test][:, columns])
            own = {"qid": QID[test], "measure": "ndcg@5", "average": None}
            return ta.ranking_score(Y[test], score, **own)

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
    np.testing.assert_allclose(found.difference[1, 1], apart.mean())
    # 15 of 20 queries train
    ends = resampled_interval(apart, 15)
    np.testing.assert_allclose(found.difference_interval[1, 1], ends)
    ends = resampled_interval(everything, 15)
    np.testing.assert_allclose(found.interval_all, ends)
    assert not found.difference[0].any()
    apart = (values - everything[:, None, None]).mean(axis=0)
    np.testing.assert_allclose(found.difference_from_all, apart)
    assert (found.interval >= 0).all()
    assert (found.interval <= 1).all()


def resampled_interval(values, n_train):
    """A t interval with the variance of Nadeau and Bengio (2003).

    Of J folds of n/J queries, it is 1/J + n_test/n_train times the variance of means of
    folds, which is J/n times that of queries.
    """
    n = len(values)
    error = np.sqrt(values.var(ddof=1) * (1 / n + 1 / n_train))
    return stats.t.interval(0.95, n - 1, values.mean(), error)


def test_selectors_that_choose_alike_have_no_interval_but_same():
    every = X.shape[1]
    found = curve({"lift": LIFT, "again": LIFT, "F": F}, n_features=[1, 3, every])
    alike = (found.selected == found.selected[:, :1]).all(axis=(0, 3))
    assert alike.tolist()[:2] == [[True] * 3] * 2
    assert alike[2].tolist() == [False, False, True]
    np.testing.assert_array_equal(np.isnan(found.difference_interval[..., 0]), alike)
    assert not found.difference[alike].any()
    all_chosen = np.isnan(found.difference_from_all_interval).all(axis=(0, 2))
    assert all_chosen.tolist() == [False, False, True]
    frame = found.to_pandas()
    low = frame.difference_low.isna()
    assert low.tolist() == [*alike.ravel(), True]
    last = [line.split()[-1] for line in str(found).splitlines()[2:]]
    assert last[:6] == ["-"] * 3 + ["same"] * 3
    assert [cell == "same" for cell in last[6:9]] == [False, False, True]
    assert last[9] == "-"


def test_values_are_averaged_over_repeats_and_over_the_queries_tested():
    cv = ta.QueryKFold(2, shuffle=True, n_repeats=2, random_state=1)
    found, folds = curve(cv=cv), list(cv.split(X, groups=QID))
    halves = [curve(cv=Folds(*folds[:2])), curve(cv=Folds(*folds[2:]))]
    means = (halves[0].values + halves[1].values) / 2
    np.testing.assert_allclose(found.values, means)
    assert found.selected.shape[0] == 4
    # not all queries are tested, and some of them twice
    found = curve(cv=ta.QueryShuffleSplit(3, test_size=4, random_state=0))
    tested = ~np.isnan(found.all_features)
    assert 4 <= tested.sum() < 12
    np.testing.assert_allclose(found.mean, found.values[tested].mean(axis=0))
    apart = (found.values[:, 0, 1] - found.all_features)[tested]
    ends = resampled_interval(apart, 16)
    np.testing.assert_allclose(found.difference_from_all_interval[0, 1], ends)


@FEW
def test_nothing_depends_on_the_order_of_rows_or_on_workers():
    trees = QueryLGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbosity=-1)
    both = {"lift": LIFT, "F": F}
    found = curve(both, trees)
    rows = np.random.default_rng(0).permutation(len(Y))
    shuffled = X[rows], Y[rows]
    alike(curve(both, trees, *shuffled, QID[rows]), found)
    options = {"n_bootstraps": 4, "random_state": 5}
    chosen = stability(**options)
    alike(stability(BEST, *shuffled, QID[rows], **options), chosen)
    with joblib.parallel_config(backend="threading"):
        alike(curve(both, trees, n_jobs=2), found)
        alike(stability(n_jobs=2, **options), chosen)
    other = stability(n_bootstraps=4, random_state=6)
    assert (chosen.selected != other.selected).any()


@FEW
def test_data_of_any_kind():
    found = curve()
    frame = pd.DataFrame(X, columns=WEB.feature_names)
    for data in (sparse.csr_array(X), frame, pl.from_pandas(frame)):
        np.testing.assert_allclose(curve(X=data).values, found.values, atol=1e-9)
    other = curve(X=frame.assign(query=QID), qid="query")
    names = tuple(WEB.feature_names)
    alike(other, replace(found, feature_names=names))
    # selectors without ids
    found = stability(F, n_bootstraps=4)
    other = stability(F, np.column_stack([X, QID]), qid=-1, n_bootstraps=4)
    alike(other, found)


def test_estimators_get_the_ids_that_they_take():
    options = {"n_estimators": 3, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    ours = QueryLGBMRanker(row_order="input", **options)
    found = curve(estimator=ours, cv=2)
    alike(curve(estimator=lightgbm.LGBMRanker(**options), cv=2), found)
    # a pipeline routes them
    curve(estimator=make_pipeline(StandardScaler(), ours), cv=2)
    curve(estimator=make_pipeline(StandardScaler(), Ridge()), cv=2)


@pytest.mark.parametrize("selector", [
    ta.RankingFeatureSelector("ndcg@5"),
    ta.FusedRanker(measure="ndcg@5"),
    RFE(Ridge()),  # its ranks tie: it is fitted for every number
])  # fmt: skip
def test_the_first_features_are_those_of_a_selector_of_as_many(selector):
    found = curve(selector).selected[:, 0]
    folds = ta.QueryKFold(4).split(X, groups=QID)
    for (train, _), chosen in zip(folds, found, strict=True):
        for size, own in zip((1, 3), chosen, strict=True):
            one = clone(selector).set_params(n_features_to_select=size)
            ids = {} if isinstance(selector, RFE) else {"qid": QID[train]}
            one.fit(X[train], Y[train], **ids)
            np.testing.assert_array_equal(one.get_support(), own)


class First(BaseEstimator):
    """Selects the first columns, and notes the queries that it is fitted on."""

    seen: list = []  # noqa: RUF012

    def __init__(self, number=1):
        self.number = number

    def fit(self, X, y, qid=None):
        self.seen.append(np.unique(qid, return_counts=True))
        self.selection_order_ = range(self.number)
        return self

    def get_support(self):
        return np.arange(X.shape[1]) < self.number


def test_without_a_feature_all_documents_tie():
    chance = ta.ranking_score(Y, np.zeros(len(Y)), qid=QID, measure="ndcg@5")
    found = curve(First(0))
    np.testing.assert_allclose(found.mean, chance)
    assert not found.selected.any()
    # numbers of features by default
    for width, sizes in [(12, (1, 2, 5, 10)), (2, (1,)), (1, (1,))]:
        assert curve(X=X[:, :width], n_features=None, cv=2).n_features == sizes


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
    head, _, *rows = str(found).splitlines()
    assert re.search(r"difference +90% interval$", head)
    assert len(rows) == 5
    assert max(map(len, rows)) <= 80
    assert "mean minus that of lift with as many features" in found._repr_html_()
    head, _, first, *_ = str(curve()).splitlines()
    assert "difference" not in head
    assert first.startswith("RankingFeatureSelector")


BAD_CURVES = [
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
    ({"cv": ta.QueryKFold(2, qid=0)}, "qid must be given once"),
    ({"qid": None}, "qid must say which rows"),
    ({"X": X[:, 0]}, "X must be 2-dimensional"),
]


@pytest.mark.parametrize(("options", "message"), BAD_CURVES)
def test_curves_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        curve(**options)


def by_definition(rows):
    """Equation 4 of the paper, in fractions."""
    m, d = len(rows), len(rows[0])
    share = [Fraction(sum(column), m) for column in zip(*rows, strict=True)]
    variance = [Fraction(m, m - 1) * p * (1 - p) for p in share]
    size = sum(share) / d
    return 1 - sum(variance) / d / (size * (1 - size))


@pytest.mark.parametrize(("m", "d"), [(2, 2), (2, 4), (3, 3), (4, 2)])
def test_every_small_selection_is_by_the_definition(m, d):
    all_rows = list(itertools.product([0, 1], repeat=d))
    for rows in itertools.combinations_with_replacement(all_rows, m):
        index, error = nogueira(np.array(rows, dtype=bool))
        if sum(map(sum, rows)) in (0, m * d):
            assert np.isnan(index)
            assert np.isnan(error)
            continue
        exact = by_definition(rows)
        assert Fraction(-1, m - 1) <= exact <= 1
        assert index == pytest.approx(float(exact), abs=1e-12)
        if len(set(rows)) == 1:
            assert (index, error) == (pytest.approx(1), pytest.approx(0, abs=1e-12))


def test_the_error_is_that_of_the_delta_method():
    """Each sample contributes what a little more weight on it changes."""
    rng = np.random.default_rng(1)
    rows = rng.random((12, 7)) < np.linspace(0.1, 0.9, 7)

    def plug_in(weight):
        share = weight @ rows / weight.sum()
        size = share.mean()
        return 1 - np.mean(share * (1 - share)) / (size * (1 - size))

    m, step = len(rows), 1e-6 * np.eye(12)
    slopes = [(plug_in(1 / m + d) - plug_in(1 / m - d)) / 2e-6 for d in step]
    # the paper's index has M/(M - 1), which its variance keeps only inside
    expected = np.sqrt(np.sum(np.square(slopes - np.mean(slopes)))) / m
    assert nogueira(rows)[1] == pytest.approx(expected, rel=0.15)
    many = np.repeat(rows, 500, axis=0)
    assert nogueira(many)[1] == pytest.approx(expected / np.sqrt(500), rel=1e-3)


@FEW
def test_bootstrap_samples_are_of_whole_queries():
    First.seen.clear()
    found = stability(First(), n_bootstraps=6)
    assert len(First.seen) == 6
    # each sample has as many queries as there are, of their sizes, some of them twice
    for ids, sizes in First.seen:
        assert len(ids) == 20
        assert set(sizes) <= set(np.unique(QID, return_counts=True)[1])
    assert found.stability == 1
    assert found.frequency.tolist() == [1] + [0] * (X.shape[1] - 1)


def test_stability_and_its_table():
    found = stability()
    assert found.selected.shape == (50, X.shape[1])
    assert (found.selected.sum(axis=1) == 3).all()
    np.testing.assert_array_equal(found.frequency, found.selected.mean(axis=0))
    exact = by_definition(found.selected.astype(int).tolist())
    assert found.stability == pytest.approx(float(exact))
    half = stats.norm.ppf(0.975) * nogueira(found.selected)[1]
    ends = found.stability, found.stability - half, found.stability + half
    assert found.interval == pytest.approx(ends[1:])
    frame = found.to_pandas()
    assert frame.frequency.is_monotonic_decreasing
    assert list(frame.columns) == ["feature", "frequency"]
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    said = "Stability {:.4f}, 95% interval [{:.4f}, {:.4f}]".format(*ends)
    more = "(50 bootstrap samples of these 20 queries, 3.0 features on average)."
    assert text.replace("\n", " ").endswith(f"{said} {more}")
    assert "... and 4 more" in str(stability(X=np.hstack([X, X])))


def test_fewer_than_50_samples_have_no_interval():
    message = "^n_bootstraps must be at least 50 for an interval of the .*, got 49$"
    with pytest.warns(UserWarning, match=message) as caught:
        found = stability(n_bootstraps=49)
    assert len(caught) == 1
    assert np.isnan(found.interval).all()
    assert found.stability == nogueira(found.selected)[0]
    text = str(found).replace("\n", " ")
    assert f"Stability {found.stability:.4f}, no interval (49 bootstrap" in text


BAD_STABILITY = [
    ({"selector": ta.RankingFeatureSelector(qid=0)}, "qid must be given once"),
    ({"n_bootstraps": 1}, "n_bootstraps must be an integer >= 2, got 1"),
    ({"qid": None}, "qid must say which rows"),
    ({"confidence": 1.5}, "confidence must be"),
    ({"y": Y[:-1]}, "y must have"),
]


@pytest.mark.parametrize(("options", "message"), BAD_STABILITY)
def test_stability_that_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        stability(**options)
