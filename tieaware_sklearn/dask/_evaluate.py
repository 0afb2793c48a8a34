"""Evaluation of rankings on the workers of a Dask cluster that store the rows."""

from __future__ import annotations

from collections.abc import Iterable
from operator import add
from typing import Any

from .._engine import checks, hashing, seen_queries
from ..evaluation import RankingReport, _prepared, _report, _resolved
from ..measures import Measure, _parse
from . import _partitions


def evaluate(
    df: Any,
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
    shuffle: bool = True,
) -> RankingReport:
    """Compute the exact scores of a ranking on a cluster.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
        Data with one row per document, in any order.
    score : str
        Column that contains scores.
    label, qid : str, default="label", "qid"
        Columns that contain labels and query ids.
    measures : str, Measure or list of them, default=("ndcg@10", "ap", "rr")
        Measures, as in `tieaware_sklearn.evaluate`.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries where a measure is undefined, such as NDCG without a relevant
        document, as in `tieaware_sklearn.evaluate`. "skip" leaves these queries out,
        and "raise" raises an error.
    unjudged : {"raise", "nonrelevant", "drop"}, default="raise"
        Treatment of documents whose label is NaN, as in `tieaware_sklearn.evaluate`:
        raise an error, count the documents as not relevant, or leave them out.
    query_weight : str, optional
        Column that contains the weight of each document's query: >= 0 and constant
        within a query.
    segment : str, optional
        Column that contains the segment of each document's query. Segments can be of
        any hashable type, and must be constant within a query.
    convention : str, optional
        Tool whose definitions to use, as in `tieaware_sklearn.evaluate`.
    shuffle : bool, default=True
        Whether to bring the rows of every query together first. Set ``shuffle=False``
        if each partition already contains whole queries. In this case, only results
        leave a worker, and an error is raised if a query is in several partitions.

    Returns
    -------
    RankingReport
        The report that `tieaware_sklearn.evaluate` returns, with queries in ascending
        order of their ids. The report does not depend on the partitions.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.evaluate`. Also if `df` is not a Dask data frame, if
        `df` or a partition lacks a column, if a column of a partition contains text
        although the meta of `df` declares numbers (or numbers although the meta
        declares text), or if a query is in several partitions and `shuffle` is False.

        Errors in partitions contain a note that names the partition. Other errors from
        Dask are raised unchanged.

    See Also
    --------
    tieaware_sklearn.evaluate : Evaluates rankings in memory.

    Notes
    -----
    Each worker sends the values of its queries, which take about 200 bytes per query
    with three measures. The calling process builds the report.

    One task compares digests of the query ids, which take 8 bytes per query, so no
    query is counted twice. With ``shuffle=True``, and within a partition, repeated rows
    count as separate documents. The probability that two of n ids have the same digest
    is about n² / 2⁶⁵ (3% for a billion ids). If two ids have the same digest, an error
    that names both ids is raised.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> print(evaluate(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                measures=["P@2", "rr"]))
    measure    mean   worst    best  tie_std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000            [-, -]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    names = _partitions.Names(label, qid, query_weight)
    # The names of absent columns do not occur in messages.
    weight_name = query_weight or "query_weight"
    column_names = _prepared.ColumnNames(label, qid, weight_name, str(segment))

    def report(frame: Any) -> tuple[Any, hashing.Digests]:
        y_score = frame[score]
        # `get` returns None if no column is named.
        segments = frame.get(segment)
        prepared = _prepared.prepare(
            frame[label],
            frame[qid],
            frame.get(query_weight),
            scores={score: y_score},
            segment=segments,
            names=column_names,
            unjudged=resolved.unjudged,
            # A partition may contain only weights of 0.
            allow_zero=True,
            single_documents="accept",
        )
        scores = prepared.scores(y_score, score)
        result = prepared.report(resolved, scores)
        digests = seen_queries.id_digests(result.qid, qid)
        return [(result, len(frame))], digests

    columns = [score]
    # The column of segments may also be the column of query ids or of weights.
    if segment is not None and segment not in (qid, query_weight):
        columns.append(segment)
    rows = _partitions.gathered(df, names, shuffle, columns)
    parts, _ = _partitions.merged(rows, report, add, qid, shuffle)
    reports, sizes = zip(*parts, strict=True)
    merged = _report.concatenate(reports)
    checks.check_not_row_ids(sum(sizes), merged.qid, qid)
    names.check_weight(merged.query_weight)
    queries = checks.check_qid(merged.qid, n_rows=len(merged.qid))
    return merged._select(queries.sorted())
