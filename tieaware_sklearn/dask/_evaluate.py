"""Evaluate rankings on the workers of a Dask cluster, where their rows are."""

from __future__ import annotations

from collections.abc import Iterable
from operator import add
from typing import Any

import numpy as np

from .._engine import hashing, messages, seen_queries
from ..evaluation import RankingReport, _prepared, _report, _resolved
from ..evaluation import evaluate as evaluate_in_memory
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
    score, label, qid : str, default label="label", qid="qid"
        Columns with scores, labels and query ids.
    measures, zero_relevance, unjudged, convention
        As in `tieaware_sklearn.evaluate`.
    query_weight, segment : str, optional
        Columns with the weight and the segment of each document's query. Segments are
        of any hashable type and constant within a query.
    shuffle : bool, default=True
        Whether to bring the rows of every query together first. Use False if each
        partition already holds whole queries: then only results leave a worker. A query
        in several partitions is then an error.

    Returns
    -------
    RankingReport
        The same as `tieaware_sklearn.evaluate`, with queries in ascending order of
        their ids. No bit depends on the partitions.

    Raises
    ------
    ValueError
        As in `tieaware_sklearn.evaluate`; if `df` or a partition lacks a column; if a
        partition has text where the meta of `df` has numbers, or the reverse; and if a
        query is in several partitions without `shuffle`, or has rows in several
        segments.

        Errors in partitions, also from Dask and its readers, have a note with the
        partition and, if known, the Parquet file. Other errors are as Dask raises them.

    See Also
    --------
    evaluate_queries : The values of every query, left on the cluster.
    tieaware_sklearn.evaluate : The same in memory.

    Notes
    -----
    Each worker sends the values of its queries: about 200 bytes for each query with
    three measures. The calling process makes the report. For more queries than fit
    there, `evaluate_queries` leaves the values on the cluster. They can then be written
    to Parquet and averaged by SQL.

    One task compares digests of the query ids, 8 bytes for each query, so that no query
    is counted twice. Repeated rows within a partition, or with `shuffle`, count as
    separate documents. Two of n ids have the same digest with probability n² / 2⁶⁵ (3%
    for a billion). This is an error that names both.

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

    def report(frame: Any) -> tuple[list[RankingReport], hashing.Digests]:
        result = report_of(frame, names, score, resolved, segment)
        return [result], seen_queries.id_digests(result.qid, qid)

    # the segment may be the query id or the weight
    others = [] if segment in (None, qid, query_weight) else [segment]
    rows = _partitions.gathered(df, names, shuffle, [score, *others])
    parts, _ = _partitions.merged(rows, report, add, qid, keep=False)
    merged = _report.concatenate(parts)
    names.check_weight(merged.query_weight)
    return merged._by_id()


def evaluate_queries(
    df: Any,
    *,
    score: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = _prepared.DEFAULT_MEASURES,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
    shuffle: bool = True,
) -> Any:
    """Compute the exact scores of each query, and leave them on the cluster.

    Parameters
    ----------
    df, score, label, qid, measures, zero_relevance, unjudged, convention, shuffle
        As in `evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        Lazy frame with one row per query and measure, queries in any order. It has the
        columns of ``tieaware_sklearn.evaluate(...).to_pandas()``, with ids in the
        column that `qid` names.

    Raises
    ------
    ValueError
        As in `evaluate`. Errors in the data are raised when the frame is computed. A
        query in several partitions is an error when one of them is computed. Dask
        raises its own errors for reading and for the cluster.

    See Also
    --------
    evaluate : Averages over queries.
    tieaware_sklearn.evaluate : The same in memory.

    Notes
    -----
    No partition of the result is complete before one task has compared the queries of
    all partitions, by 8 bytes for each query.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import evaluate_queries
    >>> rows = pd.DataFrame({"label": [1, 0, 0, 1, 0, 0], "clicks": [2, 1, 1, 1, 1, 0],
    ...                      "qid": [1, 2, 1, 2, 1, 2]})
    >>> values = evaluate_queries(dd.from_pandas(rows, npartitions=2), score="clicks",
    ...                           measures="rr")
    >>> values.compute().set_index("qid")["expected"].sort_index().to_dict()
    {1: 1.0, 2: 0.75}
    """
    parsed = _parse.parse_measures(measures)
    resolved = _resolved.resolve(parsed, zero_relevance, unjudged, convention)
    any_report = evaluate_in_memory([1], [1], measures="rr").to_pandas()[:0]
    rule = "qid must not have the name of a column of the result"
    advice = "rename the column of df"
    free = qid == "qid" or qid not in any_report.columns
    messages.require(free, f"{rule}, got {qid!r}: {advice}")
    names = _partitions.Names(label, qid, None)
    df = _partitions.gathered(df, names, shuffle, [score]).df
    n_partitions = df.npartitions

    meta = any_report.assign(qid=df._meta[qid].iloc[:0]).rename(columns={"qid": qid})

    def of_partition(frame: Any, partition_info: Any = None) -> Any:
        if not len(frame):
            return meta
        ids = frame[qid]
        with _partitions.noted(partition_info, n_partitions, ids, shuffled=shuffle):
            table = report_of(frame, names, score, resolved).to_pandas()
            # ids keep the dtype of df, such as categories
            table["qid"] = ids.drop_duplicates().repeat(len(resolved.measures)).array
            return table.rename(columns={"qid": qid})

    tables = df.map_partitions(of_partition, meta=meta, clear_divisions=True)

    def digests_of(frame: Any) -> Any:
        ids = _partitions.ids_of(frame, qid)
        return _cell(seen_queries.id_digests(ids, qid).tobytes())

    def compare(cells: Any) -> Any:
        # one row for each partition, in their order
        parts = [np.frombuffer(cell, dtype=np.uint64) for cell in cells["cell"]]
        return _cell((seen_queries.repeated(parts), len(parts)))

    def checked(frame: Any, cells: Any) -> Any:
        several, n_partitions = cells["cell"].iloc[0]
        for again in several:
            for query in _partitions.with_digest(frame, qid, again.digest):
                name = _partitions.spell(query)
                what = _partitions.in_several(again, name, n_partitions, qid, shuffle)
                raise ValueError(what)
        return frame

    digests = tables.map_partitions(digests_of, meta=_cell(b"")[:0])
    compared = digests.repartition(npartitions=1).map_partitions(
        compare, meta=_cell(())[:0]
    )
    # no delayed tables: Dask of 2025 would compute all of them for each
    return tables.map_partitions(checked, compared, meta=meta, align_dataframes=False)


def report_of(
    frame: Any,
    names: _partitions.Names,
    score: str,
    resolved: _resolved.ResolvedMeasures,
    segment: str | None = None,
) -> RankingReport:
    """Evaluate the rows of one partition."""
    label, qid, weight = names
    prepared, scores = _prepared.prepare(
        resolved, frame[label], frame[score], frame[qid],
        frame.get(weight), allow_zero=True,
        names=_prepared.ColumnNames(label, score, qid, weight or "query_weight"),
    )  # fmt: skip
    segments = prepared.segments(frame.get(segment), str(segment))
    return prepared.report(resolved, scores, segment=segments)


def _cell(value: Any) -> Any:
    """Wrap an object in a data frame of one cell."""
    cell = np.empty(1, dtype=object)
    cell[0] = value
    return _partitions.pandas.DataFrame({"cell": cell})
