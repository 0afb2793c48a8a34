"""Rules by which features rank, and the choice of features that repeat no others.

ρ is the rank correlation of two features, averaged over queries. A feature repeats a
chosen feature if the rounded |ρ| of the two features is above a limit. A copy ranks
like the chosen feature or in the exactly reversed order: its |ρ| is 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._display import words
from .._engine import checks
from .._typing import BoolArray, FloatArray, IndexArray
from ..evaluation import _resolved
from ..measures import Measure

DIRECTIONS = ("auto", "descending", "ascending")
#: Maximum number of features for which redundancy="auto" correlates all pairs.
AUTO_REDUNDANCY = 1000
#: Decimals to which correlations and scores are rounded, because their last bits vary
#: with the order of summation and must not decide a choice.
DECIMALS = 10
#: The largest limit of |ρ|. This limit replaces a limit of 1, so that copies are
#: repeats.
BELOW_1 = float(np.nextafter(1.0, 0.0))
#: Minimum number of features correlated in one call if not all pairs are correlated.
_AT_ONCE = 64


@dataclass(frozen=True)
class Rule:
    """How features are ranked: the options that two screenings must share to merge.

    Attributes
    ----------
    measures : tuple of Measure
    sort : int
        Index of the measure that decides directions and ranking.
    directions : tuple of str
        Direction of each feature: "auto", "descending" or "ascending".
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

    @cached_property
    def filled(self) -> Self:
        """Return the rule without `DEFAULT` in its measures, for comparisons."""
        measures = tuple(measure.filled() for measure in self.measures)
        return replace(self, measures=measures)

    @cached_property
    def resolved(self) -> _resolved.ResolvedMeasures:
        """Return the measures with the values for undefined measures and NaN labels."""
        return _resolved.resolve(self.measures, self.zero_relevance, self.unjudged)


def each_direction(direction: Any, n_features: int) -> tuple[str, ...]:
    """Return the direction of each feature, "auto" if the data decide."""
    if isinstance(direction, str) or not isinstance(direction, Iterable):
        direction = [direction] * n_features
    directions = tuple(direction)
    if len(directions) != n_features:
        raise ValueError(
            f"direction must have one value per feature ({n_features}), got "
            f"{len(directions)}"
        )
    for value in directions:
        checks.check_choice(value, "direction", DIRECTIONS)
    return directions


