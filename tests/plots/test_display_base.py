"""What all displays have in common."""

from __future__ import annotations

import inspect

import pytest
from matplotlib import pyplot

from tests.plots.helpers import DISPLAYS, QID, STUDY, SYSTEMS, Y, check_layout
from tieaware_sklearn import plots
from tieaware_sklearn.plots import PrecisionLossDisplay, TieRangeDisplay

CLASSES = [getattr(plots, name) for name in plots.__all__]


@pytest.mark.parametrize("cls", CLASSES)
def test_class_methods_have_one_order(cls):
    methods = {name: getattr(cls, name) for name in dir(cls) if name.startswith("from")}
    assert methods
    for name, method in methods.items():
        parameters = inspect.signature(method).parameters
        options = [p for p in parameters.values() if p.default is not p.empty]
        assert all(p.kind is p.KEYWORD_ONLY for p in options)
        assert options[-1].name == "ax"
        assert options[-1].default is None
        if "qid" in parameters:
            assert options[0].name == "qid"
            assert list(parameters)[-1] == "options"
        if name == "from_predictions":
            assert list(parameters)[:2] == ["y_true", "y_score"]


def test_only_a_single_panel_is_ax_():
    two = DISPLAYS["ranges"]()
    assert not hasattr(two, "ax_")
    one = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures="ap")
    assert one.ax_ is one.axes_[0]


def test_plot_draws_again_elsewhere():
    display = PrecisionLossDisplay.from_result(STUDY)
    first = display.figure_
    figure, axis = pyplot.subplots()
    assert display.plot(axis) is display
    assert display.figure_ is figure is not first
    assert display.ax_ is axis
    assert axis.get_legend() is not None


@pytest.mark.parametrize(("count", "abreast"), [(1, 1), (3, 3), (4, 2), (7, 3)])
def test_panels_stand_in_rows_of_three_at_most(count, abreast):
    measures = [f"p@{k}" for k in range(1, count + 1)]
    display = TieRangeDisplay.from_predictions(Y, SYSTEMS, qid=QID, measures=measures)
    assert len(display.axes_) == len(display.figure_.axes) == count
    columns = {axis.get_subplotspec().colspan.start for axis in display.axes_}
    assert len(columns) == abreast
    assert display.figure_.get_figwidth() <= 12
    assert check_layout(display.figure_)


def test_a_legend_has_as_many_columns_as_fit():
    few = DISPLAYS["users"]()
    (legend,) = few.figure_.legends
    heights = {round(text.get_window_extent().y0) for text in legend.get_texts()}
    assert len(heights) == 1
    (narrow,) = DISPLAYS["pvalues"]().figure_.legends
    few.figure_.canvas.draw()
    assert narrow.get_window_extent().width < narrow.figure.bbox.width
    assert check_layout(narrow.figure)
