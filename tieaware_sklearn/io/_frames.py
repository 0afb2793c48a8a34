"""Data frames of any library, and streams of data frames, read as rankings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.utils import Bunch

from .._engine import checks, feature_matrix, seen_queries
from . import _arrow, _rows, _wording

#: Default number of rows that are gathered for a call. Rows are gathered, because each
#: call takes as long as thousands of rows.
GATHERED_ROWS = 1 << 16


def to_frame(table: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library for narwhals, or None for other objects."""
    if hasattr(table, "num_columns") and not hasattr(table, "group_by"):
        table = _arrow.arrow().table(table)  # The table is a record batch.
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


class Piece(NamedTuple):
    """A data frame, and the number of its batch, counted from 0."""

    frame: nw.DataFrame[Any]
    number: int

    def to_arrow(self, names: Sequence[Any]) -> Any:
        """Return some columns as an Arrow table of plain types."""
        try:
            # pandas allows numbers as column names, but Arrow does not.
            frame = self.frame.select(nw.col(*names))
            table = frame.rename({name: str(name) for name in names}).to_arrow()
        except _arrow.arrow().lib.ArrowException as error:
            raise ValueError(
                f"batch {self.number}: {_wording.in_one_line(error)}. Leave the column "
                "out, or convert all values to one type"
            ) from None
        # Arrow appends the index of a pandas DataFrame after the columns.
        table = table.select(range(len(names)))
        return table.cast(_arrow.plain_schema(table.schema))


def pieces(
    batches: Iterable[Any],
    columns: Sequence[str],
    *,
    alike: bool = False,
    empty: bool = False,
) -> Iterator[Piece]:
    """Yield tables that contain these columns. With `empty`, also yield empty tables.

    With `alike`, all tables must contain the columns of the first table.

    Raises
    ------
    ValueError
        If an object is not a table, or if a batch lacks one of these columns or, with
        `alike`, a column of the first batch.
    """
    first: nw.DataFrame[Any] | None = None
    for number, table in enumerate(batches):
        frame = to_frame(table)
        if frame is None:
            raise ValueError(
                "batches must contain tables of pandas, polars, Arrow or the like, got "
                f"{type(table).__name__} in batch {number}"
            )
        first = frame if first is None else first
        place = f"batch {number}"
        _arrow.check_columns(place, frame.columns, columns)
        if alike:
            names = first.columns
            _arrow.check_same_columns(frame.columns, place, names, "the first batch")
        if len(frame) or empty:
            yield Piece(frame, number)


