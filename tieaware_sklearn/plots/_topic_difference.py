"""Differences of two systems, query by query."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._display import number
from .._engine import FloatArray
from ..comparison import SystemComparison, compare_systems
from ..evaluation import NO_DIFFERENCE, mean
from ._base import (
    BLACK,
    BLUE,
    GREY,
    SKY,
    VERMILLION,
    Panels,
    Systems,
    SystemsDisplay,
    plain,
    short,
    title,
)

#: so many queries have their ids below them
_NAMED = 40
#: width of the panel in inches, and in points what all bars share of it
_WIDTH = 7.0
_POINTS = 430.0


@dataclass(eq=False)
class TopicDifferenceDisplay(SystemsDisplay):
    """Differences of two systems on each query, with the range that ties leave open.

    The bars are the differences A - B of the exact means, sorted. The line on a bar
    goes from the smallest to the largest difference over all orders of ties. Make it
    with `from_comparison`, or with `from_predictions` or `from_estimator` and the
    options of `compare_systems`.

    Parameters
    ----------
    systems : tuple of str
        Names of A and B.
    measure : str
        Name of the measure.
    qid : ndarray of shape (n_queries,)
        Query ids.
    difference : ndarray of shape (n_queries,)
        Value of A minus value of B.
    tie_range : ndarray of shape (n_queries, 2)
        Smallest and largest difference over all orders of ties.
    greater_is_better : bool, default=True
        Whether A is better where the difference is positive.

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
    The orders of the ties of A and of B are independent, so that the range of a query
    goes from (worst of A - best of B) to (best of A - worst of B).

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
    >>> len(display.difference)
    50
    """

    systems: tuple[str, str]
    measure: str
    qid: NDArray[Any]
    difference: FloatArray
    tie_range: FloatArray
    _: KW_ONLY
    greater_is_better: bool = True

    @classmethod
    def from_comparison(
        cls,
        comparison: SystemComparison,
        *,
        pair: tuple[str, str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot two systems of a comparison.

        Parameters
        ----------
        comparison : SystemComparison
            The comparison to draw. Queries where one of the two systems is undefined
            are left out.
        pair : tuple of two str, optional
            Names of A and B; by default the first pair of the comparison.
        ax : matplotlib Axes, optional
            Axes to draw into.

        Returns
        -------
        TopicDifferenceDisplay

        Raises
        ------
        ValueError
            If the comparison has only one system, is of several measures or
            treatments of ties, or does not have the pair.
        """
        first, second = _pair(comparison, pair)
        names = comparison.systems
        a, b = names.index(first), names.index(second)
        # best is the smallest where lower is better
        ends = np.stack([comparison.worst, comparison.best])
        smallest, largest = ends.min(axis=0), ends.max(axis=0)
        difference = comparison.expected[:, a] - comparison.expected[:, b]
        tie_range = [smallest[:, a] - largest[:, b], largest[:, a] - smallest[:, b]]
        there = ~np.isnan(difference)
        if not there.any():
            raise ValueError(
                f"comparison must have a query where {first} and {second} are defined, "
                "got none"
            )
        return cls(
            (first, second),
            comparison.measures[0],
            comparison.qid[there],
            difference[there],
            np.column_stack(tie_range)[there],
            greater_is_better=bool(comparison.greater_is_better[0]),
        ).plot(ax)

    @classmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        pair = options.pop("pair", None)
        found = compare_systems(y_true, systems, **options)
        return cls.from_comparison(found, pair=pair, ax=ax)

    def _panels(self) -> Panels:
        return Panels(1, width=_WIDTH, height=4.2)

    def _draw(self, axes: list[Any]) -> None:
        (axis,) = axes
        n = len(self.difference)
        side = 1 if self.greater_is_better else -1
        order = np.argsort(-side * self.difference, kind="stable")
        difference, (low, high) = self.difference[order], self.tie_range[order].T
        up, down = low > NO_DIFFERENCE, high < -NO_DIFFERENCE
        equal = (np.abs(low) <= NO_DIFFERENCE) & (np.abs(high) <= NO_DIFFERENCE)
        a_better, b_better = (up, down) if side > 0 else (down, up)
        first, second = short(self.systems)
        kinds = (
            (f"{first} better in every order of ties", a_better, BLUE),
            (f"{second} better in every order of ties", b_better, VERMILLION),
            ("depends on the order of ties", ~(up | down | equal), SKY),
            ("no difference", equal, GREY),
        )
        places = np.arange(n)
        width = 0.8 if n <= _NAMED else 1.0
        for label, chosen, colour in kinds:
            if chosen.any():
                bars = places[chosen], difference[chosen], width
                axis.bar(*bars, color=colour, label=f"{label}: {chosen.sum()}")
        tied = high - low > NO_DIFFERENCE
        if tied.any():
            thin = min(1.4, 0.5 * _POINTS / n)
            ends = places[tied], low[tied], high[tied]
            label = "range over all orders of ties"
            axis.vlines(*ends, color=BLACK, linewidth=thin, label=label)
        axis.axhline(0, color=GREY, linewidth=1)
        average = mean(self.difference)
        label = f"mean over queries: {number(average)}"
        axis.axhline(average, color=BLACK, linestyle="--", linewidth=1, label=label)
        axis.set_xlim(-0.5 - 0.01 * n, n - 0.5 + 0.01 * n)
        axis.grid(visible=False, axis="x")
        if n <= _NAMED:
            names = short([str(one) for one in self.qid[order].tolist()])
            axis.set_xticks(places, names, rotation=90, fontsize="small")
            axis.tick_params(axis="x", length=0)
        else:
            axis.set_xticks([])
        axis.set_xlabel(f"{n} queries, sorted by difference")
        axis.set_ylabel(f"difference of {plain(self.measure)}")
        title(axis, f"{first} − {second}")


def _pair(comparison: SystemComparison, pair: Any) -> tuple[str, str]:
    """Names of A and B, checked."""
    if len(comparison) > 1:
        raise ValueError(
            "comparison must be by one measure under one treatment of ties; choose one "
            f"by its key, such as comparison[{comparison.measures[0]!r}, "
            f"{comparison.ties[0]!r}]"
        )
    names = comparison.systems
    if len(names) < 2:
        raise ValueError(f"comparison must have at least two systems, got {names}")
    if pair is None:
        first, second = comparison.pairs[0].tolist()
        return names[first], names[second]
    chosen = tuple(pair) if isinstance(pair, (tuple, list)) else ()
    if len(chosen) != 2 or chosen[0] == chosen[1] or not set(chosen) <= set(names):
        raise ValueError(f"pair must be two different names of {names}, got {pair!r}")
    return chosen
