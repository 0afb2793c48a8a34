"""Differences of two systems, query by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._engine import checks
from ..comparison import SystemComparison, compare_systems
from ..statistics.averages import largest_values, weighted_mean, without_rounding
from . import _base

#: up to this number of queries, all ids are shown, beyond those at both ends
_NAMED = 40
#: width of the panel in inches, and the total width of bars in points
_WIDTH = 7.0
_POINTS = 430.0


@dataclass(eq=False)
class TopicDifferenceDisplay(_base.SystemsDisplay):
    """Differences of two systems on each query, with the range over orders of ties.

    The bars are the differences A - B of the exact means, sorted. The line on a bar
    goes from the smallest to the largest difference over all orders of ties. Make it
    with `from_result`, or with `from_predictions` or `from_estimator` and the
    options of `compare_systems`.

    Parameters
    ----------
    comparison : SystemComparison
        A comparison by one measure under one treatment of ties. Queries where one of
        the two systems is undefined are left out.
    pair : tuple of two str, optional
        Names of A and B. By default the first pair of the comparison.

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
    compare_systems : Computes the values.
    SystemComparison.by_query : Has the values of each query as a table.
    TieRangeDisplay : Draws the means of systems.

    Notes
    -----
    The orders of the ties of A and of B are independent. So the range of a query goes
    from (worst of A - best of B) to (best of A - worst of B).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import TopicDifferenceDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
    >>> display = TopicDifferenceDisplay.from_predictions(
    ...     web.target, systems, qid=web.qid, measure="rr")
    >>> len(display.comparison.qid)
    50
    """

    comparison: SystemComparison
    pair: tuple[str, str] | None = None
    _compute = staticmethod(compare_systems)
    _options = ("pair",)

    def __post_init__(self) -> None:
        comparison = self.comparison
        if len(comparison) != 1:
            raise ValueError(
                "comparison must be by one measure under one treatment of ties; choose "
                f"one by its key, such as comparison[{comparison.measures[0]!r}, "
                f"{comparison.ties[0]!r}]"
            )
        if len(comparison.systems) < 2:
            raise ValueError(
                f"comparison must have at least two systems, got {comparison.systems}"
            )
        for name in self.pair or ():
            checks.check_choice(name, "pair", comparison.systems)

    def _draw(self, ax: Any) -> None:
        (axis,) = self._panels(ax, 1, width=_WIDTH, height=4.2)
        comparison, names = self.comparison, self.comparison.systems
        a, b = map(names.index, self.pair) if self.pair else comparison.pairs[0]
        first, second = _base.short([names[a], names[b]])
        difference = comparison.expected[:, a] - comparison.expected[:, b]
        side = 1 if comparison.greater_is_better[0] else -1
        # queries where a value is undefined come last
        n = np.count_nonzero(~np.isnan(difference))
        if not n:
            raise ValueError(
                f"comparison must have a query where {first} and {second} are defined, "
                "got none"
            )
        order = np.argsort(-side * difference, kind="stable")[:n]
        average = weighted_mean(difference, comparison.query_weight)
        difference = difference[order]
        # where lower is better, best is the smallest value
        ends = comparison.worst[order], comparison.best[order]
        smallest, largest = np.sort(ends, axis=0)
        low, high = smallest[:, a] - largest[:, b], largest[:, a] - smallest[:, b]
        largest = largest_values(comparison.expected[:, [a, b]]).max()
        low, high = (without_rounding(ends, largest) for ends in (low, high))
        up, down, equal = low > 0, high < 0, (low == 0) & (high == 0)
        a_better, b_better = (up, down) if side > 0 else (down, up)
        kinds = (
            (f"{first} better", a_better, _base.BLUE),
            (f"{second} better", b_better, _base.VERMILLION),
            ("depends on ties", ~(up | down | equal), _base.SKY),
            ("no difference", equal, _base.GREY),
        )
        places = np.arange(n)
        for label, chosen, colour in kinds:
            if chosen.any():
                axis.bar(
                    places[chosen],
                    difference[chosen],
                    width=0.8 if n <= _NAMED else 1.0,
                    color=colour,
                    label=f"{label}: {chosen.sum()}",
                )
        tied = without_rounding(high - low, largest) > 0
        if tied.any():
            axis.vlines(
                places[tied],
                low[tied],
                high[tied],
                color=_base.ink(axis),
                linewidth=min(1.4, 0.5 * _POINTS / n),
                label="range over orders of ties",
            )
        axis.axhline(0, color=_base.GREY, linewidth=1)
        axis.axhline(average, color=_base.ink(axis), linestyle="--", linewidth=1)
        axis.annotate(
            f"mean\n{words.number(average)}",
            (1, average),
            xycoords=axis.get_yaxis_transform(),
            xytext=(3, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
        axis.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
        axis.grid(visible=False, axis="x")
        ids = _base.short(map(str, comparison.qid[order].tolist()))
        axis.tick_params(axis="x", length=0)
        if n <= _NAMED:
            axis.set_xticks(places, ids, rotation=90, fontsize="small")
        else:
            axis.set_xticks([0, n - 1], [ids[0], ids[-1]], fontsize="small")
            first_id, last_id = axis.get_xticklabels()
            first_id.set_ha("left")
            last_id.set_ha("right")
        axis.set_xlabel(f"{n} queries, sorted by difference")
        axis.set_ylabel(f"difference of {_base.plain(comparison.measures[0])}")
        _base.title(axis, f"{first} − {second}")
