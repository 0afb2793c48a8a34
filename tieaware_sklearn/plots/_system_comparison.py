"""Means of systems, and bars that join systems without a significant difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._typing import IndexArray
from ..comparison import SystemComparison, _text, compare_systems
from . import _base

#: Sizes in inches: distance of two bars beside a panel, and room for all bars.
_DISTANCE, _ROOM = 0.13, 2.0


@dataclass(eq=False)
class SystemComparisonDisplay(_base.SystemsDisplay, draws=[SystemComparison]):
    """Means of systems, and bars that join systems without a significant difference.

    A diamond is the mean, a blue bar is the range over the orders of ties, and a thin
    line is the 95% interval. The system with the best mean by the first measure and
    treatment of ties is on top. Green bars with dots beside the panel join systems. If
    all pairs are compared, no two systems with dots on the same green bar differ
    significantly, and two systems without a common green bar differ significantly. With
    baselines, a green bar joins each baseline to the systems that do not differ
    significantly from the baseline.

    Make the display with `from_result`, or with `from_predictions` or `from_estimator`
    and the options of `compare_systems`.

    Parameters
    ----------
    comparison : SystemComparison
        The comparison to draw.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        One panel per measure and treatment of ties.
    ax_ : matplotlib Axes
        The only panel, if there is one measure and one treatment.

    Raises
    ------
    ValueError
        If `comparison` is not a `SystemComparison`, but for example a mapping of
        several comparisons.

    See Also
    --------
    compare_systems : Computes the means and tests the differences.
    SystemComparison.summary : Lists the systems that are significantly worse than each
        system.
    TieRangeDisplay : Draws the ranges of the means over the orders of ties.

    Notes
    -----
    The green bars are the bars of critical difference diagrams (Demšar 2006), for
    paired tests of all pairs. Paired tests can find that the first of three systems
    differs from the second but not from the third. A green bar may therefore pass the
    row of a system that does not belong to the bar. Only systems with a dot on the bar
    belong to the bar.

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
                "comparison must be a SystemComparison, as returned by "
                f"compare_systems, got {type(self.comparison).__name__}"
            )

    def _draw(self, ax: Any) -> None:
        # matplotlib is an optional dependency.
        from matplotlib.transforms import ScaledTranslation

        comparison = self.comparison
        summary = comparison.summary()
        order = comparison._best_first(summary.mean)
        axes = self._panels_of_rows(ax, len(comparison), len(order))
        names = _base.short_names([comparison.systems[i] for i in order])
        average = f"{words.AVERAGES[comparison.average]} over queries"
        label = f"not significantly different ({_text.level(comparison, '>')})"
        style = {"color": _base.GREEN, "marker": "o", "markersize": 4}
        for k, (axis, part) in enumerate(zip(axes, comparison, strict=True)):
            # The summary lists all systems of one part, then of the next.
            rows = k * len(order) + order
            ends = np.stack([summary.worst[rows], summary.best[rows]], 1)
            _base.show_ranges(axis, ends)
            _base.show_intervals(axis, summary.interval[rows])
            (title,) = part.measures
            mean_label = _base.MEAN
            if part.ties != (_text.EXPECTED,):
                mean_label = "mean, ties as in the title"
                title += f", ties: {part.ties[0]}"
            _base.show_means(axis, summary.mean[rows], mean_label)
            _base.show_rows(axis, names)
            groups = _groups(part, order)
            distance = min(_DISTANCE, _ROOM / max(len(groups), 1))
            for i, places in enumerate(groups):
                inches = axis.figure.dpi_scale_trans
                shift = ScaledTranslation((i + 1) * distance, 0, inches)
                right_edge = np.ones(len(places))
                axis.plot(
                    right_edge,
                    places,
                    transform=axis.get_yaxis_transform() + shift,
                    clip_on=False,
                    label=label,
                    **style,
                )
            _base.show_average(axis, average, not part.greater_is_better[0])
            _base.show_title(axis, title)


def _groups(comparison: SystemComparison, order: IndexArray) -> list[IndexArray]:
    """Return groups of rows whose systems do not differ significantly.

    Each pair of such systems is in a group. The groups are as large as possible, and
    cover the pairs from the top down.
    """
    better = comparison._better()
    is_equal = np.zeros_like(better)
    is_equal[tuple(comparison.pairs.T)] = True
    is_equal &= ~better & ~better.T
    is_equal |= is_equal.T
    is_equal = is_equal[np.ix_(order, order)]
    groups = []
    if comparison.baselines:
        for name in comparison.baselines:
            row = order.tolist().index(comparison.systems.index(name))
            members = np.flatnonzero(is_equal[row])
            if members.size:
                groups.append(np.union1d(members, row))
        return groups
    uncovered = np.triu(is_equal)
    while uncovered.any():
        members = np.argwhere(uncovered)[0].tolist()
        for row in range(len(order)):
            # No system equals itself, so members are not added again.
            if is_equal[row, members].all():
                members.append(row)
        groups.append(np.sort(members))
        uncovered[np.ix_(members, members)] = False
    return groups
