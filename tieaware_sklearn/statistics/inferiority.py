"""Losses of a cheaper system against an exact one, and the test of a tolerance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from .averages import column_means, column_sums, counted_queries
from .moments import effective_number
from .t_test import t_test


class QueryLosses(NamedTuple):
    """Mean and second moments of two systems' values on the same queries.

    Attributes
    ----------
    n_queries : int
        Queries where both are defined.
    value, loss : float
        Means of the cheaper system, and of the exact one less the cheaper one.
    value_variance, loss_variance, covariance : float
        Of the means.
    effective : float or None
        Number of queries of equal weight that these are worth. None for queries of
        equal weight in trials that versions before 2.0 stored.
    """

    n_queries: int
    value: float
    loss: float
    value_variance: float
    loss_variance: float
    covariance: float
    effective: float | None

    @classmethod
    def of(
        cls, exact: FloatArray, cheaper: FloatArray, weight: FloatArray | None = None
    ) -> QueryLosses:
        """Compute from values per query, without those that are NaN or weigh 0."""
        columns = np.column_stack([cheaper, exact - cheaper])
        is_counted, weight = counted_queries(~np.isnan(columns[:, 1]), weight)
        columns = columns[is_counted]
        n = len(columns)
        value, loss = column_means(columns, weight).tolist()
        effective = float(n) if weight is None else effective_number(weight)
        if effective < 2:
            return cls(n, value, loss, math.nan, math.nan, math.nan, effective)
        deviations = columns - [value, loss]
        if weight is None:
            scale = float(n * (n - 1))
        else:
            deviations *= (weight / column_sums(weight))[:, None]
            scale = (effective - 1) / effective
        x, y = deviations.T
        squares = np.column_stack([x**2, y**2, x * y])
        of_value, of_loss, of_both = (column_sums(squares) / scale).tolist()
        return cls(n, value, loss, of_value, of_loss, of_both, effective)

    def inferiority(self, tolerance: float, *, greater_is_better: bool) -> float:
        """One-tailed paired t test of mean(cheaper) <= tolerance x mean(exact).

        If p is small, the cheaper system keeps more than this share. Where lower is
        better, the hypothesis is mean(cheaper) >= mean(exact) / tolerance.
        """
        # cheaper - tolerance exact, or exact - tolerance cheaper
        a = 1 - tolerance
        b = -tolerance if greater_is_better else 1.0
        mean = a * self.value + b * self.loss
        variance = a * a * self.value_variance + b * b * self.loss_variance
        variance += 2 * a * b * self.covariance
        error = np.sqrt(np.maximum(variance, 0.0))
        largest = max(abs(self.value), abs(self.value + self.loss))
        tested = t_test(mean, error, self.n_queries, "greater", self.effective, largest)
        return float(tested.pvalue)
