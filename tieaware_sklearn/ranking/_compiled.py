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

#: Maximum number of levels for which documents are sorted by counting. With more
#: levels, documents are sorted by comparisons.
_COUNTED = 64
#: Length of the shortest rows in which only the first keys are found. Shorter rows are
#: sorted whole, which is as fast.
_SHORT = 256
#: Smallest ratio of the length of a row to the number of its first keys at which
#: picking these keys saves time.
_WORTH_PICKING = 4

#: Type of rows of the data set, with the index of the label of each row among the
#: levels.
RowsAndLabels = tuple[NDArray[np.int32], NDArray[np.int32]]


class CompiledBlock(tie_groups.Totals, LabelBlock):
    """Labels of queries by level, for the kernel to rank in rows of sorted keys.

    Attributes
    ----------
    offsets : ndarray of shape (n_queries + 1,)
    longest : int
        Number of documents of the longest query.
    levels : ndarray of shape (n_levels,)
    rows, label : ndarray of shape (n_rows_of_block,)
        Rows of the queries, and their labels, which ascend within each query.
    """

    ROWS = 1 << 18

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        sizes = queries.sizes[chosen]
        tie_groups.Totals.__init__(self, None, len(sizes), sizes)
        self.offsets = segments.offsets_of(sizes)
        self.longest = int(sizes.max())
        self.levels = labels.levels
        self._code = labels.code
        self._order = queries.order
        self._start = queries.offsets[chosen]
        self._planned: dict[tuple[Measure, ...], PlannedMeasures] = {}
        if len(self.levels) <= _COUNTED:
            self.rows, self.label = self._arrange(len(self.levels))
        else:
            self.rows, self.label = self._sort()

    def _arrange(self, n_levels: int) -> RowsAndLabels:
        """Return the documents by level, or in input order if `n_levels` is 0."""
        rows = np.empty(self.offsets[-1], dtype=np.int32)
        label = np.empty(len(rows), dtype=np.int32)
        engines.compiled.arrange(
            self._code, self._order, self._start, self.offsets, n_levels, rows, label
        )
        return rows, label

    def _sort(self) -> RowsAndLabels:
        """Return the documents by level, and drop levels that no document has."""
        rows, label = self._arrange(0)
        is_used = np.zeros(len(self.levels), dtype=bool)
        is_used[label] = True
        self.levels = self.levels[is_used]
        codes = np.cumsum(is_used, dtype=np.int32) - 1
        label = codes[label]
        self.in_input_order = rows, label
        # A key consists of the level and the index of a document, in at most 62 bits.
        # The keys of a query are a row of the matrix.
        width = self.longest.bit_length()
        place = np.arange(self.longest)
        is_document = place < self.retrieved[:, None]
        keys = np.full(is_document.shape, 1 << 62)
        keys[is_document] = label.astype(np.int64) << width
        keys |= place
        keys.sort(axis=1)
        by_level = np.repeat(self.offsets[:-1], self.retrieved)
        by_level += keys[is_document] & ((1 << width) - 1)
        return rows[by_level], label[by_level]

    @cached_property
    def in_input_order(self) -> RowsAndLabels:
        """The documents of each query in the order of the data set."""
        return self._arrange(0)

    @cached_property
    def ties(self) -> tie_groups.TieGroups:
        query = np.arange(self.n_queries)
        start = self.offsets[:-1]
        return tie_groups.TieGroups(
            self.n_queries, self.levels, query, start, self.label, None, self.retrieved
        )

    @tie_groups.once_per_block
    def relevant(self, rel: float) -> IntArray:
        out = np.empty(self.n_queries, dtype=np.int64)
        least = int(self.levels.searchsorted(rel))
        engines.compiled.relevant(self.label, self.offsets, least, out)
        return out

    @staticmethod
    def encode(labels: FloatArray) -> CodedLabels:
        levels, code = arranged.level_codes(labels)
        return CodedLabels(levels, code)

    @staticmethod
    def columns(scores: Array) -> Array:
        return arranged.score_columns(scores)

    def planned(self, measures: Sequence[Measure]) -> PlannedMeasures:
        """Return the measures with their plans, which are made once."""
        key = tuple(measures)
        planned = self._planned.get(key)
        if planned is None:
            planned = self._planned[key] = PlannedMeasures(key, self)
        return planned

    def _label_values(self, measures: Sequence[Measure]) -> LabelValues:
        planned = self.planned(measures)
        if None in planned.plans:
            parts = []
            for measure, plan in zip(measures, planned.plans, strict=True):
                if plan is None:
                    part = super()._label_values([measure])
                else:
                    part = self._label_values([measure])
                parts.append(part)
            return LabelValues.join(parts, partial(np.concatenate, axis=-1))
        denominators, undefined = planned.divisors(self)
        values = _measure.divide(planned.one_tie, denominators, undefined)
        return LabelValues(*values)

    def rank(self, scores: Array, order: Order, depth: int | None) -> Ranked:
        rows, label = self.rows, self.label
        split = order is Order.INPUT
        if split:
            rows, label = self.in_input_order
        ascending = order is Order.ASCENDING
        keys = engines.compiled.pack(
            scores, rows, self.offsets, self.longest, ascending=ascending
        )
        cells = keys.keys
        depth = depth or self.longest
        # More keys than ranks are picked, so that most ties at rank `depth` end among
        # the picked keys.
        n_picked = 2 * depth
        is_sorted = cells.shape[1] < max(_SHORT, _WORTH_PICKING * n_picked)
        if is_sorted:
            cells.sort(axis=1)
        else:
            cells.partition(n_picked - 1, axis=1)
            cells[:, :n_picked].sort(axis=1)
            # The tie at rank `depth` may continue below the picked keys.
            deepest = cells[:, depth - 1] >> keys.width
            last_picked = cells[:, n_picked - 1] >> keys.width
            is_cut = deepest == last_picked
            cells[is_cut] = np.sort(cells[is_cut], axis=1)
        retrieved = keys.counts[:, 0].reshape(-1, self.n_queries).astype(np.int64)
        # In either order, keys ascend from the first rank to the last.
        backwards = False
        return _RankedByKernel(
            self, backwards, keys, label, retrieved, split, is_sorted
        )


