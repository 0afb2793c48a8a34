"""Precision by recall, with what ties leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ..evaluation import PrecisionRecallCurve, precision_recall_curve
from ._axes import CYCLE, DASHES, MARKERS, legend, panels, short, tidy
from ._inputs import each_system, predictions


@dataclass(eq=False)
class PrecisionRecallBandDisplay:
    """Precision-recall curves with bands from the worst to the best order of ties.

    Where ties are long, a curve takes a second and more (see `InterpolatedPrecision`).

    Make it with `from_predictions`, `from_estimator` or `from_curves`.

    Parameters
    ----------
    curves : dict of str to PrecisionRecallCurve

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import PrecisionRecallBandDisplay
    >>> web = make_web_search(n_queries=5, random_state=0)
    >>> display = PrecisionRecallBandDisplay.from_predictions(
    ...     web.target, {"clicks": web.data[:, 1]}, qid=web.qid)
    >>> list(display.curves)
    ['clicks']
    """

    curves: dict[str, PrecisionRecallCurve]

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_scores: Any,
        *,
        qid: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> PrecisionRecallBandDisplay:
        """Compute and plot the curves of systems, or of one column of scores.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Labels.
        y_scores : mapping, data frame or array-like
            As in `compare_systems`, or one column of scores.
        qid : array-like of shape (n_documents,), optional
            Query of each document.
        ax : matplotlib Axes, optional
        **options
            Further parameters of `precision_recall_curve`.

        Returns
        -------
        PrecisionRecallBandDisplay

        Raises
        ------
        ValueError
            As in `precision_recall_curve`.
        """
        names, columns = each_system(y_true, y_scores)
        return cls.from_curves(
            {
                name: precision_recall_curve(y_true, column, qid=qid, **options)
                for name, column in zip(names, columns, strict=True)
            },
            ax=ax,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        response_method: str | Sequence[str] = "predict",
        ax: Any = None,
        **options: Any,
    ) -> PrecisionRecallBandDisplay:
        """Rank by fitted estimators, and plot their curves.

        Parameters
        ----------
        estimator : fitted estimator, or mapping of str to such
        X : array-like or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row.
        response_method
            As in `make_ranking_scorer`.
        ax : matplotlib Axes, optional
        **options
            Further parameters of `precision_recall_curve`.

        Returns
        -------
        PrecisionRecallBandDisplay

        Raises
        ------
        ValueError
            As in `precision_recall_curve`, and for scores that are NaN.
        """
        scores = predictions(estimator, X, response_method, qid)
        return cls.from_predictions(y, scores, qid=qid, ax=ax, **options)

    @classmethod
    def from_curves(
        cls,
        curves: PrecisionRecallCurve | Mapping[str, PrecisionRecallCurve],
        *,
        ax: Any = None,
    ) -> PrecisionRecallBandDisplay:
        """Plot curves that are there.

        Parameters
        ----------
        curves : PrecisionRecallCurve, or mapping of str to such
        ax : matplotlib Axes, optional

        Returns
        -------
        PrecisionRecallBandDisplay
        """
        if isinstance(curves, PrecisionRecallCurve):
            curves = {"precision": curves}
        return cls(dict(curves)).plot(ax=ax)

    def plot(self, ax: Any = None) -> PrecisionRecallBandDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        PrecisionRecallBandDisplay
            Itself, with `figure_` and `ax_`.
        """
        self.figure_, (self.ax_,) = panels(ax, 1, width=5.6, height=4.4)
        axis = self.ax_
        names = short(list(self.curves))
        for i, (name, curve) in enumerate(
            zip(names, self.curves.values(), strict=True)
        ):
            colour = CYCLE[i % len(CYCLE)]
            axis.fill_between(
                curve.recall, curve.worst, curve.best, color=colour, alpha=0.2, lw=0
            )
            axis.plot(
                curve.recall,
                curve.mean,
                color=colour,
                linestyle=DASHES[i // len(CYCLE) % len(DASHES)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=5,
                label=name,
            )
        axis.set(xlim=(-0.02, 1.02), ylim=(0, 1.02))
        axis.set_xlabel("recall")
        axis.set_ylabel("interpolated precision, mean over queries")
        axis.set_title(
            "band: worst to best order of ties", loc="left", fontsize="medium"
        )
        tidy(axis)
        legend(self.figure_, [axis], ax is None)
        return self
