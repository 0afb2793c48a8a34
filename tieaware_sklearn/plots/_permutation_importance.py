"""Permutation importance of the columns of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._engine import checks
from ..inspection import PermutationImportance
from . import _base


@dataclass(eq=False)
class PermutationImportanceDisplay(_base.Display, draws=[PermutationImportance]):
    """Permutation importances of columns, with intervals over queries.

    Make it with `from_result`.

    Parameters
    ----------
    importance : PermutationImportance
        The result to draw.
    max_features : int, default=20
        Number of columns to show, the most important ones by the first measure.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        One panel per measure.
    ax_ : matplotlib Axes
        The only panel, if there is one measure.

    See Also
    --------
    query_permutation_importance : Computes the importances.
    FeatureScreeningDisplay : Draws the scores of features alone, without a ranker.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import query_permutation_importance
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PermutationImportanceDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> importance = query_permutation_importance(
    ...     Ridge().fit(web.data, web.target), web.data, web.target, qid=web.qid,
    ...     measures="ndcg@10",
    ...     columns={name: j for j, name in enumerate(web.feature_names)})
    >>> display = PermutationImportanceDisplay.from_result(importance, max_features=5)
    >>> display.importance.columns[display.importance.importances_mean.argmax()]
    'log_clicks'
    """

    importance: PermutationImportance
    max_features: int = 20

    def __post_init__(self) -> None:
        checks.check_count(self.max_features, "max_features")

    def _draw(self, ax: Any) -> None:
        importance = self.importance
        shown = np.argsort(importance.ranking)[: self.max_features]
        rows = np.arange(len(shown))
        axes = self._panels_of_rows(ax, len(importance.measures), len(shown))
        names = _base.short_names([importance.columns[j] for j in shown])
        label = "column permuted: mean loss"
        if importance.within_queries:
            label = "column permuted within queries: mean loss"
        for m, axis in enumerate(axes):
            losses = importance.importances_mean[shown, m]
            axis.barh(rows, losses, height=0.62, color=_base.SKY, label=label)
            interval = importance.interval[shown, m]
            _base.show_intervals(axis, interval, importance.confidence)
            axis.axvline(0, color=_base.GREY, linewidth=1)
            _base.show_rows(axis, names)
            measure = _base.plain_text(importance.measures[m])
            axis.set_xlabel(f"loss of {measure}")
            baseline = words.number(importance.baseline[m])
            _base.show_title(axis, f"{measure} (unpermuted: {baseline})")
        n_hidden = len(importance.columns) - len(shown)
        if n_hidden:
            # The note is below the names, to the left of the numbers of the scale.
            axes[0].annotate(
                f"… {n_hidden} more",
                xy=(0, 0),
                xycoords="axes fraction",
                xytext=(-20, -4),
                textcoords="offset points",
                color=_base.GREY,
                fontsize="small",
                horizontalalignment="right",
                verticalalignment="top",
            )
