"""Checked labels, scores and rows of queries, prepared for any measures."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from itertools import cycle
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

TIES = ("expected", "best", "worst", "input")
AVERAGES = ("macro", "geometric", "median", "micro", None)
DEFAULT_MEASURE = "ndcg@10"
DEFAULT_MEASURES = (DEFAULT_MEASURE, "ap", "rr")
#: scores ranked in one call; more no longer pay
_CELLS = 1 << 15
#: With fewer clusters, the spread of their means is hardly known.
_FEW_CLUSTERS = 10
#: Labels with more distinct fractions look like scores, and scores with no more
#: distinct whole numbers look like labels.
_FRACTIONS, _GRADES = 50, 10


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


def _rows(array: FloatArray) -> FloatArray:
    """A row of queries for each column of scores and each measure."""
    return array.swapaxes(-2, -1).reshape(-1, array.shape[-2])


class Prepared(QueryBlocks):
    """Checked labels of queries, with weights and segments, for any scores.

    Parameters
    ----------
    labels, queries, keep, block_rows
        As in `QueryBlocks`.
    weight : ndarray of shape (n_queries,), optional
    segment, cluster : ndarray of shape (n_queries,), optional
    lists : Lists, optional
        The cells that the rows come from, where queries were rows of a matrix.

    Attributes
    ----------
    place : callable
        Returns where a document stands in what was given, for a message.
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
        # blocks are made faster than they travel, and may arrive without a kernel
        return {
            "labels": self.labels,
            "queries": self.queries,
            "weight": self.weight,
            "segment": self.segment,
            "cluster": self.cluster,
            "lists": self.lists,
            "keep": self._keep,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Prepared.__init__(self, **state)

    def scores(self, y_score: ArrayLike, name: str = "y_score") -> Array:
        """Scores of the documents, in the dtype they came in, checked.

        Warns if the labels look like scores, and the scores like labels.
        """
        if self.lists is not None:
            y_score = self.lists.documents(y_score, name)
        scores = checks.check_scores(
            y_score, n_rows=len(self.labels), name=name, place=self.place
        )
        levels, n_fractions = self._coded.levels, 0
        # scores are checked at each call, and labels are mostly few grades
        if len(levels) > _FRACTIONS:
            n_fractions = int(np.count_nonzero(levels % 1))
        if n_fractions > _FRACTIONS:
            distinct = np.unique(scores[checks.is_retrieved(scores)])
            if 1 < len(distinct) <= _GRADES and not (distinct % 1).any():
                words.warn(
                    f"the labels have {n_fractions} distinct fractions and {name} has "
                    f"{len(distinct)} distinct whole numbers: they may be swapped "
                    "(labels come first, then scores)"
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
        labels = self.raw_label_values(resolved.measures)
        return resolved.fill_labels(labels, np.isnan(labels.chance))

    def count_undefined(self, resolved: _resolved.ResolvedMeasures) -> IntArray:
        """Count the queries, of those that count, where each measure is undefined."""
        undefined = np.isnan(self.raw_label_values(resolved.measures).chance)
        if self.weight is not None:
            undefined = undefined[self.weight > 0]
        return undefined.sum(axis=0)

    def undefined_note(self, resolved: _resolved.ResolvedMeasures) -> list[str]:
        """Note how many queries have no relevant document, if there are any."""
        n_queries = self.queries.n_queries
        if self.weight is not None:
            n_queries = int((self.weight > 0).sum())
        return _text.undefined_note(
            n_queries,
            resolved.names,
            self.count_undefined(resolved),
            resolved.value,
            can_skip=not resolved.definitions,
        )

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
            query_weight=copy(self.weight),
            segment=copy(self.segment),
            cluster=copy(self.cluster),
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

    They are of the rows of X, or of the documents of scores, by their names. Labels and
    scores are columns of documents, or matrices with a query in each row and without
    ids. Cells that `mask` leaves out, or that are missing in all matrices, are padding.
    `single_documents` is what to do if every query has a single document: "warn",
    "raise" where a model is fitted to more than a few rows, or "accept" for parts of a
    data set.
    """
    matrices = {names.label: y_true, **(scores or {})}
    checks.check_same_order(
        {
            names.X: X,
            **matrices,
            names.qid: qid,
            names.weight: query_weight,
            names.segment: segment,
            "cluster": cluster,
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
        if single_documents != "accept":
            checks.check_not_row_ids(
                queries.n_rows,
                queries.qid,
                names.qid,
                fits=single_documents == "raise",
            )
    else:
        queries, weighted = lists.queries, lists.rows
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
                f"cluster has {n_clusters} distinct values: intervals and tests over "
                f"fewer than {_FEW_CLUSTERS} clusters are unreliable"
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
