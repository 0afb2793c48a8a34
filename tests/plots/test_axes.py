"""What all plots share."""

from __future__ import annotations

import sys

import pytest

from tests.plots.helpers import DISPLAYS, QID, WEB, Y, check_layout, rows_of
from tieaware_sklearn import precision_study
from tieaware_sklearn.plots import (
    PrecisionLossDisplay,
    PrecisionRecallBandDisplay,
    TieRangeDisplay,
    UserModelDisplay,
)


def test_matplotlib_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "tieaware-sklearn\[plots\]"'):
        DISPLAYS["changes"]()


def test_long_names_are_cut():
    names = {f"{'a very long name of a system ' * 3}{i}": s for i, s in enumerate("ab")}
    systems = {name: WEB.data[:, i] for i, name in enumerate(names)}
    display = TieRangeDisplay.from_predictions(Y, systems, qid=QID)
    shown = rows_of(display.axes_[0])
    assert all(len(name) <= 32 for name in shown)
    assert len(set(shown)) == 2
    assert check_layout(display.figure_)


@pytest.mark.parametrize("n", [3, 40])
def test_names_of_any_kind(n):
    start = "a very long name of a system that is like the others "
    names = [
        "_private",
        r"$\foo$",
        "cost $a$ and $b$",
        *(f"{start}{i}" for i in range(n)),
    ]
    rows = QID <= 2
    systems = dict.fromkeys(names, WEB.data[rows, 5])
    curves = PrecisionRecallBandDisplay.from_predictions(
        Y[rows], systems, qid=QID[rows], recall=[0, 1]
    )
    labels = [axis.get_title(loc="left") for axis in curves.axes_]
    assert len(set(labels)) == len(names)
    assert check_layout(curves.figure_)
    ranges = TieRangeDisplay.from_predictions(Y[rows], systems, qid=QID[rows])
    assert len(set(rows_of(ranges.axes_[0]))) == len(names)
    assert check_layout(ranges.figure_)


def test_many_measures_and_long_titles():
    names = [f"rbp(p={i / 100})" for i in range(50, 80)]
    assert check_layout(UserModelDisplay.from_measures(names, depth=5).figure_)
    study = precision_study(Y, {"x" * 300: WEB.data[:, 5]}, qid=QID)
    assert check_layout(PrecisionLossDisplay.from_result(study).figure_)
