"""How people write numbers: groups of digits, decimal separators, exponents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

#: a whole number, also with zeros as decimals
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")


class Spelling(NamedTuple):
    """The separators of a number: of groups of three digits, and of the decimals."""

    thousands: str | None = None
    decimal: str = "."

    @property
    def pattern(self) -> str:
        """The regular expression of a number, for Python and for RE2.

        The first group has one to three digits and does not begin with 0, so that 0,5
        and 0,123 have none.
        """
        digits = "[0-9]+"
        if self.thousands is not None:
            groups = f"(?:{re.escape(self.thousands)}[0-9]{{3}})+"
            digits = f"(?:{digits}|[1-9][0-9]{{0,2}}{groups})"
        point = re.escape(self.decimal)
        number = rf"(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"
        return rf"^[ \t]*[+-]?{number}[ \t]*$"

    def given(self) -> list[tuple[str, str]]:
        """The options of a reader that takes it: their names and values."""
        own = zip(self._fields, self, PLAIN, strict=True)
        return [(name, value) for name, value, plain in own if value and value != plain]

    def match(self, text: str) -> bool:
        """Whether the text is a number."""
        return _compiled(self.pattern).fullmatch(text) is not None

    def plain(self, text: str) -> str:
        """The number as Python spells it."""
        groups = text if self.thousands is None else text.replace(self.thousands, "")
        return groups.replace(self.decimal, ".").strip()


PLAIN = Spelling()
_OTHERS = [
    Spelling(thousands, decimal)
    for thousands in (None, *",.' ")
    for decimal in ".,"
    if thousands != decimal and (thousands, decimal) != PLAIN
]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def other_spellings(texts: Sequence[str]) -> list[Spelling]:
    """Return the spellings by which all texts are numbers, one for each meaning.

    There are none where all are plain numbers, or some are no numbers.
    """
    if not texts or all(map(PLAIN.match, texts)):
        return []
    found: dict[tuple[str, ...], Spelling] = {}
    for spelling in _OTHERS:
        if all(map(spelling.match, texts)):
            found.setdefault(tuple(map(spelling.plain, texts)), spelling)
    return list(found.values())


def how_to_read(text: str) -> str:
    """Return how pandas reads a number such as "2,624"; nothing for other texts."""
    ways = []
    for spelling in other_spellings([text]):
        options = ", ".join(f"{name}={given!r}" for name, given in spelling.given())
        ways.append(f"pandas.read_csv(..., {options}) reads {spelling.plain(text)}")
    return " or ".join(ways)


def whole_number(text: str) -> int | None:
    """Return the whole number that a text spells without an exponent, or None.

    Python converts no more than 4300 digits.
    """
    found = _WHOLE.fullmatch(text)
    try:
        return int(found[1]) if found else None
    except ValueError:
        return None


def is_rounded(text: str) -> bool:
    """Whether a text spells a whole number that a float64 does not hold."""
    return _WHOLE.fullmatch(text) is not None and whole_number(text) != float(text)
