"""Intervals and tests of averages over queries, from sums that merge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr, ndtri

from .._display import words
from .._engine import merging
from .._typing import FloatArray
from ..io import _wording
from . import _averages, _paired_t_test

#: number of values that are resampled at a time
_BATCH_VALUES = 1 << 16
#: t intervals of fewer queries are too short if most values are equal
_FEW = 200
_MOST = 0.8
#: queries needed per unit of squared skewness (Cochran 1977, p. 42)
_SKEWED = 25
#: queries after which values near 0 would have shown, if there are any
_MANY = 400


@dataclass
class QueryMoments(merging.AddedUp):
    """Mean and spread over queries of several columns; two of them merge.

    Every attribute has the shape of the columns. Query i weighs w_i; the
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

        Row q is of ``times[q]`` queries with the same values, by default of one.
        Weights and times may have further axes, which are the next ones of `values`.
        """
        # columns are contiguous, here and in all arrays made of them
        values = np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
        there = ~np.isnan(values)
        if weight is not None:
            weight = _averages.per_column(weight, values)
            there &= weight > 0
        counted = (
            there if times is None else there * _averages.per_column(times, values)
        )
        count = counted.sum(axis=0).astype(np.float64)
        sums = partial(_averages.column_sums, times=times)
        # moments of no query are 0
        divisor = np.maximum(count, 1.0)
        x = np.where(there, values, 0.0)
        if weight is None:
            average = sums(x) / divisor
            apart = np.where(there, x - average, 0.0)
            spread = sums(apart**2)
            return cls(count, count, count, average, average, spread)
        w = np.where(there, weight, 0.0)
        w2 = w * w
        total, total2 = sums(w), sums(w2)
        average = sums(w * x) / np.where(count > 0, total, 1.0)
        average2 = sums(w2 * x) / np.where(count > 0, total2, 1.0)
        spread = sums(w2 * (x - average2) ** 2)
        return cls(count, total, total2, average, average2, spread)

    @classmethod
    def join(cls, parts: Sequence[QueryMoments]) -> QueryMoments:
        """Moments of several arrays of columns, one after another."""
        arrays = zip(*[vars(part).values() for part in parts], strict=True)
        return cls(*map(np.concatenate, arrays))

    def some(self, columns: Any) -> QueryMoments:
        """Moments of some columns, by any index that arrays have."""
        return QueryMoments(*[moment[columns] for moment in vars(self).values()])

    def merge(self, other: QueryMoments) -> QueryMoments:
        """Moments of the queries of both (Chan, Golub and LeVeque 1979)."""
        weight = self.weight + other.weight
        weight2 = self.weight2 + other.weight2
        share = other.weight / np.where(weight > 0, weight, 1)
        share2 = other.weight2 / np.where(weight2 > 0, weight2, 1)
        apart = other.mean - self.mean
        apart2 = other.mean2 - self.mean2
        return QueryMoments(
            self.count + other.count,
            weight,
            weight2,
            self.mean + apart * share,
            self.mean2 + apart2 * share2,
            self.spread2 + other.spread2 + apart2**2 * self.weight2 * share2,
        )

    def effective(self) -> FloatArray:
        """Number of queries of equal weight that these are worth, (Σ w)² / Σ w².

        Kish (1965), "Survey sampling", 8.2. It is `count` for equal weights.
        """
        worth = self.weight**2 / np.where(self.weight2 > 0, self.weight2, 1.0)
        rounding = np.abs(worth - self.count) <= _averages.NO_DIFFERENCE * self.count
        return np.where(rounding, self.count, worth)

    def averages(self) -> FloatArray:
        """Weighted means, NaN where there is no query."""
        return np.where(self.weight > 0, self.mean, np.nan)

    def standard_error(self) -> FloatArray:
        """Standard error of the means, NaN if they are worth fewer than two queries."""
        worth = self.effective()
        few = worth < 2
        n = np.where(few, 2, worth)
        square = self._squares() * n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(few, np.nan, np.sqrt(square) / self.weight)

    def _squares(self) -> FloatArray:
        """Sum w² (x - x̄)² over queries."""
        return self.spread2 + self.weight2 * (self.mean2 - self.mean) ** 2

    def interval(
        self, confidence: float = 0.95, bounds: ArrayLike = (-np.inf, np.inf)
    ) -> FloatArray:
        """t interval of the means over queries, shape (..., 2).

        Where all values are equal, nothing is known of their spread, and the interval
        is NaN. If they are all at one of the `bounds`, (..., 2), there is the exact
        interval (Clopper and Pearson 1934) of the share of queries that are: the others
        could be anywhere up to the other bound. For values of 0 and 1 it is the mean's.
        """
        error, worth = self.standard_error(), self.effective()
        degrees = np.where(worth < 2, 1, worth - 1)
        below = above = stats.t.ppf((1 + confidence) / 2, degrees) * error
        low, high = np.moveaxis(np.asarray(bounds, np.float64), -1, 0)
        room = np.where(np.isfinite(high - low), high - low, np.nan)
        rounding = _averages.NO_DIFFERENCE * np.fmax(np.abs(self.mean), room)
        steady = np.sqrt(self._squares()) <= rounding * self.weight
        steady &= self.count > 1
        if steady.any():
            n = np.where(steady, worth, np.nan)
            reach = room * (1 - ((1 - confidence) / 2) ** (1 / n))
            lowest, highest = self.mean <= low + rounding, self.mean >= high - rounding
            known = np.where(lowest | highest, 0.0, np.nan) * reach
            below = np.where(steady, known + reach * highest, below)
            above = np.where(steady, known + reach * lowest, above)
        return np.stack([self.mean - below, self.mean + above], axis=-1)

    def t_test(self, alternative: str) -> _paired_t_test.TTest:
        """t test of mean 0, with the standard error and degrees that intervals have."""
        return _paired_t_test.t_test(
            self.mean, self.standard_error(), self.count, alternative, self.effective()
        )


def effective_number(weight: FloatArray) -> float:
    """Number of queries of equal weight that queries of these weights are worth."""
    return float(QueryMoments.of(weight, weight).effective())


def warn_of_intervals(
    named: Iterable[tuple[str, FloatArray]],
    average: str = "macro",
    weight: FloatArray | None = None,
) -> None:
    """Warn of values of queries of positive weight, whose interval is too short.

    All or nearly all of them are equal, they are skewed, or few are near 0, of a
    geometric mean; or a single query has nearly all of the weight.
    """
    weight = None if weight is None else weight[weight > 0]
    by_reason: dict[str, list[str]] = {}
    unequal: dict[str, None] = {}
    for name, values in named if average != "median" else ():
        there = ~np.isnan(values)
        values = values[there]
        if (n := len(values)) < 2:
            continue
        if weight is not None and (worth := effective_number(weight[there])) < 2:
            said = f"the weights of {n} queries are worth {worth:.1f} of equal weight: "
            unequal[f"{said}there is no t interval and no t test"] = None
        enough = _FEW if values.min() <= _averages.GEOMETRIC_FLOOR else _MANY
        if (scale := np.abs(values).max()) > _averages.NO_DIFFERENCE:
            values = values / scale
        most = np.unique(np.round(values, 12), return_counts=True)[1].max()
        if most == n:
            why = "are all equal: no spread, and no interval except at a bound"
        elif n < _FEW and most > _MOST * n:
            why = f"are equal for over {_MOST:.0%} of them: the interval is too short"
        elif n < _SKEWED * _squared_skewness(values):
            why = f"are too skewed for {n} queries: take more, or the interval is short"
        elif n < enough and average == "geometric":
            why = "are hardly ever near 0: if others are, the interval is too short"
        else:
            continue
        by_reason.setdefault(why, []).append(name)
    for said in unequal:
        words.warn(said)
    for why, names in by_reason.items():
        listed = _wording.listed(dict.fromkeys(names))
        words.warn(f"the values per query of {listed} {why}")


def _squared_skewness(values: FloatArray) -> float:
    # scipy's skewness warns of values that hardly differ, and takes longer
    apart = values - values.mean()
    return float((apart**3).mean() ** 2 / (apart**2).mean() ** 3)


def median_interval(values: FloatArray) -> tuple[float, float]:
    """95 % interval of a median, from the ranks of the values (binomial)."""
    ascending = np.sort(values[~np.isnan(values)])
    n = len(ascending)
    below = int(stats.binom.ppf(0.025, n, 0.5)) if n else 0
    if not below:
        return math.nan, math.nan
    return float(ascending[below - 1]), float(ascending[n - below])


def average_interval(
    values: FloatArray, average: str, weight: FloatArray | None, bounds: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Averages of columns, and their 95 % intervals over queries, (n_columns, 2)."""
    if average == "median":
        medians = _averages.medians(values, weight)
        if weight is not None:
            return medians, np.full((len(medians), 2), np.nan)
        return medians, np.array([*map(median_interval, values.T)])
    if average == "geometric":
        moments = QueryMoments.of(_averages.logs(values), weight)
        interval = moments.interval(bounds=_averages.logs(bounds))
        return np.exp(moments.averages()), np.exp(interval)
    moments = QueryMoments.of(values, weight)
    return moments.averages(), moments.interval(bounds=bounds)


