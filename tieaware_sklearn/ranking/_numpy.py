"""NumPy's engine: one sort of all documents, then the formulas of the measures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._engine import checks, segments, tie_groups
from .._typing import Array, FloatArray, IntArray
from ._ranked import CodedLabels, LabelBlock, Order, Ranked


class NumpyBlock(LabelBlock):
    """Labels of queries one after another."""

    #: what NumPy makes of so many rows stays in the cache of the processor
    ROWS = 1 << 16

    def __init__(
        self, labels: CodedLabels, queries: checks.Queries, chosen: IntArray
    ) -> None:
        self.rows = queries.original_rows(queries.rows(chosen))
        self.sizes = queries.sizes[chosen]
        self.query = segments.owners(self.sizes)
        self.levels, code = labels
        self.label = code[self.rows]

    @staticmethod
    def encode(labels: FloatArray) -> CodedLabels:
        return CodedLabels(*np.unique(labels, return_inverse=True))

    @staticmethod
    def columns(scores: Array) -> Array:
        return scores

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
        return [self._ties_of(column[self.block.rows]) for column in self.scores]

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
            input_order=self.input_order,
        )
