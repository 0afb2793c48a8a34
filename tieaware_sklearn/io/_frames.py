"""Data frames of any library, and streams of them: their columns, rows and queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from .._engine import (
    Queries,
    SeenQueries,
    check_count,
    check_qid,
    count_rows,
    id_digests,
    is_missing,
    numbers_of,
    run_starts,
)
from .._optional import import_optional
from ._rows import Rankings, Rows, in_whole_queries, place_after
from ._wording import listed, quoted

Found = TypeVar("Found")
#: rows that are gathered if nothing else is said: a call costs as much as thousands
GATHERED_ROWS = 1 << 16
#: what query ids are
TEXTS, INTEGERS = "text", "integers"
UNSIGNED = "64-bit integers without a sign"
#: types of narwhals of which values tell whether they are numbers
_BY_VALUE = (nw.Object, nw.Categorical, nw.Enum, nw.Unknown)


class Piece(NamedTuple):
    """A data frame, and its number among the batches, from 0."""

    frame: nw.DataFrame[Any]
    number: int

    @classmethod
    def of(cls, table: Any, number: int = 0) -> Piece | None:
        """A table of any library; None of what is none.

        Raises
        ------
        ValueError
            If two of its columns have one name.
        """
        if hasattr(table, "num_columns") and not hasattr(table, "group_by"):
            table = _arrow().table(table)  # a record batch
        try:
            frame = nw.from_native(table, eager_only=True, pass_through=True)
            if not isinstance(frame, nw.DataFrame):
                return None
            frame.columns  # noqa: B018
        except DuplicateError as error:
            twice = str(error).partition("'")[2].partition("'")[0]
            raise ValueError(
                f"batches must have each column once, got {twice!r} twice in batch "
                f"{number}"
            ) from None
        return cls(frame, number)

    @property
    def table(self) -> Any:
        """The data frame as its library has it."""
        return self.frame.to_native()

    @property
    def kind(self) -> str:
        """What it is."""
        own = type(self.table)
        return f"a {own.__module__.partition('.')[0]} {own.__name__}"

    @property
    def n_rows(self) -> int:
        return int(self.frame.shape[0])

    @property
    def names(self) -> list[Any]:
        """The columns."""
        return list(self.frame.columns)

    def column(self, name: str) -> Any:
        """A column, of which NumPy can make an array that holds the same.

        NumPy knows no integers of 128 bits, and of a dictionary of Arrow it gets some
        value where one is missing.
        """
        column = self.frame.get_column(name)
        if column.dtype in (nw.Int128, nw.UInt128):
            return np.array(column.to_list(), dtype=object)
        native = column.to_native()
        if column.implementation.is_pyarrow() and column.dtype == nw.Categorical:
            native = native.cast(native.type.value_type)
        return native

    def check_columns(self, names: Iterable[Any], why: str = "") -> None:
        """It must have these columns."""
        own = set(self.names)
        for name in names:
            if name not in own:
                raise ValueError(
                    f"batches must have a column {name!r}{', ' if why else ''}{why}, "
                    f"got {listed(self.names)} in batch {self.number}"
                )

    def queries_of(self, qid: str) -> Queries:
        """The queries, whose ids must not be missing."""
        column, name = (
            self.frame.get_column(qid),
            f"column {qid!r} of batch {self.number}",
        )
        if column.dtype.is_nested():
            raise ValueError(
                f"{name} must hold one value in each cell, got {column.dtype}"
            )
        ids = np.asarray(self.column(qid))
        queries = check_qid(ids, n_rows=self.n_rows, name=name)
        _check_spelled(queries.qid, name)
        return queries

    def select(self, names: Sequence[str]) -> Piece:
        """Some of its columns."""
        return Piece(self.frame.select(list(names)), self.number)

    def holds_numbers(self, name: Any) -> bool:
        """Whether a column has a type of numbers or flags, or values that are."""
        dtype = self.frame.get_column(name).dtype
        if not isinstance(dtype, _BY_VALUE):
            return bool(dtype.is_numeric() or dtype == nw.Boolean)
        values = np.asarray(self.column(name))
        if values.dtype.kind != "O":
            return values.dtype.kind in "biuf"
        found = [value for value in values.tolist() if not is_missing(value)]
        return bool(found) and all(isinstance(one, (Real, Decimal)) for one in found)

    def numeric(self) -> list[Any]:
        """The columns with numbers or flags."""
        return [name for name in self.names if self.holds_numbers(name)]

    def matrix(self, names: Sequence[str]) -> Any:
        """Some columns as a table; numbers that NumPy has as objects become its own."""
        own, backend = self.frame.select(list(names)), self.frame.implementation
        columns = []
        for name in names:
            native = self.column(name)
            values = np.asarray(native)
            if values.dtype.kind == "O":
                # of texts X has errors of its own
                if any(isinstance(one, (str, bytes)) for one in values.tolist()):
                    continue
                native = numbers_of(native, f"column {name!r}")
            elif own.get_column(name).dtype != nw.Categorical:
                continue
            elif not backend.is_pyarrow():
                native = values
            columns.append(nw.new_series(name, native, backend=backend))
        if columns and backend.is_pandas_like():
            index = self.table.index
            columns = [nw.maybe_set_index(column, index=index) for column in columns]
        return own.with_columns(columns).to_native() if columns else own.to_native()

    def rows(self, start: int, stop: int) -> Piece:
        """Some of its rows."""
        return Piece(self.frame[start:stop], self.number)


def check_several(batches: Any) -> None:
    """Batches are not a single table."""
    if not isinstance(batches, Iterator) and Piece.of(batches) is not None:
        raise ValueError(
            "batches must be an iterable of tables, got a single "
            f"{type(batches).__name__} (a list of it is one)"
        )


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
        if piece.kind != first.kind:
            raise ValueError(
                f"batches must all be of one kind, got {first.kind} first and "
                f"{piece.kind} in batch {number}"
            )
        piece.check_columns(columns)
        if alike:
            piece.check_columns(first.names, "as the first batch has")
            first.check_columns(piece.names, f"as batch {number} has")
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
        return _arrow().concat_tables(tables, promote_options="permissive")
    relaxed = {"how": "diagonal_relaxed"} if kind.is_polars() else {}
    return kind.to_native_namespace().concat(tables, **relaxed)


class _Frame(NamedTuple):
    """Rows of a data frame whose queries may go on in the next one."""

    piece: Piece
    qid: str
    kind: OneKind

    @property
    def n_rows(self) -> int:
        return self.piece.n_rows

    def runs(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        queries = self.piece.queries_of(self.qid)
        self.kind.check(queries.qid, self.qid, self.piece.number)
        codes = queries.row_codes()
        starts = run_starts(codes)
        return queries.qid[codes[starts]], starts

    def rows(self, start: int, stop: int) -> _Frame:
        return self._replace(piece=self.piece.rows(start, stop))

    def comes_back(self, query: str, row: int) -> ValueError:
        return ValueError(
            "batches must be sorted by query, or the rows of each query stand "
            f"together, got query {query} again after another one, in row {row} of "
            f"batch {self.piece.number}"
        )


def whole_queries(
    batches: Iterable[Any], qid: str = "qid", *, batch_rows: int | None = None
) -> Iterator[Any]:
    """Make batches of whole queries of batches that are sorted by query.

    Databases and readers of files give rows in batches that end anywhere. The rows of
    a query that goes on in the next batch are held back until it is complete.

    Parameters
    ----------
    batches : iterable of data frames
        Data frames of pandas, polars or another library that narwhals knows, Arrow
        tables or record batches (such as a `pyarrow.RecordBatchReader`), all of one
        kind. Rows must be sorted by query,
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
        than a batch, however long, is in one batch. Record batches become Arrow tables.

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
    kind = OneKind()
    frames = (_Frame(piece, qid, kind) for piece in pieces(batches, [qid], alike=True))
    found = in_whole_queries(frames, batch_rows or 1, finely=False)
    return (_as_one([frame.piece for frame in frames]) for frames in found)


