"""Rankings that come in batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._engine import checks
from ..io import _arrow, _frames
from ..measures import Measure, _parse
from . import _prepared, _report, _resolved
from ._report import RankingReport


def evaluate_batches(
    batches: Iterable[Any],
    *,
    score: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: str | None = None,
    segment: str | None = None,
    convention: str | None = None,
    batch_rows: int | None = None,
    n_jobs: int | None = None,
) -> RankingReport:
    """Evaluate a ranking that comes in batches of whole queries.

    Parameters
    ----------
    batches : iterable of data frames, Arrow tables or Arrow record batches
        Data frames of pandas, polars or another library that narwhals supports, or
        Arrow tables or record batches. All batches must be of one kind, with a row for
        each document. Rows may be in any order, but all rows of a query must be in one
        batch. `tieaware_sklearn.datasets.whole_queries` makes batches of whole queries.
        Batches from `tieaware_sklearn.datasets.iter_batches` are also accepted. The
        features of these batches can be used as scores, weights and segments. Batches
        are read one after another.
    score, label, qid : str, default label="label", qid="qid"
        Columns that contain scores, labels and query ids. For batches from
        `iter_batches`, `score` is the name of a feature. The columns of labels and
        query ids are then chosen in the call of `iter_batches`.
    measures, zero_relevance, unjudged, convention, n_jobs
        As in `evaluate`.
    query_weight, segment : str, optional
        Columns that contain the weight and the segment of each document's query. Both
        must be constant within a query.
    batch_rows : int, optional
        Smallest number of rows that are gathered before they are evaluated together, by
        default 65,536. No result depends on this number.

    Returns
    -------
    RankingReport
        The report that `evaluate` returns for all rows. No bit of the values, averages
        or intervals depends on the order of rows or on the division of rows into
        batches.

    Raises
    ------
    ValueError
        As in `evaluate`. Also if two of the arguments name the same column, if a query
        is in two batches, if query ids differ in kind from the ids of the first batch
        (such as strings and integers), if a batch lacks a column, if a batch is not a
        table, if batches are of different kinds, if there is no row, or if `batch_rows`
        is not an integer >= 1. If a single batch causes the error, the message states
        the index of the batch, counted from 0. If a query is in two batches, the
        message also names the query.
    ImportError
        If pyarrow is not installed.

    Warns
    -----
    UndefinedMetricWarning, UserWarning
        As in `evaluate`. Two warnings are issued only after all batches have been read:
        that all labels are below the `rel` of a measure, and that each query has a
        single document.

    See Also
    --------
    evaluate : Returns the same report for rows that fit in memory.
    tieaware_sklearn.datasets.whole_queries : Makes batches of whole queries.
    tieaware_sklearn.dask.evaluate : Computes the same report on a cluster.

    Notes
    -----
    Memory is needed for the rows that are gathered, and for the values of queries: with
    three measures, about 200 bytes per query.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tieaware_sklearn import evaluate_batches
    >>> from tieaware_sklearn.datasets import whole_queries
    >>> table = pa.table({"qid": [1, 1, 1, 2, 2, 2], "label": [1, 0, 0, 1, 0, 0],
    ...                   "clicks": [2, 1, 1, 1, 1, 0]})
    >>> batches = whole_queries(table.to_batches(max_chunksize=2))
    >>> print(evaluate_batches(batches, score="clicks", measures=["P@2", "rr"]))
    measure    mean   worst    best  tie_std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000            [-, -]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    if batch_rows is None:
        batch_rows = _frames.GATHERED_ROWS
    checks.check_count(batch_rows, "batch_rows")
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    features = [name for name in (score, query_weight, segment) if name is not None]
    columns = [label, qid, *features]
    _arrow.check_different(columns, "score, label, qid, query_weight and segment")
    # The names of absent columns do not occur in messages.
    weight_name = query_weight or "query_weight"
    names = _prepared.ColumnNames(label, qid, weight_name, str(segment))
    largest_labels = []
    n_rows = []

    def evaluate_rows(rows: Any) -> RankingReport:
        y_score = rows.column(score)
        weight = None if query_weight is None else rows.column(query_weight)
        segments = None if segment is None else rows.column(segment)
        # Warnings about single documents wait until all batches have been read.
        prepared = _prepared.prepare(
            rows.column(label),
            rows.column(qid),
            weight,
            scores={score: y_score},
            segment=segments,
            names=names,
            unjudged=resolved.unjudged,
            # A batch may contain only weights of 0.
            allow_zero=True,
            single_documents="accept",
        )
        scores = prepared.scores(y_score, score)
        largest_labels.append(prepared.labels.max())
        n_rows.append(len(prepared.labels))
        return prepared.report(resolved, scores, n_jobs=n_jobs)

    tables = _frames.as_tables(batches, label=label, qid=qid, features=features)
    reports = []
    for rows in _frames.gathered(tables, columns, qid, batch_rows):
        # `of_all` adds the index of the batch to errors.
        reports.append(_frames.of_all(rows, evaluate_rows))
    if not reports:
        raise ValueError("batches must contain at least one row, got none")
    # The following warnings are about all batches together.
    resolved.warn_below_rel(np.array(largest_labels))
    merged = _report.concatenate(reports)
    checks.check_not_row_ids(sum(n_rows), merged.qid, qid)
    return merged
