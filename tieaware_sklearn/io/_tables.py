"""Tables with a label, a query id and numeric features: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine import numbers_of
from .._optional import import_optional
from ._csv import NUMBER, CsvFile, kinds_of_csv, open_csv, read_csv
from ._locate import (
    Location,
    PathLike,
    columns_of_folders,
    find_files,
    is_tabular,
    separator_of,
    type_of_values,
    value_of_folder,
)
from ._rows import Place, Rankings, Rows, framed, place_after
from ._source import TextSource, no_documents
from ._wording import in_one_line, listed, quoted

#: rows that are read together, and cells, of Parquet; those that tell what text is
_ROWS, _CELLS, _FIRST_ROWS = 1 << 16, 1 << 21, 1 << 12
_BUFFER = 1 << 16
#: what query ids are
_TEXTS, _INTEGERS = "text", "integers"
_KIND_OF_VALUE = {str: _TEXTS, int: _INTEGERS}


def load_table(
    path: PathLike | Sequence[PathLike],
    *,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    thousands: str | None = None,
    as_frame: bool = False,
) -> Bunch:
    r"""Read a ranking from CSV, TSV or Parquet, with rows in any order.

    Parameters
    ----------
    path : path, or list of paths
        Files, whose kind is recognised by the end of their names. Text may be
        compressed. Reading needs pyarrow. Several files with the same columns are read
        as one. Folders, patterns and URLs are as in `iter_batches`.
    label, qid : str, default="label", "qid"
        Columns that hold labels and query ids.
    ignore : list of str, default=()
        Columns to leave out. Columns without numbers or without a name are always
        left out.
    missing_values : list of str, default=()
        Cells of CSV and TSV that stand for a missing number, besides the empty one,
        ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``,
        ``null``, ``None``, ``none``, ``-`` and ``?``. None of them is missing among
        query ids.
    thousands : str, optional
        What parts groups of digits in CSV and TSV: ``","`` reads ``1,406.84`` as
        1406.84.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with their names.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), with NaN for missing cells; ``target``,
        float64, and ``qid``, of shape (n_rows,), where ``qid`` holds strings as the
        file spells them or, from Parquet, numbers; ``feature_names``; ``left_out``,
        the columns without numbers; ``place``, a function that returns the file and
        line of a row; ``DESCR``.

    Raises
    ------
    ValueError
        For a missing column, text in a column of numbers and the like (all that is
        wrong with a file of text is said at once, with lines and remedies), numbers in
        a column of Parquet whose type is text, an empty file, a file of another kind,
        and files whose query ids are of different kinds (such as text and integers).
    ImportError
        If pyarrow is not installed.

    See Also
    --------
    iter_batches : Reads tables larger than memory.
    load_letor : Reads LETOR text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import load_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "clicks.csv")
    ...     _ = path.write_text("query,rating,clicks\na,1,5\nb,0,n/a\na,0,5\n")
    ...     table = load_table(path, label="rating", qid="query", as_frame=True)
    >>> table.qid.tolist(), table.target.tolist(), table.data.columns.tolist()
    (['a', 'b', 'a'], [1.0, 0.0, 0.0], ['clicks'])
    """
    paths = find_files(path)
    for one in paths:
        if not is_tabular(one):
            raise ValueError(
                "path must end in .csv, .tsv, .parquet or .pq (compressed text also in "
                f".gz or the like), got {one}: load_letor reads LETOR text"
            )
    table = open_tables(
        paths, label=label, qid=qid, ignore=ignore, missing_values=missing_values,
        thousands=thousands,
    ).whole()  # fmt: skip
    return framed(table) if as_frame else table


class _Head(NamedTuple):
    """A file: its columns, and what its query ids are; nothing of no rows.

    Columns that are in the names of folders have the values of `constants`. `csv` is
    None of Parquet.
    """

    source: TextSource
    names: list[str]
    qid_kind: str
    constants: dict[str, Any]
    csv: CsvFile | None
    types: dict[str, Any]
    n_rows: int | None

    def column(self, name: str) -> str:
        """A column as a message names it."""
        if name in self.constants:
            return f"column {name!r} (in the name of the folder)"
        return f"column {name!r}"


def open_tables(
    paths: Sequence[Location],
    *,
    label: str,
    qid: str,
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    thousands: str | None = None,
) -> Rankings:
    """Files of the same columns, of which those with numbers are features.

    Columns of `ignore` are not looked at, and those without a number or without a name
    are left out.
    """
    if label == qid:
        raise ValueError(
            f"label and qid must be different columns, got {label!r} twice"
        )
    check_texts(missing_values, thousands)
    heads = _typed(
        [_read_head(path, qid, ignore, missing_values, thousands) for path in paths],
        qid,
    )
    _check_heads(heads, label, qid, ignore)
    first = heads[0]
    looked_at = [name for name in first.names if name not in (qid, *ignore)]
    kinds = _kinds(heads, [name for name in looked_at if not is_nameless(name)])
    numbers = [name for name in looked_at if kinds.get(name) == "numbers"]
    if not kinds and all(head.n_rows == 0 or head.csv for head in heads):
        raise ValueError(no_documents([head.source for head in heads]))
    if label not in numbers:
        raise ValueError(f"{first.source}: {first.column(label)} holds no number")
    features = [name for name in numbers if name != label]
    if not features:
        raise ValueError(f"{first.source}: no column but {label!r} holds numbers")
    texts = [name for name in looked_at if kinds.get(name) == "text"]
    counts = [head.n_rows for head in heads]
    return Rankings(
        said=", ".join(map(str, paths)),
        feature_names=features,
        left_out=[name for name in looked_at if name not in numbers],
        read=partial(_read, heads, label, qid, features, texts),
        n_rows=None if None in counts else sum(filter(None, counts)),
    )


def check_texts(missing_values: Sequence[str], thousands: str | None) -> None:
    """What cells of text stand for."""
    if isinstance(missing_values, str) or not all(
        isinstance(one, str) for one in missing_values
    ):
        raise ValueError(
            f"missing_values must be a list of texts, got {missing_values!r}"
        )
    if thousands is not None and (len(thousands) != 1 or thousands in "+-eE0123456789"):
        raise ValueError(
            f"thousands must be one character between digits, got {thousands!r}"
        )


def is_nameless(name: str) -> bool:
    """Whether a column has no name, or one that pandas made up for it."""
    return not name.strip() or name.startswith("Unnamed:")


def _read_head(
    path: Location,
    qid: str,
    ignore: Sequence[str],
    missing: Sequence[str],
    thousands: str | None,
) -> _Head:
    source, separator = TextSource(path), separator_of(path)
    in_folders = columns_of_folders(path)
    types: dict[str, Any] = {}
    n_rows = csv = None
    if separator is not None:
        csv = open_csv(source, separator, qid, missing, thousands)
        names, kind = csv.names, _TEXTS
    else:
        with _parquet_file(source) as parquet:
            schema, n_rows = parquet.schema_arrow, int(parquet.metadata.num_rows)
            of_index = (schema.pandas_metadata or {}).get("index_columns", [])
            names = [name for name in schema.names if name not in of_index]
            types = {field.name: field.type for field in schema}
            kind = _kind_of_ids(types[qid], qid) if n_rows and qid in names else ""
            texts = [name for name in names if _kind_of(types[name]) == "text"]
            _check_texts(parquet, [n for n in texts if n not in (qid, *ignore)])
    # a column of the file itself goes before
    constants = {name: v for name, v in in_folders.items() if name not in names}
    names = [*names, *constants]
    return _Head(source, names, kind, constants, csv, types, n_rows)


def _typed(heads: list[_Head], qid: str) -> list[_Head]:
    """Each column in the names of folders with one type in all of them."""
    names = {name for head in heads for name in head.constants}
    kinds: dict[str, Any] = {
        name: type_of_values(
            head.constants[name] for head in heads if name in head.constants
        )
        for name in names
    }
    if kinds.get(qid) is float:
        kinds[qid] = str  # 007 is not 7
    found = []
    for head in heads:
        values = {
            name: value_of_folder(value, kinds[name])
            for name, value in head.constants.items()
        }
        if qid in values:
            head = head._replace(qid_kind=_KIND_OF_VALUE[kinds[qid]])
        found.append(head._replace(constants=values))
    return found


def _check_heads(
    heads: Sequence[_Head], label: str, qid: str, ignore: Sequence[str]
) -> None:
    """The files must have the same columns, each once, and ids of one kind."""
    first = heads[0]
    for head in heads:
        for name in (label, qid):
            if name not in head.names:
                raise ValueError(_no_column(head, name))
        if differences := _differences(head, first):
            raise ValueError(
                f"{head.source}: must have the columns of {first.source}, but "
                f"{differences}"
            )
        for name in head.names:
            if head.names.count(name) > 1 and not is_nameless(name):
                raise ValueError(
                    f"{head.source}: must have each column once, got {name!r} twice"
                )
        if head.constants.get(qid, "") is None:
            raise ValueError(f"{head.source}: {head.column(qid)} must not be empty")
    with_rows = [head for head in heads if head.qid_kind]
    for head in with_rows:
        if head.qid_kind != with_rows[0].qid_kind:
            raise ValueError(
                f"{head.source}: {head.column(qid)} must hold {with_rows[0].qid_kind}, "
                f"as in {with_rows[0].source}, got {head.qid_kind}: a query of both "
                "files would be two queries (write the ids of one as those of the "
                "other)"
            )
    for name in ignore:
        if name not in first.names or name in (label, qid):
            raise ValueError(
                f"ignore must name a feature, got {name!r} (columns: "
                f"{listed(first.names)})"
            )


def _differences(head: _Head, first: _Head) -> str:
    """The columns that only one of two files has."""
    lacking = [repr(name) for name in first.names if name not in head.names]
    extra = [repr(name) for name in head.names if name not in first.names]
    said = [("lacks ", lacking), ("has also ", extra)]
    return " and ".join(what + listed(names) for what, names in said if names)


def _no_column(head: _Head, name: str) -> str:
    names = listed(head.names)
    if head.csv is not None and len(head.names) == 1:
        for other in ";\t|,":
            if other in head.names[0]:
                return (
                    f"{head.source}: cells must be separated by "
                    f"{head.csv.separator!r}, got {other!r} (write the file anew, for "
                    f"example by pandas.read_csv(..., sep={other!r}).to_csv; a file of "
                    "tabs is read if its name ends in .tsv)"
                )
    return (
        f"{head.source}: there is no column {name!r} (columns: {names}); label and qid "
        "(--label, --qid) choose other columns"
    )


def _kinds(heads: Sequence[_Head], columns: Sequence[str]) -> dict[str, str]:
    """Which columns are of "numbers" and which of "text"; no other holds a value.

    Types of Parquet say so, and cells of text. Text in one file is an error where
    another one has numbers: its reader says so.
    """
    found: dict[str, str] = {}
    for head in heads:
        known = {
            name: "text" if isinstance(value, str) else "numbers"
            for name, value in head.constants.items()
            if name in columns and value is not None
        }
        if head.csv is None and head.n_rows:
            kinds = ((n, _kind_of(head.types[n])) for n in columns if n in head.types)
            known |= {name: kind for name, kind in kinds if kind}
        if head.csv is not None:
            left = [n for n in columns if n not in found and n not in head.constants]
            known |= kinds_of_csv(head.csv, left)
        found |= {n: kind for n, kind in known.items() if found.get(n) != "numbers"}
    return found


def _kind_of(of_arrow: Any) -> str:
    """What a type holds: numbers or flags, text, or neither."""
    types = _arrow().types
    if types.is_dictionary(of_arrow):
        of_arrow = of_arrow.value_type
    numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
    if any(is_kind(of_arrow) for is_kind in numbers):
        return "numbers"
    if _is_text(of_arrow):
        return "text"
    return "" if types.is_null(of_arrow) else "other"


def _is_text(kind: Any) -> bool:
    types = _arrow().types
    known = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_text(kind) for is_text in known)


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
    return _TEXTS if _is_text(kind) else f"values of the type {kind}"


def _read(
    heads: Sequence[_Head],
    label: str,
    qid: str,
    features: Sequence[str],
    texts: Sequence[str],
) -> Iterator[Rows]:
    """All rows of all files, some together."""
    for head in heads:
        own = head.constants
        numbers = [name for name in (label, *features) if name not in own]
        parts: Iterable[Any] = ()
        if head.csv is not None:
            looked_at = [name for name in texts if name not in own]
            place, parts = head.csv.place, read_csv(head.csv, numbers, looked_at)
        else:
            place = partial(_place, str(head.source))
            if head.n_rows:
                parts = _read_parquet(head, numbers, [] if qid in own else [qid])
        first = 0
        for columns, ids, n_rows in parts:
            for name in own:
                columns[name] = _constant(
                    head, name, n_rows, name in (label, *features)
                )
            data = [columns[name] for name in features]
            ids = columns[qid] if ids is None else ids
            yield Rows(data, columns[label], ids, place, first)
            first += n_rows


def _constant(head: _Head, name: str, n_rows: int, is_number: bool) -> NDArray[Any]:
    """A column that is in the name of a folder."""
    value = head.constants[name]
    if not isinstance(value, str):
        return np.full(n_rows, np.nan if value is None else value)
    if is_number:
        raise ValueError(
            f"{head.source}: {head.column(name)} must hold numbers, as in other files, "
            f"got {quoted(value)}"
        )
    return np.full(n_rows, value, dtype=object)


def _place(source: str, row: int) -> str:
    return f"{source}, row {row}"


@contextmanager
def _parquet_file(source: TextSource) -> Iterator[Any]:
    """The file, opened once; errors of Arrow name it."""
    # some of them are neither a ValueError nor an OSError
    with source.reading(), source.open() as file:
        try:
            # in pieces, however large the row groups are; read ahead, all would be kept
            yield _parquet().ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
        except _arrow().lib.ArrowException as error:
            raise ValueError(f"{source}: {in_one_line(error)}") from None
        except ValueError as error:
            if str(error).startswith((f"{source}:", f"{source}, ")):
                raise
            raise ValueError(f"{source}: {error}") from None


def _read_parquet(
    head: _Head, numbers: Sequence[str], ids: Sequence[str]
) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[Any] | None, int]]:
    """Columns of numbers, and query ids if there are any, some rows at a time."""
    wanted = [*ids, *numbers]
    n_rows = max(min(_ROWS, _CELLS // len(wanted)), 1)
    with _parquet_file(head.source) as parquet:
        try:
            first = 0
            for batch in parquet.iter_batches(n_rows, columns=wanted):
                place = partial(place_after, partial(_place, str(head.source)), first)
                columns = {n: _numbers(batch.column(n), n, place) for n in numbers}
                found = [_ids(batch.column(n), n, place) for n in ids]
                yield columns, found[0] if found else None, batch.num_rows
                first += batch.num_rows
        except (_arrow().lib.ArrowException, OSError) as error:
            if getattr(error, "filename", None) is not None:
                raise  # of a URL, and no fault of the file
            if group := _damaged_group(parquet, wanted):
                said = f"{group} cannot be read: {in_one_line(error)}"
                raise ValueError(said) from None
            raise


def _plain(column: Any) -> Any:
    """A column of values: NumPy gets some of a dictionary where one is missing."""
    is_dictionary = _arrow().types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def _numbers(column: Any, name: str, place: Place) -> NDArray[Any]:
    """A column of numbers, here or in other files; what is missing is NaN."""
    kind = _kind_of(column.type)
    if kind == "":
        return np.full(len(column), np.nan)
    if kind != "numbers":
        raise ValueError(
            f"{place(0)}: column {name!r} must hold numbers, as in other files, got "
            f"the type {column.type}"
        )
    return numbers_of(_plain(column), f"column {name!r}", place)


def _ids(column: Any, name: str, place: Place) -> NDArray[Any]:
    """Query ids, none of them missing."""
    try:
        ids: NDArray[Any] = np.asarray(_plain(column).to_numpy(zero_copy_only=False))
    except (UnicodeDecodeError, _arrow().lib.ArrowException):
        row = next(row for row, cell in enumerate(column) if not _is_utf_8(cell))
        raise ValueError(
            f"{place(row)}: column {name!r} must hold text in UTF-8, got other bytes"
        ) from None
    missing = ids == "" if ids.dtype.kind == "O" else ids != ids
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
    if missing.any():
        raise ValueError(
            f"{place(int(np.argmax(missing)))}: column {name!r} must not be empty"
        )
    return ids


def _is_utf_8(cell: Any) -> bool:
    try:
        cell.as_py()
    except UnicodeDecodeError:
        return False
    return True


def _check_texts(parquet: Any, texts: Sequence[str]) -> None:
    """Refuse numbers in columns whose type is text: they would be no features."""
    batch = None
    if texts:
        batch = next(parquet.iter_batches(_FIRST_ROWS, columns=list(texts)), None)
    if batch is None:
        return
    for name in texts:
        cells = _plain(batch.column(name))
        row = next((row for row, cell in enumerate(cells) if cell.is_valid), None)
        if row is not None and NUMBER.match(cell := cells[row].as_py()):
            raise ValueError(
                f"column {name!r} must hold numbers as numbers, got the text "
                f"{quoted(cell)} in row {row} (write the column with a type of "
                "numbers; ignore, or --ignore, leaves it out)"
            )


def _damaged_group(parquet: Any, columns: Sequence[str]) -> str | None:
    """The first row group that cannot be read alone, and its rows."""
    first = 0
    for number in range(parquet.num_row_groups):
        end = first + int(parquet.metadata.row_group(number).num_rows)
        try:
            for _ in parquet.iter_batches(columns=columns, row_groups=[number]):
                pass
        except (_arrow().lib.ArrowException, OSError):
            return f"row group {number} (rows {first} to {end - 1})"
        first = end
    return None


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="reading CSV and Parquet")


def _parquet() -> Any:
    return import_optional("pyarrow.parquet", extra="io", purpose="reading Parquet")
