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
class PrecisionLossDisplay(_base.Display, of=[PrecisionStudy]):
    """Changes of queries under coarser scores, with a box for each level.

    Make it with `from_result`.

    Parameters
    ----------
    study : PrecisionStudy
        The study to draw.
    system : str, optional
        One of its systems. By default all.

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
    precision_study : Computes the changes.
    PairwisePValueDisplay : Draws the changes of tests of pairs.

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
        study, system = self.study, self.system
        width = min(max(4.0, 0.65 + 0.95 * len(study.levels)), 14)
        (axis,) = self._panels(ax, 1, width, height=4.2)
        chosen = study.systems if system is None else (system,)
        whose = chosen[0] if len(chosen) == 1 else f"{len(chosen)} systems"
        columns = list(map(study.systems.index, chosen))
        # the first level has exact scores
        levels, changes = study.levels[1:], study.changes()[1:, :, columns]
        n = len(levels)
        axis.axhline(0, color=_base.GREY, linewidth=1)
        diamond = {"marker": "D", "mfc": _base.VERMILLION, "mec": "white", "ms": 7}
        dots = {"marker": ".", "mfc": _base.GREY, "mec": "none", "ms": 4, "alpha": 0.5}
        drawn = axis.boxplot(
            [level[~np.isnan(level)] for level in changes],
            positions=np.arange(n),
            widths=0.6,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": _base.SKY, "edgecolor": _base.BLUE},
            medianprops={"color": _base.BLUE, "linewidth": 2},
            whiskerprops={"color": _base.BLUE},
            capprops={"color": _base.BLUE},
            meanprops=diamond,
            flierprops=dots,
        )
        drawn["boxes"][0].set_label("interquartile range and median")
        drawn["means"][0].set_label("mean")
        drawn["fliers"][0].set_label("outlier queries")
        angled = {"rotation": 35, "horizontalalignment": "right"} if n > 5 else {}
        axis.set_xticks(np.arange(n), _base.short(levels), **angled)
        axis.set(
            xlabel="coarseness of scores",
            ylabel=f"change of {_base.plain(study.measure)}, per query",
        )
        _base.title(axis, *_base.short([whose]))
        axis.grid(visible=False, axis="x")


#: smaller p-values are drawn at this value
_FLOOR = 1e-8


@dataclass(eq=False)
class PairwisePValueDisplay(_base.Display):
    """p-values of all pairs of systems, under exact and under coarser scores.

    Make it with `from_result`.

    Parameters
    ----------
    study : PrecisionStudy
        A study of at least two systems.
    level : str, optional
        One of its levels. By default the last.

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
    precision_study : Computes the p-values.
    PrecisionLossDisplay : Draws the changes of queries.

    Notes
    -----
    The plot follows Yang, Moffat and Turpin (AIRS 2016), Figure 4. p-values below 1e-8
    are drawn at the edge, in squares.

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
        level = study.levels[-1] if self.level is None else self.level
        at, alpha = study.levels.index(level), study.alpha
        both, turned = study.pvalues[[0, at]], study.turned()[at]
        there = ~np.isnan(both).any(axis=0)
        before, after = both <= alpha
        least = both[:, there].min(initial=1.0)
        least = min(max(least, _FLOOR), 1e-2, alpha / 2)
        floor = 10.0 ** math.floor(math.log10(least))
        for line in (axis.axvline, axis.axhline):
            line(alpha, color=_base.GREY, linewidth=1, linestyle="--")
        axis.plot([floor, 1], [floor, 1], color=_base.GREY, alpha=0.5, linewidth=1)

        def show(label: str, pairs: Any, **style: Any) -> None:
            chosen = np.maximum(both[:, there & pairs], floor)
            if chosen.size:
                label = f"{label}: {chosen.shape[1]}"
                axis.scatter(*chosen, label=label, clip_on=False, zorder=3, **style)

        quadrants = (
            ("significant in both", before & after, _base.BLUE),
            ("significant in neither", ~before & ~after, _base.SKY),
            ("newly significant", ~before & after, _base.VERMILLION),
            ("no longer significant", before & ~after, _base.ORANGE),
        )
        for i, (label, pairs, colour) in enumerate(quadrants):
            marker = _base.MARKERS[i]
            show(
                label, pairs, color=colour, marker=marker, s=30, alpha=0.8, linewidths=0
            )
        beyond = (both < floor).any(axis=0)
        hollow = {"facecolors": "none", "linewidths": 1}
        show(
            f"p < {floor:.0e}, at the edge",
            beyond,
            s=95,
            marker="s",
            edgecolors=_base.GREY,
            **hollow,
        )
        ink = _base.ink(axis)
        show("better system reversed", turned, s=80, edgecolors=ink, **hollow)
        axis.set(xscale="log", yscale="log", xlim=(floor, 1), ylim=(floor, 1))
        axis.set(
            aspect="equal",
            xlabel="p-value under exact scores",
            ylabel=f"p-value under {level}",
        )
        _base.title(
            axis, f"{_base.plain(study.measure)}, pairs of systems, α = {alpha:g}"
        )
