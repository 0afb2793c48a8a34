"""Documents that two rankings with ties share, where both are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: what documents are in a cut tie or above it, and what are above it
Bounds = tuple[Array, Array]


class Cut(NamedTuple):
    """A tie that is cut: one of n documents, of which a are above the cut.

    Attributes
    ----------
    tied, fit : ndarray
        n and a. Both are 1 where no tie is cut.
    """

    tied: IntArray
    fit: IntArray

    @property
    def chance(self) -> FloatArray:
        """The chance of a document of the tie to be above the cut."""
        return self.fit / self.tied

    @property
    def chance_of_two(self) -> FloatArray:
        """The chance of two of its documents to be both above the cut."""
        return self.chance * ((self.fit - 1) / np.maximum(self.tied - 1, 1))


class Shared(NamedTuple):
    """Numbers of documents in two rankings, of which each is cut.

    The orders of the ties of both rankings are independent, and equally likely.

    Attributes
    ----------
    both : ndarray
        Above the cut ties of both rankings.
    first : ndarray
        In the cut tie of the first ranking, and above that of the second.
    second : ndarray
        The reverse.
    in_ties : ndarray
        In both ties.
    """

    both: IntArray
    first: IntArray
    second: IntArray
    in_ties: IntArray

    @classmethod
    def of(cls, count: Callable[..., IntArray], a: Bounds, b: Bounds) -> Shared:
        """From a function that counts documents within one bound of each ranking."""
        both = count(a[1], b[1])
        first, second = count(a[0], b[1]) - both, count(a[1], b[0]) - both
        return cls(both, first, second, count(a[0], b[0]) - both - first - second)

    def mean(self, a: Cut, b: Cut) -> FloatArray:
        """Mean number of documents above both cuts."""
        sure = self.both + self.first * a.chance + self.second * b.chance
        return sure + self.in_ties * a.chance * b.chance

    def variance(self, a: Cut, b: Cut) -> FloatArray:
        """Variance of this number; the formula is in the notes of `top_k_overlap`."""
        one, other, pair = a.chance, b.chance, a.chance * b.chance
        # covariance of two documents of a tie
        apart, other_apart = a.chance_of_two - one**2, b.chance_of_two - other**2
        two = a.chance_of_two * b.chance_of_two - pair**2
        _, first, second, in_ties = self
        return (
            first * (one * (1 - one) + (first - 1) * apart)
            + second * (other * (1 - other) + (second - 1) * other_apart)
            + in_ties * (pair * (1 - pair) + (in_ties - 1) * two)
            + 2 * first * in_ties * other * apart
            + 2 * second * in_ties * one * other_apart
        )

    def extremes(self, a: Cut, b: Cut) -> tuple[IntArray, IntArray]:
        """The least and the most documents above both cuts in any order of ties."""
        both, first, second, in_ties = self
        x, y = np.minimum(a.fit, first), np.minimum(b.fit, second)
        left = np.minimum(a.fit - x, b.fit - y)
        most = both + x + y + np.minimum(left, in_ties)
        # documents that must be taken from those that the other ranking has, too
        x = np.maximum(0, a.fit - (a.tied - first - in_ties))
        y = np.maximum(0, b.fit - (b.tied - second - in_ties))
        p, q = np.minimum(x, in_ties), np.minimum(y, in_ties)
        least = both + (x - p) + (y - q) + np.maximum(0, p + q - in_ties)
        return least, most
