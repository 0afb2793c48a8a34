"""LETOR / SVMlight text with query ids, read and written."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from .. import _atomic
from .._engine import checks, exact_numbers, messages, segments, spelling
from . import _locate, _rows, _source, _wording

_DIGITS = re.compile(r"[0-9]+")
#: whole numbers that a float64 may not hold
_LONG = re.compile(r"(?:^\s*|(?<=[0-9]):)([+-]?[0-9]{16,}(?:\.0*)?)(?!\S)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(rf"{spelling.PLAIN.pattern}|{spelling.NO_NUMBER}")
#: bytes of text that are looked at together
_CHUNK = 1 << 20
#: feature numbers are below this in scikit-learn's reader
_N_NUMBERS = 2**31
#: feature numbers above the first are taken for mistakes if they are so many times
#: more than there are different ones
_LARGE, _FAR = 10_000, 100


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
        Several files are read as one set of rows with one set of features; the same
        ``qid:`` means the same query in all of them. Folders, patterns and URLs are as
        in `iter_batches`.
    ignore : list of str, default=()
        Numbers of features to leave out.
    query_file : path, or list of paths, optional
        Files with the number of rows of each query, for lines without ``qid:``. Give
        one such file for each path, with a line for each query, as for LightGBM. By
        default ``<path>.query`` and then ``<path>.group`` are tried. Queries are
        numbered from 0 across all files.
    zero_based : bool or "auto", default="auto"
        Whether feature numbers start at 0. With "auto" they start at 1 unless the
        number 0 occurs.
    n_features : int, optional
        Number of columns. By default the largest feature number in the file decides.
    sparse : bool, default=False
        Whether to return a SciPy CSR array instead of a dense array.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with their names. Its
        columns are sparse if `sparse` is True.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), float64; ``target``, float64, and
        ``qid``, int64, of shape (n_rows,); ``feature_names``, the feature numbers of
        the file as strings; ``left_out``, which is empty; ``left_out_files``, as in
        `load_table`; ``place``, a function that returns the file and line of a row;
        ``DESCR``. Comments are not read.

    Raises
    ------
    ValueError
        For a malformed line (with file and line number), rows without a query, query
        sizes that do not add up to the number of rows, and an empty file. Unless
        `n_features` is given, also for a feature number that is above 10,000 and over
        100 times the number of features that occur.
    OSError
        If a file cannot be read.
    ImportError
        For data frames if pandas is not installed.

    See Also
    --------
    iter_batches : Reads files larger than memory.
    load_table : Reads CSV, TSV and Parquet.
    dump_letor : Writes LETOR text.

    Notes
    -----
    This is the format of LETOR, MSLR-WEB30K and SVMrank: Qin and Liu (2013),
    "Introducing LETOR 4.0 datasets".

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
    sources = _source.sources_of(files, "letor")
    rankings = open_letor(sources, ignore, query_file, n_features, zero_based, sparse)
    rankings.left_out_files.update(files.left_out)
    return rankings.whole(as_frame=as_frame)


def dump_letor(
    X: Any, y: Any, path: _locate.PathLike, *, qid: Any, zero_based: bool = False
) -> None:
    r"""Write learning-to-rank text whose numbers read back exactly as float64.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features. Only the stored values of a sparse matrix are written.
    y : array-like of shape (n_rows,)
        Labels.
    path : path
        File to write, gzipped if its name ends in ``.gz``. It appears only once it is
        complete.
    qid : array-like of shape (n_rows,), integers
        Query of each row.
    zero_based : bool, default=False
        Whether to number the features from 0. By default they are numbered from 1, as
        `load_letor` expects unless the number 0 occurs.

    Raises
    ------
    ValueError
        For lengths that differ, for a qid that is not an integer (the format allows
        integers only), and for X or y that is not numeric.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_letor : Reads the file.

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
    for name, values in (("X", X), ("y", y), ("qid", qid)):
        rule = f"{name} must not hold masked values"
        messages.require(not np.ma.is_masked(values), rule)
    is_sparse = sp.issparse(X)
    rows: Any = sp.csr_array(X, copy=True) if is_sparse else np.asarray(X)
    with suppress(TypeError, ValueError):
        if rows.dtype.kind == "O":  # such as a data frame of integers and flags
            rows = rows.astype(np.float64)
    are_numbers = rows.ndim == 2 and rows.dtype.kind in "biuf"
    got = f"got shape {rows.shape} and dtype {rows.dtype}"
    messages.require(are_numbers, f"X must be a 2-D numeric array, {got}")
    labels, queries = exact_numbers.numbers_of(y, "y"), np.asarray(qid)
    checks.check_length(labels, rows.shape[0], "y")
    checks.check_length(queries, rows.shape[0], "qid")
    are_integers = queries.dtype.kind in "biu" and (queries < 2**63).all()
    rule = "qid must hold 64-bit integers, the only ids that the format allows"
    got = f"got dtype {queries.dtype} with {queries[:3]}"
    messages.require(are_integers, f"{rule}, {got}")
    first = 0 if zero_based else 1
    if is_sparse:
        rows.sum_duplicates()
    _atomic.write_whole(Path(path), _lines(rows, labels, queries, first))


