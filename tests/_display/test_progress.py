"""Progress bars, where they are wanted and can be seen."""

from __future__ import annotations

import sys

import pytest

from tests.signatures import taken
from tieaware_sklearn import (
    FusedRanker,
    LinearRanker,
    RankingFeatureSelector,
    official_vs_exact,
    precision_study,
    pvalues_over_orders,
    query_permutation_importance,
    sampled,
    selection_curve,
    selection_stability,
)
from tieaware_sklearn._display.progress import show_progress, shows_progress
from tieaware_sklearn.datasets import iter_batches

Y, ONE, X = [0, 1], [1, 2], [[1], [2]]
TWO, QID = {"a": [1, 2], "b": [2, 1]}, {"qid": [0, 1]}
SELECTOR, LINEAR = RankingFeatureSelector, LinearRanker
#: what is called with a progress that is none
TAKE_PROGRESS = {
    "FusedRanker": lambda p: FusedRanker(n_features_to_select=1, progress=p).fit(
        X, Y, qid=[0, 0]
    ),
    "LinearRanker": lambda p: LINEAR(progress=p).fit(X, Y, **QID),
    "RankingFeatureSelector": lambda p: SELECTOR(progress=p).fit(X, Y, qid=[0, 0]),
    "iter_batches": lambda p: iter_batches("no such file", progress=p),
    "official_vs_exact": lambda p: official_vs_exact(
        Y, TWO, [*"xy"], **QID, progress=p
    ),
    "precision_study": lambda p: precision_study(Y, ONE, progress=p),
    "pvalues_over_orders": lambda p: pvalues_over_orders(Y, TWO, **QID, progress=p),
    "query_permutation_importance": lambda p: query_permutation_importance(
        LINEAR("equal").fit(X), X, Y, progress=p
    ),
    "selection_curve": lambda p: selection_curve(
        SELECTOR(), LINEAR(), X, Y, **QID, progress=p
    ),
    "selection_stability": lambda p: selection_stability(
        SELECTOR(), X, Y, **QID, progress=p
    ),
    "sampled": lambda p: sampled(Y, ONE, "rr", progress=p),
}


@pytest.mark.parametrize("name", TAKE_PROGRESS)
def test_only_true_and_false_say_whether_a_bar_is_wanted(name):
    for wanted in ("x", 1, None, [True]):
        with pytest.raises(ValueError, match="progress must be True or False, got"):
            TAKE_PROGRESS[name](wanted)


def test_all_that_take_progress_are_tried():
    assert {use.owner for use in taken()["progress"]} == set(TAKE_PROGRESS)


def test_a_bar_counts_items_or_their_sizes(capsys):
    parts = ["ab", "c", "def"]
    assert list(show_progress(parts, True, 3, "part", "reading")) == parts
    shown = capsys.readouterr().err
    assert "reading" in shown
    assert "3/3" in shown
    assert list(show_progress(parts, True, 6, "letter", size=len)) == parts
    assert "6/6" in capsys.readouterr().err


def test_no_bar_needs_no_library(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(show_progress("ab", False, 2, "letter")) == ["a", "b"]
    assert capsys.readouterr().err == ""
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[io\]"'):
        list(show_progress("ab", True, 2, "letter"))


def test_a_bar_is_for_terminals(monkeypatch):
    assert not shows_progress(quiet=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert shows_progress(quiet=False)
    assert not shows_progress(quiet=True)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert not shows_progress(quiet=False)
