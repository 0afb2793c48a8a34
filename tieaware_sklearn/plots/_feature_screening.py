"""Exact scores of single features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._engine import FloatArray, check_count
from ..feature_selection import RankingFeatureSelector, Screening
from ._base import GREY, Display, Panels, plain, short
from ._ranges import show_ranges

#: what a screening has of each feature and measure
_TABLES = ("mean", "best", "worst", "interval")


@dataclass(eq=False)
class FeatureScreeningDisplay(Display):
    """Exact scores of features, with best and worst order of ties and chance level.

    Make it with `from_estimator`, `from_screening` or `from_predictions`.

    Parameters
    ----------
    feature_names : tuple of str
        Names of the features, the best first.
    measures : tuple of str
        Names of the measures.
    mean, best, worst : ndarray of shape (n_features, n_measures)
        Averages over queries of the expected, best and worst values.
    interval : ndarray of shape (n_features, n_measures, 2)
        95% interval over queries.
    chance : ndarray of shape (n_measures,)
        Mean over queries if all documents of a query tie.
    chosen : ndarray of shape (n_features,), int, optional
        Place of each feature in the order of selection, which stands before its name; 0
        for a feature that is not selected, whose name is grey.
    repeats : tuple of str, optional
        For each feature the selected one for which it was left out; empty if it was
        not.

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
    RankingFeatureSelector : Computes the scores.
    TieRangeDisplay : Draws the same ranges for systems.

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
    >>> display.feature_names[0]
    'clicks'
    """

    feature_names: tuple[str, ...]
    measures: tuple[str, ...]
    mean: FloatArray
    best: FloatArray
    worst: FloatArray
    interval: FloatArray
    chance: FloatArray
    chosen: NDArray[np.intp] | None = None
    repeats: tuple[str, ...] | None = None

    @classmethod
    def from_estimator(
        cls,
        selector: RankingFeatureSelector,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 20,
        ax: Any = None,
    ) -> Self:
        """Plot the best features of a fitted selector.

        Parameters
        ----------
        selector : RankingFeatureSelector
            A fitted selector.
        feature_names : list of str, optional
            Names of the features, by default those that the selector knows.
        max_features : int, default=20
            Number of features to show.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per measure.

        Returns
        -------
        FeatureScreeningDisplay

        Raises
        ------
        ValueError
            If `max_features` is less than 1, or if there is not one name per feature.
        """
        check_is_fitted(selector)
        screening = selector.screening_
        if feature_names is not None:
            screening = screening.named(feature_names)
        return cls.from_screening(screening, max_features=max_features, ax=ax)

    @classmethod
    def from_screening(
        cls, screening: Screening, *, max_features: int = 20, ax: Any = None
    ) -> Self:
        """Plot the best features of a screening.

        Parameters
        ----------
        screening : Screening
            Such as ``selector.screening_``, or one that was loaded.
        max_features, ax
            As in `from_estimator`.

        Returns
        -------
        FeatureScreeningDisplay

        Raises
        ------
        ValueError
            If `max_features` is less than 1.
        """
        check_count(max_features, "max_features")
        selection = screening.selection
        names = [
            row["feature"] + " (low first)" * (row["direction"] == "ascending")
            for row in screening.rows()[:max_features]
        ]
        shown = np.argsort(screening.ranking)[:max_features]
        tables: dict[str, Any] = {
            name: getattr(screening, name)[shown] for name in _TABLES
        }
        chosen, repeats = None, None
        if selection is not None:
            chosen = selection.places()[shown]
            repeats = tuple(
                screening.feature_names[j] if j >= 0 else ""
                for j in selection.repeats[shown]
            )
        return cls(
            tuple(names),
            screening.measures,
            **tables,
            chance=screening.chance,
            chosen=chosen,
            repeats=repeats,
        ).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        qid: Any = None,
        feature_names: Sequence[str] | None = None,
        max_features: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Screen features, each taken as a score, and plot them.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Labels.
        y_score : mapping of str to array-like, data frame, sparse matrix, or \
array-like of shape (n_documents,) or (n_documents, n_features)
            One feature per column.
        qid : array-like of shape (n_documents,), optional
            Query of each document.
        feature_names, max_features, ax
            As in `from_estimator`.
        **options
            As in `RankingFeatureSelector`.

        Returns
        -------
        FeatureScreeningDisplay

        Raises
        ------
        ValueError
            As in `RankingFeatureSelector.fit`.
        """
        if isinstance(y_score, Mapping):
            feature_names = list(y_score) if feature_names is None else feature_names
            y_score = np.column_stack(list(y_score.values()))
        elif np.ndim(y_score) == 1:
            name = getattr(y_score, "name", None)
            if feature_names is None and name is not None:
                feature_names = [str(name)]
            y_score = np.asarray(y_score)[:, None]
        selector = RankingFeatureSelector(**options).fit(y_score, y_true, qid=qid)
        return cls.from_estimator(
            selector, feature_names=feature_names, max_features=max_features, ax=ax
        )

    def _panels(self) -> Panels:
        return Panels.of_rows(len(self.measures), len(self.feature_names))

    def _draw(self, axes: list[Any]) -> None:
        tables = [getattr(self, name) for name in _TABLES]
        for m, (axis, measure) in enumerate(zip(axes, self.measures, strict=True)):
            mean, best, worst, interval = (table[:, m] for table in tables)
            ranges = self.feature_names, mean, best, worst
            show_ranges(axis, *ranges, interval=interval, chance=self.chance[m])
            self._show_selection(axis)
            axis.set_xlabel(f"{plain(measure)}, mean over queries")

    def _show_selection(self, axis: Any) -> None:
        """Selected features by number; others are grey, with what they repeat."""
        if self.chosen is None:
            return
        names = short(self.feature_names)
        repeats = self.repeats or [""] * len(names)
        for j, place in enumerate(self.chosen.tolist()):
            if place:
                names[j] = f"{place}. {names[j]}"
            elif repeats[j]:
                names[j] += f" (repeats {short([repeats[j]])[0]})"
        axis.set_yticks(range(len(names)), names)
        # a panel that shares its names with the first has none of its own
        for label, place in zip(axis.get_yticklabels(), self.chosen, strict=False):
            if not place:
                label.set_color(GREY)
