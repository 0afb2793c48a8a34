"""LETOR / SVMlight text with query ids, read and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ._bunch import framed
from ._file_names import find_files
from ._letor_scan import scan_letor
from ._text_source import PathLike, TextSource
from ._whole_file import number_as_text, write_whole


def load_letor(
    path: PathLike | Sequence[PathLike],
    *,
    ignore: Sequence[str] = (),
    query_file: PathLike | Sequence[PathLike] | None = None,
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
        Files with the number of rows of each query, for lines without ``qid:``. There
        is one such file for each path, with a line for each query, as LightGBM reads
        it. By default ``<path>.query`` and then ``<path>.group`` are tried. Queries
        are numbered from 0 through all files.
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
        the file as strings; ``left_out``, which is empty; ``place``, a function that
        returns the file and line of a row; ``DESCR``. Comments are not read.

    Raises
    ------
    ValueError
        For a malformed line (with file and line number), a file that is cut off in
        its last line, as far as that can be told, rows without a query, query
        sizes that do not add up to the number of rows, and an empty file.
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
    scan = scan_letor(
        [TextSource(one) for one in find_files(path)],
        ignore=ignore,
        query_file=query_file,
        zero_based=zero_based,
        n_features=n_features,
        sparse=sparse,
    )
    return framed(scan.whole()) if as_frame else scan.whole()


def dump_letor(
    X: Any, y: Any, path: PathLike, *, qid: Any, zero_based: bool = False
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
    _refuse_masks(X=X, y=y, qid=qid)
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
            "qid must hold integers, the only ids that the format allows, got dtype "
            f"{queries.dtype}"
        )
    if queries.dtype.kind == "u" and (queries >= 2**63).any():
        raise ValueError(f"qid must be a 64-bit integer, got {queries.max()}")
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y must be numeric, got dtype {labels.dtype}")
    first = 0 if zero_based else 1
    if is_sparse:
        rows.sum_duplicates()

    numbers = range(first, first + rows.shape[1])
    write_whole(Path(path), letor_lines(rows, labels, queries, numbers))


def letor_lines(
    rows: Any, labels: NDArray[Any], queries: NDArray[Any], numbers: Sequence[int]
) -> Iterator[str]:
    """Lines of LETOR text; of a CSR array, those values that are stored."""
    is_sparse = sp.issparse(rows)
    for i, (label, query) in enumerate(
        zip(labels.tolist(), queries.tolist(), strict=True)
    ):
        if is_sparse:
            stored = slice(rows.indptr[i], rows.indptr[i + 1])
            own: Iterable[int] = [numbers[j] for j in rows.indices[stored].tolist()]
            values = rows.data[stored].tolist()
        else:
            own, values = numbers, rows[i].tolist()
        features = " ".join(
            f"{number}:{number_as_text(value)}"
            for number, value in zip(own, values, strict=True)
        )
        yield f"{number_as_text(label)} qid:{int(query)} {features}".rstrip() + "\n"


def _refuse_masks(**arrays: Any) -> None:
    for name, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise ValueError(f"{name} must not hold masked values")


def _as_numbers(rows: NDArray[Any]) -> NDArray[Any]:
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError):
        return rows
