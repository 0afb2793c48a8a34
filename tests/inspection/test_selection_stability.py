"""Stability of a selection: the index against its definition, the samples, errors."""

from __future__ import annotations

import itertools
from fractions import Fraction

import joblib
import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin, f_regression

from tieaware_sklearn import RankingFeatureSelector, selection_stability
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.inspection._selection_stability import nogueira

WEB = make_web_search(n_queries=20, n_documents=8, shuffle=True, random_state=3)
X, Y, QID = WEB.data, WEB.target, WEB.qid
BEST = RankingFeatureSelector("ndcg@5", n_features_to_select=3)


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

    m, step = len(rows), 1e-6
    slopes = []
    for i in range(m):
        up = np.full(m, 1 / m)
        up[i] += step
        down = np.full(m, 1 / m)
        down[i] -= step
        slopes.append((plug_in(up) - plug_in(down)) / (2 * step))
    # the paper's index has M/(M - 1), which its variance keeps only inside
    expected = np.sqrt(np.sum(np.square(slopes - np.mean(slopes)))) / m
    assert nogueira(rows)[1] == pytest.approx(expected, rel=0.15)
    many = np.repeat(rows, 500, axis=0)
    assert nogueira(many)[1] == pytest.approx(expected / np.sqrt(500), rel=1e-3)


class Recorder(SelectorMixin, BaseEstimator):
    """Keeps the first column, and what it was fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, qid=None):
        self.n_features_in_ = X.shape[1]
        self.seen.append(np.unique(qid, return_counts=True))
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0


def test_bootstrap_samples_are_of_whole_queries():
    Recorder.seen.clear()
    found = selection_stability(Recorder(), X, Y, qid=QID, n_bootstraps=6)
    assert len(Recorder.seen) == 6
    # each sample has as many queries as there are, of their sizes, some of them twice
    for ids, sizes in Recorder.seen:
        assert len(ids) == 20
        assert set(sizes) <= set(np.unique(QID, return_counts=True)[1])
    assert found.stability == 1
    assert found.frequency.tolist() == [1] + [0] * (X.shape[1] - 1)


def test_nothing_depends_on_the_order_of_rows_or_on_processes():
    options = {"n_bootstraps": 4, "random_state": 5}
    found = selection_stability(BEST, X, Y, qid=QID, **options)
    rows = np.random.default_rng(0).permutation(len(Y))
    other = selection_stability(BEST, X[rows], Y[rows], qid=QID[rows], **options)
    np.testing.assert_array_equal(found.selected, other.selected)
    with joblib.parallel_config(backend="threading"):
        other = selection_stability(BEST, X, Y, qid=QID, n_jobs=2, **options)
    np.testing.assert_array_equal(found.selected, other.selected)
    other = selection_stability(BEST, X, Y, qid=QID, n_bootstraps=4, random_state=6)
    assert (found.selected != other.selected).any()


def test_ids_as_a_column_and_selectors_without_ids():
    F = SelectKBest(f_regression, k=2)
    found = selection_stability(F, X, Y, qid=QID, n_bootstraps=4)
    with_ids = np.column_stack([X, QID])
    other = selection_stability(F, with_ids, Y, qid=-1, n_bootstraps=4)
    np.testing.assert_array_equal(found.selected, other.selected)
    assert len(other.feature_names) == X.shape[1]


def test_figures_and_table():
    found = selection_stability(BEST, X, Y, qid=QID, n_bootstraps=5)
    assert (found.selected.sum(axis=1) == 3).all()
    np.testing.assert_array_equal(found.frequency, found.selected.mean(axis=0))
    exact = by_definition(found.selected.astype(int).tolist())
    assert found.stability == pytest.approx(float(exact))
    low, high = found.interval
    assert found.stability - low == pytest.approx(high - found.stability)
    error = nogueira(found.selected)[1]
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * error)
    frame = found.to_pandas()
    assert frame.frequency.is_monotonic_decreasing
    assert list(frame.columns) == ["feature", "frequency"]
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert f"Stability {found.stability:.4f}" in text
    assert "5 bootstrap samples of 20 queries, 3.0 features" in text.replace("\n", " ")
    assert "<table" in found._repr_html_()
    wide = selection_stability(BEST, np.hstack([X, X]), Y, qid=QID, n_bootstraps=2)
    assert "... and 4 more" in str(wide)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selector": RankingFeatureSelector(qid=0)}, "qid must be given once"),
        ({"n_bootstraps": 1}, "n_bootstraps must be an integer >= 2, got 1"),
        ({"qid": None}, "qid must say which rows"),
        ({"confidence": 1.5}, "confidence must be"),
        ({"progress": 2}, "progress must be"),
        ({"y": Y[:-1]}, "y must have"),
    ],
)
def test_what_is_refused(options, message):
    options = {"selector": BEST, "X": X, "y": Y, "qid": QID, **options}
    with pytest.raises(ValueError, match=message):
        selection_stability(**options)
