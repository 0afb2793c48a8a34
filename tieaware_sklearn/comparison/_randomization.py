"""Fisher's randomisation test: the sums of differences whose signs are random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .._engine.ties import FloatArray

#: signed differences that are summed at a time
_CELLS = 1 << 20
#: whole numbers up to 2**53 are floats
_BITS = 52


def randomization_pvalue(
    difference: FloatArray, alternative: str, n_resamples: int, random_state: int
) -> float:
    """The p-value of differences, one per query; not all signs are held at once."""
    whole = whole_numbers(difference[None])
    found = _resampled(whole[0], n_resamples, random_state)
    sums = found.null_distribution[:, None]
    return float(_pvalues(_counts(sums, whole), whole, len(sums), alternative)[0])


def randomization_pvalues(
    rows: FloatArray, signs: NDArray[np.int8], alternative: str
) -> FloatArray:
    """The p-values of many rows of differences, by the same signs."""
    whole = whole_numbers(rows)
    step = max(1, _CELLS // max(rows.shape))
    counts = np.zeros((2, len(rows)), dtype=np.int64)
    for start in range(0, len(signs), step):
        # BLAS adds whole numbers, which is exact
        sums = signs[start : start + step].astype(np.float64) @ whole.T
        counts += _counts(sums, whole)
    return _pvalues(counts, whole, len(signs), alternative)


def random_signs(n: int, n_resamples: int, random_state: int) -> NDArray[np.int8]:
    """The signs that a test gives to n differences, (n_assignments, n).

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
    """Sums of values with all or random signs; `seen` gets signs, if values are 1."""

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
    """How many sums, (n_assignments, n_rows), are at most, and at least, as observed.

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
    own = 0 if n < 63 and n_signs == 2**n else 1
    less, greater = (counts + own) / (n_signs + own)
    if alternative == "two-sided":
        return np.asarray(np.minimum(2 * np.minimum(less, greater), 1.0))
    return np.asarray(less if alternative == "less" else greater)


def whole_numbers(rows: FloatArray) -> FloatArray:
    """Rows as whole numbers, in units of their own, whose signed sums are exact.

    So sums are the same in any order, by any library. A sum is off by at most half
    a unit for each number.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    spare = _BITS - int(np.ceil(np.log2(rows.shape[1])))
    _, exponent = np.frexp(largest)
    return np.asarray(np.rint(np.ldexp(rows, spare - exponent)))
