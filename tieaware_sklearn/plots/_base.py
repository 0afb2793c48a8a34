"""The base of all displays: figure, panels, legend and common style."""

from __future__ import annotations

import math
import textwrap
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

#: Okabe and Ito's colours, distinct for colour-blind readers too
GREY = "#767676"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
#: labels, in every display, of the range of ties and of the mean
RANGE, MEAN = "worst to best order of ties", "mean over all orders"
#: names of more characters lose their middle, and the words that all have, which end so
_LONGEST, _ENDS = 32, "-_./ "
#: panels in a row
_ABREAST = 3
#: width of a figure in inches: in wider ones, words would be too small on a page
_WIDEST = 12.0
#: lines of a legend that the height of the panels allows for
_LINES = 2
#: in inches: height of each further line, and width of a symbol and a character
_LINE, _SYMBOL, _CHARACTER = 0.22, 0.75, 0.085
#: characters of a line of a title, at least
_SHORTEST = 12
#: rows that stand apart, and rows of more names, in inches
_APART, _ROW, _DENSE = 15, 0.32, 0.18


def line_style(i: int) -> dict[str, Any]:
    """Style of the i-th line, distinct from others also without colour."""
    return {
        "color": CYCLE[i % len(CYCLE)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": 5,
    }


def ink(axis: Any) -> Any:
    """Colour of texts, which is not black in every style."""
    return axis.xaxis.label.get_color()


def plain(text: str) -> str:
    """Escape a text so that matplotlib shows it as it is.

    What no picture may hold, such as control characters, is spelled out.
    """
    return " " * text.startswith("_") + words.printable(text).replace("$", r"\$")


def short(names: Iterable[str]) -> list[str]:
    """Shorten long names, and keep them distinct.

    They lose the words that all begin or end with, and then their middle.
    """
    names = list(map(words.printable, names))
    if len(set(names)) > 1 and max(map(len, names)) > _LONGEST:
        if start := _common_words(names):
            names = ["…" + name[start:] for name in names]
        if end := _common_words([name[::-1] for name in names]):
            names = [name[:-end] + "…" for name in names]
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        name = words.clip(name, _LONGEST)
        seen[name] += 1
        out.append(plain(name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return out


def _common_words(names: Sequence[str]) -> int:
    """Number of characters of the words that all names begin with, but for the last."""
    first, last = min(names), max(names)
    ends = [
        i + 1
        for i, character in enumerate(first)
        if character in _ENDS and last.startswith(first[: i + 1])
    ]
    return ends[-2] if len(ends) > 1 else 0


def title(axis: Any, text: str) -> Any:
    """Put a title above a panel."""
    return axis.set_title(text, loc="left", fontsize="medium")


def _fit_titles(figure: Any, axes: list[Any]) -> None:
    """Break titles that are wider than their panels, which stand side by side."""
    figure.draw_without_rendering()
    for axis in axes:
        text = axis.get_title(loc="left")
        width = title(axis, text).get_window_extent().width
        share = axis.get_window_extent().width / max(width, 1)
        if share < 1:
            title(axis, textwrap.fill(text, max(int(len(text) * share), _SHORTEST)))


def show_rows(
    axis: Any, names: Sequence[str], beside: tuple[str, Iterable[str]] | None = None
) -> None:
    """Label the rows with short names, the first on top, and values beside them."""
    axis.locator_params(axis="x", nbins=5)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    if beside is not None:
        style = {"transform": axis.get_yaxis_transform(), "fontsize": "small"}
        axis.text(1.02, -0.65, beside[0], va="bottom", color=GREY, **style)
        for row, text in enumerate(beside[1]):
            axis.text(1.02, row, text, va="center", color=GREY, **style)


def show_ticks(axis: Any, values: FloatArray, label: str) -> None:
    """Draw a short vertical line in each row."""
    axis.plot(
        values,
        np.arange(len(values)),
        linestyle="none",
        marker="|",
        markersize=11,
        markeredgewidth=2,
        color=BLUE,
        label=label,
    )


def show_ranges(axis: Any, ends: FloatArray) -> None:
    """Draw the range over the orders of ties as a wide bar in each row."""
    rows = np.arange(len(ends))
    axis.hlines(rows, *ends.T, color=SKY, linewidth=7, label=RANGE)


def show_intervals(axis: Any, interval: FloatArray, confidence: float = 0.95) -> None:
    """Draw an interval in each row."""
    label = f"{confidence:.0%} interval over queries"
    rows = np.arange(len(interval))
    axis.hlines(rows, *interval.T, color=ink(axis), linewidth=1.2, label=label)


#: displays by the type of result that they draw
_DISPLAYS: dict[type, type[Display]] = {}


class Display(ABC):
    """Base class of displays, which hold the data of a figure and draw it.

    A display is a dataclass, whose first field is a result. Its class methods `plot` at
    once; `plot` draws again, into other axes. A subclass says how to `_draw`, and on
    which `_panels`.

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
    ax_: Any

    def __init_subclass__(cls, *, of: Sequence[type] = ()) -> None:
        """Register the class for results `of` these types."""
        _DISPLAYS.update(dict.fromkeys(of, cls))

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None, **options: Any) -> Self:
        """Plot a result.

        Parameters
        ----------
        result
            What is drawn: the first parameter of the class.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel; by default those of a new figure.
        **options
            Further parameters of the class.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            If a parameter does not go with the result.
        """
        # each class has the result and its options for fields
        return cls(result, **options).plot(ax)  # type: ignore[call-arg]

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw into the `_panels` made of `ax`; labelled artists are in the legend."""

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
        self._draw(ax)
        entries: dict[str, Any] = {}
        for axis in self.axes_:
            handles, labels = axis.get_legend_handles_labels()
            entries |= dict(zip(labels, handles, strict=True))
        if ax is None:
            _legend_below(self.figure_, entries)
            if len(self.axes_) > 1:
                _fit_titles(self.figure_, self.axes_)
        else:
            self.axes_[-1].legend(entries.values(), entries.keys(), frameon=False)
        return self

    def _panels(
        self, ax: Any, number: int, width: float, height: float, sharey: bool = False
    ) -> list[Any]:
        """Take the axes given, or those of a new figure with panels of this size."""
        if ax is None:
            pyplot = _optional.import_optional(
                "matplotlib.pyplot", extra="plots", purpose="plotting"
            )
            n_rows = math.ceil(number / _ABREAST)
            n_columns = math.ceil(number / n_rows)
            self.figure_, axes = pyplot.subplots(
                n_rows,
                n_columns,
                figsize=(min(width * n_columns, _WIDEST), height * n_rows),
                layout="constrained",
                sharey=sharey,
                squeeze=False,
            )
            self.axes_ = list(axes.flat[:number])
            for spare in axes.flat[number:]:
                spare.remove()
        else:
            self.axes_ = list(np.ravel(ax))
            if len(self.axes_) != number:
                raise ValueError(
                    f"ax must be {number} axes, one per panel, got {len(self.axes_)}"
                )
            self.figure_ = self.axes_[0].figure
        if number == 1:
            self.ax_ = self.axes_[0]
        for axis in self.axes_:
            # spines without a scale go, and a light grid stands behind everything
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_axisbelow(True)
            axis.grid(color=GREY, alpha=0.25, linewidth=0.7)
        return self.axes_

    def _panels_of_rows(self, ax: Any, number: int, n_rows: int) -> list[Any]:
        """Take or make panels that share rows of names."""
        height = 1.4 + _ROW * min(n_rows, _APART) + _DENSE * max(n_rows - _APART, 0)
        return self._panels(ax, number, 5.0, max(height, 2.4), sharey=True)


def drawing_of(result: Any) -> Callable[[], Display] | None:
    """Return a function that draws a result for its page, or None without a display."""
    # only summaries of rankings have ranges
    if isinstance(result, Summary) and not {"ideal", "chance"} <= result.columns.keys():
        return None
    display = _DISPLAYS.get(type(result))
    return None if display is None else partial(display.from_result, result)


def _legend_below(figure: Any, entries: dict[str, Any]) -> None:
    """Put one legend for all panels below them, with as many columns as fit."""
    longest = max(map(len, entries), default=0)
    room = figure.get_figwidth() / (_SYMBOL + _CHARACTER * longest)
    columns = max(min(int(room), len(entries)), 1)
    figure.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        frameon=False,
        ncols=columns,
    )
    more = max(math.ceil(len(entries) / columns) - _LINES, 0)
    figure.set_figheight(figure.get_figheight() + _LINE * more)


class SystemsDisplay(Display):
    """A display of one system, or of several that rank the same documents."""

    #: computes the result from labels, the checked scores of named systems, and options
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
        estimator : fitted estimator, or mapping of str to such
            One estimator, or several by name.
        X : array-like or data frame of shape (n_rows, n_features)
            Features of the documents.
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row.
        response_method
            As in `make_ranking_scorer`.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.
        **options
            As in `from_predictions`.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            As in `from_predictions`, and if scores are NaN.
        """
        if not isinstance(estimator, Mapping):
            estimator = {type(estimator).__name__: estimator}
        scores = {
            str(name): _scorers.predicted_scores(one, X, response_method, qid=qid)
            for name, one in estimator.items()
        }
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
        """Measure systems by their scores, and plot the results.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
            Labels. In a matrix, each row is a query.
        y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents,) or (n_documents, n_systems)
            Scores of one system, or of each of several. Where `y_true` is a matrix, a
            system is one, too.
        qid : array-like of shape (n_documents,), optional
            Query of each document.
        mask : array-like of bool of shape (n_queries, n_documents), optional
            True where a cell of the matrices holds a document, as in `compare_systems`.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.
        **options
            Options of the function that the description of the class names.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            As in that function.
        """
        matrices = exact_numbers.are_lists(y_true, masked=mask is not None)
        names, given = feature_matrix.list_systems(y_score, matrices=matrices)
        cells = lists.Lists.of({"y_true": y_true, **given}, qid, mask)
        if cells is not None:
            # padding of all systems together
            options["mask"] = cells.there
        else:
            n_rows = len(np.asarray(y_true))
            for name, scores in given.items():
                given[name] = checks.check_scores(scores, n_rows=n_rows, name=name)
        systems = dict(zip(names, given.values(), strict=True))
        result = cls._compute(y_true, systems, qid=qid, **options)
        return cls.from_result(result, ax=ax)
