"""Matrices of features, and query ids that travel as one of their columns."""

import numbers
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from sklearn import get_config

from .._display import words
from .._typing import Array, BoolArray, IndexArray
from . import exact_numbers, messages


def split_qid_column(X: Any, column: str | int) -> tuple[Any, Any]:
    """X without its qid column, and that column.

    Parameters
    ----------
    X : data frame, array or sparse matrix
    column : str or int
        A column name of a data frame, an index of anything else.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    X = as_matrix(X)
    at, qid = qid_index(X, column), column_of(X, column)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        # names of pandas may be of any type
        return frame.drop(column).to_native(), qid  # type: ignore[arg-type]
    X = X.tocsr() if hasattr(X, "tocsr") else X
    return X[:, [j for j in range(X.shape[1]) if j != at]], qid


def column_of(X: Any, column: str | int, name: str = "qid") -> Any:
    """A column of X; messages call it `name`.

    Raises
    ------
    ValueError
        If X has no such column.

    Warns
    -----
    UserWarning
        If an array has fractions where query ids should be.
    """
    X = as_matrix(X)
    at = qid_index(X, column, name)
    if hasattr(X, "columns"):
        return X[column]
    cells = (X.tocsr() if hasattr(X, "tocsr") else X)[:, [at]]
    values = (cells.toarray() if hasattr(cells, "toarray") else cells).ravel()
    if name == "qid" and values.dtype.kind == "f":
        broken = np.flatnonzero(np.isfinite(values) & (values % 1 != 0))
        if len(broken):
            words.warn(
                f"qid={column} is a column of fractions, with {values[broken[0]]} in "
                f"row {broken[0]}: an earlier step of a pipeline may have dropped or "
                "moved the column"
            )
    return values


def ids_of(X: Any, qid: Any) -> tuple[Any, bool]:
    """Query ids, given as they are or as a column of X, and whether as a column.

    Raises
    ------
    ValueError
        Without ids, and if X has no such column.
    """
    if qid is None:
        raise ValueError("qid must say which rows are one query, got None")
    is_column = isinstance(qid, (str, numbers.Integral))
    return (column_of(X, qid), True) if is_column else (qid, False)


def blank_qid_column(X: Any, column: str | int) -> Any:
    """X with False for its ids, so that they decide no dtype that columns share.

    The qid column of a sparse matrix, whose cells have one dtype, stays.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    X = as_matrix(X)
    at = qid_index(X, column)
    if hasattr(X, "tocsr"):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        blank = nw.lit(False).alias(column)  # type: ignore[arg-type]
        return frame.with_columns(blank).to_native()
    X = X.copy()
    X[:, at] = False
    return X


def resolve_qid(
    X: Any,
    column: str | int | None,
    qid: Any,
    *,
    prefix: str = "",
    request: str = "set_fit_request(qid=False)",
) -> tuple[Any, Any]:
    """X without its qid column and that column, or X and the ids that are given.

    Parameters
    ----------
    X : data frame, array or sparse matrix
    column : str, int or None
        The column of X that holds query ids, if one does.
    qid : array-like or None
    prefix : str
        What messages have in front of X and qid.
    request : str
        The call that keeps ids away which metadata routing would bring.

    Raises
    ------
    ValueError
        For ids given twice, and if X has no such column.
    """
    if column is None:
        return X, qid
    if qid is not None:
        raise ValueError(
            f"{prefix}qid must be given once, but it is column {column!r} of "
            f"{prefix}X already (with metadata routing, {request} stops it from being "
            "passed)"
        )
    return split_qid_column(X, column)


