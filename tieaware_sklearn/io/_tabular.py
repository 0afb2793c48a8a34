"""Tables with a label, a query id and numeric features: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.utils import Bunch

from ._bunch import framed
from ._file_names import find_files
from ._tabular_frames import is_tabular
from ._tabular_scan import scan_tables
from ._text_source import PathLike


def load_table(
    path: PathLike | Sequence[PathLike],
    *,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    as_frame: bool = False,
) -> Bunch:
    r"""Read a ranking from CSV, TSV or Parquet, with rows in any order.

    Parameters
    ----------
    path : path, or list of paths
        Files, whose kind is recognised by the end of their names. Text may be
        compressed. Reading needs pandas, and pyarrow for Parquet. Several files with
        the same columns are read as one. Folders, patterns and URLs are as in
        `iter_batches`.
    label, qid : str, default="label", "qid"
        Columns that hold labels and query ids.
    ignore : list of str, default=()
        Columns to leave out. Columns without numbers or without a name are always
        left out.
    as_frame : bool, default=False
        Whether to return the features as a pandas DataFrame with their names.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), with NaN for empty cells; ``target``,
        float64, and ``qid``, of shape (n_rows,), where ``qid`` holds strings as the
        file spells them or, from Parquet, numbers; ``feature_names``; ``left_out``,
        the columns without numbers; ``place``, a function that returns the file and
        line of a row; ``DESCR``.

    Raises
    ------
    ValueError
        For a missing column, a cell that is not a number in a column with numbers
        (with file and line), an empty file, a file of another kind, and files whose
        query ids are of different kinds (such as text and integers).
    ImportError
        If pandas is not installed, or pyarrow for Parquet.

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
    ...     _ = path.write_text("query,rating,clicks\na,1,5\nb,0,2\na,0,5\n")
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
    scan = scan_tables(paths, label=label, qid=qid, ignore=ignore, keep=True)
    return framed(scan.whole()) if as_frame else scan.whole()
