"""Corrections for multiple testing by Holm, Benjamini and Hochberg, and Tukey."""

import math
import warnings
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate, stats

from .._typing import FloatArray, IntArray
from .averages import column_sums
from .t_test import t_test


def adjust(pvalues: FloatArray, correction: str | None) -> FloatArray:
    """Return p-values corrected for their number. NaN stays NaN and does not count.

    The correction is Holm's correction ("holm"), a correction for the false discovery
    rate ("bh", "by"), or no correction (None).
    """
    adjusted = pvalues.copy()
    is_defined = ~np.isnan(pvalues)
    defined = pvalues[is_defined]
    if correction == "holm":
        order = np.argsort(defined, kind="stable")
        n_left = len(defined) - np.arange(len(defined))
        stepped = np.maximum.accumulate(defined[order] * n_left)
        defined[order] = np.minimum(stepped, 1.0)
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
    """Return p-values and intervals of all pairs by Tukey's test.

    The test is also called honestly significant difference.

    The layout is two-way without replication: the value x_ij of query i and system j is
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
        Values. Queries for which a system has no value (NaN) are left out.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the two systems of each pair.
    confidence : float
        Confidence level of the intervals, which holds for all pairs at once.
    largest : float
        Largest value, relative to which differences count as rounding.

    Returns
    -------
    pvalues : ndarray of shape (n_pairs,)
        The p-values, which are NaN for fewer than two queries or systems.
    intervals : ndarray of shape (n_pairs, 2)
        Simultaneous intervals of the differences: x̄_.a - x̄_.b ± the quantile of q at
        `confidence` times sqrt(MSE / n). The intervals are NaN for fewer than two
        queries or systems, and if means differ but all residuals are 0.
    """
    values = values[~np.isnan(values).any(axis=1)]
    n, m = values.shape
    if n < 2 or m < 2:
        unknown = np.full((len(pairs), 2), np.nan)
        return unknown[:, 0], unknown
    means = column_sums(values) / n
    query_means = column_sums(values.T) / m
    effects = means - math.fsum(means) / m
    residuals = values - query_means[:, None] - effects
    squares = (residuals**2).ravel()
    degrees = (n - 1) * (m - 1)
    mse = float(column_sums(squares)) / degrees
    difference = means[pairs[:, 0]] - means[pairs[:, 1]]
    # q is √2 times a t statistic. The t test also gives p if the values have no spread.
    # For two systems, Tukey's test is the t test.
    error = math.sqrt(2 * mse / n)
    tested = t_test(np.abs(difference), error, n, "two-sided", largest=largest)
    q = math.sqrt(2) * tested.statistic
    is_steady = np.isinf(q)
    # Without spread, Bonferroni's correction replaces the studentized range.
    pvalues = np.minimum(len(pairs) * tested.pvalue, 1.0)
    with warnings.catch_warnings():
        # If the probability is close to 1, the quadrature may warn, but is correct.
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        half = _quantile_of_range(confidence, m, degrees) * math.sqrt(mse / n)
        if m > 2 and np.isfinite(q).any():
            # Each p-value takes about 20 ms.
            pvalue_of_range = stats.studentized_range.sf(q, m, degrees)
            pvalues = np.where(is_steady, pvalues, pvalue_of_range)
    if is_steady.any():
        # Without spread, the width of the intervals is unknown.
        half = math.nan
    return pvalues, np.column_stack([difference - half, difference + half])


# The results are cached, because computing a quantile takes 0.5 s.
@lru_cache(maxsize=64)
def _quantile_of_range(confidence: float, m: int, degrees: int) -> float:
    """Return a quantile of the studentized range of m means."""
    return float(stats.studentized_range.ppf(confidence, m, degrees))