def bootstrap_interval(
    values: FloatArray,
    weight: FloatArray | None,
    *,
    n_resamples: int,
    random_state: int,
    confidence: float = 0.95,
    bounds: ArrayLike = (-np.inf, np.inf),
) -> tuple[float, float]:
    """BCa interval of a mean over queries, which are drawn with their weights.

    Its ends are inside of the values. NaN for fewer than two of them; where all are
    equal, it is that of `QueryMoments`; where no resample differs, its ends are equal
    (BCa is not defined there).
    """
    there = ~np.isnan(values) if weight is None else ~np.isnan(values) & (weight > 0)
    x = values[there]
    if len(x) < 2:
        return math.nan, math.nan
    low, high = float(x.min()), float(x.max())
    if low == high:
        moments = QueryMoments.of(values, weight)
        first, last = moments.interval(confidence, bounds).tolist()
        return first, last
    # in an order that no permutation of the rows changes
    data: tuple[FloatArray, ...] = (np.sort(x),)
    if weight is not None and np.ptp(w := weight[there]) > 0:
        order = np.lexsort((w, x))
        data = (x[order], w[order])
    drawn = stats.bootstrap(
        data,
        _resampled_mean,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=n_resamples,
        batch=max(1, _BATCH_VALUES // len(x)),
        rng=np.random.default_rng(random_state),
    ).bootstrap_distribution
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    accelerated = _bca_tails(drawn, tails, *data)
    if not np.isnan(accelerated).any():
        tails = accelerated
    first, last = np.clip(np.quantile(drawn, tails), low, high).tolist()
    return first, last


def _bca_tails(
    drawn: FloatArray,
    tails: FloatArray,
    x: FloatArray,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Where the ends of a BCa interval of a mean are in its bootstrap distribution.

    What scipy does (Efron and Tibshirani 1993, 14.3), but means that leave one query
    out follow from the sums of all: scipy makes each of them, in quadratic time.
    """
    w = np.ones(len(x)) if weight is None else weight
    middle = float(_resampled_mean(x, weight, axis=-1))
    below = (np.mean(drawn < middle) + np.mean(drawn <= middle)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        # x̄ less the mean without the query
        apart = w * (x - middle) / (w.sum() - w)
        apart -= apart.mean()
        acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
        z = ndtri(below) + ndtri(tails)
        return np.asarray(ndtr(ndtri(below) + z / (1 - acceleration * z)))


def _resampled_mean(
    x: FloatArray, weight: FloatArray | None = None, *, axis: int
) -> FloatArray:
    if weight is None:
        return x.mean(axis=axis)
    return (weight * x).sum(axis=axis) / weight.sum(axis=axis)
