"""Reading and writing of LETOR / SVMlight text with query ids."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from .. import _atomic
from .._engine import checks, exact_numbers
from .._typing import Array, FloatArray, IntArray
from . import _locate, _rows, _wording
from ._source import TextSource, sources_of

#: Features, labels and queries of consecutive lines.
_Parsed = tuple[sp.csr_array, FloatArray, IntArray]
#: Number of bytes of text that are parsed together.
_CHUNK = 1 << 20
#: A feature number above _LARGE is refused as a mistake if the feature number is more
#: than _FAR times the number of different feature numbers.
_LARGE = 10_000
_FAR = 100
#: Pattern of integers, as labels or features, that a float64 may round. All such
#: integers have at least 16 digits, as many as the bound 2^53.
_LONG_INTEGER = re.compile(rb"(?:(?<!\S)|(?<=[0-9]:))([+-]?[0-9]{16,})(?:\.0*)?(?!\S)")


def load_letor(
    path: _locate.Paths,
    *,
    ignore: Sequence[str] = (),
    query_file: _locate.Paths | None = None,
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    sparse: bool = False,
    as_frame: bool = False,
) -> Bunch:
    r"""Read learning-to-rank text: ``label qid:7 1:0.5 2:3 # comment``.

    Parameters
    ----------
    path : path, or list of paths
        Plain or compressed text (gzip, bzip2, xz), or ``-`` for standard input.
        Several files are read as one set of rows with one set of features. The same
        ``qid:`` means the same query in all files. Folders and patterns are read as in
        `iter_batches`.
    ignore : list of str, default=()
        Feature numbers to leave out, as strings.
    query_file : path, or list of paths, optional
        Files that contain the number of rows of each query, if no line of text contains
        ``qid:``. Pass one query file for each file of text, with one line for each
        query, as for LightGBM. By default, ``<path>.query`` and then ``<path>.group``
        are tried. Queries are numbered from 0 across all files.
    zero_based : bool or "auto", default="auto"
        Whether feature numbers start at 0. With "auto", feature numbers start at 1
        unless the number 0 occurs.
    n_features : int, optional
        Number of features, including ignored features. By default, the largest feature
        number in the text determines the number of features.
    sparse : bool, default=False
        Whether to return a SciPy CSR array instead of a dense array.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with named columns. The
        columns of the DataFrame are sparse if `sparse` is True.

    Returns
    -------
    sklearn.utils.Bunch
        The Bunch has these keys:

        - ``data``: features, float64, with one column for each of ``feature_names``. A
          feature that a line omits is 0;
        - ``target``: labels, float64, of shape (n_rows,);
        - ``qid``: query ids, int64, of shape (n_rows,);
        - ``feature_names``: feature numbers as strings, without ignored features;
        - ``left_out``: empty list, for consistency with `load_table`;
        - ``left_out_files``: as in `load_table`;
        - ``place``: function that accepts the index of a row and returns the file and
          the line of the row, for messages;
        - ``DESCR``: description of the data.

        Comments are not read.

    Raises
    ------
    ValueError
        If a line is malformed (the message states the file and the line number), if
        rows have no query, if `query_file` is set although lines contain ``qid:``, if
        the number of query files is not the number of files of text, or if the query
        sizes do not add up to the number of rows. Also if no file contains a document
        or a feature, if a file is found twice, if `ignore` names a feature that does
        not exist or leaves no feature, if `n_features` is too small for the feature
        numbers, or if the number 0 occurs although `zero_based` is False. Unless
        `n_features` is set, an error is also raised if a feature number is above 10,000
        and more than 100 times the number of features that occur.
    OSError
        If a file cannot be read.
    ImportError
        If a data frame is requested and pandas is not installed, or if `path` is a URL
        and fsspec is not installed.

    See Also
    --------
    iter_batches : Reads files larger than memory.
    load_table : Reads CSV, TSV and Parquet.
    dump_letor : Writes LETOR text.

    Notes
    -----
    LETOR, MSLR-WEB30K and SVMrank use this format. See Qin and Liu (2013), "Introducing
    LETOR 4.0 datasets".

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import load_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.txt")
    ...     _ = path.write_text("2 qid:7 1:0.5 2:3 # a comment\n0 qid:7 2:1\n")
    ...     tiny = load_letor(path)
    >>> tiny.data
    array([[0.5, 3. ],
           [0. , 1. ]])
    >>> tiny.target, tiny.qid
    (array([2., 0.]), array([7, 7]))
    """
    files = _locate.find_files(path, format="letor")
    sources = sources_of(files, "letor")
    rankings = open_letor(sources, ignore, query_file, n_features, zero_based, sparse)
    rankings.left_out_files.update(files.left_out)
    return next(rankings.batches(as_frame=as_frame))


def dump_letor(
    X: Any, y: Any, path: _locate.PathLike, *, qid: Any, zero_based: bool = False
) -> None:
    r"""Write learning-to-rank text without rounding the numbers.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features. Only the stored values of a sparse matrix are written.
    y : array-like of shape (n_rows,)
        Labels. NaN is written as ``nan``.
    path : path
        File to write, gzipped if its name ends in ``.gz``. The file appears only once
        it is complete.
    qid : array-like of shape (n_rows,), integers
        Query of each row.
    zero_based : bool, default=False
        Whether to number the features from 0. By default, features are numbered from 1,
        which `load_letor` assumes unless the number 0 occurs. If the first feature of a
        sparse matrix is never stored, the number 0 does not occur, so pass
        ``zero_based=True`` to `load_letor` as well.

    Raises
    ------
    ValueError
        If lengths differ, if a qid is not a signed 64-bit integer (the format allows no
        other ids), if X or y is not numeric, or if X or qid is a masked array.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_letor : Reads the file.

    Notes
    -----
    `load_letor` reads back the same numbers, to the last bit, unless float64 cannot
    represent an integer exactly. `load_letor` raises an error for a file that contains
    such an integer. If the last features of a sparse matrix are never stored, pass
    ``n_features`` to `load_letor`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import dump_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.txt")
    ...     dump_letor([[0.5, 3]], [2], path, qid=[7])
    ...     path.read_text()
    '2 qid:7 1:0.5 2:3\n'
    """
    exact_numbers.check_not_masked(X, "X")
    exact_numbers.check_not_masked(qid, "qid")
    if sp.issparse(X):
        rows = sp.csr_array(X, copy=True)
        rows.sum_duplicates()
    else:
        rows = np.asarray(X)
    if rows.dtype.kind == "O":  # A data frame of integers and Booleans, for example.
        with suppress(TypeError, ValueError):
            rows = rows.astype(np.float64)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be 2-dimensional and numeric, got shape {rows.shape} and dtype "
            f"{rows.dtype}"
        )
    labels = exact_numbers.numbers_of(y, "y")
    queries = np.asarray(qid)
    checks.check_length(labels, rows.shape[0], "y")
    checks.check_length(queries, rows.shape[0], "qid")
    if queries.dtype.kind not in "biu" or (queries >= 2**63).any():
        raise ValueError(
            "qid must contain signed 64-bit integers, because the format allows no "
            f"other ids, got dtype {queries.dtype} with {queries[:3]}"
        )
    lines = _lines(rows, labels, queries, 0 if zero_based else 1)
    _atomic.write_whole(Path(path), lines)


def _lines(rows: Any, labels: Array, queries: Array, first: int) -> Iterator[str]:
    """Yield lines of text, with all values of an array or the stored values of CSR."""
    columns = np.arange(rows.shape[1])
    for i, (label, query) in enumerate(zip(labels.tolist(), queries, strict=True)):
        values = rows[i]
        if sp.issparse(rows):
            stored = slice(rows.indptr[i], rows.indptr[i + 1])
            columns = rows.indices[stored]
            values = rows.data[stored]
        words = [_wording.number_as_text(label), f"qid:{int(query)}"]
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            words.append(f"{column + first}:{_wording.number_as_text(value)}")
        yield " ".join(words) + "\n"


@dataclass
class _File:
    """The rows of a file, and the range of its feature numbers."""

    source: TextSource
    n_rows: int = 0
    has_qid: bool = False
    #: Smallest feature number, or 1 if all feature numbers are larger.
    smallest: int = 1
    #: Largest feature number, or -1 if the file contains no feature.
    largest: int = -1
    #: Query of each row, if the lines do not contain query ids.
    qid: IntArray | None = None


def open_letor(
    sources: Sequence[TextSource],
    ignore: Sequence[str],
    query_file: _locate.Paths | None,
    n_features: int | None,
    zero_based: bool | str = "auto",
    sparse: bool = False,
) -> _rows.Rankings:
    """Scan text for rows and features. The options are documented in `load_letor`."""
    checks.check_choice(zero_based, "zero_based", (True, False, "auto"))
    source_names = _wording.listed(sources)
    files = [_scan(source) for source in sources]
    n_rows = sum(file.n_rows for file in files)
    if not n_rows:
        raise _rows.no_document(source_names)
    _find_queries(files, query_file)
    smallest = min(file.smallest for file in files)
    largest = max(file.largest for file in files)
    if zero_based is False and smallest == 0:
        raise ValueError(
            f"{source_names}: zero_based=False, but a feature has number 0"
        )
    first = 0 if zero_based is True or smallest == 0 else 1
    n_found = max(largest + 1 - first, 0)
    if n_features is None:
        if not n_found:
            raise ValueError(
                f"{source_names}: no line contains a feature, such as 1:0.5"
            )
        if largest > _LARGE:
            _check_not_far(files, largest)
        n_features = n_found
    if n_features < n_found:
        raise ValueError(
            f"n_features must be at least {n_found} to include the largest feature "
            f"number, got {n_features}"
        )
    names = [str(number) for number in range(first, first + n_features)]
    _rows.check_ignored(ignore, names)
    features = [name for name in names if name not in ignore]
    if ignore and not features:
        raise ValueError("ignore must leave at least one feature, got all of them")
    # Text is parsed into a matrix whose column indices are the feature numbers.
    columns = np.array(features, dtype=np.int64)
    # scikit-learn requires at least one feature.
    read = partial(_read, files, columns, max(first + n_features, 1))
    return _rows.Rankings(
        source_names, features, [], read, n_rows, sparse, is_table=False
    )


def _scan(source: TextSource) -> _File:
    """Count the rows of a file, and find its smallest and largest feature number.

    Raises
    ------
    ValueError
        If scikit-learn would misread a line or ignore the query of a line. Other errors
        are found when the lines are parsed.
    """
    file = _File(source)
    without_query = None
    for number, content in _documents(source):
        file.n_rows += 1
        words = content.split(None, 3)[1:]
        if words and words[0].startswith(b"qid:"):
            file.has_qid = True
            words.pop(0)
        else:
            without_query = without_query or (number, content)
        # scikit-learn reads qidx:7 as qid:7, and 1_0 as 10, as Python does.
        try:
            if words and words[0].startswith(b"qid"):
                raise ValueError("the query must be written once, as qid:7")
            if b"_" in content:
                raise ValueError("a number contains an underscore")
            if not content.isascii():
                raise ValueError(
                    "numbers and spaces must be ASCII, without no-break spaces"
                )
            if words:
                # scikit-learn refuses lines whose feature numbers do not ascend.
                last = content.rsplit(None, 1)[-1]
                file.smallest = min(file.smallest, int(words[0].partition(b":")[0]))
                file.largest = max(file.largest, int(last.partition(b":")[0]))
        except ValueError as error:
            raise _line_error(source, number, content, error) from None
    if file.has_qid and without_query is not None:
        raise _line_error(source, *without_query, "other lines have qid:")
    return file


def _check_not_far(files: Sequence[_File], largest: int) -> None:
    """Refuse a feature number that would fill the memory with columns of zeros."""
    numbers: set[int] = set()
    for file in files:
        for data, _, _ in _pieces(file.source, largest + 1):
            numbers.update(data.indices.tolist())
    if largest > _FAR * len(numbers):
        raise ValueError(
            f"{_wording.listed(file.source for file in files)}: feature number "
            f"{largest} is far above the number of different features, {len(numbers)}, "
            f"but every number up to {largest} would be a column. If the feature "
            "number is right, set n_features, or --n-features"
        )


def _find_queries(files: Sequence[_File], query_file: _locate.Paths | None) -> None:
    """Set the queries of files without query ids, from the sizes of the queries.

    Queries are numbered from 0 across all files.
    """
    paths: Any = [None] * len(files) if query_file is None else query_file
    if isinstance(query_file, (str, os.PathLike)):
        paths = [query_file]
    if len(paths) != len(files):
        raise ValueError(
            f"query_file must name one file for each path ({len(files)}), got "
            f"{len(paths)}"
        )
    with_qid = [file for file in files if file.has_qid]
    if with_qid:
        if query_file is not None:
            raise ValueError(
                f"{with_qid[0].source}: query_file must be None, because the lines "
                "have qid:"
            )
        for file in files:
            if file.n_rows and not file.has_qid:
                raise ValueError(
                    f"{file.source}: the lines have no qid:, unlike the lines of other "
                    "files"
                )
        return
    first = 0
    for file, path in zip(files, paths, strict=True):
        sizes = _read_sizes(file, path)
        file.qid = np.repeat(np.arange(first, first + len(sizes)), sizes)
        first += len(sizes)


def _read_sizes(file: _File, path: _locate.PathLike | None) -> list[int]:
    """Read the sizes of the queries of a file."""
    for suffix in _locate.GROUP_SUFFIXES:
        beside = file.source.path.with_name(file.source.path.name + suffix)
        if path is None and beside.is_file():
            path = str(beside)
    if path is None:
        if not file.n_rows:
            return []
        raise ValueError(
            f"{file.source}: the lines contain no qid:, and there is no file "
            f"{file.source.path.name}.query or .group. If another file contains the "
            "sizes of the queries, set query_file, or --query-file. If "
            f"{file.source.path.name} is not LETOR text, set format, or --format"
        )
    source = TextSource(path)
    with source.open_text() as text:
        words = text.read().split()
    for word in words:
        if not re.fullmatch(rb"0*[1-9][0-9]{0,9}", word):
            raise ValueError(
                f"{source}: the size of a query must be a positive integer, got "
                f"{_quoted(word)}"
            )
    sizes = [*map(int, words)]
    if sum(sizes) != file.n_rows:
        raise ValueError(
            f"{source}: the sizes of the {len(sizes)} queries add up to {sum(sizes)}, "
            f"but {file.source} has {file.n_rows} rows"
        )
    return sizes


def _read(
    files: Sequence[_File], columns: IntArray, n_features: int
) -> Iterator[_rows.Rows]:
    """Yield all rows, in blocks of lines."""
    for file in files:
        place = partial(_place, file.source)
        row = 0
        for data, target, qid in _pieces(file.source, n_features):
            start = row
            row += len(target)
            if file.qid is not None:
                qid = file.qid[start:row]
            if row > file.n_rows or len(qid) != len(target):
                break
            yield _rows.Rows(data[:, columns], target, qid, place, start)
            del data, target  # Free the memory before the next rows are read.
        if row != file.n_rows:
            raise ValueError(f"{file.source}: the file has changed since it was read")


def _pieces(source: TextSource, n_features: int) -> Iterator[_Parsed]:
    """Yield the features, labels and queries of each block of lines.

    Raises
    ------
    ValueError
        If a line is malformed. The message states the file and the line.
    """
    with source.open_text() as file:
        while text := file.read(_CHUNK) + file.readline():
            try:
                yield _parse(text, n_features)
            except (ValueError, OverflowError) as error:
                raise _first_error(source, n_features, error) from None


def _parse(text: bytes, n_features: int) -> _Parsed:
    """Return the features, labels and queries of a block of lines."""
    data, target, qid = load_svmlight_file(
        io.BytesIO(text), n_features=n_features, zero_based=True, query_id=True
    )
    if exact_numbers.any_large(data.data) or exact_numbers.any_large(target):
        for word in _LONG_INTEGER.findall(re.sub(rb"#.*", b"", text)):
            if int(word) != float(word):
                raise ValueError(
                    f"{_quoted(word)} cannot be represented exactly as a float64"
                )
    # `load_svmlight_file` returns 64-bit indices, but some estimators refuse them.
    indices = data.indices.astype(np.int32)
    indptr = data.indptr.astype(np.int32)
    return sp.csr_array((data.data, indices, indptr), data.shape), target, qid


def _first_error(source: TextSource, n_features: int, error: Exception) -> ValueError:
    """Return the error of the first malformed line."""
    for number, content in _documents(source):
        try:
            _parse(content, n_features)
        except (ValueError, OverflowError) as line_error:
            return _line_error(source, number, content, line_error)
    return ValueError(f"{source}: {error}")


def _line_error(
    source: TextSource, number: int, content: bytes, reason: object
) -> ValueError:
    return ValueError(
        f"{source}, line {number}: must look like '2 qid:7 1:0.5 2:3', got "
        f"{_quoted(content)} ({_wording.listed([_wording.in_one_line(reason)])})"
    )


def _quoted(word: bytes) -> str:
    return _wording.quoted(word.decode("latin-1"))


def _place(source: TextSource, row: int) -> str:
    """Return the file and the line of a row, for a message."""
    number, _ = next(islice(_documents(source), row, None))
    return f"{source}, line {number}"


def _documents(source: TextSource) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text, without comment, of each line with a document."""
    with source.open_text() as file:
        for number, line in enumerate(file, start=1):
            content = line.partition(b"#")[0].strip()
            if content:
                yield number, content
