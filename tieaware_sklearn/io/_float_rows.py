"""All rows of files in their order, every feature as float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._scan import Scan
from ._tabular_cells import numbers_or_gaps, query_ids
from ._tabular_scan import TableScan

#: float64 holds all whole numbers up to here
_EXACT = 2**53


class FloatRows(NamedTuple):
    """Labels, query ids and features of rows that stand together."""

    target: NDArray[np.float64]
    qid: NDArray[Any]
    data: NDArray[np.float64]


def float_rows(scan: Scan[Any], n_rows: int) -> Iterator[FloatRows]:
    """All rows, about so many at a time.

    Raises
    ------
    ValueError
        For an integer that a float64 does not hold, with its place and column.
    """
    if not isinstance(scan, TableScan):
        for batch in scan.batches(n_rows):
            yield FloatRows(batch.target, batch.qid, batch.data)
        return
    # each column in its own type: a matrix may hold ranks of large integers
    wanted = [scan.label, *scan.feature_names]
    first = 0
    for head in scan.tables.heads:
        for table in scan.tables.read(head, [head.qid, *wanted], n_rows):
            target, *data = (
                _as_floats(numbers_or_gaps(table, name), scan, name, first)
                for name in wanted
            )
            yield FloatRows(target, _widened(query_ids(table)), np.column_stack(data))
            first += table.n_rows


def _widened(qid: NDArray[Any]) -> NDArray[Any]:
    """Integers and floats in 64 bits, as another file may have them."""
    widest = {"i": np.int64, "u": np.int64, "f": np.float64}.get(qid.dtype.kind)
    return qid.astype(widest) if widest and qid.dtype.itemsize < 8 else qid


def _as_floats(
    values: NDArray[Any], scan: Scan[Any], name: str, first: int
) -> NDArray[np.float64]:
    """The numbers of a column, none of which becomes another one."""
    floats = values.astype(np.float64)
    if values.dtype.kind in "iu":
        for i in np.flatnonzero((values > _EXACT) | (values < -_EXACT)).tolist():
            if int(floats[i]) != int(values[i]):
                raise ValueError(
                    f"{scan.place(first + i)}: column {name!r} must hold numbers that "
                    f"a float64 holds, or they would tie with others, got {values[i]}"
                )
    return floats
