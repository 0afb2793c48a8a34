"""The compiled engine: rows of sorted keys, which the kernel reads from the top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._engine import checks, segments, tie_groups
from .._kernel import arranged, engines
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..measures import Measure, _measure
from ..measures._values import Detail, LabelValues, QueryValues
from . import _ranked
from ._ranked import CodedLabels, LabelBlock, Order, Ranked
from .plans import plan_of

#: levels are counted for each query up to so many of them, and sorted beyond
_COUNTED = 64
#: NumPy sorts rows up to here as fast as it finds their first keys
_SHORT = 256
#: the first keys are picked from rows so many times longer
_WORTH_PICKING = 4


class CompiledBlock(tie_groups.Totals, LabelBlock):
    """Labels of queries by level, for the kernel to rank in rows of sorted keys.

    Attributes
    ----------
    offsets : ndarray of shape (n_queries + 1,)
    longest : int
        Documents of the longest query.
    by_level : tuple of ndarray of shape (n_rows_of_block,)
        Rows of the queries, and their labels, which ascend within each query.
    """

    ROWS = 1 << 18

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        sizes, levels = queries.sizes[chosen], labels.levels
        tie_groups.Totals.__init__(self, None, len(sizes), sizes)
        self._given = labels.code, queries.order, queries.offsets[chosen]
        self._planned: dict[tuple[Measure, ...], PlannedMeasures] = {}
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

    @staticmethod
    def encode(labels: FloatArray) -> CodedLabels:
        return CodedLabels(*arranged.level_codes(labels))

    @staticmethod
    def columns(scores: Array) -> Array:
        return arranged.score_columns(scores)

    def planned(self, measures: Sequence[Measure]) -> PlannedMeasures:
        """Return the measures with their plans, which are found once."""
        key = tuple(measures)
        planned = self._planned.get(key)
        if planned is None:
            planned = self._planned[key] = PlannedMeasures(key, self)
        return planned

    def label_values(self, measures: Sequence[Measure]) -> LabelValues:
        planned = self.planned(measures)
        if None in planned.plans:
            by_methods = super().label_values
            parts = [
                by_methods([measure]) if plan is None else self.label_values([measure])
                for measure, plan in zip(measures, planned.plans, strict=True)
            ]
            return LabelValues.join(parts, partial(np.concatenate, axis=-1))
        divisors = planned.divisors(self)
        return LabelValues(*_measure.divide(planned.one_tie, *divisors))

    def rank(self, scores: Array, order: Order, depth: int | None) -> Ranked:
        split = order is Order.INPUT
        rows, label = self.as_given if split else self.by_level
        keys = engines.compiled.pack(
            scores,
            rows,
            self.offsets,
            self.longest,
            ascending=order is Order.ASCENDING,
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
        return _RankedByKernel(self, False, keys, label, retrieved, split, is_sorted)


class PlannedMeasures:
    """Measures with the plans by which the kernel adds them up in a block.

    Attributes
    ----------
    measures : tuple of Measure
        Without `DEFAULT`.
    plans : list of Plan or None
        None where a measure has no plan for these labels.
    """

    def __init__(self, measures: Iterable[Measure], block: CompiledBlock) -> None:
        self.measures = tuple([measure.filled() for measure in measures])
        self.plans: list[Any] = []
        for measure in self.measures:
            plan = plan_of(measure, block.levels, block.longest)
            if plan is not None:
                _check_plan(plan, len(block.levels), block.longest)
            self.plans.append(plan)
        # a reference to the block would keep it until the collector comes
        self._label, self._offsets = block.by_level[1], block.offsets
        self._of_all: tuple[FloatArray, BoolArray] | None = None

    @cached_property
    def one_tie(self) -> FloatArray:
        """Mean and best numerators where all documents of a query tie.

        An array of shape (2, n_queries, n_measures).
        """
        out = np.empty((2, len(self._offsets) - 1, len(self.plans)))
        engines.compiled.walk_labels(self.plans, self._label, self._offsets, out)
        return out

    def divisors(self, totals: tie_groups.Totals) -> tuple[FloatArray, BoolArray]:
        """Return the denominators, and where the measures are undefined."""
        of_all = totals is totals.everything
        if of_all and self._of_all is not None:
            return self._of_all
        denominator = np.empty((*totals.retrieved.shape, len(self.plans)))
        over_zero = np.empty(len(self.plans), dtype=bool)
        for j, measure in enumerate(self.measures):
            if self.plans[j].over_ideal:
                # added up as numerators are, so that a perfect ranking is worth just 1
                denominator[..., j] = self.one_tie[1, :, j]
            else:
                denominator[..., j] = measure.normaliser(totals)
            over_zero[j] = measure.undefined_over_zero
        divisors = denominator, ~(denominator > 0) & over_zero
        if of_all:
            self._of_all = divisors
        return divisors


def _check_plan(plan: arranged.Plan, n_levels: int, longest: int) -> None:
    """Check the arrays of a plan, because the kernel reads where it is told to."""
    if plan.gain is not None and plan.gain.shape != (n_levels,):
        raise ValueError(
            f"gains must give one number for each of {n_levels} labels, got shape "
            f"{plan.gain.shape}"
        )
    if plan.tables is not None:
        shape, least = plan.tables.shape, min(plan.depth or longest, longest) + 1
        if len(shape) != 2 or shape[0] != 3 or shape[1] < least:
            raise ValueError(
                f"tables of a plan must have shape {(3, least)} or more columns, got "
                f"{shape}"
            )


@dataclass(eq=False)
class _RankedByKernel(Ranked):
    block: CompiledBlock
    keys: engines.compiled.Keys
    label: NDArray[np.int32]
    #: of each column and query
    retrieved: IntArray
    split: bool
    is_sorted: bool

    @cached_property
    def ties(self) -> list[tie_groups.TieGroups]:
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
        planned = self.block.planned(measures)
        if None in planned.plans:
            by_methods = super().values
            parts = [
                by_methods([measure], detail)
                if plan is None
                else self.values([measure], detail)
                for measure, plan in zip(measures, planned.plans, strict=True)
            ]
            return QueryValues.join(parts, partial(np.concatenate, axis=-1))
        shape = (*self.retrieved.shape, len(planned.plans))
        numerators = np.empty((min(detail, Detail.DEVIATION), *shape))
        engines.compiled.walk(
            planned.plans, self.keys, self.label, self.block.by_level[1], numerators,
            backwards=self.backwards, split=self.split,
        )  # fmt: skip
        denominators, undefined = planned.divisors(self._totals())
        values = QueryValues(*_measure.divide(numerators, denominators, undefined))
        if detail >= Detail.RANGE:
            values.normaliser = np.empty(shape)
            values.normaliser[:] = denominators
        if detail >= Detail.SPREAD:
            values.spread_within_ties = self._spread_within_ties(planned)
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

    def _spread_within_ties(self, planned: PlannedMeasures) -> FloatArray:
        longest, measures = self.block.longest, planned.measures
        depth = min(_ranked.deepest(measures) or longest, longest)
        spread = np.zeros((*self.retrieved.shape, len(measures)))
        engines.compiled.spread_within_ties(
            planned.plans,
            self.keys,
            self.block.by_level[1],
            _measure.rank_sums(measures, depth),
            _log_factorials(longest),
            spread.reshape(-1, len(measures)),
            backwards=self.backwards,
        )
        for j, measure in enumerate(measures):
            if measure.has_query_rank_worth:
                spread[..., j] = [*map(measure.spread_within_ties, self.ties)]
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
