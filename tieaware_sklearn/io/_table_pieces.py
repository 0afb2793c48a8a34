"""Tables of pandas, polars and Arrow: their columns, their rows, several as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils import Bunch

from .._engine import Queries, SeenQueries, check_qid, numbers_of
from .._optional import import_optional
from ._table_columns import (
    OneKind,
    check_spelled,
    holds_numbers_arrow,
    holds_numbers_pandas,
    holds_numbers_polars,
    is_nested,
    plain_column,
)
from ._wording import listed

Found = TypeVar("Found")
#: rows that are gathered if nothing else is said: a call costs as much as thousands
GATHERED_ROWS = 1 << 16
_KINDS = {
    ("pandas", "DataFrame"): "a pandas DataFrame",
    ("polars", "DataFrame"): "a polars DataFrame",
    ("pyarrow", "Table"): "an Arrow table",
    ("pyarrow", "RecordBatch"): "an Arrow record batch",
}


class Piece(NamedTuple):
    """A table, and its number among the batches, from 0."""

    table: Any
    number: int

    @property
    def kind(self) -> str:
        """What it is; empty for what is no table."""
        return next(
            (
                _KINDS[key]
                for own in type(self.table).__mro__
                if (key := (own.__module__.partition(".")[0], own.__name__)) in _KINDS
            ),
            "",
        )

    @property
    def n_rows(self) -> int:
        return int(self.table.shape[0])

    @property
    def names(self) -> list[Any]:
        """The columns."""
        if self.kind.startswith("an Arrow"):
            return list(self.table.schema.names)
        return list(self.table.columns)

    def column(self, name: str) -> Any:
        """A column, of which NumPy can make an array."""
        if self.kind.startswith("an Arrow"):
            return plain_column(self.table.column(name))
        return plain_column(self.table[name])

    def check_columns(self, names: Iterable[Any], why: str = "") -> None:
        """It must have these columns, and each column once."""
        own = set(self.names)
        if len(own) < len(self.names):
            twice = next(name for name in own if self.names.count(name) > 1)
            raise ValueError(
                f"batches must have each column once, got {twice!r} twice in batch "
                f"{self.number}"
            )
        for name in names:
            if name not in own:
                raise ValueError(
                    f"batches must have a column {name!r}{', ' if why else ''}{why}, "
                    f"got {listed(self.names)} in batch {self.number}"
                )

    def queries(self, qid: str) -> Queries:
        """The queries, whose ids must not be missing."""
        column, name = self.column(qid), f"column {qid!r} of batch {self.number}"
        if is_nested(column):
            kind = getattr(column, "type", None) or column.dtype
            raise ValueError(f"{name} must hold one value in each cell, got {kind}")
        queries = check_qid(np.asarray(column), n_rows=self.n_rows, name=name)
        check_spelled(queries.qid, name)
        return queries

    def select(self, names: Sequence[str]) -> Piece:
        """Some of its columns; those of a record batch as a table."""
        if self.kind == "an Arrow record batch":
            whole = _arrow().Table.from_batches([self.table])
            return Piece(whole.select(list(names)), self.number)
        if self.kind == "an Arrow table":
            return Piece(self.table.select(list(names)), self.number)
        return Piece(self.table[list(names)], self.number)

    def numeric(self) -> list[Any]:
        """The columns with numbers or flags."""
        if self.kind == "a pandas DataFrame":
            return [n for n in self.names if holds_numbers_pandas(self.table[n])]
        if self.kind == "a polars DataFrame":
            kinds = self.table.schema.items()
            return [name for name, kind in kinds if holds_numbers_polars(kind)]
        return [f.name for f in self.table.schema if holds_numbers_arrow(f.type)]

    def matrix(self, names: Sequence[str]) -> Any:
        """Some columns as a table; numbers that NumPy has as objects become its own."""
        table = self.select(names).table
        for j, name in enumerate(names):
            given = table.column(j) if self.kind.startswith("an Arrow") else table[name]
            values = np.asarray(column := plain_column(given))
            if values.dtype.kind == "O":
                if any(isinstance(value, (str, bytes)) for value in values.tolist()):
                    continue  # of which X has errors of its own
                values = numbers_of(values, f"column {name!r}")
            elif column is not given:
                values = column
            elif self.kind != "a pandas DataFrame" or not hasattr(column, "cat"):
                continue
            if self.kind == "a pandas DataFrame":
                table = table.copy(deep=False)
                table.isetitem(j, values)
            elif self.kind == "a polars DataFrame":
                table = table.with_columns(_polars().Series(name, values))
            else:
                table = table.set_column(
                    j, name, [values] if isinstance(values, np.ndarray) else values
                )
        return table

    def rows(self, start: int, stop: int) -> Piece:
        """Some of its rows, without a copy."""
        if self.kind == "a pandas DataFrame":
            return Piece(self.table.iloc[start:stop], self.number)
        return Piece(self.table.slice(start, stop - start), self.number)


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
    if Piece(batches, 0).kind:
        raise ValueError(
            "batches must be an iterable of tables, got a single "
            f"{type(batches).__name__} (a list of it is one)"
        )
    first: Piece | None = None
    for number, table in enumerate(batches):
        piece = Piece(table, number)
        if not piece.kind:
            raise ValueError(
                "batches must hold tables of pandas, polars or Arrow, got "
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


def as_tables(
    batches: Iterable[Any], *, label: str, qid: str, features: Sequence[str]
) -> Iterable[Any]:
    """Batches of files as data frames with these columns; tables as they are."""
    if Piece(batches, 0).kind:
        return batches
    return (
        _of_bunch(batch, number, label, qid, features)
        if isinstance(batch, Bunch)
        else batch
        for number, batch in enumerate(batches)
    )


def _of_bunch(
    batch: Bunch, number: int, label: str, qid: str, features: Sequence[str]
) -> Any:
    pandas = import_optional("pandas", extra="io", purpose="evaluating batches")
    columns = {label: batch.target, qid: batch.qid}
    names = list(batch.feature_names)
    for name in features:
        if name not in names:
            raise ValueError(
                f"batches must have a feature {name!r}, got {listed(names)} in batch "
                f"{number}"
            )
        columns[name] = np.asarray(batch.data)[:, names.index(name)]
    return pandas.DataFrame(columns)


def as_one(parts: Sequence[Piece]) -> Any:
    """The rows of tables of one kind and with the same columns, one after another.

    Columns whose types differ get one that holds both.
    """
    tables, kind = [part.table for part in parts], parts[0].kind
    if len(tables) == 1:
        return tables[0]
    if kind == "a pandas DataFrame":
        pandas = import_optional("pandas", extra="io", purpose="a pandas DataFrame")
        return pandas.concat(tables)
    if kind == "a polars DataFrame":
        return _polars().concat(tables, how="diagonal_relaxed")
    arrow = _arrow()
    if kind == "an Arrow record batch":
        tables = [arrow.Table.from_batches([table]) for table in tables]
    whole = arrow.concat_tables(tables, promote_options="permissive")
    if kind == "an Arrow table":
        return whole
    (batch,) = whole.combine_chunks().to_batches()
    return batch


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
        queries = piece.queries(qid)
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
        return of_rows(Piece(as_one(parts), 0))
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


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="an Arrow table")


def _polars() -> Any:
    return import_optional("polars", extra="test", purpose="a polars DataFrame")
