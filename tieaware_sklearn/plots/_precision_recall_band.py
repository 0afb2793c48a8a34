"""Precision by recall, with what ties leave open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..comparison import ONE_SYSTEM
from ..evaluation import PrecisionRecallCurve, precision_recall_curve
from ._axes import BLACK, BLUE, GREY, MEAN, RANGE, line_style, short, title
from ._display_base import Panels
from ._systems_display import Systems, SystemsDisplay

#: more curves than these have a panel each
_TOGETHER = 3


@dataclass(eq=False)
class PrecisionRecallBandDisplay(SystemsDisplay):
    """Precision-recall curves with bands from the worst to the best order of ties.

    Up to three curves share a panel. With more, each curve has its own panel, where the
    others are thin lines for comparison. With large tie groups, a curve can take more
    than a second (see `InterpolatedPrecision`).

    Make it with `from_curves`, or with `from_predictions` or `from_estimator` and the
    options of `precision_recall_curve`.

    Parameters
    ----------
    curves : dict of str to PrecisionRecallCurve
        Curves by the names of their systems.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        One panel for up to three curves, otherwise one per curve.
    ax_ : matplotlib Axes
        The only panel, for up to three curves.

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

    curves: dict[str, PrecisionRecallCurve]

    @classmethod
    def from_curves(
        cls,
        curves: PrecisionRecallCurve | Mapping[str, PrecisionRecallCurve],
        *,
        ax: Any = None,
    ) -> Self:
        """Plot curves that have been computed.

        Parameters
        ----------
        curves : PrecisionRecallCurve, or mapping of str to such
            One curve, or several by name.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.

        Returns
        -------
        PrecisionRecallBandDisplay
        """
        if isinstance(curves, PrecisionRecallCurve):
            curves = {ONE_SYSTEM: curves}
        return cls(dict(curves)).plot(ax=ax)

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        curves = {
            name: precision_recall_curve(y_true, score, **options)
            for name, score in systems.items()
        }
        return cls.from_curves(curves, ax=ax)

    def _panels(self) -> Panels:
        if len(self.curves) <= _TOGETHER:
            return Panels(1, width=5.6, height=4.4)
        return Panels(len(self.curves), width=3.4, height=2.8, sharey=True)

    def _draw(self, axes: list[Any]) -> None:
        if len(axes) == 1:
            self._draw_together(axes[0])
        else:
            self._draw_apart(axes)
        for axis in axes:
            axis.set(xlim=(-0.02, 1.02), ylim=(0, 1.02), xlabel="recall")
            place = axis.get_subplotspec()
            if place is None or place.is_first_col():
                axis.set_ylabel("interpolated precision,\nmean over queries")

    def _draw_together(self, axis: Any) -> None:
        names = short(list(self.curves))
        for i, curve in enumerate(self.curves.values()):
            style = line_style(i)
            _show_band(axis, curve, style["color"])
            axis.plot(curve.recall, curve.mean, label=names[i], **style)
        axis.fill_between([], [], color=GREY, alpha=0.3, linewidth=0, label=RANGE)

    def _draw_apart(self, axes: list[Any]) -> None:
        names, curves = short(list(self.curves)), list(self.curves.values())
        for axis, name, curve in zip(axes, names, curves, strict=True):
            for other in curves:
                thin = {"color": "#BBBBBB", "linewidth": 0.8, "label": "all systems"}
                axis.plot(other.recall, other.mean, **thin)
            _show_band(axis, curve, BLUE, label=RANGE)
            axis.plot(curve.recall, curve.mean, color=BLACK, label=MEAN)
            title(axis, name)


def _show_band(
    axis: Any, curve: PrecisionRecallCurve, colour: str, **label: Any
) -> None:
    """What the orders of ties make of a curve."""
    band = {"color": colour, "alpha": 0.25, "linewidth": 0, **label}
    axis.fill_between(curve.recall, curve.worst, curve.best, **band)
