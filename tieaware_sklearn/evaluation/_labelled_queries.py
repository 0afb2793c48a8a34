"""Labels prepared once; score columns in, per-query values out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from .._engine.row_sort import Rows, find_row_ties, inside_rows
from .._engine.segments import offsets_of, owners
from .._engine.ties import (
    FloatArray,
    IntArray,
    Reach,
    TieGroups,
    all_tied,
    dense_ranks,
    find_ties,
)
from .._engine.validation import Queries, is_retrieved
from .._kernel.arranged import ArrangedLabels, score_columns
from .._kernel.engines import engine
from ..measures import Measure
from ._walked_values import statistics_of, walked_statistics

# documents of a block: memory stays flat, and calls of NumPy cost little a document
BLOCK_ROWS = 1 << 18
Result = TypeVar("Result")
STATISTICS = ("expected", "best", "worst", "std")
# up to this many distinct labels every block lists them all
_FEW_LEVELS = 64
#: a block of its own costs as much as filling up so many cells
_SPARE_CELLS = 1 << 14
_EVERYWHERE = (Reach(),)


class Block(NamedTuple):
    """Queries of about equal length: labels, and lists as if everything tied.

    Attributes
    ----------
    queries : ndarray of shape (n_queries,)
    order : ndarray of shape (n_queries, longest) or None
        Rows of the data set of each query; None where those of a query stand
        together.
    rows : Rows
    everything : TieGroups
    """

    queries: IntArray
    order: IntArray | None
    rows: Rows
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
        self._levels, codes = label_codes(labels)
        self._codes = codes.astype(np.int32) if engine() == "compiled" else codes
        self._by_length = np.argsort(queries.sizes, kind="stable")
        sizes = queries.sizes[self._by_length]
        self._compiled = engine() == "compiled"
        self._ranges = list(_ranges(sizes, block_rows))
        self._keep = keep
        self._kept: list[Block | ArrangedLabels] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # blocks are made faster than they travel
        return {**self.__dict__, "_kept": None}

    def _make(self, first: int, stop: int) -> Block | ArrangedLabels:
        queries = self._by_length[first:stop]
        sizes = self.queries.sizes[queries]
        longest = int(sizes[-1])
        if self._compiled:
            start = self.queries.offsets[queries]
            return ArrangedLabels(
                self._codes, self.queries.order, start, sizes, self._levels
            )
        order = None
        if self.queries.order is not None:
            order = self._by_query(self.queries.order, queries, longest)
            label = self._codes[order]
        else:
            label = self._by_query(self._codes, queries, longest)
        levels = self._levels
        if len(levels) > _FEW_LEVELS:
            there, label = np.unique(label, return_inverse=True)
            levels = levels[there]
        rows = Rows(sizes, label, inside_rows(sizes, longest))
        everything = all_tied(sizes, rows.flat(label), levels)
        if rows.inside is not None:
            # any label that there is
            label[~rows.inside] = 0
        return Block(queries, order, rows, everything)

    def _by_query(
        self, values: NDArray[Any], queries: IntArray, longest: int
    ) -> NDArray[Any]:
        """A row for each query of `values`, which stand query by query.

        What is behind the end of a query belongs to any other.
        """
        # whole rows are copied twice as fast as their cells
        shape = (len(values) - longest + 1, longest)
        windows = as_strided(values, shape, 2 * values.strides, writeable=False)
        start, last = self.queries.offsets[queries], len(windows) - 1
        out: NDArray[Any] = windows[np.minimum(start, last)]
        near_end = np.flatnonzero(start > last)
        if len(near_end):
            cells = start[near_end, None] + np.arange(longest)
            out[near_end] = values[np.minimum(cells, len(values) - 1)]
        return out

    def block(self, number: int) -> Block | ArrangedLabels:
        """Block number `number`, kept or made anew."""
        if not self._keep:
            return self._make(*self._ranges[number])
        if self._kept is None:
            self._kept = [self._make(*ends) for ends in self._ranges]
        return self._kept[number]

    def blocks(self) -> Iterator[Block | ArrangedLabels]:
        """All blocks, in order."""
        return (self.block(number) for number in range(len(self._ranges)))

    def groups(
        self,
        block: Block | ArrangedLabels,
        scores: NDArray[Any],
        *,
        ascending: bool = False,
        input_order: bool = False,
        reaches: Sequence[Reach] = _EVERYWHERE,
    ) -> TieGroups:
        """The ties of one block; `scores` are those of all rows.

        NaN ties below everything; -inf is not retrieved. With `reaches`, groups
        that none of these looks at may be missing.
        """
        if isinstance(block, ArrangedLabels):
            columns = score_columns(scores[None])
            return block.sort(
                columns, ascending=ascending, input_order=input_order
            ).groups()
        rows, everything = block.rows, block.everything
        if block.order is not None:
            column = scores[block.order]
        else:
            column = self._by_query(scores, block.queries, rows.label.shape[1])
        found = find_row_ties(
            column,
            rows,
            everything,
            reaches,
            ascending=ascending,
            input_order=input_order,
        )
        if found is not None:
            return found
        flat = rows.flat(column)
        ranks, n_ranks = dense_ranks(flat)
        place = ranks if ascending else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        return find_ties(
            owners(rows.sizes),
            place,
            rows.flat(rows.label),
            everything,
            retrieved=is_retrieved(flat),
            input_order=input_order,
        )

    def values(
        self,
        measures: Sequence[Measure],
        scores: NDArray[Any],
        *,
        statistics: Sequence[str] = STATISTICS,
        **options: Any,
    ) -> dict[str, FloatArray]:
        """Per query and measure: each of `statistics`, NaN where undefined.

        Statistics are methods of `Measure`: expected, best, worst, std, chance,
        ideal, normaliser. `options` are those of `each_block`.
        """
        if self._compiled:
            stacked = self._walked(measures, scores, statistics, **options)
            return dict(zip(statistics, stacked, strict=True))
        parts = self.each_block(
            lambda groups: statistics_of(measures, statistics, groups),
            scores,
            reaches=[measure.reach for measure in measures],
            **options,
        )
        stacked = [self.in_order(arrays) for arrays in zip(*parts, strict=True)]
        return dict(zip(statistics, stacked, strict=True))

    def _walked(
        self,
        measures: Sequence[Measure],
        scores: NDArray[Any],
        statistics: Sequence[str],
        *,
        n_jobs: int | None = None,
        ascending: bool = False,
        input_order: bool = False,
    ) -> list[FloatArray]:
        columns = score_columns(scores[None])
        parts = []
        for block in self.blocks():
            ranked = block.sort(columns, ascending=ascending, input_order=input_order)
            parts.append(walked_statistics(block, ranked, measures, statistics))
        return [self.in_order(arrays) for arrays in zip(*parts, strict=True)]

    def each_block(
        self,
        compute: Callable[[TieGroups], Result],
        scores: NDArray[Any],
        *,
        n_jobs: int | None = None,
        **options: Any,
    ) -> list[Result]:
        """`compute` of the ties of each block, which are found once.

        `options` are those of `groups`. Blocks are not in the order of the queries:
        see `in_order`.
        """

        def result(number: int) -> Result:
            return compute(self.groups(self.block(number), scores, **options))

        numbers = range(len(self._ranges))
        if effective_n_jobs(n_jobs) == 1:
            return [result(number) for number in numbers]
        results: list[Result] = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(result)(number) for number in numbers
        )
        return results

    def in_order(self, parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """Arrays of each block, a row per query, as one in the order of the queries."""
        stacked = np.concatenate(list(parts))
        out = np.empty_like(stacked)
        out[self._by_length] = stacked
        return out

    def of_labels(
        self, measures: Sequence[Measure], statistics: Sequence[str]
    ) -> list[FloatArray]:
        """Statistics of each query and measure that need no scores."""
        parts = []
        for block in self.blocks():
            if isinstance(block, ArrangedLabels):
                parts.append(walked_statistics(block, None, measures, statistics))
                continue
            parts.append(statistics_of(measures, statistics, block.everything))
            block.everything.forget()
        return [self.in_order(arrays) for arrays in zip(*parts, strict=True)]


def label_codes(labels: FloatArray) -> tuple[FloatArray, NDArray[np.integer[Any]]]:
    """The distinct labels, ascending, and the place of each label among them."""
    low, high = float(labels.min()), float(labels.max())
    if low >= -1.0 and high < 254.0:
        small = np.empty(len(labels), dtype=np.uint8)
        there = np.zeros(256, dtype=bool)
        for start in range(0, len(labels), BLOCK_ROWS):
            part = labels[start : start + BLOCK_ROWS] + 1
            own = part.astype(np.uint8)
            if (own != part).any():
                break
            there |= np.bincount(own, minlength=256) > 0
            small[start : start + BLOCK_ROWS] = own
        else:
            code = (np.cumsum(there) - 1).astype(np.uint8)
            return np.flatnonzero(there).astype(np.float64) - 1, code[small]
    levels, codes = np.unique(labels, return_inverse=True)
    return levels, codes.astype(np.uint8) if len(levels) <= 256 else codes


def _ranges(sizes: IntArray, block_rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of queries, sorted by length, of at most so many rows (or one query).

    They are split again where rows as long as the longest query would have many
    more cells than documents.
    """
    offsets, first = offsets_of(sizes), 0
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
