"""Student's t test of means over queries."""

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
    """Test means over queries against 0, given their standard errors.

    The effective number of queries, by default all, gives the degrees of freedom. NaN
    for fewer than two queries. If the values spread by no more than rounding, p is the
    p-value of all 2^n signs of the differences: 1/2^n for an alternative that they
    favour, 2/2^n if it is two-sided, and else 1. No difference has p = 1. Rounding is
    relative to the `largest` value whose differences these are.
    """
    mean, count = np.asarray(mean, np.float64), np.asarray(count)
    effective = np.asarray(count if effective is None else effective)
    error = np.where(count < 2, np.nan, error)
    is_steady = error <= NO_DIFFERENCE * np.maximum(largest, np.abs(mean))
    is_zero = is_steady & (without_rounding(mean, largest) == 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = np.where(is_steady, np.copysign(np.inf, mean), mean / error)
    statistic = np.where(is_zero, 0.0, statistic)
    # large where the data speak for the alternative
    evidence = {
        "greater": statistic,
        "less": -statistic,
        "two-sided": np.abs(statistic),
    }[alternative]
    sides = 2 if alternative == "two-sided" else 1
    pvalue = sides * stats.t.sf(evidence, np.maximum(effective - 1, 1))
    pvalue_of_signs = np.where(evidence > 0, sides * 0.5**count, 1.0)
    return TTest(statistic, np.where(is_steady, pvalue_of_signs, pvalue))
