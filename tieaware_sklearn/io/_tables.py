"""Tables of labels, query ids and numeric features, as CSV, TSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sklearn.utils import Bunch

from .._display import words
from . import _arrow, _csv, _locate, _rows, _source, _wording

#: Maximum number of rows, and of cells, of a Parquet file that are read together.
_ROWS = 1 << 16
_CELLS = 1 << 21
#: Number of bytes of a Parquet column that are read together. Without a buffer, pyarrow
#: would read the whole column of a row group.
_BUFFER = 1 << 16


def load_table(
    path: _locate.Paths,
    *,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    decimal: str = ".",
    quoting: str = "double",
    format: str | None = None,
    as_frame: bool = False,
) -> Bunch:
    r"""Read a ranking from CSV, TSV or Parquet, with rows in any order.

    Parameters
    ----------
    path : path, or list of paths
        Files, recognised by the suffixes of their names or else by their first lines.
        Text may be compressed. Reading requires pyarrow. Several files with the same
        columns are read as one ranking. Folders and patterns are read as in
        `iter_batches`. The separator of CSV is the comma if the header contains a
        comma, or else the first of semicolon, tab and vertical bar that the header
        contains.
    label, qid : str, default="label", "qid"
        Columns that contain labels and query ids.
    ignore : list of str, default=()
        Columns to leave out. Columns that are not numeric and columns without a name
        (or with a name such as ``Unnamed: 0``, which pandas generates) are always left
        out. A warning lists the columns that have a name but are not numeric.
    missing_values : list of str, default=()
        Additional texts that stand for a missing number in CSV and TSV cells. The empty
        cell, ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``<NA>``, ``NaN``, ``nan``, ``NULL``,
        ``null``, ``None``, ``none``, ``-`` and ``?`` always stand for a missing number.
        For query ids, only an empty cell stands for a missing id.
    decimal : str, default="."
        Decimal separator of CSV and TSV.
    quoting : {"double", "none"}, default="double"
        Whether double quotes enclose cells of CSV and TSV. With "none", double quotes
        are ordinary characters, as in a title such as ``24" monitor``.
    format : {"csv", "tsv", "parquet"}, optional
        Format of the files, which overrides the suffixes of their names.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with named columns. Each
        column has its own dtype.

    Returns
    -------
    sklearn.utils.Bunch
        The Bunch has these keys:

        - ``data``: features, of shape (n_rows, n_features), with NaN for missing cells;
        - ``target``: labels, float64, of shape (n_rows,), with NaN for missing cells;
        - ``qid``: query ids, of shape (n_rows,). The ids of CSV are int64 if every id
          is an integer of at most 18 digits without leading zeros. Otherwise, the ids
          of CSV are strings;
        - ``feature_names``: names of the features;
        - ``left_out``: names of the columns that are not numeric or have no name,
          except the columns in `ignore`;
        - ``left_out_files``: dict of the files of a folder or pattern that are left out
          because of their format. The values of the dict are the reasons;
        - ``place``: function that accepts the index of a row and returns the file and
          the number of the row in the file, for messages. The header of a CSV file is
          row 1. The first row of a Parquet file is row 0;
        - ``DESCR``: description of the data.

    Raises
    ------
    ValueError
        If a column is missing, if two columns have the same name, if `ignore` names a
        column that does not exist, if no column is a feature, if a label is not a
        number, or if the query ids are missing, empty or of different types (such as
        text and integers). Also if there is no row, if a file is found twice or is of
        another kind, or if the columns of files differ. Also if a double quote is never
        closed, if a single array cannot represent the numbers exactly (large integers
        and fractions), or if a CSV column contains text or large integers only after
        the first 16 MB.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow is not installed, if `as_frame` is True and pandas is not installed,
        or if `path` is a URL and fsspec is not installed.

    Warns
    -----
    UserWarning
        If columns with a name are left out because the columns are not numeric.

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
    if sources[0].format == "letor":
        raise ValueError(
            "path must be CSV, TSV or Parquet by its extension, its first line or "
            f"format, got {sources[0]}. If the file is LETOR text, use load_letor"
        )
    options = _arrow.TableOptions(label, qid, ignore, missing_values, decimal, quoting)
    rankings = open_tables(sources, options)
    rankings.left_out_files.update(files.left_out)
    warn_left_out(rankings)
    return next(rankings.batches(as_frame=as_frame))


