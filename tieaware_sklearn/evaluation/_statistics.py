"""Labels prepared once; score columns in, per-query values out, by either engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, segments, threads
from .._engine import tie_groups as _tie_groups
from .._engine.segments import FloatArray, IntArray
from .._kernel import arranged, engines, tie_groups
from ..measures import Measure, _measure
from . import _flat_labels


class JudgedRows(NamedTuple):
    """The rows of judged documents, query by query.

    A query without any keeps one row, of label `DROPPED_LABEL`, which stands for it
    and is never retrieved.

    Attributes
    ----------
    rows : ndarray of shape (n_kept,)
        Among the rows as they came.
    labels : ndarray of shape (n_kept,)
    queries : Queries
        The same queries, of these rows.
    stand_ins : ndarray of shape (n_stand_ins,)
        Places in `rows` of those that stand for a query.
    """

    rows: IntArray
    labels: FloatArray
    queries: checks.Queries
    stand_ins: IntArray

    @classmethod
    def of(cls, labels: FloatArray, queries: checks.Queries) -> Self:
        """Leave out the rows that are dropped."""
        judged = queries.arrange(labels) != checks.DROPPED_LABEL
        counts = segments.sum_segments(judged.astype(np.float64), queries.sizes)
        # of documents that all have been dropped, any one will do
        judged[queries.offsets[:-1][counts == 0]] = True
        rows = queries.given(np.flatnonzero(judged))
        sizes = np.maximum(counts, 1).astype(np.int64)
        kept = labels[rows]
        return cls(
            rows,
            kept,
            checks.Queries(queries.qid, segments.offsets_of(sizes), None),
            np.flatnonzero(kept == checks.DROPPED_LABEL),
        )

    def scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores of these rows, of (n_rows,) or (n_columns, n_rows) of all."""
        return not_retrieved(scores[..., self.rows], self.stand_ins)


def not_retrieved(scores: NDArray[Any], rows: IntArray) -> NDArray[Any]:
    """Scores that rank the same, but for rows that are not retrieved."""
    if len(rows) == 0:
        return scores
    # integers have no infinity
    floats = tie_groups.score_columns(np.atleast_2d(scores)).copy()
    floats[:, rows] = -np.inf
    return floats.reshape(scores.shape)


Block = arranged.ArrangedLabels | _flat_labels.FlatLabels


