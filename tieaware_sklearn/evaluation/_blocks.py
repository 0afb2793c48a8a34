"""Blocks of whole queries, which the kernel or NumPy ranks and measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, segments, tie_groups
from .._engine.segments import FloatArray, IntArray
from .._kernel import arranged
from .._kernel import tie_groups as sorted_rows
from ..measures import Measure, _measure

#: how many numerators the kernel gives to have one of them
_ROOM = {"expected": 1, "best": 3, "worst": 3, "std": 4}
#: a block of its own costs as much as filling up so many cells
_SPARE_CELLS = 1 << 14


class RankedBlock:
    """A block of queries, ranked by each of some score columns."""

    @cached_property
    def columns(self) -> list[tie_groups.TieGroups]:
        """The ties of each score column."""
        raise NotImplementedError

    @property
    def groups(self) -> tie_groups.TieGroups:
        """The ties of the first score column."""
        return self.columns[0]

    def turned(self) -> RankedBlock:
        """The block in the order of its scores turned round."""
        raise NotImplementedError

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> FloatArray:
        """Statistics of shape (n_names, n_columns, n_queries, n_measures).

        They are NaN where a measure is undefined.
        """
        shape = len(names), len(self.columns), self.groups.n_queries, len(measures)
        out = np.empty(shape)
        for column, groups in enumerate(self.columns):
            for j, measure in enumerate(measures):
                out[:, column, :, j] = measure.statistics(groups, names)
        # which are as long as the block
        self.groups.everything.forget()
        return out


class FlatBlock:
    """Labels of queries one after another, for NumPy to rank.

    Parameters are those of `SortedBlock`, its twin of the kernel.
    """

    #: what NumPy makes of so many rows stays in the cache of the processor
    ROWS = 1 << 16

    def __init__(
        self,
        code: NDArray[np.integer[Any]],
        order: IntArray | None,
        start: IntArray,
        sizes: IntArray,
        levels: FloatArray,
    ) -> None:
        rows = segments.consecutive(start, sizes)
        self.rows = rows if order is None else order[rows]
        self.query = segments.owners(sizes)
        self.label = code[self.rows]
        self.ties = tie_groups.all_tied(sizes, self.label, levels)

    @staticmethod
    def level_codes(labels: FloatArray) -> tuple[FloatArray, NDArray[Any]]:
        """The distinct labels, ascending, and the place of each label among them."""
        return np.unique(labels, return_inverse=True)

    @staticmethod
    def score_columns(scores: NDArray[Any]) -> NDArray[Any]:
        """Columns (n_columns, n_rows) as NumPy ranks them: as they are."""
        return scores

    def ranked(
        self,
        scores: NDArray[Any],
        *,
        ascending: bool,
        input_order: bool,
        depth: int | None,
    ) -> RankedBlock:
        """The queries ranked by score columns, all of them down to the end."""
        return _RankedByNumpy(self, scores, ascending, input_order)


class _RankedByNumpy(RankedBlock):
    def __init__(
        self, block: FlatBlock, scores: NDArray[Any], ascending: bool, input_order: bool
    ) -> None:
        self._block = block
        self._scores = scores
        self._ascending = ascending
        self._input_order = input_order

    @cached_property
    def columns(self) -> list[tie_groups.TieGroups]:
        return [self._ties_of(scores[self._block.rows]) for scores in self._scores]

    def _ties_of(self, scores: NDArray[Any]) -> tie_groups.TieGroups:
        ranks, n_ranks = tie_groups.dense_ranks(scores)
        place = ranks if self._ascending else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        return tie_groups.find_ties(
            self._block.query,
            place,
            self._block.label,
            self._block.ties,
            retrieved=checks.is_retrieved(scores),
            input_order=self._input_order,
        )

    def turned(self) -> RankedBlock:
        return _RankedByNumpy(
            self._block, self._scores, not self._ascending, self._input_order
        )


class SortedBlock(arranged.ArrangedLabels):
    """Labels of queries by level, for the kernel to rank in rows of sorted keys."""

    ROWS = 1 << 18
    level_codes = staticmethod(sorted_rows.level_codes)
    score_columns = staticmethod(sorted_rows.score_columns)

    def ranked(
        self,
        scores: NDArray[np.floating[Any]],
        *,
        ascending: bool,
        input_order: bool,
        depth: int | None,
    ) -> RankedBlock:
        """The queries ranked by score columns, at least down to a depth."""
        rows = sorted_rows.SortedRows(
            self, scores, ascending=ascending, input_order=input_order, depth=depth
        )
        return _RankedByKernel(self, rows)


class _RankedByKernel(RankedBlock):
    def __init__(
        self,
        block: SortedBlock,
        rows: sorted_rows.SortedRows,
        *,
        backwards: bool = False,
    ) -> None:
        self._block = block
        self._rows = rows
        self._backwards = backwards

    @cached_property
    def columns(self) -> list[tie_groups.TieGroups]:
        return self._rows.groups(backwards=self._backwards)

    def turned(self) -> RankedBlock:
        return _RankedByKernel(self._block, self._rows, backwards=not self._backwards)

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> FloatArray:
        walks = list(map(self._block.walk, measures))
        if None not in walks:
            return self._walked(tuple(measures), walks, names)
        walked = [j for j, walk in enumerate(walks) if walk is not None]
        others = [j for j, walk in enumerate(walks) if walk is None]
        shape = self._rows.n_columns, self._block.n_queries, len(measures)
        out = np.empty((len(names), *shape))
        if walked:
            some = tuple(measures[j] for j in walked)
            out[..., walked] = self._walked(some, [walks[j] for j in walked], names)
        out[..., others] = super().statistics([measures[j] for j in others], names)
        return out

    def _walked(
        self, measures: tuple[Measure, ...], walks: list[Any], names: Sequence[str]
    ) -> FloatArray:
        """Compute statistics of measures that have a walk."""
        block, rows, backwards = self._block, self._rows, self._backwards
        below, undefined = _divisors(rows.totals, measures)
        n_numerators = max(_ROOM.get(name, 0) for name in names)
        numerators = rows.walk(walks, n_numerators, backwards=backwards)
        values = _measure.divide(numerators, below, undefined)
        if n_numerators == len(names) == 1:
            return values
        known = {"normaliser": below}
        known.update(zip(_measure.STATISTICS, values, strict=False))
        spread = _measure.SCREENED[-1]
        if spread in names:
            depth = min(deepest(measures) or block.longest, block.longest)
            sums = _measure.rank_sums(measures, depth)
            known[spread] = rows.spread_within_ties(sums, backwards=backwards)
        if "chance" in names or "ideal" in names:
            one_tie = np.stack([block.walked(one) for one in measures], axis=-1)
            values = _measure.divide(one_tie, *_divisors(block, measures))
            known.update(zip(_measure.OF_LABELS, values, strict=True))
        # nothing is sampled: standard errors are 0
        out = np.zeros((len(names), rows.n_columns, block.n_queries, len(measures)))
        for row, name in zip(out, names, strict=True):
            if name in known:
                row[:] = known[name]
        return out


@tie_groups.once_per_block
def _divisors(
    totals: tie_groups.Totals, measures: tuple[Measure, ...]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Denominators, and where measures with a walk are undefined."""
    denominator = np.empty((*totals.retrieved.shape, len(measures)))
    over_zero = np.empty(len(measures), dtype=bool)
    for j, measure in enumerate(measures):
        denominator[..., j] = measure.normaliser(totals)
        over_zero[j] = measure.undefined_over_zero
    return denominator, ~(denominator > 0) & over_zero


def deepest(measures: Iterable[Any]) -> int | None:
    """The rank down to which any of the measures looks."""
    depth = 0
    for measure in measures:
        if measure.reach is None:
            return None
        depth = max(depth, measure.reach)
    return depth


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
