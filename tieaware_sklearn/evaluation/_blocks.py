"""Blocks of whole queries, which the kernel or NumPy ranks and measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._engine import checks, segments, tie_groups
from .._kernel import arranged, engines
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..measures import Measure, _measure
from ..measures._values import Detail, LabelValues, QueryValues

#: levels are counted for each query up to so many of them, and sorted beyond
_COUNTED = 64
#: NumPy sorts rows up to here as fast as it finds their first keys
_SHORT = 256
#: the first keys are picked from rows so many times longer
_WORTH_PICKING = 4
#: a block of its own costs as much as filling up so many cells
_SPARE_CELLS = 1 << 14


@dataclass(eq=False)
class RankedBlock(ABC):
    """A block of queries, ranked by each of some score columns.

    With `backwards`, in the order of these scores turned round.
    """

    backwards: bool
    block: FlatBlock | SortedBlock

    @cached_property
    @abstractmethod
    def columns(self) -> list[tie_groups.TieGroups]:
        """The ties of each score column."""

    @property
    def groups(self) -> tie_groups.TieGroups:
        """The ties of the first score column."""
        return self.columns[0]

    def reversed(self) -> RankedBlock:
        """The queries ranked by the same scores, the lowest first."""
        return replace(self, backwards=not self.backwards)

    def values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        """Values of shape (n_columns, n_queries, n_measures)."""
        of_columns = []
        for groups in self.columns:
            of_measures = [measure.values(groups, detail) for measure in measures]
            of_columns.append(QueryValues.join(of_measures, partial(np.stack, axis=-1)))
        # which are as long as the block
        self.groups.everything.forget()
        return QueryValues.join(of_columns, np.stack)


class ScoreColumns(NamedTuple):
    """Scores of all rows, a row for each column, and which way they rank."""

    scores: Array
    ascending: bool
    input_order: bool


class CodedLabels(NamedTuple):
    """The distinct labels, ascending, and the place of each label among them."""

    levels: FloatArray
    code: Array


class FlatBlock:
    """Labels of queries one after another, for NumPy to rank.

    Parameters are those of `SortedBlock`, its twin of the kernel.
    """

    #: what NumPy makes of so many rows stays in the cache of the processor
    ROWS = 1 << 16
    level_codes = staticmethod(partial(np.unique, return_inverse=True))
    #: it ranks them as they are
    score_columns = staticmethod(np.asarray)

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        self.rows = queries.given(queries.rows(chosen))
        sizes = queries.sizes[chosen]
        self.query = segments.owners(sizes)
        self.label = labels.code[self.rows]
        self.ties = tie_groups.all_tied(sizes, self.label, labels.levels)

    def label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Values of labels alone, of shape (n_queries, n_measures)."""
        values = [measure.label_values(self.ties) for measure in measures]
        return LabelValues.join(values, partial(np.stack, axis=-1))

    def ranked(self, given: ScoreColumns, depth: int | None) -> RankedBlock:
        """The queries ranked by score columns, all of them down to the end."""
        return _RankedByNumpy(given.ascending, self, given)


@dataclass(eq=False)
class _RankedByNumpy(RankedBlock):
    block: FlatBlock
    given: ScoreColumns

    @cached_property
    def columns(self) -> list[tie_groups.TieGroups]:
        return [self._ties_of(column[self.block.rows]) for column in self.given.scores]

    def _ties_of(self, scores: Array) -> tie_groups.TieGroups:
        ranks, n_ranks = tie_groups.dense_ranks(scores)
        place = ranks if self.backwards else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        return tie_groups.find_ties(
            self.block.query,
            place,
            self.block.label,
            self.block.ties,
            retrieved=checks.is_retrieved(scores),
            input_order=self.given.input_order,
        )


