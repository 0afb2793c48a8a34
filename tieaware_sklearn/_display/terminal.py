"""What people are told: in the columns of a terminal, and by warnings."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
import warnings
from pathlib import Path

#: columns where nobody knows, and the fewest that tables are made for
_COLUMNS, _LEAST = 80, 40


def columns() -> int:
    """Columns that there are for a table: those of the terminal, 80 without one.

    ``COLUMNS`` in the environment comes first, as everywhere.
    """
    seen = sys.stdout is not None and sys.stdout.isatty()
    if not seen and "COLUMNS" not in os.environ:
        # the terminal from which a notebook was started is not where it is read
        return _COLUMNS
    return max(shutil.get_terminal_size((_COLUMNS, 24)).columns, _LEAST)


def printable(text: str) -> str:
    r"""The text with all that a terminal might obey, or not show, spelled out.

    As `repr` does it: ``\n`` for a new line, ``\x1b`` for an escape character.
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


def width(text: str) -> int:
    """Columns of a terminal that the text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(one: str) -> int:
    if unicodedata.combining(one):
        return 0
    return 2 if unicodedata.east_asian_width(one) in "WF" else 1


def wrap(text: str, room: int, *, keep: bool = False) -> list[str]:
    """Lines of so many columns, cut behind what ends a part of a name, if possible.

    With `keep`, spaces at their ends, too.
    """
    lines = []
    while width(text) > room:
        cut = _longest(text, room)
        spaces = [i for i in range(1, cut + 1) if text[i] == " "]
        ends = [i for i in range(1, cut + 1) if _may_end(text[i - 1], text[i])]
        if spaces:
            cut = spaces[-1]
        elif ends and 2 * ends[-1] >= cut:
            # a line that is nearly empty helps nobody
            cut = ends[-1]
        lines.append(text[:cut] if keep else text[:cut].rstrip())
        text = text[cut:] if keep else text[cut:].lstrip()
    return [*lines, text] if text or not lines else lines


def _may_end(last: str, following: str) -> bool:
    """Whether a line of a name may end between the two: ``AP(rel=2)``, ``@10``."""
    return following in "(@" or not (last.isalnum() or last in "(@")


def _longest(text: str, room: int) -> int:
    """How many characters fit, one at least."""
    taken = 0
    for i, one in enumerate(text):
        taken += _columns(one)
        if taken > room:
            return max(i, 1)
    return len(text)


_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line up the stack that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)
