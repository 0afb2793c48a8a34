"""Sums of gains, each weighted by its rank: what CG, DCG, NDCG, RBP and CWL share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._engine.exact import show
from .._engine.segments import count_segments, expand, sum_segments
from .._engine.ties import FloatArray, IntArray, TieGroups
from .._kernel.walks import Walk
from ._base import Measure
from ._rank_weights import log_discount, n_ranks, rank_tables
from ._user_models import DEEPEST, from_views


class WeightedSum(Measure):
    """A sum of gains, each weighted by its rank."""

    k: int | None

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        """What ranks weigh, which count from 0."""
        return log_discount(rank)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is None:
            raise ValueError(
                f"{self} needs a cut-off, as in {self}@10, for its user model: without "
                "one, its weights have no finite sum"
            )
        if self.k > DEEPEST:
            raise ValueError(
                f"k must be at most {DEEPEST} for a user model, got {show(self.k)}"
            )
        return from_views(self._rank_weights(np.arange(self.k)))

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        gain = np.asarray(self.gains(levels), dtype=np.float64)
        if (np.diff(gain, prepend=0.0) < 0).any():
            # the best order is not that of the labels, or gains are negative
            return None
        tables = self._tables(n_ranks(self.k, longest))
        least = int(np.searchsorted(gain, 0.0, side="right"))
        return Walk("weighted", self.k, least, gain, tables)

    @lru_cache(maxsize=64)  # noqa: B019 (measures are small, and compare by value)
    def _tables(self, size: int) -> FloatArray:
        return rank_tables(self._rank_weights(np.arange(size)))

    def numerator(self, groups: TieGroups) -> FloatArray:
        """Each place down to rank k holds the mean gain of its group.

        McSherry and Najork (2008), section 3.6.
        """
        gains = self.gains_of(groups)
        near, owner, rank, counts = groups.documents(self.k)
        means = groups.gain_means(gains, near)[owner]
        # without its zeros, a sum has the same bits however many of them there are
        filled = means > 0
        values = means[filled] * self._rank_weights(rank[filled])
        return sum_segments(values, count_segments(filled, counts))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """A group of n documents is a sample without replacement.

        It adds S² [Σ_{j<=kk} (w_j - w̄)² + (n - kk) w̄²], the places beyond the
        cut-off weighing 0. Groups are independent.
        """
        if not groups.mixed:
            return np.zeros(groups.n_queries)
        variance = groups.gain_variances(self.gains_of(groups))
        inside = groups.inside(self.k)
        chosen = np.flatnonzero((variance > 0) & (inside > 0))
        counts, n, lo = inside[chosen], groups.n[chosen], groups.lo[chosen]
        owner, place = expand(counts)
        weights = self._rank_weights(lo[owner] + place)
        mean = sum_segments(weights, counts) / n
        deviation = weights - mean[owner]
        spread = sum_segments(deviation * deviation, counts)
        spread += (n - counts) * mean * mean
        variance[chosen] *= spread
        variance[inside == 0] = 0.0
        return groups.sum_groups(variance)
