"""Paired tests of many rows of differences at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._engine.ties import FloatArray
from ..evaluation._intervals import NO_DIFFERENCE, t_test
from ._paired_tests import ranked_alike
from ._randomization import random_signs, randomization_pvalues

#: up to so many differences, scipy's Wilcoxon test looks whether any of them tie
_MAY_BE_EXACT = 50
#: up to so many, it goes through all signs if some tie
_ALL_SIGNS = 13


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
        pvalues[some] = randomization_pvalues(rows, signs, alternative)
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
        out[tied] = randomization_pvalues(ranks, random_signs(n, 2**n, 0), alternative)
    return out


def _scipys_wilcoxon(
    rows: FloatArray, alternative: str, method: str = "auto"
) -> FloatArray:
    found = stats.wilcoxon(rows, alternative=alternative, axis=1, method=method)
    return np.asarray(found.pvalue)
