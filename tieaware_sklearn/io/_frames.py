"""Data frames of any library, and streams of them: their columns, rows and queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from .._engine import checks, feature_matrix, seen_queries
from . import _arrow, _rows, _wording

#: Rows that are gathered by default: a call costs as much as thousands of rows.
GATHERED_ROWS = 1 << 16


def to_frame(table: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library for narwhals, or None for other objects."""
    if hasattr(table, "num_columns") and not hasattr(table, "group_by"):
        table = _arrow.arrow().table(table)  # a record batch
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


class Piece(NamedTuple):
    """A data frame, and its number among the batches, from 0."""

    frame: nw.DataFrame[Any]
    number: int

    def column(self, name: Any) -> Any:
        """Return a column that NumPy converts without loss."""
        column = self.frame.get_column(name).to_native()
        # NumPy converts a dictionary of Arrow to some value where one is missing.
        is_dictionary = hasattr(getattr(column, "type", None), "index_type")
        return column.cast(column.type.value_type) if is_dictionary else column

    def queries(self, qid: Any, kinds: set[str]) -> checks.Queries:
        """Return the queries, whose ids are of the kind of those before."""
        name = f"column {qid!r} of batch {self.number}"
        ids = np.asarray(self.column(qid))
        queries = checks.check_qid(ids, n_rows=len(ids), name=name)
        check_id_kind(queries.qid, kinds, name)
        return queries

    def features(self, names: Sequence[Any]) -> Any:
        """Return some columns as a table of the library, without dictionaries."""
        table = self.frame.select(names).to_native()
        if self.frame.implementation.is_pyarrow():
            table = table.cast(_arrow.plain_schema(table.schema))
        return table

    def numeric(self) -> list[Any]:
        """Return the columns with numbers or flags, by their types."""
        names = []
        for name, dtype in self.frame.schema.items():
            is_number = dtype.is_numeric() or dtype == nw.Boolean
            if dtype in (nw.Object, nw.Categorical, nw.Unknown):
                cells = np.asarray(self.column(name)).tolist()
                is_number = _arrow.are_numbers(cells)
            if is_number:
                names.append(name)
        return names


def check_id_kind(ids: NDArray[Any], kinds: set[str], name: str) -> None:
    """Check that query ids are of the kind of those before.

    Raises
    ------
    ValueError
        If they are not: a query of both batches would be two in silence.
    """
    (query,) = ids[:1].tolist()
    kinds.add(type(query).__name__)
    if len(kinds) > 1:
        raise ValueError(
            f"{name} must hold ids of the type of the first batch, got "
            f"{' and '.join(sorted(kinds))}: a query of both would be two queries"
        )


def check_several(batches: Any) -> None:
    """Check that batches are not a single table."""
    if not isinstance(batches, Iterator) and to_frame(batches) is not None:
        raise ValueError(
            "batches must be an iterable of tables, got a single "
            f"{type(batches).__name__} (put it into a list)"
        )


def pieces(
    batches: Iterable[Any],
    columns: Sequence[str],
    *,
    alike: bool = False,
    empty: bool = False,
) -> Iterator[Piece]:
    """Yield tables that have these columns, and with `empty` empty ones.

    With `alike`, all must have the columns of the first.

    Raises
    ------
    ValueError
        For an object that is no table, for a table of another library than the first
        one, and for a column that a batch, or the first one, lacks.
    """
    check_several(batches)
    first: nw.DataFrame[Any] | None = None
    for number, table in enumerate(batches):
        frame = to_frame(table)
        if frame is None:
            raise ValueError(
                "batches must hold tables of pandas, polars, Arrow or the like, got "
                f"{type(table).__name__} in batch {number}"
            )
        first = frame if first is None else first
        if frame.implementation != first.implementation:
            raise ValueError(
                f"batches must all be of one library, got {first.implementation} first "
                f"and {frame.implementation} in batch {number}"
            )
        place = f"batch {number}"
        _arrow.check_columns(place, frame.columns, columns)
        if alike:
            names = first.columns
            _arrow.check_same_columns(frame.columns, place, names, "the first batch")
        if len(frame) or empty:
            yield Piece(frame, number)


def _as_one(frames: Sequence[nw.DataFrame[Any]]) -> Any:
    """Return the rows of data frames of one kind and with the same columns as one.

    Columns whose types differ get a type that holds both.
    """
    tables, library = [frame.to_native() for frame in frames], frames[0].implementation
    if len(tables) == 1:
        return tables[0]
    if library.is_pyarrow():
        return _arrow.arrow().concat_tables(tables, promote_options="permissive")
    options = {"how": "diagonal_relaxed"} if library.is_polars() else {}
    return library.to_native_namespace().concat(tables, **options)


