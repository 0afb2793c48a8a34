"""Queries arranged for the kernel, and what a measure tells it: tables and levels."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._engine import (
    FloatArray,
    IntArray,
    TieGroups,
    Totals,
    dense_ranks,
    is_retrieved,
    offsets_of,
    once_per_block,
    owners,
    runs,
    starts_of,
)
from .engines import compiled, engine


class Walk(NamedTuple):
    """What is added up down a ranking.

    Attributes
    ----------
    kind : {"weighted", "precisions", "first", "found", "counted"}
        Gains weighted by rank; precisions at relevant documents; 1 over the rank of
        the first relevant one, or whether there is one; their number.
    depth : int or None
        Ranks that count.
    least : int
        The first level that is relevant, or that has a gain.
    gain : ndarray of shape (n_levels,), optional
        Not falling from level to level.
    tables : ndarray of shape (3, n_ranks), optional
        Of ranks: weights, their running sums, and what these have lost.
    at_relevant : bool
        The cut-off is the number of relevant documents of the query.
    others : bool
        Documents that are not relevant are counted.
    flat : bool
        All ranks weigh the same.
    scale : float
        What one document counts.
    """

    kind: str
    depth: int | None = None
    least: int = 0
    gain: FloatArray | None = None
    tables: FloatArray | None = None
    at_relevant: bool = False
    others: bool = False
    flat: bool = False
    scale: float = 1.0


#: levels are counted for each query up to so many of them, and sorted beyond
_COUNTED = 64
#: NumPy sorts rows up to here as fast as it finds their first keys
_SHORT = 256
#: the first keys are picked from rows so many times longer
_WORTH_PICKING = 4
#: last bits of 32-bit floats that are 0 once they have 64
_FREE_BITS = 29
#: rows are numbered by integers of 32 bits
MOST_ROWS = 2**31 - 1
#: whole numbers beyond are not all floats
_EXACT = 2**53


class _Measure(Protocol):
    """What may have a walk."""

    def __hash__(self) -> int: ...

    def walk(self, levels: FloatArray, longest: int) -> Walk | None: ...


class ArrangedLabels(Totals):
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

    Attributes
    ----------
    by_level : tuple of ndarray of shape (n_own_rows,)
        Rows of the queries, and their labels, which ascend within each query.
    """

    def __init__(
        self,
        code: NDArray[np.int32],
        order: IntArray | None,
        start: IntArray,
        sizes: IntArray,
        levels: FloatArray,
    ) -> None:
        super().__init__(None, len(sizes), sizes)
        self._given = code, order, np.ascontiguousarray(start)
        self._walks: dict[Hashable, Any] = {}
        self._walked: dict[Hashable, FloatArray] = {}
        self.offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
        sizes.cumsum(out=self.offsets[1:])
        self.levels = levels
        self.longest = int(sizes.max())
        #: bits of a place in a query
        self.width = max((self.longest - 1).bit_length(), 1)
        self.by_level = self._arranged(len(levels))

    def _arranged(self, n_levels: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels of the queries: as they stand for 0 levels, else by level."""
        code, order, start = self._given
        many = n_levels > _COUNTED
        rows = np.empty(self.offsets[-1], dtype=np.int32)
        label = np.empty(len(rows), dtype=np.int32)
        compiled.arrange(
            code, order, start, self.offsets, 0 if many else n_levels, rows, label
        )
        if many:
            by_level = np.lexsort((label, owners(self.retrieved)))
            return rows[by_level], label[by_level]
        return rows, label

    @cached_property
    def as_given(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels of the queries in the order of the data set."""
        return self._arranged(0)

    @cached_property
    def ties(self) -> TieGroups:
        """One group per query, of all its documents, for NumPy."""
        n_queries, start = self.n_queries, self.offsets[:-1]
        return TieGroups(
            n_queries, self.levels, np.arange(n_queries), start, self.by_level[1],
            None, self.retrieved,
        )  # fmt: skip

    @once_per_block
    def relevant(self, rel: float) -> IntArray:
        out: IntArray = np.empty(self.n_queries, dtype=np.int64)
        least = int(self.levels.searchsorted(rel))
        compiled.relevant(self.by_level[1], self.offsets, least, out)
        return out

    def walk(self, measure: _Measure) -> Any:
        """That of a measure down these labels, as the kernel takes it, if it has one.

        It is checked: the kernel reads where it is told to.
        """
        if measure not in self._walks:
            self._walks[measure] = self._walk_of(measure)
        return self._walks[measure]

    def _walk_of(self, measure: _Measure) -> Any:
        walk = measure.walk(self.levels, self.longest)
        if walk is None:
            return None
        gain, tables, n_levels = walk.gain, walk.tables, len(self.levels)
        if gain is not None and gain.shape != (n_levels,):
            raise ValueError(
                f"gains must give one number for each of {n_levels} labels, got shape "
                f"{gain.shape}"
            )
        if tables is not None:
            depth = self.longest if walk.depth is None else walk.depth
            least = 3, min(depth, self.longest) + 1
            if tables.ndim != 2 or tables.shape[0] != 3 or tables.shape[1] < least[1]:
                raise ValueError(
                    f"tables of a walk must have shape {least} or more columns, got "
                    f"{tables.shape}"
                )
        return compiled.Walk(*walk)

    def walked(self, measure: Hashable) -> FloatArray:
        """Mean and best, of all measures that are asked for at a time."""
        if measure not in self._walked:
            new, walks = [], []
            for one, walk in list(self._walks.items()):
                if walk is not None and one not in self._walked:
                    new.append(one)
                    walks.append(walk)
            out = np.empty((2, self.n_queries, len(new)))
            compiled.walk_labels(walks, self.by_level[1], self.offsets, out)
            for at, one in enumerate(new):
                self._walked[one] = out[..., at]
        return self._walked[measure]


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
        labels: ArrangedLabels,
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
        self._keys = compiled.pack(
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
    def totals(self) -> Totals:
        """What normalisers go by."""
        labels = self._labels
        # those of one column are those of all
        if (self.retrieved == labels.retrieved).all():
            return labels
        return Totals(labels, labels.n_queries, self.retrieved)

    def walk(
        self, walks: list[Any], n_statistics: int, *, backwards: bool = False
    ) -> FloatArray:
        """Mean, best, worst and standard deviation, or the first of these.

        An array of shape (n_statistics, n_columns, n_queries, n_walks).
        """
        out: FloatArray = np.empty((n_statistics, *self.retrieved.shape, len(walks)))
        if n_statistics:
            compiled.walk(
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
        compiled.midranks(self._keys, out[:, :n])
        if both_ways:
            compiled.midranks(self._keys, out[:, n:], backwards=True)
        return out

    def groups(self, *, backwards: bool = False) -> list[TieGroups]:
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
            total = compiled.tie_groups(
                self._keys, column, self._label, n_groups, start, label,
                backwards=backwards, split=self._split,
            )  # fmt: skip
            groups = TieGroups(
                n_queries, everything.levels, owners(n_groups), start[:total], label,
                everything, retrieved,
            )  # fmt: skip
            found.append(groups)
        return found


def level_codes(labels: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """The distinct labels, ascending, and the place of each label among them."""
    code = np.empty(len(labels), dtype=np.int32)
    levels = compiled.small_codes(np.ascontiguousarray(labels), code)
    if levels is not None:
        return np.array(levels, dtype=np.float64), code
    found, inverse = np.unique(labels, return_inverse=True)
    return found, inverse.astype(np.int32)


def score_columns(scores: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Columns (n_columns, n_rows) as floats that compare as the scores do."""
    if scores.dtype in (np.float64, np.float32):
        return np.ascontiguousarray(scores)
    kind, itemsize = scores.dtype.kind, scores.dtype.itemsize
    small = kind in "iubf" and itemsize < 8
    if kind in "iu" and not small:
        small = max(abs(int(scores.max())), abs(int(scores.min()))) <= _EXACT
    if small:
        return np.ascontiguousarray(scores, dtype=np.float64)
    # ranks compare as the scores do
    out = np.empty(scores.shape)
    for column, own in zip(out, scores, strict=True):
        ranks, _ = dense_ranks(own)
        column[:] = ranks
        column[ranks < 0] = np.nan
        column[~is_retrieved(own)] = -np.inf
    return out


def rank_within(
    columns: NDArray[Any], sizes: IntArray, *, both_ways: bool
) -> FloatArray:
    """Twice the midranks in the ranking of each query, less their mean.

    They are whole numbers. NaN is last.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Higher values rank first.
    sizes : ndarray of shape (n_queries,)
        Rows of each query, which stand one after another.
    both_ways : bool
        Also of the rankings by lower values.

    Returns
    -------
    ndarray of shape (n_rows, n_columns), or (n_rows, 2 * n_columns)
    """
    if engine() == "compiled" and len(sizes):
        labels = ArrangedLabels(
            np.zeros(columns.shape[1], dtype=np.int32),
            None,
            offsets_of(sizes)[:-1],
            sizes,
            np.zeros(1),
        )
        rows = SortedRows(labels, score_columns(columns))
        return rows.midranks(both_ways=both_ways)
    query = owners(sizes)
    out: FloatArray = np.empty((2 if both_ways else 1, columns.shape[1], len(columns)))
    for j, column in enumerate(columns):
        ranks, n_ranks = dense_ranks(column)
        down = np.where(ranks < 0, n_ranks, n_ranks - 1 - ranks)
        out[0, :, j] = _midranks(query, down, sizes)
        if both_ways:
            up = np.where(ranks < 0, n_ranks, ranks)
            out[1, :, j] = _midranks(query, up, sizes)
    return np.concatenate(out, axis=1)


def _midranks(query: IntArray, place: IntArray, sizes: IntArray) -> FloatArray:
    """Twice the midrank of each row in its query, less its mean: whole numbers.

    `query` is ascending and `sizes` are the numbers of rows of each query.
    """
    n_places = int(place.max(initial=0)) + 1
    n_rows = len(place)
    key = np.sort((query * n_places + place) * n_rows + np.arange(n_rows))
    start, n = runs(key // n_rows)
    of_group = query[start]
    lo = start - starts_of(sizes)[of_group]
    out = np.empty(n_rows)
    out[key % n_rows] = np.repeat(2 * lo + n - sizes[of_group], n)
    return out
