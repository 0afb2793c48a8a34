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

#: largest q-value that counts as better than chance
_ALPHA = 0.05


@dataclass(eq=False)
class FeatureScreeningDisplay(_base.Display, of=[Screening]):
    """Exact scores of features relative to chance, with the range over orders of ties.

    Make it with `from_result`.

    Parameters
    ----------
    screening : Screening
        The result to draw, such as `screening_` of a fitted selector, or its `named`
        with feature names. The number before a name is the place in the order of
        selection. Names of features that are not selected are grey. Bars of features
        that do not beat chance (q-value above 0.05) are grey, too.
    max_features : int, default=20
        Number of features to show, the best first.

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
        names, chosen = self._names(shown)
        figures = screening.mean, screening.best, screening.worst, screening.qvalues
        for m, (axis, measure) in enumerate(zip(axes, screening.measures, strict=True)):
            mean, best, worst, q = (values[shown, m] for values in figures)
            level, rows, sure = screening.chance[m], np.arange(len(shown)), q <= _ALPHA
            for label, subset, colour in (
                (f"beats chance (q ≤ {_ALPHA})", sure, _base.BLUE),
                ("does not beat chance", ~sure, _base.GREY),
            ):
                if subset.any():
                    axis.barh(
                        rows[subset],
                        mean[subset] - level,
                        left=level,
                        height=0.55,
                        color=colour,
                        alpha=0.8,
                        label=label,
                    )
            axis.hlines(
                rows,
                worst,
                best,
                color=_base.ink(axis),
                linewidth=1.5,
                label=_base.RANGE,
            )
            axis.axvline(level, color=_base.VERMILLION, linestyle="--", label="chance")
            _base.show_rows(axis, names, ("mean", map(words.number, mean)))
            first = np.argmax(np.abs(mean - level) * sure)
            text = "no feature beats chance"
            if sure.any():
                (name,) = _base.short([screening.feature_names[shown[first]]])
                text = (
                    f"{name} beats chance by {abs(mean[first] - level):.2f};\n"
                    f"ties change it by {abs(best[first] - worst[first]):.2f}"
                )
            _base.title(axis, text)
            # only the first panel with shared rows has names
            for label, place in zip(axis.get_yticklabels(), chosen, strict=False):
                if not place:
                    label.set_color(_base.GREY)
            axis.set_xlabel(f"{_base.plain(measure)}, mean over queries")

    def _names(self, shown: IndexArray) -> tuple[list[str], list[int]]:
        """Label features: selected ones by number, others with those they repeat."""
        result, selection = self.screening, self.screening.selection
        features = []
        for j in shown:
            rises = result.directions[j] == "ascending"
            features.append(result.feature_names[j] + " (ascending)" * rises)
        names = _base.short(features)
        if selection is None:
            return names, [1] * len(names)
        chosen = selection.places()[shown].tolist()
        for i, of in enumerate(selection.repeats[shown]):
            if chosen[i]:
                names[i] = f"{chosen[i]}. {names[i]}"
            elif of >= 0:
                names[i] += f" (repeats {_base.short([result.feature_names[of]])[0]})"
        return names, chosen
