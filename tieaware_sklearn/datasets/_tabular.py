"""CSV and Parquet files with a label, a query id and numeric features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._files import COMPRESSED_SUFFIXES, TextSource
from .._optional import import_optional

_PARQUET = (".parquet", ".pq")
_TEXT = {".csv": ",", ".tsv": "\t"}
# cells that stand for a missing number
_MISSING = ["", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None", "-"]


class _Table(NamedTuple):
    source: TextSource
    separator: str | None
    frame: Any

    def place(self, row: int) -> str:
        """A row as a message names it: text has lines."""
        if self.separator is None:
            return f"{self.source}, row {row}"
        rows = self.source.csv_rows(self.separator)
        line, _ = next(islice(rows, row + 1, None))
        return f"{self.source}, line {line}"


def _kind(path: Path) -> str:
    """The suffix of the name, that of a compression left out."""
    if path.suffix.lower() in COMPRESSED_SUFFIXES:
        path = path.with_suffix("")
    return path.suffix.lower()


def is_tabular(path: Path) -> bool:
    """Whether the name is that of a CSV, TSV or Parquet file."""
    return _kind(path) in (*_PARQUET, *_TEXT)


def load_tabular(
    paths: Sequence[Path], *, label: str, qid: str, ignore: Sequence[str] = ()
) -> Bunch:
    """Read CSV, TSV or Parquet files of the same columns as one set of rows.

    Columns of `ignore` are not looked at, and those without a single number or
    without a name are left out; `left_out` names them. A number missing is NaN.
    `place` gives the file and line of a row.

    Raises
    ------
    ValueError
        For a column that is not there, a cell that is not a number in a column
        that has numbers (with file and line), an empty file.
    ImportError
        Without pandas.
    """
    if label == qid:
        raise ValueError(f"the label and the query id are both column {label!r}")
    pandas = import_optional("pandas", extra="io", purpose="reading CSV and Parquet")
    tables = [_read(pandas, path, qid) for path in paths]
    columns_of_first = list(tables[0].frame.columns)
    for source, separator, frame in tables:
        for name in (label, qid):
            if name not in frame.columns:
                raise ValueError(_no_column(source, separator, frame, name))
        if set(frame.columns) != set(columns_of_first):
            raise ValueError(f"{source}: its columns are not those of {paths[0]}")
        if not len(frame):
            raise ValueError(f"{source}: the file holds no documents")

    for name in ignore:
        if name not in map(str, columns_of_first) or name in (label, qid):
            raise ValueError(
                f"--ignore must name a feature, got {name!r} (columns: "
                f"{', '.join(map(str, columns_of_first))})"
            )
    columns: dict[str, NDArray[Any]] = {}
    left_out = []
    for name in columns_of_first:
        if name == qid or str(name) in ignore:
            continue
        parts = [_numbers(pandas, table, name) for table in tables]
        if all(part is None for part in parts) or str(name).startswith("Unnamed:"):
            left_out.append(str(name))
            continue
        parts = [
            np.full(len(table.frame), np.nan) if part is None else part
            for table, part in zip(tables, parts, strict=True)
        ]
        columns[str(name)] = np.concatenate(parts)
    if label not in columns:
        raise ValueError(f"{paths[0]}: column {label!r} holds no number")
    target = columns.pop(label)
    if not columns:
        raise ValueError(f"{paths[0]}: no column but {label!r} holds numbers")
    return Bunch(
        data=_one_matrix(list(columns.values())),
        target=target,
        qid=_query_ids(tables, qid),
        feature_names=list(columns),
        left_out=left_out,
        place=_placer(tables),
    )


def _read(pandas: Any, path: Path, qid: str) -> _Table:
    source = TextSource(path)
    separator = _TEXT.get(_kind(path))
    try:
        with source.reading():
            if separator is None:
                import_optional("pyarrow", extra="io", purpose="reading Parquet")
                with source.open() as file:
                    return _Table(source, None, pandas.read_parquet(file))
            frame = _read_text(pandas, source, separator, qid)
            return _Table(source, separator, frame)
    except (pandas.errors.ParserWarning, pandas.errors.ParserError) as error:
        raise ValueError(_ragged(source, separator or "", str(error))) from None
    except ValueError as error:
        if str(error).startswith(f"{source}:"):
            raise
        raise ValueError(f"{source}: {error}") from None


def _ragged(source: TextSource, separator: str, error: str) -> str:
    """The first row with more cells than the head."""
    rows = source.csv_rows(separator)
    _, head = next(rows)
    for line, cells in rows:
        if len(cells) > len(head):
            return (
                f"{source}, line {line}: a row must not have more cells than the head "
                f"({len(head)}), got {len(cells)}"
            )
    return f"{source}: {error.strip()}"


def _read_text(pandas: Any, source: TextSource, separator: str, qid: str) -> Any:
    """A data frame whose query ids stay text: 007 is not 7, and NA may be a query."""
    with source.open() as file:
        names = pandas.read_csv(file, sep=separator, index_col=False, nrows=0).columns
    with source.open() as file, warnings.catch_warnings():
        # a row longer than the head would shift or lose cells
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        return pandas.read_csv(
            file,
            sep=separator,
            index_col=False,
            dtype={qid: str},
            keep_default_na=False,
            na_values={name: [] if name == qid else _MISSING for name in names},
        )


def _no_column(source: TextSource, separator: str | None, frame: Any, name: str) -> str:
    names = ", ".join(map(str, frame.columns))
    if separator is not None and len(frame.columns) == 1 and ";" in names:
        return f"{source}: cells are parted by ';', but must be by {separator!r}"
    return f"{source}: there is no column {name!r} (columns: {names})"


def _numbers(pandas: Any, table: _Table, name: Any) -> Any:
    """The column as numbers, or None if it holds no number at all."""
    column = table.frame[name]
    types = pandas.api.types
    if column.isna().all() or types.is_datetime64_any_dtype(column):
        return None
    if types.is_timedelta64_dtype(column):
        return None
    if types.is_numeric_dtype(column):
        if column.isna().any():
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return column.to_numpy()
    numbers = pandas.to_numeric(column, errors="coerce")
    if numbers.isna().all():
        return None
    bad = (numbers.isna() & column.notna()).to_numpy()
    if not bad.any():
        return numbers.to_numpy(dtype=np.float64)
    row = int(np.argmax(bad))
    raise ValueError(
        f"{table.place(row)}: column {name!r} must hold numbers, got "
        f"{column.iloc[row]!r}"
    )


def _query_ids(tables: Sequence[_Table], qid: str) -> NDArray[Any]:
    """Query ids as the files spell them; text unless all files hold one type."""
    columns = [table.frame[qid] for table in tables]
    for table, column in zip(tables, columns, strict=True):
        missing = (column.isna() | (column.astype(str) == "")).to_numpy()
        if missing.any():
            row = int(np.argmax(missing))
            raise ValueError(f"{table.place(row)}: column {qid!r} is empty")
    arrays = [column.to_numpy() for column in columns]
    if len({array.dtype for array in arrays}) > 1:
        arrays = [column.astype(str).to_numpy() for column in columns]
    return np.concatenate(arrays)


def _one_matrix(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """The columns side by side; no integer loses its ties to a float neighbour.

    Integers that a float64 cannot hold are replaced by their ranks, which order
    and tie as they do.
    """
    common = np.result_type(*columns)
    if common.kind == "f":
        columns = [
            np.unique(column, return_inverse=True)[1]
            if column.dtype.kind in "iu" and not _fits(column)
            else column
            for column in columns
        ]
    return np.column_stack(columns)


def _fits(column: NDArray[Any]) -> bool:
    return int(column.max()) <= 2**53 and int(column.min()) >= -(2**53)


def _placer(tables: Sequence[_Table]) -> Callable[[int], str]:
    ends = np.cumsum([len(table.frame) for table in tables])

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        return tables[at].place(row - int(ends[at]) + len(tables[at].frame))

    return place
