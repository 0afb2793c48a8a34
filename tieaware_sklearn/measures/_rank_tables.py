"""Sums of rank weights down the ranks: discounts, powers and harmonic numbers."""

from functools import lru_cache

import numpy as np

from .._typing import FloatArray, IntArray

#: Minimum number of ranks in a table.
_SMALLEST = 1024


@lru_cache(maxsize=64)
def _discounts(size: int) -> FloatArray:
    return 1.0 / np.log2(np.arange(2, size + 2))


@lru_cache(maxsize=8)
def _powers(p: float, size: int) -> FloatArray:
    return np.power(p, np.arange(size))


def rank_tables(weights: FloatArray) -> FloatArray:
    """Return weights of ranks, the sums of the weights above, and the sums' errors."""
    after = np.cumsum(weights)
    before = np.append(0.0, after[:-1])
    # Knuth's two-sum gives the exact rounding error of each addition.
    added = after - before
    lost = (before - (after - added)) + (weights - added)
    errors = np.append(0.0, np.cumsum(lost[:-1]))
    return np.stack([weights, before, errors])


@lru_cache(maxsize=8)
def harmonic_tables(size: int) -> FloatArray:
    """Return the tables of the rank weights 1/i."""
    return rank_tables(1.0 / np.arange(1, size + 1))


def n_ranks(depth: int | None, longest: int) -> int:
    """Return the number of ranks of tables for lists of up to `longest` documents.

    The number is a power of 2, so that few tables are made. The number exceeds the
    number of ranks that count, because the sum down to the last rank is also an
    element.
    """
    ranks = longest if depth is None else min(depth, longest)
    return max(_SMALLEST, 1 << ranks.bit_length())


def size_for(rank: IntArray) -> int:
    """Return the number of ranks of a table that contains all of these ranks."""
    return n_ranks(None, int(rank.max(initial=0)))


def log_discount(rank: IntArray) -> FloatArray:
    """Return 1 / log2(rank + 2) of ranks from 0 (Järvelin and Kekäläinen 2002)."""
    return _discounts(size_for(rank))[rank]


def geometric_weight(rank: IntArray, p: float) -> FloatArray:
    """Return (1 - p) p^rank of ranks counted from 0."""
    return (1.0 - p) * _powers(p, size_for(rank))[rank]


def harmonic_difference(low: IntArray, high: IntArray) -> FloatArray:
    """Return Σ 1/i over low < i <= high, right to the last bits at any depth.

    The table contains the rounding error of each addition, so that the difference
    between two large entries is as precise as a short sum.
    """
    _, sums, errors = harmonic_tables(size_for(high))
    difference = sums[high] - sums[low]
    return difference + (errors[high] - errors[low])
