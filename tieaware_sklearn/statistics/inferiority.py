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
    """Means and second moments of the values of two systems on the same queries.

    Attributes
    ----------
    n_queries : int
        Number of queries for which both systems have a value.
    value, loss : float
        Mean of the cheaper system, and mean of exact - cheaper.
    value_variance, loss_variance, covariance : float
        Variances and covariance of these two means.
    effective : float or None
        Effective number of queries, or None for queries of equal weight in trials
        stored by versions before 2.0.
    """

    n_queries: int
    value: float
    loss: float
    value_variance: float
    loss_variance: float
    covariance: float
    effective: float | None

    @classmethod
    def from_values(
        cls, exact: FloatArray, cheaper: FloatArray, weight: FloatArray | None = None
    ) -> QueryLosses:
        """Compute the moments from values per query.

        NaN and queries of weight 0 are left out.
        """
        columns = np.column_stack([cheaper, exact - cheaper])
        is_counted, weight = counted_queries(~np.isnan(columns[:, 1]), weight)
        columns = columns[is_counted]
        n = len(columns)
        value, loss = column_means(columns, weight).tolist()
        effective = float(n)
        if weight is not None:
            effective = effective_number(weight)
        if effective < 2:
            return cls(n, value, loss, math.nan, math.nan, math.nan, effective)
        deviations = columns - [value, loss]
        if weight is None:
            scale = effective * (effective - 1)
        else:
            shares = weight / column_sums(weight)
            deviations *= shares[:, None]
            scale = (effective - 1) / effective
        x, y = deviations.T
        products = np.column_stack([x**2, y**2, x * y])
        moments = column_sums(products) / scale
        value_variance, loss_variance, covariance = moments.tolist()
        return cls(n, value, loss, value_variance, loss_variance, covariance, effective)

    def inferiority(self, tolerance: float, *, greater_is_better: bool) -> float:
        """Return the p-value for the null mean(cheaper) <= tolerance x mean(exact).

        The test is a one-sided paired t test. A small p-value is evidence that the
        cheaper system keeps more than this share of the exact system's mean. If lower
        values are better, the null hypothesis is mean(cheaper) >= mean(exact) /
        tolerance.
        """
        # The tested mean, a * value + b * loss, equals mean(cheaper) - tolerance *
        # mean(exact), or mean(exact) - tolerance * mean(cheaper) if lower is better.
        a = 1 - tolerance
        b = 1.0
        if greater_is_better:
            b = -tolerance
        mean = a * self.value + b * self.loss
        variance = a * a * self.value_variance + b * b * self.loss_variance
        variance += 2 * a * b * self.covariance
        # Because of rounding, a variance of 0 may come out negative.
        error = np.sqrt(np.maximum(variance, 0.0))
        largest = max(abs(self.value), abs(self.value + self.loss))
        tested = t_test(mean, error, self.n_queries, "greater", self.effective, largest)
        return float(tested.pvalue)
