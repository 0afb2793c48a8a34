"""Matrices of features, in which one column may contain query ids."""

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
    """Return X without its qid column, and the qid column.

    Parameters
    ----------
    X : data frame, array or sparse matrix
    column : str or int
        Column name of a data frame, or column index of any other matrix.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    X = as_matrix(X)
    at = column_index(X, column)
    qid = column_of(X, column)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        # In pandas, column names may have any type.
        return frame.drop(column).to_native(), qid  # type: ignore[arg-type]
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    features = [j for j in range(X.shape[1]) if j != at]
    return X[:, features], qid


def column_of(X: Any, column: str | int, name: str = "qid") -> Any:
    """Return a column of X. Messages call the column `name`.

    Raises
    ------
    ValueError
        If X has no such column.

    Warns
    -----
    UserWarning
        If the query ids in a column of an array have fractions.
    """
    X = as_matrix(X)
    at = column_index(X, column, name)
    if hasattr(X, "columns"):
        return X[column]
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    cells = X[:, [at]]
    if hasattr(cells, "toarray"):
        cells = cells.toarray()
    values = cells.ravel()
    if name == "qid" and values.dtype.kind == "f":
        broken = np.flatnonzero(np.isfinite(values) & (values % 1 != 0))
        if len(broken):
            words.warn(
                f"qid={column} must be a column of query ids, got the fraction "
                f"{values[broken[0]]} in row {broken[0]}. If an earlier step of a "
                "pipeline dropped or moved the column, pass qid by metadata routing"
            )
    return values


def check_any_feature(features: Any, qid: str | int | None) -> None:
    """Raise an error if X has no column except its column of query ids."""
    if qid is not None and not features.shape[1]:
        raise ValueError(
            f"X must have a feature besides the qid column {qid!r}, got n_features=1"
        )


def blank_qid_column(X: Any, column: str | int) -> Any:
    """Return X with False in place of its ids, so that ids do not affect the dtype.

    NumPy promotes Booleans to the dtype of any numbers. The qid column of a sparse
    matrix is kept, because all cells have the same dtype.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    X = as_matrix(X)
    at = column_index(X, column)
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
    """Return X without its qid column, and the query ids.

    Parameters
    ----------
    X : data frame, array or sparse matrix
    column : str, int or None
        The column of X that contains query ids, or None if X contains no ids.
    qid : array-like or None
        Query ids, if they are not a column of X.
    prefix : str
        Prefix of X and qid in messages.
    request : str
        The call that stops metadata routing from passing ids.

    Raises
    ------
    ValueError
        If both `column` and `qid` are set, or if X has no such column.
    """
    if column is None:
        return X, qid
    if qid is not None:
        raise ValueError(
            f"{prefix}qid must be given only once, but column {column!r} of {prefix}X "
            f"already contains the query ids. If metadata routing passes {prefix}qid, "
            f"call {request}"
        )
    return split_qid_column(X, column)


def count_rows(X: Any) -> int:
    """Return the number of rows of a matrix of any kind, or of a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(np.asarray(X))


def column_index(X: Any, column: str | int, name: str = "qid") -> int:
    """Return the index of a column of X. Messages call the column `name`.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    if hasattr(X, "columns"):
        names = list_columns(X)
        if column not in names:
            raise ValueError(
                f"{name} must be the name of a column of X, got {column!r}. The "
                f"columns are {names}"
            )
        return names.index(column)
    n_columns = as_matrix(X).shape[1]
    if not n_columns:
        raise ValueError(
            f"X must have columns, got 0 feature(s) (shape={X.shape}) while a minimum "
            f"of 1 is required for the qid column {column!r}"
        )
    if isinstance(column, str):
        advice = ""
        if name == "qid":
            advice = (
                ". In a pipeline, most transformers and selectors such as RFE return "
                "arrays: enable metadata routing and pass qid. If all columns are "
                "kept, as scalers do, set qid to the index of the column"
            )
        raise ValueError(
            f"{name} must be a column index, because X has no column names, got "
            f"{column!r}{advice}"
        )
    is_index = isinstance(column, numbers.Integral)
    if not (is_index and -n_columns <= column < n_columns):
        raise ValueError(
            f"{name} must be the index of one of the {n_columns} columns of X, got "
            f"{column!r}"
        )
    return int(column % n_columns)


