"""Runs with and without the judgments that they alone brought to the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..judgments import LeaveOneOut
from . import _base


@dataclass(eq=False)
class LeaveOneOutDisplay(_base.Display, of=[LeaveOneOut]):
    """Values of runs, with and without the judgments that only they brought.

    Make it with `from_result`.

    Parameters
    ----------
    found : LeaveOneOut
        The result to draw. The best run is on top.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The only panel, which is also `ax_`.

    See Also
    --------
    tieaware_sklearn.judgments.leave_one_out : Computes the values.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.judgments import leave_one_out
    >>> from tieaware_sklearn.plots import LeaveOneOutDisplay
    >>> runs = {"a": {"qid": [1, 1], "docno": ["x", "y"], "score": [2, 1]},
    ...         "b": {"qid": [1, 1], "docno": ["y", "z"], "score": [2, 1]}}
    >>> judged = {"qid": [1, 1], "docno": ["x", "y"], "target": [1, 1]}
    >>> result = leave_one_out(runs, judged, depth=1)
    >>> display = LeaveOneOutDisplay.from_result(result)
    >>> display.figure_.savefig("leave_one_out.png")  # doctest: +SKIP
    """

    found: LeaveOneOut

    def _draw(self, ax: Any) -> None:
        result = self.found
        (axis,) = self._panels_of_rows(ax, 1, len(result.systems))
        side = 1 if result.greater_is_better else -1
        order = np.argsort(-side * result.value, kind="stable")
        value, without = result.value[order], result.without[order]
        rows = np.arange(len(order))
        axis.hlines(rows, without, value, color=_base.GREY, linewidth=3)
        _base.show_ticks(axis, value, _base.ink(axis), "all judgments")
        dots = {"linestyle": "none", "marker": "o", "color": _base.VERMILLION}
        axis.plot(without, rows, label="without those of its own", **dots)
        names = [result.systems[i] for i in order]
        relevant = map(str, result.n_relevant[order].tolist())
        _base.show_rows(axis, names, ("relevant alone", relevant))
        axis.set_xlabel(f"{_base.plain(result.measure)}, mean over queries")
