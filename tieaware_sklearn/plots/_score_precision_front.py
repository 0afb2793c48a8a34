"""Effectiveness against score precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine.ties import FloatArray
from ._axes import BLUE, CYCLE, GREY, MARKERS, VERMILLION, legend, panels, tidy


@dataclass(eq=False)
class ScorePrecisionDisplay:
    """Trials of a `ScorePrecisionObjective`, their Pareto front, and the coarsest.

    Make it with `from_study`.

    Parameters
    ----------
    values, bits : ndarray of shape (n_trials,)
        Mean of the measure, and bits of the scores.
    kinds, names : list of str
        Kind and text of each trial's coarseness.
    front : ndarray of int
        Trials of the Pareto front, by their bits.
    exact : float
        Mean under the exact scores.
    chosen : int or None
        The coarsest trial that is not inferior.
    tolerance : float
    measure : str

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

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
    >>> display = ScorePrecisionDisplay.from_study(study, tolerance=0.9)
    >>> len(display.values)
    12
    """

    values: FloatArray
    bits: FloatArray
    kinds: list[str]
    names: list[str]
    front: Any
    exact: float
    chosen: int | None
    tolerance: float
    measure: str

    @classmethod
    def from_study(
        cls, study: Any, *, tolerance: float = 0.99, alpha: float = 0.05, ax: Any = None
    ) -> ScorePrecisionDisplay:
        """Plot a study.

        Parameters
        ----------
        study : optuna.study.Study
            Of a `ScorePrecisionObjective`.
        tolerance, alpha
            As in `coarsest`; the trial that it chooses is marked, if there is one.
        ax : matplotlib Axes, optional

        Returns
        -------
        ScorePrecisionDisplay

        Raises
        ------
        ValueError
            For a study without a complete trial of the objective, and a tolerance
            or level outside of (0, 1].
        """
        from ..optuna import coarsest
        from ..optuna._score_precision_objective import NothingKept, complete_trials

        trials = complete_trials(study)
        numbers = [trial.number for trial in trials]
        try:
            chosen = numbers.index(coarsest(study, tolerance, alpha).number)
        except NothingKept:
            chosen = None
        best = {trial.number for trial in study.best_trials}
        bits = np.array([trial.values[1] for trial in trials])
        front = [i for i in np.argsort(bits, kind="stable") if numbers[i] in best]
        return cls(
            values=np.array([trial.values[0] for trial in trials]),
            bits=bits,
            kinds=[trial.params["kind"] for trial in trials],
            names=[trial.user_attrs["coarseness"] for trial in trials],
            front=np.array(front, dtype=np.int64),
            exact=float(trials[0].user_attrs["exact"]),
            chosen=chosen,
            tolerance=float(tolerance),
            measure=trials[0].user_attrs["measure"],
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> ScorePrecisionDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        ScorePrecisionDisplay
            Itself, with `figure_` and `ax_`.
        """
        self.figure_, (self.ax_,) = panels(ax, 1, width=6.4, height=4.6)
        axis = self.ax_
        axis.axhline(
            self.exact, color=GREY, linewidth=1.5, linestyle="--", label="exact scores"
        )
        kinds = sorted(set(self.kinds))
        for kind in kinds:
            at = [i for i, other in enumerate(self.kinds) if other == kind]
            number = ("rho", "bits", "decimals", "significant", "levels").index(kind)
            axis.plot(
                self.bits[at],
                self.values[at],
                linestyle="none",
                marker=MARKERS[number],
                color=CYCLE[number],
                alpha=0.6,
                markersize=6,
                label=kind,
            )
        axis.step(
            self.bits[self.front],
            self.values[self.front],
            where="post",
            color=BLUE,
            linewidth=1.2,
            label="Pareto front",
        )
        if self.chosen is not None:
            point = self.bits[self.chosen], self.values[self.chosen]
            axis.plot(
                *point,
                linestyle="none",
                marker="o",
                markersize=15,
                markerfacecolor="none",
                markeredgecolor=VERMILLION,
                markeredgewidth=2,
                label=f"coarsest > {100 * self.tolerance:g} %",
            )
            axis.annotate(
                self.names[self.chosen],
                point,
                xytext=(12, -22),
                textcoords="offset points",
                color=VERMILLION,
            )
        axis.set_xlabel("bits of a score (log2 of the distinct scores of a query)")
        axis.set_ylabel(f"{self.measure}, mean over queries")
        tidy(axis)
        legend(self.figure_, [axis], ax is None)
        return self
