"""Values on held-out queries by the number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import FloatArray, check_flag
from ..inspection import SelectionCurve, selection_curve
from ._base import GREY, Display, Panels, line_style, plain, short


@dataclass(eq=False)
class SelectionCurveDisplay(Display):
    """A measure on held-out queries by the number of features, with intervals.

    Make it with `from_curve` or `from_estimator`.

    Parameters
    ----------
    selectors : tuple of str
        Names of the selectors that are shown.
    n_features : tuple of int
        Numbers of features.
    measure : str
        Name of the measure.
    value : ndarray of shape (n_selectors, n_sizes)
        Mean over held-out queries, or its difference from the baseline.
    interval : ndarray of shape (n_selectors, n_sizes, 2)
        Interval of `value` over queries.
    value_all : float
        Mean with all features; NaN where differences are shown.
    n_all : int
        Number of all features.
    baseline : str or None
        Name of the selector that differences are to, None where means are shown.
    confidence : float
        Confidence level of the intervals.

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
    >>> display.value.shape, display.n_features
    ((1, 3), (1, 3, 6))
    """

    selectors: tuple[str, ...]
    n_features: tuple[int, ...]
    measure: str
    value: FloatArray
    interval: FloatArray
    value_all: float
    n_all: int
    baseline: str | None
    confidence: float

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
        first = int(differences)
        value = curve.difference if differences else curve.mean
        interval = curve.difference_interval if differences else curve.interval
        return cls(
            selectors=curve.selectors[first:],
            n_features=curve.n_features,
            measure=curve.measure,
            value=value[first:],
            interval=interval[first:],
            value_all=float(np.nan if differences else curve.mean_all),
            n_all=len(curve.feature_names),
            baseline=curve.selectors[0] if differences else None,
            confidence=curve.confidence,
        ).plot(ax)

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
        if len(self.n_features) > 1:
            axis.set_xscale("log")
        n_lines = len(self.selectors)
        for s, name in enumerate(short(self.selectors)):
            # beside each other, so that intervals do not hide each other
            shift = 1.025 ** (s - (n_lines - 1) / 2)
            x = np.array(self.n_features) * shift
            style = line_style(s)
            axis.plot(x, self.value[s], label=name, **style)
            axis.vlines(x, *self.interval[s].T, color=style["color"], linewidth=1.2)
        if self.baseline is None:
            label = f"all {self.n_all} features"
            axis.axhline(self.value_all, color=GREY, linestyle=":", label=label)
            axis.set_ylabel(f"{plain(self.measure)} on held-out queries")
        else:
            label = f"{plain(self.baseline)}, as many features"
            axis.axhline(0, color=GREY, linestyle=":", label=label)
            axis.set_ylabel(f"difference in {plain(self.measure)}")
        axis.set_xticks(self.n_features, [str(k) for k in self.n_features])
        axis.set_xticks([], minor=True)
        share = f"{self.confidence:.0%}"
        axis.set_xlabel(f"number of features (bars: {share} intervals over queries)")
