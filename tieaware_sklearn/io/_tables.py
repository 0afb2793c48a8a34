"""Tables with a label, a query id and numeric features: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._engine import checks, messages
from . import _csv, _frames, _locate, _rows, _source, _wording

#: rows that are read together, and cells, of Parquet; those that tell what text is
_ROWS, _CELLS, _FIRST_ROWS = 1 << 16, 1 << 21, 1 << 12
_BUFFER = 1 << 16


def load_table(
    path: _locate.Paths,
    *,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    thousands: str | None = None,
    decimal: str = ".",
    quoting: str = "double",
    format: str | None = None,
    as_frame: bool = False,
) -> Bunch:
    r"""Read a ranking from CSV, TSV or Parquet, with rows in any order.

    Parameters
    ----------
    path : path, or list of paths
        Files, recognised by the end of their names, or else by their first lines. Text
        may be compressed. Reading needs pyarrow. Several files with the same columns
        are read as one. Folders, patterns and URLs are as in `iter_batches`.
    label, qid : str, default="label", "qid"
        Columns that hold labels and query ids.
    ignore : list of str, default=()
        Columns to leave out. Columns without numbers or without a name are always
        left out.
    missing_values : list of str, default=()
        Further cells of CSV and TSV that stand for a missing number. The empty cell,
        ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``,
        ``null``, ``None``, ``none``, ``-`` and ``?`` always do. Among query ids, only
        the empty cell is missing.
    thousands : str, optional
        Thousands separator of CSV and TSV: ``","`` reads ``1,406.84`` as 1406.84. The
        groups must have three digits, except the first one.
    decimal : str, default="."
        Decimal separator of CSV and TSV, another one than `thousands`.
    quoting : {"double", "none"}, default="double"
        Whether double quotes enclose cells of CSV and TSV. With "none" they are
        characters as any other, as in a title such as ``24" monitor``.
    format : {"csv", "tsv", "parquet"}, optional
        Format of the files, whatever their names are.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with their names, each in
        its own dtype.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), with NaN for missing cells; ``target``,
        float64, and ``qid``, of shape (n_rows,), strings as in the file or, from
        Parquet, possibly numbers; ``feature_names``; ``left_out``, the columns without
        numbers; ``left_out_files``, a dict of the files of a folder or pattern that
        are not read, with the reasons; ``place``, a function that returns the file and
        line of a row; ``DESCR``.

    Raises
    ------
    ValueError
        For a missing column, text in a column of numbers, numbers in a Parquet column
        of text, an empty file, a file of another kind, and query ids of different types
        (such as text and integers). For a double quote that opens a cell and does not
        close it, and for numbers that one array does not hold exactly: large integers
        beside fractions. For a text file, the message lists up to ten errors at once,
        with lines and remedies.
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
    files = _locate.find_files(path, format=format)
    sources = _source.sources_of(files, format)
    rule = "path must be CSV, TSV or Parquet, by the end of its name, its first line or"
    got = f"got {sources[0]}: load_letor reads LETOR text"
    messages.require(sources[0].format != "letor", f"{rule} format=, {got}")
    options = _frames.TableOptions(
        label, qid, ignore, missing_values, thousands, decimal, quoting
    )
    rankings = open_tables(sources, options)
    rankings.left_out_files.update(files.left_out)
    return rankings.whole(as_frame=as_frame)


class _File(NamedTuple):
    """A file: its columns, and what they hold as far as types say so.

    Some query ids tell the kind of all, unless there is no row. `csv` is None of
    Parquet. Columns that are in the names of folders have the values of `folders`.
    """

    source: _source.TextSource
    names: list[str]
    kinds: dict[str, str]
    ids: NDArray[Any] | None
    folders: dict[str, Any]
    n_rows: int | None = None
    csv: _csv.CsvFile | None = None