def are_features(X: Any, qid: str | int | None) -> BoolArray:
    """Return a mask of the columns of X that are features, not query ids."""
    X = as_matrix(X)
    is_feature = np.ones(X.shape[1], dtype=bool)
    if qid is not None:
        is_feature[column_index(X, qid)] = False
    return is_feature


def list_columns(X: Any) -> list[Any]:
    """Return the column names of a data frame or Arrow table, or an empty list."""
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


#: Name of a single system that is passed without a name.
ONE_SYSTEM = "scores"


def list_systems(
    y_score: Any, *, matrices: bool | None = False
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """List the systems of a mapping, a data frame or an array of scores.

    Return the names of the systems, and their scores by the name used in messages. An
    array of several systems has one more axis than the scores of a single system. With
    `matrices`, the scores of a single system are a matrix. If `matrices` is None, only
    an array of three axes contains matrices.
    """
    columns: dict[str, Any] = {}
    if isinstance(y_score, Mapping) or hasattr(y_score, "columns"):
        keys = list(y_score) if isinstance(y_score, Mapping) else list_columns(y_score)
        names = tuple(map(str, keys))
        if len(set(names)) < len(names):
            raise ValueError(
                f"y_score must have a different name for each system, got {names}"
            )
        for key, name in zip(keys, names, strict=True):
            columns[f"y_score[{name!r}]"] = y_score[key]
    else:
        array = exact_numbers.as_array(y_score, "y_score")
        if matrices is None:
            matrices = array.ndim == 3
        if array.ndim == 1 + matrices:
            series_name = getattr(y_score, "name", None)
            name = ONE_SYSTEM if series_name is None else str(series_name)
            return (name,), {"y_score": y_score}
        if array.ndim != 2 + matrices:
            shape = "(n_queries, n_documents" if matrices else "(n_documents"
            raise ValueError(
                "y_score must map system names to scores, or be an array of shape "
                f"{shape}, n_systems), without the last dimension for one system, got "
                f"shape {array.shape}"
            )
        names = tuple(f"system {j}" for j in range(array.shape[-1]))
        for j, name in enumerate(names):
            columns[f"y_score[{name!r}]"] = array[..., j]
    if not names:
        raise ValueError("y_score must contain at least one system, got none")
    return names, columns


def how_to_pass_qid(option: str) -> str:
    """Return advice on passing query ids, with or without metadata routing.

    `option` is what to write if the ids are a column of X.
    """
    if get_config()["enable_metadata_routing"]:
        return (
            "For example, call search.fit(X, y, qid=qid) or cross_validate(..., "
            f'params={{"qid": qid}}). If X contains the ids, use {option}'
        )
    return (
        "Metadata routing is off, so a qid passed to a search or to cross_validate "
        "does not reach this object: call "
        "sklearn.set_config(enable_metadata_routing=True). If X contains the ids, use "
        f"{option}"
    )


def need_qid(
    qid: Any,
    where: str,
    option: str = "qid=<name or index> in the constructor",
    *,
    name: str = "qid",
    advice: str = "",
) -> None:
    """Raise an error that explains how to pass query ids, if there are none.

    By default, the advice is `how_to_pass_qid` with this option.
    """
    if qid is None:
        raise ValueError(
            f"{name} must contain the query of each row, got None: pass {name} to "
            f"{where}. {advice or how_to_pass_qid(option)}"
        )


def warn_one_query(n_rows: int, advice: str) -> None:
    """Warn that rows without query ids count as one query."""
    words.warn(
        f"without qid, all {n_rows} rows are ranked together as one query: {advice}. "
        "If the rows are one query, pass equal ids, such as qid=np.zeros(len(y))"
    )


def take_rows(X: Any, rows: IndexArray | None) -> Any:
    """Return rows of any matrix, column or list. None means all rows."""
    if rows is None:
        return X
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if hasattr(X, "iloc") or hasattr(X, "to_pylist"):  # pandas or Arrow
        return X.take(rows)
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows]


