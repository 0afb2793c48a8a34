"""Means of systems, and bars that join those without a significant difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._typing import IndexArray
from ..comparison import SystemComparison, _text, compare_systems
from . import _base

#: in inches: distance of two bars beside a panel, and room for all of them
_APART, _ROOM = 0.13, 2.0


@dataclass(eq=False)
class SystemComparisonDisplay(_base.SystemsDisplay, of=[SystemComparison]):
    """Means of systems with intervals, and bars that join those which may be equal.

    The system with the best mean by the first measure is on top. Dots on one bar are
    systems of which no two differ significantly. Two systems without a bar in common
    do. With baselines, there is a bar for each of them: it has the systems that do not
    differ significantly from this baseline. Make it with `from_result`, or with
    `from_predictions` or `from_estimator` and the options of `compare_systems`.

    Parameters
    ----------
    comparison : SystemComparison
        The comparison to draw.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        One panel per measure and treatment of ties.
    ax_ : matplotlib Axes
        The only panel, if there is one measure and one treatment.

    Raises
    ------
    ValueError
        If `comparison` is no SystemComparison, such as a mapping of several.

    See Also
    --------
    compare_systems : Computes the means and tests the differences.
    SystemComparison.summary : Has the same as letters.
    TieRangeDisplay : Draws the ranges of the means over the orders of ties.

    Notes
    -----
    The bars are those of critical difference diagrams (Demšar 2006), for paired tests
    of all pairs. Such tests can find that of three systems the first and the second
    differ, but neither the first and the third. So a bar may pass by a system: only
    those with a dot belong to it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import SystemComparisonDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = dict(zip(web.feature_names[:5], web.data.T))
    >>> display = SystemComparisonDisplay.from_predictions(
    ...     web.target, systems, qid=web.qid, measure=["ap", "rr"])
    >>> display.figure_.savefig("systems.png")  # doctest: +SKIP
    """

    comparison: SystemComparison
    _compute = staticmethod(compare_systems)

    def __post_init__(self) -> None:
        if not isinstance(self.comparison, SystemComparison):
            raise ValueError(
                "comparison must be one SystemComparison, as compare_systems returns "
                f"it, got a {type(self.comparison).__name__}"
            )

    def _draw(self, ax: Any) -> None:
        from matplotlib.transforms import ScaledTranslation

        every, summary = self.comparison, self.comparison.summary()
        order = every._best_first(summary.mean)
        axes = self._panels_of_rows(ax, len(every), len(order))
        names = _base.short([every.systems[i] for i in order])
        average = words.AVERAGES[every.average]
        level = _text.level(every, ">")
        for k, (axis, one) in enumerate(zip(axes, every, strict=True)):
            rows = k * len(order) + order
            _base.show_intervals(axis, summary.interval[rows])
            _base.show_ticks(axis, summary.mean[rows], average)
            _base.show_rows(axis, names)
            groups = _groups(one, order)
            apart = min(_APART, _ROOM / max(len(groups), 1))
            for i, places in enumerate(groups):
                inches = (i + 1) * apart, 0, axis.figure.dpi_scale_trans
                beside = axis.get_yaxis_transform() + ScaledTranslation(*inches)
                axis.plot(
                    np.ones(len(places)),
                    places,
                    transform=beside,
                    color=_base.GREY,
                    marker="o",
                    markersize=4,
                    clip_on=False,
                    label=f"not significantly different ({level})",
                )
            axis.set_xlabel(f"{_base.plain(one.measures[0])}, {average} over queries")
            if one.ties != (_text.EXPECTED,):
                _base.title(axis, _base.plain(f"ties: {one.ties[0]}"))


def _groups(one: SystemComparison, order: IndexArray) -> list[IndexArray]:
    """Rows of systems without a significant difference: each such pair shares one.

    The groups are as large as they can be, and cover the pairs from the top down.
    """
    better = one._better()
    equal = np.zeros_like(better)
    equal[tuple(one.pairs.T)] = True
    equal &= ~better & ~better.T
    equal = (equal | equal.T)[np.ix_(order, order)]
    if one.baselines:
        at = [order.tolist().index(one.systems.index(name)) for name in one.baselines]
        return [np.flatnonzero(equal[i] | (np.arange(len(order)) == i)) for i in at]
    groups, left = [], np.triu(equal)
    while left.any():
        members = np.argwhere(left)[0].tolist()
        for row in range(len(order)):
            if equal[row, members].all():  # none equals itself
                members.append(row)
        groups.append(np.sort(members))
        left[np.ix_(members, members)] = False
    return groups
