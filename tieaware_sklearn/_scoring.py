"""Labels prepared once; score columns in, per-query values out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ._ties import FloatArray, TieGroups, all_tied, dense_ranks, find_ties
from ._validation import Queries
from .measures import Measure

# documents of a block: its arrays stay in the cache
BLOCK_ROWS = 1 << 15
STATISTICS = ("expected", "best", "worst", "std")


class _Block(NamedTuple):
    queries: slice
    rows: slice
    query: NDArray[np.int64]
    label: NDArray[np.integer[Any]]
    everything: TieGroups


@dataclass(frozen=True)
class Values:
    """Per-query values, each of shape (n_queries, n_measures), NaN if undefined."""

    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    std: FloatArray


class LabelledQueries:
    """The labels of whole queries, in blocks, with all that scores do not change.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
    queries : Queries
    block_rows : int
        Whole queries are taken together up to this number of rows; no result
        depends on it.
    """

    def __init__(
        self, labels: FloatArray, queries: Queries, *, block_rows: int = BLOCK_ROWS
    ) -> None:
        self.queries = queries
        levels, codes = np.unique(labels, return_inverse=True)
        codes = queries.arrange(codes)
        self.levels: FloatArray = levels
        self.blocks: list[_Block] = []
        for first, stop in queries.blocks(block_rows):
            rows = slice(int(queries.offsets[first]), int(queries.offsets[stop]))
            query = np.repeat(np.arange(stop - first), queries.sizes[first:stop])
            label = codes[rows]
            everything = all_tied(query, stop - first, label, levels)
            self.blocks.append(
                _Block(slice(first, stop), rows, query, label, everything)
            )

    def groups(
        self,
        block: _Block,
        scores: NDArray[Any],
        *,
        ascending: bool = False,
        input_order: bool = False,
    ) -> TieGroups:
        """The ties of one block; `scores` are arranged, one per row of all blocks.

        NaN ties below everything; -inf is not retrieved.
        """
        column = scores[block.rows]
        ranks, n_ranks = dense_ranks(column)
        place = ranks if ascending else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        retrieved = None
        if column.dtype.kind == "f":
            kept = ~np.isneginf(column)
            retrieved = None if kept.all() else kept
        return find_ties(
            block.query,
            place,
            block.label,
            block.everything,
            retrieved=retrieved,
            input_order=input_order,
        )

    def values(
        self,
        measures: Sequence[Measure],
        scores: NDArray[Any],
        *,
        statistics: Sequence[str] = STATISTICS,
        ascending: bool = False,
        input_order: bool = False,
        n_jobs: int | None = None,
    ) -> dict[str, FloatArray]:
        """Per query and measure: each of `statistics`, NaN where undefined."""
        scores = self.queries.arrange(scores)

        def score(block: _Block) -> list[FloatArray]:
            groups = self.groups(
                block, scores, ascending=ascending, input_order=input_order
            )
            return [
                np.column_stack([getattr(m, name)(groups) for m in measures])
                for name in statistics
            ]

        parts = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(score)(block) for block in self.blocks
        )
        stacked = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        return dict(zip(statistics, stacked, strict=True))

    def of_labels(self, measures: Sequence[Measure], statistic: str) -> FloatArray:
        """`chance` or `ideal` of each query and measure: no scores needed."""
        return np.concatenate(
            [
                np.column_stack([getattr(m, statistic)(b.everything) for m in measures])
                for b in self.blocks
            ]
        )