def count_rows(X: Any) -> int:
    """Rows of a matrix of any kind, or of a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(np.asarray(X))


def qid_index(X: Any, column: str | int, name: str = "qid") -> int:
    """Where the qid column, or that of another `name`, stands in X.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    if hasattr(X, "columns"):
        names = list_columns(X)
        if column not in names:
            raise ValueError(
                f"{name} must name a column of X, got {column!r} (columns: {names}; an "
                "index is for arrays)"
            )
        return names.index(column)
    n_columns = as_matrix(X).shape[1]
    if not n_columns:
        raise ValueError(
            f"X must have columns, got 0 feature(s) (shape={X.shape}) while a minimum "
            f"of 1 is required: the qid column {column!r}"
        )
    if isinstance(column, str):
        advice = ""
        if name == "qid":
            advice = (
                " (RFE, RFECV, SequentialFeatureSelector and most transformers hand on "
                "arrays: switch metadata routing on and pass qid. Where all columns "
                "are handed on, as by scalers, the index will do)"
            )
        raise ValueError(
            f"{name} must be an index where X has no column names, got {column!r}"
            f"{advice}"
        )
    is_index = isinstance(column, numbers.Integral)
    if not (is_index and -n_columns <= column < n_columns):
        raise ValueError(
            f"{name} must be the index of one of the {n_columns} columns of X, got "
            f"{column!r}"
        )
    return int(column % n_columns)


def are_features(X: Any, qid: str | int | None) -> BoolArray:
    """Which columns of X are features, and not query ids."""
    X = as_matrix(X)
    is_feature = np.ones(X.shape[1], dtype=bool)
    if qid is not None:
        is_feature[qid_index(X, qid)] = False
    return is_feature


def list_columns(X: Any) -> list[Any]:
    """Names of the columns of a data frame or Arrow table, none of other kinds."""
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


#: the name of the only system, if it came without one
ONE_SYSTEM = "scores"


def list_systems(
    y_score: Any, *, matrices: bool | None = False
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """List the systems of a mapping, a data frame or an array of scores.

    Returns their names, and their scores by the name that messages have for them. An
    array has an axis more for several systems than for one. With None, one of three
    axes has `matrices`.
    """
    columns: dict[str, Any] = {}
    if isinstance(y_score, Mapping) or hasattr(y_score, "columns"):
        is_frame = not isinstance(y_score, Mapping)
        keys = list_columns(y_score) if is_frame else y_score
        names = tuple(map(str, keys))
        if len(set(names)) < len(names):
            raise ValueError(
                f"y_score must have a different name for each system, got {names}"
            )
        for key, name in zip(keys, names, strict=True):
            columns[f"y_score[{name!r}]"] = y_score[key]
    else:
        array = exact_numbers.as_array(y_score, "y_score")
        matrices = array.ndim == 3 if matrices is None else matrices
        if array.ndim == 1 + matrices:
            of_series = getattr(y_score, "name", None)
            name = ONE_SYSTEM if of_series is None else str(of_series)
            return (name,), {"y_score": y_score}
        if array.ndim != 2 + matrices:
            shape = "(n_queries, n_documents" if matrices else "(n_documents"
            raise ValueError(
                "y_score must be a mapping of system names to scores, or an array of "
                f"shape {shape}, n_systems), got shape {array.shape}"
            )
        names = tuple(f"system {j}" for j in range(array.shape[-1]))
        for j, name in enumerate(names):
            columns[f"y_score[{name!r}]"] = array[..., j]
    if not names:
        raise ValueError("y_score must hold at least one system, got none")
    return names, columns


def how_to_pass_qid() -> str:
    """Advice on passing query ids, by whether metadata routing is on."""
    if get_config()["enable_metadata_routing"]:
        return (
            "Pass it once, search.fit(X, y, qid=qid) or "
            'cross_validate(..., params={"qid": qid}), or let it be a column of X'
        )
    return (
        "Metadata routing is off, so that a qid passed to a search or to "
        "cross_validate does not reach this object: switch routing on, "
        "sklearn.set_config(enable_metadata_routing=True), or let qid be a column of X"
    )


def need_qid(
    qid: Any,
    where: str,
    otherwise: str = ", qid=<name or index> in the constructor",
    *,
    name: str = "qid",
    way: str = "",
) -> None:
    """Refuse to go on without query ids, and say how to pass them."""
    if qid is None:
        raise ValueError(
            f"{name} must hold the query of each row, got None: pass {name} to "
            f"{where}. {way or how_to_pass_qid()}{otherwise}"
        )


def warn_one_query(n_rows: int, how: str) -> None:
    """Say that rows without query ids count as one query, and how to pass ids."""
    words.warn(
        f"without qid, all {n_rows} rows are ranked together as one query: {how}. If "
        "they are one query, pass equal ids, such as qid=np.zeros(len(y))"
    )


def take_rows(X: Any, rows: IndexArray | None) -> Any:
    """These rows of a matrix or column of any kind, or of a list; all for None."""
    if rows is None:
        return X
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if hasattr(X, "iloc") or hasattr(X, "to_pylist"):  # of pandas or Arrow
        return X.take(rows)
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows]


