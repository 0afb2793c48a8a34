"""Rules by which features rank, and the choice of those that repeat no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import checks
from .._engine.segments import FloatArray
from ..evaluation import _resolved
from ..measures import Measure

Indices = NDArray[np.intp]
DIRECTIONS = ("auto", "descending", "ascending")
#: features up to which redundancy="auto" correlates all pairs
AUTO_REDUNDANCY = 1000
#: correlations and scores differ in their last bits, which must not decide a choice
DECIMALS = 10
#: the greatest number below 1
_BELOW_1 = np.nextafter(1.0, 0.0)
#: features that are correlated at once where not all pairs are
_AT_ONCE = 64


@dataclass(frozen=True)
class Rule:
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

    @cached_property
    def resolved(self) -> _resolved.ResolvedMeasures:
        """The measures, with what undefined values and NaN labels are."""
        return _resolved.resolve(self.measures, self.zero_relevance, self.unjudged)


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
        checks.check_choice(one, "direction", DIRECTIONS)
    return directions


def check_number(wanted: Any, otherwise: str) -> None:
    """A number or share of features, None, or what else messages name."""
    whole = isinstance(wanted, (int, np.integer)) and wanted >= 1
    share = isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1
    if wanted is not None and (isinstance(wanted, bool) or not (whole or share)):
        raise ValueError(
            "n_features_to_select must be an integer >= 1, a share in (0, 1] "
            f"or {otherwise}, got {wanted!r}"
        )


def number_of(wanted: float, n_features: int) -> int:
    """How many features a number or share of them is."""
    if isinstance(wanted, (float, np.floating)):
        # 0.29 of 100 is 29, though the product is a little less
        return max(1, int(wanted * n_features + 1e-9))
    return int(wanted)


@dataclass(frozen=True, eq=False)
class Selection:
    """The features that are chosen, and what the others repeat.

    Attributes
    ----------
    order : ndarray, int
        Indices of the chosen features, in the order in which they were chosen.
    repeats : ndarray of shape (n_features,), int
        For a feature that is left out because it repeats a chosen one, the index of
        that; for every other feature -1.
    correlation : ndarray of shape (n_features,)
        Rank correlation of a feature with the one that it repeats, otherwise NaN.
    by_number : bool
        Whether a number of features was asked for.
    """

    order: Indices
    repeats: Indices
    correlation: FloatArray
    by_number: bool

    def is_shown(self) -> bool:
        """Whether a table shows it: it is more than the features that pass a test."""
        return self.by_number or bool((self.repeats >= 0).any())

    def places(self) -> Indices:
        """For each feature its place in the order, 1 for the first, 0 if left out."""
        places = np.zeros(len(self.repeats), dtype=np.intp)
        places[self.order] = np.arange(1, len(self.order) + 1)
        return places


@dataclass
class Similarity:
    """Rank correlations of features: of all pairs, or of pairs when they are needed.

    Where pairs are computed when they are needed, some features are held until others
    are needed. A computation takes as many further features as there are chosen ones,
    or 64, so that a feature is not sorted again and again.

    Attributes
    ----------
    rho : ndarray of shape (n_held, n_held)
        Rank correlations of the features that are held.
    place : ndarray of shape (n_features,), int
        Place of each feature among those that are held, or -1.
    correlate : callable, optional
        Gives the rank correlations of some features, where not all are held.
    """

    rho: FloatArray
    place: Indices
    correlate: Callable[[Indices], FloatArray] | None = None

    def prepare(self, features: Indices, others: Indices) -> Indices:
        """Correlate some of the features, the first one included, with the others.

        The first features matter most. Returns those for which ρ is known now.
        """
        held = self.place[features] >= 0
        known = held[0] and (self.place[others] >= 0).all()
        if known or self.correlate is None:
            return features[held]
        some = features[: max(_AT_ONCE, len(others))]
        both = np.union1d(some, others)
        self.rho = self.correlate(both)
        self.place[:] = -1
        self.place[both] = np.arange(len(both))
        return some

    def between(self, features: Indices, others: Indices) -> FloatArray:
        """ρ of shape (len(features), len(others))."""
        return np.asarray(self.rho[np.ix_(self.place[features], self.place[others])])


@dataclass(eq=False)
class GreedyChoice:
    """Features chosen one after another, each compared with those chosen before it.

    The next one is the candidate with the greatest (1 - diversity) · relevance -
    diversity · max |ρ| over the chosen features, ties by rank; candidates that repeat
    a chosen feature are passed over. Since max |ρ| only grows, a score that is not up
    to date is an upper bound, and only the candidates that come out on top are
    correlated.

    Attributes
    ----------
    candidates : ndarray, int
        Indices of features, the best first.
    lift : ndarray of shape (n_candidates,)
        In the order of the candidates. Relevance is lift as a share of the greatest
        one; if none is positive, of the greatest size. NaN counts as 0.
    diversity : float
    limit : float or None
        The greatest |ρ| of a feature that is no repeat.
    similarity : Similarity or None
        Rank correlations; None if neither diversity nor limit needs them.
    """

    candidates: Indices
    lift: FloatArray
    diversity: float
    limit: float | None
    similarity: Similarity | None

    def __post_init__(self) -> None:
        lift = np.nan_to_num(self.lift)
        top = max(lift.max(initial=0.0), 0.0) or np.abs(lift).max(initial=0.0)
        relevance = lift / top if top > 0 else lift
        # without diversity, ties by rank are all there is
        self._gain = (1 - self.diversity) * relevance * bool(self.diversity)
        # a copy is a repeat, whatever the limit
        self._most = np.inf if self.limit is None else min(self.limit, _BELOW_1)
        self._closest = np.zeros(len(self.candidates))
        self._compared = np.zeros(len(self.candidates), dtype=np.intp)
        self._open = np.ones(len(self.candidates), dtype=bool)
        self._chosen: list[int] = []

    @property
    def chosen(self) -> Indices:
        """Indices of the features chosen so far, in their order."""
        return self.candidates[np.array(self._chosen, dtype=np.intp)]

    def choose(self, number: int) -> None:
        """Go on until so many are chosen, or only repeats remain."""
        while len(self._chosen) < number and self._open.any():
            # before the first choice, the best
            score = np.round(self._gain - self.diversity * self._closest, DECIMALS)
            score[~self._open] = -np.inf
            best = int(np.argmax(score)) if self._chosen else 0
            if self.similarity is None or self._compared[best] == len(self._chosen):
                self._take(best)
                continue
            stale = np.flatnonzero(self._open & (self._compared < len(self._chosen)))
            stale = stale[np.argsort(-score[stale], kind="stable")]
            self._compare(stale)

    def fill_up(self, number: int) -> int:
        """Take repeats by rank until so many are chosen; how many are exact copies.

        An exact copy is taken only where nothing else remains.
        """
        copies: list[int] = []
        left = np.setdiff1d(np.arange(len(self.candidates)), self._chosen)
        for i, j in enumerate(left.tolist()):
            if len(self._chosen) >= number:
                break
            self._compare(left[i:])
            if self._closest[j] >= 1:
                copies.append(j)
            else:
                self._take(j)
        exact = copies[: max(0, number - len(self._chosen))]
        for j in exact:
            self._take(j)
        return len(exact)

    def _take(self, j: int) -> None:
        self._chosen.append(j)
        self._open[j] = False

    def _compare(self, wanted: Indices) -> None:
        """Compare some candidates with the chosen ones; repeats are out."""
        if self.similarity is None:
            return
        features = self.candidates[wanted]
        known = self.similarity.prepare(features, self.chosen)
        wanted = wanted[np.isin(features, known)]
        since = int(self._compared[wanted].min())
        if since < len(self._chosen):
            rho = self.similarity.between(self.candidates[wanted], self.chosen[since:])
            closest = np.round(np.abs(rho), DECIMALS).max(axis=1)
            self._closest[wanted] = np.maximum(self._closest[wanted], closest)
        self._compared[wanted] = len(self._chosen)
        self._open[wanted] &= self._closest[wanted] <= self._most

    def selection(self, usable: NDArray[np.bool_], by_number: bool) -> Selection:
        """The selection of the chosen features, with what other usable ones repeat.

        Of several chosen features above the limit it is the most similar one, of equals
        the one chosen first.
        """
        order, similarity = self.chosen, self.similarity
        repeats, correlation = np.full(len(usable), -1), np.full(len(usable), np.nan)
        selection = Selection(order, repeats, correlation, by_number)
        others = np.setdiff1d(np.flatnonzero(usable), order)
        if self.limit is None or similarity is None or not len(order):
            return selection
        while len(others):
            some = similarity.prepare(others, order)
            others = np.setdiff1d(others, some)
            rho = similarity.between(some, order)
            size = np.round(np.abs(rho), DECIMALS)
            at = np.argmax(size, axis=1)
            rows = np.arange(len(some))
            is_repeat = size[rows, at] > self._most
            repeats[some[is_repeat]] = order[at[is_repeat]]
            correlation[some[is_repeat]] = rho[rows, at][is_repeat]
        return selection
