"""LETOR / SVMlight text with query ids, read and written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from .._engine.validation import check_choice
from ._text_source import COMPRESSED_SUFFIXES, TextSource, write_whole

PathLike = str | os.PathLike[str]


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    query_file: PathLike | Sequence[PathLike] | None = None,
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    sparse: bool = False,
) -> Bunch:
    r"""Read learning-to-rank text: ``label qid:7 1:0.5 2:3 # comment``.

    Parameters
    ----------
    path : path, or list of paths
        Plain or compressed text (gzip, bzip2, xz), ``-`` for standard input.
        Several files are read as one set of rows with one set of features; a
        ``qid:`` names the same query in all of them.
    query_file : path, or list of paths, optional
        Where the lines hold no ``qid:``: a file with the number of rows of each
        query, a line each, as LightGBM reads it, for each path. By default
        ``<path>.query`` or ``<path>.group`` is looked for. Queries are then
        numbered from 0, through all files.
    zero_based : bool or "auto", default="auto"
        Whether feature numbers start at 0. "auto" takes them to start at 1 unless
        a 0 occurs.
    n_features : int, optional
        Number of columns; by default up to the largest feature number seen.
    sparse : bool, default=False
        Return a SciPy CSR array; a dense array otherwise.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), float64; ``target``, float64;
        ``qid``, int64; ``feature_names``: the numbers that the file uses, as
        strings; ``DESCR``. Comments are left out.

    Raises
    ------
    ValueError
        For a malformed line (with file and line number), rows without a query,
        query sizes that do not add up to the number of rows, an empty file.
    OSError
        If a file cannot be read.

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
    sources = [TextSource(one) for one in check_paths(path, "path")]
    return read_letor(
        sources,
        query_file=query_file,
        zero_based=zero_based,
        n_features=n_features,
        sparse=sparse,
    )


def read_letor(
    sources: Sequence[TextSource],
    *,
    query_file: PathLike | Sequence[PathLike] | None = None,
    zero_based: bool | str = "auto",
    n_features: int | None = None,
    sparse: bool = False,
) -> Bunch:
    """`load_letor` of what may be read once only."""
    if not isinstance(zero_based, bool):
        check_choice(zero_based, "zero_based", (True, False, "auto"))
    given = check_query_file(query_file, len(sources))
    parsed = [_parse(source) for source in sources]
    if not any(len(part.qid) for part in parsed):
        parsed = _with_group_sizes(parsed, given)
    elif given:
        raise ValueError(f"{sources[0]}: query_file is given, but the lines hold qid:")
    for part in parsed:
        if len(part.qid) != len(part.target):
            raise ValueError(complaint(part.source, needs_qid=True))
    data, first = _one_matrix(parsed, zero_based, n_features)
    target = np.concatenate([part.target for part in parsed])
    qid = np.concatenate([part.qid for part in parsed])
    return Bunch(
        data=data if sparse else data.toarray(),
        target=target,
        qid=qid,
        feature_names=[str(first + i) for i in range(data.shape[1])],
        DESCR=f"{', '.join(map(str, sources))}: {len(target)} rows, "
        f"{len(np.unique(qid))} queries, {data.shape[1]} features",
    )


def memory_of_text(path: Path) -> int:
    """Bytes that the numbers of a text file take, roughly: as many as it has."""
    size = path.stat().st_size
    return 5 * size if path.suffix.lower() in COMPRESSED_SUFFIXES else size


def check_query_file(
    query_file: PathLike | Sequence[PathLike] | None, n_paths: int
) -> list[Path]:
    """The files with the sizes of queries: none, or one for each path."""
    given = [] if query_file is None else check_paths(query_file, "query_file")
    if given and len(given) != n_paths:
        raise ValueError(
            f"query_file must name one file per path ({n_paths}), got {len(given)}"
        )
    return given


class _Part(NamedTuple):
    source: TextSource
    data: Any
    target: NDArray[np.float64]
    qid: NDArray[np.int64]


def check_paths(path: PathLike | Sequence[PathLike], name: str) -> list[Path]:
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise ValueError(f"{name} must name at least one file, got none")
    return [Path(one) for one in paths]


def _parse(source: TextSource) -> _Part:
    with source.reading():
        try:
            with source.open() as file:
                data, target = load_svmlight_file(file, zero_based=True)
            with source.open() as file:
                qid = np.fromiter(_query_ids(file), dtype=np.int64)
        except (ValueError, OverflowError) as error:
            raise ValueError(complaint(source, fallback=str(error))) from None
    if not len(target):
        raise ValueError(f"{source}: the file holds no documents")
    return _Part(source, data, target, qid)


