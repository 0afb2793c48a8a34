"""Tables that line up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: decimals of values
DIGITS = 4


def number(value: float, digits: int = DIGITS) -> str:
    """A number for a table: fixed decimals, ``-`` for NaN."""
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def bracketed(interval: NDArray[np.floating[Any]], digits: int = DIGITS) -> str:
    """The two ends of an interval for a table."""
    low, high = interval.tolist()
    return f"[{number(low, digits)}, {number(high, digits)}]"


def probability(value: float) -> str:
    """A p-value or q-value for a table."""
    if math.isnan(value):
        return "-"
    least = 10.0**-DIGITS
    return f"<{least:.{DIGITS}f}" if value < least else number(value)


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
) -> str:
    """Columns of text: the first `left` to the left, the others to the right."""
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    rule = "-" * max(len(line) for line in lines)
    return "\n".join([lines[0], rule, *lines[1:]])


def format_columns(columns: Iterable[tuple[str, Any]], *, left: int = 1) -> str:
    """A table by the columns below each header: texts, counts, values or intervals."""
    header, values = zip(*columns, strict=True)
    rows = zip(*(map(_cell, column) for column in values), strict=True)
    return format_table(header, list(rows), left=left)


def _cell(value: Any) -> str:
    if isinstance(value, (str, int, np.integer)):
        return str(value)
    return bracketed(value) if isinstance(value, np.ndarray) else number(value)
