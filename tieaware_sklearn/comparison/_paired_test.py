"""Paired tests of differences, one per query: one pair, or many at once."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import stats

from .._typing import BoolArray, FloatArray, IntArray
from ..evaluation import _averages, _intervals, _paired_t_test

#: number of signs, or of resampled values, that are held at a time
_CELLS = 1 << 18
#: whole numbers up to 2**53 are floats
_BITS = 52


def randomization_pvalues(
    rows: FloatArray, alternative: str, n_resamples: int, random_state: int
) -> FloatArray:
    """Randomization tests of rows of differences, one per query, by the same signs.

    Signs are all 2**n if there are no more than `n_resamples`, else random ones.
    """
    whole = whole_numbers(rows)
    observed, n = whole.sum(axis=1), rows.shape[1]
    every = n < _BITS and 2**n <= n_resamples
    n_signs, rng = 2**n if every else n_resamples, np.random.default_rng(random_state)
    counts = np.zeros((2, len(rows)), dtype=np.int64)
    step = max(1, _CELLS // max(rows.shape))
    for start in range(0, n_signs, step):
        numbers = np.arange(start, min(start + step, n_signs))
        if every:
            drawn = numbers[:, None] >> np.arange(n)
        else:
            drawn = rng.integers(2**32, size=(len(numbers), n), dtype=np.uint32)
        # terms of sign +1 alone; BLAS adds whole numbers, which is exact
        positive = (drawn & 1).astype(np.float64) @ whole.T
        # whole sums are 2 positive - observed; n, their rounding, is no difference
        counts[0] += np.count_nonzero(positive <= observed + n / 2, axis=0)
        counts[1] += np.count_nonzero(positive >= observed - n / 2, axis=0)
    # the observed assignment counts, unless it is among all of them
    more = 0 if every else 1
    return _of_tails((counts + more) / (n_signs + more), alternative)


def _of_tails(tails: FloatArray, alternative: str) -> FloatArray:
    """p-values from the shares of samples that are as small, and as large."""
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


#: the tests of pairs, by the names that users give
WORDS_OF_TESTS = {
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "Fisher's randomisation test",
}
TESTS = tuple(WORDS_OF_TESTS)
CORRECTIONS = ("holm", "bh", "by", None)
ALTERNATIVES = ("two-sided", "greater", "less")
#: decimals of differences in ranks; smaller ones are rounding, as `NO_DIFFERENCE` is
_DECIMALS = 12
#: up to this many differences, scipy's Wilcoxon test looks for ties
_MAY_BE_EXACT = 50
#: up to this many, it enumerates all signs if there are ties
_ALL_SIGNS = 13


def paired_tests(
    rows: FloatArray,
    test: str,
    alternative: str = "two-sided",
    weight: FloatArray | None = None,
    *,
    n_resamples: int = 9999,
    random_state: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Statistics and p-values of rows of differences; NaN for fewer than two.

    With weights of queries, all above 0, the statistic of the randomization test is
    the weighted mean, whose terms change their signs.
    """
    if rows.shape[1] < 2:
        unknown = np.full(len(rows), np.nan)
        return unknown, unknown
    rows = np.where(np.abs(rows) <= _averages.NO_DIFFERENCE, 0.0, rows)
    statistics, pvalues = np.zeros(len(rows)), np.ones(len(rows))
    # equal on every query: scipy's tests would divide by 0
    differ = rows.any(axis=1)
    if differ.any():
        rows = rows[differ]
        tested: tuple[FloatArray, FloatArray]
        if test == "t" and weight is not None:
            tested = _intervals.QueryMoments.of(rows.T, weight).t_test(alternative)
        elif test == "t":
            tested = _paired_t_test.paired_t_test(rows, alternative)
        elif test == "wilcoxon":
            tested = _wilcoxon(np.round(rows, _DECIMALS), alternative)
        else:
            means = rows.mean(axis=1)
            if weight is not None:
                means = _averages.means(rows.T, weight)
                rows = rows * (weight / weight.max())
            tested = (
                means,
                randomization_pvalues(rows, alternative, n_resamples, random_state),
            )
        statistics[differ], pvalues[differ] = tested
    return statistics, pvalues


