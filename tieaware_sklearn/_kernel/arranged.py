"""Queries arranged for the kernel: labels once, then any score columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import FloatArray, IntArray, offsets_of, owners
from .._engine.ties import TieGroups, dense_ranks
from .._engine.validation import is_retrieved
from .engines import compiled
from .walks import Walk

#: levels are counted for each query up to so many of them, and sorted beyond
_COUNTED = 64
#: whole numbers beyond are not all floats
_EXACT = 2**53


class ArrangedLabels:
    """The labels of some queries, by label within each of them.

    Parameters
    ----------
    code : ndarray of shape (n_rows,), int32
        Label of each row of the data set, an index into `levels`.
    order : ndarray of shape (n_rows,), optional
        The rows of the data set, query by query; None if they stand so.
    start, sizes : ndarray of shape (n_queries,)
        Where the queries begin in `order`, and their numbers of rows.
    levels : ndarray of shape (n_levels,)
    """

    def __init__(
        self,
        code: NDArray[np.int32],
        order: IntArray | None,
        start: IntArray,
        sizes: IntArray,
        levels: FloatArray,
    ) -> None:
        self._given = code, order, np.ascontiguousarray(start)
        self.sizes = sizes
        self.offsets = offsets_of(sizes)
        self.levels = levels
        self.longest = int(sizes.max())
        self._width = max((self.longest - 1).bit_length(), 1)
        self.rows, self.label = self._arranged(len(levels))

    def _arranged(self, n_levels: int) -> tuple[IntArray, NDArray[np.int32]]:
        """Rows and labels, as they stand for 0 levels, else by level."""
        code, order, start = self._given
        many = n_levels > _COUNTED
        rows = np.empty(self.offsets[-1], dtype=np.int64)
        label = np.empty(self.offsets[-1], dtype=np.int32)
        compiled.arrange(
            code, order, start, self.offsets, 0 if many else n_levels, rows, label
        )
        if many:
            by_level = np.lexsort((label, owners(self.sizes)))
            return rows[by_level], label[by_level]
        return rows, label

    @cached_property
    def _as_given(self) -> tuple[IntArray, NDArray[np.int32]]:
        return self._arranged(0)

    @cached_property
    def everything(self) -> TieGroups:
        """One group per query, of all its documents."""
        n_queries = len(self.sizes)
        return TieGroups(
            n_queries,
            self.levels,
            np.arange(n_queries),
            self.offsets[:-1],
            self.label,
            retrieved=self.sizes,
        )

    def sort(
        self,
        scores: NDArray[np.floating[Any]],
        *,
        ascending: bool = False,
        input_order: bool = False,
    ) -> SortedRows:
        """Rank these queries by each of several columns (n_columns, n_rows)."""
        rows, label = self._as_given if input_order else (self.rows, self.label)
        shape = len(scores) * len(self.sizes), self.longest
        found = SortedRows(
            np.empty(shape, dtype=np.int64),
            np.empty(shape),
            np.empty((shape[0], 2), dtype=np.int32),
            np.empty(shape[0], dtype=np.uint8),
            self._width,
            label,
            self.offsets,
            len(scores),
            self,
            input_order,
        )
        compiled.pack(
            scores, rows, self.offsets, self._width, ascending, found.keys,
            found.values, found.counts, found.lossy,
        )  # fmt: skip
        found.keys.sort(axis=1)
        return found

    def of_labels(self, walks: Sequence[Walk]) -> tuple[FloatArray, FloatArray]:
        """Mean and best of each query and walk if all documents tied."""
        out = np.empty((2, len(self.sizes), len(walks)))
        compiled.walk_labels(_compiled_walks(walks), self.label, self.offsets, out)
        return out[0], out[1]


class SortedRows:
    """Queries ranked by score columns, in rows that the kernel reads."""

    def __init__(
        self,
        keys: IntArray,
        values: FloatArray,
        counts: NDArray[np.int32],
        lossy: NDArray[np.uint8],
        width: int,
        label: NDArray[np.int32],
        offsets: IntArray,
        n_columns: int,
        labels: ArrangedLabels,
        split: bool,
    ) -> None:
        self.keys = keys
        self.values = values
        self.counts = counts
        self.lossy = lossy
        self._width = width
        self._label = label
        self._offsets = offsets
        self._n_columns = n_columns
        self._labels = labels
        self._split = split

    @property
    def retrieved(self) -> IntArray:
        return self.counts[:, 0].astype(np.int64)

    def walk(
        self, walks: Sequence[Walk], n_statistics: int, *, backwards: bool = False
    ) -> FloatArray:
        """Mean, best, worst and variance, or the first of these.

        Of shape (n_statistics, n_columns, n_queries, n_walks).
        """
        shape = n_statistics, self._n_columns, len(self._offsets) - 1, len(walks)
        out: FloatArray = np.empty(shape)
        compiled.walk(
            _compiled_walks(walks), self.keys, self.values, self.counts, self.lossy,
            self._width, self._label, self._labels.label, self._offsets, out,
            backwards=backwards,
            split=self._split,
        )  # fmt: skip
        return out

    def groups(self) -> TieGroups:
        """The tie groups of one score column."""
        retrieved = self.retrieved
        n_groups: IntArray = np.empty(len(retrieved), dtype=np.int64)
        start = np.empty(retrieved.sum(), dtype=np.int64)
        label = np.empty(len(start), dtype=np.int32)
        total = compiled.tie_groups(
            self.keys, self.values, self.counts, self.lossy, self._width, self._label,
            self._offsets, n_groups, start, label, split=self._split,
        )  # fmt: skip
        everything = self._labels.everything
        return TieGroups(
            len(n_groups),
            everything.levels,
            owners(n_groups),
            start[:total],
            label,
            everything,
            retrieved,
        )


def _compiled_walks(walks: Sequence[Walk]) -> list[Any]:
    return [compiled.Walk(*walk.arguments()) for walk in walks]


def score_columns(scores: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Columns (n_columns, n_rows) as floats that compare as the scores do."""
    if scores.dtype in (np.float64, np.float32):
        return np.ascontiguousarray(scores)
    kind, itemsize = scores.dtype.kind, scores.dtype.itemsize
    if (kind in "iub" and itemsize < 8) or (kind == "f" and itemsize < 8):
        return scores.astype(np.float64)
    if kind in "iu":
        most = max(abs(int(scores.max())), abs(int(scores.min())))
        if most <= _EXACT:
            return scores.astype(np.float64)
    # ranks compare as the scores do
    out = np.empty(scores.shape)
    for column, own in zip(out, scores, strict=True):
        ranks, _ = dense_ranks(own)
        column[:] = ranks
        column[ranks < 0] = np.nan
        column[~is_retrieved(own)] = -np.inf
    return out
