"""Labels of queries in blocks, to be ranked by any scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from .._engine import checks, segments, threads
from .._kernel import arranged, engines
from .._typing import Array, FloatArray
from ..measures import Measure
from ..measures._values import Detail, LabelValues, QueryValues
from . import _ranked
from ._compiled import CompiledBlock
from ._numpy import NumpyBlock
from ._ranked import LabelBlock, Order, Ranked, Values


class JudgedRows:
    """The rows of judged documents, query by query.

    A query without judged documents keeps one row, whose label is `DROPPED_LABEL`. The
    row represents the query and is never retrieved.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Labels of all rows, `DROPPED_LABEL` for rows that are left out.
    queries : Queries
        The queries of all rows.

    Attributes
    ----------
    rows : ndarray of shape (n_judged,)
        Indices of the kept rows in the data set.
    labels : ndarray of shape (n_judged,)
        Labels of the kept rows.
    queries : Queries
        The same queries, restricted to the kept rows.
    """

    def __init__(self, labels: FloatArray, queries: checks.Queries) -> None:
        is_judged = queries.arrange(labels) != checks.DROPPED_LABEL
        counts = segments.count_segments(is_judged, queries.sizes)
        # A query whose documents are all dropped keeps the first document.
        first_rows = queries.offsets[:-1]
        is_judged[first_rows[counts == 0]] = True
        offsets = segments.offsets_of(np.maximum(counts, 1))
        self.rows = queries.original_rows(np.flatnonzero(is_judged))
        self.labels = labels[self.rows]
        self.queries = checks.Queries(queries.qid, offsets, None)

    def scores(self, scores: Array) -> Array:
        """Return the scores of the kept rows.

        Scores of all rows have shape (n_rows,) or (n_columns, n_rows).
        """
        return without_dropped(scores[..., self.rows], self.labels)


def without_dropped(scores: Array, labels: FloatArray) -> Array:
    """Return scores in the same order that retrieve no row of `DROPPED_LABEL`."""
    dropped = labels == checks.DROPPED_LABEL
    if not dropped.any():
        return scores
    # Integers cannot represent -inf.
    floats = arranged.score_columns(np.atleast_2d(scores)).copy()
    floats[:, dropped] = -np.inf
    return floats.reshape(scores.shape)


Result = TypeVar("Result")


class QueryBlocks:
    """Labels in blocks of whole queries, ready to be ranked by any scores.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
        Labels. Documents with `DROPPED_LABEL` are left out, whatever their scores.
    queries : Queries
        The queries of the rows.
    keep : bool
        Whether to keep the blocks for further scores. Otherwise, each block is built
        when the block is ranked, and memory use stays constant.
    block_rows : int, optional
        Largest number of rows of a block, unless a single query has more rows. A block
        contains whole queries. No result depends on this number.

    Attributes
    ----------
    judged : JudgedRows or None
        The rows that are ranked, or None if all rows are ranked.
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
            self.judged = JudgedRows(labels, queries)
            labels = self.judged.labels
            queries = self.judged.queries
        self._ranked_queries = queries
        self._block_class: type[LabelBlock] = NumpyBlock
        if engines.engine == "compiled" and len(labels) <= arranged.MOST_ROWS:
            self._block_class = CompiledBlock
        if block_rows is None:
            block_rows = self._block_class.ROWS
        self._coded = self._block_class.encode(labels)
        # A block may be ranked as a matrix with one row for each query. So the queries
        # of a block are of similar size, which leaves few cells empty.
        self._by_size = queries.sizes.argsort(kind="stable")
        self._place = self._by_size.argsort()
        self._ranges = list(_ranked.ranges(queries.sizes[self._by_size], block_rows))
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
        """Return the result of `compute` for each block, ranked by scores.

        Documents with score NaN tie below all other scores, and documents with score
        -inf are not retrieved. Blocks are not in the order of the queries. Use
        `in_order` to restore the order.

        Parameters
        ----------
        compute : callable
            Function of a `Ranked` block.
        scores : ndarray of shape (n_rows,) or (n_columns, n_rows)
            One or several columns of scores.
        order : Order
            How the documents of a query are ranked.
        depth : int, optional
            Deepest rank that `compute` reads. By default, all ranks are available. If
            `depth` is set, `compute` must not reverse the order.
        n_jobs : int, optional
            Number of threads, as in joblib.
        """
        if self.judged is not None:
            scores = self.judged.scores(scores)
        if scores.ndim == 1:
            scores = scores[None]
        columns = self._block_class.columns(scores)

        def result(number: int) -> Result:
            ranked = self._block(number).rank(columns, order, depth)
            return compute(ranked)

        if len(self._ranges) == 1:
            return [result(0)]
        return threads.in_threads(result, range(len(self._ranges)), n_jobs)

    def _block(self, number: int) -> LabelBlock:
        block = self._blocks.get(number)
        if block is None:
            first, stop = self._ranges[number]
            chosen = self._by_size[first:stop]
            block = self._block_class(self._coded, self._ranked_queries, chosen)
            if self._keep:
                self._blocks[number] = block
        return block

    def in_order(self, parts: Iterable[Array]) -> Array:
        """Join arrays of blocks, one row per query, in the order of the queries."""
        return np.concatenate(list(parts))[self._place]

    def joined(self, parts: Sequence[Values]) -> Values:
        """Join the values of blocks, in the order of the queries."""
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
        """Return the values of each query and measure, NaN where undefined.

        Scores of shape (n_columns, n_rows) give arrays of shape (n_columns, n_queries,
        n_measures). Scores of one column give arrays of shape (n_queries, n_measures).
        With `both_ways`, the columns are ranked twice, first by higher and then by
        lower scores, so there are twice as many columns. `options` are passed to
        `each_block`.
        """

        def compute(ranked: Ranked) -> QueryValues:
            values = ranked.values(measures, detail)
            if not both_ways:
                return values
            ascending = ranked.reversed().values(measures, detail)
            return QueryValues.join([values, ascending], np.concatenate)

        depth = None
        if not both_ways:
            depth = _ranked.deepest(measures)
        parts = self.each_block(compute, scores, depth=depth, **options)
        values = self.joined(parts)
        if scores.ndim == 2:
            return values
        return values.apply(itemgetter(0))

    def raw_label_values(self, measures: Sequence[Measure]) -> LabelValues:
        """Return the values that depend only on labels, NaN where undefined."""
        parts = []
        for number in range(len(self._ranges)):
            parts.append(self._block(number).label_values(measures))
        return self.joined(parts)

    def forget(self) -> None:
        """Clear the kept blocks."""
        self._blocks.clear()
