"""Numbers of documents that two rankings with ties share above a cut.

A cut is a depth: it divides a ranking into the documents above it and the documents
below it. The cut tie of a ranking is the tie that its cut divides, or that ends at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: Two bounds of a ranking: of the documents in its cut tie or above the cut tie, and of
#: the documents above the cut tie.
Bounds = tuple[Array, Array]


class Cut(NamedTuple):
    """Sizes of cut ties.

    Attributes
    ----------
    tied, fit : ndarray
        Number of documents of the cut tie, and number of its documents above the cut.
        The two are equal where the cut divides no tie.
    """

    tied: IntArray
    fit: IntArray

    @property
    def chance(self) -> FloatArray:
        """The probability that a document of the tie is above the cut."""
        return self.fit / self.tied

    @property
    def chance_of_two(self) -> FloatArray:
        """The probability that two documents of the tie are both above the cut."""
        # A tie of one document contains no two documents. Its probability is 0.
        return self.chance * ((self.fit - 1) / np.maximum(self.tied - 1, 1))


class SharedCounts(NamedTuple):
    """Numbers of documents that two rankings share, where a cut divides each ranking.

    The orders of the ties of both rankings are independent and equally likely.

    Attributes
    ----------
    both : ndarray
        Documents above the cut ties of both rankings.
    first : ndarray
        Documents in the cut tie of the first ranking, and above the cut tie of the
        second ranking.
    second : ndarray
        Documents in the cut tie of the second ranking, and above the cut tie of the
        first ranking.
    in_ties : ndarray
        Documents in the cut ties of both rankings.
    """

    both: IntArray
    first: IntArray
    second: IntArray
    in_ties: IntArray

    @classmethod
    def from_bounds(
        cls, count: Callable[..., IntArray], a: Bounds, b: Bounds
    ) -> SharedCounts:
        """Return the counts of documents by the bounds of both rankings.

        `count` is called with a bound of each ranking, and returns the number of
        documents within both bounds.
        """
        a_near, a_sure = a
        b_near, b_sure = b
        both = count(a_sure, b_sure)
        first = count(a_near, b_sure) - both
        second = count(a_sure, b_near) - both
        in_ties = count(a_near, b_near) - both - first - second
        return cls(both, first, second, in_ties)

    def mean(self, a: Cut, b: Cut) -> FloatArray:
        """Return the mean number of documents above both cuts."""
        sure = self.both + self.first * a.chance + self.second * b.chance
        return sure + self.in_ties * a.chance * b.chance

    def variance(self, a: Cut, b: Cut) -> FloatArray:
        """Return the variance of the number of documents above both cuts.

        The notes of `top_k_overlap` contain the formula.
        """
        _, first, second, in_ties = self
        alpha = a.chance
        beta = b.chance
        pair = alpha * beta
        # Covariances of two documents of a tie.
        alpha_covariance = a.chance_of_two - alpha**2
        beta_covariance = b.chance_of_two - beta**2
        pair_covariance = a.chance_of_two * b.chance_of_two - pair**2
        variance = first * (alpha * (1 - alpha) + (first - 1) * alpha_covariance)
        variance += second * (beta * (1 - beta) + (second - 1) * beta_covariance)
        variance += in_ties * (pair * (1 - pair) + (in_ties - 1) * pair_covariance)
        variance += 2 * first * in_ties * beta * alpha_covariance
        variance += 2 * second * in_ties * alpha * beta_covariance
        return variance

    def extremes(self, a: Cut, b: Cut) -> tuple[IntArray, IntArray]:
        """Return the least and the greatest number over all orders of ties."""
        both, first, second, in_ties = self
        # For the greatest number, each ranking puts documents above its cut that the
        # other ranking surely has there: x and y. Only a document that both put into
        # the ranks left counts in addition.
        x = np.minimum(a.fit, first)
        y = np.minimum(b.fit, second)
        left = np.minimum(a.fit - x, b.fit - y)
        most = both + x + y + np.minimum(left, in_ties)
        # For the least number, each ranking first fills the ranks above its cut with
        # documents of its cut tie that the other ranking has below its cut tie. If
        # these do not suffice, x and y further documents follow. They are documents in
        # both cut ties, p and q of them, as long as there are any, because such a
        # document counts only if both rankings put it above their cuts.
        x = np.maximum(0, a.fit - (a.tied - first - in_ties))
        y = np.maximum(0, b.fit - (b.tied - second - in_ties))
        p = np.minimum(x, in_ties)
        q = np.minimum(y, in_ties)
        least = both + (x - p) + (y - q) + np.maximum(0, p + q - in_ties)
        return least, most
