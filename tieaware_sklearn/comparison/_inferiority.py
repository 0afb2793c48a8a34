"""Is a system, made cheaper, still about as good."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._engine.ties import FloatArray
from ..evaluation._averages import mean
from ..evaluation._intervals import t_test


class QueryLosses(NamedTuple):
    """Two systems on the same queries, as far as the test of inferiority needs them.

    Attributes
    ----------
    n_queries : int
        Queries that have both.
    value, loss : float
        Means of the cheaper system, and of the exact one less the cheaper one.
    value_variance, loss_variance, covariance : float
        Of the means.
    """

    n_queries: int
    value: float
    loss: float
    value_variance: float
    loss_variance: float
    covariance: float

    @classmethod
    def of(cls, exact: FloatArray, cheaper: FloatArray) -> QueryLosses:
        """Of the values per query, NaN left out."""
        there = ~(np.isnan(exact) | np.isnan(cheaper))
        x, loss = cheaper[there], (exact - cheaper)[there]
        n = len(x)
        means = mean(x), mean(loss)
        if n < 2:
            return cls(n, *means, math.nan, math.nan, math.nan)
        apart = x - means[0], loss - means[1]
        squares = (apart[0] ** 2, apart[1] ** 2, apart[0] * apart[1])
        scale = n * (n - 1)
        return cls(n, *means, *(math.fsum(part.tolist()) / scale for part in squares))

    def inferiority(self, tolerance: float, *, greater_is_better: bool) -> float:
        """p-value of mean(cheaper) <= tolerance x mean(exact), one-tailed paired t.

        Small ones say that the cheaper system keeps more than this share. Where
        lower is better it is mean(cheaper) >= mean(exact) / tolerance.
        """
        # cheaper - tolerance exact, or exact - tolerance cheaper
        a = 1 - tolerance
        b = -tolerance if greater_is_better else 1.0
        average = a * self.value + b * self.loss
        variance = a * a * self.value_variance + b * b * self.loss_variance
        variance += 2 * a * b * self.covariance
        error = np.sqrt(np.maximum(variance, 0.0))
        return float(t_test(average, error, self.n_queries).pvalue)