def open_tables(
    sources: Sequence[_source.TextSource],
    options: _frames.TableOptions,
    progress: bool = False,
) -> _rows.Rankings:
    """Files of the same columns, of which those with numbers are features.

    Columns of `ignore` are not looked at, and those without a number or without a name
    are left out.
    """
    label, qid, ignore, *_ = options
    _frames.check_different([label, qid], "label and qid")
    _check_texts(options)
    files = []
    for source in sources:
        with _named(source):
            if source.format == "parquet":
                file = _open_parquet(source, options)
            else:
                csv = _csv.open_csv(source, options, progress)
                file = _File(source, csv.names, {}, np.array(["text"]), {}, csv=csv)
        # a column of the file itself goes before
        folders = _locate.columns_of_folders(source.path).items()
        others = {name: value for name, value in folders if name not in file.names}
        files.append(file._replace(names=[*file.names, *others], folders=others))
    files = _typed(files, qid)
    _check_files(files, label, qid)
    names = files[0].names
    looked_at = [n for n in names if n not in (qid, *ignore) and not is_nameless(n)]
    kinds = _kinds(files, looked_at)
    said = _wording.listed(sources)
    if not kinds:
        raise _rows.no_document(said)
    counts = [file.n_rows for file in files]
    n_rows = None if None in counts else sum(filter(None, counts))
    read = partial(_read, files, label, qid, kinds)
    return _frames.rankings_of(said, names, kinds, read, options, n_rows)


def _check_texts(options: _frames.TableOptions) -> None:
    """Check how cells of text are to be read: missing values and numbers."""
    _, _, _, missing_values, thousands, decimal, quoting = options
    are_texts = all(isinstance(one, str) for one in missing_values)
    listed = are_texts and not isinstance(missing_values, str)
    messages.require(listed, "missing_values must be a list of texts", missing_values)
    for name, given in (("thousands", thousands), ("decimal", decimal)):
        is_one = given is None or (len(given) == 1 and given not in "+-eE0123456789")
        messages.require(is_one, f"{name} must be one character in a number", given)
    rule = "thousands and decimal must differ, or 1.234 would be read as 1234"
    way = "decimal, or --decimal, names the other one"
    got = f"got {thousands!r} for both ({way})"
    messages.require(thousands != decimal, f"{rule}, {got}")
    checks.check_choice(quoting, "quoting", ("double", "none"))


def is_nameless(name: str) -> bool:
    """Whether a column has no name, or one that pandas made up for it."""
    return not name.strip() or name.startswith("Unnamed:")


def _open_parquet(source: _source.TextSource, options: _frames.TableOptions) -> _File:
    """The columns of a file, and its first query ids; text must not be numbers."""
    with _parquet_file(source) as parquet:
        schema, n_rows = parquet.schema_arrow, int(parquet.metadata.num_rows)
        of_index = (schema.pandas_metadata or {}).get("index_columns", [])
        names = [name for name in schema.names if name not in of_index]
        empty = _frames.Piece.of(schema.empty_table())
        if empty is None or not n_rows:
            return _File(source, names, {}, None, {}, n_rows)
        kinds = {n: kind for n, kind in empty.kinds().items() if n not in of_index}
        others = (options.qid, *options.ignore)
        text = [n for n, kind in kinds.items() if kind == "text" and n not in others]
        wanted = [*text, *({options.qid} & kinds.keys())]
        batches = parquet.iter_batches(_FIRST_ROWS, columns=wanted)
        first = _frames.Piece.of(next(batches))
        ids = None
        if first is not None:
            first.check_no_numbers(text)
            ids = first.ids(options.qid) if options.qid in kinds else None
        return _File(source, names, kinds, ids, {}, n_rows)


def _typed(files: list[_File], qid: str) -> list[_File]:
    """Each column in the names of folders with one type in all of them."""
    texts: dict[str, list[str]] = {}
    for file in files:
        for name, value in file.folders.items():
            texts.setdefault(name, []).append(value)
    types: dict[str, Any] = {n: _locate.type_of_values(v) for n, v in texts.items()}
    if types.get(qid) is float:
        types[qid] = str  # 007 is not 7
    typed = []
    for file in files:
        folders: dict[str, Any] = dict.fromkeys(file.folders)
        kinds, ids = dict(file.kinds), file.ids
        for name, value in file.folders.items():
            if value != _locate.MISSING:
                folders[name] = types[name](value)
                kinds[name] = "text" if types[name] is str else "numbers"
        if qid in folders:
            ids = np.array([folders[qid]]) if qid in kinds else None
        typed.append(file._replace(folders=folders, kinds=kinds, ids=ids))
    return typed