def _query_ids(lines: Iterable[bytes]) -> Iterator[int]:
    """The numbers after qid:, of the lines that have one.

    scikit-learn reads them too, but grows its array by one for every line.
    """
    for line in lines:
        _, _, qid = split_line(line)
        if qid is not None:
            yield qid


def split_line(line: bytes) -> tuple[bytes, list[bytes], int | None]:
    """What stands before a comment, its first three parts and the rest, the query id.

    Raises
    ------
    ValueError
        For a query id that is no integer, and for underscores.
    """
    content = line.partition(b"#")[0]
    if b"_" in content:  # which Python, and scikit-learn, read as part of a number
        raise ValueError("a number holds an underscore")
    parts = content.split(None, 3)
    has_qid = len(parts) > 1 and parts[1].startswith(b"qid:")
    return content, parts, int(parts[1][4:]) if has_qid else None


def _one_matrix(
    parts: list[_Part], zero_based: bool | str, n_features: int | None
) -> tuple[Any, int]:
    """All rows in one matrix, and the number of its first feature."""
    smallest = min((int(part.data.indices.min(initial=1)) for part in parts), default=1)
    if zero_based is False and smallest == 0:
        raise ValueError(
            f"{parts[0].source}: zero_based=False, but a feature has number 0"
        )
    first = 0 if zero_based is True or smallest == 0 else 1
    largest = max(int(part.data.indices.max(initial=-1)) for part in parts)
    if largest < 0 and n_features is None:
        raise ValueError(f"{parts[0].source}: no line holds a feature")
    seen = max(largest + 1 - first, 0)
    columns = seen if n_features is None else n_features
    if columns < seen:
        raise ValueError(
            f"n_features must be at least the {seen} that the file holds, got {columns}"
        )
    matrices = [
        sp.csr_array(
            (part.data.data, part.data.indices - first, part.data.indptr),
            shape=(len(part.target), columns),
        )
        for part in parts
    ]
    return sp.vstack(matrices, format="csr"), first


def _with_group_sizes(parts: list[_Part], given: list[Path]) -> list[_Part]:
    out, first = [], 0
    every = group_sizes([(part.source, len(part.target)) for part in parts], given)
    for part, sizes in zip(parts, every, strict=True):
        qid = np.repeat(np.arange(first, first + len(sizes)), sizes)
        out.append(part._replace(qid=qid))
        first += len(sizes)
    return out


def group_sizes(
    sources: Sequence[tuple[TextSource, int]], given: list[Path]
) -> list[NDArray[np.int64]]:
    """Sizes of the queries of each file of so many rows, whose lines hold no qid:."""
    every = []
    for i, (source, n_rows) in enumerate(sources):
        sizes_file = given[i] if given else _find_group_file(source.path)
        sizes = _read_sizes(sizes_file)
        if sizes.sum() != n_rows:
            raise ValueError(
                f"{sizes_file}: the sizes of its {len(sizes)} queries add up to "
                f"{sizes.sum()}, but {source} has {n_rows} rows"
            )
        every.append(sizes)
    return every


def kept_features(names: Sequence[str], ignore: Sequence[str]) -> list[int]:
    """Where the features stand that are not to be left out."""
    for name in ignore:
        if name not in names:
            raise ValueError(
                f"--ignore must name features, got {name!r} (features: "
                f"{', '.join(names)})"
            )
    kept = [j for j, name in enumerate(names) if name not in ignore]
    if not kept:
        raise ValueError("--ignore must leave a feature to screen, got all of them")
    return kept


def _find_group_file(path: Path) -> Path:
    for suffix in (".query", ".group"):
        beside = path.with_name(path.name + suffix)
        if beside.exists():
            return beside
    raise ValueError(
        f"{path}: its lines hold no qid:, and there is no {path.name}.query with the "
        "sizes of its queries beside it (query_file= names another)"
    )


def _read_sizes(path: Path) -> NDArray[np.int64]:
    sizes = []
    with TextSource(path).open() as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("latin-1").strip()
            if not text:
                continue
            if not text.isdigit() or int(text) < 1:
                raise ValueError(
                    f"{path}, line {number}: the size of a query must be an integer "
                    f">= 1, got {text!r}"
                )
            sizes.append(int(text))
    return np.array(sizes, dtype=np.int64)


_FEATURE = re.compile(r"(\d+):(\S+)")


def _is_number(text: str) -> bool:
    if "_" in text:
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def complaint(
    source: TextSource, *, fallback: str = "malformed", needs_qid: bool = False
) -> str:
    """What is wrong with a file, by its first malformed line."""
    return first_wrong(source, needs_qid=needs_qid) or f"{source}: {fallback}"


