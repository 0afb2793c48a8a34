"""What coarser scores change of the tests of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ..score_precision import PrecisionStudy
from ._axes import BLUE, GREY, MARKERS, ORANGE, SKY, VERMILLION, legend, panels, tidy
from ._inputs import study_of

#: smaller p values are drawn here
_FLOOR = 1e-8


@dataclass(eq=False)
class PairwisePValueDisplay:
    """p values of all pairs of systems, under exact and under coarser scores.

    Make it with `from_study` or `from_predictions`.

    Parameters
    ----------
    exact, coarse : ndarray of shape (n_pairs,)
        p values.
    turned : ndarray of shape (n_pairs,), bool
        Pairs whose better system is the other one now.
    level : str
    measure : str
    alpha : float

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016), Figure 4. p values below 1e-8 are drawn at
    the edge.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PairwisePValueDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> display = PairwisePValueDisplay.from_predictions(
    ...     web.target, web.data[:, :5], qid=web.qid, coarseness="rho=2")
    >>> len(display.exact)
    10
    """

    exact: FloatArray
    coarse: FloatArray
    turned: Any
    level: str
    measure: str
    alpha: float

    @classmethod
    def from_study(
        cls, study: PrecisionStudy, *, level: str | None = None, ax: Any = None
    ) -> PairwisePValueDisplay:
        """Plot the pairs of a study at one level.

        Parameters
        ----------
        study : PrecisionStudy
            Of at least two systems.
        level : str, optional
            One of ``study.levels``; by default the last.
        ax : matplotlib Axes, optional

        Returns
        -------
        PairwisePValueDisplay

        Raises
        ------
        ValueError
            For a study of one system, and an unknown level.
        """
        if not len(study.pairs):
            raise ValueError("study must have at least two systems, got one")
        name = study.levels[-1] if level is None else level
        check_choice(name, "level", study.levels)
        at = study.levels.index(name)
        return cls(
            exact=study.pvalues[0],
            coarse=study.pvalues[at],
            turned=study.turned()[at],
            level=name,
            measure=study.measure,
            alpha=study.alpha,
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Any,
        *,
        qid: Any = None,
        coarseness: Any = "rho=1.1",
        ax: Any = None,
        **options: Any,
    ) -> PairwisePValueDisplay:
        """Study systems at one level of coarseness, and plot their pairs.

        Parameters
        ----------
        y_true, y_scores, qid
            As in `precision_study`.
        coarseness : float, str or mapping, default="rho=1.1"
            One level, as in `precision_study`.
        ax : matplotlib Axes, optional
        **options
            Further parameters of `precision_study`.

        Returns
        -------
        PairwisePValueDisplay

        Raises
        ------
        ValueError
            As in `precision_study`.
        """
        options["coarseness"] = coarseness
        return cls.from_study(study_of(y_true, y_scores, qid, options), ax=ax)

    def plot(self, ax: Any = None) -> PairwisePValueDisplay:
        """Draw it: four quadrants by significance before and after.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        PairwisePValueDisplay
            Itself, with `figure_` and `ax_`.
        """
        self.figure_, (self.ax_,) = panels(ax, 1, width=5.4, height=5.4)
        axis = self.ax_
        there = ~(np.isnan(self.exact) | np.isnan(self.coarse))
        both = np.stack([self.exact[there], self.coarse[there]])
        before, after = both <= self.alpha
        least = max(float(both.min(initial=1.0)), _FLOOR)
        floor = 10.0 ** math.floor(math.log10(min(least, 1e-2, self.alpha / 2)))
        x, y = np.maximum(both, floor)
        turned = np.asarray(self.turned)[there]
        kinds = (
            ("significant in both", before & after, BLUE),
            ("in neither", ~before & ~after, SKY),
            ("newly significant", ~before & after, VERMILLION),
            ("no longer significant", before & ~after, ORANGE),
        )
        axis.axvline(self.alpha, color=GREY, linewidth=1, linestyle="--")
        axis.axhline(self.alpha, color=GREY, linewidth=1, linestyle="--")
        axis.plot([floor, 1], [floor, 1], color="#BBBBBB", linewidth=1)
        for (label, chosen, colour), marker in zip(kinds, MARKERS, strict=False):
            axis.scatter(
                x[chosen],
                y[chosen],
                s=30,
                color=colour,
                marker=marker,
                alpha=0.8,
                linewidths=0,
                label=f"{label}: {int(chosen.sum())}",
                clip_on=False,
                zorder=3,
            )
        if turned.any():
            axis.scatter(
                x[turned],
                y[turned],
                s=80,
                facecolors="none",
                edgecolors="black",
                label=f"the other one better: {int(turned.sum())}",
                clip_on=False,
                zorder=4,
            )
        axis.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(floor, 1))
        axis.set_aspect("equal")
        tidy(axis)
        axis.set_xlabel("p value under exact scores")
        axis.set_ylabel(f"p value under {self.level}")
        axis.set_title(
            f"{self.measure}, pairs of systems, α = {self.alpha:g}",
            loc="left",
            fontsize="medium",
        )
        legend(self.figure_, [axis], ax is None)
        return self
