"""Interfaces of engines: blocks of whole queries, and blocks ranked by scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from .._engine import checks, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure, _measure
from ..measures._values import Detail, LabelValues, QueryValues

#: Number of cells without a document that take as much time as a further block.
_SPARE_CELLS = 1 << 14

Values = TypeVar("Values", QueryValues, LabelValues)


class Order(Enum):
    """How the documents of a query are ranked."""

    #: Higher scores rank first.
    DESCENDING = "descending"
    #: Lower scores rank first.
    ASCENDING = "ascending"
    #: Higher scores rank first, and tied documents rank in the order of their rows.
    INPUT = "input"


class CodedLabels(NamedTuple):
    """The distinct labels, ascending, and the index of each label among them."""

    levels: FloatArray
    code: Array


class LabelBlock(ABC):
    """The labels of a block of whole queries, for any scores.

    Parameters
    ----------
    labels : CodedLabels
        The label of each row of the data set.
    queries : Queries
        All queries of the data set.
    chosen : ndarray of shape (n_queries,)
        Indices of the queries of this block.

    Attributes
    ----------
    ROWS : int
        Number of documents that a block should contain.
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
    def columns(scores: Array) -> Array:
        """Return scores (n_columns, n_rows) in a dtype that the engine reads."""
        return scores

    @cached_property
    @abstractmethod
    def ties(self) -> tie_groups.TieGroups:
        """One tie group per query, which contains all documents of the query."""

    @abstractmethod
    def rank(self, scores: Array, order: Order, depth: int | None) -> Ranked:
        """Rank the queries by each score column, at least down to a depth."""

    def label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Return values of only labels, of shape (n_queries, n_measures)."""
        return _at_ranks(self._label_values, measures, self)

    def _label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Return `label_values` of measures whose cut-offs are ranks."""
        values = [measure.filled().label_values(self.ties) for measure in measures]
        return LabelValues.join(values, partial(np.stack, axis=-1))


@dataclass(eq=False)
class Ranked(ABC):
    """A block of queries, ranked by each of several score columns.

    With `backwards`, the order is reversed. Tied documents stay tied.
    """

    block: LabelBlock
    backwards: bool

    @cached_property
    @abstractmethod
    def ties(self) -> list[tie_groups.TieGroups]:
        """The ties of each score column."""

    def reversed(self) -> Ranked:
        """Return the queries ranked by the same scores, in the reverse order."""
        return replace(self, backwards=not self.backwards)

    def values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        """Return values of shape (n_columns, n_queries, n_measures)."""
        compute = partial(self._values, detail=detail)
        return _at_ranks(compute, measures, self.block)

    def _values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        """Return `values` of measures whose cut-offs are ranks."""
        columns = []
        stack_measures = partial(np.stack, axis=-1)
        for groups in self.ties:
            values = [measure.filled().values(groups, detail) for measure in measures]
            columns.append(QueryValues.join(values, stack_measures))
        # The cached arrays of all documents are as long as the block.
        self.block.ties.forget()
        return QueryValues.join(columns, np.stack)


def _at_ranks(
    compute: Callable[[Sequence[Measure]], Values],
    measures: Sequence[Measure],
    block: LabelBlock,
) -> Values:
    """Return values of measures whose cut-offs may be shares of the lists."""
    if not any(map(_measure.cuts_share, measures)):
        return compute(measures)
    cut_measures, index = _measure.at_ranks(measures, block.ties.retrieved)
    query = np.arange(len(index))[:, None]
    return compute(cut_measures).apply(lambda array: array[..., query, index])


def deepest(measures: Iterable[Any]) -> int | None:
    """Return the deepest rank that any of the measures reads, or None for all ranks."""
    reaches = [measure.reach for measure in measures]
    if None in reaches:
        return None
    return max(reaches, default=0)


def ranges(sizes: IntArray, block_rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries, with at most `block_rows` rows or a single query each.

    The queries are sorted by size. A range is split again if a matrix with one row for
    each query of the range would have many more cells than documents.
    """
    if len(sizes) == 1:
        yield 0, 1
        return
    n_rows = int(sizes.sum())
    n_cells = int(sizes[-1]) * len(sizes)
    if n_rows <= block_rows and n_cells <= n_rows + _SPARE_CELLS:
        yield 0, len(sizes)
        return
    offsets = segments.offsets_of(sizes)
    first = 0
    while first < len(sizes):
        end = offsets[first] + block_rows
        stop = int(offsets.searchsorted(end, side="right")) - 1
        stop = max(stop, first + 1)
        yield from _split(sizes, first, stop)
        first = stop


def _split(sizes: IntArray, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """Split a range of queries where most cells are saved, as long as time is saved."""
    # A split after a query shortens the rows of this query and of all earlier queries.
    n_shortened = np.arange(1, stop - first + 1)
    saved = n_shortened * (sizes[stop - 1] - sizes[first:stop])
    best = int(saved.argmax())
    if saved[best] <= _SPARE_CELLS:
        yield first, stop
        return
    middle = first + best + 1
    yield from _split(sizes, first, middle)
    yield from _split(sizes, middle, stop)
