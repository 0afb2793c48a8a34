"""Labels of queries in blocks, ranked by any scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from .._engine import checks, segments, threads
from .._kernel import arranged, engines
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure
from ..measures._values import Detail, LabelValues, QueryValues
from . import _ranked
from ._compiled import CompiledBlock
from ._numpy import NumpyBlock
from ._ranked import LabelBlock, Order, Ranked


class JudgedRows(NamedTuple):
    """The rows of judged documents, query by query.

    A query without any keeps one row, of label `DROPPED_LABEL`, which stands for it
    and is never retrieved.

    Attributes
    ----------
    rows : ndarray of shape (n_judged,)
        Among the rows as they came.
    labels : ndarray of shape (n_judged,)
    queries : Queries
        The same queries, of these rows.
    """

    rows: IntArray
    labels: FloatArray
    queries: checks.Queries

    @classmethod
    def of(cls, labels: FloatArray, queries: checks.Queries) -> Self:
        """Leave out the rows that are dropped."""
        judged = queries.arrange(labels) != checks.DROPPED_LABEL
        counts = segments.count_segments(judged, queries.sizes)
        # of documents that all have been dropped, any one will do
        judged[queries.offsets[:-1][counts == 0]] = True
        rows = queries.original_rows(np.flatnonzero(judged))
        offsets = segments.offsets_of(np.maximum(counts, 1))
        return cls(rows, labels[rows], checks.Queries(queries.qid, offsets, None))

    def scores(self, scores: Array) -> Array:
        """Scores of these rows, of (n_rows,) or (n_columns, n_rows) of all."""
        return without_dropped(scores[..., self.rows], self.labels)


def without_dropped(scores: Array, labels: FloatArray) -> Array:
    """Scores that rank the same, but retrieve no row of `DROPPED_LABEL`."""
    dropped = labels == checks.DROPPED_LABEL
    if not dropped.any():
        return scores
    # integers have no infinity
    floats = arranged.score_columns(np.atleast_2d(scores)).copy()
    floats[:, dropped] = -np.inf
    return floats.reshape(scores.shape)


Result = TypeVar("Result")
Values = TypeVar("Values", QueryValues, LabelValues)


class QueryBlocks:
    """Labels in blocks of whole queries, which any scores rank.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
        Documents of `DROPPED_LABEL` are left out, whatever their scores.
    queries : Queries
    keep : bool
        Keep the blocks for further scores. Otherwise each is made when it is its
        turn, and memory stays flat.
    block_rows : int, optional
        Whole queries are taken together up to this number of rows; no result
        depends on it.

    Attributes
    ----------
    judged : JudgedRows or None
        The rows that are left, where some are dropped.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: checks.Queries,
        *,
        keep: bool = False,
        block_rows: int | None = None,
    ) -> None:
        self.labels = labels
        self.queries = queries
        self._keep = keep
        self.judged: JudgedRows | None = None
        if labels.min() == checks.DROPPED_LABEL:
            self.judged = JudgedRows.of(labels, queries)
            labels, queries = self.judged.labels, self.judged.queries
        self._ranked = queries
        self._kind: type[LabelBlock] = NumpyBlock
        if engines.engine == "compiled" and len(labels) <= arranged.MOST_ROWS:
            self._kind = CompiledBlock
        self._coded = self._kind.encode(labels)
        self._by_length = queries.sizes.argsort(kind="stable")
        self._place = self._by_length.argsort()
        sizes = queries.sizes[self._by_length]
        self._ranges = list(_ranked.ranges(sizes, block_rows or self._kind.ROWS))
        self._blocks: dict[int, LabelBlock] = {}

    def each_block(
        self,
        compute: Callable[[Ranked], Result],
        scores: Array,
        *,
        order: Order = Order.DESCENDING,
        depth: int | None = None,
        n_jobs: int | None = None,
    ) -> list[Result]:
        """`compute` of the queries of each block, ranked by the scores of all rows.

        NaN ties below everything; -inf is not retrieved. Blocks are not in the order
        of the queries: see `in_order`.

        Parameters
        ----------
        compute : callable
        scores : ndarray of shape (n_rows,) or (n_columns, n_rows)
        order : Order
        depth : int, optional
            Measures look no further down, and not from the end.
        n_jobs : int, optional
            Threads.
        """
        if self.judged is not None:
            scores = self.judged.scores(scores)
        columns = self._kind.columns(scores if scores.ndim == 2 else scores[None])

        def result(number: int) -> Result:
            return compute(self._block(number).rank(columns, order, depth))

        if len(self._ranges) == 1:
            return [result(0)]
        return threads.in_threads(result, range(len(self._ranges)), n_jobs)

    def _block(self, number: int) -> LabelBlock:
        block = self._blocks.get(number)
        if block is None:
            chosen = self._by_length[slice(*self._ranges[number])]
            block = self._kind(self._coded, self._ranked, chosen)
            if self._keep:
                self._blocks[number] = block
        return block

    def in_order(self, parts: Iterable[Array]) -> Array:
        """Arrays of each block, a row per query, as one in the order of the queries."""
        return np.concatenate(list(parts))[self._place]

    def joined(self, parts: Sequence[Values]) -> Values:
        """Values of each block as one, in the order of the queries."""
        joined = parts[0]
        if len(parts) > 1:
            joined = joined.join(parts, partial(np.concatenate, axis=-2))
        return joined.apply(lambda array: array.take(self._place, -2))

    def raw_values(
        self,
        measures: Sequence[Measure],
        scores: Array,
        detail: Detail = Detail.EXPECTED,
        *,
        both_ways: bool = False,
        **options: Any,
    ) -> QueryValues:
        """Values of each query and measure, NaN where undefined.

        Scores of shape (n_columns, n_rows) give arrays of shape (n_columns, n_queries,
        n_measures), and scores of one column arrays of shape (n_queries, n_measures).
        With `both_ways`, twice the columns are ranked, first by higher, then by lower
        scores. `options` are those of `each_block`.
        """

        def compute(ranked: Ranked) -> QueryValues:
            values = ranked.values(measures, detail)
            if not both_ways:
                return values
            turned = ranked.reversed().values(measures, detail)
            return QueryValues.join([values, turned], np.concatenate)

        depth = None if both_ways else _ranked.deepest(measures)
        values = self.joined(self.each_block(compute, scores, depth=depth, **options))
        return values if scores.ndim == 2 else values.apply(itemgetter(0))

    def raw_label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Values of labels alone, NaN where undefined."""
        blocks = map(self._block, range(len(self._ranges)))
        return self.joined([block.label_values(measures) for block in blocks])

    def forget(self) -> None:
        """Clear the kept blocks."""
        self._blocks.clear()
