"""Paired tests of differences, one per query: one pair, or many at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._engine.segments import FloatArray
from ..evaluation import _averages, _intervals, _paired_t_test

#: number of signed differences that are summed at a time
_CELLS = 1 << 20
#: whole numbers up to 2**53 are floats
_BITS = 52


def randomization_pvalue(
    difference: FloatArray, alternative: str, n_resamples: int, random_state: int
) -> float:
    """Randomization test of differences, one per query, with signs in batches."""
    whole = whole_numbers(difference[None])
    result = _resampled(whole[0], n_resamples, random_state)
    sums = result.null_distribution[:, None]
    return float(_randomized(_counts(sums, whole), whole, len(sums), alternative)[0])


def randomization_pvalues(
    rows: FloatArray, signs: NDArray[np.int8], alternative: str
) -> FloatArray:
    """Randomization tests of many rows of differences, by the same signs."""
    whole = whole_numbers(rows)
    step = max(1, _CELLS // max(rows.shape))
    counts = np.zeros((2, len(rows)), dtype=np.int64)
    for start in range(0, len(signs), step):
        # BLAS adds whole numbers, which is exact
        sums = signs[start : start + step].astype(np.float64) @ whole.T
        counts += _counts(sums, whole)
    return _randomized(counts, whole, len(signs), alternative)


def random_signs(n: int, n_resamples: int, random_state: int) -> NDArray[np.int8]:
    """Signs of a randomization test, of shape (n_assignments, n).

    They are all 2**n if there are no more than `n_resamples`, else random ones.
    """
    seen: list[NDArray[np.int8]] = []
    _resampled(np.ones(n), n_resamples, random_state, seen)
    return np.concatenate(seen)


def _resampled(
    values: FloatArray,
    n_resamples: int,
    random_state: int,
    seen: list[NDArray[np.int8]] | None = None,
) -> Any:
    """Test with sums of values under all or random signs.

    Each assignment of signs is appended to `seen`, if all values are 1.
    """

    def total(signed: FloatArray, axis: int) -> FloatArray:
        if seen is not None and signed.ndim == 2:
            seen.append(signed.astype(np.int8))
        return np.asarray(signed.sum(axis=axis))

    return stats.permutation_test(
        (values,), total, permutation_type="samples", vectorized=True,
        n_resamples=n_resamples, batch=max(1, _CELLS // len(values)),
        rng=np.random.default_rng(random_state),
    )  # fmt: skip


def _counts(sums: FloatArray, whole: FloatArray) -> NDArray[np.int64]:
    """Count sums that are at most, and at least, as large as those observed.

    Sums that differ by no more than rounding are equal.
    """
    observed, n = whole.sum(axis=1), whole.shape[1]
    below = np.count_nonzero(sums <= observed + n, axis=0)
    above = np.count_nonzero(sums >= observed - n, axis=0)
    return np.array([below, above])


def _randomized(
    counts: NDArray[np.int64], whole: FloatArray, n_signs: int, alternative: str
) -> FloatArray:
    n = whole.shape[1]
    # the observed assignment counts, unless it is among all of them
    observed = 0 if n < 63 and n_signs == 2**n else 1
    return _of_tails((counts + observed) / (n_signs + observed), alternative)


def _of_tails(tails: FloatArray, alternative: str) -> FloatArray:
    """p-values from the shares of samples that are as small, and as large."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(2 * tails.min(axis=0), 1.0))
    return np.asarray(tails[0 if alternative == "less" else 1])


