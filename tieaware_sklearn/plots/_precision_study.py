"""Effects of coarser scores on single queries and on tests of pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine import checks
from ..score_precision import PrecisionStudy
from . import _base


@dataclass(eq=False)
class PrecisionLossDisplay(_base.Display, draws=[PrecisionStudy]):
    """Changes in the values of queries under coarser scores, with a box for each level.

    A box shows the quartiles of the changes. A diamond is the unweighted mean of all
    changes at the level.

    Make the display with `from_result`.

    Parameters
    ----------
    study : PrecisionStudy
        The study to draw.
    system : str, optional
        One system of the study. By default, each box shows the changes of all systems
        together.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        The only panel, in a list.
    ax_ : matplotlib Axes
        The only panel.

    Raises
    ------
    ValueError
        If `system` is not a system of the study.

    See Also
    --------
    precision_study : Computes the changes.
    PairwisePValueDisplay : Draws how the p-values of pairs change.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 3.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn import precision_study
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionLossDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> study = precision_study(
    ...     web.target, web.data[:, 5], qid=web.qid, coarseness=["rho=1.2", "rho=2"])
    >>> display = PrecisionLossDisplay.from_result(study)
    >>> display.figure_.savefig("changes.png")  # doctest: +SKIP
    """

    study: PrecisionStudy
    system: str | None = None

    def __post_init__(self) -> None:
        if self.system is not None:
            checks.check_choice(self.system, "system", self.study.systems)

    def _draw(self, ax: Any) -> None:
        study = self.study
        # The first level is left out, because it contains the exact scores.
        levels = study.levels[1:]
        changes = study.changes()[1:]
        title = f"{len(study.systems)} systems"
        if self.system is not None:
            title = self.system
            changes = changes[:, :, study.systems.index(self.system)]
        elif len(study.systems) == 1:
            title = study.systems[0]
        # In inches: 0.95 for each box, and the margins.
        width = 1.6 + 0.95 * len(levels)
        width = max(4.0, width)
        (axis,) = self._panels(ax, 1, width, height=4.2)
        axis.axhline(0, color=_base.GREY, linewidth=1)
        blue = {"color": _base.BLUE}
        median = {"color": _base.BLUE, "linewidth": 2}
        # Boxes are hollow, because a filled bar is a range over the orders of ties.
        dot = {"marker": ".", "mec": _base.BLUE, "ms": 4, "alpha": 0.5}
        defined = [change[~np.isnan(change)] for change in changes]
        positions = range(len(levels))
        artists = axis.boxplot(
            defined,
            positions=positions,
            widths=0.6,
            showmeans=True,
            boxprops=blue,
            medianprops=median,
            whiskerprops=blue,
            capprops=blue,
            meanprops=_base.DIAMOND,
            flierprops=dot,
        )
        artists["boxes"][0].set_label("interquartile range and median")
        artists["means"][0].set_label("mean over queries")
        artists["fliers"][0].set_label("outlier queries")
        text_style = {}
        if len(levels) > 5:
            text_style = {"rotation": 35, "horizontalalignment": "right"}
        axis.set_xticks(positions, _base.short_names(levels), **text_style)
        axis.set_xlabel("coarseness of scores")
        axis.set_ylabel("change per query")
        (title,) = _base.short_names([title])
        _base.show_title(axis, f"{study.measure}: {title}")
        axis.grid(visible=False, axis="x")


#: Smallest p-value for which the axes are extended.
_FLOOR = 1e-8


@dataclass(eq=False)
class PairwisePValueDisplay(_base.Display):
    """p-values of all pairs of systems, under exact and under coarser scores.

    Make the display with `from_result`.

    Parameters
    ----------
    study : PrecisionStudy
        A study of at least two systems.
    level : str, optional
        The level of the study to compare with exact scores. By default, the last level
        is drawn.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        The only panel, in a list.
    ax_ : matplotlib Axes
        The only panel.

    Raises
    ------
    ValueError
        If the study contains only one system, or if `level` is not a level of the
        study.

    See Also
    --------
    precision_study : Computes the p-values.
    PrecisionLossDisplay : Draws the changes of queries.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 4. A pair with a
    p-value below 1e-8 is drawn at the edge, in a square.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn import precision_study
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PairwisePValueDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> study = precision_study(
    ...     web.target, web.data[:, :5], qid=web.qid, coarseness="rho=2")
    >>> display = PairwisePValueDisplay.from_result(study, level="rho=2")
    >>> len(display.study.pairs)
    10
    """

    study: PrecisionStudy
    level: str | None = None

    def __post_init__(self) -> None:
        if not len(self.study.pairs):
            raise ValueError("study must have at least two systems, got one")
        if self.level is not None:
            checks.check_choice(self.level, "level", self.study.levels)

    def _draw(self, ax: Any) -> None:
        (axis,) = self._panels(ax, 1, width=5.4, height=5.4)
        study = self.study
        alpha = study.alpha
        level = self.level
        if level is None:
            level = study.levels[-1]
        index = study.levels.index(level)
        # The first level contains the exact scores.
        pvalues = study.pvalues[[0, index]]
        is_defined = ~np.isnan(pvalues).any(axis=0)
        smallest = pvalues[:, is_defined].min(initial=1.0)
        # The axes contain alpha and at least two powers of 10.
        smallest = min(max(smallest, _FLOOR), 1e-2, alpha / 2)
        floor = 10.0 ** math.floor(math.log10(smallest))
        dashed = {"color": _base.GREY, "linewidth": 1, "linestyle": "--"}
        axis.axvline(alpha, **dashed)
        axis.axhline(alpha, **dashed)
        limits = floor, 1
        axis.plot(limits, limits, color=_base.GREY, alpha=0.5, linewidth=1)

        def show(label: str, pairs: Any, **style: Any) -> None:
            exact, coarse = np.maximum(pvalues[:, is_defined & pairs], floor)
            if len(exact):
                style["label"] = f"{label}: {len(exact)}"
                axis.scatter(exact, coarse, clip_on=False, zorder=3, **style)

        before, after = pvalues <= alpha
        filled = {"s": 30, "alpha": 0.8, "linewidths": 0}
        for label, pairs, colour, marker in (
            ("significant in both", before & after, _base.BLUE, "o"),
            ("significant in neither", ~before & ~after, _base.SKY, "s"),
            ("newly significant", ~before & after, _base.VERMILLION, "^"),
            ("no longer significant", before & ~after, _base.PURPLE, "v"),
        ):
            show(label, pairs, color=colour, marker=marker, **filled)
        hollow = {"facecolors": "none", "linewidths": 1}
        is_beyond = (pvalues < floor).any(axis=0)
        label = f"p < {floor:.0e}, at the edge"
        show(label, is_beyond, s=95, marker="s", edgecolors=_base.GREEN, **hollow)
        ink = _base.text_colour(axis)
        reversed_pairs = study.turned()[index]
        show("better system reversed", reversed_pairs, s=80, edgecolors=ink, **hollow)
        axis.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
        axis.set_aspect("equal")
        axis.set_xlabel("p-value under exact scores")
        axis.set_ylabel(f"p-value under {level}")
        title = f"{study.measure}, pairs of systems, α = {alpha:g}"
        _base.show_title(axis, title)