class RankedQueries:
    """A block of queries, ranked.

    Parameters
    ----------
    labels : ArrangedLabels or FlatLabels
    scores : ndarray of shape (n_columns, n_rows), optional
        Of all rows of the data set; None if all documents tie.
    rows : SortedRows, optional
        Of the kernel: the queries by each score column.
    ascending, input_order : bool
        As in `LabelledQueries.each_block`.
    backwards : bool
        The other way round.
    several : bool
        The score columns are the first axis of all statistics, be there but one.
    """

    def __init__(
        self,
        labels: Block,
        scores: NDArray[Any] | None = None,
        rows: tie_groups.SortedRows | None = None,
        *,
        ascending: bool = False,
        input_order: bool = False,
        backwards: bool = False,
        several: bool = False,
    ) -> None:
        self._labels = labels
        self._scores = scores
        self._rows = rows
        self._ways = ascending, input_order, backwards
        self._several = several

    @property
    def groups(self) -> _tie_groups.TieGroups:
        """Their ties, by the first score column."""
        return self._columns[0]

    @cached_property
    def _columns(self) -> list[_tie_groups.TieGroups]:
        ascending, input_order, backwards = self._ways
        if self._rows is not None:
            return self._rows.groups(backwards=backwards)
        if self._scores is None:
            return [self._labels.ties]
        labels, up = cast(_flat_labels.FlatLabels, self._labels), ascending != backwards
        how = {"ascending": up, "input_order": input_order}
        return [labels.rank(column, **how) for column in self._scores]

    def both_ways(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> FloatArray:
        """`statistics` as ranked, and the other way round: the second axis."""
        ascending, input_order, _ = self._ways
        turned = RankedQueries(
            self._labels, self._scores, self._rows, ascending=ascending,
            input_order=input_order, backwards=True, several=self._several,
        )  # fmt: skip
        ways = [one.statistics(measures, names) for one in (self, turned)]
        return np.stack(ways, axis=1)

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> FloatArray:
        """Compute statistics of measures, of shape (n_names, n_queries, n_measures).

        Several score columns are the second axis.
        """
        walked, rest = dict[int, Any](), []
        for j, measure in enumerate(measures):
            walk = self._labels.walk(measure)
            if walk is None:
                rest.append(j)
            else:
                walked[j] = walk
        if not rest:
            found = self._walked(measures, list(walked.values()), names)
        else:
            shape = len(names), len(self._columns), self.groups.n_queries
            found = np.empty((*shape, len(measures)))
            if walked:
                some = [measures[j] for j in walked]
                at = list(walked)
                found[..., at] = self._walked(some, list(walked.values()), names)
            for column, groups in enumerate(self._columns):
                for j in rest:
                    found[:, column, :, j] = measures[j].statistics(groups, names)
            # which are as long as the block
            self._labels.ties.forget()
        return found if self._several else found[:, 0]

    def _walked(
        self, measures: Sequence[Measure], walks: list[Any], names: Sequence[str]
    ) -> FloatArray:
        """Compute statistics of measures that have a walk, in the kernel."""
        labels, sorted_rows = cast(arranged.ArrangedLabels, self._labels), self._rows
        n_columns = 1
        totals = labels if sorted_rows is None else sorted_rows.totals
        resolved = tuple(measures)
        below, undefined = _divisors(totals, resolved)
        found = {"normaliser": below}
        if sorted_rows is not None:
            n_columns, n = sorted_rows.n_columns, 0
            for name in names:
                n = max(n, _ROOM.get(name, 0))
            rows = sorted_rows.walk(walks, n, backwards=self._ways[-1])
            rows = _measure.divide(rows, below, undefined)
            if n == len(names) == 1:
                return rows
            found.update(zip(_measure.STATISTICS, rows, strict=False))
            if _measure.SCREENED[-1] in names:
                depth = min(deepest(resolved) or labels.longest, labels.longest)
                found[_measure.SCREENED[-1]] = sorted_rows.spread_within_ties(
                    _measure.rank_sums(resolved, depth), backwards=self._ways[-1]
                )
        if "chance" in names or "ideal" in names:
            one_tie = np.empty((2, labels.n_queries, len(measures)))
            for j, measure in enumerate(measures):
                one_tie[..., j] = labels.walked(measure)
            if totals is not labels:
                below, undefined = _divisors(labels, resolved)
            found.update(
                zip(
                    _measure.OF_LABELS,
                    _measure.divide(one_tie, below, undefined),
                    strict=True,
                )
            )
        # nothing is sampled: standard errors are 0
        out = np.zeros((len(names), n_columns, labels.n_queries, len(measures)))
        for values, name in zip(out, names, strict=True):
            if name in found:
                values[:] = found[name]
        return out


@_tie_groups.once_per_block
def _divisors(
    totals: _tie_groups.Totals, measures: tuple[Measure, ...]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Denominators, and where measures with a walk are undefined."""
    denominator = np.empty((*totals.retrieved.shape, len(measures)))
    over_zero = np.empty(len(measures), dtype=bool)
    for j, measure in enumerate(measures):
        denominator[..., j] = measure.normaliser(totals)
        over_zero[j] = measure.undefined_over_zero
    return denominator, ~(denominator > 0) & over_zero


#: how many numerators the kernel gives to have one of them
_ROOM = {"expected": 1, "best": 3, "worst": 3, "std": 4}
#: documents of a block, so that memory stays flat: what NumPy makes of them, array by
#: array, stays in the cache of the processor
_BLOCK_ROWS, _FLAT_ROWS = 1 << 18, 1 << 16
Result = TypeVar("Result")
#: a block of its own costs as much as filling up so many cells
_SPARE_CELLS = 1 << 14


class LabelledQueries:
    """The labels of whole queries, in blocks, with all that scores do not change.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
        Documents of `DROPPED_LABEL` are left out, whatever their scores.
    queries : Queries
    block_rows : int, optional
        Whole queries are taken together up to this number of rows; no result
        depends on it.
    keep : bool
        Keep the blocks for further score columns; otherwise each is made when it
        is its turn, and memory stays flat.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: checks.Queries,
        *,
        block_rows: int | None = None,
        keep: bool = False,
    ) -> None:
        #: rows that are left where some are dropped
        self.judged: JudgedRows | None = None
        if labels.min() == checks.DROPPED_LABEL:
            self.judged = JudgedRows.of(labels, queries)
            labels, queries = self.judged.labels, self.judged.queries
        self.queries = queries
        self._compiled = (
            engines.engine() == "compiled" and len(labels) <= tie_groups.MOST_ROWS
        )
        self._codes: NDArray[Any]
        if self._compiled:
            self._levels, self._codes = tie_groups.level_codes(labels)
        else:
            self._levels, self._codes = np.unique(labels, return_inverse=True)
        self._by_length = queries.sizes.argsort(kind="stable")
        sizes = queries.sizes[self._by_length]
        if block_rows is None:
            block_rows = _BLOCK_ROWS if self._compiled else _FLAT_ROWS
        self._ranges = list(_ranges(sizes, block_rows))
        self._keep = keep
        self._kept: dict[int, Block] = {}

    def __getstate__(self) -> dict[str, Any]:
        # blocks are made faster than they travel
        return {**self.__dict__, "_kept": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # where they arrive, there may be no kernel
        self._compiled = self._compiled and engines.engine() == "compiled"

    def _block(self, number: int) -> Block:
        """Block number `number`, kept or made anew."""
        block = self._kept.get(number)
        if block is None:
            queries = self._by_length[slice(*self._ranges[number])]
            start, sizes = self.queries.offsets[queries], self.queries.sizes[queries]
            made = (
                arranged.ArrangedLabels if self._compiled else _flat_labels.FlatLabels
            )
            block = made(self._codes, self.queries.order, start, sizes, self._levels)
            if self._keep:
                self._kept[number] = block
        return block

    def blocks(self) -> Iterator[Block]:
        """All blocks, in order."""
        return map(self._block, range(len(self._ranges)))

    def values(
        self,
        measures: Sequence[Measure],
        scores: NDArray[Any],
        *,
        statistics: Sequence[str] = _measure.STATISTICS,
        **options: Any,
    ) -> dict[str, FloatArray]:
        """Per query and measure: each of `statistics`, NaN where undefined.

        Scores of shape (n_columns, n_rows) give arrays of shape (n_columns,
        n_queries, n_measures). Statistics are methods of `Measure`: expected, best,
        worst, std, chance, ideal, normaliser. `options` are those of `each_block`.
        """
        compute = partial(RankedQueries.statistics, measures=measures, names=statistics)
        parts = self.each_block(compute, scores, depth=deepest(measures), **options)
        return dict(zip(statistics, self.in_order(parts, scores.ndim), strict=True))

    def both_ways(
        self, measures: Sequence[Measure], scores: NDArray[Any]
    ) -> dict[str, FloatArray]:
        """`values` by higher scores, then by lower ones: the first axis."""
        names = _measure.SCREENED
        compute = partial(RankedQueries.both_ways, measures=measures, names=names)
        found = self.in_order(self.each_block(compute, scores), scores.ndim + 1)
        return dict(zip(names, found, strict=True))

    def each_block(
        self,
        compute: Callable[[RankedQueries], Result],
        scores: NDArray[Any],
        *,
        n_jobs: int | None = None,
        ascending: bool = False,
        input_order: bool = False,
        depth: int | None = None,
    ) -> list[Result]:
        """`compute` of the queries of each block, ranked by the scores of all rows.

        NaN ties below everything; -inf is not retrieved. Ties are found once. Blocks
        are not in the order of the queries: see `in_order`.

        Parameters
        ----------
        compute : callable
        scores : ndarray of shape (n_rows,) or (n_columns, n_rows)
        n_jobs : int, optional
            Threads.
        ascending : bool
            Lower scores rank first.
        input_order : bool
            Break ties by the order of the rows.
        depth : int, optional
            Measures look no further down, and not from the end.
        """
        several = scores.ndim == 2
        if self.judged is not None:
            scores = self.judged.scores(scores)
        columns = scores if several else scores[None]
        if self._compiled:
            columns = tie_groups.score_columns(columns)
        how = {"ascending": ascending, "input_order": input_order}

        def result(number: int) -> Result:
            block = self._block(number)
            rows = None
            if isinstance(block, arranged.ArrangedLabels):
                rows = tie_groups.SortedRows(block, columns, depth=depth, **how)
            return compute(RankedQueries(block, columns, rows, several=several, **how))

        return threads.in_threads(result, range(len(self._ranges)), n_jobs)

    def in_order(self, parts: Iterable[NDArray[Any]], axis: int = 0) -> NDArray[Any]:
        """Arrays of each block, a row per query, as one in the order of the queries."""
        blocks = list(parts)
        stacked = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=axis)
        out = np.empty_like(stacked)
        out[(slice(None),) * axis + (self._by_length,)] = stacked
        return out

    def of_labels(
        self, measures: Sequence[Measure], statistics: Sequence[str]
    ) -> list[FloatArray]:
        """Statistics of each query and measure that need no scores."""
        blocks = map(RankedQueries, self.blocks())
        parts = [block.statistics(measures, statistics) for block in blocks]
        return [*self.in_order(parts, 1)]


def deepest(measures: Iterable[Any]) -> int | None:
    """The rank down to which any of the measures looks."""
    depth = 0
    for measure in measures:
        if measure.reach is None:
            return None
        depth = max(depth, measure.reach)
    return depth


def _ranges(sizes: IntArray, block_rows: int) -> Iterator[tuple[int, int]]:
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