def spread_features(values: Array, is_feature: BoolArray, fill_value: Any = 0) -> Array:
    """Return the value of each feature, in the order of X, and `fill_value` for ids."""
    if is_feature.all():
        return values
    out = np.full((len(is_feature), *values.shape[1:]), fill_value, values.dtype)
    out[is_feature] = values
    return out


#: Prefixes of the names of text dtypes in pandas, polars and Arrow, in lower case.
_TEXT = ("object", "str", "utf8", "large_str", "cat", "enum", "dictionary")
#: Prefixes of the names of date, time and duration dtypes.
_TIMES = ("date", "time", "duration")
#: Names of integer dtypes whose values 64-bit floats may round.
_WIDE = ("int64", "uint64")


def check_kinds(X: Any, *, hint: str = "") -> None:
    """Refuse columns of text or times. Texts of numbers are accepted.

    The message about text ends with `hint`, with the name of the column in place of {}.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in "cmM":
        # scikit-learn's checks of estimators look for the beginning of this message.
        prefix = "Complex data not supported: " if X.dtype.kind == "c" else ""
        raise ValueError(f"{prefix}X must contain numbers, got an array of {X.dtype}")
    for j, name, dtype in _columns_of(X):
        if dtype.startswith(_TIMES):
            raise ValueError(
                f"X must contain numbers, got {dtype} in column {name!r}: convert "
                "times to integers, which keep the order"
            )
        if dtype.startswith(_TEXT):
            text = _text_in(cells_of(X, j))
            if text:
                raise ValueError(
                    f"X must contain numbers, got {messages.show(text)} in column "
                    f"{name!r}: leave the column out or encode "
                    f"it{hint.format(repr(name))}"
                )


def check_no_nan(X: Any, names: Any) -> None:
    """Refuse NaN in a matrix, dense or sparse, whose columns may have names."""
    is_sparse = hasattr(X, "tocoo")
    if is_sparse:
        X = X.tocoo()
    cells = X.data if is_sparse else X
    if cells.dtype.kind != "f":
        return
    is_nan = np.isnan(cells)
    if not is_nan.any():
        return
    columns = X.col[is_nan] if is_sparse else np.nonzero(is_nan)[1]
    counts = np.bincount(columns)
    first, *further = np.flatnonzero(counts).tolist()
    name = first if names is None else repr(names[first])
    more = ""
    if further:
        columns = words.counted(len(further), "other feature", "other features")
        more = f", and in {columns}"
    raise ValueError(
        f"X must not contain NaN, got {counts[first]} NaN in feature {name}{more}. Set "
        'missing="last" to rank NaN below every value'
    )


def as_matrix(X: Any, name: str = "X") -> Any:
    """Return X, which must have two dimensions. Lists become an array."""
    exact_numbers.check_not_masked(X, name)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(
            f"{name} must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    return X


def keep_order(X: Any, frame: Any) -> Any:
    """Return X, the matrix made from a `frame`, with integers in their exact order.

    The floats of X may round different 64-bit integers of a column to the same number.
    If a column contains integers that would be rounded in this way, its integers are
    replaced by their ranks.
    """
    if hasattr(X, "tocsr") or X.dtype.kind != "f":
        return X
    # X may be the user's own array, so a copy is changed.
    ranked = X
    for j, name, dtype in _columns_of(frame):
        if dtype.startswith(_WIDE):
            column = exact_numbers.numbers_of(cells_of(frame, j), f"column {name!r}")
            if not exact_numbers.fits_floats(column):
                if ranked is X:
                    ranked = X.copy()
                _, ranked[:, j] = np.unique(column, return_inverse=True)
    return ranked


def _columns_of(X: Any) -> Iterator[tuple[int, Any, str]]:
    """Yield the index, name and dtype of each column of a data frame or table."""
    names = list_columns(X)
    if names:
        dtypes = X.schema.types if hasattr(X, "column_names") else list(X.dtypes)
        for j, name in enumerate(names):
            yield j, name, str(dtypes[j]).lower()


def cells_of(X: Any, j: int) -> Any:
    """Return a column of a data frame or table by its index."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    if hasattr(X, "column_names"):
        return X.column(j)
    return X[:, j]


def _text_in(cells: Any) -> str | None:
    """Return the first text that `float` cannot read, or None."""
    for value in np.asarray(cells, dtype=object).tolist():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return str(value)
    return None
