"""What all plots share: colours, axes, bars of ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._display.tables import number
from .._engine.ties import FloatArray
from .._optional import import_optional

#: Okabe and Ito's colours, told apart by colour-blind readers too
BLACK, GREY = "#000000", "#767676"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LONGEST, _HEAD, _TAIL = 32, 17, 14
#: panels in a row
_ABREAST = 3
#: in points: what a legend takes beside its labels, and at its edges
_HANDLE, _MARGIN = 52, 16
#: in inches: a line of a legend
_LINE = 0.22


def panels(
    ax: Any, n: int, *, width: float, height: float, sharey: bool = False
) -> tuple[Any, list[Any]]:
    """Figure and axes: those that are given, or new ones in rows of three."""
    if ax is None:
        pyplot = import_optional("matplotlib.pyplot", extra="plots", purpose="plotting")
        columns = n if n <= _ABREAST else math.ceil(n / math.ceil(n / _ABREAST))
        rows = math.ceil(n / columns)
        figure, axes = pyplot.subplots(
            rows,
            columns,
            figsize=(width * columns, height * rows),
            layout="constrained",
            sharey=sharey,
            squeeze=False,
        )
        for spare in axes.flat[n:]:
            spare.remove()
        return figure, list(axes.flat[:n])
    given = list(np.ravel(np.array(ax, dtype=object)))
    if len(given) != n:
        raise ValueError(f"ax must be {n} axes, one per panel, got {len(given)}")
    return given[0].figure, given


def tidy(axis: Any) -> None:
    """Only the spines that carry a scale, and a light grid behind everything."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(color="#DDDDDD", linewidth=0.7)


def legend(figure: Any, axes: Sequence[Any], own: bool) -> None:
    """One legend: below the panels of a figure of our own, else in the last axes."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries:
        return
    handles, labels = list(entries.values()), list(entries)
    if not own:
        axes[-1].legend(handles, labels, frameon=False)
        return
    paths = import_optional("matplotlib.textpath", extra="plots", purpose="plotting")
    fonts = import_optional(
        "matplotlib.font_manager", extra="plots", purpose="plotting"
    )
    font = fonts.FontProperties(size="medium")
    widest = max(
        paths.TextPath((0, 0), label, prop=font).get_extents().width for label in labels
    )
    room = 72 * figure.get_figwidth() - _MARGIN
    columns = min(max(int(room // (widest + _HANDLE)), 1), len(labels))
    lines = math.ceil(len(labels) / columns)
    figure.set_figheight(figure.get_figheight() + _LINE * max(lines - 2, 0))
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False
    )


def plain(text: str) -> str:
    """A text that matplotlib shows as it is: no mathematics, nothing private."""
    return " " * text.startswith("_") + text.replace("$", r"\$")


def short(names: Sequence[str]) -> list[str]:
    """Names that leave room for the plot, and tell what is different apart."""
    cut = [
        name if len(name) <= _LONGEST else f"{name[:_HEAD]}…{name[-_TAIL:]}"
        for name in names
    ]
    seen: dict[str, int] = {}
    out = []
    for name in cut:
        seen[name] = seen.get(name, 0) + 1
        out.append(plain(name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return out


def show_ranges(
    axis: Any,
    names: Sequence[str],
    middle: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    interval: FloatArray | None = None,
) -> None:
    """A row per name, the first on top: mean, bar of the orders of ties, interval."""
    rows = np.arange(len(names))
    ends = np.column_stack([np.minimum(low, high), np.maximum(low, high)])
    axis.hlines(
        rows,
        ends[:, 0],
        ends[:, 1],
        color=SKY,
        linewidth=7,
        label="worst to best order of ties",
    )
    if interval is not None:
        axis.hlines(
            rows,
            interval[:, 0],
            interval[:, 1],
            color=BLACK,
            linewidth=1.2,
            label="95 % interval over queries",
        )
    axis.plot(
        middle,
        rows,
        linestyle="none",
        marker="|",
        markersize=11,
        markeredgewidth=2,
        color=BLUE,
        label="mean over all orders",
    )
    axis.locator_params(axis="x", nbins=5)
    axis.set_yticks(rows, short(names))
    axis.set_ylim(len(names) - 0.4, -0.6)
    for row, (a, b) in enumerate(ends.tolist()):
        axis.annotate(
            number(b - a),
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize="small",
            color=GREY,
        )
    axis.annotate(
        "best − worst",
        (1.02, 1.0),
        xycoords="axes fraction",
        xytext=(0, 4),
        textcoords="offset points",
        fontsize="small",
        color=GREY,
    )
    tidy(axis)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
