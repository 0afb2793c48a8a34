"""What a selector's parameters ask for, and which features it chooses by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._display import words
from .._engine import checks
from .._engine.segments import FloatArray
from ..evaluation import _asked
from ..measures import Measure, _parse, parse_measure

Indices = NDArray[np.intp]
DIRECTIONS = ("auto", "descending", "ascending")
#: features up to which redundancy="auto" correlates all pairs
AUTO_REDUNDANCY = 1000
#: correlations and scores differ in their last bits, which must not decide a choice
DECIMALS = 10
#: features that are correlated at once where not all pairs are
_AT_ONCE = 64


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
        check_number(selector.n_features_to_select, "None")
        for name, low in (("alpha", 0.0), ("min_lift", -np.inf), ("diversity", 0.0)):
            value = getattr(selector, name)
            if not checks.is_number(value, most=1, least=low):
                raise ValueError(f"{name} must be in [{low:g}, 1], got {value!r}")
        top = selector.max_correlation
        if top is not None and not checks.is_number(top, most=1, least=0):
            raise ValueError(f"max_correlation must be in [0, 1] or None, got {top!r}")
        checks.check_choice(selector.missing, "missing", ("raise", "last"))
        checks.check_choice(selector.redundancy, "redundancy", (True, False, "auto"))
        checks.check_flag(selector.progress, "progress")
        measures = tuple(_parse.parse_measures(selector.measures))
        wanted = measures[0]
        if selector.sort_by is not None:
            wanted = parse_measure(selector.sort_by)
        if wanted not in measures:
            names = [str(measure) for measure in measures]
            raise ValueError(f"sort_by must be one of {names}, got {wanted}")
        few = selector.redundancy == "auto" and n_features <= AUTO_REDUNDANCY
        ways = each_direction(selector.direction, n_features)
        own = selector.missing, selector.zero_relevance, selector.unjudged
        correlates = few or selector.redundancy is True
        return cls(measures, measures.index(wanted), ways, *own, correlates)

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

    def ask(self) -> _asked.Asked:
        """The measures, with what undefined values and NaN labels are."""
        return _asked.ask(self.measures, self.zero_relevance, self.unjudged)


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
class Likeness:
    """How alike features rank: of all pairs, or of pairs as they are asked for.

    Where pairs are computed as they are asked for, some features are held until others
    are asked for. A computation takes as many further features as there are chosen
    ones, or 64, so that a feature is not sorted again and again.

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

        The first features matter most. What is returned are those for which ρ can be
        asked now.
        """
        held = self.place[features] >= 0
        asked = held[0] and (self.place[others] >= 0).all()
        if asked or self.correlate is None:
            return features[held]
        some = features[: max(_AT_ONCE, len(others))]
        both = np.union1d(some, others)
        self.rho = self.correlate(both)
        self.place[:] = -1
        self.place[both] = np.arange(len(both))
        return some

    def __call__(self, features: Indices, others: Indices) -> FloatArray:
        """ρ of shape (len(features), len(others))."""
        return np.asarray(self.rho[np.ix_(self.place[features], self.place[others])])


def select_features(
    selector: Any, screening: Any, likeness: Likeness | None
) -> Selection:
    """The best features, or those better than chance, that do not repeat others.

    Parameters
    ----------
    selector : RankingFeatureSelector
        Its parameters say how features are chosen.
    screening : Screening
        Its figures by the measure that decides say how good they are.
    likeness : Likeness or None
        None if no parameter asks for rank correlations.
    """
    wanted, limit = selector.n_features_to_select, selector.max_correlation
    sort, varies = screening.rule.sort, screening.varies
    usable, lift = varies, screening.lift[:, sort]
    if wanted is None:
        n_queries = int(screening.n_averaged[sort])
        if n_queries < 2:
            repeats = " and repeats no other" * (limit is not None)
            words.warn(
                f"p-values need at least two queries, got {n_queries}: every feature "
                f"that is not constant{repeats} is selected"
            )
        else:
            usable = varies & (screening.qvalues[:, sort] <= selector.alpha)
            usable = usable & (lift >= selector.min_lift)
    best = np.argsort(screening.ranking)
    best = best[usable[best]]
    number = len(best)
    if wanted is not None:
        number = number_of(wanted, len(varies))
        if len(best) < number:
            words.warn(
                f"n_features_to_select={wanted!r}, but only {len(best)} of "
                f"{len(varies)} features vary within a query: only these are selected"
            )
        number = min(number, len(best))
    diversity = 0.0 if wanted is None else selector.diversity
    walk = Walk(best, _relevance(lift[best]), diversity, limit, likeness)
    walk.choose(number)
    if wanted is not None and (copies := walk.fill_up(number)):
        are = "is an exact copy" if copies == 1 else "are exact copies"
        words.warn(
            f"n_features_to_select={wanted!r}, but only {number - copies} "
            f"features rank differently: {copies} of the selected features "
            f"{are} of others"
        )
    return walk.selection(varies, by_number=wanted is not None)


def _relevance(lift: FloatArray) -> FloatArray:
    """Lift as a share of the greatest one; if none is positive, of the greatest size.

    A lift that is not known is none.
    """
    lift = np.nan_to_num(lift)
    top = lift.max(initial=0.0)
    top = top if top > 0 else np.abs(lift).max(initial=0.0)
    return lift / top if top > 0 else lift


def _size(rho: FloatArray) -> FloatArray:
    return np.asarray(np.round(np.abs(rho), DECIMALS))


def _repeats(closest: FloatArray, limit: float | None) -> NDArray[np.bool_]:
    """Which features repeat a chosen one; a copy does, whatever the limit."""
    return (closest > limit) | (closest >= 1) if limit is not None else closest > np.inf


@dataclass(eq=False)
class Walk:
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
    relevance : ndarray of shape (n_candidates,)
        At most 1, in the order of the candidates.
    diversity : float
    limit : float or None
        The greatest |ρ| of a feature that is no repeat.
    likeness : Likeness or None
        Rank correlations; None if neither diversity nor limit asks for them.
    """

    candidates: Indices
    relevance: FloatArray
    diversity: float
    limit: float | None
    likeness: Likeness | None

    def __post_init__(self) -> None:
        # without diversity, ties by rank are all there is
        self._gain = (1 - self.diversity) * self.relevance * bool(self.diversity)
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
            if not self._chosen:
                self._take(0)  # the best
                continue
            score = np.round(self._gain - self.diversity * self._closest, DECIMALS)
            score[~self._open] = -np.inf
            best = int(np.argmax(score))
            if self.likeness is None or self._compared[best] == len(self._chosen):
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
        if self.likeness is None:
            return
        features = self.candidates[wanted]
        wanted = wanted[np.isin(features, self.likeness.prepare(features, self.chosen))]
        since = int(self._compared[wanted].min())
        if since < len(self._chosen):
            rho = self.likeness(self.candidates[wanted], self.chosen[since:])
            closest = _size(rho).max(axis=1)
            self._closest[wanted] = np.maximum(self._closest[wanted], closest)
        self._compared[wanted] = len(self._chosen)
        self._open[wanted] &= ~_repeats(self._closest[wanted], self.limit)

    def selection(self, usable: NDArray[np.bool_], by_number: bool) -> Selection:
        """The selection of the chosen features, with what other usable ones repeat.

        Of several chosen features above the limit it is the most similar one, of equals
        the one chosen first.
        """
        order, likeness = self.chosen, self.likeness
        nothing = np.full(len(usable), -1, dtype=np.intp), np.full(len(usable), np.nan)
        selection = Selection(order, *nothing, by_number)
        others = np.setdiff1d(np.flatnonzero(usable), order)
        if self.limit is None or likeness is None or not len(order):
            return selection
        while len(others):
            some = likeness.prepare(others, order)
            others = np.setdiff1d(others, some)
            rho = likeness(some, order)
            size = _size(rho)
            at = np.argmax(size, axis=1)
            rows = np.arange(len(some))
            is_repeat = _repeats(size[rows, at], self.limit)
            selection.repeats[some[is_repeat]] = order[at[is_repeat]]
            selection.correlation[some[is_repeat]] = rho[rows, at][is_repeat]
        return selection
