"""Paired tests of two systems over queries, effect sizes, corrections."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

from .._engine.ties import FloatArray
from ..evaluation._intervals import NO_DIFFERENCE, t_test
from ._randomization import randomization_pvalue

TESTS = ("t", "wilcoxon", "randomization")
CORRECTIONS = ("holm", "bh", "by", None)
ALTERNATIVES = ("two-sided", "greater", "less")
#: Gauss-Legendre quadrature, and where a normal density ends
_NODES = np.polynomial.legendre.leggauss(200)
_FAR = 9.0
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


class Effect(NamedTuple):
    """Cohen's d of differences, and an interval of it."""

    d: float
    low: float
    high: float


def paired_effect(difference: FloatArray, confidence: float) -> Effect:
    """Mean over standard deviation of the differences (d_z of Cohen 1988).

    The interval has the non-central t distributions under which the t statistic
    found is a quantile (Cumming and Finch 2001).
    """
    return effect_of(
        paired_test(difference, "t").statistic, len(difference), confidence
    )


def effect_of(statistic: float, n: int, confidence: float) -> Effect:
    """The same, given the t statistic of n differences."""
    if n < 2:
        return Effect(math.nan, math.nan, math.nan)
    d = statistic / math.sqrt(n)
    if not math.isfinite(statistic):
        return Effect(d, d, d)
    tail = (1 - confidence) / 2
    low, high = (_noncentrality(statistic, n - 1, share) for share in (tail, 1 - tail))
    return Effect(d, low / math.sqrt(n), high / math.sqrt(n))


def _noncentrality(statistic: float, degrees: int, share: float) -> float:
    """Where the non-central t distribution has 1 - share below the statistic.

    With S = sqrt(chi²/degrees) and a standard normal Z it is the quantile of
    statistic S + Z. Scipy's own inverse has three digits for few degrees of freedom,
    and its distribution takes minutes for large statistics.
    """
    if statistic < 0:
        return -_noncentrality(-statistic, degrees, 1 - share)
    wide = statistic * math.sqrt(0.5 / degrees) > 1
    nodes, weights = _NODES

    def above(x: float) -> float:
        if not wide:
            return float(stats.nct.sf(statistic, degrees, x)) - share
        # S is positive: Z stays below x
        end = min(x, _FAR)
        z = (end - _FAR) / 2 + nodes * (end + _FAR) / 2
        chi = (x - z) / statistic
        normal = stats.norm.pdf(z) * weights * (end + _FAR) / 2
        return float(special.chdtr(degrees, degrees * chi**2) @ normal) - share

    largest = statistic * math.sqrt(stats.chi2.isf(1e-16, degrees) / degrees)
    return float(optimize.brentq(above, -_FAR, largest + _FAR, xtol=1e-9))
