"""The base of all displays: figure, panels, legend and common style.

All displays share one grammar: a blue bar is the range over the orders of ties, a thin
black line is a confidence interval, and an orange diamond is a mean. A grey mark is a
conclusion that depends on the order of ties.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _optional
from .._display import words
from .._engine import checks, exact_numbers, feature_matrix, lists
from .._typing import FloatArray
from ..evaluation import Summary
from ..model_selection import _scorers

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
GREY = "#767676"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
#: Labels of the range over the orders of ties and of the mean, in every display.
RANGE, MEAN = "range over the orders of ties", "mean over orders of ties"
#: Diamond of a mean, in every display.
DIAMOND = {"marker": "D", "mfc": ORANGE, "mec": ORANGE, "ms": 6}
#: Largest number of characters of a name. Longer names are shortened.
_MAX_NAME = 32
#: Characters that end a word of a name.
_WORD_ENDS = "-_./ "
_PANELS_PER_ROW = 3
#: Largest width of a figure in inches. On a page, the text of a wider figure is small.
_MAX_WIDTH = 12.0
#: Number of lines of the legend for which the height of the panels has room.
_LEGEND_LINES = 2
#: Sizes in inches: height of a further line, width of a symbol and of a character.
_LINE, _SYMBOL, _CHARACTER = 0.22, 0.75, 0.085
#: Number of first rows, their height in inches, and the height of all further rows,
#: which are closer together.
_FIRST_ROWS, _ROW, _DENSE_ROW = 15, 0.32, 0.18


def line_style(i: int) -> dict[str, Any]:
    """Return the style of the i-th line. Styles also differ without colour."""
    colour = CYCLE[i % len(CYCLE)]
    dashes = _DASHES[i % len(_DASHES)]
    marker = _MARKERS[i % len(_MARKERS)]
    return {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 5}


def text_colour(axis: Any) -> Any:
    """Return the colour of text, which is not black in every style of matplotlib."""
    return axis.xaxis.label.get_color()


def plain_text(text: str) -> str:
    """Escape a text so that matplotlib shows it literally.

    Characters that an image cannot show, such as control characters, are spelled out.
    """
    escaped = words.printable(text).replace("$", r"\$")
    if text.startswith("_"):
        # matplotlib leaves labels that begin with an underscore out of legends.
        escaped = f" {escaped}"
    return escaped


def short_names(names: Iterable[str]) -> list[str]:
    """Shorten long names, and keep them distinct.

    Names lose the words that all of them begin or end with, and then their middle.
    """
    names = list(map(words.printable, names))
    if len(set(names)) > 1 and max(map(len, names)) > _MAX_NAME:
        start = _common_words(names)
        if start:
            names = ["…" + name[start:] for name in names]
        end = _common_words([name[::-1] for name in names])
        if end:
            names = [name[:-end] + "…" for name in names]
    counts: Counter[str] = Counter()
    labels = []
    for name in names:
        label = words.clip(name, _MAX_NAME)
        counts[label] += 1
        if counts[label] > 1:
            label = f"{label} ({counts[label]})"
        labels.append(label)
    return labels


def _common_words(names: Sequence[str]) -> int:
    """Return the length of the words that all names begin with, except the last."""
    # The first and the last name in alphabetical order have the shortest common start.
    first = min(names)
    last = max(names)
    ends = []
    for i, character in enumerate(first):
        if not last.startswith(character, i):
            break
        if character in _WORD_ENDS:
            ends.append(i + 1)
    return ends[-2] if len(ends) > 1 else 0


def show_title(axis: Any, text: str) -> None:
    """Put a title above a panel, with lines no wider than the panel."""
    text = plain_text(text)
    title = axis.set_title(text, loc="left", fontsize="medium", wrap=True)
    # matplotlib wraps text at the edge of the figure, which may be in the next panel.
    title._get_wrap_line_width = partial(getattr, axis.bbox, "width")


def show_average(axis: Any, average: str, lower_is_better: bool) -> None:
    """Label the x axis with the average, and with the direction if lower is better."""
    if lower_is_better:
        average += " (lower is better)"
    axis.set_xlabel(average)


def show_rows(axis: Any, names: Sequence[str]) -> None:
    """Label the rows of a panel with short names, the first on top."""
    axis.locator_params(axis="x", nbins=5)
    axis.set_yticks(range(len(names)), list(map(plain_text, names)))
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")


def show_beside(axis: Any, heading: str, texts: Iterable[str]) -> None:
    """Show a text to the right of each row, and a heading above them."""
    show = partial(
        axis.text, transform=axis.get_yaxis_transform(), fontsize="small", color=GREY
    )
    show(1.02, -0.65, heading, va="bottom")
    for row, text in enumerate(texts):
        show(1.02, row, text, va="center")


def show_chance(axis: Any, chance: float) -> None:
    """Draw a dashed vertical line at the chance level."""
    axis.axvline(chance, color=VERMILLION, linestyle="--", label="chance")


def show_means(axis: Any, means: FloatArray, label: str = MEAN, **style: Any) -> None:
    """Draw a diamond in each row."""
    style = {"linestyle": "none", **DIAMOND, **style}
    axis.plot(means, range(len(means)), label=label, **style)


def show_ranges(axis: Any, ends: FloatArray, chance: float = math.nan) -> None:
    """Draw the range over the orders of ties as a wide bar in each row.

    A bar that contains the chance level is grey.
    """
    depends_on_ties = np.prod(ends - chance, axis=1) < 0
    for label, is_drawn, colour in (
        (RANGE, ~depends_on_ties, SKY),
        ("side of chance depends on ties", depends_on_ties, (GREY, 0.6)),
    ):
        if is_drawn.any():
            rows = np.flatnonzero(is_drawn)
            lows, highs = ends[is_drawn].T
            axis.hlines(rows, lows, highs, color=colour, linewidth=7, label=label)


def show_intervals(axis: Any, interval: FloatArray) -> None:
    """Draw the confidence interval as a thin line in each row."""
    label = "95% confidence interval over queries"
    rows = range(len(interval))
    colour = text_colour(axis)
    axis.hlines(rows, *interval.T, color=colour, linewidth=1.2, label=label)


#: Displays by the type of result that they draw.
_DISPLAYS: dict[type, type[Display]] = {}


class Display(ABC):
    """Base class of displays, which contain the data of a figure and draw it.

    A display is a dataclass, whose first field is a result. The class methods draw at
    once. The method `plot` draws again, into other axes. A subclass defines `_draw`,
    which gets its axes from `_panels`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        The panels of this figure.
    ax_ : matplotlib Axes
        The only panel. A display with several panels has no `ax_`.
    """

    figure_: Any
    axes_: list[Any]
    ax_: Any

    def __init_subclass__(cls, *, draws: Sequence[type] = ()) -> None:
        """Register the class for results of the types that it draws."""
        for result_type in draws:
            _DISPLAYS[result_type] = cls

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None, **options: Any) -> Self:
        """Plot a result.

        Parameters
        ----------
        result
            The result to draw, as described for the first parameter of the class.
        ax : matplotlib Axes or list of Axes, optional
            Axes to draw into, one per panel. By default, a new figure is made.
        **options
            Further parameters of the class.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            If a parameter is invalid for the result, or if the number of axes is not
            the number of panels.
        ImportError
            If `ax` is None and matplotlib is not installed.
        """
        # The fields of each class are the result and the options.
        return cls(result, **options).plot(ax)  # type: ignore[call-arg]

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw into the `_panels` of `ax`. Labelled artists are in the legend."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or list of Axes, optional
            Axes to draw into, one per panel. By default, a new figure is made.

        Returns
        -------
        Display
            This display, with `figure_`, `axes_` and, if it has one panel, `ax_`.

        Raises
        ------
        ValueError
            If the number of axes is not the number of panels.
        ImportError
            If `ax` is None and matplotlib is not installed.
        """
        self._draw(ax)
        entries: dict[str, Any] = {}
        for axis in self.axes_:
            handles, labels = axis.get_legend_handles_labels()
            entries.update(zip(labels, handles, strict=True))
        if ax is not None:
            self.axes_[-1].legend(entries.values(), entries.keys(), frameon=False)
            return self
        figure = self.figure_
        # All panels share a legend below them, with as many columns as fit.
        longest = max(map(len, entries), default=0)
        room = figure.get_figwidth() / (_SYMBOL + _CHARACTER * longest)
        n_columns = max(min(int(room), len(entries)), 1)
        figure.legend(
            entries.values(),
            entries.keys(),
            loc="outside lower center",
            frameon=False,
            ncols=n_columns,
        )
        n_lines = math.ceil(len(entries) / n_columns)
        height = _LINE * max(n_lines - _LEGEND_LINES, 0)
        figure.set_figheight(figure.get_figheight() + height)
        return self

    def _panels(
        self, ax: Any, n_panels: int, width: float, height: float, sharey: bool = False
    ) -> list[Any]:
        """Return the axes `ax`, or axes of a new figure with panels of this size."""
        if ax is None:
            pyplot = _optional.import_optional(
                "matplotlib.pyplot", extra="plots", purpose="plotting"
            )
            n_rows = math.ceil(n_panels / _PANELS_PER_ROW)
            n_columns = math.ceil(n_panels / n_rows)
            size = min(width * n_columns, _MAX_WIDTH), height * n_rows
            self.figure_, axes = pyplot.subplots(
                n_rows,
                n_columns,
                figsize=size,
                layout="constrained",
                sharey=sharey,
                squeeze=False,
            )
            self.axes_ = list(axes.flat[:n_panels])
            for unused in axes.flat[n_panels:]:
                unused.remove()
        else:
            self.axes_ = list(np.ravel(ax))
            if len(self.axes_) != n_panels:
                raise ValueError(
                    f"ax must contain one Axes per panel, {n_panels} in all, "
                    f"got {len(self.axes_)}"
                )
            self.figure_ = self.axes_[0].figure
        if n_panels == 1:
            self.ax_ = self.axes_[0]
        for axis in self.axes_:
            # A light grid lies behind all artists. Spines without a scale are hidden.
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_axisbelow(True)
            axis.grid(color=GREY, alpha=0.25, linewidth=0.7)
        return self.axes_

    def _panels_of_rows(self, ax: Any, n_panels: int, n_rows: int) -> list[Any]:
        """Return panels that share rows of names."""
        # Title, axis and legend take 1.4 inches.
        height = 1.4 + _ROW * min(n_rows, _FIRST_ROWS)
        height += _DENSE_ROW * max(n_rows - _FIRST_ROWS, 0)
        return self._panels(ax, n_panels, 5.0, max(height, 2.4), sharey=True)


