"""Text from files as a terminal may have it."""

from __future__ import annotations

import unicodedata


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
