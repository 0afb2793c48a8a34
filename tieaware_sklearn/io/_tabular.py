"""Tables with a label, a query id and numeric features: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .._optional import import_optional
from ._tabular_frames import (
    Head,
    Table,
    has_text_ids,
    import_pandas,
    is_tabular,
    read_heads,
    read_tables,
)
from ._text_source import PathLike, check_paths


def load_table(
    path: PathLike | Sequence[PathLike],
    *,
    label: str = "label",
    qid: str = "qid",
    ignore: Sequence[str] = (),
    as_frame: bool = False,
) -> Bunch:
    r"""Read a ranking from CSV, TSV or Parquet, its rows in any order.

    Parameters
    ----------
    path : path, or list of paths
        The end of the name says what the file is; text may be compressed (needs
        pandas, and pyarrow for Parquet). Several files, of the same columns, are
        read as one.
    label, qid : str, default="label", "qid"
        The columns with labels and query ids.
    ignore : list of str, default=()
        Columns to leave out, besides those without numbers or without a name.
    as_frame : bool, default=False
        The features as a pandas DataFrame, with their names.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` of shape (n_rows, n_features), NaN where a cell is empty;
        ``target``, float64, and ``qid``, text as the file spells it or numbers (of
        Parquet), of shape (n_rows,); ``feature_names``; ``left_out``, the columns
        without numbers; ``DESCR``.

    Raises
    ------
    ValueError
        For a column that is not there, a cell that is not a number in a column that
        has numbers (with file and line), an empty file, another kind of file.
    ImportError
        Without pandas, or pyarrow for Parquet.

    See Also
    --------
    iter_batches : Tables larger than memory.
    load_letor : LETOR text.

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
    paths = check_paths(path, "path")
    for one in paths:
        if not is_tabular(one):
            raise ValueError(
                f"path must end in .csv, .tsv, .parquet or .pq (and .gz or the like), "
                f"got {one}: LETOR text is read by load_letor"
            )
    table = load_tabular(paths, label=label, qid=qid, ignore=list(ignore))
    target = table.target.astype(np.float64)
    ranking = Bunch(
        data=table.data,
        target=target,
        qid=table.qid,
        feature_names=table.feature_names,
        left_out=table.left_out,
        DESCR=f"{', '.join(map(str, paths))}: {len(target)} rows, "
        f"{len(np.unique(table.qid))} queries, {len(table.feature_names)} features",
    )
    return framed(ranking) if as_frame else ranking


def framed(ranking: Any) -> Any:
    """The same ranking with its features as a data frame."""
    pandas = import_optional("pandas", extra="io", purpose="as_frame=True")
    ranking.data = pandas.DataFrame(ranking.data, columns=ranking.feature_names)
    return ranking


def load_tabular(
    paths: Sequence[Path], *, label: str, qid: str, ignore: Sequence[str] = ()
) -> Bunch:
    """Read CSV, TSV or Parquet files of the same columns as one set of rows.

    Columns of `ignore` are not looked at, and those without a single number or
    without a name are left out; `left_out` names them. A number missing is NaN.
    `place` gives the file and line of a row.

    Raises
    ------
    ValueError
        For a column that is not there, a cell that is not a number in a column
        that has numbers (with file and line), an empty file.
    ImportError
        Without pandas.
    """
    pandas = import_pandas()
    heads = read_heads(pandas, paths, label=label, qid=qid, ignore=ignore)
    tables = [next(read_tables(pandas, head, qid)) for head in heads]
    for table in tables:
        check_query_ids(table, qid)
    with_numbers = {
        name
        for name in candidates(heads, qid, ignore)
        if any(to_numbers(pandas, table, name) is not None for table in tables)
    }
    features, left_out = choose_features(heads, with_numbers, label, qid, ignore)
    text = has_text_ids(heads)
    data = as_bunch(pandas, tables, features, label=label, qid=qid, text=text)
    data.left_out = left_out
    return data


def candidates(heads: Sequence[Head], qid: str, ignore: Sequence[str]) -> list[str]:
    """Columns that may hold labels or features."""
    return [
        name
        for name in heads[0].names
        if name != qid and name not in ignore and not is_nameless(name)
    ]


def is_nameless(name: str) -> bool:
    """Whether pandas made the name up, of a column whose head is empty."""
    return name.startswith("Unnamed:")


def choose_features(
    heads: Sequence[Head],
    with_numbers: set[str],
    label: str,
    qid: str,
    ignore: Sequence[str],
) -> tuple[list[str], list[str]]:
    """The features, and the columns left out because they hold no number."""
    first = heads[0]
    if label not in with_numbers:
        raise ValueError(f"{first.source}: column {label!r} holds no number")
    looked_at = [name for name in first.names if name != qid and name not in ignore]
    features = [name for name in looked_at if name in with_numbers and name != label]
    if not features:
        raise ValueError(f"{first.source}: no column but {label!r} holds numbers")
    return features, [name for name in looked_at if name not in with_numbers]


def as_bunch(
    pandas: Any,
    tables: Sequence[Table],
    features: Sequence[str],
    *,
    label: str,
    qid: str,
    text: bool,
) -> Bunch:
    """Rows of one or several files as arrays."""

    def column(name: str) -> NDArray[Any]:
        parts = [_numbers_or_gaps(pandas, table, name) for table in tables]
        return np.concatenate(parts)

    return Bunch(
        data=_one_matrix([column(name) for name in features]),
        target=column(label),
        qid=np.concatenate([query_ids(table, qid, text) for table in tables]),
        feature_names=list(features),
        place=_placer(tables),
    )


def to_numbers(pandas: Any, table: Table, name: str) -> Any:
    """The column as numbers, or None if it holds no number at all."""
    column = table.frame[name]
    types = pandas.api.types
    if column.isna().all() or types.is_datetime64_any_dtype(column):
        return None
    if types.is_timedelta64_dtype(column):
        return None
    if types.is_numeric_dtype(column):
        if column.isna().any():
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return column.to_numpy()
    numbers = pandas.to_numeric(column, errors="coerce")
    if numbers.isna().all():
        return None
    _refuse_text(table, name, (numbers.isna() & column.notna()).to_numpy())
    return numbers.to_numpy(dtype=np.float64)


def _numbers_or_gaps(pandas: Any, table: Table, name: str) -> NDArray[Any]:
    """A column that holds numbers, here or elsewhere; what is missing is NaN."""
    numbers = to_numbers(pandas, table, name)
    if numbers is None:
        _refuse_text(table, name, table.frame[name].notna().to_numpy())
        return np.full(len(table.frame), np.nan)
    return np.asarray(numbers)


def _refuse_text(table: Table, name: str, bad: NDArray[np.bool_]) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{table.place(row)}: column {name!r} must hold numbers, got "
            f"{table.frame[name].iloc[row]!r} (ignore, or --ignore, leaves it out)"
        )


def check_query_ids(table: Table, qid: str) -> None:
    """Refuse rows without a query."""
    column = table.frame[qid]
    missing = (column.isna() | (column.astype(str) == "")).to_numpy()
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{table.place(row)}: column {qid!r} is empty")


def query_ids(table: Table, qid: str, text: bool) -> NDArray[Any]:
    """Query ids as the file spells them, or as text."""
    column = table.frame[qid]
    return np.asarray((column.astype(str) if text else column).to_numpy())


def _one_matrix(columns: list[NDArray[Any]]) -> NDArray[Any]:
    """The columns side by side; no integer loses its ties to a float neighbour.

    Integers that a float64 cannot hold are replaced by their ranks, which order
    and tie as they do.
    """
    common = np.result_type(*columns)
    if common.kind == "f":
        columns = [
            np.unique(column, return_inverse=True)[1]
            if column.dtype.kind in "iu" and not _fits(column)
            else column
            for column in columns
        ]
    return np.column_stack(columns)


def _fits(column: NDArray[Any]) -> bool:
    return int(column.max()) <= 2**53 and int(column.min()) >= -(2**53)


def _placer(tables: Sequence[Table]) -> Callable[[int], str]:
    ends = np.cumsum([len(table.frame) for table in tables])

    def place(row: int) -> str:
        at = int(np.searchsorted(ends, row, side="right"))
        return tables[at].place(row - int(ends[at]) + len(tables[at].frame))

    return place
