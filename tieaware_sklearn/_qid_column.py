"""Query ids that travel as a column of X."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    at = qid_index(X, column)
    if hasattr(X, "columns"):
        return X[[name for name in X.columns if name != column]], X[column]
    X = X.tocsr() if hasattr(X, "tocsr") else X
    qid = X[:, [at]]
    qid = qid.toarray() if hasattr(qid, "toarray") else qid
    return X[:, [j for j in range(X.shape[1]) if j != at]], np.asarray(qid).ravel()


def qid_index(X: Any, column: str | int) -> int:
    """Where the qid column stands in X.

    Raises
    ------
    ValueError
        If X has no such column.
    """
    if hasattr(X, "columns"):
        names = list(X.columns)
        if column not in names:
            raise ValueError(
                f"qid must name a column of X, got {column!r} (columns: {names})"
            )
        return names.index(column)
    if len(X.shape) != 2:
        raise ValueError(
            f"X must be 2-dimensional, got shape {X.shape}. Reshape your data"
        )
    n_columns = X.shape[1]
    if not isinstance(column, numbers.Integral) or not (
        -n_columns <= int(column) < n_columns
    ):
        raise ValueError(
            f"qid must be the index of one of the {n_columns} columns of X, got "
            f"{column!r}"
        )
    return int(column) % n_columns


def take_rows(X: Any, rows: NDArray[np.intp] | None) -> Any:
    """These rows of a matrix of any kind, all of them for None."""
    if rows is None:
        return X
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # an Arrow table
        return X.take(rows)
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows]


def spread_features(
    values: NDArray[Any], is_feature: NDArray[np.bool_], other: Any
) -> Any:
    """`values` of the features at their columns of X, `other` at the qid column."""
    if is_feature.all():
        return values
    out = np.full((len(is_feature), *values.shape[1:]), other, dtype=values.dtype)
    out[is_feature] = values
    return out
