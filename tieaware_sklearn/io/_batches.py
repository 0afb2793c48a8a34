"""Rankings larger than memory: files as batches of whole queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from sklearn.utils import Bunch

from .._display import show_progress
from .._engine import check_count, check_flag
from ._bunch import framed
from ._file_names import find_files
from ._letor_scan import scan_letor
from ._scan import Scan
from ._sorted import sorted_by_query
from ._table_sources import (
    batches_of_tables,
    check_paths,
    kind_of_source,
    peeked,
    tables_of,
)
from ._tabular_frames import all_tabular
from ._tabular_scan import scan_tables
from ._text_source import Location, PathLike, TextSource

#: numbers of a batch if nothing else is said: 32 MB of them
_BATCH_CELLS = 1 << 22


def scan_files(
    paths: Sequence[Location],
    *,
    label: str,
    qid: str,
    ignore: Sequence[str] = (),
    query_file: PathLike | Sequence[PathLike] | None = None,
    n_features: int | None = None,
    keep: bool = False,
) -> Scan[Any]:
    """Look through files, by their names LETOR text or tables.

    LETOR text has as many features as the largest number in it, or `n_features`. `keep`
    says that everything is wanted at once.
    """
    if not all_tabular(paths):
        sources = [TextSource(path) for path in paths]
        return scan_letor(
            sources, query_file=query_file, ignore=ignore, n_features=n_features
        )
    if query_file is not None:
        raise ValueError(
            f"query_file must be None for tables (only LETOR text has one), got "
            f"{query_file!r}"
        )
    if n_features is not None:
        raise ValueError(
            "n_features must be None for tables (only LETOR text leaves out zeros), "
            f"got {n_features!r}"
        )
    return scan_tables(paths, label=label, qid=qid, ignore=ignore, keep=keep)


def rows_of_batch(batch_rows: int | None, n_features: int) -> int:
    """Rows of a batch: what is asked for, else what 32 MB hold."""
    if batch_rows is None:
        return max(1, _BATCH_CELLS // n_features)
    check_count(batch_rows, "batch_rows")
    return int(batch_rows)


def iter_batches(
    path: PathLike | Sequence[PathLike] | Any,
    *,
    batch_rows: int | None = None,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    query_file: PathLike | Sequence[PathLike] | None = None,
    n_features: int | None = None,
    sort: bool = False,
    as_frame: bool = False,
    progress: bool = False,
) -> Iterator[Bunch]:
    r"""Read rankings larger than memory in batches of whole queries.

    Parameters
    ----------
    path : path, list of paths, or table
        Parquet, CSV or TSV files, recognised by the end of their names, or LETOR text.
        Text may be compressed. Several files are read as one. A folder, with all
        folders in it, or a pattern such as ``"shards/**/*.parquet"`` stands for its
        files in the order of their names (``part-2`` before ``part-10``); names that
        begin with ``_`` or ``.`` are left out. Folders named ``column=value`` that
        hold the files are columns. URLs are read with fsspec, which the extra ``urls``
        installs.

        Or an Arrow table, record batch, `pyarrow.RecordBatchReader` or
        `pyarrow.dataset.Dataset`; a polars DataFrame or LazyFrame; a pandas DataFrame;
        any object that exports a stream of Arrow, such as a relation of DuckDB; or a
        list or an iterator of tables. Features are then the columns with a type of
        numbers or flags (integers, floats, decimals, and categories of them), and
        columns of Python's numbers. Columns of text are none, since a stream is not
        known in advance: a warning names those that begin with numbers.

        The rows of a query must stand together, or see `sort`.
    batch_rows : int, optional
        Number of rows with which a batch is full; it ends with the query that reaches
        it. By default a batch is full at about four million numbers (32 MB). A query
        is never split, however long it is.
    label, qid : str, default="label", "qid"
        Columns of tables that hold labels and query ids.
    ignore : list of str, default=()
        Columns, or feature numbers, to leave out.
    query_file : path, or list of paths, optional
        As in `load_letor`.
    n_features : int, optional
        Number of features of LETOR text, by default the largest number of a feature in
        it. Batches of several shards merge if all of them have it, even where the last
        features are left out because they are 0.
    sort : bool, default=False
        What becomes of rows that do not stand together by query. By default they are an
        error that names the query. If True, they are sorted on disk with DuckDB or, if
        it is not installed, with Polars, before the first batch is read: in the folder
        for temporary files (``TMPDIR``), up to twice as large as the features,
        8 bytes each. Nothing is left there, except after ``kill -9`` or a power cut.
        Queries then come in the order of their first rows, and their rows in that of
        the files. ``DESCR`` says so. Files that are in order are not sorted. Must be
        False for tables and streams.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame, so that estimators fitted
        on it know the names of features.
    progress : bool, default=False
        Whether to show a progress bar over documents (needs tqdm).

    Returns
    -------
    iterator of sklearn.utils.Bunch
        Batches with the keys ``data`` of shape (n_rows, n_features); ``target``,
        float64, and ``qid``, of shape (n_rows,); ``feature_names``, the same in every
        batch; ``left_out``, the columns that are not features; ``place``, a function
        that returns the file and line of a row of the batch; ``DESCR``. Every file is
        read twice: once, when this function is called, for its features and queries,
        and once batch by batch. Tables and streams are read once.

    Raises
    ------
    ValueError
        For a query whose rows do not stand together, missing columns, malformed lines
        and cells (with file and line), missing ids (the empty text is one), files or
        tables whose query ids are of different kinds (such as text and integers), a
        file that is found twice, what can be no source, and if there is no file or no
        document; with `sort`, for tables and streams, and for features with integers
        that a float64 does not hold.
    OSError
        If a file or URL cannot be read, or if the disk is full while rows are sorted.
    ImportError
        For tables and data frames if pandas is not installed, for Parquet if pyarrow
        is not, for URLs without fsspec, and for `sort` without DuckDB and Polars.

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
    check_flag(progress, "progress")
    check_flag(sort, "sort")
    if n_features is not None:
        check_count(n_features, "n_features")
    kind = kind_of_source(path)
    path = peeked(path)
    tables = path if isinstance(path, chain) else tables_of(path)
    if tables is not None:
        for name, given in (
            ("sort", sort),
            ("query_file", query_file),
            ("n_features", n_features),
        ):
            if given:
                raise ValueError(
                    f"{name} must be {False if name == 'sort' else None} for tables in "
                    f"memory and streams (sort those with their own library), got "
                    f"{given!r}"
                )
        batches = batches_of_tables(
            tables, kind, label=label, qid=qid, ignore=ignore,
            n_rows=partial(rows_of_batch, batch_rows),
        )  # fmt: skip
        batches = show_progress(
            batches, progress, None, "document", "reading", size=_n_rows
        )
        return map(framed, batches) if as_frame else batches
    check_paths(path)
    scan = scan_files(
        find_files(path), label=label, qid=qid, ignore=ignore, query_file=query_file,
        n_features=n_features,
    )  # fmt: skip
    rows = rows_of_batch(batch_rows, len(scan.feature_names))
    if sort:
        scan = sorted_by_query(scan)
    elif scan.scattered:
        raise ValueError(scan.scattered)
    batches = track(scan, rows, progress, "reading")
    return map(framed, batches) if as_frame else batches


def track(
    scan: Scan[Any],
    batch_rows: int | None,
    progress: bool,
    what: str = "screening",
    first_row: int = 0,
) -> Iterator[Bunch]:
    """The batches, with a bar over documents that says what is done, if wanted."""
    return show_progress(
        scan.batches(batch_rows, first_row),
        progress,
        scan.n_rows - first_row,
        "document",
        what,
        size=_n_rows,
    )


def _n_rows(batch: Bunch) -> int:
    return len(batch.target)
