"""Blocks of whole queries, and what every engine makes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine import checks, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure
from ..measures._values import Detail, LabelValues, QueryValues

#: a block of its own costs as much as filling up so many cells
_SPARE_CELLS = 1 << 14


class Order(Enum):
    """How the documents of a query are ranked."""

    #: higher scores first
    DESCENDING = "descending"
    #: lower scores first
    ASCENDING = "ascending"
    #: higher scores first, tied documents in the order of their rows
    INPUT = "input"


class CodedLabels(NamedTuple):
    """The distinct labels, ascending, and the place of each label among them."""

    levels: FloatArray
    code: Array


class LabelBlock(ABC):
    """The labels of a block of whole queries, for any scores.

    Parameters
    ----------
    labels : CodedLabels
        Of each row of the data set.
    queries : Queries
        All queries of the data set.
    chosen : ndarray of shape (n_queries,)
        Those of this block.

    Attributes
    ----------
    ROWS : int
        Documents that one block should have.
    """

    ROWS: ClassVar[int]

    @abstractmethod
    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None: ...

    @staticmethod
    @abstractmethod
    def encode(labels: FloatArray) -> CodedLabels:
        """Find the distinct labels of a data set."""

    @staticmethod
    @abstractmethod
    def columns(scores: Array) -> Array:
        """Scores (n_columns, n_rows) in a dtype that this engine takes."""

    @cached_property
    @abstractmethod
    def ties(self) -> tie_groups.TieGroups:
        """One group per query, of all its documents."""

    @abstractmethod
    def rank(self, scores: Array, order: Order, depth: int | None) -> Ranked:
        """Rank the queries by each of some `columns`, at least down to a depth."""

    def label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Values of labels alone, of shape (n_queries, n_measures)."""
        values = [measure.filled().label_values(self.ties) for measure in measures]
        return LabelValues.join(values, partial(np.stack, axis=-1))


@dataclass(eq=False)
class Ranked(ABC):
    """A block of queries, ranked by each of some score columns.

    With `backwards`, in the order of these scores turned round.
    """

    block: LabelBlock
    backwards: bool

    @cached_property
    @abstractmethod
    def ties(self) -> list[tie_groups.TieGroups]:
        """The ties of each score column."""

    def reversed(self) -> Ranked:
        """The queries ranked by the same scores, the lowest first."""
        return replace(self, backwards=not self.backwards)

    def values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        """Values of shape (n_columns, n_queries, n_measures)."""
        of_columns = []
        for groups in self.ties:
            of_measures = [
                measure.filled().values(groups, detail) for measure in measures
            ]
            of_columns.append(QueryValues.join(of_measures, partial(np.stack, axis=-1)))
        # which are as long as the block
        self.block.ties.forget()
        return QueryValues.join(of_columns, np.stack)


def deepest(measures: Iterable[Any]) -> int | None:
    """The rank down to which any of the measures looks."""
    reaches = [measure.reach for measure in measures]
    return None if None in reaches else max(reaches, default=0)


def ranges(sizes: IntArray, block_rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of queries, sorted by length, of at most so many rows (or one query).

    They are split again where rows as long as the longest query would have many
    more cells than documents.
    """
    if len(sizes) == 1:
        yield 0, 1
        return
    n_rows = int(sizes.sum())
    if n_rows <= block_rows and int(sizes[-1]) * len(sizes) <= n_rows + _SPARE_CELLS:
        yield 0, len(sizes)
        return
    offsets, first = segments.offsets_of(sizes), 0
    while first < len(sizes):
        end = offsets[first] + block_rows
        stop = max(int(np.searchsorted(offsets, end, side="right")) - 1, first + 1)
        yield from _split(sizes, first, stop)
        first = stop


def _split(sizes: IntArray, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """A range of queries, split where that saves most cells as long as it pays."""
    # cells saved if queries up to each one get shorter rows than the rest
    saved = np.arange(1, stop - first + 1) * (sizes[stop - 1] - sizes[first:stop])
    best = int(np.argmax(saved))
    if saved[best] <= _SPARE_CELLS:
        yield first, stop
    else:
        yield from _split(sizes, first, first + best + 1)
        yield from _split(sizes, first + best + 1, stop)