class PlannedMeasures:
    """Measures, with the plans by which the kernel computes them in a block.

    Attributes
    ----------
    measures : tuple of Measure
        Measures without `DEFAULT`.
    plans : list of Plan or None
        Plan of each measure, or None if the measure has no plan for these labels.
    """

    def __init__(self, measures: Iterable[Measure], block: CompiledBlock) -> None:
        self.measures = tuple([measure.filled() for measure in measures])
        self.plans: list[Any] = []
        for measure in self.measures:
            plan = plan_of(measure, block.levels, block.longest)
            if plan is not None:
                _check_plan(plan, len(block.levels), block.longest)
            self.plans.append(plan)
        # There is no reference to the block, because only the garbage collector would
        # free objects that refer to each other.
        self._label = block.label
        self._offsets = block.offsets

    @cached_property
    def one_tie(self) -> FloatArray:
        """The mean and best numerators if all documents of a query tie.

        The array has shape (2, n_queries, n_measures).
        """
        out = np.empty((2, len(self._offsets) - 1, len(self.plans)))
        engines.compiled.walk_labels(self.plans, self._label, self._offsets, out)
        return out

    @tie_groups.once_per_block
    def divisors(self, totals: tie_groups.Totals) -> tuple[FloatArray, BoolArray]:
        """Return the denominators, and where the measures are undefined."""
        denominator = np.empty((*totals.retrieved.shape, len(self.plans)))
        over_zero = np.empty(len(self.plans), dtype=bool)
        for j, measure in enumerate(self.measures):
            if self.plans[j].over_ideal:
                # The kernel adds up ideals and numerators in the same way, so a perfect
                # ranking has exactly the value 1.
                denominator[..., j] = self.one_tie[1, :, j]
            else:
                denominator[..., j] = measure.normaliser(totals)
            over_zero[j] = measure.undefined_over_zero
        undefined = ~(denominator > 0) & over_zero
        return denominator, undefined


def _check_plan(plan: arranged.Plan, n_levels: int, longest: int) -> None:
    """Check the shapes of arrays, because the kernel does not check its indices."""
    if plan.gain is not None and plan.gain.shape != (n_levels,):
        raise ValueError(
            f"gains must contain one number for each of {n_levels} labels, got shape "
            f"{plan.gain.shape}"
        )
    if plan.tables is not None:
        shape = plan.tables.shape
        n_ranks = min(plan.depth or longest, longest) + 1
        if len(shape) != 2 or shape[0] != 3 or shape[1] < n_ranks:
            raise ValueError(
                f"tables of a plan must have shape (3, {n_ranks}) or more columns, got "
                f"{shape}"
            )


