"""Paired tests of many rows of differences at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._engine.ties import FloatArray
from ..evaluation._intervals import NO_DIFFERENCE, t_test
from ._paired_tests import ranked_alike

#: up to so many differences, scipy's Wilcoxon test looks whether any of them tie
_MAY_BE_EXACT = 50
#: up to so many, it goes through all signs if some tie
_ALL_SIGNS = 13
#: sums of signed differences that are compared at a time
_CELLS = 1 << 20
#: whole numbers up to 2**53 are floats
_BITS = 52


def paired_pvalues(
    differences: FloatArray,
    test: str,
    alternative: str = "two-sided",
    *,
    n_resamples: int = 9999,
    random_state: int = 0,
    signs: NDArray[np.int8] | None = None,
) -> FloatArray:
    """The p-values of `paired_test` for each row of `differences`.

    `signs` are those of `random_signs`, to be drawn once for many calls.
    """
    n = differences.shape[1]
    if n < 2:
        return np.full(len(differences), np.nan)
    differences = np.where(np.abs(differences) <= NO_DIFFERENCE, 0.0, differences)
    pvalues = np.ones(len(differences))
    # alike on every query: nothing to test
    some = differences.any(axis=1)
    rows = differences[some]
    if not len(rows):
        return pvalues
    if test == "t":
        pvalues[some] = _t_test(rows, alternative)
    elif test == "wilcoxon":
        pvalues[some] = _wilcoxon(rows, alternative)
    else:
        if signs is None:
            signs = random_signs(n, n_resamples, random_state)
        pvalues[some] = _randomization(rows, signs, alternative)
    return pvalues


def _t_test(rows: FloatArray, alternative: str) -> FloatArray:
    n = rows.shape[1]
    average = rows.mean(axis=1)
    variance = np.mean((rows - average[:, None]) ** 2, axis=1) * (n / (n - 1))
    return t_test(average, np.sqrt(variance / n), n, alternative).pvalue


def _wilcoxon(rows: FloatArray, alternative: str) -> FloatArray:
    """As scipy has it, which would choose one method for all rows of up to 50."""
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
        out[tied] = _randomization(ranks, random_signs(n, 2**n, 0), alternative)
    return out


def _scipys_wilcoxon(
    rows: FloatArray, alternative: str, method: str = "auto"
) -> FloatArray:
    found = stats.wilcoxon(rows, alternative=alternative, axis=1, method=method)
    return np.asarray(found.pvalue)


def random_signs(n: int, n_resamples: int, random_state: int) -> NDArray[np.int8]:
    """The signs of n differences that `paired_test` assigns, (n_assignments, n).

    They are all 2**n if there are no more than `n_resamples`, else random ones.
    """
    seen: list[NDArray[np.int8]] = []

    def keep(signed: FloatArray, axis: int) -> FloatArray:
        if signed.ndim == 2:
            seen.append(signed.astype(np.int8))
        return np.asarray(signed.mean(axis=axis))

    stats.permutation_test(
        (np.ones(n),), keep, permutation_type="samples", vectorized=True,
        n_resamples=n_resamples, batch=max(1, _CELLS // n),
        rng=np.random.default_rng(random_state),
    )  # fmt: skip
    return np.concatenate(seen)


def whole_numbers(rows: FloatArray) -> FloatArray:
    """Rows as whole numbers, in units of their own, whose signed sums are exact.

    So sums are the same in any order, by any library. A sum is off by at most half
    a unit for each number.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    spare = _BITS - int(np.ceil(np.log2(rows.shape[1])))
    _, exponent = np.frexp(largest)
    return np.asarray(np.rint(np.ldexp(rows, spare - exponent)))


def _randomization(
    rows: FloatArray, signs: NDArray[np.int8], alternative: str
) -> FloatArray:
    """Fisher's randomisation test, of sums that are exact in units of the last bits.

    Sums that differ by no more than rounding are equal.
    """
    n, n_signs = rows.shape[1], len(signs)
    whole = whole_numbers(rows)
    observed = whole.sum(axis=1)
    below, above = np.zeros((2, len(rows)), dtype=np.int64)
    step = max(1, _CELLS // max(len(rows), n))
    for start in range(0, n_signs, step):
        # BLAS adds whole numbers, which is exact
        sums = signs[start : start + step].astype(np.float64) @ whole.T
        below += np.count_nonzero(sums <= observed + n, axis=0)
        above += np.count_nonzero(sums >= observed - n, axis=0)
    # the observed assignment counts, unless it is among all of them
    own = 0 if n < 63 and n_signs == 2**n else 1
    less, greater = (below + own) / (n_signs + own), (above + own) / (n_signs + own)
    both = np.minimum(2 * np.minimum(less, greater), 1.0)
    found: dict[str, FloatArray] = {
        "less": less,
        "greater": greater,
        "two-sided": both,
    }
    return found[alternative]
