"""Checked labels, scores and rows of queries, prepared for any measures."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._display import words
from .._engine import checks, exact_numbers, feature_matrix, messages
from .._engine import lists as _lists
from .._typing import Array, FloatArray, IntArray
from ..measures import _measure
from ..measures._values import Detail, LabelValues, QueryValues
from ..ranking import _ranked
from ..ranking._blocks import QueryBlocks
from ..ranking._ranked import Order
from ..statistics.averages import AVERAGE_FUNCTIONS, column_means, weighted_mean
from . import _resolved, _text
from ._report import RankingReport

#: Valid values of the argument `ties`.
TIES = ("expected", "best", "worst", "input")
#: Valid values of the argument `average`.
AVERAGES = ("macro", "geometric", "median", "micro", None)
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_MEASURES = (DEFAULT_MEASURE, "ap", "rr")
#: Maximum number of scores ranked in one call. Larger calls are not faster.
_CELLS = 1 << 15
#: Minimum number of clusters without a warning. With fewer clusters, the spread of
#: their means cannot be estimated well.
_FEW_CLUSTERS = 10
#: Limits of the check for swapped labels and scores. Labels with more than `_FRACTIONS`
#: distinct fractions look like scores. Scores with at most `_GRADES` distinct values,
#: all whole numbers, look like labels.
_FRACTIONS, _GRADES = 50, 10


def columns_at_once(n_rows: int, n_columns: int, n_tasks: int) -> int:
    """Return how many score columns to rank in one call.

    A call has a fixed cost, which matters more if there are fewer rows.
    """
    most = _CELLS // n_rows
    columns_per_task = -(-n_columns // n_tasks)
    return max(min(most, columns_per_task), 1)


class ColumnNames(NamedTuple):
    """Names of the arrays in messages."""

    label: str = "y_true"
    qid: str = "qid"
    weight: str = "query_weight"
    segment: str = "segment"
    X: str = "X"


#: Names of the arguments of functions in messages.
NAMES = ColumnNames()
#: Names of the arguments of estimators in messages.
ROW_NAMES = ColumnNames("y")


def _rows(array: FloatArray) -> FloatArray:
    """Return a row of queries for each column of scores and each measure."""
    return array.swapaxes(-2, -1).reshape(-1, array.shape[-2])


class Prepared(QueryBlocks):
    """Checked labels of queries, with weights and segments, for any scores.

    Parameters
    ----------
    labels, queries, keep, block_rows
        As in `QueryBlocks`.
    weight : ndarray of shape (n_queries,), optional
        Weight of each query in averages.
    segment, cluster : ndarray of shape (n_queries,), optional
        Segment and cluster of each query.
    lists : Lists, optional
        Cells of the input that the rows come from, if the input was a matrix of
        queries.

    Attributes
    ----------
    place : callable
        Function that returns where a document is in the input, for messages.
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: checks.Queries,
        weight: FloatArray | None = None,
        *,
        segment: Array | None = None,
        cluster: Array | None = None,
        lists: _lists.Lists | None = None,
        keep: bool = False,
        block_rows: int | None = None,
    ) -> None:
        super().__init__(labels, queries, keep=keep, block_rows=block_rows)
        self.weight = weight
        self.segment = segment
        self.cluster = cluster
        self.lists = lists
        self.place = messages.in_row if lists is None else lists.place

    def __getstate__(self) -> dict[str, Any]:
        # Pickling blocks takes longer than making them, and blocks may be unpickled
        # where the compiled kernel is not installed.
        state = {"keep": self._keep}
        for name in ("labels", "queries", "weight", "segment", "cluster", "lists"):
            state[name] = getattr(self, name)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        Prepared.__init__(self, **state)

    def scores(self, y_score: ArrayLike, name: str = "y_score") -> Array:
        """Check the scores of the documents, and return them in their own dtype.

        Warns if the labels look like scores and the scores look like labels.
        """
        if self.lists is not None:
            y_score = self.lists.documents(y_score, name)
        scores = checks.check_scores(
            y_score, n_rows=len(self.labels), name=name, place=self.place
        )
        levels = self._coded.levels
        # Every call runs this check, and most labels have few distinct values, so the
        # cheapest test comes first.
        if len(levels) <= _FRACTIONS:
            return scores
        n_fractions = np.count_nonzero(levels % 1)
        if n_fractions <= _FRACTIONS:
            return scores
        distinct = np.unique(scores[checks.is_retrieved(scores)])
        if 1 < len(distinct) <= _GRADES and not (distinct % 1).any():
            words.warn(
                f"the labels have {n_fractions} distinct fractions and {name} has "
                f"{len(distinct)} distinct whole numbers. If labels and scores are "
                "swapped, pass labels first"
            )
        return scores

    def values(
        self,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        detail: Detail = Detail.EXPECTED,
        *,
        ties: str = "expected",
        **options: Any,
    ) -> QueryValues:
        """Return values over the orders that `ties` allows, and fill undefined values.

        "best", "worst" and "input" allow a single order. `expected`, `best` and `worst`
        are then all equal to the values in this order, and `std` is 0.
        """
        if ties == "input":
            options["order"] = Order.INPUT
        elif ties != "expected":
            detail = max(detail, Detail.RANGE)
        values = self.raw_values(resolved.measures, scores, detail, **options)
        values = resolved.fill(values, self.queries, self.weight)
        if ties == "expected":
            return values
        single = values.expected
        if ties == "best":
            single = values.best
        elif ties == "worst":
            single = values.worst
        std = np.where(np.isnan(single), np.nan, 0.0)
        return QueryValues(single, single, single, std, normaliser=values.normaliser)

    def label_values(self, resolved: _resolved.ResolvedMeasures) -> LabelValues:
        """Return the values of the labels alone, and fill undefined values."""
        labels = self.raw_label_values(resolved.measures)
        return resolved.fill_labels(labels, np.isnan(labels.chance))

    def count_undefined(self, resolved: _resolved.ResolvedMeasures) -> IntArray:
        """Count the queries whose labels alone leave each measure undefined.

        Queries of weight 0 are not counted, nor queries that are undefined because too
        few relevant documents are retrieved (ESL, Rank).
        """
        undefined = np.isnan(self.raw_label_values(resolved.measures).chance)
        if self.weight is not None:
            undefined = undefined[self.weight > 0]
        return undefined.sum(axis=0)

    def undefined_note(self, resolved: _resolved.ResolvedMeasures) -> list[str]:
        """Return a note on how many queries have undefined values, if any."""
        n_queries = self.queries.n_queries
        if self.weight is not None:
            n_queries = int(np.count_nonzero(self.weight))
        counts = self.count_undefined(resolved)
        can_skip = not resolved.definitions
        return _text.undefined_note(
            n_queries, resolved.names, counts, resolved.value, can_skip=can_skip
        )

    def means(
        self, resolved: _resolved.ResolvedMeasures, values: FloatArray
    ) -> list[float]:
        """Return the mean of each measure, and warn if a mean is NaN."""
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
        """Return the average of each measure, or, for ``None``, the values per query.

        For scores of shape (n_columns, n_rows), the averages of the first column come
        first, then the averages of the next column. Set ``warns=False`` for several
        columns, because warnings assume a single average of each measure, and in
        threads, which must not warn.
        """
        # Denominators are computed together with the range.
        detail = Detail.RANGE if average == "micro" else Detail.EXPECTED
        if scores.ndim == 1:
            scores = scores[None]
        filled = self.values(resolved, scores, detail, ties=ties)
        values = _rows(filled.expected)
        if average is None:
            return values
        averages = []
        # Rows alternate between the measures.
        if average == "micro":
            denominators = _rows(filled.normaliser)
            if self.weight is not None:
                denominators = denominators * self.weight
            n_measures = len(resolved.measures)
            for i, weights in enumerate(denominators):
                # Values that replace undefined ones do not count.
                row = np.where(weights > 0, values[i], np.nan)
                # The ratio of sums is the mean of values weighted by denominators.
                ratio = weighted_mean(row, weights)
                if np.isnan(ratio):
                    # The sum of the denominators is 0.
                    ratio = float(resolved.value[i % n_measures])
                averages.append(ratio)
        else:
            for row in values:
                averages.append(AVERAGE_FUNCTIONS[average](row, self.weight))
        if warns:
            resolved.warn_below_rel(self.labels)
            _resolved.warn_of_nan(resolved.measures, averages)
        return averages

    def report(
        self,
        resolved: _resolved.ResolvedMeasures,
        scores: Array,
        *,
        n_jobs: int | None = None,
    ) -> RankingReport:
        """Return the values of each query and measure, with their range under ties."""
        measures = resolved.measures

        def compute(ranked: _ranked.Ranked) -> tuple[QueryValues, LabelValues]:
            values = ranked.values(measures, Detail.DEVIATION)
            return values, ranked.block.label_values(measures)

        depth = _ranked.deepest(measures)
        parts = self.each_block(compute, scores, n_jobs=n_jobs, depth=depth)
        values, label_values = zip(*parts, strict=True)
        # The first axis of the values indexes columns of scores. There is one column.
        raw = self.joined(values).apply(itemgetter(0))
        undefined = np.isnan(raw.expected)
        filled = resolved.fill(raw, self.queries, self.weight)
        labels = resolved.fill_labels(self.joined(label_values), undefined)
        sampling_error = raw.sampling_error
        is_estimate = np.zeros(undefined.shape, dtype=bool)
        if sampling_error is None:
            sampling_error = np.zeros(undefined.shape)
        else:
            is_estimate = raw.std_is_estimate > 0
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
            std_is_estimate=is_estimate,
            undefined=undefined,
            bounds=resolved.bounds,
            query_weight=copy(self.weight),
            segment=copy(self.segment),
            cluster=copy(self.cluster),
            options=dict(resolved.options),
        )

    def sorted(self, queries: checks.Queries) -> Prepared:
        """Return the rows query by query, in the order of the query ids.

        `queries` are the queries of the returned rows, in the order of their ids.
        Segments and clusters are not kept.
        """
        labels = queries.arrange(self.labels)
        weight = self.weight
        if weight is not None:
            weight = weight[self.queries.sorted()]
        arranged = replace(queries, order=None)
        return Prepared(labels, arranged, weight, keep=self._keep)

    def of_queries(self, chosen: IntArray) -> Prepared:
        """Return the chosen queries, with their rows query by query.

        Segments and clusters are not kept.
        """
        rows = self.queries.original_rows(self.queries.rows(chosen))
        queries = self.queries.subset(chosen)
        weight = self.weight
        if weight is not None:
            weight = weight[chosen]
        return Prepared(self.labels[rows], queries, weight, keep=self._keep)


