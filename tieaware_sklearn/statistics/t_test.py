"""Student's t test of means over queries, which `paired_tests` applies to pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._typing import FloatArray
from .averages import NO_DIFFERENCE, without_rounding


class TTest(NamedTuple):
    """Statistics and p-values of a t test."""

    statistic: FloatArray
    pvalue: FloatArray


def t_test(
    mean: ArrayLike,
    error: ArrayLike,
    count: ArrayLike,
    alternative: str,
    effective: ArrayLike | None = None,
    largest: ArrayLike = 1.0,
) -> TTest:
    """Test means over queries against 0, given the standard errors of the means.

    The degrees of freedom are the `effective` number of queries minus 1. By default,
    all queries count. Results are NaN for fewer than two queries. If the values differ
    only by rounding, p is the p-value over all 2^n signs of the differences: 1/2^n for
    an alternative that the differences favour, 2/2^n for a two-sided alternative, and
    otherwise 1. If all these values are 0, p is 1. Rounding is relative to the
    `largest` of the values that were subtracted.
    """
    mean = np.asarray(mean, np.float64)
    count = np.asarray(count)
    if effective is None:
        effective = count
    error = np.where(count < 2, np.nan, error)
    rounding = NO_DIFFERENCE * np.maximum(largest, np.abs(mean))
    is_steady = error <= rounding
    is_zero = is_steady & (without_rounding(mean, largest) == 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where(is_steady, np.copysign(np.inf, mean), mean / error)
    statistic = np.where(is_zero, 0.0, statistic)
    # The evidence is large if the data favour the alternative.
    evidence = statistic
    sides = 1
    if alternative == "two-sided":
        evidence = np.abs(statistic)
        sides = 2
    elif alternative == "less":
        evidence = -statistic
    degrees = np.maximum(np.subtract(effective, 1), 1)
    pvalue = sides * stats.t.sf(evidence, degrees)
    pvalue_of_signs = np.where(evidence > 0, sides * 0.5**count, 1.0)
    return TTest(statistic, np.where(is_steady, pvalue_of_signs, pvalue))
