"""Columns that are in the names of folders, as Hive and Spark write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from ._text_source import Location

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
#: what stands for a missing value
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def columns_of_folders(file: Location) -> dict[str, str]:
    """The columns that the names of its folders hold: ``day=3/hour=7/part.parquet``.

    Folders count from the file upward, as far as they are so named.
    """
    found: dict[str, str] = {}
    for folder in file.parents:
        column, is_one, value = folder.name.partition("=")
        if not (column and is_one):
            break
        found.setdefault(unquote(column), unquote(value))
    return dict(reversed(found.items()))


def type_of_values(values: Iterable[str]) -> type[int] | type[float] | type[str]:
    """One type for the values of a column in all folders: numbers, if all are some."""
    given = {value for value in values if value != _MISSING}
    if given and all(map(_WHOLE.fullmatch, given)):
        return int
    try:
        for value in given:
            float(value)
    except ValueError:
        return str
    return float if given else str


def value_of_folder(value: str, kind: Any) -> Any:
    """The value; None where it is missing."""
    return None if value == _MISSING else kind(value)