def as_tables(
    batches: Iterable[Any], *, label: str, qid: str, features: Sequence[str]
) -> Iterable[Any]:
    """Batches of files as tables with these columns; tables as they are."""
    check_several(batches)
    return (
        _of_bunch(batch, number, label, qid, features)
        if isinstance(batch, Bunch)
        else batch
        for number, batch in enumerate(batches)
    )


def _of_bunch(
    batch: Bunch, number: int, label: str, qid: str, features: Sequence[str]
) -> Any:
    columns = {label: batch.target, qid: batch.qid}
    names = list(batch.feature_names)
    for name in features:
        if name not in names:
            raise ValueError(
                f"batches must have a feature {name!r}, got {listed(names)} in batch "
                f"{number}"
            )
        columns[name] = np.asarray(batch.data)[:, names.index(name)]
    return _arrow().table(columns)


def gathered(
    batches: Iterable[Any],
    columns: Sequence[str],
    qid: str,
    least: int,
    *,
    alike: bool = False,
) -> Iterator[list[Piece]]:
    """Batches of whole queries, small ones together, of at least so many rows.

    Only these columns are kept; with `alike`, there must be the same others in all. A
    query of two batches is an error that names it, whether they are gathered or not.
    """
    seen, kind = SeenQueries(), OneKind()
    waiting: list[Piece] = []
    n_rows = 0
    for piece in pieces(batches, columns, alike=alike):
        queries = piece.queries_of(qid)
        kind.check(queries.qid, qid, piece.number)
        again = seen.add(queries.qid)
        if again is not None:
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


