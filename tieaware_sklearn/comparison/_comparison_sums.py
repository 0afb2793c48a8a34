"""What comparisons of systems are made of, as sums over queries that merge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._engine.added_up import AddedUp
from .._engine.ties import FloatArray, IntArray
from ..evaluation._averages import column_sums
from ..evaluation._exact_sums import ExactMoments, ExactSums
from ..evaluation._intervals import NO_DIFFERENCE

#: the values per query that these sums are made of
STATISTICS = ("expected", "best", "worst", "std", "chance")


@dataclass
class ComparisonSums(AddedUp):
    """Sums over queries of systems and of pairs of them, without rounding.

    Columns have shape (n_treatments, n_measures, n_systems), or (..., n_pairs).

    Attributes
    ----------
    systems : ExactMoments
        Of the expected, best and worst values and of chance, (4, ...).
    tie_variance : ExactSums
        Σ s² over queries, s the standard deviation over the orders of ties.
    differences : ExactMoments
        Of the differences A - B, and of the same where rounding counts as none,
        (2, ...).
    ends : ExactSums
        Of the expected values of A and B, of the smallest of A and the largest of B,
        and of the largest of A and the smallest of B, (6, ...); over the queries where
        both are defined.
    pair_variance : ExactSums
        Σ s² of the differences.
    residuals : ExactMoments or None
        Over the queries where all systems are defined, of the values, and of the same
        less the mean of their query, (2, ...).
    """

    systems: ExactMoments
    tie_variance: ExactSums
    differences: ExactMoments
    ends: ExactSums
    pair_variance: ExactSums
    residuals: ExactMoments | None

    @classmethod
    def of(
        cls, values: dict[str, FloatArray], pairs: IntArray, *, residuals: bool
    ) -> ComparisonSums:
        """Of arrays (n_queries, n_treatments, n_measures, n_systems)."""
        expected, best, worst, std, chance = (values[name] for name in STATISTICS)
        first, second = pairs.T
        there = ~np.isnan(expected)
        both = there[..., first] & there[..., second]
        # best is the smallest where lower is better
        smallest, largest = np.minimum(best, worst), np.maximum(best, worst)
        ends = [
            *(expected[..., first], expected[..., second]),
            *(smallest[..., first], largest[..., second]),
            *(largest[..., first], smallest[..., second]),
        ]
        difference = ends[0] - ends[1]
        apart = np.where(np.abs(difference) <= NO_DIFFERENCE, 0.0, difference)
        spread = np.hypot(std[..., first], std[..., second])
        return cls(
            ExactMoments.of(np.stack([expected, best, worst, chance], axis=1)),
            ExactSums.of(np.where(np.isnan(std), 0.0, std**2)),
            ExactMoments.of(np.stack([difference, apart], axis=1)),
            ExactSums.of(np.where(both[:, None], np.stack(ends, axis=1), 0.0)),
            ExactSums.of(np.where(both, spread**2, 0.0)),
            ExactMoments.of(_centred(expected, there)) if residuals else None,
        )


def _centred(expected: FloatArray, there: FloatArray) -> FloatArray:
    """Values, and values less the mean of their query; NaN unless all are defined."""
    x = np.where(there.all(axis=-1, keepdims=True), expected, np.nan)
    known = np.moveaxis(np.where(np.isnan(x), 0.0, x), -1, 0)
    of_queries = column_sums(known) / x.shape[-1]
    return np.stack([x, x - of_queries[..., None]], axis=1)