def whole_numbers(rows: FloatArray) -> FloatArray:
    """Scale each row to whole numbers, whose signed sums are exact.

    So sums are the same in any order, by any library. A sum is off by at most half
    a unit for each number.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    spare = _BITS - int(np.ceil(np.log2(rows.shape[1])))
    _, exponent = np.frexp(largest)
    return np.asarray(np.rint(np.ldexp(rows, spare - exponent)))


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


class PairedTest(NamedTuple):
    """Result of a test of paired differences."""

    statistic: float
    pvalue: float


def paired_test(
    difference: FloatArray,
    test: str,
    alternative: str = "two-sided",
    weight: FloatArray | None = None,
    *,
    n_resamples: int = 9999,
    random_state: int = 0,
) -> PairedTest:
    """Test whether differences, one per query, are about 0; NaN for fewer than two."""

    def randomized(rows: FloatArray) -> Any:
        return randomization_pvalue(rows[0], alternative, n_resamples, random_state)

    tested = paired_tests(difference[None], test, alternative, randomized, weight)
    return PairedTest(*(float(of_rows[0]) for of_rows in tested))


def paired_tests(
    rows: FloatArray,
    test: str,
    alternative: str,
    randomized: Callable[[FloatArray], FloatArray],
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Statistics and p-values of rows of differences.

    `randomized` gives the p-values of the randomization test. With weights of queries,
    all above 0, its statistic is the weighted mean, whose terms change their signs.
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
        elif weight is not None:
            means = _averages.means(rows.T, weight)
            tested = means, randomized(rows * (weight / weight.max()))
        else:
            tested = rows.mean(axis=1), randomized(rows)
        statistics[differ], pvalues[differ] = tested
    return statistics, pvalues


def _wilcoxon(rows: FloatArray, alternative: str) -> tuple[FloatArray, FloatArray]:
    """Wilcoxon tests by scipy, with the method chosen for each row."""
    n, test = rows.shape[1], partial(stats.wilcoxon, alternative=alternative, axis=1)
    if n > _MAY_BE_EXACT:
        return test(rows)  # type: ignore[no-any-return]
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
        signs = random_signs(n, 2**n, 0)
        pvalues[tied] = randomization_pvalues(ranks, signs, alternative)
    return statistics, pvalues


def bootstrap_of_medians(
    a: FloatArray,
    b: FloatArray,
    alternative: str,
    *,
    confidence: float,
    n_resamples: int,
    random_state: int,
) -> tuple[PairedTest, tuple[float, float]]:
    """Test and interval (percentiles) of the difference of two medians.

    Queries are resampled. The p-value is the share of samples whose difference is on
    the other side of 0, or on it; of both sides, twice the smaller share.
    """
    if len(a) < 2:
        return PairedTest(math.nan, math.nan), (math.nan, math.nan)
    rng = np.random.default_rng(random_state)
    n, medians = len(a), []
    # sorted, so that the order of rows has no effect
    both = np.stack([a, b])[:, np.lexsort((b, a))]
    batch = max(1, _CELLS // n)
    for start in range(0, n_resamples, batch):
        chosen = rng.integers(0, n, (min(batch, n_resamples - start), n))
        medians.append(np.subtract(*np.median(both[:, chosen], axis=2)))
    drawn = np.concatenate(medians)
    drawn[np.abs(drawn) <= _averages.NO_DIFFERENCE] = 0.0
    ends = np.array([1 - confidence, 1 + confidence]) / 2
    low, high = np.quantile(drawn, ends).tolist()
    # the sample itself counts
    counts = np.array([np.count_nonzero(drawn >= 0), np.count_nonzero(drawn <= 0)])
    pvalue = float(_of_tails((counts + 1) / (n_resamples + 1), alternative))
    return PairedTest(float(np.median(a) - np.median(b)), pvalue), (low, high)


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
        n, worth = len(x), float(len(x))
        means = _averages.mean(x, weight), _averages.mean(loss, weight)
        scale = float(n * (n - 1))
        if weight is not None:
            w = weight / math.fsum(weight.tolist())
            worth = _intervals.effective_number(weight)
            scale = (worth - 1) / worth
        if worth < 2:
            return cls(n, *means, math.nan, math.nan, math.nan)
        apart = x - means[0], loss - means[1]
        if weight is not None:
            apart = w * apart[0], w * apart[1]
        squares = (apart[0] ** 2, apart[1] ** 2, apart[0] * apart[1])
        of_value, of_loss, of_both = (
            math.fsum(part.tolist()) / scale for part in squares
        )
        effective = None if weight is None else worth
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
        error = np.sqrt(np.maximum(variance, 0.0))
        return float(
            _paired_t_test.t_test(
                average, error, self.n_queries, effective=self.effective
            ).pvalue
        )


def weighed(
    there: NDArray[np.bool_], weight: FloatArray | None
) -> tuple[NDArray[np.bool_], FloatArray | None]:
    """Queries that count, and their weights; equal weights are none."""
    if weight is None:
        return there, None
    there = there & (weight > 0)
    weight = weight[there]
    return there, weight if len(weight) and np.ptp(weight) > 0 else None