def of_all(parts: Sequence[Piece], of_rows: Callable[[Piece], Found]) -> Found:
    """What is found in the rows of several batches; errors name the batch and row."""
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
        if columns.count(name) > 1:
            raise ValueError(
                f"{arguments} must name different columns, got {name!r} twice"
            )


class OneKind:
    """The kind of the query ids of the first batch, which all must have."""

    def __init__(self) -> None:
        self._first: tuple[str, int] | None = None

    def check(self, ids: NDArray[Any], qid: str, number: int) -> None:
        """The ids of a batch are of this kind.

        Raises
        ------
        ValueError
            If they are not: a query of both batches would be two in silence.
        """
        kind = _kind_of_ids(ids)
        first, at = self._first = self._first or (kind, number)
        if kind != first:
            raise ValueError(
                f"column {qid!r} of batch {number} must hold {first}, as in batch {at}"
                f", got {kind}: a query of both batches would be two queries (write "
                "the ids of one as those of the other)"
            )


def _kind_of_ids(ids: NDArray[Any]) -> str:
    """What query ids are: those of one kind are told apart alike."""
    if ids.dtype.kind == "O":
        return " and ".join(sorted({_kind_of_type(own) for own in set(map(type, ids))}))
    if ids.dtype.kind == "U":
        return TEXTS
    return _kind_of_type(ids.dtype.type, str(ids.dtype))


def _kind_of_type(own: type, name: str | None = None) -> str:
    if issubclass(own, str):
        return TEXTS
    if issubclass(own, np.uint64):
        return UNSIGNED
    if issubclass(own, (bool, np.bool_)):
        return "values of the type bool"
    if issubclass(own, (int, np.integer)) and not issubclass(own, np.timedelta64):
        return INTEGERS
    if issubclass(own, float):  # of 64 bits, those of NumPy are Python's, too
        return "values of the type float64"
    return f"values of the type {name or own.__name__}"


def _check_spelled(ids: NDArray[Any], name: str) -> None:
    """Refuse texts that no file could hold."""
    for text in ids.tolist() if ids.dtype.kind in "UO" else ():
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError(
                    f"{name} must hold text that UTF-8 can write, got {text!r}, with "
                    "half of a surrogate pair"
                ) from None


def query_digests(qid: ArrayLike) -> NDArray[np.uint64]:
    """Return the digests by which results recognise queries that come twice.

    Saved screenings, selectors and reports keep 64 bits of each query id, and no ids.
    Where two of them have a query in common, the error names its digest.

    Parameters
    ----------
    qid : array-like of shape (n_rows,)
        Query ids, as they were given to what made the results. Ids of CSV files that
        the command has read are text.

    Returns
    -------
    ndarray of shape (n_rows,), dtype uint64
        The digest of each row's query id: the same for equal ids, in every process and
        on every machine.

    Raises
    ------
    ValueError
        For missing ids, and for two ids with the same digest, which are named.

    See Also
    --------
    tieaware_sklearn.RankingReport.merge : Refuses a query that both parts have.

    Examples
    --------
    An error of `merge` that speaks of the digest 0x313ee9e02436b8f8 is about the query

    >>> import pandas as pd
    >>> from tieaware_sklearn.datasets import query_digests
    >>> rows = pd.DataFrame({"qid": ["mug", "tea", "tea"], "label": [0, 1, 0]})
    >>> rows.qid[query_digests(rows.qid) == 0x313ee9e02436b8f8].unique().tolist()
    ['tea']
    """
    queries = check_qid(qid, n_rows=count_rows(qid))
    return id_digests(queries.qid)[queries.row_codes()]