@dataclass(eq=False)
class _RankedByKernel(Ranked):
    block: CompiledBlock
    keys: engines.compiled.Keys
    label: NDArray[np.int32]
    #: Number of retrieved documents of each column and query.
    retrieved: IntArray
    #: Whether tied documents rank in the order of their rows.
    split: bool
    #: Whether all keys are sorted, not only the first keys of each row.
    is_sorted: bool

    @cached_property
    def ties(self) -> list[tie_groups.TieGroups]:
        if not self.is_sorted:
            self.keys.keys.sort(axis=1)
        everything = self.block.ties
        columns = []
        for column, retrieved in enumerate(self.retrieved):
            n_groups = np.empty(everything.n_queries, dtype=np.int64)
            start = np.empty(retrieved.sum(), dtype=np.int64)
            label = np.empty(len(start), dtype=np.int32)
            total = engines.compiled.tie_groups(
                self.keys,
                column,
                self.label,
                n_groups,
                start,
                label,
                backwards=self.backwards,
                split=self.split,
            )
            groups = tie_groups.TieGroups(
                everything.n_queries,
                everything.levels,
                segments.owners(n_groups),
                start[:total],
                label,
                everything,
                retrieved,
            )
            columns.append(groups)
        return columns

    def _values(self, measures: Sequence[Measure], detail: Detail) -> QueryValues:
        block = self.block
        planned = block.planned(measures)
        if None in planned.plans:
            parts = []
            for measure, plan in zip(measures, planned.plans, strict=True):
                if plan is None:
                    part = super()._values([measure], detail)
                else:
                    part = self._values([measure], detail)
                parts.append(part)
            return QueryValues.join(parts, partial(np.concatenate, axis=-1))
        shape = (*self.retrieved.shape, len(measures))
        numerators = np.empty((min(detail, Detail.DEVIATION), *shape))
        engines.compiled.walk(
            planned.plans,
            self.keys,
            self.label,
            block.label,
            numerators,
            backwards=self.backwards,
            split=self.split,
        )
        # If the columns retrieve all documents, they share the totals of the block.
        totals: tie_groups.Totals = block
        if (self.retrieved != block.retrieved).any():
            totals = tie_groups.Totals(block, block.n_queries, self.retrieved)
        denominators, undefined = planned.divisors(totals)
        values = QueryValues(*_measure.divide(numerators, denominators, undefined))
        if detail >= Detail.RANGE:
            values.normaliser = np.empty(shape)
            values.normaliser[:] = denominators
        if detail >= Detail.SPREAD:
            values.spread_within_ties = self._spread_within_ties(planned)
        if detail >= Detail.DEVIATION:
            # The kernel returns NaN where it computes no deviation.
            missing = np.isnan(numerators[3])
            if missing.any():
                return self._completed(values, measures, detail, missing)
        return values

    def _completed(
        self,
        values: QueryValues,
        measures: Sequence[Measure],
        detail: Detail,
        missing: BoolArray,
    ) -> QueryValues:
        """Return the values, with missing values from the measures' own methods."""
        for j in np.unique(missing.nonzero()[-1]):
            by_methods = super()._values([measures[j]], detail)
            is_measure = np.arange(len(measures)) == j
            choose = partial(np.choose, missing & is_measure)
            values = QueryValues.join([values, by_methods], choose)
        return values

    def _spread_within_ties(self, planned: PlannedMeasures) -> FloatArray:
        """Return `Measure.spread_within_ties` of each column, query and measure."""
        measures = planned.measures
        longest = self.block.longest
        depth = min(_ranked.deepest(measures) or longest, longest)
        worth_sums = _measure.rank_sums(measures, depth)
        spread = np.zeros((*self.retrieved.shape, len(measures)))
        engines.compiled.spread_within_ties(
            planned.plans,
            self.keys,
            self.block.label,
            worth_sums,
            _log_factorials(longest),
            spread.reshape(-1, len(measures)),
            backwards=self.backwards,
        )
        for j, measure in enumerate(measures):
            if measure.has_query_rank_worth:
                for column, groups in enumerate(self.ties):
                    spread[column, :, j] = measure.spread_within_ties(groups)
        return spread


@lru_cache(maxsize=8)
def _log_factorials(longest: int) -> FloatArray:
    """Return the logarithms of 0!, 1!, ..., `longest`!."""
    return np.asarray(gammaln(np.arange(longest + 1) + 1.0))
