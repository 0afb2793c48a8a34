"""Sums of rank weights down the ranks: discounts, powers, harmonic numbers."""

from functools import lru_cache

import numpy as np

from .._typing import FloatArray, IntArray

_SMALLEST = 1024


@lru_cache(maxsize=64)
def _discounts(size: int) -> FloatArray:
    return 1.0 / np.log2(np.arange(2, size + 2))


@lru_cache(maxsize=8)
def _powers(p: float, size: int) -> FloatArray:
    return np.power(p, np.arange(size))


def rank_tables(weights: FloatArray) -> FloatArray:
    """Weights of ranks, from 0, their running sums, and what these have lost."""
    after = np.cumsum(weights)
    before = np.concatenate([[0.0], after[:-1]])
    # the rounding error of each addition, exactly (Knuth's two-sum)
    added = after - before
    errors = np.cumsum((before - (after - added)) + (weights - added))
    return np.stack([weights, before, np.concatenate([[0.0], errors[:-1]])])


@lru_cache(maxsize=8)
def harmonic_tables(size: int) -> FloatArray:
    """Tables of the rank weights 1/i."""
    return rank_tables(1.0 / np.arange(1, size + 1))


def n_ranks(depth: int | None, longest: int) -> int:
    """Ranks that tables for walks down `longest` documents have; few sizes in all."""
    ranks = longest if depth is None else min(depth, longest)
    return max(_SMALLEST, 1 << ranks.bit_length())


def size_for(rank: IntArray) -> int:
    """Ranks of a table that holds all of these."""
    return n_ranks(None, int(rank.max(initial=0)))


def log_discount(rank: IntArray) -> FloatArray:
    """1 / log2(rank + 2), ranks counted from 0 (Järvelin and Kekäläinen 2002)."""
    return _discounts(size_for(rank))[rank]


def geometric_weight(rank: IntArray, p: float) -> FloatArray:
    """(1 - p) p^rank, ranks counted from 0."""
    return (1.0 - p) * _powers(p, size_for(rank))[rank]


def harmonic_difference(low: IntArray, high: IntArray) -> FloatArray:
    """Σ 1/i over low < i <= high, right to the last bits however deep.

    The table keeps what each of its additions lost, so that the difference of
    two large entries is as good as the short sum it stands for.
    """
    _, sums, errors = harmonic_tables(size_for(high))
    return (sums[high] - sums[low]) + (errors[high] - errors[low])
