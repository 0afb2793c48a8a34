"""Values on held-out queries by the number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import check_flag
from ..inspection import SelectionCurve, selection_curve
from ._base import GREY, Display, Panels, line_style, plain, short


@dataclass(eq=False)
class SelectionCurveDisplay(Display):
    """A measure on held-out queries by the number of features, with intervals.

    Make it with `from_curve` or `from_estimator`.

    Parameters
    ----------
    curve : SelectionCurve
        The result to draw.
    differences : bool, default=False
        Whether to draw the differences from the first selector.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last `plot`.
    axes_ : list of matplotlib Axes
        The only panel.
    ax_ : matplotlib Axes
        The only panel.

    See Also
    --------
    selection_curve : Computes the curve.
    FeatureScreeningDisplay : Draws the scores of features alone, without a ranker.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import SelectionCurveDisplay
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> display = SelectionCurveDisplay.from_estimator(
    ...     RankingFeatureSelector("ap"), Ridge(), web.data, web.target, qid=web.qid,
    ...     measure="ap", n_features=[1, 3, 6])
    >>> display.curve.mean.shape, display.curve.n_features
    ((1, 3), (1, 3, 6))
    """

    curve: SelectionCurve
    differences: bool = False

    @classmethod
    def from_curve(
        cls, curve: SelectionCurve, *, differences: bool = False, ax: Any = None
    ) -> Self:
        """Plot the result of `selection_curve`.

        Parameters
        ----------
        curve : SelectionCurve
            The result to draw.
        differences : bool, default=False
            Whether to draw the differences from the first selector, paired by query,
            instead of the means. Their intervals are narrower.
        ax : matplotlib Axes, optional
            Axes to draw into.

        Returns
        -------
        SelectionCurveDisplay

        Raises
        ------
        ValueError
            If differences are asked for, and there is only one selector.
        """
        check_flag(differences, "differences")
        if differences and len(curve.selectors) < 2:
            raise ValueError(
                "differences must be of at least two selectors, got only "
                f"{curve.selectors[0]!r}"
            )
        return cls(curve, differences).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        selectors: Any,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        differences: bool = False,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Compute the curve by cross-validation, and plot it.

        Parameters
        ----------
        selectors : selector or mapping of str to selector
            Selectors, by name.
        estimator : ranker, regressor, classifier or pipeline
            What is trained on the selected features.
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            Features.
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), or str or int
            Query of each row, or the column of X that holds it.
        differences, ax
            As in `from_curve`.
        **options
            As in `selection_curve`.

        Returns
        -------
        SelectionCurveDisplay

        Raises
        ------
        ValueError
            As in `selection_curve` and `from_curve`.
        """
        curve = selection_curve(selectors, estimator, X, y, qid=qid, **options)
        return cls.from_curve(curve, differences=differences, ax=ax)

    def _panels(self) -> Panels:
        return Panels(1, width=6.4, height=4.2)

    def _draw(self, axes: list[Any]) -> None:
        (axis,) = axes
        found, first = self.curve, int(self.differences)
        value, interval = found.mean, found.interval
        label, height = f"all {len(found.feature_names)} features", found.mean_all
        axis.set_ylabel(f"{plain(found.measure)} on held-out queries")
        if self.differences:
            value, interval = found.difference, found.difference_interval
            label, height = f"{plain(found.selectors[0])}, as many features", 0
            axis.set_ylabel(f"difference in {plain(found.measure)}")
        if len(found.n_features) > 1:
            axis.set_xscale("log")
        names = short(found.selectors[first:])
        for s, name in enumerate(names):
            # beside each other, so that intervals do not hide each other
            x = np.array(found.n_features) * 1.025 ** (s - (len(names) - 1) / 2)
            style = line_style(s)
            axis.plot(x, value[first + s], label=name, **style)
            ends = interval[first + s].T
            axis.vlines(x, *ends, color=style["color"], linewidth=1.2)
        axis.axhline(height, color=GREY, linestyle=":", label=label)
        axis.set_xticks(found.n_features, [str(k) for k in found.n_features])
        axis.set_xticks([], minor=True)
        share = f"{found.confidence:.0%}"
        axis.set_xlabel(f"number of features (bars: {share} intervals over queries)")
