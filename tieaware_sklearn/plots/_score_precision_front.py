"""Effectiveness against score precision."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _base


@dataclass(eq=False)
class ScorePrecisionDisplay(_base.Display):
    """Trials of a `ScorePrecisionObjective`, their Pareto front, and the chosen trial.

    Make it with `from_result`.

    Parameters
    ----------
    study : optuna.study.Study
        A study of a `ScorePrecisionObjective`.
    keep : float, default=0.99
        As in `coarsest`.
    alpha : float, default=0.05
        As in `coarsest`. The trial that it chooses is marked, if there is one.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The only panel, in a list.
    ax_ : matplotlib Axes
        The only panel.

    See Also
    --------
    tieaware_sklearn.optuna.ScorePrecisionObjective : The objective of the trials.
    tieaware_sklearn.optuna.coarsest : Chooses the marked trial.

    Examples
    --------
    >>> import matplotlib, optuna
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.optuna import ScorePrecisionObjective
    >>> from tieaware_sklearn.plots import ScorePrecisionDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> objective = ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=12)
    >>> display = ScorePrecisionDisplay.from_result(study, keep=0.9)
    >>> display.figure_.savefig("front.png")  # doctest: +SKIP
    """

    study: Any
    keep: float = 0.99
    alpha: float = 0.05

    def _draw(self, ax: Any) -> None:
        from ..optuna import _score_precision_objective as search

        (axis,) = self._panels(ax, 1, width=6.4, height=4.6)
        trials = search.complete_trials(self.study)
        about = trials[0].user_attrs
        axis.axhline(
            about["exact"], color=_base.GREY, linestyle="--", label="exact scores"
        )
        axis.set_xlabel("bits of a score (log2 of a query's number of distinct scores)")
        axis.set_ylabel(f"{about['measure']}, mean over queries")
        points = np.array([trial.values[::-1] for trial in trials])
        axis.scatter(
            *points.T, s=25, color=_base.GREY, alpha=0.35, linewidths=0, label="trial"
        )
        optimal = {trial.number for trial in self.study.best_trials}
        front = points[[trial.number in optimal for trial in trials]]
        front = front[np.argsort(front[:, 0], kind="stable")]
        axis.step(
            *front.T,
            where="post",
            color=_base.BLUE,
            linewidth=1.5,
            marker=".",
            label="best trade-offs (Pareto front)",
        )
        with suppress(search.AllInferiorError):
            chosen = search.coarsest(self.study, keep=self.keep, alpha=self.alpha)
            point = chosen.values[::-1]
            axis.scatter(
                *point,
                s=225,
                facecolors="none",
                edgecolors=_base.VERMILLION,
                linewidths=2,
                label=f"coarsest that keeps {100 * self.keep:g}%",
            )
            axis.annotate(
                chosen.user_attrs["coarseness"],
                point,
                xytext=(12, -22),
                textcoords="offset points",
                color=_base.ink(axis),
            )
