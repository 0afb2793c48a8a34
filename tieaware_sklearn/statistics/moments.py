"""Moments over queries, and other sums, of which those of several parts merge."""

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
    """A dataclass of sums over queries; two of them merge, field by field.

    Fields are arrays and numbers, which add up, flags, of which one is enough, and
    other sums of this kind; None where one of the two has None.
    """

    def merge(self, other: Self) -> Self:
        """Return the sums over the queries of both."""
        merged: list[Any] = []
        for field in fields(self):  # type: ignore[arg-type]
            ours, theirs = getattr(self, field.name), getattr(other, field.name)
            if ours is None or theirs is None:
                merged.append(None)
            elif isinstance(ours, MergeableSums):
                merged.append(ours.merge(theirs))
            elif isinstance(ours, np.ndarray):
                total = ours | theirs if ours.dtype.kind == "b" else ours + theirs
                # NumPy makes a number of two arrays without a dimension
                merged.append(np.asarray(total))
            else:
                merged.append(ours + theirs)
        return type(self)(*merged)


@dataclass
class QueryMoments(MergeableSums):
    """Mean and spread over queries of several columns; two of them merge.

    Every attribute has the shape of the columns. Query i weighs w_i. The
    standard error of the weighted mean is
    sqrt(Σ w_i² (x_i - x̄)² m/(m - 1)) / Σ w_i, s/√n for equal weights, where m is
    the effective number of queries.

    Attributes
    ----------
    count : number of queries of positive weight
    weight, weight2 : Σ w, Σ w²
    mean, mean2 : means of x weighted by w and by w²
    spread2 : Σ w² (x - mean2)²
    """

    count: FloatArray
    weight: FloatArray
    weight2: FloatArray
    mean: FloatArray
    mean2: FloatArray
    spread2: FloatArray

    @classmethod
    def of(
        cls,
        values: FloatArray,
        weight: FloatArray | None = None,
        times: FloatArray | None = None,
    ) -> QueryMoments:
        """Moments of the columns of `values` (n_queries, ...), NaN left out.

        Row q stands for ``times[q]`` queries with the same values, by default for one.
        Weights and times may have further axes, which are the next ones of `values`.
        """
        # columns are contiguous, here and in all arrays made of them
        values = np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
        is_counted = ~np.isnan(values)
        if weight is not None:
            weight = per_column(weight, values)
            is_counted &= weight > 0
        numbers = (
            is_counted if times is None else is_counted * per_column(times, values)
        )
        count = numbers.sum(axis=0).astype(np.float64)
        sums = partial(column_sums, times=times)
        x = np.where(is_counted, values, 0.0)
        if weight is None:
            # moments of no query are 0
            mean = sums(x) / np.maximum(count, 1.0)
            deviation = np.where(is_counted, x - mean, 0.0)
            return cls(count, count, count, mean, mean, sums(deviation**2))
        w = np.where(is_counted, weight, 0.0)
        w2 = w * w
        total, total2 = sums(w), sums(w2)
        mean = sums(w * x) / np.where(count > 0, total, 1.0)
        mean2 = sums(w2 * x) / np.where(count > 0, total2, 1.0)
        spread2 = sums(w2 * (x - mean2) ** 2)
        return cls(count, total, total2, mean, mean2, spread2)

    @classmethod
    def join(cls, parts: Sequence[QueryMoments]) -> QueryMoments:
        """Moments of several arrays of columns, one after another."""
        arrays = zip(*[vars(part).values() for part in parts], strict=True)
        return cls(*map(np.concatenate, arrays))

    def select(self, columns: Any) -> QueryMoments:
        """Return the moments of some columns, by any index of arrays."""
        return QueryMoments(*[moment[columns] for moment in vars(self).values()])

    def merge(self, other: QueryMoments) -> QueryMoments:
        """Return the moments of the queries of both (Chan, Golub and LeVeque 1979)."""
        weight = self.weight + other.weight
        weight2 = self.weight2 + other.weight2
        share = other.weight / np.where(weight > 0, weight, 1)
        share2 = other.weight2 / np.where(weight2 > 0, weight2, 1)
        difference2 = other.mean2 - self.mean2
        return QueryMoments(
            self.count + other.count,
            weight,
            weight2,
            self.mean + (other.mean - self.mean) * share,
            self.mean2 + difference2 * share2,
            self.spread2 + other.spread2 + difference2**2 * self.weight2 * share2,
        )

    def effective(self) -> FloatArray:
        """Return the number of queries of equal weight that these are worth.

        (Σ w)² / Σ w², by Kish (1965), "Survey sampling", 8.2; `count` for equal
        weights.
        """
        effective = self.weight**2 / np.where(self.weight2 > 0, self.weight2, 1.0)
        is_count = np.abs(effective - self.count) <= NO_DIFFERENCE * self.count
        return np.where(is_count, self.count, effective)

    def averages(self) -> FloatArray:
        """Return the weighted means, NaN where there is no query."""
        return np.where(self.weight > 0, self.mean, np.nan)

    def standard_error(self) -> FloatArray:
        """Return the standard error of the means.

        NaN if the queries are worth fewer than two.
        """
        effective = self.effective()
        is_unknown = effective < 2
        n = np.where(is_unknown, 2, effective)
        square = self._squares() * n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(is_unknown, np.nan, np.sqrt(square) / self.weight)

    def _squares(self) -> FloatArray:
        """Sum w² (x - x̄)² over queries."""
        return self.spread2 + self.weight2 * (self.mean2 - self.mean) ** 2

    def interval(
        self,
        confidence: float = 0.95,
        bounds: ArrayLike = (-np.inf, np.inf),
        largest: ArrayLike = 0.0,
    ) -> FloatArray:
        """Return the t interval of the means over queries, shape (..., 2).

        If all values are equal, their spread is unknown, and the interval is NaN. If
        all are at one of the `bounds`, (..., 2), the interval follows from the exact
        interval (Clopper and Pearson 1934) of the share of queries at this bound: the
        others could be anywhere up to the other bound. For values of 0 and 1 it is the
        interval of the mean. Values are equal but for rounding, which is relative to
        their mean or, for differences, to the `largest` value behind them.
        """
        effective = self.effective()
        degrees = np.where(effective < 2, 1, effective - 1)
        half = stats.t.ppf((1 + confidence) / 2, degrees) * self.standard_error()
        low, high = np.moveaxis(np.asarray(bounds, np.float64), -1, 0)
        width = np.where(np.isfinite(high - low), high - low, np.nan)
        rounding = NO_DIFFERENCE * np.fmax(np.abs(self.mean), largest)
        is_steady = np.sqrt(self._squares()) <= rounding * self.weight
        is_steady &= self.count > 1
        if not is_steady.any():
            return np.stack([self.mean - half, self.mean + half], axis=-1)
        n = np.where(is_steady, effective, np.nan)
        reach = width * (1 - ((1 - confidence) / 2) ** (1 / n))
        is_low, is_high = self.mean <= low + rounding, self.mean >= high - rounding
        at_bound = np.where(is_low | is_high, 0.0, np.nan) * reach
        below = np.where(is_steady, at_bound + reach * is_high, half)
        above = np.where(is_steady, at_bound + reach * is_low, half)
        return np.stack([self.mean - below, self.mean + above], axis=-1)

    def t_test(self, alternative: str, largest: ArrayLike = 1.0) -> TTest:
        """Test mean 0, with the standard error and degrees of freedom of `interval`."""
        return t_test(
            self.mean,
            self.standard_error(),
            self.count,
            alternative,
            self.effective(),
            largest,
        )


def cluster_means(
    values: FloatArray, weight: FloatArray | None, cluster: Array | None
) -> tuple[FloatArray, Any]:
    """Return the mean of each column in each cluster of queries, and its weight.

    So the queries of a cluster are one observation; without clusters, each query is
    one. With G clusters of equal weight,
    the squared standard error is G/(G - 1) Σ_g (Σ_{q in g} (x_q - x̄))² / N² (Liang and
    Zeger, Biometrika 1986); otherwise G is the effective number of clusters.
    """
    if cluster is None:
        return values, weight
    members: dict[Any, list[int]] = {}
    for query, name in enumerate(cluster.tolist()):
        members.setdefault(name, []).append(query)
    parts = [
        QueryMoments.of(values[queries], None if weight is None else weight[queries])
        for queries in members.values()
    ]
    means = np.stack([part.averages() for part in parts])
    return means, np.stack([part.weight for part in parts])


def effective_number(weight: FloatArray, cluster: Array | None = None) -> float:
    """Return how many queries of equal weight, or clusters, these weights are worth."""
    return float(QueryMoments.of(*cluster_means(weight, weight, cluster)).effective())
