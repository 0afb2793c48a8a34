"""Tukey's test of all pairs of systems at once."""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import integrate, stats

from .._engine.ties import FloatArray, IntArray
from ..evaluation._averages import column_sums
from ..evaluation._intervals import t_test


def tukey_pvalues(values: FloatArray, pairs: IntArray) -> FloatArray:
    """p-values of Tukey's honestly significant difference, corrected for all pairs.

    The layout is two-way without replication: a value x_ij of query i and system j is
    the sum of an effect of the query, one of the system, and a residual. With n
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

    Returns
    -------
    ndarray of shape (n_pairs,)
        NaN for fewer than two queries.
    """
    values = values[~np.isnan(values).any(axis=1)]
    n, m = values.shape
    if n < 2 or m < 2:
        return np.full(len(pairs), np.nan)
    means = column_sums(values) / n
    of_queries = column_sums(values.T) / m
    residuals = values - of_queries[:, None] - (means - math.fsum(means) / m)
    squares = math.fsum((residuals**2).ravel().tolist())
    degrees = (n - 1) * (m - 1)
    mse = squares / degrees
    apart = np.abs(means[pairs[:, 0]] - means[pairs[:, 1]])
    # q is √2 times a t statistic, whose test says what holds where nothing spreads
    found = t_test(apart, math.sqrt(2 * mse / n), degrees + 1, "two-sided")
    q = math.sqrt(2) * found.statistic
    if m == 2 or not np.isfinite(q).any():
        return found.pvalue
    return np.where(np.isinf(q), found.pvalue, _studentized_range(q, m, degrees))


def _studentized_range(q: FloatArray, m: int, degrees: int) -> FloatArray:
    """Probability of a larger range; about 20 ms for each."""
    with warnings.catch_warnings():
        # the quadrature may warn where the probability is next to 1, and right
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        return np.asarray(stats.studentized_range.sf(q, m, degrees))