def _check_files(files: Sequence[_File], label: str, qid: str) -> None:
    """The files must have the same columns, each once, and ids of one kind."""
    first, kind = files[0], _frames.OneKind()
    for file in files:
        said, begins = str(file.source), str(first.source)
        choose = "; label and qid of the reader (--label, --qid) choose other columns"
        _frames.check_columns(said, file.names, [label, qid], choose)
        _frames.check_columns(said, file.names, first.names, f": {begins} has it")
        _frames.check_columns(begins, first.names, file.names, f": {said} has it")
        named = [name for name in file.names if not is_nameless(name)]
        if len(set(named)) < len(named):
            twice = next(name for name in named if named.count(name) > 1)
            raise ValueError(f"{said}: must have each column once, got {twice!r} twice")
        if file.ids is not None:
            kind.check(file.ids, f"{said}: column {qid!r}", said)


def _kinds(files: Sequence[_File], columns: Sequence[str]) -> dict[str, str]:
    """The kind of each column; CSV columns without a value are left out.

    Text in one file is an error where another one has numbers: its reader says so.
    """
    kinds: dict[str, str] = {}
    for file in files:
        known = file.kinds
        if file.csv is not None:
            left = [n for n in columns if not kinds.get(n) and n not in file.folders]
            with _named(file.source):
                known = known | _csv.kinds_of_csv(file.csv, left)
        others = [n for n in columns if n in known and kinds.get(n) != "numbers"]
        kinds |= {name: known[name] for name in others}
    return kinds


def _read(
    files: Sequence[_File],
    label: str,
    qid: str,
    kinds: Mapping[str, str],
    features: Sequence[str],
) -> Iterator[_rows.Rows]:
    """All rows of all files, some together."""
    used = {label, qid, *features}
    for file in files:
        names = [name for name in file.names if name not in file.folders]
        place: messages.Place = partial("{}, row {}".format, file.source)
        first = 0
        with _named(file.source):
            if file.csv is not None:
                place = file.csv.place
                looked_at = [n for n in names if kinds.get(n) in ("numbers", "text")]
                batches = _csv.read_csv(file.csv, {n: kinds[n] for n in looked_at})
            else:
                batches = _read_parquet(file, [name for name in names if name in used])
            for batch in batches:
                for name, value in file.folders.items():
                    cells = _frames.arrow().repeat(value, batch.num_rows)
                    batch = batch.append_column(name, cells)
                if (piece := _frames.Piece.of(batch)) is not None:
                    ids = piece.ids(qid, first=first)
                    yield _frames.rows_of(piece, features, label, ids, place, first)
                    first += piece.n_rows


@contextmanager
def _named(source: _source.TextSource) -> Iterator[None]:
    """Errors of Arrow, and of rows, name the file."""
    with source.reading():
        try:
            yield
        # some of Arrow are neither a ValueError nor an OSError
        except (ValueError, _frames.arrow().lib.ArrowException) as error:
            if isinstance(error, ValueError) and str(source) in str(error):
                raise
            raise ValueError(f"{source}: {_wording.in_one_line(error)}") from None


@contextmanager
def _parquet_file(source: _source.TextSource) -> Iterator[Any]:
    """The file, opened once."""
    with source.open() as file:
        if not file.seekable():
            raise ValueError("Parquet must not be compressed as a whole: unpack it")
        # in pieces, however large the row groups are; read ahead, all would be kept
        parquet = _frames.arrow(".parquet").ParquetFile
        yield parquet(file, buffer_size=_BUFFER, pre_buffer=False)


def _read_parquet(file: _File, columns: Sequence[str]) -> Iterator[Any]:
    """Some columns, as record batches."""
    if not file.n_rows:
        return
    n_rows = max(min(_ROWS, _CELLS // max(len(columns), 1)), 1)
    with _parquet_file(file.source) as parquet:
        try:
            yield from parquet.iter_batches(n_rows, columns=list(columns))
        except (_frames.arrow().lib.ArrowException, OSError) as error:
            if getattr(error, "filename", None) is not None:
                raise  # of a URL, and no fault of the file
            if group := _damaged_group(parquet, columns):
                said = f"{group} cannot be read: {_wording.in_one_line(error)}"
                raise ValueError(said) from None
            raise


def _damaged_group(parquet: Any, columns: Sequence[str]) -> str | None:
    """The first row group that cannot be read alone, and its rows."""
    first = 0
    for number in range(parquet.num_row_groups):
        end = first + int(parquet.metadata.row_group(number).num_rows)
        try:
            for _ in parquet.iter_batches(columns=columns, row_groups=[number]):
                pass
        except (_frames.arrow().lib.ArrowException, OSError):
            return f"row group {number} (rows {first} to {end - 1})"
        first = end
    return None
