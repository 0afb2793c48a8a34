"""Exact scores of single features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._engine import checks
from .._typing import IndexArray
from ..feature_selection import Screening
from . import _base

#: Largest q-value of a feature that beats chance.
_ALPHA = 0.05


@dataclass(eq=False)
class FeatureScreeningDisplay(_base.Display, draws=[Screening]):
    """Exact scores of features, ranges over the orders of ties, and the chance level.

    A diamond is the mean, a bar is the range, and a thin line is the 95% interval. The
    diamonds of features that do not beat chance (q-value above 0.05) are hollow. The
    bar of a feature is grey if the range contains the chance level. If the screening
    contains a selection, the number before the name of a feature is the position in the
    order of selection. Features without a number are then not selected.

    Make the display with `from_result`.

    Parameters
    ----------
    screening : Screening
        The result to draw, such as `screening_` of a fitted selector, or the result of
        `Screening.named` with feature names.
    max_features : int, default=20
        Maximum number of features to show. The best features are shown.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure of the last call of `plot`.
    axes_ : list of matplotlib Axes
        One panel per measure.
    ax_ : matplotlib Axes
        The only panel, if there is one measure.

    Raises
    ------
    ValueError
        If `max_features` is not an integer >= 1.

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
    >>> screening = selector.screening_.named(web.feature_names)
    >>> display = FeatureScreeningDisplay.from_result(screening)
    >>> display.screening.rows()[0]["feature"]
    'clicks'
    """

    screening: Screening
    max_features: int = 20

    def __post_init__(self) -> None:
        checks.check_count(self.max_features, "max_features")

    def _draw(self, ax: Any) -> None:
        screening = self.screening
        shown = np.argsort(screening.ranking)[: self.max_features]
        axes = self._panels_of_rows(ax, len(screening.measures), len(shown))
        names = self._labels(shown)
        for m, axis in enumerate(axes):
            mean = screening.mean[shown, m]
            chance = screening.chance[m]
            ends = np.stack([screening.worst[shown, m], screening.best[shown, m]], 1)
            _base.show_ranges(axis, ends, chance)
            _base.show_intervals(axis, screening.interval[shown, m])
            _base.show_chance(axis, chance)
            is_better = screening.qvalues[shown, m] <= _ALPHA
            _base.show_means(axis, mean)
            if not is_better.all():
                label = f"does not beat chance (q > {_ALPHA})"
                not_better = np.where(is_better, np.nan, mean)
                _base.show_means(axis, not_better, label, mfc="white")
            _base.show_rows(axis, names)
            _base.show_beside(axis, "mean", map(words.number, mean))
            title = "no feature beats chance"
            if is_better.any():
                lead = np.abs(mean - chance)
                first = np.argmax(lead * is_better)
                tie_range = np.ptp(ends[first])
                title = f"the best feature beats chance by {lead[first]:.2f}; "
                title += f"ties change it by {tie_range:.2f}"
            measure = screening.rule.measures[m]
            _base.show_title(axis, f"{measure}: {title}")
            average = "mean over queries"
            _base.show_average(axis, average, not measure.greater_is_better)

    def _labels(self, shown: IndexArray) -> list[str]:
        """Return the labels of features. Selected features are numbered."""
        screening = self.screening
        selection = screening.selection
        features = []
        for j in shown:
            feature = screening.feature_names[j]
            if screening.directions[j] == "ascending":
                feature += " (ascending)"
            features.append(feature)
        names = _base.short_names(features)
        if selection is None:
            return names
        places = selection.places()[shown].tolist()
        for i, repeated in enumerate(selection.repeats[shown]):
            if places[i]:
                names[i] = f"{places[i]}. {names[i]}"
            elif repeated >= 0:
                (name,) = _base.short_names([screening.feature_names[repeated]])
                names[i] += f" (repeats {name})"
        return names
