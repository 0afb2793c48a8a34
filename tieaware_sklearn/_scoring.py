"""Labels prepared once; score columns in, per-query values out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ._ties import FloatArray, TieGroups, all_tied, dense_ranks, find_ties
from ._validation import Queries
from .measures import Measure

# documents of a block: its arrays stay in the cache
BLOCK_ROWS = 1 << 15
Result = TypeVar("Result")
STATISTICS = ("expected", "best", "worst", "std")
# up to this many distinct labels every block lists them all
_FEW_LEVELS = 64


class Block(NamedTuple):
    """Whole queries: their rows, labels, and lists as if everything tied."""

    rows: slice
    query: NDArray[np.int64]
    label: NDArray[np.integer[Any]]
    everything: TieGroups


class LabelledQueries:
    """The labels of whole queries, in blocks, with all that scores do not change.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
    queries : Queries
    block_rows : int
        Whole queries are taken together up to this number of rows; no result
        depends on it.
    keep : bool
        Keep the blocks for further score columns; otherwise each is made when it
        is its turn, and memory stays flat.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: Queries,
        *,
        block_rows: int = BLOCK_ROWS,
        keep: bool = False,
    ) -> None:
        self.queries = queries
        levels, codes = np.unique(labels, return_inverse=True)
        self._levels: FloatArray = levels
        self._codes = queries.arrange(codes)
        self._ranges = list(queries.blocks(block_rows))
        self._kept = [self._make(*ends) for ends in self._ranges] if keep else None

    def _make(self, first: int, stop: int) -> Block:
        offsets = self.queries.offsets
        rows = slice(int(offsets[first]), int(offsets[stop]))
        query = np.repeat(np.arange(stop - first), self.queries.sizes[first:stop])
        levels, label = self._levels, self._codes[rows]
        if len(levels) > _FEW_LEVELS:
            there, label = np.unique(label, return_inverse=True)
            levels = levels[there]
        everything = all_tied(query, stop - first, label, levels)
        return Block(rows, query, label, everything)

    def block(self, number: int) -> Block:
        """Block number `number`, kept or made anew."""
        if self._kept is not None:
            return self._kept[number]
        return self._make(*self._ranges[number])

    def blocks(self) -> Iterator[Block]:
        """All blocks, in order."""
        return (self.block(number) for number in range(len(self._ranges)))

    def groups(
        self,
        block: Block,
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
        """Per query and measure: each of `statistics`, NaN where undefined.

        Statistics are methods of `Measure`: expected, best, worst, std, chance,
        ideal, normaliser.
        """
        parts = self.each_block(
            lambda groups: columns(measures, statistics, groups),
            scores,
            ascending=ascending,
            input_order=input_order,
            n_jobs=n_jobs,
        )
        stacked = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        return dict(zip(statistics, stacked, strict=True))

    def each_block(
        self,
        compute: Callable[[TieGroups], Result],
        scores: NDArray[Any],
        *,
        ascending: bool = False,
        input_order: bool = False,
        n_jobs: int | None = None,
    ) -> list[Result]:
        """`compute` of the ties of each block, which are found once."""
        scores = self.queries.arrange(scores)

        def result(number: int) -> Result:
            block = self.block(number)
            return compute(
                self.groups(block, scores, ascending=ascending, input_order=input_order)
            )

        results: list[Result] = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(result)(number) for number in range(len(self._ranges))
        )
        return results

    def of_labels(
        self, measures: Sequence[Measure], statistics: Sequence[str]
    ) -> list[FloatArray]:
        """Statistics of each query and measure that need no scores."""
        parts = []
        for block in self.blocks():
            parts.append(columns(measures, statistics, block.everything))
            block.everything.forget()
        return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]


def columns(
    measures: Sequence[Measure], statistics: Sequence[str], groups: TieGroups
) -> list[FloatArray]:
    """Each of `statistics`, of shape (n_queries, n_measures), of one block."""
    return [
        np.column_stack([getattr(measure, name)(groups) for measure in measures])
        for name in statistics
    ]
