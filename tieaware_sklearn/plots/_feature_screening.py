"""What single features are worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._engine.ties import FloatArray
from .._engine.validation import check_count
from ..evaluation._prepared_ranking import DEFAULT_MEASURES
from ..feature_selection import RankingFeatureSelector
from ..measures import Measure
from ._axes import VERMILLION, legend, panels, show_ranges


@dataclass(eq=False)
class FeatureScreeningDisplay:
    """Features by what each is worth alone, with its ties, and the chance level.

    Make it with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    features : tuple of str
        The best first.
    measures : tuple of str
    mean, best, worst : ndarray of shape (n_features, n_measures)
    interval : ndarray of shape (n_features, n_measures, 2)
        95 % interval over queries.
    chance : ndarray of shape (n_measures,)
        Value if everything ties.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : list of matplotlib Axes
        A panel per measure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.plots import FeatureScreeningDisplay
    >>> web = make_web_search(n_queries=50, random_state=0)
    >>> selector = RankingFeatureSelector("ap").fit(web.data, web.target, qid=web.qid)
    >>> display = FeatureScreeningDisplay.from_estimator(
    ...     selector, feature_names=web.feature_names)
    >>> display.features[0]
    'clicks'
    """

    features: tuple[str, ...]
    measures: tuple[str, ...]
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    interval: FloatArray
    chance: FloatArray

    @classmethod
    def from_estimator(
        cls,
        selector: RankingFeatureSelector,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 20,
        ax: Any = None,
    ) -> FeatureScreeningDisplay:
        """Plot the best features of a fitted selector.

        Parameters
        ----------
        selector : RankingFeatureSelector
            Fitted.
        feature_names : list of str, optional
            Names of all columns, if it was not fitted on a data frame.
        max_features : int, default=20
            How many to show.
        ax : matplotlib Axes or list of them, optional
            One per measure.

        Returns
        -------
        FeatureScreeningDisplay

        Raises
        ------
        ValueError
            For `max_features` < 1, and another number of names than of columns.
        """
        check_is_fitted(selector)
        check_count(max_features, "max_features")
        names = None if feature_names is None else list(map(str, feature_names))
        if names is not None and len(names) != selector.n_features_in_:
            raise ValueError(
                f"feature_names must have {selector.n_features_in_} names, got "
                f"{len(names)}"
            )
        screening = selector.screening_
        if names is not None:
            features = np.asarray(selector.directions_) != "qid"
            screening = screening.named(np.array(names, dtype=object)[features])
        rows = screening.rows()[:max_features]
        measures = screening.measures

        def column(suffix: str) -> FloatArray:
            return np.array([[row[m + suffix] for m in measures] for row in rows])

        return cls(
            features=tuple(
                row["feature"] + (" (low first)" * (row["direction"] == "ascending"))
                for row in rows
            ),
            measures=tuple(measures),
            mean=column(""),
            best=column("_best"),
            worst=column("_worst"),
            interval=np.stack(
                [column("_interval_low"), column("_interval_high")], axis=-1
            ),
            chance=np.asarray(selector.chance_),
        ).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        features: Any,
        *,
        qid: Any = None,
        measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
        feature_names: Sequence[str] | None = None,
        max_features: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> FeatureScreeningDisplay:
        """Screen features and plot them.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels.
        features : array-like, sparse matrix or data frame, (n_rows, n_features)
        qid : array-like of shape (n_rows,), optional
            Query of each row.
        measures : str, Measure or list of them
            As in `RankingFeatureSelector`.
        feature_names, max_features, ax
            As in `from_estimator`.
        **options
            Further parameters of `RankingFeatureSelector`.

        Returns
        -------
        FeatureScreeningDisplay

        Raises
        ------
        ValueError
            As in `RankingFeatureSelector.fit`.
        """
        selector = RankingFeatureSelector(measures, **options)
        selector.fit(features, y_true, qid=qid)
        return cls.from_estimator(
            selector, feature_names=feature_names, max_features=max_features, ax=ax
        )

    def plot(self, ax: Any = None) -> FeatureScreeningDisplay:
        """Draw it: a row per feature, a panel per measure.

        Parameters
        ----------
        ax : matplotlib Axes or list of them, optional
            One per measure.

        Returns
        -------
        FeatureScreeningDisplay
            Itself, with `figure_` and `axes_`.
        """
        height = max(1.4 + 0.3 * len(self.features), 2.4)
        self.figure_, self.axes_ = panels(
            ax, len(self.measures), width=4.6, height=height, sharey=True
        )
        for m, (axis, measure) in enumerate(
            zip(self.axes_, self.measures, strict=True)
        ):
            show_ranges(
                axis,
                self.features,
                self.mean[:, m],
                self.worst[:, m],
                self.best[:, m],
                interval=self.interval[:, m],
            )
            axis.axvline(
                self.chance[m],
                color=VERMILLION,
                linestyle="--",
                linewidth=1.5,
                label="chance",
            )
            axis.set_xlabel(f"{measure}, mean over queries")
        legend(self.figure_, self.axes_, ax is None)
        return self
