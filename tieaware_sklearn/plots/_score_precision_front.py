"""Effectiveness against score precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._engine import FloatArray
from ..score_precision import KINDS
from ._base import BLUE, CYCLE, GREY, MARKERS, VERMILLION, Display, Panels


@dataclass(eq=False)
class ScorePrecisionDisplay(Display):
    """Trials of a `ScorePrecisionObjective`, their Pareto front, and the chosen trial.

    Make it with `from_study`.

    Parameters
    ----------
    values, bits : ndarray of shape (n_trials,)
        Mean of the measure, and bits of the scores.
    coarseness : list of str
        Coarseness of each trial, such as ``"rho=1.1"``.
    front : ndarray of int
        Indices of the trials of the Pareto front, in the order of their bits.
    exact : float
        Mean of the measure under the exact scores.
    chosen : int or None
        Index of the coarsest trial that is not inferior.
    keep : float
        Share of the exact mean that the chosen trial keeps.
    measure : str
        Name of the measure.

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
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> objective = ScorePrecisionObjective(web.target, web.data[:, 5], qid=web.qid)
    >>> study = objective.create_study(seed=0)
    >>> study.optimize(objective, n_trials=12)
    >>> display = ScorePrecisionDisplay.from_study(study, keep=0.9)
    >>> len(display.values)
    12
    """

    values: FloatArray
    bits: FloatArray
    coarseness: list[str]
    front: Any
    exact: float
    chosen: int | None
    keep: float
    measure: str

    @classmethod
    def from_study(
        cls, study: Any, *, keep: float = 0.99, alpha: float = 0.05, ax: Any = None
    ) -> Self:
        """Plot a study.

        Parameters
        ----------
        study : optuna.study.Study
            A study of a `ScorePrecisionObjective`.
        keep, alpha
            As in `coarsest`. The trial that it chooses is marked, if there is one.
        ax : matplotlib Axes, optional
            Axes to draw into.

        Returns
        -------
        ScorePrecisionDisplay

        Raises
        ------
        ValueError
            If the study has no complete trial of the objective, or if `keep` or `alpha`
            is out of range.
        """
        from ..optuna import NothingKept, coarsest, complete_trials

        trials = complete_trials(study)
        numbers = [trial.number for trial in trials]
        try:
            best = coarsest(study, keep=keep, alpha=alpha)
            chosen = numbers.index(best.number)
        except NothingKept:
            chosen = None
        values, bits = np.array([trial.values for trial in trials]).T
        optimal = [trial.number for trial in study.best_trials]
        front = np.flatnonzero(np.isin(numbers, optimal))
        return cls(
            values=values,
            bits=bits,
            coarseness=[trial.user_attrs["coarseness"] for trial in trials],
            front=front[np.argsort(bits[front], kind="stable")],
            exact=float(trials[0].user_attrs["exact"]),
            chosen=chosen,
            keep=float(keep),
            measure=trials[0].user_attrs["measure"],
        ).plot(ax)

    def _panels(self) -> Panels:
        return Panels(1, width=6.4, height=4.6)

    def _draw(self, axes: list[Any]) -> None:
        (axis,) = axes
        axis.axhline(self.exact, color=GREY, linestyle="--", label="exact scores")
        kinds = np.array([text.partition("=")[0] for text in self.coarseness])
        for kind, colour, marker in zip(KINDS, CYCLE, MARKERS, strict=False):
            at = kinds == kind
            if at.any():
                style = {"color": colour, "marker": marker, "alpha": 0.6}
                axis.scatter(self.bits[at], self.values[at], label=kind, **style)
        front = self.bits[self.front], self.values[self.front]
        line = {"color": BLUE, "linewidth": 1.2}
        axis.step(*front, where="post", label="Pareto front", **line)
        if self.chosen is not None:
            point = self.bits[self.chosen], self.values[self.chosen]
            label = f"coarsest that keeps over {100 * self.keep:g}%"
            ring = {"facecolors": "none", "edgecolors": VERMILLION, "linewidths": 2}
            axis.scatter(*point, s=225, label=label, **ring)
            beside = {"xytext": (12, -22), "textcoords": "offset points"}
            text = self.coarseness[self.chosen]
            axis.annotate(text, point, color=VERMILLION, **beside)
        axis.set_xlabel("bits of a score (log2 of a query's number of distinct scores)")
        axis.set_ylabel(f"{self.measure}, mean over queries")
