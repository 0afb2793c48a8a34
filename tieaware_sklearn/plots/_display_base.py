"""The base of all displays: figure, panels and legend."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from .._optional import import_optional

#: panels in a row
_ABREAST = 3
#: width of a figure in inches: in wider ones, words would be too small on a page
_WIDEST = 12.0
#: lines of a legend that the height of the panels allows for
_LINES = 2
#: in inches: every further line, and what a legend leaves free beside it
_LINE, _MARGIN = 0.22, 0.15


class Panels(NamedTuple):
    """How many panels a display has, how large each is, and whether rows are shared.

    Attributes
    ----------
    number : int
    width, height : float
        In inches.
    sharey : bool, default=False
    """

    number: int
    width: float
    height: float
    sharey: bool = False


class Display(ABC):
    """What a picture shows, and how it is drawn.

    A display is a dataclass of plain figures. Its class methods compute them and
    `plot` at once; `plot` draws them again, into other axes. A subclass says which
    `_panels` it needs, and how to `_draw`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Of the last `plot`, as are the others.
    axes_ : list of matplotlib Axes
        One per panel, also if there is only one.
    ax_ : matplotlib Axes
        The only panel; a picture of several has no `ax_`.
    """

    figure_: Any
    axes_: list[Any]

    @abstractmethod
    def _panels(self) -> Panels:
        """What the figure consists of."""

    @abstractmethod
    def _draw(self, axes: list[Any]) -> None:
        """Draw into tidy axes, one per panel; what has a label is in the legend."""

    @property
    def ax_(self) -> Any:
        """The only panel."""
        if len(self.axes_) > 1:
            raise AttributeError(
                f"this {type(self).__name__} has {len(self.axes_)} panels: use axes_"
            )
        return self.axes_[0]

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel; by default those of a new figure.

        Returns
        -------
        Display
            This display, with `figure_`, `axes_` and, if it has one panel, `ax_`.

        Raises
        ------
        ValueError
            If there is not one of the axes per panel.
        """
        panels = self._panels()
        if ax is None:
            self.figure_, self.axes_ = _new_figure(panels)
        else:
            self.axes_ = list(np.ravel(np.array(ax, dtype=object)))
            if len(self.axes_) != panels.number:
                raise ValueError(
                    f"ax must be {panels.number} axes, one per panel, got "
                    f"{len(self.axes_)}"
                )
            self.figure_ = self.axes_[0].figure
        for axis in self.axes_:
            _tidy(axis)
        self._draw(self.axes_)
        entries: dict[str, Any] = {}
        for axis in self.axes_:
            handles, labels = axis.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        if ax is None:
            _legend_below(self.figure_, entries)
        else:
            self.axes_[-1].legend(entries.values(), entries.keys(), frameon=False)
        return self


def _new_figure(panels: Panels) -> tuple[Any, list[Any]]:
    """A figure and its axes, in rows of three at most."""
    pyplot = import_optional("matplotlib.pyplot", extra="plots", purpose="plotting")
    n_rows = math.ceil(panels.number / _ABREAST)
    n_columns = math.ceil(panels.number / n_rows)
    width = min(panels.width * n_columns, _WIDEST)
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(width, panels.height * n_rows),
        layout="constrained",
        sharey=panels.sharey,
        squeeze=False,
    )
    for spare in axes.flat[panels.number :]:
        spare.remove()
    return figure, list(axes.flat[: panels.number])


def _tidy(axis: Any) -> None:
    """Only the spines that carry a scale, and a light grid behind everything."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(color="#DDDDDD", linewidth=0.7)


def _legend_below(figure: Any, entries: dict[str, Any]) -> None:
    """One legend for all panels, in as many columns as there is room for."""
    columns = len(entries)
    style = {"loc": "outside lower center", "frameon": False}
    while columns:
        legend = figure.legend(entries.values(), entries.keys(), ncols=columns, **style)
        room = figure.bbox.width - figure.dpi * _MARGIN
        share = room / legend.get_window_extent().width
        if columns == 1 or share >= 1:
            more = max(math.ceil(len(entries) / columns) - _LINES, 0)
            figure.set_figheight(figure.get_figheight() + _LINE * more)
            return
        legend.remove()
        columns = max(min(int(columns * share), columns - 1), 1)
