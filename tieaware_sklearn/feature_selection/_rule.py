"""How features are ranked: what two screenings share that go together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._engine.validation import check_choice, check_flag
from ..evaluation._undefined import Asked, ask
from ..measures import Measure, parse_measure
from ..measures._parse import parse_measures

DIRECTIONS = ("auto", "descending", "ascending")
#: features up to which redundancy="auto" correlates all pairs
AUTO_REDUNDANCY = 1000


class Rule(NamedTuple):
    """How features are ranked: all that two screenings must share to merge.

    Attributes
    ----------
    measures : tuple of Measure
    sort : int
        Number of the measure that decides directions and ranking.
    directions : tuple of str
        "auto", "descending" or "ascending" of each feature.
    missing : {"raise", "last"}
    zero_relevance : float, "skip" or "raise"
    unjudged : {"raise", "nonrelevant", "drop"}
    correlates : bool
        Whether pairs of features are correlated.
    """

    measures: tuple[Measure, ...]
    sort: int
    directions: tuple[str, ...]
    missing: str
    zero_relevance: float | str
    unjudged: str
    correlates: bool

    @classmethod
    def of(cls, selector: Any, n_features: int) -> Rule:
        """By the parameters of a `RankingFeatureSelector`, checked."""
        check_choice(selector.missing, "missing", ("raise", "last"))
        check_choice(selector.redundancy, "redundancy", (True, False, "auto"))
        check_flag(selector.progress, "progress")
        measures = tuple(parse_measures(selector.measures))
        few = selector.redundancy == "auto" and n_features <= AUTO_REDUNDANCY
        return cls(
            measures,
            _place(measures, selector.sort_by),
            each_direction(selector.direction, n_features),
            selector.missing,
            selector.zero_relevance,
            selector.unjudged,
            few or selector.redundancy is True,
        )

    def in_words(self) -> dict[str, Any]:
        """The fields as users know them, to be compared."""
        return {
            "measures": self.measures,
            "measures to sort by": self.measures[self.sort],
            "directions": list(self.directions),
            "values of missing": self.missing,
            "values of zero_relevance": self.zero_relevance,
            "values of unjudged": self.unjudged,
            "correlations of features": self.correlates,
        }

    def ask(self) -> Asked:
        """The measures, with what undefined values and NaN labels are."""
        return ask(self.measures, self.zero_relevance, self.unjudged)


def _place(measures: tuple[Measure, ...], sort_by: str | Measure | None) -> int:
    wanted = measures[0] if sort_by is None else parse_measure(sort_by)
    if wanted not in measures:
        names = [str(measure) for measure in measures]
        raise ValueError(f"sort_by must be one of {names}, got {wanted}")
    return measures.index(wanted)


def each_direction(direction: Any, n_features: int) -> tuple[str, ...]:
    """The direction asked for, of each feature."""
    if isinstance(direction, str) or not isinstance(direction, Iterable):
        direction = [direction] * n_features
    directions = tuple(direction)
    if len(directions) != n_features:
        raise ValueError(
            f"direction must have one value per feature ({n_features}), got "
            f"{len(directions)}"
        )
    for one in directions:
        check_choice(one, "direction", DIRECTIONS)
    return directions
