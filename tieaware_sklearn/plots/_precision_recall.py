"""Precision-recall curves of systems, with their ranges over the orders of ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._engine import feature_matrix
from ..evaluation import PrecisionRecallCurve, precision_recall_curve
from . import _base

#: Maximum number of curves in one panel. With more curves, each curve has its own
#: panel.
_TOGETHER = 3
_MEASURE = "Interpolated precision"
#: Width and height in inches of a single panel, and of one of several panels.
_LARGE, _SMALL = (5.6, 4.4), (3.4, 2.8)


def _curves(
    y_true: Any, systems: Mapping[str, Any], **options: Any
) -> dict[str, PrecisionRecallCurve]:
    """Return the curve of each system."""
    curves = {}
    for name, y_score in systems.items():
        curves[name] = precision_recall_curve(y_true, y_score, **options)
    return curves


@dataclass(eq=False)
class PrecisionRecallBandDisplay(_base.SystemsDisplay, draws=[PrecisionRecallCurve]):
    """Precision-recall curves with bands from the worst to the best order of ties.

    Two or three curves share a panel, with a colour for each curve. With one curve, or
    with more than three curves, each curve is drawn in its own panel. The mean is then
    an orange line with diamonds, and the range over the orders of ties is a blue band.
    With more than three curves, each panel also shows all curves as thin lines for
    comparison. With large tie groups, computing a curve can take more than a second
    (see `InterpolatedPrecision`).

    Make the display with `from_result`, or with `from_predictions` or `from_estimator`
    and the options of `precision_recall_curve`.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallCurve, or one such curve
        One curve, or several curves by the name of the system.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        One panel for up to three curves, otherwise one per curve.
    ax_ : matplotlib Axes
        The only panel, if there are at most three curves.

    See Also
    --------
    precision_recall_curve : Computes a curve.
    sklearn.metrics.PrecisionRecallDisplay : Draws curves of classifiers, without
        queries.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionRecallBandDisplay
    >>> web = make_web_search(n_queries=5, random_state=0)
    >>> display = PrecisionRecallBandDisplay.from_predictions(
    ...     web.target, {"clicks": web.data[:, 1]}, qid=web.qid)
    >>> list(display.curves)
    ['clicks']
    """

    curves: Mapping[str, PrecisionRecallCurve]
    _compute = staticmethod(_curves)

    def __post_init__(self) -> None:
        if isinstance(self.curves, PrecisionRecallCurve):
            self.curves = {feature_matrix.ONE_SYSTEM: self.curves}

    def _draw(self, ax: Any) -> None:
        names = _base.short_names(self.curves)
        curves = list(self.curves.values())
        if 1 < len(curves) <= _TOGETHER:
            (axis,) = axes = self._panels(ax, 1, *_LARGE)
            for i, curve in enumerate(curves):
                style = _base.line_style(i)
                _show_band(axis, curve, color=style["color"], alpha=0.25)
                axis.plot(
                    curve.recall, curve.mean, label=_base.plain_text(names[i]), **style
                )
            # An empty band explains the bands in the legend.
            axis.fill_between([], [], color=_base.BLUE, alpha=0.25, label=_base.RANGE)
            _base.show_title(axis, _MEASURE)
        else:
            size = _SMALL
            context = curves
            if len(curves) == 1:
                size = _LARGE
                context = []
            axes = self._panels(ax, len(curves), *size, sharey=True)
            thin = {"color": _base.GREY, "alpha": 0.5, "linewidth": 0.8}
            for axis, name, curve in zip(axes, names, curves, strict=True):
                for system in context:
                    axis.plot(system.recall, system.mean, label="all systems", **thin)
                _show_band(axis, curve, color=_base.SKY, label=_base.RANGE)
                mean = {"color": _base.ORANGE, "label": _base.MEAN}
                axis.plot(curve.recall, curve.mean, **mean, **_base.DIAMOND)
                _base.show_title(axis, f"{_MEASURE}: {name}")
        for axis in axes:
            axis.set(xlim=(-0.02, 1.02), ylim=(0, 1.02), xlabel="recall")
            place = axis.get_subplotspec()
            if place is None or place.is_first_col():
                axis.set_ylabel("mean over queries")


def _show_band(axis: Any, curve: PrecisionRecallCurve, **style: Any) -> None:
    """Draw the range of a curve over the orders of ties."""
    axis.fill_between(curve.recall, curve.worst, curve.best, linewidth=0, **style)
