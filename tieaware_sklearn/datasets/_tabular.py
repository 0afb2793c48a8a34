"""CSV and Parquet files with a label, a query id and numeric features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._optional import import_optional

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")


def is_tabular(path: Path) -> bool:
    """Whether the name is that of a CSV, TSV or Parquet file."""
    return path.name.lower().endswith(SUFFIXES)


def load_tabular(paths: Sequence[Path], *, label: str, qid: str) -> Bunch:
    """Read CSV, TSV or Parquet files of the same columns as one set of rows.

    Columns without a single number are left out; `left_out` names them. A
    number missing is NaN.

    Raises
    ------
    ValueError
        For a column that is not there, a cell that is not a number in a column
        that has numbers (with file and line), an empty file.
    ImportError
        Without pandas.
    """
    pandas = import_optional("pandas", extra="io", purpose="reading CSV and Parquet")
    frames = [_read(pandas, path) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        for name in (label, qid):
            if name not in frame.columns:
                raise ValueError(
                    f"{path}: there is no column {name!r} (columns: "
                    f"{', '.join(map(str, frame.columns))})"
                )
        if set(frame.columns) != set(frames[0].columns):
            raise ValueError(f"{path}: its columns are not those of {paths[0]}")
        if not len(frame):
            raise ValueError(f"{path}: the file holds no documents")
    columns: dict[str, Any] = {}
    left_out = []
    for name in frames[0].columns:
        if name == qid:
            continue
        parts = [
            _numbers(pandas, path, name, frame[name])
            for path, frame in zip(paths, frames, strict=True)
        ]
        if all(part is None for part in parts):
            left_out.append(str(name))
            continue
        for path, part in zip(paths, parts, strict=True):
            if part is None:
                raise ValueError(f"{path}: column {name!r} holds no number")
        columns[name] = np.concatenate(parts)
    if label in left_out:
        raise ValueError(f"{paths[0]}: column {label!r} holds no number")
    target = columns.pop(label)
    _require_labels(paths, frames, label)
    if not columns:
        raise ValueError(f"{paths[0]}: no column but {label!r} holds numbers")
    return Bunch(
        data=np.column_stack(list(columns.values())),
        target=target,
        qid=pandas.concat([frame[qid] for frame in frames], ignore_index=True),
        feature_names=[str(name) for name in columns],
        left_out=left_out,
    )


def _read(pandas: Any, path: Path) -> Any:
    name = path.name.lower()
    try:
        if name.endswith((".parquet", ".pq")):
            import_optional("pyarrow", extra="io", purpose="reading Parquet")
            return pandas.read_parquet(path)
        return pandas.read_csv(path, sep="\t" if ".tsv" in name else ",")
    except OSError as error:
        # pyarrow reports what is not a Parquet file so, without a file name
        if error.filename is not None or error.errno is not None:
            raise
        raise ValueError(f"{path}: {error}") from None
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: {error}") from None


def _numbers(pandas: Any, path: Path, name: str, column: Any) -> Any:
    """The column as numbers, or None if it holds no number at all."""
    if column.isna().all():
        return np.full(len(column), np.nan)
    if pandas.api.types.is_numeric_dtype(column):
        return column.to_numpy(
            dtype=np.float64 if column.isna().any() else None, na_value=np.nan
        )
    numbers = pandas.to_numeric(column, errors="coerce")
    if numbers.isna().all():
        return None
    bad = (numbers.isna() & column.notna()).to_numpy()
    if not bad.any():
        return numbers.to_numpy(dtype=np.float64)
    row = int(np.argmax(bad))
    raise ValueError(
        f"{path}, {_place(path, row)}: column {name!r} must hold numbers, got "
        f"{column.iloc[row]!r}"
    )


def _require_labels(paths: Sequence[Path], frames: Sequence[Any], label: str) -> None:
    for path, frame in zip(paths, frames, strict=True):
        missing = frame[label].isna().to_numpy()
        if missing.any():
            place = _place(path, int(np.argmax(missing)))
            raise ValueError(f"{path}, {place}: column {label!r} is empty")


def _place(path: Path, row: int) -> str:
    """Where a row stands: CSV has lines, below a head; Parquet has rows."""
    is_text = not path.name.lower().endswith((".parquet", ".pq"))
    return f"line {row + 2}" if is_text else f"row {row}"