def tables_of(source: Any) -> Iterable[Any] | None:
    """A table, several, or a stream of them, as tables; None of what is none."""
    if hasattr(source, "read") or isinstance(source, (str, bytes, os.PathLike)):
        return None
    if isinstance(source, (list, tuple)):
        return source if source and Piece.of(source[0]) else None
    if isinstance(source, chain):  # of a first table, and others
        return source
    if hasattr(source, "collect_batches"):  # of polars, as its frames are collected
        every: Iterable[Any] = source.collect_batches(
            chunk_size=GATHERED_ROWS, maintain_order=True
        )
        return every
    if (piece := Piece.of(source)) is not None:
        starts = range(0, max(piece.n_rows, 1), GATHERED_ROWS)
        return (piece.rows(at, at + GATHERED_ROWS).table for at in starts)
    for method in ("scanner", "to_reader"):  # of a dataset of Arrow
        source = getattr(source, method)() if hasattr(source, method) else source
    if hasattr(source, "__arrow_c_stream__"):
        every = _arrow().RecordBatchReader.from_stream(source)
        return every
    return None


def peeked(source: Any) -> Any:
    """An iterator of paths as a list, and one of tables as such with a first one."""
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "read"):
        return source
    if not isinstance(source, Iterator):
        return source
    for first in source:
        if Piece.of(first) is not None:
            return chain([first], source)
        is_path = isinstance(first, (str, os.PathLike))
        return [first, *source] if is_path else [first]
    return []


def check_paths(source: Any) -> None:
    """What is no table must be a path, or several.

    Raises
    ------
    ValueError
        If it is not; what can be read is listed.
    """
    if isinstance(source, (str, os.PathLike)):
        return
    several = isinstance(source, Iterable) and not hasattr(source, "read")
    wrong = [source] if not several or isinstance(source, bytes) else []
    wrong += [] if wrong else [
        one for one in source if not isinstance(one, (str, os.PathLike))
    ]  # fmt: skip
    if wrong:
        raise ValueError(
            "path must be a path, a list of paths, a data frame, a stream of Arrow "
            "(a dataset, a relation of DuckDB, a plan of polars), or an iterable of "
            f"data frames, got {'' if wrong[0] is source else 'a '}"
            f"{type(wrong[0]).__name__}"
            f"{'' if wrong[0] is source else f' in a {type(source).__name__}'}"
        )


def open_frames(
    tables: Iterable[Any], said: str, *, label: str, qid: str, ignore: Sequence[str]
) -> Rankings:
    """Tables of one kind, which are read once; columns of numbers are features."""
    every = pieces(tables, [], alike=True, empty=True)
    first = next(every, None)
    if first is None:
        raise ValueError(f"{said}: there is no document")
    first.check_columns([label, qid])
    for name in ignore:
        if name not in first.names or name in (label, qid):
            raise ValueError(
                f"ignore must name a feature, got {name!r} (columns: "
                f"{listed(first.names)})"
            )
    if not first.holds_numbers(label):
        raise ValueError(f"{said}: column {label!r} must hold numbers")
    others = [name for name in first.names if name not in (label, qid, *ignore)]
    features = [name for name in others if first.holds_numbers(name)]
    left_out = [name for name in others if name not in features]
    for name in left_out:
        _check_text(first, name)
    if not features:
        raise ValueError(f"{said}: no column but {label!r} and {qid!r} holds numbers")
    parts = chain([first], every)
    read = partial(_read, parts, said, label, qid, features)
    return Rankings(said, features, left_out, read)


def _check_text(piece: Piece, name: Any) -> None:
    """Refuse a column of text that begins with a number: it would be no feature."""
    cells = np.asarray(piece.column(name)[:GATHERED_ROWS]).tolist()
    first = next((cell for cell in cells if not is_missing(cell)), None)
    if isinstance(first, str) and _spells_number(first):
        raise ValueError(
            f"column {name!r} must hold numbers as numbers, got the text "
            f"{quoted(first)} (cast the column to numbers; ignore leaves it out)"
        )


def _spells_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False


def _read(
    parts: Iterable[Piece], said: str, label: str, qid: str, features: Sequence[Any]
) -> Iterator[Rows]:
    """All rows, which can be read once."""
    place, first, kind = partial(_place, said), 0, OneKind()
    for piece in parts:
        if not piece.n_rows:
            continue
        own = partial(place_after, place, first)

        def column(name: Any, piece: Piece = piece, own: Any = own) -> NDArray[Any]:
            return numbers_of(piece.column(name), f"column {name!r}", own)

        kind.check(piece.queries_of(qid).qid, qid, piece.number)
        data = [column(name) for name in features]
        ids = np.asarray(piece.column(qid))
        yield Rows(data, column(label), ids, place, first)
        first += piece.n_rows


def _place(said: str, row: int) -> str:
    return f"row {row} of {said}"


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="an Arrow table")
