"""Columns of X that are permuted, one by one or in groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.exact import show
from .._engine.qid_column import list_columns, qid_index


def column_groups(
    X: Any, columns: Any, qid_column: str | int | None
) -> dict[str, list[int]]:
    """Places of the columns of X that are permuted together, by name.

    Raises
    ------
    ValueError
        For columns that are no list or mapping, a column that X does not have, one of
        query ids, one that is twice in a group, groups without a column and two of
        one name.
    """
    names = [str(name) for name in list_columns(X)]
    names = names or [f"x{j}" for j in range(X.shape[1])]
    left_out = None if qid_column is None else qid_index(X, qid_column)
    if columns is None:
        asked = [(names[j], [j]) for j in range(len(names)) if j != left_out]
    elif isinstance(columns, Mapping):
        asked = [(str(name), _places(X, group)) for name, group in columns.items()]
    elif isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ValueError(
            f"columns must be a list or a mapping of columns, got {show(columns)}"
        )
    else:
        groups = [_places(X, group) for group in columns]
        asked = [(", ".join(names[j] for j in places), places) for places in groups]
    for name, places in asked:
        if left_out in places:
            raise ValueError(
                f"columns must leave out the query ids, got {qid_column!r} in {name!r}"
            )
        if not places or len(set(places)) < len(places):
            what = "a column twice" if places else "no column"
            raise ValueError(
                "columns must have at least one column in each group, and each column "
                f"once, got {what} in {name!r}"
            )
    found = dict(asked)
    if not found or len(found) < len(asked):
        got = [name for name, _ in asked]
        raise ValueError(
            "columns must have at least one entry, and different names, got "
            f"{show(got)}"
        )
    return found


def _places(X: Any, group: Any) -> list[int]:
    """Where the columns of a group stand, or the one column that it is."""
    is_one = isinstance(group, str) or not isinstance(group, Iterable)
    # names of several levels are tuples
    if is_one or (isinstance(group, tuple) and group in list_columns(X)):
        group = [group]
    return [qid_index(X, column, "columns") for column in group]


def with_rows(X: Any, places: list[int], rows: NDArray[np.intp]) -> Any:
    """X, of any kind, with some columns taken from other rows, each row once."""
    if hasattr(X, "isetitem"):  # pandas
        out = X.copy(deep=False)
        for j in places:
            out.isetitem(j, X.iloc[:, j].array.take(rows))
        return out
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X[:, j][rows] for j in places)
    if hasattr(X, "set_column"):  # Arrow
        out = X
        for j in places:
            out = out.set_column(j, X.schema.field(j), X.column(j).take(rows))
        return out
    if hasattr(X, "tocsr"):
        cells = X.tocoo()
        row, column = cells.coords
        goes_to = np.empty(len(rows), dtype=row.dtype)
        goes_to[rows] = np.arange(len(rows))
        row = np.where(np.isin(column, places), goes_to[row], row)
        return type(cells)((cells.data, (row, column)), shape=X.shape).tocsr()
    out = X.copy(order="K")
    out[:, places] = X[rows[:, None], places]
    return out
