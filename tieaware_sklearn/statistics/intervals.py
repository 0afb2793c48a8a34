"""Intervals of averages over queries, and of shares."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr, ndtri

from .._typing import Array, FloatArray
from .averages import column_medians, counted_queries, floored_logs
from .moments import QueryMoments, cluster_means

#: Largest number of resampled values in memory at a time.
_BATCH_VALUES = 1 << 16


def median_interval(values: FloatArray) -> tuple[float, float]:
    """Return the 95% interval of a median, from the ranks of the values (binomial)."""
    ascending = np.sort(values[~np.isnan(values)])
    n = len(ascending)
    if not n:
        return math.nan, math.nan
    below = int(stats.binom.ppf(0.025, n, 0.5))
    if not below:
        return math.nan, math.nan
    low = float(ascending[below - 1])
    high = float(ascending[n - below])
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
    observation.
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
    """Return the BCa interval of a mean over queries, drawn with their weights.

    The ends lie within the values. They are NaN for fewer than two values. If all
    values are equal, `QueryMoments.interval` is returned. If all resamples have the
    same mean, both ends are this mean, because BCa is not defined.
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
    # The sorted order does not depend on the order of the rows.
    data: tuple[FloatArray, ...]
    if w is None:
        data = (np.sort(x),)
    else:
        order = np.lexsort((w, x))
        data = (x[order], w[order])
    batch = max(1, _BATCH_VALUES // len(x))
    rng = np.random.default_rng(random_state)
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
    """Return at which quantiles of the resampled means a BCa interval ends.

    scipy does the same (Efron and Tibshirani 1993, 14.3), but computes each mean that
    leaves one query out, in quadratic time. These means follow from the sums over all
    queries.
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
    """Return the weighted mean along an axis, as `scipy.stats.bootstrap` calls it."""
    if weight is None:
        return x.mean(axis=axis)
    return (weight * x).sum(axis=axis) / weight.sum(axis=axis)