def warn_left_out(rankings: _rows.Rankings) -> None:
    """Warn of columns that have a name but are not numeric."""
    names = [name for name in rankings.left_out if not _arrow.is_nameless(str(name))]
    if names:
        words.warn(
            f"columns that are not numeric are left out: {_wording.listed(names)}. To "
            "silence this warning, list the columns in ignore"
        )


class _ParquetFile:
    """A Parquet file, with the attributes and methods of `CsvFile`."""

    def __init__(
        self, source: _source.TextSource, options: _arrow.TableOptions
    ) -> None:
        self._source = source
        with self._opened() as parquet:
            schema = parquet.schema_arrow
            self.n_rows = parquet.metadata.num_rows
        # pandas stores the index of a DataFrame as further columns.
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        self.names = [name for name in schema.names if name not in index]
        self.types = _arrow.types_of(schema, self.names)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._source.open() as file:
            # If pyarrow read ahead, it would keep all row groups in memory.
            yield _arrow.arrow(".parquet").ParquetFile(
                file, buffer_size=_BUFFER, pre_buffer=False
            )

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the selected columns of all rows as record batches."""
        n_rows = min(_ROWS, _CELLS // (len(columns) + 1) + 1)
        with self._opened() as parquet:
            yield from parquet.iter_batches(n_rows, columns=columns)

    def place(self, row: int) -> str:
        """Return the name of the file and the number of a row, for a message."""
        return f"{self._source}, row {row}"


def open_tables(
    sources: Sequence[_source.TextSource], options: _arrow.TableOptions
) -> _rows.Rankings:
    """Open files with the same columns. Numeric columns are features."""
    pa = _arrow.arrow()
    qid = options.qid
    files: list[Any] = []
    first_names: list[str] = []
    for source in sources:
        opener = _ParquetFile if source.format == "parquet" else _csv.CsvFile
        with _named(source):
            file = opener(source, options)
        first_names = first_names or file.names
        columns = [options.label, qid, *options.features]
        _arrow.check_columns(str(source), file.names, columns)
        _arrow.check_same_columns(file.names, str(source), first_names, str(sources[0]))
        files.append(file)
    csv_files = [file for file in files if isinstance(file, _csv.CsvFile)]
    # Integers are read as floats, because fractions may follow after the first block.
    # If floats would round some integers, the integers are not converted.
    has_large = any(file.has_large for file in csv_files)
    integer = pa.int64() if has_large else pa.float64()
    # If the ids of any file are texts, the ids of all CSV files are texts.
    has_texts = any("string" in str(file.types[qid]) for file in files)
    for file in csv_files:
        file.types |= dict.fromkeys(file.integers, integer)
        if has_texts:
            file.types[qid] = pa.string()
    schema = pa.schema([])
    for source, file in zip(sources, files, strict=True):
        plain = _arrow.plain_schema(pa.schema(file.types), options.ignore)
        schema = _arrow.common_schema(schema, plain, str(source))

    def read(columns: Sequence[str]) -> Iterator[_rows.Rows]:
        types = pa.schema([schema.field(name) for name in columns])
        for source, file in zip(sources, files, strict=True):
            first_row = 0
            with _named(source):
                for batch in file.batches(columns):
                    plain = batch.select(columns).cast(types)
                    yield _arrow.rows_of(plain, file.place, first_row)
                    first_row += batch.num_rows

    counts = [file.n_rows for file in files]
    n_rows = None if None in counts else sum(counts)
    return _arrow.rankings_of(
        _wording.listed(sources), first_names, schema, read, options, n_rows
    )


@contextmanager
def _named(source: _source.TextSource) -> Iterator[None]:
    """Add the name of the file to errors from pyarrow and to every ValueError."""
    with source.reading():
        try:
            yield
        # Some errors from pyarrow are neither a ValueError nor an OSError.
        except (ValueError, _arrow.arrow().lib.ArrowException) as error:
            if isinstance(error, ValueError) and str(source) in str(error):
                raise
            raise ValueError(f"{source}: {_wording.in_one_line(error)}") from None
