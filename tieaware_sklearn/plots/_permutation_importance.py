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
class PermutationImportanceDisplay(_base.Display, of=[PermutationImportance]):
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
        result = self.importance
        shown = np.argsort(result.ranking)[: self.max_features]
        axes = self._panels_of_rows(ax, len(result.measures), len(shown))
        names = _base.short([result.columns[j] for j in shown])
        how = "permuted within queries" if result.within_queries else "permuted"
        for m, (axis, measure) in enumerate(zip(axes, result.measures, strict=True)):
            lost = result.importances_mean[shown, m]
            axis.barh(
                np.arange(len(shown)),
                lost,
                height=0.62,
                color=_base.SKY,
                label=f"column {how}: mean loss",
            )
            _base.show_intervals(axis, result.interval[shown, m], result.confidence)
            axis.axvline(0, color=_base.GREY, linewidth=1)
            _base.show_rows(axis, names)
            axis.set_xlabel(f"loss of {_base.plain(measure)}")
            _base.title(
                axis,
                f"{_base.plain(measure)} "
                f"(unpermuted: {words.number(result.baseline[m])})",
            )
        if more := len(result.columns) - len(shown):
            # below the names, beside the numbers of the scale
            axes[0].annotate(
                f"… {more} more",
                xy=(0, 0),
                xycoords="axes fraction",
                xytext=(-20, -4),
                textcoords="offset points",
                color=_base.GREY,
                fontsize="small",
                horizontalalignment="right",
                verticalalignment="top",
            )