def whole_queries(
    batches: Iterable[Any], qid: str = "qid", *, batch_rows: int | None = None
) -> Iterator[Any]:
    """Regroup batches that are sorted by query into batches of whole queries.

    Databases and file readers may end a batch in the middle of a query. Its rows are
    held back until the query is complete.

    Parameters
    ----------
    batches : iterable of data frames
        Data frames of pandas, polars or another library that narwhals supports, Arrow
        tables or record batches (such as a `pyarrow.RecordBatchReader`), all of one
        kind. Rows must be sorted by query, or at least the rows of each query must be
        contiguous, within and across batches.
    qid : str, default="qid"
        The column that holds query ids.
    batch_rows : int, optional
        Minimum number of rows of every batch except the last: smaller ones are joined.
        By default none are.

    Returns
    -------
    iterator of the same kind of tables
        All rows in the same order, with each query in a single batch, however long it
        is. Record batches become Arrow tables.

    Raises
    ------
    ValueError
        While the batches are read: for a query whose rows are not contiguous (the
        message names it); for missing ids, and ids of another type than in the first
        batch (such as text and integers); and for batches that are not tables, differ
        in kind, or have other columns than the first.

    See Also
    --------
    iter_batches : Reads files in batches of whole queries.
    tieaware_sklearn.evaluate_batches : Computes exact scores of such batches.
    tieaware_sklearn.RankingFeatureSelector.fit_batches : Screens their features.

    Notes
    -----
    A 64-bit digest (8 bytes) of each query is kept, so that no query that reappears is
    missed. Two different ids may have the same digest, which raises an error, too. The
    probability of this is 3e-8 for a million queries, and 3e-4 for a hundred million.

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
    rows = _rows_of_pieces(pieces(batches, [qid], alike=True), qid)
    wholes = _rows.in_whole_queries(rows, batch_rows or 1, finely=False)
    return (_as_one([part.data for part in parts]) for parts in wholes)


def _rows_of_pieces(batches: Iterable[Piece], qid: str) -> Iterator[_rows.Rows]:
    kinds: set[str] = set()
    for piece in batches:
        place = f"row {{}} of batch {piece.number}".format
        piece.queries(qid, kinds)
        ids = np.asarray(piece.column(qid))
        yield _rows.Rows(piece.frame, ids, ids, place)


def as_tables(
    batches: Iterable[Any], *, label: str, qid: str, features: Sequence[str]
) -> Iterator[Any]:
    """Yield batches of files as tables with these columns, and tables as they are."""
    check_several(batches)
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
) -> Iterator[list[Piece]]:
    """Yield batches of whole queries together until they have so many rows.

    Other columns are left out. With `alike`, all batches must have the same others.

    Raises
    ------
    ValueError
        For a query in two batches.
    """
    seen, kinds = seen_queries.SeenQueries(), set[str]()
    waiting: list[Piece] = []
    n_rows = 0
    for piece in pieces(batches, columns, alike=alike):
        queries = piece.queries(qid, kinds)
        if (repeated := seen.add(queries.qid)) is not None:
            raise ValueError(
                "batches must hold all rows of a query in one batch, got query "
                f"{queries.name(repeated)} again in batch {piece.number} "
                "(whole_queries makes whole queries of batches that are sorted by "
                "query)"
            )
        waiting.append(Piece(piece.frame.select(columns), piece.number))
        n_rows += len(piece.frame)
        if n_rows >= least:
            yield waiting
            waiting, n_rows = [], 0
    if waiting:
        yield waiting


def of_all(parts: Sequence[Piece], function: Callable[[Piece], Any]) -> Any:
    """Apply a function to the rows of several batches; errors name the batch."""
    whole = nw.from_native(_as_one([part.frame for part in parts]), eager_only=True)
    try:
        return function(Piece(whole, 0))
    except ValueError:
        for part in parts:
            try:
                function(part)
            except ValueError as error:
                raise ValueError(f"batch {part.number}: {error}") from None
        raise


def check_different(columns: Sequence[str], arguments: str) -> None:
    """Check that no column serves two purposes."""
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(
                f"{arguments} must name different columns, got {name!r} twice"
            )


def tables_or_paths(source: Any) -> tuple[Iterable[Any] | None, list[Any]]:
    """Return the tables of a source, or None and the paths that it names.

    Raises
    ------
    ValueError
        If it is neither; the message lists what can be read.
    """
    if isinstance(source, (str, os.PathLike)):
        return None, [source]
    if hasattr(source, "collect_batches"):  # of polars, as its frames are collected
        chunks = source.collect_batches(chunk_size=GATHERED_ROWS, maintain_order=True)
        return chunks, []
    if to_frame(source) is not None:
        return [source], []
    for method in ("scanner", "to_reader"):  # of a dataset of Arrow
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
        "path must be a path, a list of paths, a data frame, a stream of Arrow (a "
        "dataset, a relation of DuckDB, a plan of polars), or an iterable of data "
        f"frames, got {_wording.kind_of(source)}"
    )


def open_frames(
    tables: Iterable[Any], source_name: str, options: _arrow.TableOptions
) -> _rows.Rankings:
    """Open tables of one kind, which are read once; columns of numbers are features."""
    batches = pieces(tables, [options.label, options.qid], alike=True)
    first = next(batches, None)
    if first is None:
        raise _rows.no_document(source_name)

    def to_arrow(piece: Piece) -> Any:
        frame = piece.frame.drop(*options.ignore, strict=False)
        # an index of pandas is no column
        return frame.to_arrow().select(frame.columns)

    schema = _arrow.plain_schema(to_arrow(first).schema)
    numeric = _arrow.numeric(schema)

    def read(columns: Sequence[str]) -> Iterator[_rows.Rows]:
        first_row = 0
        for piece in chain([first], batches):
            table = to_arrow(piece)
            plain_schema = _arrow.plain_schema(table.schema)
            place = f"batch {piece.number}"
            common = _arrow.common_schema(schema, plain_schema, place)
            if _arrow.numeric(common) != numeric:
                raise ValueError(
                    f"{place}: the columns with numbers must be those of "
                    f"the first batch, {_wording.listed(numeric)}, got "
                    f"{_wording.listed(_arrow.numeric(common))} (give columns that are "
                    "empty there a dtype of numbers, or ignore them)"
                )
            plain = table.cast(plain_schema).select(columns)
            row = f"row {{}} of {source_name}".format
            yield _arrow.rows_of(plain, row, first_row)
            first_row += len(table)

    columns = first.frame.columns
    return _arrow.rankings_of(source_name, columns, schema, read, options)
