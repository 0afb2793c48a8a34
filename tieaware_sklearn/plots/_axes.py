"""What displays draw alike: colours, lines, names, bars of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._display import clip, number
from .._engine import FloatArray

#: Okabe and Ito's colours, told apart by colour-blind readers too
BLACK, GREY = "#000000", "#767676"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", "--", "-.", ":")
#: what every display calls what ties leave open, and their mean
RANGE, MEAN = "worst to best order of ties", "mean over all orders"
#: names of more characters lose their middle
_LONGEST = 32


def line_style(i: int) -> dict[str, Any]:
    """How the i-th of several lines looks; also without colour they are told apart."""
    return {
        "color": CYCLE[i % len(CYCLE)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "marker": MARKERS[i % len(MARKERS)],
        "markersize": 5,
    }


def plain(text: str) -> str:
    """A text that matplotlib shows as it is: no mathematics, nothing private."""
    return " " * text.startswith("_") + text.replace("$", r"\$")


def short(names: Sequence[str]) -> list[str]:
    """Names that leave room for the plot, and tell what is different apart."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        name = clip(name, _LONGEST)
        seen[name] = seen.get(name, 0) + 1
        out.append(plain(name if seen[name] == 1 else f"{name} ({seen[name]})"))
    return out


def title(axis: Any, text: str) -> None:
    """What a panel shows, above it."""
    axis.set_title(text, loc="left", fontsize="medium")


def show_ranges(
    axis: Any,
    names: Sequence[str],
    mean: FloatArray,
    best: FloatArray,
    worst: FloatArray,
    interval: FloatArray | None = None,
    chance: float | None = None,
    label: str = MEAN,
) -> None:
    """A row per name, the first on top: mean, range of ties, interval and chance."""
    rows = np.arange(len(names))
    ends = np.minimum(worst, best), np.maximum(worst, best)
    axis.hlines(rows, *ends, color=SKY, linewidth=7, label=RANGE)
    if interval is not None:
        show_intervals(axis, interval)
    if chance is not None:
        axis.axvline(chance, color=VERMILLION, linestyle="--", label="chance")
    tick = {"marker": "|", "markersize": 11, "markeredgewidth": 2, "color": BLUE}
    axis.plot(mean, rows, linestyle="none", label=label, **tick)
    axis.locator_params(axis="x", nbins=5)
    axis.set_yticks(rows, short(names))
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    beside = axis.get_yaxis_transform()
    style = {"transform": beside, "fontsize": "small", "color": GREY}
    axis.text(1.02, -0.65, "best − worst", va="bottom", **style)
    for row, width in enumerate((ends[1] - ends[0]).tolist()):
        axis.text(1.02, row, number(width), va="center", **style)


def show_intervals(axis: Any, interval: FloatArray, confidence: float = 0.95) -> None:
    """An interval per row."""
    label = f"{confidence:.0%} interval over queries"
    rows = np.arange(len(interval))
    axis.hlines(rows, *interval.T, color=BLACK, linewidth=1.2, label=label)