def drawing_of(result: Any) -> Callable[[], Display] | None:
    """Return a function that draws a result for its page, or None for no drawing."""
    if isinstance(result, Summary) and not {"ideal", "chance"} <= result.columns.keys():
        # Only summaries of rankings have ranges.
        return None
    display = _DISPLAYS.get(type(result))
    if display is None:
        return None
    return partial(display.from_result, result)


class SystemsDisplay(Display):
    """A display of one system, or of several systems that rank the same documents."""

    #: Function that computes the result from labels, checked scores and options.
    _compute: ClassVar[Callable[..., Any]]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        response_method: str | Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Rank documents by fitted estimators, and plot the results.

        Parameters
        ----------
        estimator : fitted estimator, or mapping of str to fitted estimator
            One estimator, or several by name.
        X : array-like or data frame of shape (n_rows, n_features)
            Features of the documents.
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row.
        response_method : str or list of str, optional
            Method of the estimators whose values rank the documents, as in
            `make_ranking_scorer`.
        ax : matplotlib Axes or list of Axes, optional
            Axes to draw into, one per panel. By default, a new figure is made.
        **options
            As in `from_predictions`.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            As in `from_predictions`.
        AttributeError
            If an estimator has none of the methods of `response_method`.
        ImportError
            If `ax` is None and matplotlib is not installed.
        """
        if not isinstance(estimator, Mapping):
            estimator = {type(estimator).__name__: estimator}
        scores = {}
        for name, fitted in estimator.items():
            scores[str(name)] = _scorers.predicted_scores(
                fitted, X, response_method, qid=qid
            )
        return cls.from_predictions(y, scores, qid=qid, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        qid: Any = None,
        mask: ArrayLike | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate systems by their scores, and plot the results.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Labels. In a matrix, each row is a query.
        y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents,) or (n_documents, n_systems)
            Scores of one system, or of several systems. If `y_true` is a matrix, the
            scores of a system are also a matrix.
        qid : array-like of shape (n_documents,), optional
            Query of each document.
        mask : array-like of bool of shape (n_queries, n_documents), optional
            True where a cell of the matrices contains a document, as in
            `compare_systems`.
        ax : matplotlib Axes or list of Axes, optional
            Axes to draw into, one per panel. By default, a new figure is made.
        **options
            Options of the function that computes the result. The docstring of the class
            names this function.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            If labels, scores or options are invalid, as in the function that computes
            the result, or if the number of axes is not the number of panels.
        ImportError
            If `ax` is None and matplotlib is not installed.
        """
        matrices = exact_numbers.are_lists(y_true, masked=mask is not None)
        names, columns = feature_matrix.list_systems(y_score, matrices=matrices)
        cells = lists.Lists.from_matrices({"y_true": y_true, **columns}, qid, mask)
        if cells is not None:
            # The documents of a list are the same for all systems.
            options["mask"] = cells.is_document
        else:
            n_rows = len(np.asarray(y_true))
            for name, scores in columns.items():
                columns[name] = checks.check_scores(scores, n_rows=n_rows, name=name)
        systems = dict(zip(names, columns.values(), strict=True))
        result = cls._compute(y_true, systems, qid=qid, **options)
        return cls.from_result(result, ax=ax)