def _wilcoxon(rows: FloatArray, alternative: str) -> tuple[FloatArray, FloatArray]:
    """Wilcoxon tests by scipy, with the method chosen for each row."""
    n, test = rows.shape[1], partial(stats.wilcoxon, alternative=alternative, axis=1)
    if n > _MAY_BE_EXACT:
        return test(rows)
    sizes = np.sort(np.abs(rows), axis=1)
    tied = (sizes[:, 0] == 0) | (sizes[:, 1:] == sizes[:, :-1]).any(axis=1)
    statistics, pvalues = test(rows, method="asymptotic")
    if not tied.all():
        pvalues[~tied] = test(rows[~tied]).pvalue
    if tied.any() and n <= _ALL_SIGNS:
        # each sign of each rank, and zeros without a rank
        signed = np.where(rows[tied] == 0, np.nan, rows[tied])
        ranks = stats.rankdata(np.abs(signed), axis=1, nan_policy="omit")
        ranks = np.where(np.isnan(signed), 0.0, np.copysign(ranks, signed))
        pvalues[tied] = randomization_pvalues(ranks, alternative, 2**n, 0)
    return statistics, pvalues


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
    batch = max(1, _CELLS // n)
    for start in range(0, n_resamples, batch):
        chosen = rng.integers(0, n, (min(batch, n_resamples - start), n))
        for j in np.unique(pairs):
            sampled = np.median(values[:, j][chosen], axis=1)
            medians[j, start : start + batch] = sampled
    ends, counts = np.empty((len(pairs), 2)), np.empty((2, len(pairs)))
    tails = (1 - confidence) / 2, (1 + confidence) / 2
    for i, (a, b) in enumerate(pairs):
        drawn = medians[a] - medians[b]
        drawn[np.abs(drawn) <= _averages.NO_DIFFERENCE] = 0.0
        ends[i] = np.quantile(drawn, tails)
        counts[:, i] = np.count_nonzero(drawn >= 0), np.count_nonzero(drawn <= 0)
    # the sample itself counts
    return _of_tails((counts + 1) / (n_resamples + 1), alternative), ends


class QueryLosses(NamedTuple):
    """Mean and second moments of two systems' values on the same queries.

    Attributes
    ----------
    n_queries : int
        Queries that have both.
    value, loss : float
        Means of the cheaper system, and of the exact one less the cheaper one.
    value_variance, loss_variance, covariance : float
        Of the means.
    effective : float, optional
        Number of queries of equal weight that these are worth, if they have weights.
    """

    n_queries: int
    value: float
    loss: float
    value_variance: float
    loss_variance: float
    covariance: float
    effective: float | None = None

    @classmethod
    def of(
        cls, exact: FloatArray, cheaper: FloatArray, weight: FloatArray | None = None
    ) -> QueryLosses:
        """Compute from values per query, without those that are NaN or weigh 0."""
        there = ~(np.isnan(exact) | np.isnan(cheaper))
        there, weight = weighed(there, weight)
        x, loss = cheaper[there], (exact - cheaper)[there]
        means = _averages.mean(x, weight), _averages.mean(loss, weight)
        n, effective = len(x), None
        worth, scale, w = float(n), float(n * (n - 1)), np.ones(n)
        if weight is not None:
            worth = effective = _intervals.effective_number(weight)
            scale, w = (worth - 1) / worth, weight / math.fsum(weight.tolist())
        if worth < 2:
            return cls(n, *means, math.nan, math.nan, math.nan)
        x, loss = w * (x - means[0]), w * (loss - means[1])
        of_value, of_loss, of_both = (
            math.fsum(part.tolist()) / scale for part in (x**2, loss**2, x * loss)
        )
        return cls(n, *means, of_value, of_loss, of_both, effective)

    def inferiority(self, tolerance: float, *, greater_is_better: bool) -> float:
        """One-tailed paired t test of mean(cheaper) <= tolerance x mean(exact).

        Small ones say that the cheaper system keeps more than this share. Where
        lower is better it is mean(cheaper) >= mean(exact) / tolerance.
        """
        # cheaper - tolerance exact, or exact - tolerance cheaper
        a = 1 - tolerance
        b = -tolerance if greater_is_better else 1.0
        average = a * self.value + b * self.loss
        variance = a * a * self.value_variance + b * b * self.loss_variance
        variance += 2 * a * b * self.covariance
        error, worth = np.sqrt(np.maximum(variance, 0.0)), self.effective
        tested = _paired_t_test.t_test(average, error, self.n_queries, effective=worth)
        return float(tested.pvalue)


def weighed(
    there: BoolArray, weight: FloatArray | None
) -> tuple[BoolArray, FloatArray | None]:
    """Queries that count, and their weights; equal weights are none."""
    if weight is None:
        return there, None
    there = there & (weight > 0)
    weight = weight[there]
    return there, weight if len(weight) and np.ptp(weight) > 0 else None
