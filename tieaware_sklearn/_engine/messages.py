"""Texts for values and places in error messages."""

from collections.abc import Callable
from typing import Any

#: Function that returns the place of a value, for a message.
Place = Callable[[int], str]
in_row: Place = "row {}".format


def in_cell(cell: int, width: int) -> str:
    """Return the place of a cell of a matrix whose cells are counted row by row."""
    row, column = divmod(cell, width)
    return f"row {row}, column {column}"


def show(value: Any) -> str:
    """Return a value as text for a message. Long texts are cut."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print such integers.
        return f"{type(value).__name__} of more than 4300 digits"
    if len(text) <= 80:
        return text
    return f"{text[:60]}... ({len(text)} characters)"
