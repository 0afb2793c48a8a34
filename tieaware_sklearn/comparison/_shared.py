"""Numbers of documents that two rankings with ties share above a cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._typing import Array, FloatArray, IntArray

#: Documents in a cut tie or above it, and documents above it.
Bounds = tuple[Array, Array]


class Cut(NamedTuple):
    """Sizes of the ties that a cut divides.

    Attributes
    ----------
    tied, fit : ndarray
        Number of documents of the tie, and number of its documents above the cut. Both
        are 1 where no tie is cut.
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
        """Count with a function of a bound of each ranking that counts documents."""
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
        x = np.minimum(a.fit, first)
        y = np.minimum(b.fit, second)
        left = np.minimum(a.fit - x, b.fit - y)
        most = both + x + y + np.minimum(left, in_ties)
        # The tied documents that only one ranking has may not fill the ranks above the
        # cut. The missing documents are shared.
        x = np.maximum(0, a.fit - (a.tied - first - in_ties))
        y = np.maximum(0, b.fit - (b.tied - second - in_ties))
        p = np.minimum(x, in_ties)
        q = np.minimum(y, in_ties)
        least = both + (x - p) + (y - q) + np.maximum(0, p + q - in_ties)
        return least, most
