"""Checked labels, scores and rows of queries, prepared for any measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from operator import itemgetter
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._engine import checks, exact_numbers, feature_matrix, messages, segments, threads
from .._engine import lists as _lists
from .._kernel import arranged, engines
from .._typing import Array, FloatArray, IntArray
from ..measures import Measure, _measure
from ..measures._values import Detail, LabelValues, QueryValues
from ..ranking import _ranked
from ..ranking._compiled import CompiledBlock
from ..ranking._numpy import NumpyBlock
from ..ranking._ranked import LabelBlock, Order, Ranked
from ..statistics.averages import AVERAGE_FUNCTIONS, column_means, weighted_mean
from . import _resolved
from ._report import RankingReport

TIES = ("expected", "best", "worst", "input")
AVERAGES = ("macro", "geometric", "median", "micro", None)
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_MEASURES = (DEFAULT_MEASURE, "ap", "rr")
#: scores ranked in one call; more no longer pay
_CELLS = 1 << 15


def columns_at_once(n_rows: int, n_columns: int, n_tasks: int) -> int:
    """Score columns ranked in one call: calls cost most where rows are few."""
    return max(min(_CELLS // n_rows, -(-n_columns // n_tasks)), 1)


class ColumnNames(NamedTuple):
    """Names of the arrays in messages."""

    label: str = "y_true"
    score: str = "y_score"
    qid: str = "qid"
    weight: str = "query_weight"


NAMES = ColumnNames()


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
        rows = queries.given(np.flatnonzero(judged))
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


def _rows(array: FloatArray) -> FloatArray:
    """A row of queries for each column of scores and each measure."""
    return array.swapaxes(-2, -1).reshape(-1, array.shape[-2])


Result = TypeVar("Result")
Values = TypeVar("Values", QueryValues, LabelValues)


class Prepared:
    """Checked labels in blocks of whole queries, for any scores and measures.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
        Documents of `DROPPED_LABEL` are left out, whatever their scores.
    queries : Queries
    weight : ndarray of shape (n_queries,), optional
    lists : Lists, optional
        The cells that the rows come from, where queries were rows of a matrix.
    keep : bool
        Keep the blocks for further scores; otherwise each is made when it is its
        turn, and memory stays flat.
    block_rows : int, optional
        Whole queries are taken together up to this number of rows; no result
        depends on it.

    Attributes
    ----------
    judged : JudgedRows or None
        The rows that are left, where some are dropped.
    place : callable
        Where a document stands in what was given, for a message.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: checks.Queries,
        weight: FloatArray | None = None,
        *,
        lists: _lists.Lists | None = None,
        keep: bool = False,
        block_rows: int | None = None,
    ) -> None:
        self.labels = labels
        self.queries = queries
        self.weight = weight
        self.lists = lists
        self.place = messages.in_row if lists is None else lists.place
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

    def __getstate__(self) -> dict[str, Any]:
        # blocks are made faster than they travel, and may arrive without a kernel
        return {
            "labels": self.labels,
            "queries": self.queries,
            "weight": self.weight,
            "lists": self.lists,
            "keep": self._keep,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Prepared.__init__(self, **state)

    def segments(self, segment: Any, name: str = "segment") -> Array | None:
        """The segment of each query, if there are segments."""
        if segment is None:
            return None
        rows = self.queries if self.lists is None else self.lists.rows
        return checks.check_segment(segment, rows, name=name)

    def scores(self, y_score: ArrayLike, name: str = NAMES.score) -> Array:
        """Scores of the documents, in the dtype they came in, checked."""
        if self.lists is not None:
            y_score = self.lists.documents(y_score, name)
        return checks.check_scores(
            y_score, n_rows=len(self.labels), name=name, place=self.place
        )

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

    def values(
        self,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        detail: Detail = Detail.EXPECTED,
        **options: Any,
    ) -> QueryValues:
        """`raw_values`, undefined values replaced."""
        values = self.raw_values(resolved.measures, scores, detail, **options)
        return resolved.fill(values, self.queries, self.weight)

    def label_values(self, resolved: _resolved.ResolvedMeasures) -> LabelValues:
        """Values of labels alone, undefined values replaced."""
        blocks = map(self._block, range(len(self._ranges)))
        labels = self.joined(
            [block.label_values(resolved.measures) for block in blocks]
        )
        return resolved.fill_labels(labels, np.isnan(labels.chance))

    def means(
        self, resolved: _resolved.ResolvedMeasures, values: FloatArray
    ) -> list[float]:
        """Means over queries of one column per measure; warns where there is none."""
        averages = column_means(values, self.weight).tolist()
        _resolved.warn_of_nan(resolved.measures, averages)
        return averages

    def averaged(
        self,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        ties: str,
        average: str | None,
        *,
        warns: bool = True,
    ) -> list[float] | FloatArray:
        """Each measure, averaged over queries; its values for no average.

        Scores of shape (n_columns, n_rows) give those of one column after another.
        Threads must not warn.
        """
        is_plain = ties in ("expected", "input") and average != "micro"
        detail = Detail.EXPECTED if is_plain else Detail.RANGE
        columns = scores if scores.ndim == 2 else scores[None]
        order = Order.INPUT if ties == "input" else Order.DESCENDING
        filled = self.values(resolved, columns, detail, order=order)
        values = _rows(filled.by_treatment(ties))
        if average is None:
            return values
        if average == "micro":
            pooled = zip(values, _rows(filled.normaliser), cycle(resolved.value))
            averages = [self._micro(*one) for one in pooled]
        else:
            averaged = AVERAGE_FUNCTIONS[average]
            averages = [averaged(row, self.weight) for row in values]
        if warns:
            resolved.warn_below_rel(self.labels)
            _resolved.warn_of_nan(resolved.measures, averages)
        return averages

    def _micro(self, values: FloatArray, normaliser: FloatArray, empty: float) -> float:
        """Σ numerator / Σ denominator: the mean weighted by the denominators."""
        pooled = normaliser if self.weight is None else normaliser * self.weight
        result = weighted_mean(np.where(pooled > 0, values, np.nan), pooled)
        return float(empty) if np.isnan(result) else result

    def report(
        self,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        *,
        segment: Array | None = None,
        n_jobs: int | None = None,
    ) -> RankingReport:
        """All that ties leave open, query by query."""
        measures = resolved.measures
        parts = self.each_block(
            lambda ranked: (
                ranked.values(measures, Detail.DEVIATION),
                ranked.block.label_values(measures),
            ),
            scores,
            n_jobs=n_jobs,
            depth=_ranked.deepest(measures),
        )
        values, label_values = zip(*parts, strict=True)
        raw = self.joined(values).apply(itemgetter(0))
        undefined = np.isnan(raw.expected)
        filled = resolved.fill(raw, self.queries, self.weight)
        labels = resolved.fill_labels(self.joined(label_values), undefined)
        sampling_error, std_is_estimate = raw.sampling_error, raw.std_is_estimate
        if sampling_error is None or std_is_estimate is None:
            sampling_error = std_is_estimate = np.zeros(undefined.shape)
        return RankingReport(
            measures=resolved.names,
            qid=self.queries.qid.copy(),
            expected=filled.expected,
            best=filled.best,
            worst=filled.worst,
            std=filled.std,
            chance=labels.chance,
            ideal=labels.ideal,
            sampling_error=sampling_error,
            std_is_estimate=std_is_estimate > 0,
            undefined=undefined,
            bounds=resolved.bounds,
            query_weight=None if self.weight is None else self.weight.copy(),
            segment=None if segment is None else segment.copy(),
            options=dict(resolved.options),
        )

    def of_queries(self, chosen: IntArray) -> Prepared:
        """Some of the queries, their rows one query after another.

        The rows of this ranking must stand query by query.
        """
        return Prepared(
            self.labels[self.queries.rows(chosen)],
            self.queries.some(chosen),
            None if self.weight is None else self.weight[chosen],
            keep=self._keep,
        )

    def forget(self) -> None:
        """Let go of the blocks, and of what they remember of measures."""
        self._blocks.clear()


def prepare(
    resolved: _resolved.ResolvedMeasures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: Any = None,
    query_weight: ArrayLike | None = None,
    *,
    mask: ArrayLike | None = None,
    names: ColumnNames = NAMES,
    allow_zero: bool = False,
    keep: bool = False,
) -> tuple[Prepared, Array]:
    """Check labels, scores and weights, and gather them by query.

    Labels and scores are columns of documents, or matrices with a query in each row
    and without ids. Cells that `mask` leaves out, or that are missing in both
    matrices, are padding.
    """
    checks.check_same_order(
        {
            names.label: y_true,
            names.score: y_score,
            names.qid: qid,
            "query_weight": query_weight,
        }
    )
    prepared = prepare_labels(
        y_true, qid, query_weight, mask=mask, scores={names.score: y_score},
        names=names, unjudged=resolved.unjudged, allow_zero=allow_zero, keep=keep,
    )  # fmt: skip
    return prepared, prepared.scores(y_score, names.score)


def prepare_labels(
    y_true: ArrayLike,
    qid: Any = None,
    query_weight: ArrayLike | None = None,
    *,
    mask: ArrayLike | None = None,
    scores: Mapping[str, Any] | None = None,
    names: ColumnNames = NAMES,
    unjudged: str = "raise",
    allow_zero: bool = False,
    keep: bool = False,
) -> Prepared:
    """Labels, ids and weights; scores say no more than where matrices are padded."""
    y_true = exact_numbers.as_array(y_true, names.label)
    given = {names.label: y_true, **(scores or {})}
    lists = _lists.Lists.of(given, qid, mask, qid_name=names.qid, full=scores is None)
    place = messages.in_row
    if lists is not None:
        y_true, place = lists.documents(y_true, names.label), lists.place
    labels = checks.check_labels(
        y_true,
        name=names.label,
        unjudged=unjudged,
        place=place,
        padded=lists is not None,
    )
    if lists is None:
        queries = weighted = checks.check_qid(qid, n_rows=len(labels), name=names.qid)
    else:
        queries, weighted = lists.queries, lists.rows
    weight = checks.check_query_weight(
        query_weight, weighted, allow_zero=allow_zero, name=names.weight
    )
    return Prepared(labels, queries, weight, lists=lists, keep=keep)


def check_averaging(
    resolved: _resolved.ResolvedMeasures, ties: str, average: str | None
) -> None:
    """Check how to treat ties, and that the measures have such an average."""
    checks.check_choice(ties, "ties", TIES)
    checks.check_choice(average, "average", AVERAGES)
    for measure in resolved.measures:
        if average == "micro" and not measure.is_ratio:
            known = _measure.names_where(lambda cls: cls.is_ratio)
            raise ValueError(
                "average='micro' requires measures that are ratios of counts "
                f"({known}), got {measure}"
            )


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Checked rows of whole queries, as they were given or put in order.

    Attributes
    ----------
    X : matrix of any kind
    labels : ndarray of shape (n_rows,), float64
    queries : Queries
        Of the rows as they stand in X and labels.
    weight : ndarray of shape (n_queries,) or None
    """

    X: Any
    labels: FloatArray
    queries: checks.Queries
    weight: FloatArray | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        qid: Any,
        query_weight: ArrayLike | None = None,
        *,
        unjudged: str = "raise",
        prefix: str = "",
        label: str = "y",
        weight: str = "query_weight",
        allow_zero: bool = False,
        given: Any = None,
    ) -> QueryRows:
        """Check data; messages begin with `prefix`, and name `label` and `weight`.

        `given` is the data frame of which X was made, if it was.
        """
        checks.check_same_order(
            {
                f"{prefix}X": X if given is None else given,
                f"{prefix}{label}": y,
                f"{prefix}qid": qid,
                weight: query_weight,
            }
        )
        labels = checks.check_labels(y, unjudged=unjudged, name=f"{prefix}{label}")
        checks.check_length(labels, feature_matrix.count_rows(X), f"{prefix}{label}")
        queries = checks.check_qid(qid, n_rows=len(labels), name=f"{prefix}qid")
        weights = checks.check_query_weight(
            query_weight, queries, allow_zero=allow_zero, name=weight
        )
        return cls(X, labels, queries, weights)

    def sorted(self, queries: checks.Queries) -> QueryRows:
        """The rows query by query, as `Queries.by_id` or `by_content` have put them."""
        weight = None if self.weight is None else self.weight[self.queries.sorted()]
        X = feature_matrix.take_rows(self.X, queries.order)
        labels = queries.arrange(self.labels)
        return QueryRows(X, labels, replace(queries, order=None), weight)

    def of_queries(self, chosen: IntArray) -> QueryRows:
        """Some of the queries, where rows stand query by query."""
        rows, queries = self.queries.rows(chosen), self.queries.some(chosen)
        weight = None if self.weight is None else self.weight[chosen]
        X = feature_matrix.take_rows(self.X, rows)
        return QueryRows(X, self.labels[rows], queries, weight)

    def prepared(self, *, keep: bool = True) -> Prepared:
        """The labels, ready for scores of these rows."""
        return Prepared(self.labels, self.queries, self.weight, keep=keep)
