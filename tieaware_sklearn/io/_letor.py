"""LETOR / SVMlight text with query ids, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from .._engine.validation import check_choice
from ._letor_format import (
    Counted,
    check_query_file,
    complaint,
    numbered_queries,
    query_sizes,
    split_line,
)
from ._text_source import PathLike, TextSource, check_paths
from ._whole_file import write_whole


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
    sizes = query_sizes(
        [Counted(part.source, len(part.target), len(part.qid)) for part in parsed],
        given,
    )
    data, first = _one_matrix(parsed, zero_based, n_features)
    target = np.concatenate([part.target for part in parsed])
    own = (part.qid for part in parsed)
    qid = np.concatenate(list(own if sizes is None else numbered_queries(sizes)))
    return Bunch(
        data=data if sparse else data.toarray(),
        target=target,
        qid=qid,
        feature_names=[str(first + i) for i in range(data.shape[1])],
        DESCR=f"{', '.join(map(str, sources))}: {len(target)} rows, "
        f"{len(np.unique(qid))} queries, {data.shape[1]} features",
    )


class _Part(NamedTuple):
    source: TextSource
    data: Any
    target: NDArray[np.float64]
    qid: NDArray[np.int64]


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
