"""The paired t test."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._typing import FloatArray
from . import _averages


class TTest(NamedTuple):
    """Statistics and p-values of a t test."""

    statistic: FloatArray
    pvalue: FloatArray


def t_test(
    mean: ArrayLike,
    error: ArrayLike,
    count: ArrayLike,
    alternative: str = "greater",
    effective: ArrayLike | None = None,
) -> TTest:
    """Student's t test of means over queries against 0, given their standard errors.

    The effective number of queries, by default all, gives the degrees of freedom. NaN
    for fewer than two queries. Where nothing spreads but for rounding, p is that
    of all 2^n signs of the differences: 1/2^n for an alternative that they favour,
    2/2^n if it is two-sided, and else 1; and no difference has p = 1.
    """
    mean, count = np.asarray(mean, np.float64), np.asarray(count)
    worth = count if effective is None else np.asarray(effective)
    error = np.where(count < 2, np.nan, error)
    steady = error <= _averages.NO_DIFFERENCE * np.maximum(1.0, np.abs(mean))
    alike = steady & (np.abs(mean) <= _averages.NO_DIFFERENCE)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where(steady, np.copysign(np.inf, mean), mean / error)
    statistic = np.where(alike, 0.0, statistic)
    # the direction that speaks for the alternative
    towards = {"greater": statistic, "less": -statistic, "two-sided": abs(statistic)}
    sides = 2 if alternative == "two-sided" else 1
    pvalue = sides * stats.t.sf(towards[alternative], np.maximum(worth - 1, 1))
    of_signs = np.where(towards[alternative] > 0, sides * 0.5**count, 1.0)
    return TTest(statistic, np.where(steady, of_signs, pvalue))


def paired_t_test(
    rows: FloatArray, alternative: str = "two-sided"
) -> tuple[FloatArray, FloatArray]:
    """Statistics and p-values of the paired t test of rows of differences.

    As scipy.stats.ttest_1samp has it, to the last bit: t = d̄/(s/√n), with n - 1
    degrees of freedom. The p-value is that of `t_test`, which intervals share.
    """
    n = rows.shape[1]
    average = rows.mean(axis=1)
    variance = np.mean((rows - average[:, None]) ** 2, axis=1) * (n / (n - 1))
    return t_test(average, np.sqrt(variance / n), n, alternative)
