"""Rows of names with bars, ranges and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._engine.segments import FloatArray
from . import _base


def show_rows(
    axis: Any, names: Sequence[str], beside: tuple[str, Iterable[str]] | None = None
) -> None:
    """Label the rows with names, the first on top, and with values beside them."""
    axis.locator_params(axis="x", nbins=5)
    axis.set_yticks(range(len(names)), _base.short(names))
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    if beside is not None:
        style = {"transform": axis.get_yaxis_transform(), "fontsize": "small"}
        axis.text(1.02, -0.65, beside[0], va="bottom", color=_base.GREY, **style)
        for row, text in enumerate(beside[1]):
            axis.text(1.02, row, text, va="center", color=_base.GREY, **style)


def show_ticks(axis: Any, values: FloatArray, colour: str, label: str) -> None:
    """Draw a short vertical line in each row."""
    tick = {"marker": "|", "markersize": 11, "markeredgewidth": 2, "color": colour}
    axis.plot(values, np.arange(len(values)), linestyle="none", label=label, **tick)


def show_intervals(axis: Any, interval: FloatArray, confidence: float = 0.95) -> None:
    """Draw an interval in each row."""
    label = f"{confidence:.0%} interval over queries"
    rows = np.arange(len(interval))
    axis.hlines(rows, *interval.T, color=_base.ink(axis), linewidth=1.2, label=label)
