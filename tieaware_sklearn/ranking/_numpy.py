"""The NumPy engine: one sort of all documents, then the formulas of the measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._engine import checks, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ._ranked import CodedLabels, LabelBlock, Order, Ranked


class NumpyBlock(LabelBlock):
    """Labels of documents, query by query."""

    #: Number of rows of an array that fits in the cache of the processor.
    ROWS = 1 << 16

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        self.rows = queries.original_rows(queries.rows(chosen))
        self.sizes = queries.sizes[chosen]
        self.query = segments.owners(self.sizes)
        self.levels = labels.levels
        self.label = labels.code[self.rows]

    @staticmethod
    def encode(labels: FloatArray) -> CodedLabels:
        levels, code = np.unique(labels, return_inverse=True)
        return CodedLabels(levels, code)

    @cached_property
    def ties(self) -> tie_groups.TieGroups:
        return tie_groups.all_tied(self.sizes, self.label, self.levels)

    def rank(self, scores: Array, order: Order, depth: int | None) -> Ranked:
        backwards = order is Order.ASCENDING
        return _RankedByNumpy(self, backwards, scores, order is Order.INPUT)


@dataclass(eq=False)
class _RankedByNumpy(Ranked):
    block: NumpyBlock
    scores: Array
    input_order: bool

    @cached_property
    def ties(self) -> list[tie_groups.TieGroups]:
        block = self.block
        columns = []
        for column in self.scores:
            scores = column[block.rows]
            ranks, n_ranks = tie_groups.dense_ranks(scores)
            place = ranks
            if not self.backwards:
                place = n_ranks - 1 - ranks
            # NaN, whose rank is -1, ties below all other scores.
            place[ranks < 0] = n_ranks
            groups = tie_groups.find_ties(
                block.query,
                place,
                block.label,
                block.ties,
                retrieved=checks.is_retrieved(scores),
                input_order=self.input_order,
            )
            columns.append(groups)
        return columns
