"""Paired tests of the differences per query, for one or many pairs of systems."""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .._typing import FloatArray, IntArray
from .averages import column_means, largest_values, round_relative, without_rounding
from .moments import QueryMoments
from .t_test import t_test

TESTS = ("t", "wilcoxon", "randomization")
ALTERNATIVES = ("two-sided", "greater", "less")
#: Maximum number of signs, or of resampled values, in memory at a time.
_CELLS = 1 << 18
#: Number of bits of the whole numbers that replace differences. Floats have 53 bits.
_BITS = 52
#: Number of decimals of differences in Wilcoxon's test. Further decimals are noise.
_DECIMALS = 12
#: Maximum number of differences for which SciPy's Wilcoxon test may be exact.
_MAY_BE_EXACT = 50
#: Maximum number of differences for which Wilcoxon's test with ties tries all signs.
_ALL_SIGNS = 13


def paired_tests(
    rows: FloatArray,
    test: str,
    alternative: str = "two-sided",
    weight: FloatArray | None = None,
    *,
    largest: ArrayLike = 1.0,
    n_resamples: int = 9999,
    random_state: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Return statistics and p-values of rows of differences.

    A row contains the differences of a pair of systems. For fewer than two queries, all
    results are NaN. With weights of queries, all above 0, the statistic of the
    randomization test is the weighted mean, whose terms change their signs. `largest`
    is the largest of the values that were subtracted, for each row or for all rows.
    Rounding is relative to `largest`.
    """
    n = rows.shape[1]
    if n < 2:
        unknown = np.full(len(rows), np.nan)
        return unknown, unknown
    largest = np.broadcast_to(largest, len(rows))
    rows = without_rounding(rows, largest[:, None])
    statistics = np.zeros(len(rows))
    pvalues = np.ones(len(rows))
    # For rows of zeros, SciPy's tests would divide by 0.
    differs = rows.any(axis=1)
    rows = rows[differs]
    largest = largest[differs]
    if not len(rows):
        return statistics, pvalues
    tested: tuple[FloatArray, FloatArray]
    if test == "t" and weight is not None:
        tested = QueryMoments.from_values(rows.T, weight).t_test(alternative, largest)
    elif test == "t":
        # The statistic t = d̄/(s/√n), with n - 1 degrees of freedom, equals the
        # statistic of scipy.stats.ttest_1samp to the last bit.
        mean = rows.mean(axis=1)
        squares = (rows - mean[:, None]) ** 2
        variance = squares.mean(axis=1) * (n / (n - 1))
        error = np.sqrt(variance / n)
        tested = t_test(mean, error, n, alternative, largest=largest)
    elif test == "wilcoxon":
        rounded = round_relative(rows, largest[:, None], _DECIMALS)
        tested = _wilcoxon(rounded, alternative)
    else:
        if weight is None:
            mean = rows.mean(axis=1)
        else:
            mean = column_means(rows.T, weight)
            rows = rows * (weight / weight.max())
        tested = (
            mean,
            randomization_pvalues(rows, alternative, n_resamples, random_state),
        )
    statistics[differs], pvalues[differs] = tested
    return statistics, pvalues


def _wilcoxon(rows: FloatArray, alternative: str) -> tuple[FloatArray, FloatArray]:
    """Return statistics and p-values of Wilcoxon's test, by a method for each row."""
    n = rows.shape[1]
    test = partial(stats.wilcoxon, alternative=alternative, axis=1)
    if n > _MAY_BE_EXACT:
        return test(rows)
    sizes = np.sort(np.abs(rows), axis=1)
    is_tied = (sizes[:, 1:] == sizes[:, :-1]).any(axis=1)
    is_tied |= sizes[:, 0] == 0
    statistics, pvalues = test(rows, method="asymptotic")
    if not is_tied.all():
        pvalues[~is_tied] = test(rows[~is_tied]).pvalue
    if is_tied.any() and n <= _ALL_SIGNS:
        # The terms are signed ranks. Zeros have no rank.
        tied = rows[is_tied]
        signed = np.where(tied == 0, np.nan, tied)
        ranks = stats.rankdata(np.abs(signed), axis=1, nan_policy="omit")
        signed_ranks = np.copysign(ranks, signed)
        terms = np.where(np.isnan(signed), 0.0, signed_ranks)
        pvalues[is_tied] = randomization_pvalues(terms, alternative, 2**n, 0)
    return statistics, pvalues


def randomization_pvalues(
    rows: FloatArray, alternative: str, n_resamples: int, random_state: int
) -> FloatArray:
    """Return p-values of rows of differences over random signs of the queries.

    All rows are tested with the same signs. If there are no more than `n_resamples`
    combinations of signs, all combinations are used. Otherwise, `n_resamples`
    combinations are drawn.
    """
    whole = whole_numbers(rows)
    observed = whole.sum(axis=1)
    n = rows.shape[1]
    n_signs = n_resamples
    enumerates = n < _BITS and 2**n <= n_resamples
    if enumerates:
        n_signs = 2**n
    rng = np.random.default_rng(random_state)
    n_smaller = np.zeros(len(rows), dtype=np.int64)
    n_larger = np.zeros(len(rows), dtype=np.int64)
    step = max(1, _CELLS // max(rows.shape))
    for start in range(0, n_signs, step):
        numbers = np.arange(start, min(start + step, n_signs))
        if enumerates:
            bits = numbers[:, None] >> np.arange(n)
        else:
            bits = rng.integers(2**32, size=(len(numbers), n), dtype=np.uint32)
        # The sum of the positive terms. BLAS adds whole numbers exactly.
        positive = (bits & 1).astype(np.float64) @ whole.T
        # The signed sum is 2 * positive - observed. The rounding errors of the signed
        # sum and of `observed` are at most n / 2 each, so sums that differ by up to n
        # count as equal.
        n_smaller += np.count_nonzero(positive <= observed + n / 2, axis=0)
        n_larger += np.count_nonzero(positive >= observed - n / 2, axis=0)
    if not enumerates:
        # The observed signs also count.
        n_smaller += 1
        n_larger += 1
        n_signs += 1
    return _pvalues_of_tails(n_smaller / n_signs, n_larger / n_signs, alternative)


def _pvalues_of_tails(
    less: FloatArray, greater: FloatArray, alternative: str
) -> FloatArray:
    """Return p-values from the p-values of both one-sided alternatives."""
    if alternative == "less":
        return less
    if alternative == "greater":
        return greater
    return np.minimum(2 * np.minimum(less, greater), 1.0)


def whole_numbers(rows: FloatArray) -> FloatArray:
    """Return rows scaled to whole numbers, whose signed sums are exact.

    The sums are therefore the same in any order and in any library. Rounding to whole
    numbers changes a sum by at most half a unit for each number.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    spare = _BITS - math.ceil(math.log2(rows.shape[1]))
    _, exponent = np.frexp(largest)
    return np.rint(np.ldexp(rows, spare - exponent))


def bootstrap_of_medians(
    values: FloatArray,
    pairs: IntArray,
    alternative: str,
    *,
    confidence: float,
    n_resamples: int,
    random_state: int,
) -> tuple[FloatArray, FloatArray]:
    """Return p-values and percentile intervals of differences of medians of columns.

    All columns have the same resamples of queries. The one-sided p-value is the share
    of resamples whose difference is 0 or contradicts the alternative. The two-sided
    p-value is twice the smaller one-sided p-value. Results are NaN for fewer than two
    queries.
    """
    n = len(values)
    if n < 2:
        unknown = np.full((len(pairs), 2), np.nan)
        return unknown[:, 0], unknown
    rng = np.random.default_rng(random_state)
    medians = np.empty((values.shape[1], n_resamples))
    step = max(1, _CELLS // n)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        resampled = rng.integers(0, n, (size, n))
        for j in np.unique(pairs):
            column = values[:, j]
            medians[j, start : start + step] = np.median(column[resampled], axis=1)
    intervals = np.empty((len(pairs), 2))
    # The observed sample also counts.
    n_not_below = np.ones(len(pairs))
    n_not_above = np.ones(len(pairs))
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    largest = largest_values(values)
    for i, (a, b) in enumerate(pairs):
        scale = max(largest[a], largest[b])
        differences = without_rounding(medians[a] - medians[b], scale)
        intervals[i] = np.quantile(differences, tails)
        n_not_below[i] += (differences >= 0).sum()
        n_not_above[i] += (differences <= 0).sum()
    n_samples = n_resamples + 1
    # A difference of 0 or above contradicts the alternative "less".
    pvalues = _pvalues_of_tails(
        n_not_below / n_samples, n_not_above / n_samples, alternative
    )
    return pvalues, intervals
