"""Paired tests of differences, one per query: one pair, or many at once."""

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
#: Number of signs, or of resampled values, that are held at a time.
_CELLS = 1 << 18
#: Whole numbers up to 2**53 are floats.
_BITS = 52
#: Decimals of differences in ranks. Smaller differences are rounding.
_DECIMALS = 12
#: Up to this many differences, scipy's Wilcoxon test looks for ties.
_MAY_BE_EXACT = 50
#: Up to this many, it enumerates all signs if there are ties.
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
    """Return statistics and p-values of rows of differences; NaN for fewer than two.

    With weights of queries, all above 0, the statistic of the randomization test is
    the weighted mean, whose terms change their signs. `largest` is the largest value
    behind each row, or behind all of them, to which rounding is relative.
    """
    if rows.shape[1] < 2:
        unknown = np.full(len(rows), np.nan)
        return unknown, unknown
    largest = np.broadcast_to(largest, len(rows))
    rows = without_rounding(rows, largest[:, None])
    statistics, pvalues = np.zeros(len(rows)), np.ones(len(rows))
    # equal on every query: scipy's tests would divide by 0
    differs = rows.any(axis=1)
    rows, largest = rows[differs], largest[differs]
    if not len(rows):
        return statistics, pvalues
    tested: tuple[FloatArray, FloatArray]
    if test == "t" and weight is not None:
        tested = QueryMoments.of(rows.T, weight).t_test(alternative, largest)
    elif test == "t":
        tested = paired_t_test(rows, alternative, largest)
    elif test == "wilcoxon":
        rounded = round_relative(rows, largest[:, None], _DECIMALS)
        tested = _wilcoxon(rounded, alternative)
    else:
        means = rows.mean(axis=1)
        if weight is not None:
            means = column_means(rows.T, weight)
            rows = rows * (weight / weight.max())
        tested = (
            means,
            randomization_pvalues(rows, alternative, n_resamples, random_state),
        )
    statistics[differs], pvalues[differs] = tested
    return statistics, pvalues


def paired_t_test(
    rows: FloatArray, alternative: str, largest: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return statistics and p-values of the paired t test of rows of differences.

    As in scipy.stats.ttest_1samp, to the last bit: t = d̄/(s/√n), with n - 1
    degrees of freedom. The p-value is that of `t_test`, which intervals share.
    """
    n = rows.shape[1]
    mean = rows.mean(axis=1)
    variance = np.mean((rows - mean[:, None]) ** 2, axis=1) * (n / (n - 1))
    return t_test(mean, np.sqrt(variance / n), n, alternative, largest=largest)


def _wilcoxon(rows: FloatArray, alternative: str) -> tuple[FloatArray, FloatArray]:
    """Wilcoxon tests by scipy, with the method chosen for each row."""
    n = rows.shape[1]
    test = partial(stats.wilcoxon, alternative=alternative, axis=1)
    if n > _MAY_BE_EXACT:
        return test(rows)
    sizes = np.sort(np.abs(rows), axis=1)
    is_tied = (sizes[:, 0] == 0) | (sizes[:, 1:] == sizes[:, :-1]).any(axis=1)
    statistics, pvalues = test(rows, method="asymptotic")
    if not is_tied.all():
        pvalues[~is_tied] = test(rows[~is_tied]).pvalue
    if is_tied.any() and n <= _ALL_SIGNS:
        # each sign of each rank, and zeros without a rank
        signed = np.where(rows[is_tied] == 0, np.nan, rows[is_tied])
        ranks = stats.rankdata(np.abs(signed), axis=1, nan_policy="omit")
        ranks = np.where(np.isnan(signed), 0.0, np.copysign(ranks, signed))
        pvalues[is_tied] = randomization_pvalues(ranks, alternative, 2**n, 0)
    return statistics, pvalues


def randomization_pvalues(
    rows: FloatArray, alternative: str, n_resamples: int, random_state: int
) -> FloatArray:
    """Randomization tests of rows of differences, one per query, by the same signs.

    Signs are all 2**n if there are no more than `n_resamples`, else random ones.
    """
    whole = whole_numbers(rows)
    observed, n = whole.sum(axis=1), rows.shape[1]
    enumerates = n < _BITS and 2**n <= n_resamples
    n_signs = 2**n if enumerates else n_resamples
    rng = np.random.default_rng(random_state)
    counts = np.zeros((2, len(rows)), dtype=np.int64)
    step = max(1, _CELLS // max(rows.shape))
    for start in range(0, n_signs, step):
        numbers = np.arange(start, min(start + step, n_signs))
        if enumerates:
            bits = numbers[:, None] >> np.arange(n)
        else:
            bits = rng.integers(2**32, size=(len(numbers), n), dtype=np.uint32)
        # terms of sign +1 alone; BLAS adds whole numbers, which is exact
        positive = (bits & 1).astype(np.float64) @ whole.T
        # whole sums are 2 positive - observed; n, their rounding, is no difference
        counts[0] += np.count_nonzero(positive <= observed + n / 2, axis=0)
        counts[1] += np.count_nonzero(positive >= observed - n / 2, axis=0)
    if not enumerates:
        # the observed signs count, too
        counts, n_signs = counts + 1, n_signs + 1
    return _pvalues_of_tails(counts / n_signs, alternative)


def _pvalues_of_tails(tails: FloatArray, alternative: str) -> FloatArray:
    """Return p-values from the shares of samples that are as small, and as large."""
    if alternative == "two-sided":
        return np.minimum(2 * tails.min(axis=0), 1.0)
    return tails[0 if alternative == "less" else 1]


def whole_numbers(rows: FloatArray) -> FloatArray:
    """Scale each row to whole numbers, whose signed sums are exact.

    So sums are the same in any order, by any library. A sum is off by at most half
    a unit for each number.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    spare = _BITS - int(np.ceil(np.log2(rows.shape[1])))
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
    """p-values and intervals (percentiles) of differences of medians of columns.

    Queries are resampled, the same for all columns. The p-value is the share of samples
    whose difference is on the other side of 0, or on it; of both sides, twice the
    smaller share. NaN for fewer than two queries.
    """
    n = len(values)
    if n < 2:
        unknown = np.full((len(pairs), 2), np.nan)
        return unknown[:, 0], unknown
    rng = np.random.default_rng(random_state)
    medians = np.empty((values.shape[1], n_resamples))
    step = max(1, _CELLS // n)
    for start in range(0, n_resamples, step):
        resampled = rng.integers(0, n, (min(step, n_resamples - start), n))
        for j in np.unique(pairs):
            column = values[:, j]
            medians[j, start : start + step] = np.median(column[resampled], axis=1)
    ends, counts = np.empty((len(pairs), 2)), np.empty((2, len(pairs)))
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    largest = largest_values(values)
    for i, (a, b) in enumerate(pairs):
        scale = max(largest[a], largest[b])
        differences = without_rounding(medians[a] - medians[b], scale)
        ends[i] = np.quantile(differences, tails)
        counts[:, i] = (differences >= 0).sum(), (differences <= 0).sum()
    # the sample itself counts
    pvalues = _pvalues_of_tails((counts + 1) / (n_resamples + 1), alternative)
    return pvalues, ends