class SortedBlock(tie_groups.Totals):
    """Labels of queries by level, for the kernel to rank in rows of sorted keys.

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
    offsets : ndarray of shape (n_queries + 1,)
    longest : int
        Documents of the longest query.
    by_level : tuple of ndarray of shape (n_rows_of_block,)
        Rows of the queries, and their labels, which ascend within each query.
    """

    ROWS = 1 << 18
    level_codes = staticmethod(arranged.level_codes)
    score_columns = staticmethod(arranged.score_columns)

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        sizes, levels = queries.sizes[chosen], labels.levels
        super().__init__(None, len(sizes), sizes)
        self._given = labels.code, queries.order, queries.offsets[chosen]
        self._walks: dict[Hashable, arranged.Walk | None] = {}
        self._one_tie: dict[Hashable, FloatArray] = {}
        self.offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
        sizes.cumsum(out=self.offsets[1:])
        self.levels = levels
        self.longest = int(sizes.max())
        few = len(levels) <= _COUNTED
        self.by_level = self._rows_and_labels(len(levels)) if few else self._sorted()

    def _rows_and_labels(
        self, n_levels: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels of the queries: as they stand for 0 levels, else by level."""
        code, order, start = self._given
        rows = np.empty(self.offsets[-1], dtype=np.int32)
        label = np.empty(len(rows), dtype=np.int32)
        engines.compiled.arrange(
            code, order, start, self.offsets, n_levels, rows, label
        )
        return rows, label

    def _sorted(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels by level; levels are those of these queries alone."""
        rows, label = self._rows_and_labels(0)
        used = np.zeros(len(self.levels), dtype=bool)
        used[label] = True
        label = (np.cumsum(used, dtype=np.int32) - 1)[label]
        self.levels, self.as_given = self.levels[used], (rows, label)
        # level and place in one integer of at most 62 bits, a row for each query
        width, place = self.longest.bit_length(), np.arange(self.longest)
        inside = place < self.retrieved[:, None]
        keys = np.full(inside.shape, 1 << 62)
        keys[inside] = label.astype(np.int64) << width
        keys |= place
        keys.sort(axis=1)
        by_level = np.repeat(self.offsets[:-1], self.retrieved)
        by_level += keys[inside] & ((1 << width) - 1)
        return rows[by_level], label[by_level]

    @cached_property
    def as_given(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows and labels of the queries in the order of the data set."""
        return self._rows_and_labels(0)

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
        out = np.empty(self.n_queries, dtype=np.int64)
        least = int(self.levels.searchsorted(rel))
        engines.compiled.relevant(self.by_level[1], self.offsets, least, out)
        return out

    def walk(self, measure: Measure) -> arranged.Walk | None:
        """The walk of a measure down these labels, if any.

        It is checked: the kernel reads where it is told to.
        """
        if measure in self._walks:
            return self._walks[measure]
        walk = self._walks[measure] = measure.walk(self.levels, self.longest)
        if walk is None:
            return None
        gain, tables, n_levels = walk.gain, walk.tables, len(self.levels)
        if gain is not None and gain.shape != (n_levels,):
            raise ValueError(
                f"gains must give one number for each of {n_levels} labels, got shape "
                f"{gain.shape}"
            )
        if tables is not None:
            least = 3, min(walk.depth or self.longest, self.longest) + 1
            if tables.ndim != 2 or tables.shape[0] != 3 or tables.shape[1] < least[1]:
                raise ValueError(
                    f"tables of a walk must have shape {least} or more columns, got "
                    f"{tables.shape}"
                )
        return walk

    def walked(self, measure: Hashable) -> FloatArray:
        """Mean and best of a walk where all documents tie, (2, n_queries)."""
        if measure not in self._one_tie:
            # of all measures at once; other threads may add walks meanwhile
            new = {
                one: walk
                for one, walk in list(self._walks.items())
                if walk is not None and one not in self._one_tie
            }
            out = np.empty((2, self.n_queries, len(new)))
            engines.compiled.walk_labels(
                [*new.values()], self.by_level[1], self.offsets, out
            )
            self._one_tie.update(zip(new, out.transpose(2, 0, 1), strict=True))
        return self._one_tie[measure]

    def label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Values of labels alone, of shape (n_queries, n_measures)."""
        if None in map(self.walk, measures):
            stack = partial(np.stack, axis=-1)
            parts = [
                LabelValues.join([measure.label_values(self.ties)], stack)
                if self.walk(measure) is None
                else self.label_values([measure])
                for measure in measures
            ]
            return LabelValues.join(parts, partial(np.concatenate, axis=-1))
        one_tie = np.stack([self.walked(measure) for measure in measures], axis=-1)
        divisors = _divisors(self, tuple(measures))
        return LabelValues(*_measure.divide(one_tie, *divisors))

    def ranked(self, given: ScoreColumns, depth: int | None) -> RankedBlock:
        """The queries ranked by score columns, at least down to a depth."""
        scores, ascending, input_order = given
        rows, label = self.as_given if input_order else self.by_level
        keys = engines.compiled.pack(
            scores, rows, self.offsets, self.longest, ascending=ascending
        )
        cells, depth = keys.keys, depth or self.longest
        room = 2 * depth
        is_sorted = cells.shape[1] < max(_SHORT, _WORTH_PICKING * room)
        if is_sorted:
            cells.sort(axis=1)
        else:
            cells.partition(room - 1, axis=1)
            cells[:, :room].sort(axis=1)
            # the tie at that rank may go on further down
            cut = cells[:, depth - 1] >> keys.width == cells[:, room - 1] >> keys.width
            cells[cut] = np.sort(cells[cut], axis=1)
        retrieved = keys.counts[:, 0].reshape(-1, self.n_queries).astype(np.int64)
        # the keys are of the order that was asked for
        return _RankedByKernel(
            False, self, keys, label, retrieved, input_order, is_sorted
        )


@dataclass(eq=False)
class _RankedByKernel(RankedBlock):
    block: SortedBlock
    keys: engines.compiled.Keys
    label: NDArray[np.int32]
    #: of each column and query
    retrieved: IntArray
    split: bool
    is_sorted: bool

    @cached_property
    def columns(self) -> list[tie_groups.TieGroups]:
        if not self.is_sorted:
            self.keys.keys.sort(axis=1)
        everything, columns = self.block.ties, []
        n_queries = everything.n_queries
        for column, retrieved in enumerate(self.retrieved):
            n_groups = np.empty(n_queries, dtype=np.int64)
            start = np.empty(retrieved.sum(), dtype=np.int64)
            label = np.empty(len(start), dtype=np.int32)
            total = engines.compiled.tie_groups(
                self.keys, column, self.label, n_groups, start, label,
                backwards=self.backwards, split=self.split,
            )  # fmt: skip
            groups = tie_groups.TieGroups(
                n_queries, everything.levels, segments.owners(n_groups),
                start[:total], label, everything, retrieved,
            )  # fmt: skip
            columns.append(groups)
        return columns

    def values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        walks: list[Any] = list(map(self.block.walk, measures))
        if None in walks:
            parts = []
            for measure, walk in zip(measures, walks, strict=True):
                values_of = super().values if walk is None else self.values
                parts.append(values_of([measure], detail))
            return QueryValues.join(parts, partial(np.concatenate, axis=-1))
        shape = (*self.retrieved.shape, len(measures))
        numerators = np.empty((min(detail, Detail.DEVIATION), *shape))
        engines.compiled.walk(
            walks, self.keys, self.label, self.block.by_level[1], numerators,
            backwards=self.backwards, split=self.split,
        )  # fmt: skip
        denominators, undefined = _divisors(self._totals(), tuple(measures))
        values = QueryValues(*_measure.divide(numerators, denominators, undefined))
        if detail >= Detail.RANGE:
            values.normaliser = np.empty(shape)
            values.normaliser[:] = denominators
        if detail >= Detail.SPREAD:
            values.spread_within_ties = self._spread_within_ties(measures, walks)
        if detail >= Detail.DEVIATION and np.isnan(numerators[3]).any():
            return self._completed(values, measures, detail, np.isnan(numerators[3]))
        return values

    def _completed(
        self,
        values: QueryValues,
        measures: Sequence[Measure],
        detail: Detail,
        missing: BoolArray,
    ) -> QueryValues:
        """Values where the kernel has no deviation, by the measures' methods."""
        for j in np.unique(np.nonzero(missing)[-1]):
            by_methods = super().values([measures[j]], detail)
            of_measure = missing & (np.arange(len(measures)) == j)
            values = QueryValues.join(
                [values, by_methods], partial(np.choose, of_measure)
            )
        return values

    def _spread_within_ties(
        self, measures: Sequence[Measure], walks: list[Any]
    ) -> FloatArray:
        longest = self.block.longest
        depth = min(deepest(measures) or longest, longest)
        spread = np.zeros((*self.retrieved.shape, len(measures)))
        engines.compiled.spread_within_ties(
            walks,
            self.keys,
            self.block.by_level[1],
            _measure.rank_sums(tuple(measures), depth),
            _log_factorials(longest),
            spread.reshape(-1, len(measures)),
            backwards=self.backwards,
        )
        return spread

    def _totals(self) -> tie_groups.Totals:
        """The totals of the queries, one for all columns if these retrieve all."""
        block = self.block
        if (self.retrieved == block.retrieved).all():
            return block
        return tie_groups.Totals(block, block.n_queries, self.retrieved)


@lru_cache(maxsize=8)
def _log_factorials(longest: int) -> FloatArray:
    """Logarithms of 0!, 1!, ... up to the length of a list."""
    return np.asarray(gammaln(np.arange(longest + 1) + 1.0))


@tie_groups.once_per_block
def _divisors(
    totals: tie_groups.Totals, measures: tuple[Measure, ...]
) -> tuple[FloatArray, BoolArray]:
    """Denominators, and where measures with a walk are undefined."""
    denominator = np.empty((*totals.retrieved.shape, len(measures)))
    over_zero = np.empty(len(measures), dtype=bool)
    for j, measure in enumerate(measures):
        denominator[..., j] = measure.normaliser(totals)
        over_zero[j] = measure.undefined_over_zero
    return denominator, ~(denominator > 0) & over_zero


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
