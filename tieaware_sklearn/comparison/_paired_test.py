"""Paired tests of differences, one per query: one pair, or many at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._engine.segments import FloatArray
from ..evaluation import _averages, _paired_t_test

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
    return float(_pvalues(_counts(sums, whole), whole, len(sums), alternative)[0])


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
    return _pvalues(counts, whole, len(signs), alternative)


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


def _pvalues(
    counts: NDArray[np.int64], whole: FloatArray, n_signs: int, alternative: str
) -> FloatArray:
    n = whole.shape[1]
    # the observed assignment counts, unless it is among all of them
    observed = 0 if n < 63 and n_signs == 2**n else 1
    less, greater = (counts + observed) / (n_signs + observed)
    if alternative == "two-sided":
        return np.asarray(np.minimum(2 * np.minimum(less, greater), 1.0))
    return np.asarray(less if alternative == "less" else greater)


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


class PairedTest(NamedTuple):
    """Result of a test of paired differences."""

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
    difference = np.where(
        np.abs(difference) <= _averages.NO_DIFFERENCE, 0.0, difference
    )
    if not difference.any():
        # equal on every query: scipy's tests would divide by 0
        return PairedTest(0.0, 1.0)
    if test == "t":
        (statistic,), (pvalue,) = _paired_t_test.paired_t_test(
            difference[None], alternative
        )
    elif test == "wilcoxon":
        rounded = ranked_alike(difference)
        statistic, pvalue = stats.wilcoxon(rounded, alternative=alternative)
    else:
        statistic = difference.mean()
        drawn = n_resamples, random_state
        pvalue = randomization_pvalue(difference, alternative, *drawn)
    return PairedTest(float(statistic), float(pvalue))


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
    unknown = PairedTest(math.nan, math.nan), (math.nan, math.nan)
    if len(a) < 2:
        return unknown
    rng = np.random.default_rng(random_state)
    n, left = len(a), n_resamples
    # sorted, so that the order of rows has no effect
    both = np.stack([a, b])[:, np.lexsort((b, a))]
    medians = []
    while left:
        batch = min(left, max(1, _CELLS // n))
        of = both[:, rng.integers(0, n, (batch, n))]
        medians.append(np.subtract(*np.median(of, axis=2)))
        left -= batch
    drawn = np.concatenate(medians)
    drawn[np.abs(drawn) <= _averages.NO_DIFFERENCE] = 0.0
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    low, high = np.quantile(drawn, tails).tolist()
    # the sample itself counts
    less, greater = (
        (np.count_nonzero(side) + 1) / (len(drawn) + 1)
        for side in (drawn >= 0, drawn <= 0)
    )
    pvalue = {"less": less, "greater": greater}.get(
        alternative, min(1.0, 2 * min(less, greater))
    )
    return PairedTest(float(np.median(a) - np.median(b)), pvalue), (low, high)


def ranked_alike(difference: FloatArray) -> FloatArray:
    """Make differences equal that only rounding tells apart, before ranking them."""
    return np.round(difference, _DECIMALS)


#: up to this many differences, scipy's Wilcoxon test looks for ties
_MAY_BE_EXACT = 50
#: up to this many, it enumerates all signs if there are ties
_ALL_SIGNS = 13


def paired_pvalues(
    differences: FloatArray,
    test: str,
    alternative: str = "two-sided",
    *,
    signs: Callable[[int], NDArray[np.int8]],
) -> FloatArray:
    """The p-values of `paired_test` for each row of `differences`.

    `signs` gives those of `random_signs` for a number of differences; it may remember
    them for many calls.
    """
    n = differences.shape[1]
    if n < 2:
        return np.full(len(differences), np.nan)
    differences = np.where(
        np.abs(differences) <= _averages.NO_DIFFERENCE, 0.0, differences
    )
    pvalues = np.ones(len(differences))
    # equal on every query: nothing to test
    some = differences.any(axis=1)
    rows = differences[some]
    if not len(rows):
        return pvalues
    if test == "t":
        pvalues[some] = _paired_t_test.paired_t_test(rows, alternative)[1]
    elif test == "wilcoxon":
        pvalues[some] = _wilcoxon(rows, alternative)
    else:
        pvalues[some] = randomization_pvalues(rows, signs(n), alternative)
    return pvalues


def _wilcoxon(rows: FloatArray, alternative: str) -> FloatArray:
    """Wilcoxon tests by scipy, with the method chosen for each row."""
    n, rows = rows.shape[1], ranked_alike(rows)
    if n > _MAY_BE_EXACT:
        return _scipys_wilcoxon(rows, alternative)
    sizes = np.sort(np.abs(rows), axis=1)
    tied = (sizes[:, 0] == 0) | (sizes[:, 1:] == sizes[:, :-1]).any(axis=1)
    out = np.empty(len(rows))
    if not tied.all():
        out[~tied] = _scipys_wilcoxon(rows[~tied], alternative)
    if tied.any() and n > _ALL_SIGNS:
        out[tied] = _scipys_wilcoxon(rows[tied], alternative, method="asymptotic")
    elif tied.any():
        # each sign of each rank, and zeros without a rank
        signed = np.where(rows[tied] == 0, np.nan, rows[tied])
        ranks = stats.rankdata(np.abs(signed), axis=1, nan_policy="omit")
        ranks = np.where(np.isnan(signed), 0.0, np.copysign(ranks, signed))
        out[tied] = randomization_pvalues(ranks, random_signs(n, 2**n, 0), alternative)
    return out


def _scipys_wilcoxon(rows: FloatArray, how: str, method: str = "auto") -> FloatArray:
    result = stats.wilcoxon(rows, alternative=how, axis=1, method=method)
    return np.asarray(result.pvalue)


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
    """

    n_queries: int
    value: float
    loss: float
    value_variance: float
    loss_variance: float
    covariance: float

    @classmethod
    def of(cls, exact: FloatArray, cheaper: FloatArray) -> QueryLosses:
        """Compute from values per query, without those that are NaN."""
        there = ~(np.isnan(exact) | np.isnan(cheaper))
        x, loss = cheaper[there], (exact - cheaper)[there]
        n = len(x)
        means = _averages.mean(x), _averages.mean(loss)
        if n < 2:
            return cls(n, *means, math.nan, math.nan, math.nan)
        apart = x - means[0], loss - means[1]
        squares = (apart[0] ** 2, apart[1] ** 2, apart[0] * apart[1])
        scale = n * (n - 1)
        return cls(n, *means, *(math.fsum(part.tolist()) / scale for part in squares))

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
        return float(_paired_t_test.t_test(average, error, self.n_queries).pvalue)
