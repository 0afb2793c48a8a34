"""Numbers of documents that two rankings with ties share above a cut.

A cut is a depth that divides a ranking into the documents above the cut and the
documents below the cut. The cut tie of a ranking is the tie that the cut divides, or
the tie that ends at the cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: Two bounds of a ranking: the bound of the documents in the cut tie or above the cut
#: tie, and the bound of the documents above the cut tie.
Bounds = tuple[Array, Array]


class Cut(NamedTuple):
    """Sizes of cut ties.

    Attributes
    ----------
    tied, fit : ndarray
        Number of documents in the cut tie, and number of these documents above the cut.
        The two numbers are equal if the cut divides no tie.
    """

    tied: IntArray
    fit: IntArray

    @property
    def chance(self) -> FloatArray:
        """Probability that a document of the tie is above the cut."""
        return self.fit / self.tied

    @property
    def chance_of_two(self) -> FloatArray:
        """Probability that two documents of the tie are both above the cut."""
        # A tie of one document does not contain two documents, so the probability is 0.
        return self.chance * ((self.fit - 1) / np.maximum(self.tied - 1, 1))


class SharedCounts(NamedTuple):
    """Numbers of documents that two rankings share above a cut of each ranking.

    The orders of the ties of both rankings are independent and equally likely.

    Attributes
    ----------
    both : ndarray
        Number of documents above the cut ties of both rankings.
    first : ndarray
        Number of documents in the cut tie of the first ranking, and above the cut tie
        of the second ranking.
    second : ndarray
        Number of documents in the cut tie of the second ranking, and above the cut tie
        of the first ranking.
    in_ties : ndarray
        Number of documents in the cut ties of both rankings.
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

        The formula is in the Notes of `top_k_overlap`.
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
        # For the greatest number, each ranking first fills the ranks above its cut with
        # documents of its cut tie that are surely above the other cut: x and y
        # documents. A document of both cut ties counts only if both rankings put the
        # document into one of the remaining ranks.
        x = np.minimum(a.fit, first)
        y = np.minimum(b.fit, second)
        left = np.minimum(a.fit - x, b.fit - y)
        most = both + x + y + np.minimum(left, in_ties)
        # For the least number, each ranking first fills the ranks above its cut with
        # documents of its cut tie that the other ranking has below its cut tie. If
        # these documents do not suffice, x and y further documents follow. As far as
        # possible, p and q of the further documents are in both cut ties, because a
        # document in both cut ties counts only if both rankings put the document above
        # their cuts.
        x = np.maximum(0, a.fit - (a.tied - first - in_ties))
        y = np.maximum(0, b.fit - (b.tied - second - in_ties))
        p = np.minimum(x, in_ties)
        q = np.minimum(y, in_ties)
        least = both + (x - p) + (y - q) + np.maximum(0, p + q - in_ties)
        return least, most
