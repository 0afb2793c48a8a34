"""Precision and recall: averages with their ranges under ties, and single queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine import checks, messages
from ..comparison import _systems
from ..evaluation import (
    PrecisionRecallCurve,
    RankingReport,
    _averages,
    evaluate,
    precision_recall_curve,
)
from ..measures import Precision, Recall
from . import _base

#: more curves than these have a panel each
_TOGETHER = 3


@dataclass(eq=False)
class PrecisionRecallBandDisplay(_base.SystemsDisplay, of=[PrecisionRecallCurve]):
    """Precision-recall curves with bands from the worst to the best order of ties.

    Up to three curves share a panel. With more, each curve has its own panel, where the
    others are thin lines for comparison. With large tie groups, a curve can take more
    than a second (see `InterpolatedPrecision`).

    Make it with `from_result`, or with `from_predictions` or `from_estimator` and the
    options of `precision_recall_curve`.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallCurve, or one such curve
        Curves by name of the system.

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

    curves: Mapping[str, PrecisionRecallCurve]
    _compute = staticmethod(_base.of_each(precision_recall_curve))

    def __post_init__(self) -> None:
        if isinstance(self.curves, PrecisionRecallCurve):
            self.curves = {_systems.ONE_SYSTEM: self.curves}

    def _draw(self, ax: Any) -> None:
        names, curves = _base.short(list(self.curves)), list(self.curves.values())
        band = {"alpha": 0.25, "linewidth": 0}
        if len(curves) <= _TOGETHER:
            axes = self._panels(ax, 1, width=5.6, height=4.4)
            for i, (name, curve) in enumerate(zip(names, curves, strict=True)):
                style = _base.line_style(i)
                ends = curve.recall, curve.worst, curve.best
                axes[0].fill_between(*ends, color=style["color"], **band)
                axes[0].plot(curve.recall, curve.mean, label=name, **style)
            sample = band | {"alpha": 0.3, "color": _base.GREY, "label": _base.RANGE}
            axes[0].fill_between([], [], **sample)
        else:
            axes = self._panels(ax, len(curves), width=3.4, height=2.8, sharey=True)
            thin = {"color": _base.GREY, "alpha": 0.5, "lw": 0.8}
            bold = {"color": _base.BLUE, "linewidth": 2, "label": _base.MEAN}
            blue = band | {"color": _base.BLUE, "label": _base.RANGE}
            for axis, name, curve in zip(axes, names, curves, strict=True):
                for other in curves:
                    axis.plot(other.recall, other.mean, label="all systems", **thin)
                axis.fill_between(curve.recall, curve.worst, curve.best, **blue)
                axis.plot(curve.recall, curve.mean, **bold)
                _base.title(axis, name)
        for axis in axes:
            axis.set(xlim=(-0.02, 1.02), ylim=(0, 1.02), xlabel="recall")
            place = axis.get_subplotspec()
            if place is None or place.is_first_col():
                axis.set_ylabel("interpolated precision,\nmean over queries")


def _report(
    y_true: Any, y_score: Any, *, k: int | None = 10, rel: float = 1.0, **options: Any
) -> RankingReport:
    """Measure precision and recall of queries with a relevant document."""
    measures = [Precision(k, rel), Recall(k, rel)]
    return evaluate(
        y_true, y_score, measures=measures, zero_relevance="skip", **options
    )


#: lines of equal F
_LEVELS = (0.2, 0.4, 0.6, 0.8)


@dataclass(eq=False)
class PrecisionRecallScatterDisplay(_base.SystemsDisplay):
    """Precision and recall of each query at a cut-off, with lines of equal F.

    A point is the exact mean over the orders of ties, and a line through it goes from
    the worst to the best order. Each system has a panel. Queries without a relevant
    document are left out.

    Make it with `from_result`, or with `from_predictions` or `from_estimator` and the
    options ``k`` (cut-off, 10 by default; None for all that is retrieved), ``rel`` and
    those of `evaluate`.

    Parameters
    ----------
    reports : mapping of str to RankingReport
        Reports of precision and recall at one cut-off, by name of the system.
    beta : float, default=1.0
        Weight of recall in F, as in `FBeta`.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        One panel per system.
    ax_ : matplotlib Axes
        The only panel, for one system.

    See Also
    --------
    PrecisionRecallBandDisplay : Draws averages over queries at all recall levels.
    FBeta : The measure that is constant along a line.

    Notes
    -----
    Where F is equal to f, precision is f R / ((1 + β²) R - β² f) for a recall of R (van
    Rijsbergen, Information Retrieval, 1979, chapter 7).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionRecallScatterDisplay
    >>> web = make_web_search(n_queries=20, random_state=0)
    >>> display = PrecisionRecallScatterDisplay.from_predictions(
    ...     web.target, {"clicks": web.data[:, 1]}, qid=web.qid, k=5)
    >>> display.reports["clicks"].measures
    ('P@5', 'R@5')
    """

    reports: Mapping[str, RankingReport]
    beta: float = 1.0
    _compute = staticmethod(_base.of_each(_report))
    _options = ("beta",)

    def __post_init__(self) -> None:
        fits = checks.is_number(self.beta, above=0)
        messages.require(fits, "beta must be a finite number > 0", self.beta)

    def _draw(self, ax: Any) -> None:
        axes = self._panels(ax, len(self.reports), width=4.2, height=4.0, sharey=True)
        line = {"color": _base.SKY, "linewidth": 1, "alpha": 0.5}
        dots = {"ls": "none", "marker": "o", "ms": 4, "color": _base.BLUE, "alpha": 0.7}
        star = {"ls": "none", "marker": "*", "ms": 13, "mec": "white"}
        names = _base.short(list(self.reports))
        for name, axis, report in zip(names, axes, self.reports.values(), strict=True):
            self._show_lines(axis)
            # precision and recall of queries with a relevant document
            there = ~np.isnan(report.expected[:, 1])
            figures = report.expected, report.best, report.worst
            mean, best, worst = (values[there].T for values in figures)
            differ = best[0] != worst[0]
            precision, recall = np.stack([best, worst], axis=1)[..., differ]
            axis.plot(recall, precision, **line)
            axis.plot([], [], label=_base.RANGE, **line)
            axis.plot(mean[1], mean[0], label="query", **dots)
            middle = _averages.means(mean.T)
            ink, label = _base.ink(axis), "mean over queries"
            axis.plot(*middle[::-1, None], color=ink, label=label, **star)
            cut = "".join(report.measures[1].partition("@")[1:])
            axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=f"recall{cut}")
            _base.title(axis, name)
        axes[0].set_ylabel(f"precision{cut}")

    def _show_lines(self, axis: Any) -> None:
        """Draw lines of equal F, with their values at the right edge."""
        square = self.beta**2
        for level in _LEVELS:
            # a line of equal F begins where precision is 1
            least = level * square / (1 + square - level)
            recall = np.linspace(least, 1, 200)
            precision = level * recall / ((1 + square) * recall - square * level)
            label = "equal F" if self.beta == 1 else f"equal F(beta={self.beta:g})"
            thin = {"color": _base.GREY, "linewidth": 0.8, "linestyle": "--"}
            axis.plot(recall, precision, label=label, **thin)
            beside = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
            look = {"color": _base.GREY, "fontsize": "small", "annotation_clip": False}
            axis.annotate(f"{level:g}", (1.0, precision[-1]), **beside, **look)