def _lines(
    rows: Any, labels: NDArray[Any], queries: NDArray[Any], first: int
) -> Iterator[str]:
    """Lines of text; of a CSR array, those values that are stored."""
    numbers, spelled = range(first, first + rows.shape[1]), _wording.number_as_text
    of_rows = zip(labels.tolist(), queries.tolist(), strict=True)
    for i, (label, query) in enumerate(of_rows):
        values = rows[i]
        if sp.issparse(rows):
            stored = slice(rows.indptr[i], rows.indptr[i + 1])
            numbers, values = rows.indices[stored] + first, rows.data[stored]
        pairs = zip(numbers, values.tolist(), strict=True)
        features = "".join(f" {number}:{spelled(value)}" for number, value in pairs)
        yield f"{spelled(label)} qid:{int(query)}{features}\n"


class _File(NamedTuple):
    """A file, its lines that hold a document, and its queries, one after another."""

    source: _source.TextSource
    n_rows: int
    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]


def open_letor(
    sources: Sequence[_source.TextSource],
    ignore: Sequence[str],
    query_file: _locate.Paths | None,
    n_features: int | None,
    zero_based: bool | str = "auto",
    sparse: bool = False,
) -> _rows.Rankings:
    """Look through text for its queries and features; options as in `load_letor`."""
    checks.check_choice(zero_based, "zero_based", (True, False, "auto"))
    files: list[_File] = []
    smallest, largest = 1, -1
    for source in sources:
        n_rows, ids, lengths = 0, [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for n_lines, qid, least, most in _read_text(source, _look_at):
            n_rows += n_lines
            starts, sizes = segments.runs(qid)
            ids.append(qid[starts])
            lengths.append(sizes)
            smallest, largest = min(smallest, least), max(largest, most)
        files.append(_File(source, n_rows, *map(np.concatenate, (ids, lengths))))
    said, n_documents = _wording.listed(sources), sum(file.n_rows for file in files)
    if not n_documents:
        raise _rows.no_document(said)
    files = _with_queries(files, query_file)
    agrees = zero_based is not False or smallest != 0
    messages.require(agrees, f"{said}: zero_based=False, but a feature has number 0")
    if largest < 0 and n_features is None:
        raise ValueError(_complaint(sources[0], "no line holds a feature"))
    if largest > _LARGE and n_features is None:
        _check_not_far(sources, largest)
    first = 0 if zero_based is True or smallest == 0 else 1
    seen = max(largest + 1 - first, 0)
    wanted = seen if n_features is None else n_features
    rule = f"n_features must be at least {seen}, the number in the file"
    messages.require(wanted >= seen, rule, wanted)
    numbers = range(first, first + wanted)
    _rows.check_ignored(ignore, list(map(str, numbers)) if ignore else [])
    features = [number for number in numbers if str(number) not in ignore]
    rule = "ignore must leave at least one feature, got all of them"
    messages.require(features or not ignore, rule)
    # scikit-learn numbers columns from 0, and takes at least one
    parse = partial(_parse, np.array(features, int), max(numbers.stop, 1))
    names, read = list(map(str, features)), partial(_read, files, parse)
    return _rows.Rankings(said, names, [], read, n_documents, sparse, is_table=False)


def _read(
    files: Sequence[_File], parse: Callable[[bytes], tuple[Any, NDArray[np.float64]]]
) -> Iterator[_rows.Rows]:
    """All rows, some lines at a time, as `parse` has their features and labels."""
    for source, n_rows, ids, lengths in files:
        qid, place, stop = np.repeat(ids, lengths), partial(_place, source), 0
        for data, target in _read_text(source, parse):
            first, stop = stop, stop + len(target)
            if stop > n_rows:
                break
            yield _rows.Rows(data, target, qid[first:stop], place, first)
            del data, target  # before the next ones are made
        rule = f"{source}: the file has changed since it was read"
        messages.require(stop == n_rows, rule)


def _parse(
    features: NDArray[np.int64], width: int, text: bytes
) -> tuple[Any, NDArray[np.float64]]:
    """Values of some features, whose numbers are all below `width`, and labels."""
    file = io.BytesIO(text)
    data, target = load_svmlight_file(file, n_features=width, zero_based=True)
    data = sp.csr_array(data)[:, features]
    # 64-bit indices, as scikit-learn reads them, are more than some estimators take
    ends = [part.astype(np.int32) for part in (data.indices, data.indptr)]
    data = sp.csr_array((data.data, *ends), data.shape)
    if any(map(exact_numbers.any_large, (data.data, target))):
        for line in text.decode("latin-1").split("\n"):
            if any(map(spelling.is_rounded, _LONG.findall(line.partition("#")[0]))):
                raise ValueError("a number is not one that a float64 holds")
    return data, target


def _check_not_far(sources: Sequence[_source.TextSource], largest: int) -> None:
    """Refuse a feature number that would fill the memory with columns of zeros."""
    seen: set[int | None] = set()
    where = ""
    for source in sources:
        for line, tokens in _documents(source):
            numbers = {_integer(token.partition(":")[0]) for token in tokens[1:]}
            seen |= numbers - {None}
            if _FAR * len(seen) >= largest:
                return
            if largest in numbers:
                where = where or f"{source}, line {line}"
    raise ValueError(
        f"{where}: feature number {largest} is far beyond the others ({len(seen)} "
        "different ones): every number up to it would be a column (if it is right, "
        "n_features, or --n-features, says how many there are)"
    )


def _with_queries(files: list[_File], query_file: _locate.Paths | None) -> list[_File]:
    """Queries as lines name them, or by their sizes, numbered through all files.

    Raises
    ------
    ValueError
        Where some lines have a qid: and others not, or all and there is a `query_file`;
        where sizes are not to be found, or do not add up to the rows of their file.
    """
    given: list[Any] = [None] * len(files)
    if query_file is not None:
        is_one = isinstance(query_file, (str, os.PathLike))
        given = [query_file] if is_one else list(query_file)  # type: ignore[arg-type]
        rule = f"query_file must name one file for each path ({len(files)})"
        messages.require(len(given) == len(files), rule, len(given))
    if any(len(file.ids) for file in files):
        rule = "query_file must be None, because the lines have qid:"
        messages.require(query_file is None, f"{files[0].source}: {rule}")
        for file in files:
            if file.lengths.sum() != file.n_rows:
                raise ValueError(_complaint(file.source, needs_qid=True))
        return files
    first = 0
    for i, (file, path) in enumerate(zip(files, given, strict=True)):
        sizes = _sizes_of(file, path)
        ids = np.arange(first, first := first + len(sizes))
        files[i] = file._replace(ids=ids, lengths=sizes)
    return files


def _read_text(
    source: _source.TextSource, reader: Callable[[bytes], Any]
) -> Iterator[Any]:
    """Read a file, some whole lines at a time; errors name the line."""
    with source.reading(), source.open_text() as file:
        while text := file.read(_CHUNK):
            text += file.readline()
            try:
                yield reader(text)
            except (ValueError, OverflowError) as error:
                raise ValueError(_complaint(source, error)) from None


def _look_at(text: bytes) -> tuple[int, NDArray[np.int64], int, int]:
    """Queries and features of some lines.

    Returns the number of documents, the qid of those that have one, and the smallest
    and largest number of a feature: 1 and -1 if there are none.

    Raises
    ------
    ValueError, OverflowError
        For numbers that are none; `_read_text` says which. What stands between the
        first and the last feature of a line is not looked at.
    """
    n_rows, ids = 0, []
    smallest, largest = 1, -1
    for line in text.split(b"\n"):
        content = line.partition(b"#")[0]
        if b"_" in content:  # which Python, and scikit-learn, read as part of a number
            raise ValueError("a number holds an underscore")
        parts = content.split(None, 3)
        if not parts:
            continue
        n_rows += 1
        features = parts[1:]
        if features and features[0].startswith(b"qid:"):
            ids.append(int(features.pop(0)[4:]))
        if features:
            last = content.rsplit(None, 1)[-1]
            smallest = min(smallest, int(features[0].partition(b":")[0]))
            largest = max(largest, int(last.partition(b":")[0]))
    if smallest < 0 or largest >= _N_NUMBERS:
        raise OverflowError("a feature number is out of range")
    return n_rows, np.array(ids, dtype=np.int64), smallest, largest


def _sizes_of(file: _File, path: _locate.PathLike | None) -> NDArray[np.int64]:
    """Sizes of the queries of a file whose lines hold no qid:."""
    text_file = file.source.path
    suffixes = _locate.GROUP_SUFFIXES
    beside = [text_file.with_name(text_file.name + suffix) for suffix in suffixes]
    source = path or next((one for one in beside if one.is_file()), None)
    if source is None:
        if not file.n_rows:
            return np.empty(0, dtype=np.int64)
        raise ValueError(
            f"{file.source}: the lines have no qid:, and there is no file "
            f"{beside[0].name} with the sizes of the queries beside it (query_file, or "
            "--query-file, names another file; format, or --format, says what a file "
            "is that is no LETOR text)"
        )
    sizes_in_file = []
    for number, tokens in _documents(text := _source.TextSource(source), b"\0"):
        size = _integer(tokens[0]) if len(tokens) == 1 else None
        if size is None or not 1 <= size < _N_NUMBERS:
            raise ValueError(
                f"{text}, line {number}: the size of a query must be an integer >= 1 "
                f"and below 2^31, got {_wording.quoted(' '.join(tokens))}"
            )
        sizes_in_file.append(size)
    sizes = np.array(sizes_in_file, dtype=np.int64)
    rule = f"{text}: the sizes of its {len(sizes)} queries add up to {sizes.sum()}"
    got = f"but {file.source} has {file.n_rows} rows"
    messages.require(sizes.sum() == file.n_rows, f"{rule}, {got}")
    return sizes


def _complaint(
    source: _source.TextSource, error: object = "", *, needs_qid: bool = False
) -> str:
    """Describe the first malformed line of a file, or else the error."""
    for number, tokens in _documents(source):
        wrong = _wrong_with(tokens, needs_qid=needs_qid)
        if wrong:
            return f"{source}, line {number}: {wrong}"
    return f"{source}: {error or 'malformed'}"


def _place(source: _source.TextSource, row: int) -> str:
    """File and line of a row, for a message."""
    number, _ = next(islice(_documents(source), row, None))
    return f"{source}, line {number}"


def _documents(
    source: _source.TextSource, comment: bytes = b"#"
) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that hold some, up to their comments."""
    with source.reading(), source.open_text() as file:
        for number, line in enumerate(file, start=1):
            # bytes are parted at ASCII white space alone, as scikit-learn does
            tokens = [t.decode("latin-1") for t in line.partition(comment)[0].split()]
            if tokens:
                yield number, tokens


def _wrong_with(tokens: list[str], *, needs_qid: bool) -> str:
    label, *features = tokens
    if not _NUMBER.fullmatch(label) or spelling.is_rounded(label):
        exactly = " that a float64 holds" if _NUMBER.fullmatch(label) else ""
        return f"the label must be a number{exactly}, got {_wording.quoted(label)}"
    if features and features[0].startswith("qid:"):
        text = features.pop(0).removeprefix("qid:")
        qid = _integer(text)
        if qid is None or not -(2**63) <= qid < 2**63:
            return f"qid must be a 64-bit integer, got {_wording.quoted(text)}"
    elif needs_qid:
        return "there is no qid:, though other lines have one"
    last = -1
    for feature in features:
        text, colon, value = feature.partition(":")
        number = _integer(text)
        if not (colon and _DIGITS.fullmatch(text) and _NUMBER.fullmatch(value)):
            rule = "a feature must look like number:value"
            return f"{rule}, got {_wording.quoted(feature)}"
        if spelling.is_rounded(value):
            rule = "must be a number that a float64 holds, or it would tie with others"
            shown = _wording.quoted(text)[1:-1]
            return f"feature {shown} {rule}, got {_wording.quoted(value)}"
        if number is None or number >= _N_NUMBERS:
            return f"a feature number must be below 2^31, got {_wording.quoted(text)}"
        if number <= last:
            return f"feature numbers must ascend, got {number} after {last}"
        last = number
    return ""


def _integer(text: str) -> int | None:
    """The integer that a text spells, if its digits are not in the thousands."""
    return spelling.whole_number(text) if _INTEGER.fullmatch(text) else None
