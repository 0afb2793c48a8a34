"""Intervals of averages over queries."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr, ndtri

from .._typing import Array, FloatArray
from .averages import column_medians, counted_queries, floored_logs
from .moments import QueryMoments, cluster_means

#: Maximum number of resampled values in memory at a time.
_BATCH_VALUES = 1 << 16


def median_interval(values: FloatArray) -> tuple[float, float]:
    """Return the 95% interval of a median, from the ranks of the values (binomial)."""
    ascending = np.sort(values[~np.isnan(values)])
    n = len(ascending)
    if not n:
        return math.nan, math.nan
    # The largest rank such that fewer than `rank` values are below the median with a
    # probability of at most 2.5%. The rank is 0 for fewer than six values, whose whole
    # range is not a 95% interval.
    rank = int(stats.binom.ppf(0.025, n, 0.5))
    if not rank:
        return math.nan, math.nan
    low = float(ascending[rank - 1])
    high = float(ascending[n - rank])
    return low, high


def average_interval(
    values: FloatArray,
    average: str,
    weight: FloatArray | None,
    bounds: FloatArray,
    cluster: Array | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return averages of columns, and their 95% intervals of shape (n_columns, 2).

    With clusters, an interval of means counts the queries of a cluster as one
    observation. The interval of a median with weights or clusters is NaN, because the
    interval assumes independent queries of equal weight.
    """
    if average == "median":
        medians = column_medians(values, weight)
        if weight is not None or cluster is not None:
            return medians, np.full((len(medians), 2), np.nan)
        intervals = [median_interval(column) for column in values.T]
        return medians, np.array(intervals)
    if average == "geometric":
        values = floored_logs(values)
        bounds = floored_logs(bounds)
    averages = QueryMoments.from_values(values, weight).averages()
    # The observations have the same mean, except for rounding.
    observations = cluster_means(values, weight, cluster)
    moments = QueryMoments.from_values(*observations)
    interval = moments.interval(bounds=bounds)
    if average == "geometric":
        return np.exp(averages), np.exp(interval)
    return averages, interval


def bootstrap_interval(
    values: FloatArray,
    weight: FloatArray | None,
    *,
    n_resamples: int,
    random_state: int,
    confidence: float = 0.95,
    bounds: ArrayLike = (-np.inf, np.inf),
) -> tuple[float, float]:
    """Return the BCa interval of a mean over queries, from resamples of the queries.

    Every query is drawn with the same probability, and keeps its weight. The ends of
    the interval lie within the range of the values, and are NaN for fewer than two
    values. If all values are equal, `QueryMoments.interval` is returned. If the means
    of all resamples are on one side of the mean, BCa is not defined, so the percentile
    interval is returned.
    """
    is_counted, w = counted_queries(~np.isnan(values), weight)
    x = values[is_counted]
    if len(x) < 2:
        return math.nan, math.nan
    least = x.min()
    greatest = x.max()
    if least == greatest:
        moments = QueryMoments.from_values(values, weight)
        low, high = moments.interval(confidence, bounds).tolist()
        return low, high
    # The values are sorted, so that no resample depends on the order of the rows.
    data: tuple[FloatArray, ...]
    if w is None:
        data = (np.sort(x),)
    else:
        order = np.lexsort((w, x))
        data = (x[order], w[order])
    batch = max(1, _BATCH_VALUES // len(x))
    rng = np.random.default_rng(random_state)
    # Only the resampled means are used, because SciPy's own BCa takes quadratic time.
    resampled = stats.bootstrap(
        data,
        _mean,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=n_resamples,
        batch=batch,
        rng=rng,
    )
    means = resampled.bootstrap_distribution
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    bca_tails = _bca_tails(means, tails, *data)
    if not np.isnan(bca_tails).any():
        tails = bca_tails
    ends = np.quantile(means, tails)
    low, high = np.clip(ends, least, greatest).tolist()
    return low, high


def _bca_tails(
    means: FloatArray,
    tails: FloatArray,
    x: FloatArray,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Return the quantiles of the resampled means at which a BCa interval ends.

    SciPy does the same (Efron and Tibshirani 1993, 14.3), but computes each
    leave-one-out mean from all other queries, in quadratic time. In this function,
    these means follow from the sums over all queries. The quantiles are NaN if BCa is
    not defined.
    """
    mean = _mean(x, weight, axis=-1)
    if weight is None:
        weight = np.ones(len(x))
    below = (np.mean(means < mean) + np.mean(means <= mean)) / 2
    bias = ndtri(below)
    with np.errstate(invalid="ignore", divide="ignore"):
        # The influence is the mean of all queries minus the mean without this query.
        influence = weight * (x - mean) / (weight.sum() - weight)
        influence -= influence.mean()
        cubes = (influence**3).sum()
        squares = (influence**2).sum()
        acceleration = cubes / (6 * squares**1.5)
        z = bias + ndtri(tails)
        return np.asarray(ndtr(bias + z / (1 - acceleration * z)))


def _mean(x: FloatArray, weight: FloatArray | None = None, *, axis: int) -> FloatArray:
    """Return the weighted mean along an axis, for `scipy.stats.bootstrap`."""
    if weight is None:
        return x.mean(axis=axis)
    return (weight * x).sum(axis=axis) / weight.sum(axis=axis)
