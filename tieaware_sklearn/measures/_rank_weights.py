"""Tables of rank weights, grown on demand and shared by every query.

An entry depends on its rank alone, never on the size of the table.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._engine.ties import FloatArray, IntArray

_SMALLEST = 1024


def _size(n: int) -> int:
    return max(_SMALLEST, 1 << max(n - 1, 0).bit_length())


@lru_cache(maxsize=64)
def _discounts(size: int) -> FloatArray:
    return np.asarray(1.0 / np.log2(np.arange(2, size + 2)))


@lru_cache(maxsize=8)
def _powers(p: float, size: int) -> FloatArray:
    return np.asarray(np.power(p, np.arange(size)))


def _running_sums(terms: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of the first 0, 1, ... terms, and what they have lost."""
    high = np.concatenate([[0.0], np.cumsum(terms)])
    # the rounding error of each addition, exactly (Knuth's two-sum)
    before, after = high[:-1], high[1:]
    added = after - before
    error = (before - (after - added)) + (terms - added)
    return high, np.concatenate([[0.0], np.cumsum(error)])


@lru_cache(maxsize=64)
def _harmonic(size: int) -> tuple[FloatArray, FloatArray]:
    return _running_sums(1.0 / np.arange(1, size))


def rank_tables(weights: FloatArray) -> FloatArray:
    """Weights of ranks, from 0, their running sums, and what these have lost."""
    return np.stack([weights, *(sums[:-1] for sums in _running_sums(weights))])


def n_ranks(depth: int | None, longest: int) -> int:
    """Ranks that tables for walks down `longest` documents have; few sizes in all."""
    return _size((longest if depth is None else min(depth, longest)) + 1)


def log_discount(rank: IntArray) -> FloatArray:
    """1 / log2(rank + 2), ranks counted from 0 (Järvelin and Kekäläinen 2002)."""
    return np.asarray(_discounts(_size(int(rank.max(initial=0)) + 1))[rank])


def geometric_weight(rank: IntArray, p: float) -> FloatArray:
    """(1 - p) p^rank, ranks counted from 0."""
    return np.asarray((1.0 - p) * _powers(p, _size(int(rank.max(initial=0)) + 1))[rank])


def harmonic_difference(low: IntArray, high: IntArray) -> FloatArray:
    """Σ 1/i over low < i <= high, right to the last bits however deep.

    The table keeps what each of its additions lost, so that the difference of
    two large entries is as good as the short sum it stands for.
    """
    sums, errors = _harmonic(_size(int(high.max(initial=0)) + 1))
    return np.asarray((sums[high] - sums[low]) + (errors[high] - errors[low]))
