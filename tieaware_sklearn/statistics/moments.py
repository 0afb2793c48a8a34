"""Moments of values over queries, which can be merged, and their t intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._typing import Array, FloatArray
from .averages import NO_DIFFERENCE, column_sums, per_column
from .t_test import TTest, t_test


class MergeableSums:
    """A dataclass of sums over queries, which can be merged field by field.

    Numbers and arrays are added, flags are joined by "or", and fields that are
    `MergeableSums` are merged. If a field is None in one part, the field is None in the
    result.
    """

    def merge(self, second: Self) -> Self:
        """Return the sums over the queries of both parts."""
        merged: list[Any] = []
        for field in fields(self):  # type: ignore[arg-type]
            a = getattr(self, field.name)
            b = getattr(second, field.name)
            total: Any
            if a is None or b is None:
                total = None
            elif isinstance(a, MergeableSums):
                total = a.merge(b)
            elif not isinstance(a, np.ndarray):
                total = a + b
            elif a.dtype.kind == "b":
                total = np.asarray(a | b)
            else:
                # The sum of two arrays of shape () is a scalar.
                total = np.asarray(a + b)
            merged.append(total)
        return type(self)(*merged)


@dataclass
class QueryMoments(MergeableSums):
    """Means and spreads of several columns over queries.

    Every attribute has the shape of the columns. Query i has the weight w_i. The
    standard error of the weighted mean is
    sqrt(Σ w_i² (x_i - x̄)² m/(m - 1)) / Σ w_i, where m is the effective number of
    queries. For equal weights, the standard error is s/√n.

    Attributes
    ----------
    count : ndarray
        Number of queries with a positive weight.
    weight, weight2 : ndarray
        Σ w and Σ w².
    mean, mean2 : ndarray
        Means of x, weighted by w and by w².
    spread2 : ndarray
        Σ w² (x - mean2)².
    """

    count: FloatArray
    weight: FloatArray
    weight2: FloatArray
    mean: FloatArray
    mean2: FloatArray
    spread2: FloatArray

    @classmethod
    def from_values(
        cls,
        values: FloatArray,
        weight: FloatArray | None = None,
        times: FloatArray | None = None,
    ) -> QueryMoments:
        """Compute the moments of the columns of `values` (n_queries, ...).

        NaN is left out. Row q stands for ``times[q]`` queries with the same values, or
        by default for one query. The axes of `weight` and of `times` are the first axes
        of `values`.
        """
        # Contiguous columns are faster, in this function and in all arrays made from
        # them.
        columns = np.ascontiguousarray(np.moveaxis(values, 0, -1))
        values = np.moveaxis(columns, -1, 0)
        is_counted = ~np.isnan(values)
        if weight is not None:
            weight = per_column(weight, values)
            is_counted &= weight > 0
        n_counted: Array = is_counted
        if times is not None:
            n_counted = is_counted * per_column(times, values)
        count = n_counted.sum(axis=0).astype(np.float64)
        sums = partial(column_sums, times=times)
        x = np.where(is_counted, values, 0.0)
        if weight is None:
            # The moments are 0 if there are no queries.
            mean = sums(x) / np.maximum(count, 1.0)
            deviation = np.where(is_counted, x - mean, 0.0)
            return cls(count, count, count, mean, mean, sums(deviation**2))
        w = np.where(is_counted, weight, 0.0)
        w2 = w * w
        total = sums(w)
        total2 = sums(w2)
        mean = sums(w * x) / np.where(count > 0, total, 1.0)
        mean2 = sums(w2 * x) / np.where(count > 0, total2, 1.0)
        spread2 = sums(w2 * (x - mean2) ** 2)
        return cls(count, total, total2, mean, mean2, spread2)

    @classmethod
    def join(cls, parts: Sequence[QueryMoments]) -> QueryMoments:
        """Concatenate the moments of several arrays of columns."""
        arrays = zip(*[vars(part).values() for part in parts], strict=True)
        return cls(*map(np.concatenate, arrays))

    def select(self, columns: Any) -> QueryMoments:
        """Return the moments of the columns that an array index selects."""
        selected = [moment[columns] for moment in vars(self).values()]
        return QueryMoments(*selected)

    def merge(self, second: QueryMoments) -> QueryMoments:
        """Return the moments of all queries (Chan, Golub and LeVeque 1979)."""
        weight = self.weight + second.weight
        weight2 = self.weight2 + second.weight2
        share = second.weight / np.where(weight > 0, weight, 1)
        share2 = second.weight2 / np.where(weight2 > 0, weight2, 1)
        difference2 = second.mean2 - self.mean2
        mean = self.mean + (second.mean - self.mean) * share
        mean2 = self.mean2 + difference2 * share2
        spread2 = self.spread2 + second.spread2
        spread2 = spread2 + difference2**2 * self.weight2 * share2
        count = self.count + second.count
        return QueryMoments(count, weight, weight2, mean, mean2, spread2)

    def effective(self) -> FloatArray:
        """Return the effective number of queries.

        The effective number is (Σ w)² / Σ w² (Kish 1965, "Survey sampling", 8.2), and
        exactly `count` for equal weights.
        """
        effective = self.weight**2 / np.where(self.weight2 > 0, self.weight2, 1.0)
        is_count = np.abs(effective - self.count) <= NO_DIFFERENCE * self.count
        return np.where(is_count, self.count, effective)

    def averages(self) -> FloatArray:
        """Return the weighted means, or NaN for columns without a query."""
        return np.where(self.weight > 0, self.mean, np.nan)

    def standard_error(self) -> FloatArray:
        """Return the standard errors of the means.

        The standard errors are NaN if the effective number of queries is below 2.
        """
        effective = self.effective()
        is_unknown = effective < 2
        n = np.where(is_unknown, 2, effective)
        square = self._squares() * n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(square) / self.weight
        return np.where(is_unknown, np.nan, error)

    def _squares(self) -> FloatArray:
        """Return the sums of w² (x - x̄)² over queries."""
        return self.spread2 + self.weight2 * (self.mean2 - self.mean) ** 2

    def interval(
        self,
        confidence: float = 0.95,
        bounds: ArrayLike = (-np.inf, np.inf),
        largest: ArrayLike = 0.0,
    ) -> FloatArray:
        """Return the t intervals of the means over queries, of shape (..., 2).

        If the effective number of queries is below 2, the interval is NaN.

        If all values are equal, the spread is unknown, and the interval is NaN.
        However, if all values are at one of the `bounds`, of shape (..., 2), the
        interval follows from the exact interval (Clopper and Pearson 1934) of the share
        of queries at this bound. The remaining queries could have any value up to the
        opposite bound. For values of 0 and 1, the result is the exact interval of the
        mean. Values that differ only by rounding count as equal. Rounding is relative
        to the mean or, for differences, to the `largest` of the values that were
        subtracted.
        """
        effective = self.effective()
        degrees = np.where(effective < 2, 1, effective - 1)
        quantile = stats.t.ppf((1 + confidence) / 2, degrees)
        below = above = quantile * self.standard_error()
        rounding = NO_DIFFERENCE * np.fmax(np.abs(self.mean), largest)
        is_steady = np.sqrt(self._squares()) <= rounding * self.weight
        is_steady &= self.count > 1
        if is_steady.any():
            low, high = np.moveaxis(np.asarray(bounds, np.float64), -1, 0)
            width = np.where(np.isfinite(high - low), high - low, np.nan)
            n = np.where(is_steady, effective, np.nan)
            reach = width * (1 - ((1 - confidence) / 2) ** (1 / n))
            is_low = self.mean <= low + rounding
            is_high = self.mean >= high - rounding
            # The term is 0 at a bound, and NaN elsewhere or without bounds.
            at_bound = np.where(is_low | is_high, 0.0, np.nan) * reach
            below = np.where(is_steady, at_bound + reach * is_high, below)
            above = np.where(is_steady, at_bound + reach * is_low, above)
        return np.stack([self.mean - below, self.mean + above], axis=-1)

    def t_test(self, alternative: str, largest: ArrayLike = 1.0) -> TTest:
        """Test means against 0, with the errors and degrees of freedom of intervals."""
        error = self.standard_error()
        effective = self.effective()
        return t_test(self.mean, error, self.count, alternative, effective, largest)


def cluster_means(
    values: FloatArray, weight: FloatArray | None, cluster: Array | None
) -> tuple[FloatArray, Any]:
    """Return the mean of each column in each cluster of queries, and the weights.

    The queries of a cluster become one observation. Without clusters, each query is an
    observation. With G clusters of equal weight, the squared standard error is G/(G -
    1) Σ_g (Σ_{q in g} (x_q - x̄))² / N² (Liang and Zeger, Biometrika 1986). With
    unequal weights, G is the effective number of clusters.
    """
    if cluster is None:
        return values, weight
    members: dict[Any, list[int]] = {}
    for query, name in enumerate(cluster.tolist()):
        members.setdefault(name, []).append(query)
    if weight is None:
        weight = np.ones(len(values))
    means = []
    weights = []
    for queries in members.values():
        moments = QueryMoments.from_values(values[queries], weight[queries])
        means.append(moments.averages())
        weights.append(moments.weight)
    return np.stack(means), np.stack(weights)


def effective_number(weight: FloatArray, cluster: Array | None = None) -> float:
    """Return the effective number of queries, or of clusters, with these weights."""
    # The values do not matter, so the weights take their place.
    observations = cluster_means(weight, weight, cluster)
    return float(QueryMoments.from_values(*observations).effective())
