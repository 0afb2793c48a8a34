"""Queries arranged for the kernel, and what a measure tells it: tables and levels."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._engine import segments, tie_groups
from .._engine.segments import FloatArray, IntArray
from . import engines


class Walk(NamedTuple):
    """Quantities that the kernel adds up down a ranking.

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


class _Measure(Protocol):
    """A measure, which may have a walk."""

    def __hash__(self) -> int: ...

    def walk(self, levels: FloatArray, longest: int) -> Walk | None: ...


class ArrangedLabels(tie_groups.Totals):
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
        engines.compiled.arrange(
            code, order, start, self.offsets, 0 if many else n_levels, rows, label
        )
        if many:
            by_level = np.lexsort((label, segments.owners(self.retrieved)))
            return rows[by_level], label[by_level]
        return rows, label

    @cached_property
    def as_given(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels of the queries in the order of the data set."""
        return self._arranged(0)

    @cached_property
    def ties(self) -> tie_groups.TieGroups:
        """One group per query, of all its documents, for NumPy."""
        n_queries, start = self.n_queries, self.offsets[:-1]
        return tie_groups.TieGroups(
            n_queries, self.levels, np.arange(n_queries), start, self.by_level[1],
            None, self.retrieved,
        )  # fmt: skip

    @tie_groups.once_per_block
    def relevant(self, rel: float) -> IntArray:
        out: IntArray = np.empty(self.n_queries, dtype=np.int64)
        least = int(self.levels.searchsorted(rel))
        engines.compiled.relevant(self.by_level[1], self.offsets, least, out)
        return out

    def walk(self, measure: _Measure) -> Any:
        """The walk of a measure down these labels, as the kernel takes it, if any.

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
        return engines.compiled.Walk(*walk)

    def walked(self, measure: Hashable) -> FloatArray:
        """Mean and best, of all measures that are asked for at a time."""
        if measure not in self._walked:
            new, walks = [], []
            for one, walk in list(self._walks.items()):
                if walk is not None and one not in self._walked:
                    new.append(one)
                    walks.append(walk)
            out = np.empty((2, self.n_queries, len(new)))
            engines.compiled.walk_labels(walks, self.by_level[1], self.offsets, out)
            for at, one in enumerate(new):
                self._walked[one] = out[..., at]
        return self._walked[measure]
