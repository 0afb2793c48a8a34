"""Values on held-out queries by the number of features."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from tests.plots.helpers import CURVE, QID, WEB, Y, check_layout
from tieaware_sklearn import RankingFeatureSelector, selection_curve
from tieaware_sklearn.plots import SelectionCurveDisplay


def bars(axis):
    """Ends of the intervals, (n_selectors, n_sizes, 2)."""
    return np.array(
        [[s[:, 1] for s in lines.get_segments()] for lines in axis.collections]
    )


def test_lines_and_intervals_are_those_found():
    display = SelectionCurveDisplay.from_result(CURVE)
    axis = display.ax_
    *lines, level = axis.get_lines()
    np.testing.assert_array_equal([line.get_ydata() for line in lines], CURVE.mean)
    np.testing.assert_array_equal(bars(axis), CURVE.interval)
    assert set(level.get_ydata()) == {CURVE.mean_all}
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        r"\$a\$",
        "b",
        "all 12 features",
    ]
    assert axis.get_ylabel() == "AP on held-out queries"
    assert "95% intervals over queries" in axis.get_xlabel()
    assert [t.get_text() for t in axis.get_xticklabels()] == ["1", "2", "5", "10"]
    assert check_layout(display.figure_)


def test_differences_leave_the_first_selector_out():
    display = SelectionCurveDisplay.from_result(CURVE, differences=True)
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "b",
        r"\$a\$, as many features",
    ]
    line, level = display.ax_.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), CURVE.difference[1])
    np.testing.assert_array_equal(bars(display.ax_), CURVE.difference_interval[1:])
    assert set(level.get_ydata()) == {0}
    assert display.ax_.get_ylabel() == "difference in AP"
    assert check_layout(display.figure_)
    alone = dataclasses.replace(
        CURVE, selectors=CURVE.selectors[:1], values=CURVE.values[:, :1]
    )
    with pytest.raises(ValueError, match="differences must be of at least two"):
        SelectionCurveDisplay.from_result(alone, differences=True)
    with pytest.raises(ValueError, match="differences must be True or False"):
        SelectionCurveDisplay.from_result(CURVE, differences="yes")


def test_intervals_of_another_confidence_are_named():
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    options = {"n_features": [2], "confidence": 0.9, "cv": 2}
    args = RankingFeatureSelector("ap"), model, WEB.data, Y
    display = SelectionCurveDisplay.from_result(
        selection_curve(*args, qid=QID, **options)
    )
    assert "90% intervals" in display.ax_.get_xlabel()
    assert check_layout(display.figure_)
