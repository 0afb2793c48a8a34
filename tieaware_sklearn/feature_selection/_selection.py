"""Which features to choose one after another, so that none repeats another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from .._engine.validation import is_number
from ._likeness import Likeness

#: correlations and scores differ in their last bits, which must not decide a choice
DECIMALS = 10


class SelectionRule(NamedTuple):
    """How features are selected, by the parameters of a `RankingFeatureSelector`.

    Attributes
    ----------
    wanted : int, float or None
        ``n_features_to_select``.
    alpha, min_lift : float
    max_correlation : float or None
    diversity : float
    """

    wanted: Any
    alpha: float
    min_lift: float
    max_correlation: float | None
    diversity: float

    @classmethod
    def of(cls, selector: Any) -> SelectionRule:
        """By the parameters of a `RankingFeatureSelector`, checked."""
        wanted = selector.n_features_to_select
        if wanted is not None:
            whole = isinstance(wanted, (int, np.integer)) and wanted >= 1
            share = isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1
            if isinstance(wanted, bool) or not (whole or share):
                raise ValueError(
                    "n_features_to_select must be an integer >= 1, a share in (0, 1] "
                    f"or None, got {wanted!r}"
                )
        for name, low in (("alpha", 0.0), ("min_lift", -np.inf), ("diversity", 0.0)):
            value = getattr(selector, name)
            if not is_number(value, most=1, least=low):
                raise ValueError(f"{name} must be in [{low:g}, 1], got {value!r}")
        limit = selector.max_correlation
        if limit is not None and not is_number(limit, most=1, least=0):
            raise ValueError(
                f"max_correlation must be in [0, 1] or None, got {limit!r}"
            )
        return cls(wanted, selector.alpha, selector.min_lift, limit, selector.diversity)

    def needs_correlation(self) -> str:
        """The parameters for which features must be correlated; nothing if none."""
        diversity = self.wanted is not None and self.diversity > 0
        return " and ".join(
            [f"max_correlation={self.max_correlation}"]
            * (self.max_correlation is not None)
            + [f"diversity={self.diversity}"] * diversity
        )

    def without_correlation(self) -> str:
        """The parameters that select without correlations."""
        diversity = self.wanted is not None and self.diversity > 0
        return " and ".join(
            ["max_correlation=None"] * (self.max_correlation is not None)
            + ["diversity=0"] * diversity
        )


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

    order: NDArray[np.intp]
    repeats: NDArray[np.intp]
    correlation: FloatArray
    by_number: bool

    def is_shown(self) -> bool:
        """Whether a table shows it: it is more than the features that pass a test."""
        return self.by_number or bool((self.repeats >= 0).any())

    def places(self) -> NDArray[np.intp]:
        """For each feature its place in the order, 1 for the first, 0 if left out."""
        places = np.zeros(len(self.repeats), dtype=np.intp)
        places[self.order] = np.arange(1, len(self.order) + 1)
        return places


def repeats_of(
    order: NDArray[np.intp],
    usable: NDArray[np.bool_],
    rule: SelectionRule,
    likeness: Likeness | None,
) -> Selection:
    """The selection of the features in `order`, with what the other usable ones repeat.

    Of several chosen features above the limit it is the most similar one, of equals
    the one chosen first.
    """
    selection = Selection(
        order,
        np.full(len(usable), -1, dtype=np.intp),
        np.full(len(usable), np.nan),
        rule.wanted is not None,
    )
    limit = rule.max_correlation
    others = np.setdiff1d(np.flatnonzero(usable), order)
    if limit is None or likeness is None or not len(order):
        return selection
    while len(others):
        some = likeness.prepare(others, order)
        others = np.setdiff1d(others, some)
        rho = likeness(some, order)
        size = _size(rho)
        at = np.argmax(size, axis=1)
        rows = np.arange(len(some))
        is_repeat = _repeats(size[rows, at], limit)
        selection.repeats[some[is_repeat]] = order[at[is_repeat]]
        selection.correlation[some[is_repeat]] = rho[rows, at][is_repeat]
    return selection


def _size(rho: FloatArray) -> FloatArray:
    return np.asarray(np.round(np.abs(rho), DECIMALS))


def _repeats(closest: FloatArray, limit: float | None) -> NDArray[np.bool_]:
    """Which features repeat a chosen one; a copy does, whatever the limit."""
    return (closest > limit) | (closest >= 1) if limit is not None else closest > np.inf


class Walk:
    """Features chosen one after another, each compared with those chosen before it.

    The next one is the candidate with the greatest (1 - diversity) · relevance -
    diversity · max |ρ| over the chosen features, ties by rank; candidates that repeat
    a chosen feature are passed over. Since max |ρ| only grows, a score that is not up
    to date is an upper bound, and only the candidates that come out on top are
    correlated.

    Parameters
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

    def __init__(
        self,
        candidates: NDArray[np.intp],
        relevance: FloatArray,
        diversity: float,
        limit: float | None,
        likeness: Likeness | None,
    ) -> None:
        self._candidates = candidates
        # without diversity, ties by rank are all there is
        self._gain = (1 - diversity) * relevance if diversity else 0 * relevance
        self._diversity = diversity
        self._limit = limit
        self._likeness = likeness
        self._closest = np.zeros(len(candidates))
        self._compared = np.zeros(len(candidates), dtype=np.intp)
        self._open = np.ones(len(candidates), dtype=bool)
        self._chosen: list[int] = []

    @property
    def chosen(self) -> NDArray[np.intp]:
        """Indices of the features chosen so far, in their order."""
        return self._candidates[np.array(self._chosen, dtype=np.intp)]

    def choose(self, number: int) -> None:
        """Go on until so many are chosen, or only repeats remain."""
        while len(self._chosen) < number and self._open.any():
            if not self._chosen:
                self._take(0)  # the best
                continue
            score = np.round(self._gain - self._diversity * self._closest, DECIMALS)
            score[~self._open] = -np.inf
            best = int(np.argmax(score))
            if self._likeness is None or self._compared[best] == len(self._chosen):
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
        left = np.setdiff1d(np.arange(len(self._candidates)), self._chosen)
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

    def _compare(self, wanted: NDArray[np.intp]) -> None:
        """Compare some candidates with the chosen ones; repeats are out."""
        if self._likeness is None:
            return
        features = self._candidates[wanted]
        wanted = wanted[
            np.isin(features, self._likeness.prepare(features, self.chosen))
        ]
        since = int(self._compared[wanted].min())
        if since < len(self._chosen):
            rho = self._likeness(self._candidates[wanted], self.chosen[since:])
            closest = _size(rho).max(axis=1)
            self._closest[wanted] = np.maximum(self._closest[wanted], closest)
        self._compared[wanted] = len(self._chosen)
        self._open[wanted] &= ~_repeats(self._closest[wanted], self._limit)
