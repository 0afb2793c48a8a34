"""Batches that cut queries, made into batches of whole queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._engine import Queries, SeenQueries, check_count
from ._table_columns import OneKind
from ._table_pieces import Piece, as_one, pieces


def whole_queries(
    batches: Iterable[Any], qid: str = "qid", *, batch_rows: int | None = None
) -> Iterator[Any]:
    """Make batches of whole queries of batches that are sorted by query.

    Databases and readers of files give rows in batches that end anywhere. The rows of
    a query that goes on in the next batch are held back until it is complete.

    Parameters
    ----------
    batches : iterable of data frames, Arrow tables or Arrow record batches
        pandas DataFrames, polars DataFrames, or Arrow tables or record batches (such as
        a `pyarrow.RecordBatchReader`), all of one kind. Rows must be sorted by query,
        or the rows of each query must at least stand together, within batches and from
        one batch to the next.
    qid : str, default="qid"
        The column that holds query ids.
    batch_rows : int, optional
        Number of rows that a batch has at least, but for the last: smaller ones are
        gathered. By default none are.

    Returns
    -------
    iterator of the same kind of tables
        All rows, in the same order, and no query in two batches. A query that is longer
        than a batch, however long, is in one batch.

    Raises
    ------
    ValueError
        While the batches are read: for a query that comes back after another one, which
        is named; for missing ids, and ids of another kind than in the first batch (such
        as text and integers); for batches with other columns than the first; and for
        batches that are not tables or of different kinds.

    See Also
    --------
    iter_batches : Reads files in batches of whole queries.
    tieaware_sklearn.evaluate_batches : Exact scores of such batches.
    tieaware_sklearn.RankingFeatureSelector.fit_batches : Screens features of them.

    Notes
    -----
    Queries that have come are remembered by digests of 64 bits, 8 bytes each, so that
    none that comes back is missed, however many there are. Two ids may have one digest,
    and the second is then refused although it is new: with a chance of 3e-8 among a
    million queries, of 3e-4 among a hundred million.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tieaware_sklearn.datasets import whole_queries
    >>> table = pa.table({"qid": ["a", "a", "b", "b", "b", "c"]})
    >>> for batch in whole_queries(table.to_batches(max_chunksize=2)):
    ...     print(batch.column("qid").to_pylist())
    ['a', 'a']
    ['b', 'b', 'b']
    ['c']
    """
    if batch_rows is not None:
        check_count(batch_rows, "batch_rows")
    return _whole(batches, qid, batch_rows or 1)


def _whole(batches: Iterable[Any], qid: str, batch_rows: int) -> Iterator[Any]:
    seen, kind = SeenQueries(), OneKind()
    # whole queries, and the rows so far of the one that may go on
    ready: list[Piece] = []
    open_rows: list[Piece] = []
    n_ready, last = 0, None
    for piece in pieces(batches, [qid], alike=True):
        queries = piece.queries(qid)
        kind.check(queries.qid, qid, piece.number)
        _check_gathered(queries, piece.number)
        first, *_ = ids = queries.qid.tolist()
        goes_on = int(bool(open_rows) and first == last)
        again = seen.add(queries.qid[goes_on:])
        if again is not None:
            again += goes_on
            raise _comes_back(queries, again, piece.number, queries.offsets[again])
        last, cut = ids[-1], int(queries.offsets[-2])
        if goes_on and not cut:
            open_rows.append(piece)
            continue
        complete = [*open_rows, piece.rows(0, cut)] if cut else open_rows
        open_rows = [piece.rows(cut, piece.n_rows)]
        ready += complete
        n_ready += sum(rows.n_rows for rows in complete)
        if n_ready >= batch_rows and ready:
            yield as_one(ready)
            ready, n_ready = [], 0
    if ready or open_rows:
        yield as_one([*ready, *open_rows])


def _check_gathered(queries: Queries, number: int) -> None:
    """The rows of each query must stand together."""
    if queries.order is None:
        return
    codes = queries.row_codes()
    back = codes < np.maximum.accumulate(codes)
    if back.any():
        row = int(np.argmax(back))
        raise _comes_back(queries, int(codes[row]), number, row)


def _comes_back(queries: Queries, query: int, number: int, row: int) -> ValueError:
    return ValueError(
        "batches must be sorted by query, or the rows of each query stand together, "
        f"got query {queries.name(query)} again after another one, in row {row} of "
        f"batch {number}"
    )
