"""Data frames of any library, and streams of them: their columns, rows and queries."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .. import _optional
from .._engine import (
    checks,
    exact_numbers,
    feature_matrix,
    messages,
    seen_queries,
    segments,
    spelling,
)
from . import _rows, _wording

#: rows that are gathered if nothing else is said: a call costs as much as thousands
GATHERED_ROWS = 1 << 16
#: rows of text that are looked at for numbers
_FIRST_ROWS = 1 << 12
#: types of narwhals of which values tell whether they are numbers
_BY_VALUE = (nw.Object, nw.Categorical, nw.Enum, nw.Unknown)


def arrow(module: str = "") -> Any:
    """Arrow, or one of its modules."""
    return _optional.import_optional(
        f"pyarrow{module}", extra="io", purpose="reading tables"
    )


class TableOptions(NamedTuple):
    """The columns of tables, and how cells of text are written: see `load_table`."""

    label: str
    qid: str
    ignore: Sequence[str]
    missing_values: Sequence[str] = ()
    thousands: str | None = None
    decimal: str = "."
    quoting: str = "double"

    @property
    def spelling(self) -> spelling.Spelling:
        return spelling.Spelling(self.thousands, self.decimal)

    def of_text(self) -> dict[str, Any]:
        """Options on cells of text, where they are not the default."""
        given, usual = self._asdict().items(), self._field_defaults
        return {n: v for n, v in given if v and v != usual.get(n, v)}


class Piece(NamedTuple):
    """A data frame, and its number among the batches, from 0, if it is one of them."""

    frame: nw.DataFrame[Any]
    number: int | None = None

    @classmethod
    def of(cls, table: Any, number: int | None = None) -> Piece | None:
        """A table of any library; None of what is none.

        Raises
        ------
        ValueError
            If two of its columns have one name.
        """
        if hasattr(table, "num_columns") and not hasattr(table, "group_by"):
            table = arrow().table(table)  # a record batch
        try:
            frame = nw.from_native(table, eager_only=True, pass_through=True)
            if not isinstance(frame, nw.DataFrame):
                return None
            frame.columns  # noqa: B018
        except DuplicateError as error:
            twice = str(error).partition("'")[2].partition("'")[0]
            at = "" if number is None else f" in batch {number}"
            rule = f"must have each column once, got {twice!r} twice{at}"
            raise ValueError(rule) from None
        return cls(frame, number)

    @property
    def table(self) -> Any:
        """The data frame as its library has it."""
        return self.frame.to_native()

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def column(self, name: Any) -> Any:
        """A column, of which NumPy can make an array that holds the same.

        NumPy knows no integers of 128 bits, and of a dictionary of Arrow it gets some
        value where one is missing.
        """
        table = self.table
        if type(table).__module__ == "pyarrow.lib":  # narwhals takes longer
            native = table.column(name)
            is_dictionary = hasattr(native.type, "index_type")
            return native.cast(native.type.value_type) if is_dictionary else native
        column = self.frame.get_column(name)
        if column.dtype in (nw.Int128, nw.UInt128):
            return np.array(column.to_list(), dtype=object)
        return column.to_native()

    def numbers(self, name: Any, place: messages.Place) -> NDArray[Any]:
        """A column of numbers; what is missing is NaN."""
        column = self.column(name)
        if str(getattr(column, "type", "")) in ("double", "float", "halffloat"):
            return np.asarray(column)  # at once: what Arrow has as floats is as it was
        return exact_numbers.numbers_of(column, f"column {name!r}", place)

    def ids(
        self, qid: Any, kind: OneKind | None = None, first: int = 0
    ) -> NDArray[Any]:
        """The query ids, none of them missing, and all of the kind of those before.

        Rows are numbered from the `first` one on.
        """
        at = "" if self.number is None else f"batch {self.number}"
        name = f"column {qid!r}{' of ' * bool(at)}{at}"
        dtype = self.frame.get_column(qid).dtype
        rule = f"{name} must hold one value in each cell, got {dtype}"
        messages.require(not dtype.is_nested(), rule)
        column = self.column(qid)
        try:
            ids = np.asarray(column)
        except Exception:
            for row, cell in enumerate(column, start=first):
                try:
                    cell.as_py()
                except UnicodeDecodeError:
                    got = f"got other bytes in row {row}"
                    raise ValueError(f"{name} must hold text in UTF-8, {got}") from None
            raise
        starts = segments.run_starts(ids)
        if ids.dtype.kind not in "biu":
            for row, one in zip(starts.tolist(), ids[starts].tolist(), strict=True):
                if rule := _wrong_with(one):
                    got = f"got {messages.show(one)} in row {first + row}"
                    raise ValueError(f"{name} must {rule}, {got}")
        if kind is not None:
            kind.check(ids[starts], name, at)
        return ids

    def kinds(self) -> dict[Any, str]:
        """The kind of each column: "numbers" or flags, "text", "other", or nothing.

        Types say so, or else values.
        """
        return {name: self._kind(name, of) for name, of in self.frame.schema.items()}

    def _kind(self, name: Any, dtype: Any) -> str:
        column: Any = self.column(name) if isinstance(dtype, _BY_VALUE) else None
        # narwhals does not know all of them
        if str(getattr(column, "type", "")).startswith("decimal"):
            return "numbers"
        if dtype == nw.Categorical:  # Arrow has a type for the categories
            dtype = nw.from_native(column, series_only=True).dtype
        if not isinstance(dtype, _BY_VALUE):
            if dtype.is_numeric() or dtype == nw.Boolean:
                return "numbers"
            return "text" if dtype == nw.String else "other"
        values = np.asarray(column)
        if values.dtype.kind in "biuf":
            return "numbers"
        cells = [one for one in values.tolist() if not exact_numbers.is_missing(one)]
        if all(isinstance(one, (Real, Decimal)) for one in cells):
            return "numbers" if cells else ""
        return "text" if all(isinstance(one, str) for one in cells) else "other"

    def check_no_numbers(self, names: Iterable[Any]) -> None:
        """Refuse columns of text that begin with a number: they would be no features.

        Raises
        ------
        ValueError
            If one does; it is named, with the number.
        """
        for name in names:
            cells = enumerate(np.asarray(self.column(name)[:_FIRST_ROWS]).tolist())
            present = (one for one in cells if not exact_numbers.is_missing(one[1]))
            row, first = next(present, (0, None))
            if isinstance(first, str) and spelling.PLAIN.match(first):
                raise ValueError(
                    f"column {name!r} must hold numbers as numbers, got the text "
                    f"{_wording.quoted(first)} in row {row} (give the column a type of "
                    "numbers; ignore, or --ignore, leaves it out)"
                )

    def numeric(self) -> list[Any]:
        """The columns with numbers or flags."""
        return [name for name, kind in self.kinds().items() if kind == "numbers"]

    def check_columns(self, names: Iterable[Any], why: str = "") -> None:
        """It must have these columns."""
        check_columns(f"batch {self.number}", self.frame.columns, names, why)

    def select(self, names: Sequence[str]) -> Piece:
        """Some of its columns."""
        return Piece(self.frame.select(list(names)), self.number)

    def matrix(self, names: Sequence[str]) -> Any:
        """Some columns as a table; numbers that NumPy has as objects become its own."""
        frame, backend = self.frame.select(list(names)), self.frame.implementation
        columns = []
        for name in names:
            native = self.column(name)
            values = np.asarray(native)
            if values.dtype.kind == "O":
                # of texts X has errors of its own
                if any(isinstance(one, (str, bytes)) for one in values.tolist()):
                    continue
                native = exact_numbers.numbers_of(native, f"column {name!r}")
            elif frame.get_column(name).dtype != nw.Categorical:
                continue
            elif not backend.is_pyarrow():
                native = values
            columns.append(nw.new_series(name, native, backend=backend))
        if columns and backend.is_pandas_like():
            index = self.table.index
            columns = [nw.maybe_set_index(column, index=index) for column in columns]
        return (frame.with_columns(columns) if columns else frame).to_native()


def check_columns(
    where: str, names: Sequence[Any], wanted: Iterable[Any], why: str = ""
) -> None:
    """A file or a batch must have these columns."""
    there = set(names)
    for name in wanted:
        if name not in there:
            other = [one for one in names if _composed(one) == _composed(name)]
            form = " (it has another Unicode form there)" if other else ""
            if str(names[0]).startswith(("# ", "sep=")):
                form, why = ": remove the lines above the header", ""
            raise ValueError(
                f"{where}: there is no column {name!r}{form} (columns: "
                f"{_wording.listed(names)}){why}"
            )


def _composed(name: Any) -> Any:
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else name


def check_several(batches: Any) -> None:
    """Batches are not a single table."""
    got = f"got a single {type(batches).__name__} (a list of it is one)"
    several = isinstance(batches, Iterator) or Piece.of(batches) is None
    messages.require(several, f"batches must be an iterable of tables, {got}")


def pieces(
    batches: Iterable[Any],
    columns: Sequence[str],
    *,
    alike: bool = False,
    empty: bool = False,
) -> Iterator[Piece]:
    """Tables of one kind that have these columns; without `empty`, only with a row.

    With `alike`, all must have the columns of the first.

    Raises
    ------
    ValueError
        For what is no table, for another kind than that of the first batch, and for a
        column that a batch does not have, or that the first does not.
    """
    check_several(batches)
    first: Piece | None = None
    for number, table in enumerate(batches):
        piece = Piece.of(table, number)
        if piece is None:
            raise ValueError(
                "batches must hold tables of pandas, polars, Arrow or the like, got "
                f"{type(table).__name__} in batch {number}"
            )
        first = first or piece
        kind, other = _wording.kind_of(first.table), _wording.kind_of(piece.table)
        rule = f"batches must all be of one kind, got {kind} first and"
        messages.require(kind == other, f"{rule} {other} in batch {number}")
        piece.check_columns(columns)
        if alike:
            piece.check_columns(first.frame.columns, ": the first batch has it")
            first.check_columns(piece.frame.columns, f": batch {number} has it")
        if piece.n_rows or empty:
            yield piece


def _as_one(parts: Sequence[Piece]) -> Any:
    """The rows of tables of one kind and with the same columns, one after another.

    Columns whose types differ get one that holds both.
    """
    tables, kind = [part.table for part in parts], parts[0].frame.implementation
    if len(tables) == 1:
        return tables[0]
    if kind.is_pyarrow():
        return arrow().concat_tables(tables, promote_options="permissive")
    relaxed = {"how": "diagonal_relaxed"} if kind.is_polars() else {}
    return kind.to_native_namespace().concat(tables, **relaxed)


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
    return (_as_one([Piece(part.data) for part in parts]) for parts in wholes)


def _rows_of_pieces(batches: Iterable[Piece], qid: str) -> Iterator[_rows.Rows]:
    kind = OneKind()
    for piece in batches:
        place = f"row {{}} of batch {piece.number}".format
        ids = piece.ids(qid, kind)
        yield _rows.Rows(piece.frame, ids, ids, place)


def as_tables(
    batches: Iterable[Any], *, label: str, qid: str, features: Sequence[str]
) -> Iterable[Any]:
    """Batches of files as tables with these columns; tables as they are."""
    check_several(batches)
    for batch in batches:
        if not isinstance(batch, Bunch):
            yield batch
            continue
        data = batch.data if hasattr(batch.data, "columns") else np.asarray(batch.data)
        columns = {label: batch.target, qid: batch.qid}
        for j, name in enumerate(batch.feature_names):
            if name in features:
                columns[name] = np.asarray(feature_matrix.cells_of(data, j))
        yield arrow().table(columns)


def gathered(
    batches: Iterable[Any],
    columns: Sequence[str],
    qid: str,
    least: int,
    *,
    alike: bool = False,
) -> Iterator[list[Piece]]:
    """Batches of whole queries, small ones together, of at least so many rows.

    Other columns are left out; with `alike`, there must be the same others in all. A
    query of two batches is an error that names it, whether they are gathered or not.
    """
    seen, kind = seen_queries.SeenQueries(), OneKind()
    waiting: list[Piece] = []
    n_rows = 0
    for piece in pieces(batches, columns, alike=alike):
        ids = piece.ids(qid, kind)
        queries = checks.check_qid(ids, n_rows=piece.n_rows)
        if (again := seen.add(queries.qid)) is not None:
            raise ValueError(
                "batches must hold all rows of a query in one batch, got query "
                f"{queries.name(again)} again in batch {piece.number} (whole_queries "
                "makes whole queries of batches that are sorted by query)"
            )
        waiting.append(piece.select(columns))
        n_rows += piece.n_rows
        if n_rows >= least:
            yield waiting
            waiting, n_rows = [], 0
    if waiting:
        yield waiting


def of_all(parts: Sequence[Piece], of_rows: Callable[[Piece], Any]) -> Any:
    """Apply a function to the rows of several batches; errors name batch and row."""
    try:
        together = Piece.of(_as_one(parts))
        return of_rows(together or parts[0])
    except ValueError:
        for part in parts:
            try:
                of_rows(part)
            except ValueError as error:
                raise ValueError(f"batch {part.number}: {error}") from None
        raise


def check_different(columns: Sequence[str], arguments: str) -> None:
    """No column must serve two purposes."""
    for name in columns:
        rule = f"{arguments} must name different columns, got {name!r} twice"
        messages.require(columns.count(name) == 1, rule)


class OneKind:
    """The kind of the query ids of the first batch or file, which all must have."""

    def __init__(self) -> None:
        self._first: tuple[str, str] | None = None

    def check(self, ids: NDArray[Any], name: str, at: str) -> None:
        """The ids of a batch are of this kind.

        Raises
        ------
        ValueError
            If they are not: a query of both batches would be two in silence.
        """
        types = set(map(type, ids)) if ids.dtype.kind == "O" else {ids.dtype.type}
        kind = " and ".join(sorted({_kind_of_type(of, str(ids.dtype)) for of in types}))
        first, before = self._first = self._first or (kind, at)
        why = "a query of both would be two queries"
        how = "write the ids of one as those of the other"
        rule = f"{name} must hold {first}, as in {before}, got {kind}: {why} ({how})"
        messages.require(kind == first, rule)


def _kind_of_type(of: type, dtype: str) -> str:
    """The kind of a query id: ids of one kind are told apart alike."""
    if issubclass(of, str):
        return "text"
    if issubclass(of, np.uint64):
        return "64-bit integers without a sign"
    if issubclass(of, (int, np.integer)) and of not in (bool, np.timedelta64):
        return "integers"
    if issubclass(of, float):  # of 64 bits, those of NumPy are Python's, too
        return "values of the type float64"
    return f"values of the type {of.__name__ if dtype == 'object' else dtype}"


def _wrong_with(one: Any) -> str:
    """The rule that a query id breaks, if any."""
    if exact_numbers.is_missing(one):
        return "not be missing"
    if isinstance(one, (str, bytes)) and not one:
        return "not be empty"
    if isinstance(one, str) and any("\ud800" <= c <= "\udfff" for c in one):
        return "hold text that UTF-8 can write"
    return ""


def tables_or_paths(source: Any) -> tuple[Iterable[Any] | None, list[Any]]:
    """The tables of a source, or None and the paths that it names.

    Raises
    ------
    ValueError
        If it is neither; what can be read is listed.
    """
    if isinstance(source, (str, os.PathLike)):
        return None, [source]
    if hasattr(source, "collect_batches"):  # of polars, as its frames are collected
        rows = {"chunk_size": GATHERED_ROWS, "maintain_order": True}
        return source.collect_batches(**rows), []
    if (piece := Piece.of(source)) is not None:
        starts = range(0, max(piece.n_rows, 1), GATHERED_ROWS)
        frames = (piece.frame[at : at + GATHERED_ROWS] for at in starts)
        return (frame.to_native() for frame in frames), []
    for method in ("scanner", "to_reader"):  # of a dataset of Arrow
        source = getattr(source, method)() if hasattr(source, method) else source
    wrong, where, is_column = source, "", False
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return arrow().RecordBatchReader.from_stream(source), []
        except arrow().ArrowInvalid:  # a stream of one column
            is_column = True
    no_list = isinstance(source, (bytes, Mapping)) or hasattr(source, "read")
    if isinstance(source, Iterable) and not (no_list or is_column):
        items = iter(source)
        paths: list[Any] = []
        for one in items:
            if not paths and Piece.of(one) is not None:
                return chain([one], items), []
            if not isinstance(one, (str, os.PathLike)):
                wrong, where = one, f" in a {type(source).__name__}"
                break
            paths.append(one)
        else:
            return None, paths
    raise ValueError(
        "path must be a path, a list of paths, a data frame, a stream of Arrow (a "
        "dataset, a relation of DuckDB, a plan of polars), or an iterable of data "
        f"frames, got {type(wrong).__name__}{where}"
    )


def open_frames(
    tables: Iterable[Any], said: str, options: TableOptions
) -> _rows.Rankings:
    """Tables of one kind, which are read once; columns of numbers are features."""
    label, qid, ignore, *_ = options
    check_different([label, qid], "label and qid")
    every = pieces(tables, [], alike=True, empty=True)
    first = next(every, None)
    if first is None:
        raise _rows.no_document(said)
    first.check_columns([label, qid])
    kinds = {n: kind for n, kind in first.kinds().items() if n not in ignore}
    text = [n for n, kind in kinds.items() if kind != "numbers" and n != qid]
    first.check_no_numbers(text)
    # pandas has one type for text and for no value
    empty = [n for n in text if first.frame.get_column(n).null_count() == first.n_rows]

    def read(features: Sequence[Any]) -> Iterator[_rows.Rows]:
        place, start, kind = f"row {{}} of {said}".format, 0, OneKind()
        for piece in chain([first], every):
            if not piece.n_rows:
                continue
            if wrong := empty and piece.select(empty).numeric():
                raise ValueError(
                    f"batch {piece.number}: column {wrong[0]!r} must hold no numbers, "
                    "since it is empty in the first batch (give it a dtype of numbers "
                    "there; ignore leaves it out)"
                )
            ids = piece.ids(qid, kind)
            yield rows_of(piece, features, label, ids, place, start)
            start += piece.n_rows

    return rankings_of(said, first.frame.columns, kinds, read, options)


def rankings_of(
    said: str,
    names: Sequence[Any],
    kinds: Mapping[Any, str],
    read: Callable[[Sequence[Any]], Iterator[_rows.Rows]],
    options: TableOptions,
    n_rows: int | None = None,
) -> _rows.Rankings:
    """A table whose columns of numbers are features; it is read with their names."""
    label, qid, ignore, *_ = options
    others = [name for name in names if name not in (label, qid)]
    _rows.check_ignored(ignore, others)
    is_number = kinds.get(label) == "numbers"
    messages.require(is_number, f"{said}: column {label!r} holds no number")
    features = [n for n in others if kinds.get(n) == "numbers" and n not in ignore]
    rule = f"{said}: no column but {label!r} and {qid!r} holds numbers"
    messages.require(features, rule)
    left_out = [n for n in others if kinds.get(n) != "numbers" and n not in ignore]
    return _rows.Rankings(said, features, left_out, partial(read, features), n_rows)


def rows_of(
    piece: Piece,
    features: Sequence[Any],
    label: str,
    ids: NDArray[Any],
    place: messages.Place,
    first: int,
) -> _rows.Rows:
    """A table as rows of a ranking, each named by its place, from the first one on."""

    def at(row: int) -> str:
        return place(first + row)

    data = [piece.numbers(name, at) for name in features]
    return _rows.Rows(data, piece.numbers(label, at), ids, place, first)
