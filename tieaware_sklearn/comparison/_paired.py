"""Paired tests of two systems over queries, effect sizes, corrections."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from .._averages import NO_DIFFERENCE
from .._ties import FloatArray

TESTS = ("t", "wilcoxon", "randomization")
CORRECTIONS = ("holm", "bh", "by", None)
ALTERNATIVES = ("two-sided", "greater", "less")
#: values that randomised signs may take at a time
_BATCH_VALUES = 1 << 22


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
    if test == "wilcoxon":
        found = stats.wilcoxon(difference, alternative=alternative)
    elif test == "randomization":
        found = stats.permutation_test(
            (difference,),
            lambda signed, axis: signed.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=n_resamples,
            batch=max(1, _BATCH_VALUES // n),
            alternative=alternative,
            rng=np.random.default_rng(random_state),
        )
    else:
        return _t_test(difference, alternative)
    return PairedTest(float(found.statistic), float(found.pvalue))


def _t_test(difference: FloatArray, alternative: str) -> PairedTest:
    if np.ptp(difference) <= NO_DIFFERENCE * np.abs(difference).max():
        # the same difference on every query
        statistic = math.copysign(math.inf, difference[0])
        favoured = {"greater": statistic > 0, "less": statistic < 0}
        return PairedTest(statistic, float(not favoured.get(alternative, True)))
    found = stats.ttest_1samp(difference, 0.0, alternative=alternative)
    return PairedTest(float(found.statistic), float(found.pvalue))


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
    n = len(difference)
    if n < 2:
        return Effect(math.nan, math.nan, math.nan)
    statistic = paired_test(difference, "t").statistic
    d = statistic / math.sqrt(n)
    if not math.isfinite(statistic):
        return Effect(d, d, d)
    tail = (1 - confidence) / 2
    low, high = special.nctdtrinc(n - 1, np.array([1 - tail, tail]), statistic)
    return Effect(d, float(low) / math.sqrt(n), float(high) / math.sqrt(n))


def adjust(pvalues: FloatArray, correction: Any) -> FloatArray:
    """p values corrected for their number; NaN stays NaN and does not count."""
    out = np.full(len(pvalues), np.nan)
    there = ~np.isnan(pvalues)
    given = pvalues[there]
    if correction is None or not len(given):
        return pvalues.copy()
    if correction == "holm":
        order = np.argsort(given, kind="stable")
        factor = len(given) - np.arange(len(given))
        stepped = np.minimum(np.maximum.accumulate(given[order] * factor), 1.0)
        corrected = np.empty_like(given)
        corrected[order] = stepped
    else:
        corrected = stats.false_discovery_control(given, method=correction)
    out[there] = corrected
    return out