def whole_queries(
    batches: Iterable[Any], qid: str = "qid", *, batch_rows: int | None = None
) -> Iterator[Any]:
    """Regroup batches that are sorted by query into batches of whole queries.

    Databases and file readers may end a batch in the middle of a query. So the rows of
    the last query of a batch are held back until another query begins.

    Parameters
    ----------
    batches : iterable of data frames
        Data frames of pandas, polars or another library that narwhals supports, Arrow
        tables or record batches (such as a `pyarrow.RecordBatchReader`), all of one
        kind. Rows must be sorted by query or, at least, the rows of each query must be
        contiguous, within and across batches.
    qid : str, default="qid"
        The column that contains query ids.
    batch_rows : int, optional
        Minimum number of rows of every returned batch except the last. By default, a
        batch is returned as soon as it contains a complete query.

    Returns
    -------
    iterator of the same kind of tables
        All rows in the same order. Each query is in a single batch, however long the
        query is. Record batches become Arrow tables.

    Raises
    ------
    ValueError
        While the batches are read, if the rows of a query are not contiguous. The
        message names the query. Also if ids are missing, empty, or of another type than
        the ids of the first batch (such as text and integers), if a batch is not a
        table, or if the columns of a batch differ from the columns of the first batch.
    ImportError
        If pyarrow is not installed.

    See Also
    --------
    iter_batches : Reads files in batches of whole queries.
    tieaware_sklearn.evaluate_batches : Computes exact scores of batches.
    tieaware_sklearn.RankingFeatureSelector.fit_batches : Screens features of batches.

    Notes
    -----
    A 64-bit digest (8 bytes) of each query is kept, so every query that reappears is
    detected. An error is also raised if two different ids have the same digest. The
    probability of this error is 3e-8 for a million queries and 3e-4 for a hundred
    million queries.

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
        checks.check_count(batch_rows, "batch_rows")
    all_pieces = pieces(batches, [qid], alike=True)

    def rows() -> Iterator[_rows.Rows]:
        schema = _arrow.arrow().schema([])
        for piece in all_pieces:
            table = piece.to_arrow([qid])
            place = f"batch {piece.number}"
            schema = _arrow.common_schema(schema, table.schema, place)
            row = f"row {{}} of {place}".format
            ids = _arrow.query_ids(table.column(0), row, 0)
            # Labels are not needed, so the ids take their place.
            yield _rows.Rows(piece.frame, ids, ids, row)

    wholes = _rows.in_whole_queries(rows(), batch_rows or 1, finely=False)
    # "diagonal" accepts batches with the same columns in different orders.
    return (
        nw.concat([part.data for part in parts], how="diagonal").to_native()
        for parts in wholes
    )


def as_tables(
    batches: Iterable[Any], *, label: str, qid: str, features: Sequence[str]
) -> Iterator[Any]:
    """Yield batches of files as tables with these columns, and tables unchanged."""
    for batch in batches:
        if isinstance(batch, Bunch):
            columns = {label: batch.target, qid: batch.qid}
            for j, name in enumerate(batch.feature_names):
                if name in features:
                    columns[name] = np.asarray(feature_matrix.cells_of(batch.data, j))
            batch = _arrow.arrow().table(columns)
        yield batch


def gathered(
    batches: Iterable[Any],
    columns: Sequence[str],
    qid: str,
    least: int,
    *,
    alike: bool = False,
) -> Iterator[dict[int, Any]]:
    """Yield Arrow tables of batches, by number, with at least `least` rows together.

    The tables contain whole queries and only these columns. With `alike`, all batches
    must contain the columns of the first batch.

    Raises
    ------
    ValueError
        If a query occurs in two batches.
    """
    seen = seen_queries.SeenQueries()
    schema = _arrow.arrow().schema([])
    waiting: dict[int, Any] = {}
    n_rows = 0
    for piece in pieces(batches, columns, alike=alike):
        place = f"batch {piece.number}"
        table = piece.to_arrow(columns)
        schema = _arrow.common_schema(schema, table.schema, place)
        name = f"column {qid!r} of {place}"
        queries = checks.check_qid(table[qid], n_rows=len(table), name=name)
        repeated = seen.add(queries.qid)
        if repeated is not None:
            raise ValueError(
                "batches must contain all rows of a query in one batch, got query "
                f"{queries.name(repeated)} again in {place}. If the batches are sorted "
                "by query, pass them through whole_queries"
            )
        waiting[piece.number] = table
        n_rows += len(table)
        if n_rows >= least:
            yield waiting
            waiting = {}
            n_rows = 0
    if waiting:
        yield waiting


def of_all(tables: dict[int, Any], function: Callable[[Any], Any]) -> Any:
    """Apply a function to the rows of several tables. Errors name the batch."""
    pa = _arrow.arrow()
    try:
        table = pa.concat_tables(tables.values(), promote_options="permissive")
        return function(table)
    except ValueError:
        for number, table in tables.items():
            try:
                function(table)
            except ValueError as error:
                raise ValueError(f"batch {number}: {error}") from None
        # No single batch is wrong.
        raise


def tables_or_paths(source: Any) -> tuple[Iterable[Any] | None, list[Any]]:
    """Return the tables of a source, or None and the paths that it names.

    Raises
    ------
    ValueError
        If the source is of no supported kind. The message lists the supported kinds.
    """
    if isinstance(source, (str, os.PathLike)):
        return None, [source]
    if hasattr(source, "collect_batches"):  # The source is a LazyFrame of polars.
        chunks = source.collect_batches(chunk_size=GATHERED_ROWS, maintain_order=True)
        return chunks, []
    if (frame := to_frame(source)) is not None:
        # An empty frame is one empty chunk, whose columns are checked.
        starts = range(0, max(len(frame), 1), GATHERED_ROWS)
        return (frame[start : start + GATHERED_ROWS] for start in starts), []
    for method in ("scanner", "to_reader"):  # Datasets of Arrow need both calls.
        source = getattr(source, method)() if hasattr(source, method) else source
    if hasattr(source, "__arrow_c_stream__"):
        return _arrow.arrow().RecordBatchReader.from_stream(source), []
    if isinstance(source, Iterable) and not isinstance(source, Mapping):
        items = iter(source)
        first = next(items, None)
        if isinstance(first, (str, os.PathLike)):
            return None, [first, *items]
        if to_frame(first) is not None:
            return chain([first], items), []
    raise ValueError(
        "path must be a path, a list of paths, a data frame, an Arrow stream (such as "
        "a dataset, a DuckDB relation or a polars plan), or an iterable of data "
        f"frames, got {_wording.kind_of(source)}"
    )


def open_frames(
    tables: Iterable[Any], source_name: str, options: _arrow.TableOptions
) -> _rows.Rankings:
    """Open tables of one kind, which are read once. Numeric columns are features."""
    batches = pieces(tables, [options.label, options.qid], alike=True)
    first = next(batches, None)
    if first is None:
        raise _rows.no_document(source_name)
    names = list(map(str, first.frame.columns))
    named = [name for name in first.frame.columns if str(name) not in options.ignore]
    schema = first.to_arrow(named).schema
    numeric = _arrow.numeric(schema)

    def read(columns: Sequence[str]) -> Iterator[_rows.Rows]:
        first_row = 0
        for piece in chain([first], batches):
            table = piece.to_arrow(named)
            place = f"batch {piece.number}"
            common = _arrow.common_schema(schema, table.schema, place)
            if _arrow.numeric(common) != numeric:
                raise ValueError(
                    f"{place}: the columns with numbers must be those of the first "
                    f"batch, {_wording.listed(numeric)}, got "
                    f"{_wording.listed(_arrow.numeric(common))}. If a column is empty "
                    "in a batch, give the column a numeric dtype, or ignore the column"
                )
            row = f"row {{}} of {source_name}".format
            yield _arrow.rows_of(table.select(columns), row, first_row)
            first_row += len(table)

    return _arrow.rankings_of(source_name, names, schema, read, options)
