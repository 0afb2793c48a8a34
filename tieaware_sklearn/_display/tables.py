"""Tables that line up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .terminal import printable, width

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


def clip(text: str, longest: int) -> str:
    """The text, without its middle where it has more than so many characters."""
    if len(text) <= longest:
        return text
    tail = (longest - 3) // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1
) -> str:
    """Columns of text: the first `left` to the left, the others to the right.

    A row is a line, whatever its cells hold: see `printable`.
    """
    table = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(width, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            _padded(cell, columns, to_left=i < left)
            for i, (cell, columns) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    rule = "-" * max(map(width, lines))
    return "\n".join([lines[0], rule, *lines[1:]])


def _padded(cell: str, columns: int, *, to_left: bool) -> str:
    spaces = " " * (columns - width(cell))
    return cell + spaces if to_left else spaces + cell


def format_columns(columns: Iterable[tuple[str, Any]], *, left: int = 1) -> str:
    """A table by the columns below each header: texts, counts, values or intervals."""
    header, values = zip(*columns, strict=True)
    rows = zip(*(map(_cell, column) for column in values), strict=True)
    return format_table(header, list(rows), left=left)


def _cell(value: Any) -> str:
    if isinstance(value, (str, int, np.integer)):
        return str(value)
    return bracketed(value) if isinstance(value, np.ndarray) else number(value)
