"""Rankings that come in batches, and parts of them that merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np

from .._engine.added_up import gather
from .._engine.known_queries import id_digests
from .._engine.validation import check_choice, check_count
from ..io._saved_file import Kept
from ..io._table_pieces import (
    GATHERED_ROWS,
    Piece,
    as_tables,
    check_different,
    gathered,
    of_all,
)
from ..measures import Measure
from ..measures._parse import parse_measures
from ._exact_sums import ReportSums
from ._prepared_ranking import DEFAULT_MEASURES, ColumnNames, prepare
from ._summary import RankingSummary, figures_of
from ._summary_parts import Options, SummaryParts, kept_parts, parts_of
from ._undefined import ask


@dataclass(frozen=True, eq=False, repr=False)
class MergeableSummary(RankingSummary):
    """A `RankingSummary` that can be merged with one of other queries.

    It holds what it is made of: sums, and 8 bytes for each query, by which a query that
    is in two parts is found. It has all attributes and methods of `RankingSummary`.
    After `save` and `load`, or `to_bytes` and `from_bytes`, it merges as before.

    See Also
    --------
    evaluate_batches : The function that returns this summary.

    Examples
    --------
    >>> import pandas as pd
    >>> from tieaware_sklearn import evaluate_batches
    >>> rows = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 0, 1, 0],
    ...                      "clicks": [2, 1, 3, 3]})
    >>> one, two = (evaluate_batches([rows[rows.qid == qid]], score="clicks",
    ...                              measures="rr") for qid in (1, 2))
    >>> one.mean, two.mean, one.merge(two).mean
    (array([1.]), array([0.75]), array([0.875]))
    """

    _kind: ClassVar[str] = "MergeableSummary"

    _parts: SummaryParts

    def _kept(self) -> Kept:
        return super()._kept().with_part("parts", kept_parts(self._parts))

    @classmethod
    def _of_kept(cls, kept: Kept) -> Self:
        figures = figures_of(kept)
        return cls(**figures, _parts=parts_of(kept.part("parts"), figures))

    @classmethod
    def _of(cls, parts: SummaryParts) -> Self:
        return cls(**vars(parts.sums.moments().summary()), _parts=parts)

    def merge(self, other: MergeableSummary) -> Self:
        """Merge with the summary of other queries.

        Parameters
        ----------
        other : MergeableSummary
            A summary of other queries, with the same measures and options, of columns
            of the same names. Only that of query ids may have another name: queries
            are told apart by their ids.

        Returns
        -------
        MergeableSummary
            The summary of the queries of both, the same to the last bit in whatever
            order parts are merged.

        Raises
        ------
        ValueError
            If the measures, options or names of columns differ (the first difference
            is named), or if the two summaries have a query in common, which is named
            by its digest: ids are not kept.
        """
        if not isinstance(other, MergeableSummary):
            raise ValueError(
                f"other must be a MergeableSummary, got {type(other).__name__}"
            )
        return self._of(self._parts.merge(other._parts))


def evaluate_batches(
    batches: Iterable[Any],
    *,
    score: str,
    label: str = "label",
    qid: str = "qid",
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    average: str = "macro",
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: str | None = None,
    convention: str | None = None,
    batch_rows: int | None = None,
    n_jobs: int | None = None,
) -> MergeableSummary:
    """Compute the exact scores of a ranking that comes in batches of whole queries.

    Parameters
    ----------
    batches : iterable of data frames, Arrow tables or Arrow record batches
        pandas DataFrames, polars DataFrames, or Arrow tables or record batches, all of
        one kind, with one row per document. All rows of a query must be in one batch,
        in any order; `tieaware_sklearn.datasets.whole_queries` makes such batches.
        Or the batches of `tieaware_sklearn.datasets.iter_batches`, whose features can
        be scores and weights. Batches are read one after another.
    score, label, qid : str, default label="label", qid="qid"
        Columns with scores, labels and query ids.
    measures, zero_relevance, unjudged, convention, n_jobs
        As in `evaluate`.
    average : {"macro", "geometric"}, default="macro"
        How to average over queries: by the mean, or by the geometric mean (with values
        of at least 1e-5).
    query_weight : str, optional
        A column with the weight of each document's query.
    batch_rows : int, optional
        Number of rows that are gathered before they are evaluated, by default 65536.
        More batches wait in memory, and fewer calls are made. No result depends on it.

    Returns
    -------
    MergeableSummary
        The same as ``evaluate(...).summary(average)`` of all rows. Averages, lift, tie
        std and numbers of queries are the same to the last bit, intervals to 1e-12.
        No bit depends on how rows are divided into batches or in which order they come.

    Raises
    ------
    ValueError
        As in `evaluate`, with the number of the batch, from 0; for a query that is in
        two batches, which is named; for ids of another kind than in the first batch
        (such as text and integers); for a column that a batch does not have; for
        batches that are not tables or of different kinds; and if there is no row.

    See Also
    --------
    evaluate : The scores of every query, of rows that fit in memory.
    tieaware_sklearn.datasets.whole_queries : Makes batches of whole queries.
    tieaware_sklearn.dask.evaluate : The same on a cluster.

    Notes
    -----
    Sums over queries are kept without rounding (Shewchuk 1997, "Adaptive precision
    floating-point arithmetic", expansions), so that they are the same however the
    queries are divided. Memory is needed for the rows that are gathered, the longest
    query, and 8 bytes for each query.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tieaware_sklearn import evaluate_batches
    >>> from tieaware_sklearn.datasets import whole_queries
    >>> table = pa.table({"qid": [1, 1, 1, 2, 2, 2], "label": [1, 0, 0, 1, 0, 0],
    ...                   "clicks": [2, 1, 1, 1, 1, 0]})
    >>> batches = whole_queries(table.to_batches(max_chunksize=2))
    >>> print(evaluate_batches(batches, score="clicks", measures=["P@2", "rr"]))
    measure    mean   worst    best  tie std  chance    lift      95% interval
    --------------------------------------------------------------------------
    P@2      0.5000  0.5000  0.5000   0.0000  0.3333  1.0000  [0.5000, 0.5000]
    RR       0.8750  0.7500  1.0000   0.1250  0.6111  0.6786  [0.0000, 1.0000]
    2 queries
    """
    check_choice(average, "average", ("macro", "geometric"))
    batch_rows = GATHERED_ROWS if batch_rows is None else batch_rows
    check_count(batch_rows, "batch_rows")
    asked = ask(parse_measures(measures), zero_relevance, unjudged, convention)
    columns = [score, label, qid, *([] if query_weight is None else [query_weight])]
    check_different(columns, "score, label, qid and query_weight")
    names = ColumnNames(label, score, qid, query_weight or "query_weight")
    if not isinstance(zero_relevance, str):
        zero_relevance = float(zero_relevance)
    options = Options(
        asked.measures, average, zero_relevance, unjudged, convention,
        str(score), str(label), None if query_weight is None else str(query_weight),
    )  # fmt: skip

    def of_rows(rows: Piece) -> SummaryParts:
        weight = None if query_weight is None else rows.column(query_weight)
        prepared, scores = prepare(
            asked, rows.column(label), rows.column(score), rows.column(qid), weight,
            names=names, allow_zero=True,
        )  # fmt: skip
        report = prepared.report(asked, scores, n_jobs=n_jobs)
        sums = ReportSums.of(report, average)
        return SummaryParts(options, sums, np.sort(id_digests(report.qid, qid)))

    features = [score, *([] if query_weight is None else [query_weight])]
    tables = as_tables(batches, label=label, qid=qid, features=features)
    parts: list[SummaryParts] = []
    for rows in gathered(tables, columns, qid, batch_rows):
        part = of_all(rows, of_rows)
        gather(parts, part, SummaryParts.merge, SummaryParts.n_queries)
    if not parts:
        raise ValueError("batches must hold at least one row, got none")
    found = reduce(SummaryParts.merge, parts)
    if query_weight is not None and not found.sums.values.weight.rounded.any():
        raise ValueError(f"{query_weight} must not be 0 in every query")
    return MergeableSummary._of(found)
