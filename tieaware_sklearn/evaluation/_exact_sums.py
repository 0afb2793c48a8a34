"""Averages over queries from sums that are not rounded, however the queries come."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.added_up import AddedUp
from .._engine.ties import FloatArray
from ._averages import GEOMETRIC_FLOOR, column_sums, per_column
from ._intervals import QueryMoments
from ._report import RankingReport, ReportMoments, averaged

#: 2^27 + 1, which splits a number into two of 26 bits
_SPLIT = 134217729.0


@dataclass
class ExactSums(AddedUp):
    """Sums of columns, without rounding; two of them merge.

    Attributes
    ----------
    parts : ndarray of shape (n_parts, ...)
        Numbers whose sum is that of each column: first the sum, rounded once, then what
        is missing, rounded once, and so on. They depend on the exact sum alone.
    """

    parts: FloatArray

    @classmethod
    def of(cls, values: FloatArray) -> ExactSums:
        """Sums over the first axis."""
        parts = [column_sums(values)]
        while parts[-1].any() and np.isfinite(parts[-1]).all():
            values = np.concatenate([values, -parts[-1][None]])
            parts.append(column_sums(values))
        return cls(np.array(parts[:-1] or parts))

    @classmethod
    def of_products(cls, a: FloatArray, b: FloatArray) -> ExactSums:
        """Sums of a b over the first axis: of products, and of what is missing there.

        Dekker 1971, "A floating-point technique for extending the available precision".
        """
        whole = a * b
        (a1, a2), (b1, b2) = _halves(a), _halves(b)
        missing = ((a1 * b1 - whole) + a1 * b2 + a2 * b1) + a2 * b2
        return cls.of(np.concatenate([whole, missing]))

    def merge(self, other: ExactSums) -> ExactSums:
        """Of the values of both."""
        return ExactSums.of(np.concatenate([self.parts, other.parts]))

    @property
    def rounded(self) -> FloatArray:
        """The sums, each rounded once."""
        return np.asarray(self.parts[0])

    def fractions(self) -> list[Fraction]:
        """The sums of all columns, one after another."""
        columns = self.parts.reshape(len(self.parts), -1).T.tolist()
        return [sum(map(Fraction, column), Fraction()) for column in columns]


@dataclass
class ExactMoments(AddedUp):
    """What `QueryMoments` are made of, without rounding.

    Attributes
    ----------
    count : ndarray
        Number of queries of positive weight.
    weight, values : ExactSums
        Σ w and Σ y over queries, where y is w x, rounded.
    weight2, products, values2 : ExactSums
        Σ w², Σ w y and Σ y².
    """

    count: FloatArray
    weight: ExactSums
    values: ExactSums
    weight2: ExactSums
    products: ExactSums
    values2: ExactSums

    @classmethod
    def of(cls, values: FloatArray, weight: FloatArray | None = None) -> ExactMoments:
        """Of the columns of `values` (n_queries, ...), NaN left out."""
        there = ~np.isnan(values)
        x = np.where(there, values, 0.0)
        if weight is None:
            count = there.sum(axis=0).astype(np.float64)
            ones, xs = ExactSums(count[None]), ExactSums.of(x)
            return cls(count, ones, xs, ones, xs, ExactSums.of_products(x, x))
        there &= per_column(weight, values) > 0
        w = np.where(there, per_column(weight, values), 0.0)
        y = w * x
        return cls(
            there.sum(axis=0).astype(np.float64),
            ExactSums.of(w),
            ExactSums.of(y),
            ExactSums.of_products(w, w),
            ExactSums.of_products(w, y),
            ExactSums.of_products(y, y),
        )

    def moments(self) -> QueryMoments:
        """Moments whose means have the bits of those of all queries at once."""
        weight, weight2 = self.weight.rounded, self.weight2.rounded
        mean = self.values.rounded / np.where(self.count > 0, weight, 1.0)
        spread2 = self._spread2(mean)
        return QueryMoments(self.count, weight, weight2, mean, mean, spread2)

    def _spread2(self, mean: FloatArray) -> FloatArray:
        """Σ (y - w mean)², rounded once."""
        sums = (self.values2, self.products, self.weight2)
        if not all(np.isfinite(of.parts).all() for of in sums):
            return np.full(mean.shape, np.nan)
        middles = map(Fraction, mean.ravel().tolist())
        terms = zip(middles, *(of.fractions() for of in sums), strict=True)
        spread = [float(y2 - 2 * m * wy + m * m * w2) for m, y2, wy, w2 in terms]
        return np.array(spread).reshape(mean.shape)


def _halves(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two numbers of half as many bits, whose sum it is (Veltkamp)."""
    far = _SPLIT * a
    first = far - (far - a)
    return first, a - first


@dataclass
class ReportSums(AddedUp):
    """What `ReportMoments` are made of, without rounding; two merge.

    Attributes
    ----------
    measures, average, bounds, n_estimated
        As in `ReportMoments`.
    values : ExactMoments
    tie_variance, error_variance : ExactSums
        Σ w² s² over queries, of the standard deviations over the orders of ties, and of
        the standard errors.
    """

    measures: tuple[str, ...]
    average: str
    bounds: tuple[tuple[float, ...], ...]
    values: ExactMoments
    tie_variance: ExactSums
    error_variance: ExactSums
    n_estimated: NDArray[np.int64]

    @classmethod
    def of(cls, report: RankingReport, average: str) -> ReportSums:
        weight = report.query_weight
        values = np.stack(averaged(report), axis=1)
        if average == "geometric":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))

        def variance(std: FloatArray) -> ExactSums:
            spread = std if weight is None else std * per_column(weight, std)
            return ExactSums.of(np.where(np.isnan(std), 0.0, spread**2))

        return cls(
            report.measures,
            average,
            tuple(map(tuple, report.bounds.tolist())),
            ExactMoments.of(values, weight),
            variance(report.std),
            variance(report.sampling_error),
            report.std_is_estimate.sum(axis=0),
        )

    def moments(self) -> ReportMoments:
        """Rounded, as a summary is made of them."""
        values: dict[str, Any] = vars(self) | {
            "values": self.values.moments(),
            "tie_variance": self.tie_variance.rounded,
            "error_variance": self.error_variance.rounded,
        }
        return ReportMoments(**values)
