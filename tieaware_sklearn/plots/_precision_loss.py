"""What coarser scores change on each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ..score_precision import PrecisionStudy
from ._axes import BLUE, GREY, SKY, VERMILLION, legend, panels, short, tidy
from ._inputs import study_of


@dataclass(eq=False)
class PrecisionLossDisplay:
    """What coarser scores change on each query: a box per level of coarseness.

    Make it with `from_study` or `from_predictions`.

    Parameters
    ----------
    levels : tuple of str
    changes : list of ndarray
        Per level, the value of each query under coarser scores less the exact one.
    measure : str
    systems : str
        Whose queries they are.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016), Figure 3.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionLossDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> display = PrecisionLossDisplay.from_predictions(
    ...     web.target, web.data[:, 5], qid=web.qid, coarseness=["rho=1.2", "rho=2"])
    >>> display.levels
    ('rho=1.2', 'rho=2')
    """

    levels: tuple[str, ...]
    changes: list[FloatArray]
    measure: str
    systems: str

    @classmethod
    def from_study(
        cls, study: PrecisionStudy, *, system: str | None = None, ax: Any = None
    ) -> PrecisionLossDisplay:
        """Plot the queries of one system of a study, or of all.

        Parameters
        ----------
        study : PrecisionStudy
        system : str, optional
            One of ``study.systems``; by default all.
        ax : matplotlib Axes, optional

        Returns
        -------
        PrecisionLossDisplay

        Raises
        ------
        ValueError
            For a system that is not of the study.
        """
        changes = study.changes()[1:]
        whose = f"{len(study.systems)} systems"
        if system is not None or len(study.systems) == 1:
            name = study.systems[0] if system is None else system
            check_choice(name, "system", study.systems)
            changes = changes[:, :, [study.systems.index(name)]]
            whose = name
        each = [level[~np.isnan(level)] for level in changes]
        return cls(study.levels[1:], each, study.measure, whose).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Any,
        *,
        qid: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> PrecisionLossDisplay:
        """Study systems, or one column of scores, and plot the queries of all.

        Parameters
        ----------
        y_true, y_scores, qid
            As in `precision_study`.
        ax : matplotlib Axes, optional
        **options
            Further parameters of `precision_study`.

        Returns
        -------
        PrecisionLossDisplay

        Raises
        ------
        ValueError
            As in `precision_study`.
        """
        return cls.from_study(study_of(y_true, y_scores, qid, options), ax=ax)

    def plot(self, ax: Any = None) -> PrecisionLossDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        PrecisionLossDisplay
            Itself, with `figure_` and `ax_`.
        """
        n = len(self.levels)
        width = min(max(4.0, 1.6 + 0.95 * n), 14)
        self.figure_, (self.ax_,) = panels(ax, 1, width=width, height=4.2)
        axis = self.ax_
        axis.axhline(0, color=GREY, linewidth=1)
        drawn = axis.boxplot(
            self.changes,
            positions=np.arange(n),
            widths=0.6,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": SKY, "edgecolor": BLUE},
            medianprops={"color": BLUE, "linewidth": 2},
            whiskerprops={"color": BLUE},
            capprops={"color": BLUE},
            meanprops={
                "marker": "D",
                "markerfacecolor": VERMILLION,
                "markeredgecolor": "white",
                "markersize": 7,
            },
            flierprops={
                "marker": ".",
                "markersize": 4,
                "markerfacecolor": GREY,
                "markeredgecolor": "none",
                "alpha": 0.5,
            },
        )
        parts = {
            "middle half, median": drawn["boxes"][0],
            "mean": drawn["means"][0],
            "single queries, far out": drawn["fliers"][0],
        }
        for label, artist in parts.items():
            artist.set_label(label)
        axis.set_xticks(np.arange(n), short(self.levels))
        if n > 5:
            axis.tick_params(axis="x", labelrotation=35)
            for label in axis.get_xticklabels():
                label.set_horizontalalignment("right")
        axis.set_xlabel("coarseness of scores")
        axis.set_ylabel(f"change of {self.measure}, per query")
        axis.set_title(short([self.systems])[0], loc="left", fontsize="medium")
        tidy(axis)
        axis.grid(visible=False, axis="x")
        legend(self.figure_, [axis], ax is None)
        return self
