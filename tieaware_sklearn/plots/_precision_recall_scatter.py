"""Precision and recall of each query, between lines of equal F."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from .._engine import FloatArray, is_number
from ..evaluation import evaluate, means
from ..measures import Precision, Recall
from ._axes import BLACK, BLUE, GREY, RANGE, SKY, short, title
from ._display_base import Panels
from ._systems_display import Systems, SystemsDisplay

#: lines of equal F
_LEVELS = (0.2, 0.4, 0.6, 0.8)
_FIGURES = ("expected", "best", "worst")


@dataclass(eq=False)
class PrecisionRecallScatterDisplay(SystemsDisplay):
    """Precision and recall of each query at a cut-off, with lines of equal F.

    A point is the exact mean over the orders of ties, and a line through it goes from
    the worst to the best order. Each system has a panel. Queries without a relevant
    document are left out.

    Make it with `from_predictions` or `from_estimator` and the options ``k`` (cut-off,
    10 by default; None for all that is retrieved), ``beta`` (1 by default; as in
    `FBeta`), ``rel``, ``unjudged`` and ``n_jobs``.

    Parameters
    ----------
    systems : tuple of str
        Names of the systems.
    precision, recall : ndarray of shape (n_systems, n_queries, 3)
        Expected, best and worst value of each query.
    k : int or None, default=10
        Cut-off.
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
    FBeta : The measure that is equal along a line.

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
    >>> display.precision.shape
    (1, 20, 3)
    """

    systems: tuple[str, ...]
    precision: FloatArray
    recall: FloatArray
    _: KW_ONLY
    k: int | None = 10
    beta: float = 1.0

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        k, rel = options.pop("k", 10), options.pop("rel", 1.0)
        beta = options.pop("beta", 1.0)
        if not is_number(beta, above=0):
            raise ValueError(f"beta must be a finite number > 0, got {beta!r}")
        reports = [
            evaluate(
                y_true,
                score,
                measures=[Precision(k, rel), Recall(k, rel)],
                zero_relevance="skip",
                **options,
            )
            for score in systems.values()
        ]
        # of shape (n_systems, n_queries, 2, 3)
        found = np.stack(
            [
                np.stack([getattr(report, name) for name in _FIGURES], axis=-1)
                for report in reports
            ]
        )
        found = found[:, ~np.isnan(found[0, :, 1, 0])]
        precision, recall = found[:, :, 0], found[:, :, 1]
        return cls(tuple(systems), precision, recall, k=k, beta=beta).plot(ax)

    def _panels(self) -> Panels:
        return Panels(len(self.systems), width=4.2, height=4.0, sharey=True)

    def _draw(self, axes: list[Any]) -> None:
        cut = "" if self.k is None else f"@{self.k}"
        for name, axis, precision, recall in zip(
            short(self.systems), axes, self.precision, self.recall, strict=True
        ):
            self._show_lines(axis)
            differ = precision[:, 1] != precision[:, 2]
            axis.plot(
                recall[differ, 1:].T,
                precision[differ, 1:].T,
                color=SKY,
                linewidth=2.5,
                solid_capstyle="butt",
            )
            axis.plot([], [], color=SKY, linewidth=2.5, label=RANGE)
            dots = {"linestyle": "none", "marker": "o", "markersize": 4}
            axis.plot(
                recall[:, 0], precision[:, 0], color=BLUE, alpha=0.7, label="query",
                **dots,
            )  # fmt: skip
            axis.plot(
                means(recall[:, :1]),
                means(precision[:, :1]),
                linestyle="none",
                marker="*",
                markersize=13,
                color=BLACK,
                markeredgecolor="white",
                label="mean over queries",
            )
            axis.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=f"recall{cut}")
            title(axis, name)
        axes[0].set_ylabel(f"precision{cut}")

    def _show_lines(self, axis: Any) -> None:
        """Lines of equal F, with their values at the right edge."""
        square = self.beta**2
        for level in _LEVELS:
            # from where precision is 1
            least = level * square / (1 + square - level)
            recall = np.linspace(least, 1, 200)
            precision = level * recall / ((1 + square) * recall - square * level)
            axis.plot(
                recall,
                precision,
                color=GREY,
                linewidth=0.8,
                linestyle="--",
                label="equal F" if self.beta == 1 else f"equal F(beta={self.beta:g})",
            )
            axis.annotate(
                f"{level:g}",
                (1.0, precision[-1]),
                xytext=(3, 0),
                textcoords="offset points",
                color=GREY,
                fontsize="small",
                va="center",
                annotation_clip=False,
            )
