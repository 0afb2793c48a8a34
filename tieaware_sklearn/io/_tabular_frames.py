"""CSV, TSV and Parquet files as data frames, all at once or some rows at a time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import IO, Any, NamedTuple

from .._optional import import_optional
from ._bunch import import_pandas
from ._folder_columns import columns_of_folders, type_of_values, value_of_folder
from ._short_rows import CheckedRows
from ._skipped_rows import without_rows
from ._tabular_errors import reading_table
from ._text_source import COMPRESSED_SUFFIXES, Location, TextSource
from ._wording import in_one_line, listed

_PARQUET = (".parquet", ".pq")
_BUFFER = 1 << 16
_TEXT = {".csv": ",", ".tsv": "\t"}
#: what query ids are
_TEXTS, _INTEGERS = "text", "integers"
_KIND_OF_VALUE = {str: _TEXTS, int: _INTEGERS}
# cells that stand for a missing number
_MISSING = ["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "-"]


class Head(NamedTuple):
    """A file: how its cells are parted, its columns, and what its query ids are.

    Those of a Parquet file without rows are nothing, whatever their type is.
    Columns that are in the names of folders have the values of `constants`.
    """

    source: TextSource
    separator: str | None
    names: list[Any]
    qid: str
    qid_kind: str
    constants: dict[str, Any]

    def column(self, name: str) -> str:
        """A column as a message names it."""
        if name in self.constants:
            return f"column {name!r} (in the name of the folder)"
        return f"column {name!r}"

    def place(self, row: int) -> str:
        """A row as a message names it: text has lines."""
        if self.separator is None:
            return f"{self.source}, row {row}"
        rows = islice(self.source.csv_rows(self.separator), row + 1, None)
        line, _ = next(rows, (0, []))
        return f"{self.source}, line {line}" if line else f"{self.source}, row {row}"


class Table(NamedTuple):
    """Rows of a file, from row number `first` on."""

    head: Head
    frame: Any
    first: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def rows(self, start: int, stop: int) -> Table:
        return Table(self.head, self.frame.iloc[start:stop], self.first + start)

    def place(self, row: int) -> str:
        """A row as a message names it."""
        return self.head.place(self.first + row)


def _kind(path: Location) -> str:
    """The suffix of the name, that of a compression left out."""
    plain: Any = path
    if path.suffix.lower() in COMPRESSED_SUFFIXES:
        plain = path.with_suffix("")
    return str(plain.suffix).lower()


def is_tabular(path: Location) -> bool:
    """Whether the name is that of a CSV, TSV or Parquet file."""
    return _kind(path) in (*_PARQUET, *_TEXT)


def all_tabular(paths: Sequence[Location]) -> bool:
    """Whether the files are tables; LETOR text does not go with them."""
    tabular = [is_tabular(path) for path in paths]
    if any(tabular) and not all(tabular):
        raise ValueError("all files must be of one kind: LETOR text, or CSV or Parquet")
    return all(tabular)


def separator_of(path: Location) -> str | None:
    """What parts the cells of text; None of Parquet."""
    return _TEXT.get(_kind(path))


def cells_of_parquet(path: Location) -> int:
    """How many cells a Parquet file has; one of text counts as eight."""
    source = TextSource(path)
    with reading_table(source, None), _opened(source, None) as file:
        parquet = _parquet().ParquetFile(file)
    n_rows, schema = int(parquet.metadata.num_rows), parquet.schema
    kinds = [schema.column(j).physical_type for j in range(len(schema.names))]
    return n_rows * sum(8 if kind == "BYTE_ARRAY" else 1 for kind in kinds)


def pandas_of_tables() -> Any:
    """The library that reads tables."""
    return import_pandas("reading CSV and Parquet")


def read_heads(
    paths: Sequence[Location], *, label: str, qid: str, ignore: Sequence[str]
) -> list[Head]:
    """The columns of the files, which must be the same."""
    if label == qid:
        raise ValueError(
            f"label and qid must be different columns, got {label!r} twice"
        )
    heads = _typed([_read_head(path, qid) for path in paths])
    for head in heads:
        for name in (label, qid):
            if name not in head.names:
                raise ValueError(_no_column(head, name))
        if differences := _differences(head, heads[0]):
            raise ValueError(
                f"{head.source}: must have the columns of {paths[0]}, but {differences}"
            )
        for name in head.names:
            if head.names.count(name) > 1:
                raise ValueError(
                    f"{head.source}: must have each column once, got {name!r} twice"
                )
    _check_kinds([head for head in heads if head.qid_kind], qid)
    for name in ignore:
        if name not in heads[0].names or name in (label, qid):
            raise ValueError(
                f"ignore must name a feature, got {name!r} (columns: "
                f"{listed(heads[0].names)})"
            )
    return heads


def _check_kinds(heads: Sequence[Head], qid: str) -> None:
    for head in heads:
        if head.qid_kind != heads[0].qid_kind:
            raise ValueError(
                f"{head.source}: {head.column(qid)} must hold {heads[0].qid_kind}, as "
                f"in {heads[0].source}, got {head.qid_kind}: a query of both files "
                "would be two queries (write the ids of one as those of the other: "
                "tieaware convert FILE OUT.csv writes any as text)"
            )


def _differences(head: Head, first: Head) -> str:
    """The columns that only one of two files has."""
    lacking = [repr(name) for name in first.names if name not in head.names]
    extra = [repr(name) for name in head.names if name not in first.names]
    said = [("lacks ", lacking), ("has also ", extra)]
    return " and ".join(what + listed(names) for what, names in said if names)


def _typed(heads: list[Head]) -> list[Head]:
    """Each column in the names of folders with one type in all of them."""
    kinds: dict[str, Any] = {
        name: type_of_values(
            head.constants[name] for head in heads if name in head.constants
        )
        for name in {name for head in heads for name in head.constants}
    }
    if kinds.get(heads[0].qid) is float:
        kinds[heads[0].qid] = str  # 007 is not 7
    found = []
    for head in heads:
        values = {
            name: value_of_folder(value, kinds[name])
            for name, value in head.constants.items()
        }
        if head.qid in values:
            head = head._replace(qid_kind=_KIND_OF_VALUE[kinds[head.qid]])
        found.append(head._replace(constants=values))
    return found


def _read_head(path: Location, qid: str) -> Head:
    source = TextSource(path)
    separator = separator_of(path)
    in_folders = columns_of_folders(path)
    with reading_table(source, separator), _opened(source, separator) as file:
        if separator is not None:
            frame = pandas_of_tables().read_csv(
                file, sep=separator, index_col=False, nrows=0
            )
            names, kind = list(frame.columns), _TEXTS
        else:
            parquet = _parquet().ParquetFile(file)
            schema, n_rows = parquet.schema_arrow, parquet.metadata.num_rows
            of_index = (schema.pandas_metadata or {}).get("index_columns", [])
            names = [name for name in schema.names if name not in of_index]
            kind = ""
            if n_rows and qid in names:
                kind = _kind_of_ids(schema.field(qid).type, qid)
    # a column of the file itself goes before
    constants = {name: v for name, v in in_folders.items() if name not in names}
    return Head(source, separator, [*names, *constants], qid, kind, constants)


def _kind_of_ids(kind: Any, qid: str) -> str:
    """What ids of an Arrow type are: those of one kind are told apart alike."""
    types = _arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_nested(kind):
        raise ValueError(
            f"column {qid!r} must hold one number or text per row, got the type {kind}"
        )
    if types.is_uint64(kind):
        return "64-bit integers without a sign"
    if types.is_integer(kind):
        return _INTEGERS
    if _is_text(kind):
        return _TEXTS
    return f"values of the type {kind}"


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    known = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_text(kind) for is_text in known)


def read_tables(
    head: Head,
    columns: Sequence[str] | None = None,
    n_rows: int | None = None,
    first_row: int = 0,
) -> Iterator[Table]:
    """The rows of a file from one on, all at once or so many at a time.

    `columns` are read for certain, the others only where they cost nothing.
    """
    first, rest = first_row, None
    source, separator, constants = head.source, head.separator, head.constants
    if separator is not None:
        # whole pieces, so that what follows is divided as ever
        first = first_row - first_row % n_rows if n_rows else 0
        rest = without_rows(source, first) if first else None
        first = 0 if rest is None else first
    with reading_table(source, separator), rest or _opened(source, separator) as file:
        if separator is None:
            wanted = [name for name in columns or head.names if name not in constants]
            frames = _parquet_frames(file, wanted, n_rows, first)
        else:
            frames = _text_frames(file, head, n_rows)
        # before the file is closed, also where a caller stops early
        with closing(frames):
            for frame in frames:
                table = Table(head, frame.assign(**constants), first)
                first += len(frame)
                if first > first_row:
                    yield table.rows(max(first_row - table.first, 0), len(frame))


def _opened(source: TextSource, separator: str | None) -> IO[bytes]:
    return source.open() if separator is None else source.open_text()


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="reading Parquet")


def _parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="io", purpose="reading Parquet")


def _parquet_frames(
    file: Any, columns: Sequence[str], n_rows: int | None, first_row: int
) -> Generator[Any]:
    # in pieces, however large the row groups are; read ahead, they would all be kept
    parquet = _parquet().ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
    try:
        if n_rows is None:
            table = parquet.read(columns)
            _check_text(table, 0)
            if table.num_rows:
                yield table.to_pandas(ignore_metadata=True)
            return
        groups, start = list(range(parquet.num_row_groups)), 0
        while groups and first_row >= (n := _rows_of_group(parquet, groups[0])):
            first_row, start = first_row - n, start + n
            del groups[0]
        for batch in parquet.iter_batches(n_rows, columns=columns, row_groups=groups):
            _check_text(batch, start)
            start += batch.num_rows
            if first_row < batch.num_rows:
                yield batch.slice(first_row).to_pandas(ignore_metadata=True)
            first_row = max(first_row - batch.num_rows, 0)
    except (_arrow().lib.ArrowException, OSError) as error:
        if getattr(error, "filename", None) is not None:
            raise  # of a URL, and no fault of the file
        if (group := _damaged_group(parquet, columns)) is None:
            raise
        raise ValueError(f"{group} cannot be read: {in_one_line(error)}") from None


def _check_text(table: Any, first: int) -> None:
    """Raise for text that is none, which Arrow hands on; `first` is the first row."""
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if not _is_text(column.type):
            continue
        try:
            column.validate(full=True)
        except _arrow().lib.ArrowInvalid:
            row = next(row for row, cell in enumerate(column) if not _is_utf_8(cell))
            raise ValueError(
                f"column {name!r} must hold text in UTF-8, got other bytes in row "
                f"{first + row}"
            ) from None


def _is_utf_8(cell: Any) -> bool:
    try:
        cell.as_py()
    except UnicodeDecodeError:
        return False
    return True


def _damaged_group(parquet: Any, columns: Sequence[str]) -> str | None:
    """The first row group that cannot be read alone, and its rows."""
    first = 0
    for number in range(parquet.num_row_groups):
        groups, end = [number], first + _rows_of_group(parquet, number)
        try:
            for _ in parquet.iter_batches(columns=columns, row_groups=groups):
                pass
        except (_arrow().lib.ArrowException, OSError):
            return f"row group {number} (rows {first} to {end - 1})"
        first = end
    return None


def _rows_of_group(parquet: Any, number: int) -> int:
    return int(parquet.metadata.row_group(number).num_rows)


def _text_frames(file: Any, head: Head, n_rows: int | None) -> Generator[Any]:
    """Data frames whose query ids stay text: 007 is not 7, and NA may be a query."""
    pandas, qid, separator = pandas_of_tables(), head.qid, head.separator or ""
    n_cells = len(head.names) - len(head.constants)
    rows = CheckedRows(file, head.source, separator, n_cells)
    # before version 3 pandas read some numbers wrong in their last bit
    old = int(pandas.__version__.partition(".")[0]) < 3
    exact = {"float_precision": "round_trip"} if old else {}
    reader = pandas.read_csv(
        io.BufferedReader(rows),
        sep=separator,
        index_col=False,
        dtype={qid: str},
        keep_default_na=False,
        na_values={name: [] if name == qid else _MISSING for name in head.names},
        iterator=True,
        **exact,
    )
    with reader as frames:
        while True:
            with warnings.catch_warnings():
                # a row longer than the head would shift or lose cells
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                try:
                    frame = frames.read(n_rows)
                except StopIteration:
                    frame = None
            at_end = frame is None or n_rows is None or len(frame) < n_rows
            rows.check(at_end=at_end)
            if frame is not None and len(frame):
                yield frame
            if at_end:
                return


def _no_column(head: Head, name: str) -> str:
    names = listed(head.names)
    if head.separator is not None and len(head.names) == 1 and ";" in names:
        return f"{head.source}: cells must be separated by {head.separator!r}, got ';'"
    return (
        f"{head.source}: there is no column {name!r} (columns: {names}); label and qid "
        "(--label, --qid) choose other columns"
    )
