"""Rankings larger than memory: files and tables as batches of whole queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sklearn.utils import Bunch

from .._display import progress_bars
from .._engine import checks
from . import _arrow, _frames, _letor, _locate, _rows, _source, _tables, _wording

#: Default number of feature values in a batch, which take 32 MB.
_BATCH_CELLS = 1 << 22


def open_files(
    files: _locate.Files,
    options: _arrow.TableOptions,
    *,
    format: str | None,
    query_file: _locate.Paths | None,
    n_features: int | None,
) -> _rows.Rankings:
    """Open files of LETOR text or of tables."""
    sources = _source.sources_of(files, format)
    if sources[0].format == "letor":
        _refuse_options("LETOR text", options.of_csv())
        rankings = _letor.open_letor(sources, options.ignore, query_file, n_features)
    else:
        letor_options = {"query_file": query_file, "n_features": n_features}
        _refuse_options("tables", letor_options)
        rankings = _tables.open_tables(sources, options)
    rankings.left_out_files.update(files.left_out)
    return rankings


def _refuse_options(kind: str, options: Mapping[str, Any]) -> None:
    """Raise an error if an option of another kind of source is set."""
    for name, value in options.items():
        if value:
            raise ValueError(f"{name} must not be given for {kind}, got {value!r}")


def rows_of_batch(batch_rows: int | None, n_features: int) -> int:
    """Return `batch_rows` or, by default, the number of rows that fit in 32 MB."""
    if batch_rows is None:
        return max(1, _BATCH_CELLS // n_features)
    checks.check_count(batch_rows, "batch_rows")
    return batch_rows


def iter_batches(
    path: _locate.Paths | Any,
    *,
    batch_rows: int | None = None,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    query_file: _locate.Paths | None = None,
    n_features: int | None = None,
    missing_values: Sequence[str] = (),
    decimal: str = ".",
    quoting: str = "double",
    format: str | None = None,
    as_frame: bool = False,
    progress: bool = False,
) -> Iterator[Bunch]:
    r"""Read rankings that do not fit in memory, in batches of whole queries.

    Parameters
    ----------
    path : path, list of paths, or table
        Parquet, CSV or TSV files, recognised by the suffixes of their names, or LETOR
        text. Text may be compressed. Several files are read as one ranking. A folder
        (with its subfolders) or a pattern such as ``"shards/**/*.parquet"`` stands for
        its files, in the order of their names (``part-2`` before ``part-10``). In
        folders and patterns, files and folders whose names begin with ``_`` or ``.``
        are skipped, and so are files of query sizes (``.query``, ``.group``) and of
        checksums (``.crc``). If some of the other files are tables, only the tables are
        read. The files of a URL, such as ``s3://bucket/folder``, are downloaded first
        (needs fsspec). To read files on a server without a download, or columns from
        folders named ``column=value``, pass a `pyarrow.dataset.Dataset`.

        A table can be a data frame of pandas, polars or another library that narwhals
        supports, an Arrow table, or an iterable of data frames or Arrow tables. A table
        can also be a `pyarrow.dataset.Dataset`, a `pyarrow.RecordBatchReader`, a polars
        LazyFrame, a DuckDB relation, or any other object that exports an Arrow stream.
        The features of a table are all other columns of numbers or Booleans, even if
        the numbers or Booleans are stored as categories or Python objects.

        The rows of each query must be contiguous.
    batch_rows : int, optional
        Number of rows that fills a batch. A batch ends with the query that reaches this
        number, so queries are never split. By default, the number of rows is chosen so
        that a batch contains about four million feature values (32 MB).
    label, qid : str, default="label", "qid"
        Columns of tables that contain labels and query ids.
    ignore : list of str, default=()
        Columns of tables, or feature numbers of LETOR text (as strings), to leave out.
    query_file : path, or list of paths, optional
        Files that contain the number of rows of each query, for LETOR text without
        ``qid:``, as in `load_letor`.
    n_features : int, optional
        Number of features of LETOR text, including ignored features. By default, the
        largest feature number in the text determines the number of features. Set
        `n_features` for shards whose results will be merged, because a shard may omit
        the last features if they are all 0.
    missing_values : list of str, default=()
        Additional texts that stand for a missing number in CSV and TSV cells, as in
        `load_table`.
    decimal : str, default="."
        Decimal separator of CSV and TSV.
    quoting : {"double", "none"}, default="double"
        Whether double quotes enclose cells of CSV and TSV. With "none", double quotes
        are ordinary characters.
    format : {"letor", "csv", "tsv", "parquet"}, optional
        Format of the files, which overrides the suffixes of their names. By default,
        the format is inferred from the suffix, or else from the first line.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame, from which estimators read
        the names of the features. Each column has its own dtype.
    progress : bool, default=False
        Whether to show a progress bar over documents (needs tqdm).

    Returns
    -------
    iterator of sklearn.utils.Bunch
        Each batch is a Bunch with these keys:

        - ``data``: features, with one column for each of ``feature_names``;
        - ``target``: labels, float64, of shape (n_rows,);
        - ``qid``: query ids, of shape (n_rows,);
        - ``feature_names``: names of the features, the same in every batch;
        - ``left_out``: names of the columns that are not numeric or have no name,
          except the columns in `ignore`;
        - ``left_out_files``: dict of the files of a folder or pattern that are left out
          because of their format. The values of the dict are the reasons;
        - ``place``: function that accepts the index of a row in the batch and returns
          the source of the row, for messages: the file and the line or row number;
        - ``DESCR``: description of the batch.

        Columns and features are determined before this function returns. Rows are then
        read batch by batch. LETOR text is read more than once, because the first pass
        finds the feature numbers. The query ids of CSV are read twice, because the
        first pass tests whether all query ids are integers.

    Raises
    ------
    ValueError
        If a column is missing, if no column is a feature, if a line or cell is
        malformed, or if query ids are missing, empty or of different types (such as
        text and integers). Also if `ignore` names a feature that does not exist, if an
        option does not apply to the kind of source, or if `n_features` is too small for
        the feature numbers. Also if a file is found twice, if the kind of source is
        unknown, or if there is no file or no document. While batches are read, an error
        is also raised if the rows of a query are not contiguous. Messages on a line or
        a row state the file and the number of the line or row.
    OSError
        If a file cannot be read.
    ImportError
        If the source is CSV, Parquet or a table, and pyarrow is not installed. Also if
        `as_frame` is True and pandas is not installed, if `progress` is True and tqdm
        is not installed, or if `path` is a URL and fsspec is not installed.

    Warns
    -----
    UserWarning
        If columns with a name are left out because the columns are not numeric.

    See Also
    --------
    RankingFeatureSelector.partial_fit : Screens features batch by batch.
    load_table : Reads tables that fit in memory.
    load_letor : Reads LETOR text that fits in memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn import RankingFeatureSelector
    >>> from tieaware_sklearn.datasets import iter_batches
    >>> text = "1 qid:1 1:5\n0 qid:1 1:5\n0 qid:2 1:7\n2 qid:2 1:3\n1 qid:3 1:4\n"
    >>> selector = RankingFeatureSelector(["rr"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "large.txt")
    ...     _ = path.write_text(text)
    ...     for batch in iter_batches(path, batch_rows=3):
    ...         print(batch.qid)
    ...         _ = selector.partial_fit(batch.data, batch.target, qid=batch.qid)
    [1 1 2 2]
    [3]
    >>> selector.n_queries_
    3
    """
    checks.check_flag(progress, "progress")
    if n_features is not None:
        checks.check_count(n_features, "n_features")
    tables, paths = _frames.tables_or_paths(path)
    options = _arrow.TableOptions(label, qid, ignore, missing_values, decimal, quoting)
    if tables is not None:
        file_options = {
            "query_file": query_file,
            "n_features": n_features,
            "format": format,
        }
        _refuse_options("data frames and streams", file_options)
        _refuse_options("data frames and streams", options.of_csv())
        rankings = _frames.open_frames(tables, _wording.kind_of(path), options)
    else:
        files = _locate.find_files(paths, format=format)
        rankings = open_files(
            files, options, format=format, query_file=query_file, n_features=n_features
        )
    _tables.warn_left_out(rankings)
    rows = rows_of_batch(batch_rows, len(rankings.feature_names))
    return track(rankings, rows, progress, "reading", as_frame=as_frame)


def track(
    rankings: _rows.Rankings,
    batch_rows: int | None,
    progress: bool,
    action: str = "screening",
    *,
    as_frame: bool | None = None,
) -> Iterator[Bunch]:
    """Return the batches. With `progress`, a progress bar named `action` is shown."""
    return progress_bars.show_progress(
        rankings.batches(batch_rows, as_frame=as_frame),
        progress,
        rankings.n_rows,
        "document",
        action,
        size=lambda batch: len(batch.target),
    )
