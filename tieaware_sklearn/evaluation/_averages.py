"""Averages over queries, and what their spread over queries says.

Sums are `math.fsum`: exact, so that no average depends on the order of rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.exceptions import UndefinedMetricWarning

from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_choice
from ..measures import Measure

#: floor of the values in a geometric mean, as in trec_eval
GEOMETRIC_FLOOR = 1e-5
#: a difference from chance this small is rounding
NO_DIFFERENCE = 1e-12


def check_zero_relevance(zero_relevance: Any) -> None:
    """A finite number, "skip" or "raise"."""
    if isinstance(zero_relevance, str):
        check_choice(zero_relevance, "zero_relevance", ("skip", "raise"))
    elif (
        isinstance(zero_relevance, bool)
        or not isinstance(zero_relevance, (int, float, np.integer, np.floating))
        or not math.isfinite(zero_relevance)
    ):
        raise ValueError(
            'zero_relevance must be a finite number, "skip" or "raise", got '
            f"{zero_relevance!r}"
        )


def fill_undefined(
    values: FloatArray,
    undefined: NDArray[np.bool_],
    zero_relevance: float | str | list[float],
    measures: Sequence[Measure],
    queries: Queries,
) -> FloatArray:
    """`values` with the undefined ones as `zero_relevance` says (one per measure)."""
    if zero_relevance == "raise" and undefined.any():
        query, column = np.argwhere(undefined)[0]
        measure = measures[column]
        why = (
            'its labels leave nothing to divide by (zero_relevance=0.0 or "skip" '
            "accepts it)"
            if measure.takes_zero_relevance
            else "too few relevant documents are retrieved (any other zero_relevance "
            "leaves it out)"
        )
        raise ValueError(
            f"{measure} is undefined for query {queries.name(query)}: {why}"
        )
    if isinstance(zero_relevance, str):
        return values
    fillable = np.array([measure.takes_zero_relevance for measure in measures])
    return np.where(undefined & fillable, np.asarray(zero_relevance, float), values)


def fill_std(
    std: FloatArray,
    undefined: NDArray[np.bool_],
    zero_relevance: float | str | list[float],
    measures: Sequence[Measure],
    queries: Queries,
) -> FloatArray:
    """Standard deviations of the same values: a number put in does not vary."""
    value = zero_relevance if isinstance(zero_relevance, str) else 0.0
    return fill_undefined(std, undefined, value, measures, queries)


def mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Weighted mean of the values that are not NaN; NaN where there is none."""
    there = ~np.isnan(values)
    if weight is None:
        count = int(there.sum())
        return math.fsum(values[there].tolist()) / count if count else math.nan
    total = math.fsum(weight[there].tolist())
    if total == 0:
        return math.nan
    return math.fsum((weight[there] * values[there]).tolist()) / total


def geometric_mean(values: FloatArray, weight: FloatArray | None = None) -> float:
    """exp of the mean log, values below 1e-5 taken as 1e-5."""
    logs = np.log(np.maximum(values, GEOMETRIC_FLOOR))
    return math.exp(mean(logs, weight))


def median(values: FloatArray, weight: FloatArray | None = None) -> float:
    """Weighted median of the values that are not NaN; NaN where there is none."""
    there = ~np.isnan(values)
    if weight is not None:
        there &= weight > 0
    if not there.any():
        return math.nan
    if weight is None:
        return float(np.median(values[there]))
    order = np.lexsort((weight[there], values[there]))
    ascending = values[there][order]
    reached = np.cumsum(weight[there][order])
    half = reached[-1] / 2
    at = int(np.searchsorted(reached, half))
    if reached[at] == half:
        return float((ascending[at] + ascending[at + 1]) / 2)
    return float(ascending[at])


def median_interval(values: FloatArray) -> tuple[float, float]:
    """95 % interval of a median, from the ranks of the values (binomial)."""
    ascending = np.sort(values[~np.isnan(values)])
    n = len(ascending)
    below = int(stats.binom.ppf(0.025, n, 0.5)) if n else 0
    if not below:
        return math.nan, math.nan
    return float(ascending[below - 1]), float(ascending[n - below])


def std_of_mean(std: FloatArray, weight: FloatArray | None = None) -> float:
    """Standard deviation over tie orders of a mean of independent queries."""
    there = ~np.isnan(std)
    if not there.any():
        return math.nan
    weights = np.ones(len(std)) if weight is None else weight
    total = math.fsum(weights[there].tolist())
    if total == 0:
        return math.nan
    return math.sqrt(sums_of_squares(std[:, None], weight)[0]) / total


