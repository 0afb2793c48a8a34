"""Weights of a linear score, tuned by coordinate ascent on an exact measure.

One weight is moved at a time, to the best of several places (Metzler and Croft 2007).
The measure is constant between the places where two documents of a query change
ranks, so there is no gradient to follow. All places are tried as columns of scores that
are ranked in one call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import FloatArray, IntArray
from ..evaluation import Asked, Prepared, columns_at_once, means

#: moves of a weight: .001, .003, .007, ..., 16.4, up and down, the smallest first
_FIRST, _GROWTH, _N_MOVES = 0.001, 2.0, 14
_MOVES = np.repeat(np.cumsum(_FIRST * _GROWTH ** np.arange(_N_MOVES)), 2)
_MOVES[1::2] *= -1
#: iterations in a row that may bring nothing
_PATIENCE = 2
#: a smaller difference of two means may be rounding
SAME = 1e-12


def linear_scores(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Σ_j X_ij coef_j, the same bits for the same row."""
    scores = np.zeros(len(X))
    # einsum itself cuts rows in buffers of 8192, not at the same place in each
    for start in range(0, len(coef), 4096):
        part = np.ascontiguousarray(X[:, start : start + 4096])
        scores += np.einsum("ij,j->i", part, coef[start : start + 4096])
    return scores


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Features and labels of whole queries, and the measure that is to rise.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    prepared : Prepared
        Labels of the rows.
    asked : Asked
        One measure.
    """

    X: FloatArray
    prepared: Prepared
    asked: Asked

    @property
    def sign(self) -> int:
        """-1 where lower values of the measure are better."""
        return 1 if self.asked.measures[0].greater_is_better else -1

    def of_queries(self, chosen: IntArray) -> RankedRows:
        """Some of the queries; the rows must stand query by query."""
        rows = self.prepared.queries.rows(chosen)
        whole = self.prepared
        weight = None if whole.weight is None else whole.weight[chosen]
        queries = whole.queries.some(chosen)
        part = Prepared(whole.labels[rows], queries, weight, keep=True)
        return RankedRows(self.X[rows], part, self.asked)

    def varying(self) -> NDArray[np.bool_]:
        """Features that are not constant within every query."""
        return np.asarray(self.prepared.queries.varying(self.X).any(axis=0))

    def value(self, coef: FloatArray) -> float:
        """Mean of the measure, negated where lower is better, of these weights."""
        return float(self.values(linear_scores(self.X, coef)[None])[0])

    def values(self, columns: FloatArray) -> FloatArray:
        """The same of columns of scores, (n_columns, n_rows)."""
        size = columns_at_once(len(self.X), len(columns), 1)
        parts = [columns[at : at + size] for at in range(0, len(columns), size)]
        return np.concatenate([self._of_part(part) for part in parts])

    def moved(
        self, scores: FloatArray, column: FloatArray, by: FloatArray
    ) -> FloatArray:
        """The same of scores to which `column` is added so many times."""
        size = columns_at_once(len(self.X), len(by), 1)
        parts = [by[at : at + size, None] for at in range(0, len(by), size)]
        return np.concatenate([self._of_part(scores + part * column) for part in parts])

    def _of_part(self, columns: FloatArray) -> FloatArray:
        found = self.prepared.values(self.asked, columns)["expected"]
        return self.sign * means(found[:, :, 0].T, self.prepared.weight)


class Ascent(NamedTuple):
    """Where an ascent ended.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    train, held_out : list of float
        The measure, negated where lower is better, of the start and after each
        iteration; none held out without such queries.
    n_iter : int
        The iteration that gave `coef`.
    """

    coef: FloatArray
    train: list[float]
    held_out: list[float]
    n_iter: int

    @property
    def value(self) -> float:
        """What ascents are compared by."""
        return (self.held_out or self.train)[self.n_iter]


@dataclass(frozen=True)
class Stopping:
    """When an ascent stops.

    Attributes
    ----------
    max_iter : int
        Largest number of iterations.
    tol : float
        Iterations in a row that raise the best value by no more than this are the
        last. It is that of the held-out queries where there are some.
    """

    max_iter: int
    tol: float


def ascend(
    train: RankedRows,
    held_out: RankedRows | None,
    start: FloatArray | None,
    scales: FloatArray,
    stopping: Stopping,
    seed: int,
) -> Ascent:
    """Weights from those of `start` on, each times its feature's share of `scales`.

    Parameters
    ----------
    train, held_out : RankedRows
        Queries whose measure rises, and those that say where to stop.
    start : ndarray of shape (n_features,) or None
        Weights of features divided by their `scales`, not all 0; None draws them.
    scales : ndarray of shape (n_features,)
        Infinite for features that keep a weight of 0.
    stopping : Stopping
    seed : int
        Of the orders in which weights are moved, and of weights that are drawn.
    """
    draw = np.random.RandomState(seed)
    known = np.isfinite(scales)
    features = np.flatnonzero(known)
    if start is None:
        start = draw.uniform(-1, 1, len(scales))
        start = np.where(known, start, 0.0) if known.any() else start
    climb = _Climb(train, start, scales)
    best, n_iter = climb.coef, 0
    values = [climb.value]
    others = [] if held_out is None else [held_out.value(climb.coef)]
    watched, idle = values if held_out is None else others, 0
    for iteration in range(1, stopping.max_iter + 1):
        before = climb.value
        for feature in draw.permutation(features):
            climb.move(feature)
        values.append(climb.value)
        if held_out is not None:
            others.append(held_out.value(climb.coef))
        top = watched[n_iter]
        idle = 0 if watched[-1] > top + stopping.tol else idle + 1
        if watched[-1] > top + SAME:
            best, n_iter = climb.coef, iteration
        if climb.value == before or idle == _PATIENCE:
            break
    return Ascent(best, values, others, n_iter)


class _Climb:
    """Weights whose absolute values sum to 1, and the value that they have."""

    def __init__(self, rows: RankedRows, start: FloatArray, scales: FloatArray) -> None:
        self._rows, self._scales = rows, scales
        self._set(start)
        self.value = rows.value(self.coef)

    def _set(self, weights: FloatArray) -> None:
        self._weights = weights / np.abs(weights).sum()
        self.coef = self._weights / self._scales
        self._scores = linear_scores(self._rows.X, self.coef)

    def move(self, feature: int) -> None:
        """Give one weight the best of its places, or leave it where it is."""
        rows, old = self._rows, self._weights
        moves = _MOVES
        if old[feature] and np.count_nonzero(old) > 1:
            # fewer features are better where the values are equal
            moves = np.append(-old[feature], moves)
        by = moves / self._scales[feature]
        found = rows.moved(self._scores, rows.X[:, feature], by)
        # the first, a small one, of those that are equally good
        at = int(np.argmax(found >= found.max() - SAME))
        if found[at] <= self.value + SAME:
            return
        new = old.copy()
        new[feature] += moves[at]
        if not new.any():
            return
        kept = self.coef, self._scores
        self._set(new)
        # sums of other roundings may tie otherwise: what `predict` gives decides
        value = float(rows.values(self._scores[None])[0])
        if value > self.value + SAME:
            self.value = value
        else:
            self._weights, (self.coef, self._scores) = old, kept


def lifts(rows: RankedRows, scales: FloatArray) -> FloatArray:
    """What each feature alone adds to the value of a ranking that ties everything.

    Negative where it does so in ascending order, 0 where neither order does.
    """
    chance = rows.value(np.zeros(len(scales)))
    nothing = np.zeros(len(rows.X))
    ends = np.array([1.0, -1.0])
    found = np.zeros(len(scales))
    for feature in np.flatnonzero(np.isfinite(scales)):
        by = ends / scales[feature]
        down, up = rows.moved(nothing, rows.X[:, feature], by) - chance
        found[feature] = max(down, 0.0) if down >= up else -max(up, 0.0)
    return found


def starts(lift: FloatArray, scales: FloatArray) -> list[FloatArray | None]:
    """Weights by lift, and the best feature alone."""
    known = np.isfinite(scales)
    # by equal weights where no feature has a lift, or none can be moved
    equal = known.astype(np.float64) if known.any() else np.ones(len(lift))
    first = lift if lift.any() else equal
    if np.count_nonzero(first) == 1:
        return [first]
    best = np.arange(len(first)) == np.argmax(np.abs(first))
    return [first, np.where(best, first, 0.0)]


def split_queries(
    rows: RankedRows, share: float | None, draw: np.random.RandomState
) -> tuple[RankedRows, RankedRows | None]:
    """Queries to tune by, and those held out, if any are.

    Raises
    ------
    ValueError
        If one of the two has no query, no relevant document, or no mean.
    """
    if share is None:
        _check_mean(rows, "query")
        return rows, None
    n_queries = rows.prepared.queries.n_queries
    number = round(share * n_queries)
    if not 0 < number < n_queries:
        raise ValueError(
            "validation_fraction must hold out at least one query and leave at least "
            f"one, got {share!r} of {n_queries} queries"
        )
    drawn = draw.permutation(n_queries)
    parts = (
        rows.of_queries(np.sort(drawn[number:])),
        rows.of_queries(np.sort(drawn[:number])),
    )
    for part, what in zip(parts, ("left to tune by", "held out"), strict=True):
        if part.prepared.labels.max() <= 0:
            raise ValueError(
                f"validation_fraction={share!r} must leave relevant documents in both "
                f"parts, got none in the {part.prepared.queries.n_queries} queries "
                f"{what}: another random_state draws other queries"
            )
        _check_mean(part, f"query {what}")
    return parts


def _check_mean(rows: RankedRows, which: str) -> None:
    if math.isnan(rows.value(np.zeros(rows.X.shape[1]))):
        raise ValueError(
            f"{rows.asked.measures[0]} must be defined for a query whose weight is not "
            f"0 to tune weights, got no such {which}"
        )
