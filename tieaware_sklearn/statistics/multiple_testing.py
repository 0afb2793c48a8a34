"""Corrections for multiple testing: Holm, Benjamini and Hochberg, Tukey."""

import math
import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate, stats

from .._typing import FloatArray, IntArray
from .averages import column_sums
from .t_test import t_test

CORRECTIONS = ("holm", "bh", "by", None)


def adjust(pvalues: FloatArray, correction: str | None) -> FloatArray:
    """Return p-values corrected for their number; NaN stays NaN and does not count.

    By Holm ("holm"), for the rate of false discoveries ("bh", "by"), or not at all.
    """
    adjusted = pvalues.copy()
    is_defined = ~np.isnan(pvalues)
    defined = pvalues[is_defined]
    if correction == "holm":
        order = np.argsort(defined, kind="stable")
        stepped = defined[order] * (len(defined) - np.arange(len(defined)))
        defined[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    elif correction is not None and len(defined):
        defined = stats.false_discovery_control(defined, method=correction)
    adjusted[is_defined] = defined
    return adjusted


def tukey_test(
    values: FloatArray,
    pairs: IntArray,
    confidence: float,
    largest: ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Tukey's honestly significant difference: p-values and intervals for all pairs.

    The layout is two-way without replication: a value x_ij of query i and system j is
    the sum of an effect of the query, an effect of the system, and a residual. With n
    queries and m systems,

        MSE = Σ (x_ij - x̄_i. - x̄_.j + x̄_..)² / ((n - 1)(m - 1))
        q = |x̄_.a - x̄_.b| / sqrt(MSE / n),

    where q has the distribution of the studentized range of m means with
    (n - 1)(m - 1) degrees of freedom (Carterette, TOIS 2012; Sakai 2018, "Laboratory
    Experiments in Information Retrieval").

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_systems)
        Queries where a system is undefined (NaN) are left out.
    pairs : ndarray of shape (n_pairs, 2), int
    confidence : float
    largest : float
        Largest value, to which rounding is relative.

    Returns
    -------
    pvalues : ndarray of shape (n_pairs,)
        NaN for fewer than two queries, as the intervals are.
    intervals : ndarray of shape (n_pairs, 2)
        Simultaneous intervals of the differences: x̄_.a - x̄_.b, and on both sides the
        quantile of q at `confidence` times sqrt(MSE / n).
    """
    values = values[~np.isnan(values).any(axis=1)]
    n, m = values.shape
    if n < 2 or m < 2:
        return np.full(len(pairs), np.nan), np.full((len(pairs), 2), np.nan)
    means = column_sums(values) / n
    query_means = column_sums(values.T) / m
    residuals = values - query_means[:, None] - (means - math.fsum(means) / m)
    degrees = (n - 1) * (m - 1)
    mse = float(column_sums((residuals**2).ravel())) / degrees
    difference = means[pairs[:, 0]] - means[pairs[:, 1]]
    # q is √2 times a t statistic, whose test gives p where nothing spreads
    error = math.sqrt(2 * mse / n)
    tested = t_test(np.abs(difference), error, n, "two-sided", largest=largest)
    q = math.sqrt(2) * tested.statistic
    is_steady = np.isinf(q)
    # Bonferroni's correction, where nothing spreads
    pvalues = np.minimum(len(pairs) * tested.pvalue, 1.0)
    with warnings.catch_warnings():
        # the quadrature may warn where the probability is next to 1, and right
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        half = _quantile_of_range(confidence, m, degrees) * math.sqrt(mse / n)
        if m > 2 and np.isfinite(q).any():
            # about 20 ms for each
            pvalue_of_range = stats.studentized_range.sf(q, m, degrees)
            pvalues = np.where(is_steady, pvalues, pvalue_of_range)
    if is_steady.any():
        half = math.nan
    return pvalues, np.column_stack([difference - half, difference + half])


@lru_cache(maxsize=64)
def _quantile_of_range(confidence: float, m: int, degrees: int) -> float:
    """Return the range of m means that holds with this probability, in 0.5 s."""
    return float(stats.studentized_range.ppf(confidence, m, degrees))
