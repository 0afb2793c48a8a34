"""Intervals of averages over queries, and of shares."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import ndtr, ndtri

from .._typing import Array, FloatArray
from .averages import column_medians, counted_queries, floored_logs
from .moments import QueryMoments, cluster_means

#: Number of values that are resampled at a time.
_BATCH_VALUES = 1 << 16


def median_interval(values: FloatArray) -> tuple[float, float]:
    """95% interval of a median, from the ranks of the values (binomial)."""
    ascending = np.sort(values[~np.isnan(values)])
    n = len(ascending)
    below = int(stats.binom.ppf(0.025, n, 0.5)) if n else 0
    if not below:
        return math.nan, math.nan
    return float(ascending[below - 1]), float(ascending[n - below])


def average_interval(
    values: FloatArray,
    average: str,
    weight: FloatArray | None,
    bounds: FloatArray,
    cluster: Array | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return averages of columns, and their 95% intervals of shape (n_columns, 2).

    Those of means are over clusters of queries, where there are any.
    """
    if average == "median":
        medians = column_medians(values, weight)
        if weight is not None or cluster is not None:
            return medians, np.full((len(medians), 2), np.nan)
        return medians, np.array([*map(median_interval, values.T)])
    if average == "geometric":
        values, bounds = floored_logs(values), floored_logs(bounds)
    averages = QueryMoments.of(values, weight).averages()
    moments = QueryMoments.of(*cluster_means(values, weight, cluster))
    interval = moments.interval(bounds=bounds)
    if average == "geometric":
        return np.exp(averages), np.exp(interval)
    return averages, interval


def share_interval(k: float, n: int, confidence: float) -> FloatArray:
    """Return the interval of Clopper and Pearson of k out of n; k may be a mean."""
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, k, n - k + 1) if k > 0 else 0.0
    high = stats.beta.isf(tail, k + 1, n - k) if k < n else 1.0
    return np.array([low, high])


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

    The ends lie within the values. NaN for fewer than two values. If all values are
    equal, the interval is that of `QueryMoments`. If no resample differs, both ends are
    equal, because BCa is not defined.
    """
    is_counted, w = counted_queries(~np.isnan(values), weight)
    x = values[is_counted]
    if len(x) < 2:
        return math.nan, math.nan
    low, high = float(x.min()), float(x.max())
    if low == high:
        moments = QueryMoments.of(values, weight)
        first, last = moments.interval(confidence, bounds).tolist()
        return first, last
    # in an order that no permutation of the rows changes
    data: tuple[FloatArray, ...] = (np.sort(x),)
    if w is not None:
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
    """Return where the ends of a BCa interval lie in the bootstrap distribution.

    scipy does the same (Efron and Tibshirani 1993, 14.3). Means that leave one query
    out follow from the sums of all; scipy computes each, in quadratic time.
    """
    w = np.ones(len(x)) if weight is None else weight
    mean = float(_resampled_mean(x, weight, axis=-1))
    below = (np.mean(drawn < mean) + np.mean(drawn <= mean)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        # x̄ less the mean without the query
        influence = w * (x - mean) / (w.sum() - w)
        influence -= influence.mean()
        acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
        z = ndtri(below) + ndtri(tails)
        return np.asarray(ndtr(ndtri(below) + z / (1 - acceleration * z)))


def _resampled_mean(
    x: FloatArray, weight: FloatArray | None = None, *, axis: int
) -> FloatArray:
    if weight is None:
        return x.mean(axis=axis)
    return (weight * x).sum(axis=axis) / weight.sum(axis=axis)
