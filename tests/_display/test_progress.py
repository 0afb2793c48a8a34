"""Tests of progress bars."""

import sys
from functools import partial

import pytest

import tieaware_sklearn as ta
from tests.signatures import taken
from tieaware_sklearn._display.progress_bars import show_progress
from tieaware_sklearn.datasets import iter_batches

Y = [0, 1]
SCORES = [1, 2]
X = [[1], [2]]
TWO = {"a": [1, 2], "b": [2, 1]}
MODEL = ta.LinearRanker("equal").fit(X)
FITTED = [ta.LinearRanker, ta.RankingFeatureSelector]
CALLED = [
    partial(iter_batches, "no such file"),
    partial(ta.precision_study, Y, SCORES),
    partial(ta.pvalues_over_orders, Y, TWO),
    partial(ta.sampled, Y, SCORES, "rr"),
]
MESSAGE = "progress must be True or False, got"


@pytest.mark.parametrize("call", CALLED)
@pytest.mark.parametrize("progress", ["x", 1, None, [True]])
def test_functions_take_true_and_false_alone(call, progress):
    with pytest.raises(ValueError, match=MESSAGE):
        call(progress=progress)


@pytest.mark.parametrize("cls", FITTED)
@pytest.mark.parametrize("progress", ["x", 1, None, [True]])
def test_estimators_take_true_and_false_alone(cls, progress):
    estimator = cls(progress=progress)
    with pytest.raises(ValueError, match=MESSAGE):
        estimator.fit(X, Y, qid=[0, 0])


def test_all_that_take_progress_are_tried():
    tried = [*FITTED, *(call.func for call in CALLED)]
    names = {function.__name__ for function in tried}
    assert set(taken()["progress"]) == names


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
