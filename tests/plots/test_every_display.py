"""Every display fits its picture."""

from __future__ import annotations

import pytest
from matplotlib import pyplot

from tests.plots.helpers import DISPLAYS, check_layout

PANELS = {
    "ranges": 2,
    "official": 2,
    "importances": 2,
    "recall": 6,
    "queries": 2,
    "users": 3,
}


@pytest.mark.parametrize("name", DISPLAYS)
def test_everything_fits_the_picture(name, tmp_path):
    display = DISPLAYS[name]()
    assert check_layout(display.figure_)
    display.figure_.savefig(tmp_path / "plot.png", dpi=60)
    assert (tmp_path / "plot.png").stat().st_size > 5000
    assert isinstance(display.axes_, list)
    assert display.axes_ == display.figure_.axes
    assert len(display.axes_) == PANELS.get(name, 1)
    assert hasattr(display, "ax_") == (name not in PANELS)
    assert all(axis.get_xlabel() for axis in display.axes_)


@pytest.mark.parametrize("name", DISPLAYS)
def test_axes_of_the_users_own(name):
    figure, axes = pyplot.subplots(1, PANELS.get(name, 1), figsize=(12, 4))
    display = DISPLAYS[name](ax=axes)
    assert display.figure_ is figure
    assert not figure.legends
    assert len(figure.axes) == PANELS.get(name, 1)
    with pytest.raises(ValueError, match=r"ax must be \d axes, one per panel, got 7"):
        DISPLAYS[name](ax=list(pyplot.subplots(1, 7)[1]))