def spread_features(values: Array, is_feature: BoolArray, other: Any) -> Array:
    """`values` of the features at their columns of X, `other` at the qid column."""
    if is_feature.all():
        return values
    out = np.full((len(is_feature), *values.shape[1:]), other, dtype=values.dtype)
    out[is_feature] = values
    return out


#: Names of dtypes of pandas, polars and Arrow begin like this in lower case: of texts,
_TEXT = ("object", "str", "utf8", "large_str", "cat", "enum", "dictionary")
#: of times,
_TIMES = ("date", "time", "duration")
#: and of integers that floats may not hold.
_WIDE = ("int64", "uint64")


def check_kinds(X: Any, *, hint: str = "") -> None:
    """Refuse, naming them, columns of text or times; the `hint` is for text.

    In the hint, {} is the name of the column.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "cmM":
        rule = "Complex data not supported: X" if X.dtype.kind == "c" else "X"
        raise ValueError(f"{rule} must hold numbers, got an array of {X.dtype}")
    for j, name, dtype in _columns_of(X):
        if dtype.startswith(_TIMES):
            raise ValueError(
                f"X must hold numbers, got {dtype} in column {name!r} (convert times "
                "to integers, which keep their order)"
            )
        text = _text_in(cells_of(X, j)) if dtype.startswith(_TEXT) else None
        if text:
            raise ValueError(
                f"X must hold numbers, got {messages.show(text)} in column {name!r} "
                f"(leave the column out, or encode it{hint.format(repr(name))})"
            )


def check_no_nan(X: Any, names: Any) -> None:
    """Refuse NaN in a matrix, dense or sparse, whose columns may have names."""
    values = X.tocoo() if hasattr(X, "tocoo") else X
    cells = values.data if values is not X else X
    if cells.dtype.kind != "f" or not (missing := np.isnan(cells)).any():
        return
    columns = values.col[missing] if values is not X else np.nonzero(missing)[1]
    counts = np.bincount(columns)
    first, *further = np.flatnonzero(counts).tolist()
    name = first if names is None else repr(names[first])
    more = f" and {len(further)} more" if further else ""
    raise ValueError(
        f"X must not hold NaN, got {counts[first]} in column {name}{more} "
        '(missing="last" ranks it below every value)'
    )


def as_matrix(X: Any, name: str = "X") -> Any:
    """X, of two dimensions; lists become an array."""
    exact_numbers.check_not_masked(X, name)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"{name} must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    return X


def keep_order(X: Any, frame: Any) -> Any:
    """Return the matrix of a data frame, in which integers keep their order.

    In columns of 64-bit integers that the floats of X do not tell apart, ranks stand
    for the integers.
    """
    if hasattr(X, "tocsr") or X.dtype.kind != "f":
        return X
    # X may be the array that was given
    ranked = X
    for j, name, dtype in _columns_of(frame):
        if dtype.startswith(_WIDE):
            column = exact_numbers.numbers_of(cells_of(frame, j), f"column {name!r}")
            if not exact_numbers.fits_floats(column):
                ranked = X.copy() if ranked is X else ranked
                ranked[:, j] = np.unique(column, return_inverse=True)[1]
    return ranked


def _columns_of(X: Any) -> Iterator[tuple[int, Any, str]]:
    """Place, name and name of the dtype of each column of a data frame or table."""
    if names := list_columns(X):
        dtypes = X.schema.types if hasattr(X, "column_names") else list(X.dtypes)
        for j, (name, dtype) in enumerate(zip(names, dtypes, strict=True)):
            yield j, name, str(dtype).lower()


def cells_of(X: Any, j: int) -> Any:
    """A column of a data frame or table, by its place."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.column(j) if hasattr(X, "column_names") else X[:, j]


def _text_in(cells: Any) -> str | None:
    """The first text that is no number."""
    for value in np.asarray(cells, dtype=object).tolist():
        try:
            float(value) if isinstance(value, str) else None
        except ValueError:
            return str(value)
    return None
