"""Tie groups from rows that the kernel has sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, exact_numbers, segments, tie_groups
from .._engine.segments import FloatArray, IntArray
from . import arranged, engines

#: NumPy sorts rows up to here as fast as it finds their first keys
_SHORT = 256
#: the first keys are picked from rows so many times longer
_WORTH_PICKING = 4
#: last bits of 32-bit floats that are 0 once they have 64
_FREE_BITS = 29
#: rows are numbered by integers of 32 bits
MOST_ROWS = 2**31 - 1


class SortedRows:
    """Queries ranked by score columns, in rows that the kernel reads.

    Attributes
    ----------
    n_columns : int
    retrieved : ndarray of shape (n_columns, n_queries)
        Documents in the ranking.

    Notes
    -----
    With `depth`, walks look no further down, and not backwards.
    """

    def __init__(
        self,
        labels: arranged.ArrangedLabels,
        scores: NDArray[np.floating[Any]],
        *,
        ascending: bool = False,
        input_order: bool = False,
        depth: int | None = None,
    ) -> None:
        self._labels = labels
        self._split = input_order
        self.n_columns = len(scores)
        if scores.dtype == np.float32 and labels.width > _FREE_BITS:
            scores = scores.astype(np.float64)
        rows, self._label = labels.as_given if input_order else labels.by_level
        self._keys = engines.compiled.pack(
            scores, rows, labels.offsets, labels.longest, labels.width,
            ascending=ascending,
        )  # fmt: skip
        self._is_sorted = depth is None or not self._sort_down_to(depth)
        if self._is_sorted:
            self._keys.keys.sort(axis=1)
        retrieved = self._keys.counts[:, 0].reshape(self.n_columns, -1)
        self.retrieved: IntArray = retrieved.astype(np.int64)

    def _sort_down_to(self, depth: int) -> bool:
        """Sort the groups down to a rank, if that pays: of long lists."""
        keys, width = self._keys.keys, self._labels.width
        room = 2 * depth
        if keys.shape[1] < max(_SHORT, _WORTH_PICKING * room):
            return False
        keys.partition(room - 1, axis=1)
        keys[:, :room].sort(axis=1)
        # the tie at that rank may go on further down
        cut = keys[:, depth - 1] >> width == keys[:, room - 1] >> width
        keys[cut] = np.sort(keys[cut], axis=1)
        return True

    @property
    def totals(self) -> tie_groups.Totals:
        """Totals of the queries, for normalisers."""
        labels = self._labels
        # those of one column are those of all
        if (self.retrieved == labels.retrieved).all():
            return labels
        return tie_groups.Totals(labels, labels.n_queries, self.retrieved)

    def walk(
        self, walks: list[Any], n_statistics: int, *, backwards: bool = False
    ) -> FloatArray:
        """Mean, best, worst and standard deviation, or the first of these.

        An array of shape (n_statistics, n_columns, n_queries, n_walks).
        """
        out: FloatArray = np.empty((n_statistics, *self.retrieved.shape, len(walks)))
        if n_statistics:
            engines.compiled.walk(
                walks, self._keys, self._label, self._labels.by_level[1], out,
                backwards=backwards, split=self._split,
            )  # fmt: skip
        return out

    def midranks(self, *, both_ways: bool) -> FloatArray:
        """Twice the midrank of each row, less its mean, (n_rows, n_rankings).

        `both_ways` adds those of the rankings turned, in which NaN is last, too.
        """
        n = self.n_columns
        n_rankings = 2 * n if both_ways else n
        out: FloatArray = np.empty((self._labels.offsets[-1], n_rankings))
        engines.compiled.midranks(self._keys, out[:, :n])
        if both_ways:
            engines.compiled.midranks(self._keys, out[:, n:], backwards=True)
        return out

    def spread_within_ties(self, sums: FloatArray, *, backwards: bool) -> FloatArray:
        """Spread of rank weights within ties: (n_columns, n_queries, n_sums)."""
        out: FloatArray = np.zeros((self.retrieved.size, sums.shape[1]))
        engines.compiled.spread_within_ties(self._keys, sums, out, backwards=backwards)
        return out.reshape(*self.retrieved.shape, -1)

    def groups(self, *, backwards: bool = False) -> list[tie_groups.TieGroups]:
        """The tie groups of each score column."""
        if not self._is_sorted:
            self._keys.keys.sort(axis=1)
            self._is_sorted = True
        everything, found = self._labels.ties, []
        n_queries = everything.n_queries
        for column, retrieved in enumerate(self.retrieved):
            n_groups: IntArray = np.empty(n_queries, dtype=np.int64)
            start: IntArray = np.empty(retrieved.sum(), dtype=np.int64)
            label = np.empty(len(start), dtype=np.int32)
            total = engines.compiled.tie_groups(
                self._keys, column, self._label, n_groups, start, label,
                backwards=backwards, split=self._split,
            )  # fmt: skip
            groups = tie_groups.TieGroups(
                n_queries, everything.levels, segments.owners(n_groups),
                start[:total], label, everything, retrieved,
            )  # fmt: skip
            found.append(groups)
        return found


def level_codes(labels: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """The distinct labels, ascending, and the place of each label among them."""
    code = np.empty(len(labels), dtype=np.int32)
    levels = engines.compiled.small_codes(np.ascontiguousarray(labels), code)
    if levels is not None:
        return np.array(levels, dtype=np.float64), code
    found, inverse = np.unique(labels, return_inverse=True)
    return found, inverse.astype(np.int32)


def score_columns(scores: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Columns (n_columns, n_rows) as floats that compare as the scores do."""
    if scores.dtype in (np.float64, np.float32):
        return np.ascontiguousarray(scores)
    if exact_numbers.fits_floats(scores):
        return np.ascontiguousarray(scores, dtype=np.float64)
    # ranks compare as the scores do
    out = np.empty(scores.shape)
    for column, own in zip(out, scores, strict=True):
        ranks, _ = tie_groups.dense_ranks(own)
        column[:] = ranks
        column[ranks < 0] = np.nan
        column[~checks.is_retrieved(own)] = -np.inf
    return out