def prepare(
    y_true: ArrayLike,
    qid: Any = None,
    query_weight: ArrayLike | None = None,
    *,
    scores: Mapping[str, Any] | None = None,
    X: Any = None,
    segment: Any = None,
    cluster: Any = None,
    mask: ArrayLike | None = None,
    names: ColumnNames = NAMES,
    unjudged: str = "raise",
    allow_zero: bool = False,
    keep: bool = False,
    single_documents: str = "warn",
) -> Prepared:
    """Check labels, ids, weights, segments and clusters, and gather them by query.

    Labels belong to the rows of X, or to documents with scores. `scores` maps names in
    messages to columns. Labels and scores are columns of documents, or matrices without
    ids in which each row is a query. Cells of matrices are padding where `mask` is
    False, or, without a mask, if they are NaN in all matrices. `single_documents`
    states what to do if each query has a single document: "warn", "raise" where a model
    is fitted to more than a few rows, or "accept" for parts of a data set.
    """
    matrices = {names.label: y_true}
    if scores is not None:
        matrices.update(scores)
    columns = {names.X: X, **matrices}
    columns[names.qid] = qid
    columns[names.weight] = query_weight
    columns[names.segment] = segment
    columns["cluster"] = cluster
    checks.check_same_order(columns)
    lists = None
    if X is None:
        # The input is converted to an array once, so that no check converts it again.
        y_true = exact_numbers.as_array(y_true, names.label)
        matrices[names.label] = y_true
        is_full = scores is None
        lists = _lists.Lists.from_matrices(
            matrices, qid, mask, qid_name=names.qid, full=is_full
        )
    if lists is None:
        labels = checks.check_labels(y_true, name=names.label, unjudged=unjudged)
        if X is not None:
            checks.check_length(labels, feature_matrix.count_rows(X), names.label)
        queries = checks.check_qid(qid, n_rows=len(labels), name=names.qid)
        # Without matrices, weights, segments and clusters contain a value for each
        # document. With matrices, they contain a value for each row.
        weighted = queries
        if single_documents != "accept":
            is_fit = single_documents == "raise"
            checks.check_not_row_ids(len(labels), queries.qid, names.qid, in_fit=is_fit)
    else:
        y_true = lists.documents(y_true, names.label)
        labels = checks.check_labels(
            y_true, name=names.label, unjudged=unjudged, place=lists.place, padded=True
        )
        queries = lists.queries
        weighted = lists.rows
    weight = checks.check_query_weight(
        query_weight, weighted, allow_zero=allow_zero, name=names.weight
    )
    if segment is not None:
        segment = checks.check_segment(segment, weighted, name=names.segment)
    if cluster is not None:
        cluster = checks.check_segment(cluster, weighted, name="cluster")
        n_clusters = len(set(cluster.tolist()))
        if n_clusters < _FEW_CLUSTERS:
            words.warn(
                f"the number of clusters is {n_clusters}, but intervals and tests "
                f"over fewer than {_FEW_CLUSTERS} clusters are unreliable"
            )
    return Prepared(
        labels,
        queries,
        weight,
        segment=segment,
        cluster=cluster,
        lists=lists,
        keep=keep,
    )


def prepare_ranking(
    resolved: _resolved.ResolvedMeasures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: Any = None,
    mask: ArrayLike | None = None,
    query_weight: ArrayLike | None = None,
    **options: Any,
) -> tuple[Prepared, Array]:
    """Prepare documents with one score each, and check the scores.

    `options` are other arguments of `prepare`.
    """
    prepared = prepare(
        y_true,
        qid,
        query_weight,
        scores={"y_score": y_score},
        mask=mask,
        unjudged=resolved.unjudged,
        **options,
    )
    return prepared, prepared.scores(y_score)


def check_averaging(
    resolved: _resolved.ResolvedMeasures, ties: str, average: str | None
) -> None:
    """Check `ties` and `average`, and that the measures support the average."""
    checks.check_choice(ties, "ties", TIES)
    checks.check_choice(average, "average", AVERAGES)
    for measure in resolved.measures:
        if average == "micro" and not measure.is_ratio:
            known = _measure.names_where(lambda cls: cls.is_ratio)
            raise ValueError(
                "average='micro' requires measures that are ratios of counts, which "
                f"are {known}, got {measure}"
            )