def first_wrong(source: TextSource, *, needs_qid: bool = False) -> str:
    """What is wrong with the first malformed line of a file; empty if none is."""
    with source.open() as file:
        for number, tokens in _documents(file):
            wrong = _wrong_with(tokens, needs_qid=needs_qid)
            if wrong:
                return f"{source}, line {number}: {wrong}"
    return ""


def _documents(lines: Iterable[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that hold a document."""
    for number, line in enumerate(lines, start=1):
        tokens = line.decode("latin-1").partition("#")[0].split()
        if tokens:
            yield number, tokens


def letor_place(sources: Sequence[TextSource], row: int) -> str:
    """File and line of a row of `read_letor`, for a message."""
    for source in sources:
        with source.open() as file:
            for number, _ in _documents(file):
                if row == 0:
                    return f"{source}, line {number}"
                row -= 1
    raise IndexError(row)


def _wrong_with(tokens: list[str], *, needs_qid: bool) -> str:
    label, *features = tokens
    if not _is_number(label):
        return f"the label must be a number, got {label!r}"
    if features and features[0].startswith("qid:"):
        qid = features.pop(0).removeprefix("qid:")
        if not re.fullmatch(r"[+-]?\d+", qid) or abs(int(qid)) >= 2**63:
            return f"qid must be a 64-bit integer, got {qid!r}"
    elif needs_qid:
        return "there is no qid:, though other lines have one"
    last = -1
    for feature in features:
        match = _FEATURE.fullmatch(feature)
        if match is None or not _is_number(match[2]):
            return f"a feature must look like number:value, got {feature!r}"
        if int(match[1]) >= 2**31:
            return f"a feature number must be below 2^31, got {match[1]}"
        if int(match[1]) <= last:
            return f"feature numbers must ascend, got {match[1]} after {last}"
        last = int(match[1])
    return ""


def dump_letor(
    X: Any,
    y: Any,
    qid: Any,
    path: PathLike,
    *,
    zero_based: bool = False,
) -> None:
    r"""Write learning-to-rank text that reads back exactly, as float64.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features. Of a sparse matrix only the stored values are written.
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), integers
        Query of each row.
    path : path
        Gzipped if it ends in ``.gz``. The file appears when it is complete.
    zero_based : bool, default=False
        Number the features from 0.

    Raises
    ------
    ValueError
        For lengths that differ, a qid that is not an integer (the format has
        no other), or X that is not numeric.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from tieaware_sklearn.datasets import dump_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tiny.txt")
    ...     dump_letor([[0.5, 3]], [2], [7], path)
    ...     path.read_text()
    '2 qid:7 1:0.5 2:3\n'
    """
    is_sparse = sp.issparse(X)
    rows: Any = sp.csr_array(X, copy=True) if is_sparse else np.asarray(X)
    if rows.dtype.kind == "O":  # such as a data frame of integers and flags
        rows = _as_numbers(rows)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(
            f"X must be a 2-D numeric array, got shape {rows.shape} and dtype "
            f"{rows.dtype}"
        )
    labels, queries = np.asarray(y), np.asarray(qid)
    for name, values in (("y", labels), ("qid", queries)):
        if values.shape != (rows.shape[0],):
            raise ValueError(
                f"{name} must have one value per row of X ({rows.shape[0]}), got "
                f"shape {values.shape}"
            )
    if queries.dtype.kind not in "biu":
        raise ValueError(
            "qid must be integers, the only kind the format has, got dtype "
            f"{queries.dtype}"
        )
    if queries.dtype.kind == "u" and (queries >= 2**63).any():
        raise ValueError(f"qid must be a 64-bit integer, got {queries.max()}")
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must be numeric, got dtype {labels.dtype}")
    first = 0 if zero_based else 1
    if is_sparse:
        rows.sum_duplicates()

    def lines() -> Iterator[str]:
        everything = range(rows.shape[1])
        for i, (label, query) in enumerate(
            zip(labels.tolist(), queries.tolist(), strict=True)
        ):
            if is_sparse:
                stored = slice(rows.indptr[i], rows.indptr[i + 1])
                columns: Iterable[int] = rows.indices[stored].tolist()
                values = rows.data[stored].tolist()
            else:
                columns, values = everything, rows[i].tolist()
            features = " ".join(
                f"{first + j}:{_spell(value)}"
                for j, value in zip(columns, values, strict=True)
            )
            yield f"{_spell(label)} qid:{int(query)} {features}".rstrip() + "\n"

    write_whole(Path(path), lines())


def _as_numbers(rows: NDArray[Any]) -> NDArray[Any]:
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError):
        return rows


def _spell(value: float) -> str:
    """The shortest text that reads back as the same number."""
    text = repr(int(value) if isinstance(value, bool) else value)
    return text.removesuffix(".0")
