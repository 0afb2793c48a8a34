"""Query ids that travel as a column of X."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


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
    if hasattr(X, "columns"):
        names = list(X.columns)
        if column not in names:
            raise ValueError(
                f"qid must name a column of X, got {column!r} (columns: {names})"
            )
        return X[[name for name in names if name != column]], X[column]
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    at = qid_index(column, X.shape[1])
    qid = X[:, [at]]
    qid = qid.toarray() if hasattr(qid, "toarray") else qid
    return X[:, [j for j in range(X.shape[1]) if j != at]], np.asarray(qid).ravel()


def qid_index(column: Any, n_columns: int) -> int:
    """`column` as a non-negative index into `n_columns`."""
    if not isinstance(column, numbers.Integral) or not (
        -n_columns <= int(column) < n_columns
    ):
        raise ValueError(
            f"qid must be the index of one of the {n_columns} columns of X, got "
            f"{column!r}"
        )
    return int(column) % n_columns
