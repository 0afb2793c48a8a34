"""Paired tests of two systems over queries, effect sizes, corrections."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from .._engine.ties import FloatArray
from ..evaluation._intervals import NO_DIFFERENCE, t_test
from ._randomization import randomization_pvalue

TESTS = ("t", "wilcoxon", "randomization")
CORRECTIONS = ("holm", "bh", "by", None)
ALTERNATIVES = ("two-sided", "greater", "less")
#: of differences that are told apart, as `NO_DIFFERENCE` has it
_DECIMALS = 12


class PairedTest(NamedTuple):
    """What a test says of the differences of a pair."""

    statistic: float
    pvalue: float


def paired_test(
    difference: FloatArray,
    test: str,
    alternative: str = "two-sided",
    *,
    n_resamples: int = 9999,
    random_state: int = 0,
) -> PairedTest:
    """Test whether differences, one per query, are about 0; NaN for fewer than two."""
    n = len(difference)
    if n < 2:
        return PairedTest(math.nan, math.nan)
    difference = np.where(np.abs(difference) <= NO_DIFFERENCE, 0.0, difference)
    if not difference.any():
        # alike on every query: scipy's tests would divide by 0
        return PairedTest(0.0, 1.0)
    if test == "t":
        average = difference.mean()
        # as scipy.stats.ttest_1samp has it, to the last bit
        variance = np.mean((difference - average) ** 2) * (n / (n - 1))
        found = t_test(average, np.sqrt(variance / n), n, alternative)
    elif test == "wilcoxon":
        found = stats.wilcoxon(ranked_alike(difference), alternative=alternative)
    else:
        pvalue = randomization_pvalue(
            difference, alternative, n_resamples, random_state
        )
        return PairedTest(float(difference.mean()), pvalue)
    return PairedTest(float(found.statistic), float(found.pvalue))


def ranked_alike(difference: FloatArray) -> FloatArray:
    """Differences for ranks: those that only rounding tells apart are equal."""
    return np.round(difference, _DECIMALS)


def paired_effect(difference: FloatArray) -> float:
    """Mean over standard deviation of the differences (d_z of Cohen 1988)."""
    return paired_test(difference, "t").statistic / math.sqrt(max(len(difference), 1))
