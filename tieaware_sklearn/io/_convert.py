"""Rankings in files written as one file of another format, some rows at a time."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._display import show_progress
from .._optional import import_optional
from ._batches import rows_of_batch
from ._float_rows import FloatRows, float_rows
from ._letor import letor_lines
from ._scan import Scan
from ._tabular_frames import is_tabular
from ._text_source import COMPRESSED_SUFFIXES
from ._whole_file import number_as_text, whole_file
from ._wording import quoted

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
#: endings of files that would not hold what their names say
_OTHER_FORMATS = {
    *(".arrow", ".arrows", ".avro", ".delta", ".feather", ".ipc", ".lance", ".orc"),
    *(".geojson", ".json", ".jsonl", ".ndjson", ".html", ".xml", ".yaml", ".yml"),
    *(".ods", ".xls", ".xlsb", ".xlsm", ".xlsx", ".sav", ".dta", ".sas7bdat"),
    *(".db", ".duckdb", ".sql", ".sqlite", ".sqlite3", ".arff", ".rds", ".rdata"),
    *(".h5", ".hdf", ".hdf5", ".mat", ".npy", ".npz", ".joblib", ".pickle", ".pkl"),
    *(".7z", ".br", ".lz", ".lz4", ".lzma", ".lzo", ".rar", ".snappy", ".sz", ".tar"),
    *(".tgz", ".z", ".zip", ".zst", ".zstd"),
}
#: digits of a feature number; of a query id
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_ID = re.compile(r"0|-?[1-9][0-9]{0,18}")


class Columns(NamedTuple):
    """What the columns of a table are called."""

    label: str
    qid: str
    features: Sequence[str]

    def names(self) -> list[str]:
        """All names, which must differ."""
        for name in (self.label, self.qid):
            if self.label == self.qid or name in self.features:
                raise ValueError(
                    f"the columns of labels and query ids and the features must have "
                    f"different names, got {quoted(name)} twice"
                )
        return [self.label, self.qid, *self.features]


def check_form(path: Path, option: str) -> None:
    """Raise before anything is read if no file of that name can be written."""
    ending = (path.with_suffix("") if path.suffix == ".gz" else path).suffix
    if ending.lower() in _OTHER_FORMATS:
        raise ValueError(
            f"{option} must end in .parquet, .csv or .tsv, or have a name for LETOR "
            f"text such as .txt, got {path}: {ending} is another format"
        )
    if path.suffix.lower() in COMPRESSED_SUFFIXES and path.suffix != ".gz":
        raise ValueError(f"a file is compressed as .gz or not at all, got {path}")
    if is_tabular(path) and _separator(path) is None:
        _parquet()


def feature_numbers(names: Sequence[str]) -> list[int]:
    """Numbers of features in LETOR text: their names, if these ascend, or 1, 2, ..."""
    numbers = [int(name) for name in names if _NUMBER.fullmatch(name)]
    ascend = all(one < other for one, other in pairwise(numbers))
    if len(numbers) == len(names) and ascend:
        return numbers
    return list(range(1, len(names) + 1))


def convert(
    scan: Scan[Any],
    path: Path,
    *,
    label: str = "label",
    qid: str = "qid",
    progress: bool = False,
) -> None:
    """Write all rows in their order; the file appears once it is complete.

    Parameters
    ----------
    scan : Scan
        What is to be read.
    path : Path
        By its name Parquet, CSV, TSV or LETOR text; gzipped if it ends in ``.gz``.
    label, qid : str
        Columns of labels and query ids, if a table is written.
    progress : bool
        Whether to show a bar.

    Raises
    ------
    ValueError
        For whole numbers that a float64 does not hold, for columns of one name and,
        in LETOR text, for query ids that are not 64-bit integers.
    OSError
        If the file cannot be written; it names `path`.
    """
    columns = Columns(label, qid, scan.feature_names)
    tabular = is_tabular(path)
    names = columns.names() if tabular else []
    bar = show_progress(
        _readable(float_rows(scan, rows_of_batch(None, len(scan.feature_names)))),
        progress,
        scan.n_rows,
        "document",
        "converting",
        size=lambda rows: len(rows.target),
    )
    separator = _separator(path)
    if tabular and separator is None:
        _write_parquet(path, names, bar)
        return
    with whole_file(path) as file:
        if separator is None:
            _write_letor(file, scan, bar)
        else:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(chain.from_iterable(map(_cells, bar)))


def _separator(path: Path) -> str | None:
    name = path.with_suffix("") if path.suffix == ".gz" else path
    return _SEPARATORS.get(name.suffix.lower())


def _readable(rows: Iterator[FloatRows]) -> Iterator[FloatRows]:
    """The rows; a file that cannot be read is not taken for the one that is written."""
    try:
        yield from rows
    except OSError as error:
        name = "" if error.filename is None else f"{error.filename}: "
        raise ValueError(f"{name}{error.strerror or error}") from error


def _cells(rows: FloatRows) -> Iterator[list[Any]]:
    """Cells of CSV; what is missing is empty."""
    for label, query, values in zip(
        rows.target.tolist(), rows.qid.tolist(), rows.data.tolist(), strict=True
    ):
        numbers = [
            "" if value != value else number_as_text(value)
            for value in (label, *values)
        ]
        yield [numbers[0], query, *numbers[1:]]


def _write_letor(file: Any, scan: Scan[Any], batches: Iterable[FloatRows]) -> None:
    numbers = feature_numbers(scan.feature_names)
    first = 0
    for rows in batches:
        ids = _whole_ids(rows.qid, scan, first)
        file.writelines(letor_lines(rows.data, rows.target, ids, numbers))
        first += len(ids)


def _whole_ids(qid: NDArray[Any], scan: Scan[Any], first: int) -> NDArray[np.int64]:
    """Query ids as integers, each of which is spelled in one way only."""
    if qid.dtype.kind == "i":
        return qid.astype(np.int64)
    ids = []
    for row, text in enumerate(map(str, qid.tolist()), start=first):
        if not _ID.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
            raise ValueError(
                f"{scan.place(row)}: in LETOR text a query id must be a 64-bit integer "
                f"without leading zeros, got {quoted(text)}"
            )
        ids.append(int(text))
    return np.array(ids, dtype=np.int64)


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="writing Parquet")


def _parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="io", purpose="writing Parquet")


def _write_parquet(
    path: Path, names: Sequence[str], batches: Iterator[FloatRows]
) -> None:
    """A row group for each batch; query ids have the type of the first one."""
    arrow, parquet = _arrow(), _parquet()

    def table(rows: FloatRows, kind: Any = None) -> Any:
        ids = arrow.array(rows.qid, type=kind)
        numbers = [arrow.array(column) for column in (rows.target, *rows.data.T)]
        return arrow.table([numbers[0], ids, *numbers[1:]], names=names)

    with whole_file(path, binary=True) as file:
        first = table(next(batches))
        kind = first.schema.types[1]
        with parquet.ParquetWriter(file, first.schema) as writer:
            writer.write_table(first)
            for rows in batches:
                writer.write_table(table(rows, kind))
