"""Inferred precisions at the relevant documents of a tie group, over its orders.

Of n documents that tie, N are judged and r relevant. Above one of the relevant
documents stand x others of its group, x uniform on 0 ... n - 1; j of these are judged,
hypergeometric; of those, i are relevant, hypergeometric with mean j (r - 1)/(N - 1).
What the document is worth is a linear function of i, so that its mean given x and j is
the value at the mean of i.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from .._engine.ties import FloatArray, IntArray
from ._sampled_places import generator, n_orders, places_of_some

#: of Yilmaz and Aslam, as trec_eval has it
EPSILON = 0.00001
#: variances are computed in at most so many steps
_STEPS = 200_000
#: numbers held at a time
_CELLS = 1 << 20
#: -ln of what the counts left out have in all: nothing beside 1
_LEFT_OUT = 40.0


class Ties(NamedTuple):
    """Counts of tie groups, one each: of them, and of what stands above them.

    Attributes
    ----------
    lo, n : ndarray of shape (n_groups,)
        Documents above, and in the group.
    judged, relevant : ndarray of shape (n_groups,)
        Judged and relevant ones in the group.
    judged_above, relevant_above : ndarray of shape (n_groups,)
    """

    lo: IntArray
    n: IntArray
    judged: IntArray
    relevant: IntArray
    judged_above: IntArray
    relevant_above: IntArray

    def some(self, chosen: Any = slice(None)) -> Iterator[Tie]:
        """The counts of each group, or of the chosen ones."""
        columns = (column[chosen].tolist() for column in self)
        return map(Tie._make, zip(*columns, strict=True))


class Tie(NamedTuple):
    """The counts of one tie group, as in `Ties`."""

    lo: int
    n: int
    judged: int
    relevant: int
    judged_above: int
    relevant_above: int


class InferredTies(NamedTuple):
    """What relevant documents are worth.

    Attributes
    ----------
    pools_all : bool
        Every document is in the pool, not only those judged.
    """

    pools_all: bool

    def above(self, judged: Any, relevant: Any) -> Any:
        """What `value` needs to know of the documents above one."""
        precision = (relevant + EPSILON) / (judged + 2 * EPSILON)
        return precision if self.pools_all else judged * precision

    def value(self, rank: Any, above: Any) -> Any:
        """The inferred precision at a relevant document; `above` may be a mean."""
        return (1 + (rank - 1) * above if self.pools_all else 1 + above) / rank

    def mean(self, tie: Tie) -> float:
        """The mean sum of the values of a group."""
        return _mean(self, tie)

    def variance(self, tie: Tie) -> tuple[float, bool]:
        """The variance of that sum, and whether it is estimated."""
        return _variance(self, tie)


@lru_cache(maxsize=4096)
def _mean(worth: InferredTies, tie: Tie) -> float:
    lo, n, judged, relevant, judged_above, relevant_above = tie
    others = judged - 1
    j = np.arange(judged)
    share = (relevant - 1) / max(others, 1)
    above = worth.above(judged_above + j, relevant_above + share * j)
    total = 0.0
    for x, first, chances in _judged_above(n - 1, others):
        columns = first[:, None] + np.arange(chances.shape[1])
        found = (chances * above[columns]).sum(axis=1)
        total += float(worth.value(lo + x + 1, found).sum())
    return relevant * (total / n)


def _judged_above(
    n: int, marked: int
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """How many of x = 0 ... n documents drawn from n are marked: rows of chances.

    Yields some x, the first number of each row, and the chances of this number and of
    those that follow. Numbers whose chances add up to nothing are left out.
    """
    share = marked / n if n else 0.0
    variance = n * share * (1 - share) / 4
    # Bernstein's inequality, which holds without replacement, too (Hoeffding 1963)
    reach = _LEFT_OUT / 3 + math.sqrt(_LEFT_OUT**2 / 9 + 2 * _LEFT_OUT * variance)
    width = min(marked + 1, 2 * math.ceil(reach) + 2)
    factorials = gammaln(np.arange(n + 2) + 1.0)
    step = max(_CELLS // width, 1)
    for at in range(0, n + 1, step):
        x = np.arange(at, min(at + step, n + 1))
        near = np.floor(x * share).astype(np.int64) - width // 2
        first = np.clip(near, 0, marked + 1 - width)
        j = first[:, None] + np.arange(width)
        rest = x[:, None] - j
        there = (rest >= 0) & (rest <= n - marked)
        rest = np.where(there, rest, 0)
        # C(marked, j) C(n - marked, x - j), but for factors of the row or of all
        logs = -factorials[j] - factorials[marked - j]
        logs -= factorials[rest] + factorials[n - marked - rest]
        logs[~there] = -np.inf
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        yield x, first, chances / chances.sum(axis=1, keepdims=True)


@lru_cache(maxsize=4096)
def _variance(worth: InferredTies, tie: Tie) -> tuple[float, bool]:
    if tie.judged == tie.n:
        if tie.n * tie.relevant <= _STEPS:
            return _exact_of_judged(worth, tie), False
    elif tie.n * tie.judged * tie.relevant <= _STEPS:
        return _exact(worth, tie), False
    return _sampled(worth, tie), True


def _exact_of_judged(worth: InferredTies, tie: Tie) -> float:
    """From the last place up: moments of what follows, by the relevant ones above.

    Where all documents are judged.
    """
    lo, n, _, relevant, judged_above, relevant_above = tie
    met = np.arange(relevant + 1)
    mean, variance = np.zeros((2, relevant + 2))
    for x in range(n - 1, -1, -1):
        hit = np.clip((relevant - met) / (n - x), 0, 1)
        here = worth.value(
            lo + x + 1, worth.above(judged_above + x, relevant_above + met)
        )
        with_it, without = here + mean[1:], mean[:-1]
        new = hit * with_it + (1 - hit) * without
        variance[:-1] = hit * (variance[1:] + (with_it - new) ** 2) + (1 - hit) * (
            variance[:-1] + (without - new) ** 2
        )
        mean[:-1] = new
    return float(variance[0])


def _exact(worth: InferredTies, tie: Tie) -> float:
    """The same by judged and relevant documents above, rows and columns."""
    lo, n, judged, relevant, judged_above, relevant_above = tie
    met = np.arange(relevant + 1)
    seen = np.arange(judged + 1)[:, None]
    mean, variance = np.zeros((2, judged + 2, relevant + 2))
    above = worth.above(judged_above + seen, relevant_above + met)
    for x in range(n - 1, -1, -1):
        left = n - x
        hit = np.clip((relevant - met) / left, 0, 1) + np.zeros(seen.shape)
        miss = np.clip((judged - seen - (relevant - met)) / left, 0, 1 - hit)
        passed = np.maximum(1 - hit - miss, 0)
        new, ends = np.zeros((2, judged + 1, relevant + 1))
        with_it = worth.value(lo + x + 1, above) + mean[1:, 1:]
        parts = [
            (hit, with_it, variance[1:, 1:]),
            (miss, mean[1:, :-1], variance[1:, :-1]),
            (passed, mean[:-1, :-1], variance[:-1, :-1]),
        ]
        for chance, of_part, _ in parts:
            new += chance * of_part
        for chance, of_part, own in parts:
            ends += chance * (own + (of_part - new) ** 2)
        mean[:-1, :-1], variance[:-1, :-1] = new, ends
    return float(variance[0, 0])


def _sampled(worth: InferredTies, tie: Tie) -> float:
    """Over random orders that these counts decide."""
    lo, n, judged, relevant, judged_above, relevant_above = tie
    rng = generator(np.array(tie))
    orders = n_orders(judged if judged < n else relevant)
    sums = []
    step = max(_CELLS // judged, 1)
    for at in range(0, orders, step):
        some = min(step, orders - at)
        # which of the judged documents are relevant, and where these stand
        place = chosen = places_of_some(rng, judged, relevant, some)
        if judged < n:
            there = places_of_some(rng, n, judged, some)
            place = np.take_along_axis(there, chosen - 1, axis=1)
        above = worth.above(
            judged_above + chosen - 1, relevant_above + np.arange(relevant)
        )
        sums.append(worth.value(lo + place, above).sum(axis=1))
    return float(np.concatenate(sums).var(ddof=1))