def sums_of_squares(std: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Σ w² s² over queries, of each column, NaN left out."""
    spread = std if weight is None else std * weight[:, None]
    return np.array([math.fsum(c[~np.isnan(c)].tolist()) for c in (spread**2).T])


def warn_undefined(measure: Measure) -> None:
    warnings.warn(
        f"{measure} is undefined for every query: its average is NaN",
        UndefinedMetricWarning,
        stacklevel=3,
    )


def macro_means(
    values: FloatArray,
    measures: Sequence[Measure],
    queries: Queries,
    zero_relevance: float | str,
    weight: FloatArray | None = None,
) -> list[float]:
    """Means over queries of one column per measure, undefined values treated."""
    filled = fill_undefined(values, np.isnan(values), zero_relevance, measures, queries)
    means = [mean(column, weight) for column in filled.T]
    for measure, value in zip(measures, means, strict=True):
        if math.isnan(value):
            warn_undefined(measure)
    return means


@dataclass
class QueryMoments:
    """Mean and spread over queries of several columns; two of them merge.

    Every attribute has the shape of the columns. Query i weighs w_i; the
    standard error of the weighted mean is
    sqrt(Σ w_i² (x_i - x̄)² n/(n - 1)) / Σ w_i, s/√n for equal weights.

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
    def of(cls, values: FloatArray, weight: FloatArray | None = None) -> QueryMoments:
        """Moments of the columns of `values` (n_queries, n_columns), NaN left out."""
        columns = [_column_moments(column, weight) for column in values.T]
        return cls(*(np.array(moment, dtype=float) for moment in zip(*columns)))  # noqa: B905

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

    def averages(self) -> FloatArray:
        """Weighted means, NaN where there is no query."""
        return np.where(self.weight > 0, self.mean, np.nan)

    def standard_error(self) -> FloatArray:
        """Standard error of the means, NaN for fewer than two queries."""
        few = self.count < 2
        n = np.where(few, 2, self.count)
        square = self.spread2 + self.weight2 * (self.mean2 - self.mean) ** 2
        square = square * n / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(few, np.nan, np.sqrt(square) / self.weight)

    def interval(self, confidence: float = 0.95) -> FloatArray:
        """t interval of the means over queries, shape (..., 2)."""
        error = self.standard_error()
        degrees = np.where(self.count < 2, 1, self.count - 1)
        half = stats.t.ppf((1 + confidence) / 2, degrees) * error
        return np.stack([self.mean - half, self.mean + half], axis=-1)

    def p_greater(self) -> FloatArray:
        """One-sided t test of mean > 0; no spread and no mean is p = 1."""
        error = self.standard_error()
        degrees = np.where(self.count < 2, 1, self.count - 1)
        none = np.abs(self.mean) <= NO_DIFFERENCE
        steady = error <= NO_DIFFERENCE * np.abs(self.mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = stats.t.sf(self.mean / error, degrees)
        p = np.where(steady, np.where(self.mean > 0, 0.0, 1.0), p)
        p = np.where(none & (error <= NO_DIFFERENCE), 1.0, p)
        return np.where(self.count < 2, np.nan, p)

    @classmethod
    def stack(cls, moments: Sequence[QueryMoments]) -> QueryMoments:
        """Moments of several sets of columns along a new first axis."""
        return cls(
            *(np.stack([getattr(m, f.name) for m in moments]) for f in fields(cls))
        )


def _column_moments(
    column: FloatArray, weight: FloatArray | None
) -> tuple[float, float, float, float, float, float]:
    there = ~np.isnan(column)
    if weight is not None:
        there &= weight > 0
    x = column[there]
    if not len(x):
        return 0, 0, 0, 0, 0, 0
    if weight is None:
        average = math.fsum(x.tolist()) / len(x)
        spread = math.fsum(((x - average) ** 2).tolist())
        return len(x), len(x), len(x), average, average, spread
    w = weight[there]
    w2 = w * w
    total, total2 = math.fsum(w.tolist()), math.fsum(w2.tolist())
    average = math.fsum((w * x).tolist()) / total
    average2 = math.fsum((w2 * x).tolist()) / total2
    spread = math.fsum((w2 * (x - average2) ** 2).tolist())
    return len(x), total, total2, average, average2, spread
