"""Values on held-out queries by the number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine import checks, messages
from ..inspection import SelectionCurve
from . import _base


@dataclass(eq=False)
class SelectionCurveDisplay(_base.Display, of=[SelectionCurve]):
    """A measure on held-out queries by the number of features, with intervals.

    Make it with `from_result`.

    Parameters
    ----------
    curve : SelectionCurve
        The result to draw.
    differences : bool, default=False
        Whether to draw the differences from the first selector, paired by query,
        instead of the means. Their intervals are narrower.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The only panel.
    ax_ : matplotlib Axes
        The only panel.

    See Also
    --------
    selection_curve : Computes the curve.
    FeatureScreeningDisplay : Draws the scores of features alone, without a ranker.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_curve
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import SelectionCurveDisplay
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> curve = selection_curve(
    ...     RankingFeatureSelector("ap"), Ridge(), web.data, web.target, qid=web.qid,
    ...     measure="ap", n_features=[1, 3, 6])
    >>> display = SelectionCurveDisplay.from_result(curve)
    >>> display.curve.mean.shape, display.curve.n_features
    ((1, 3), (1, 3, 6))
    """

    curve: SelectionCurve
    differences: bool = False

    def __post_init__(self) -> None:
        checks.check_flag(self.differences, "differences")
        rule = "differences must be of at least two selectors, got only "
        rule += repr(self.curve.selectors[0])
        messages.require(not self.differences or len(self.curve.selectors) > 1, rule)

    def _draw(self, ax: Any) -> None:
        (axis,) = self._panels(ax, 1, width=6.4, height=4.2)
        curve, first = self.curve, int(self.differences)
        value, interval = curve.mean, curve.interval
        label, height = f"all {len(curve.feature_names)} features", curve.mean_all
        axis.set_ylabel(f"{_base.plain(curve.measure)} on held-out queries")
        if self.differences:
            value, interval = curve.difference, curve.difference_interval
            label, height = f"{_base.plain(curve.selectors[0])}, as many features", 0
            axis.set_ylabel(f"difference in {_base.plain(curve.measure)}")
        if len(curve.n_features) > 1:
            axis.set_xscale("log")
        names = _base.short(curve.selectors[first:])
        for s, name in enumerate(names):
            # beside each other, so that intervals do not hide each other
            x = np.array(curve.n_features) * 1.025 ** (s - (len(names) - 1) / 2)
            style = _base.line_style(s)
            axis.plot(x, value[first + s], label=name, **style)
            ends = interval[first + s].T
            axis.vlines(x, *ends, color=style["color"], linewidth=1.2)
        axis.axhline(height, color=_base.GREY, linestyle=":", label=label)
        axis.set_xticks(curve.n_features, [str(k) for k in curve.n_features])
        axis.set_xticks([], minor=True)
        share = f"{curve.confidence:.0%}"
        axis.set_xlabel(f"number of features (bars: {share} intervals over queries)")
