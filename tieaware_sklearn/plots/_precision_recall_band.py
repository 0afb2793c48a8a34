"""Precision by recall, with what ties leave open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..evaluation import PrecisionRecallCurve, precision_recall_curve
from ._axes import line_style, short, title
from ._display_base import Panels
from ._systems_display import Systems, SystemsDisplay


@dataclass(eq=False)
class PrecisionRecallBandDisplay(SystemsDisplay):
    """Precision-recall curves with bands from the worst to the best order of ties.

    Where ties are long, a curve takes a second and more (see `InterpolatedPrecision`).

    Make it with `from_curves`, or with `from_predictions` or `from_estimator` and the
    options of `precision_recall_curve`.

    Parameters
    ----------
    curves : dict of str to PrecisionRecallCurve

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
    ax_ : matplotlib Axes
        The only panel.

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
        """Plot curves that are there.

        Parameters
        ----------
        curves : PrecisionRecallCurve, or mapping of str to such
        ax : matplotlib Axes, optional

        Returns
        -------
        PrecisionRecallBandDisplay
        """
        if isinstance(curves, PrecisionRecallCurve):
            curves = {"precision": curves}
        return cls(dict(curves)).plot(ax=ax)

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        curves = {
            name: precision_recall_curve(y_true, score, **options)
            for name, score in systems.items()
        }
        return cls.from_curves(curves, ax=ax)

    def _panels(self) -> Panels:
        return Panels(1, width=5.6, height=4.4)

    def _draw(self, axes: list[Any]) -> None:
        (axis,) = axes
        names = short(list(self.curves))
        for i, curve in enumerate(self.curves.values()):
            style = line_style(i)
            band = {"color": style["color"], "alpha": 0.2, "linewidth": 0}
            axis.fill_between(curve.recall, curve.worst, curve.best, **band)
            axis.plot(curve.recall, curve.mean, label=names[i], **style)
        axis.set(xlim=(-0.02, 1.02), ylim=(0, 1.02))
        axis.set(xlabel="recall", ylabel="interpolated precision, mean over queries")
        title(axis, "band: worst to best order of ties")