def number_of(wanted: float, n_features: int, n_varying: int) -> int:
    """Return the number of features to select, at most the number that vary.

    `wanted` is a number of features, or a share of `n_features`.
    """
    number = int(wanted)
    if isinstance(wanted, (float, np.floating)):
        # The product of 0.29 and 100 is slightly below 29.
        number = max(1, int(wanted * n_features + 1e-9))
    if n_varying < number:
        words.warn(
            f"n_features_to_select={wanted!r}, but only {n_varying} of {n_features} "
            "features vary within a query, so only these features are selected"
        )
    return min(number, n_varying)


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen features, and the features that repeat them.

    Attributes
    ----------
    order : ndarray, int
        Indices of the chosen features, in the order in which they were chosen.
    repeats : ndarray of shape (n_features,), int
        Index of the chosen feature that a feature repeats, if the feature is left out
        because it repeats another. -1 for every other feature.
    correlation : ndarray of shape (n_features,)
        Rank correlation of a feature with the feature that it repeats. NaN for a
        feature that repeats no other.
    by_number : bool
        Whether a given number of features was chosen. If False, all features that pass
        the tests were chosen.
    """

    order: IndexArray
    repeats: IndexArray
    correlation: FloatArray
    by_number: bool

    def places(self) -> IndexArray:
        """Return the position of each feature in the order, from 1; 0 if not chosen."""
        places = np.zeros(len(self.repeats), dtype=np.intp)
        places[self.order] = np.arange(1, len(self.order) + 1)
        return places


@dataclass
class Similarity:
    """Rank correlations of all pairs of features, or of some features when needed.

    In the second case, `rho` is a block for the chosen features and some further
    features. When another feature is needed, a new block replaces the old block, for
    the chosen features and the next features: as many as were chosen, at least 64. The
    number of next features grows with the number of chosen features, because every new
    block sorts the chosen features again.

    Attributes
    ----------
    rho : ndarray of shape (n_held, n_held)
        Rank correlations of the features whose correlations are kept.
    place : ndarray of shape (n_features,), int
        Row of each feature in `rho`, or -1 if its correlations are not kept.
    most : float
        Largest |ρ| of two chosen features, below 1, or infinite if there is no limit.
    correlate : callable
        Returns the rank correlations of some features.
    """

    rho: FloatArray
    place: IndexArray
    most: float
    correlate: Callable[[IndexArray], FloatArray]

    def prepare(self, features: IndexArray, chosen: IndexArray) -> IndexArray:
        """Return the features whose ρ with all chosen features is known.

        The first feature is always returned: if its ρ is not known, a new block is
        computed for this feature and the features after it.
        """
        is_held = self.place[features] >= 0
        if is_held[0] and (self.place[chosen] >= 0).all():
            return features[is_held]
        first = features[: max(_AT_ONCE, len(chosen))]
        both = np.union1d(first, chosen)
        self.rho = self.correlate(both)
        self.place[:] = -1
        self.place[both] = np.arange(len(both))
        return first

    def between(self, features: IndexArray, chosen: IndexArray) -> FloatArray:
        """Return ρ of shape (len(features), len(chosen))."""
        cells = np.ix_(self.place[features], self.place[chosen])
        return self.rho[cells]


def choose_greedily(
    candidates: IndexArray,
    lift: FloatArray,
    number: int,
    *,
    diversity: float,
    similarity: Similarity | None,
    fill: bool,
) -> tuple[IndexArray, int]:
    """Choose features one by one, each compared with the features chosen before it.

    The next feature is the candidate with the greatest (1 - diversity) · relevance -
    diversity · max |ρ| over the chosen features. Equal candidates are chosen by rank.
    Candidates that repeat a chosen feature are left out. Because max |ρ| only grows, an
    old score is an upper bound, so only the best candidates must be correlated.

    Parameters
    ----------
    candidates : ndarray, int
        Indices of features, the best first.
    lift : ndarray of shape (n_candidates,)
        Lift of the candidates. Relevance is lift divided by the greatest lift, or by
        the greatest |lift| if no lift is positive. NaN counts as 0.
    number : int
        Number of features to choose.
    diversity : float
    similarity : Similarity or None
        None if neither diversity nor a limit needs rank correlations.
    fill : bool
        Whether repeats are chosen, by rank, if only repeats remain. Copies are chosen
        last.

    Returns
    -------
    order : ndarray, int
        Indices of the chosen features.
    n_copies : int
        Number of chosen features that are copies of others.
    """
    gain = np.zeros(len(candidates))
    # Without diversity, candidates are chosen by rank alone.
    if diversity:
        lift = np.nan_to_num(lift)
        top = lift.max(initial=0.0) or np.abs(lift).max(initial=0.0) or 1.0
        gain = (1 - diversity) * (lift / top)
    # All arrays and lists below index `candidates`, not features. `compared` counts the
    # chosen features that a candidate was compared with, and `closest` is its largest
    # |ρ| with them.
    closest = np.zeros(len(candidates))
    compared = np.zeros(len(candidates), dtype=np.intp)
    is_open = np.ones(len(candidates), dtype=bool)
    chosen: list[int] = []

    def compare(indices: IndexArray) -> None:
        """Compare the first candidate, and others of known ρ, with all chosen features.

        Candidates that repeat a chosen feature are left out from now on.
        """
        if similarity is None:
            return
        features = candidates[indices]
        chosen_features = candidates[chosen]
        prepared = similarity.prepare(features, chosen_features)
        indices = indices[np.isin(features, prepared)]
        since = int(compared[indices].min())
        if since < len(chosen):
            rho = similarity.between(candidates[indices], chosen_features[since:])
            nearest = np.round(np.abs(rho), DECIMALS).max(axis=1)
            closest[indices] = np.maximum(closest[indices], nearest)
        compared[indices] = len(chosen)
        is_open[indices] &= closest[indices] <= similarity.most

    while len(chosen) < number and is_open.any():
        score = np.round(gain - diversity * closest, DECIMALS)
        score[~is_open] = -np.inf
        # The first chosen feature is the best by rank.
        best = int(np.argmax(score)) if chosen else 0
        if similarity is None or compared[best] == len(chosen):
            chosen.append(best)
            is_open[best] = False
        else:
            # The best candidate comes first, so it is compared.
            stale = np.flatnonzero(is_open & (compared < len(chosen)))
            compare(stale[np.argsort(-score[stale], kind="stable")])
    if not fill:
        return candidates[chosen], 0
    copies: list[int] = []
    remaining = np.setdiff1d(np.arange(len(candidates)), chosen)
    for i, j in enumerate(remaining.tolist()):
        if len(chosen) >= number:
            break
        compare(remaining[i:])
        # The |ρ| in `closest` is rounded, so it is exactly 1 for copies.
        if closest[j] >= 1:
            copies.append(j)
        else:
            chosen.append(j)
    copies = copies[: max(0, number - len(chosen))]
    return candidates[[*chosen, *copies]], len(copies)


def find_repeats(
    usable: BoolArray, order: IndexArray, similarity: Similarity | None
) -> tuple[IndexArray, FloatArray]:
    """Return the chosen feature that each usable feature repeats, and their ρ.

    If a feature repeats several chosen features, the most similar chosen feature is
    returned. If several are equally similar, the feature that was chosen first is
    returned. The docstring of `Selection` states the values for features that repeat no
    other.
    """
    repeats = np.full(len(usable), -1)
    correlation = np.full(len(usable), np.nan)
    remaining = np.setdiff1d(np.flatnonzero(usable), order)
    if similarity is None or similarity.most == np.inf or not len(order):
        return repeats, correlation
    while len(remaining):
        features = similarity.prepare(remaining, order)
        remaining = np.setdiff1d(remaining, features)
        rho = similarity.between(features, order)
        strength = np.round(np.abs(rho), DECIMALS)
        nearest = np.argmax(strength, axis=1)
        rows = np.arange(len(features))
        is_repeat = strength[rows, nearest] > similarity.most
        repeated = features[is_repeat]
        repeats[repeated] = order[nearest[is_repeat]]
        correlation[repeated] = rho[rows, nearest][is_repeat]
    return repeats, correlation
