"""Checked labels, scores and rows of queries, prepared for any measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
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
    qid: str = "qid"
    weight: str = "query_weight"
    segment: str = "segment"
    X: str = "X"


NAMES = ColumnNames()
#: names of what estimators are given
ROW_NAMES = ColumnNames("y")


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
    segment : ndarray of shape (n_queries,), optional
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
        segment: Array | None = None,
        lists: _lists.Lists | None = None,
        keep: bool = False,
        block_rows: int | None = None,
    ) -> None:
        self.labels = labels
        self.queries = queries
        self.weight = weight
        self.segment = segment
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
            "segment": self.segment,
            "lists": self.lists,
            "keep": self._keep,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Prepared.__init__(self, **state)

    def scores(self, y_score: ArrayLike, name: str = "y_score") -> Array:
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
        *,
        ties: str = "expected",
        **options: Any,
    ) -> QueryValues:
        """Values over the orders that `ties` leaves open, undefined ones replaced.

        "best", "worst" and "input" leave one order, so that all of `expected`, `best`
        and `worst` are its values, and `std` is 0.
        """
        if ties == "input":
            options["order"] = Order.INPUT
        elif ties != "expected":
            detail = max(detail, Detail.RANGE)
        values = self.raw_values(resolved.measures, scores, detail, **options)
        values = resolved.fill(values, self.queries, self.weight)
        if ties == "expected":
            return values
        only = values.expected
        if ties == "best":
            only = values.best
        elif ties == "worst":
            only = values.worst
        std = np.where(np.isnan(only), np.nan, 0.0)
        return QueryValues(only, only, only, std, normaliser=values.normaliser)

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
        # the range comes with the denominators
        detail = Detail.RANGE if average == "micro" else Detail.EXPECTED
        columns = scores if scores.ndim == 2 else scores[None]
        filled = self.values(resolved, columns, detail, ties=ties)
        values = _rows(filled.expected)
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
            segment=None if self.segment is None else self.segment.copy(),
            options=dict(resolved.options),
        )

    def sorted(self, queries: checks.Queries) -> Prepared:
        """The rows query by query, as `Queries.by_id` or `by_content` have put them."""
        return Prepared(
            queries.arrange(self.labels),
            replace(queries, order=None),
            None if self.weight is None else self.weight[self.queries.sorted()],
            keep=self._keep,
        )

    def of_queries(self, chosen: IntArray) -> Prepared:
        """Some of the queries, their rows one query after another."""
        rows = self.queries.given(self.queries.rows(chosen))
        return Prepared(
            self.labels[rows],
            self.queries.some(chosen),
            None if self.weight is None else self.weight[chosen],
            keep=self._keep,
        )

    def forget(self) -> None:
        """Let go of the blocks, and of what they remember of measures."""
        self._blocks.clear()


def prepare(
    y_true: ArrayLike,
    qid: Any = None,
    query_weight: ArrayLike | None = None,
    *,
    scores: Mapping[str, Any] | None = None,
    X: Any = None,
    segment: Any = None,
    mask: ArrayLike | None = None,
    names: ColumnNames = NAMES,
    unjudged: str = "raise",
    allow_zero: bool = False,
    keep: bool = False,
) -> Prepared:
    """Check labels, ids, weights and segments, and gather them by query.

    They are of the rows of X, or of the documents of scores, by their names. Labels and
    scores are columns of documents, or matrices with a query in each row and without
    ids. Cells that `mask` leaves out, or that are missing in all matrices, are padding.
    """
    matrices = {names.label: y_true, **(scores or {})}
    checks.check_same_order(
        {
            names.X: X,
            **matrices,
            names.qid: qid,
            names.weight: query_weight,
            names.segment: segment,
        }
    )
    lists, place = None, messages.in_row
    if X is None:
        y_true = matrices[names.label] = exact_numbers.as_array(y_true, names.label)
        lists = _lists.Lists.of(
            matrices, qid, mask, qid_name=names.qid, full=scores is None
        )
    if lists is not None:
        y_true, place = lists.documents(y_true, names.label), lists.place
    labels = checks.check_labels(
        y_true,
        name=names.label,
        unjudged=unjudged,
        place=place,
        padded=lists is not None,
    )
    if X is not None:
        checks.check_length(labels, feature_matrix.count_rows(X), names.label)
    if lists is None:
        queries = weighted = checks.check_qid(qid, n_rows=len(labels), name=names.qid)
    else:
        queries, weighted = lists.queries, lists.rows
    weight = checks.check_query_weight(
        query_weight, weighted, allow_zero=allow_zero, name=names.weight
    )
    if segment is not None:
        segment = checks.check_segment(segment, weighted, name=names.segment)
    return Prepared(labels, queries, weight, segment=segment, lists=lists, keep=keep)


def prepare_ranking(
    resolved: _resolved.ResolvedMeasures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    **options: Any,
) -> tuple[Prepared, Array]:
    """Prepare documents with one score each, and check the scores.

    `options` are those of `prepare`.
    """
    options |= {"scores": {"y_score": y_score}, "unjudged": resolved.unjudged}
    prepared = prepare(y_true, **options)
    return prepared, prepared.scores(y_score)


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
