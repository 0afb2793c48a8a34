"""Values in the messages of errors."""

from collections.abc import Callable
from typing import Any

#: where a value stands, for a message
Place = Callable[[int], str]
in_row: Place = "row {}".format


def in_cell(cell: int, width: int) -> str:
    """Where a cell of a matrix stands, by its number row by row."""
    row, column = divmod(cell, width)
    return f"row {row}, column {column}"


def show(value: Any) -> str:
    """A value as a message has it: one line, and not too long."""
    try:
        text = repr(value)
    except ValueError:  # Python spells no integer of more than 4300 digits
        return f"an integer of {value.bit_length()} bits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"
