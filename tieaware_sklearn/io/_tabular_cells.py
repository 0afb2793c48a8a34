"""Cells of tables as numbers and query ids."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import how_to_read
from ._tabular_frames import Table, pandas_of_tables
from ._wording import quoted

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")


def to_numbers(table: Table, name: str) -> Any:
    """The column as numbers, or None if it holds no number at all."""
    pandas = pandas_of_tables()
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
    # integers that no 64-bit type of pandas holds are objects, or text; floats tie them
    large = column.map(_is_rounded)
    _refuse(table, name, large.to_numpy(dtype=bool), "numbers of 64 bits at most")
    numbers = pandas.to_numeric(column, errors="coerce")
    if numbers.isna().all():
        return None
    _refuse(table, name, (numbers.isna() & column.notna()).to_numpy())
    return numbers.to_numpy(dtype=np.float64)


def numbers_or_gaps(table: Table, name: str) -> NDArray[Any]:
    """A column that holds numbers, here or elsewhere; what is missing is NaN."""
    numbers = to_numbers(table, name)
    if numbers is None:
        _refuse(table, name, table.frame[name].notna().to_numpy())
        return np.full(table.n_rows, np.nan)
    return np.asarray(numbers)


def _is_rounded(cell: Any) -> bool:
    """Whether a cell is a whole number, or its digits, that a float64 may not hold."""
    if isinstance(cell, str) and _WHOLE.fullmatch(cell):
        # Python takes no more than 4300 digits
        cell = int(cell) if len(cell) < 50 else 2**64
    if not isinstance(cell, int):
        return False
    return not -(2**63) <= cell < 2**64 or int(float(cell)) != cell


def _refuse(
    table: Table, name: str, bad: NDArray[np.bool_], rule: str = "numbers"
) -> None:
    """Name the file and line of the first bad cell of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        cell = str(table.frame[name].iloc[row])
        advice = "ignore, or --ignore, leaves out the column"
        if how := how_to_read(cell):
            advice += f"; {how}"
        raise ValueError(
            f"{table.place(row)}: {table.head.column(name)} must hold {rule}, got "
            f"{quoted(cell)} ({advice})"
        )


def query_ids(table: Table) -> NDArray[Any]:
    """Query ids as the file spells them; none may be missing."""
    qid = table.head.qid
    column = table.frame[qid]
    missing = (column.isna() | (column == "")).to_numpy()
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"{table.place(row)}: {table.head.column(qid)} must not be empty"
        )
    return np.asarray(column.to_numpy())


def one_matrix(columns: list[NDArray[Any]]) -> NDArray[Any]:
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
