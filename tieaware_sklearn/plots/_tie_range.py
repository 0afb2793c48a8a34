"""What ties leave open of each system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.ties import FloatArray
from ..comparison import SystemComparison
from ..evaluation import evaluate
from ..measures import Measure, parse_measures
from ._axes import legend, panels, plain, show_ranges
from ._inputs import each_system, predictions


@dataclass(eq=False)
class TieRangeDisplay:
    """Mean of each system, with the best and worst that orders of its ties can make.

    Make it with `from_predictions`, `from_estimator` or `from_comparison`.

    Parameters
    ----------
    systems : tuple of str
    measures : tuple of str
    mean, best, worst : ndarray of shape (n_systems, n_measures)
    average : str, default="mean over queries"
        What they are.
    lower_is_better : bool, default=False
        Whether the lowest mean of the first measure is on top.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        A panel per measure.

    Notes
    -----
    Yang, Moffat and Turpin (AIRS 2016), Figure 2.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import TieRangeDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> systems = {name: web.data[:, j] for j, name in enumerate(web.feature_names[:3])}
    >>> display = TieRangeDisplay.from_predictions(web.target, systems, qid=web.qid)
    >>> display.figure_.savefig("ties.png")  # doctest: +SKIP
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    average: str = "mean over queries"
    lower_is_better: bool = False

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Any,
        *,
        qid: Any = None,
        measures: str | Measure | Iterable[str | Measure] = "ndcg@10",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        ax: Any = None,
    ) -> TieRangeDisplay:
        """Measure and plot systems.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Labels.
        y_scores : mapping, data frame or array-like, or one column of scores
            As in `compare_systems`.
        qid, measures, zero_relevance, unjudged
            As in `evaluate`.
        ax : matplotlib Axes or list of them, optional
            One per measure.

        Returns
        -------
        TieRangeDisplay

        Raises
        ------
        ValueError
            As in `evaluate`.
        """
        parsed = parse_measures(measures)
        names, columns = each_system(y_true, y_scores)
        summaries = [
            evaluate(
                y_true,
                column,
                qid=qid,
                measures=parsed,
                zero_relevance=zero_relevance,
                unjudged=unjudged,
            ).summary()
            for column in columns
        ]
        averages, best, worst = (
            np.stack([getattr(summary, name) for summary in summaries])
            for name in ("mean", "best", "worst")
        )
        return cls(
            names,
            tuple(map(str, parsed)),
            averages,
            best,
            worst,
            lower_is_better=not parsed[0].greater_is_better,
        ).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        measures: str | Measure | Iterable[str | Measure] = "ndcg@10",
        response_method: str | Sequence[str] = "predict",
        zero_relevance: float | str = 0.0,
        unjudged: str = "raise",
        ax: Any = None,
    ) -> TieRangeDisplay:
        """Rank by fitted estimators, measure and plot.

        Parameters
        ----------
        estimator : fitted estimator, or mapping of str to such
        X : array-like or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels.
        qid, measures, zero_relevance, unjudged
            As in `evaluate`.
        response_method
            As in `make_ranking_scorer`.
        ax : matplotlib Axes or list of them, optional
            One per measure.

        Returns
        -------
        TieRangeDisplay

        Raises
        ------
        ValueError
            As in `evaluate`, and for scores that are NaN.
        """
        return cls.from_predictions(
            y,
            predictions(estimator, X, response_method, qid),
            qid=qid,
            measures=measures,
            zero_relevance=zero_relevance,
            unjudged=unjudged,
            ax=ax,
        )

    @classmethod
    def from_comparison(
        cls, comparison: SystemComparison, *, ax: Any = None
    ) -> TieRangeDisplay:
        """Plot the systems of `compare_systems`.

        Parameters
        ----------
        comparison : SystemComparison
        ax : matplotlib Axes, optional

        Returns
        -------
        TieRangeDisplay
        """
        averages = comparison.summary()
        middle, best, worst = (
            getattr(averages, name)[:, None] for name in ("mean", "best", "worst")
        )
        return cls(
            comparison.systems,
            (comparison.measure,),
            middle,
            best,
            worst,
            lower_is_better=not comparison.greater_is_better,
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> TieRangeDisplay:
        """Draw it: a row per system, the best on top, a panel per measure.

        Parameters
        ----------
        ax : matplotlib Axes or list of them, optional
            One per measure.

        Returns
        -------
        TieRangeDisplay
            Itself, with `figure_` and `axes_`.
        """
        side = 1 if self.lower_is_better else -1
        order = np.argsort(side * self.mean[:, 0], kind="stable")
        height = 1.4 + 0.32 * len(order)
        self.figure_, self.axes_ = panels(
            ax, len(self.measures), width=5.0, height=max(height, 2.4), sharey=True
        )
        names = [self.systems[i] for i in order]
        for j, (axis, measure) in enumerate(
            zip(self.axes_, self.measures, strict=True)
        ):
            show_ranges(
                axis,
                names,
                self.mean[order, j],
                self.worst[order, j],
                self.best[order, j],
            )
            axis.set_xlabel(f"{plain(measure)}, {self.average}")
        legend(self.figure_, self.axes_, ax is None)
        return self
