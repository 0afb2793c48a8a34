"""How people write numbers: groups of digits, decimal separators, exponents."""

import re
from collections.abc import Sequence
from typing import NamedTuple

#: a whole number, also with zeros as decimals
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
#: what floats may be beside numbers
NO_NUMBER = r"[+-]?(?i:inf|infinity|nan)"


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

    def given(self) -> dict[str, str]:
        """The options of a reader that takes it, where they are not the default."""
        given = self._asdict().items()
        return {n: v for n, v in given if v and v != self._field_defaults[n]}

    def as_options(self) -> str:
        """These options as they are written in Python."""
        return ", ".join(f"{name}={value!r}" for name, value in self.given().items())

    def match(self, text: str) -> bool:
        """Whether the text is a number."""
        # Python keeps patterns that it has compiled
        return re.fullmatch(self.pattern, text) is not None

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


def other_spellings(texts: Sequence[str]) -> list[Spelling]:
    """Return the spellings by which all texts are numbers, one for each meaning.

    There are none where all are plain numbers, or some are no numbers.
    """
    if not texts or all(map(PLAIN.match, texts)):
        return []
    meanings: dict[tuple[str, ...], Spelling] = {}
    for spelling in _OTHERS:
        if all(map(spelling.match, texts)):
            meanings.setdefault(tuple(map(spelling.plain, texts)), spelling)
    return list(meanings.values())


def how_to_read(text: str) -> str:
    """Return how pandas reads a number such as "2,624"; nothing for other texts."""
    return " or ".join(
        f"pandas.read_csv(..., {way.as_options()}) reads {way.plain(text)}"
        for way in other_spellings([text])
    )


def whole_number(text: str) -> int | None:
    """Return the whole number that a text spells without an exponent, or None.

    Python converts no more than 4300 digits.
    """
    digits = _WHOLE.fullmatch(text)
    try:
        return int(digits[1]) if digits else None
    except ValueError:
        return None


def is_rounded(text: str) -> bool:
    """Whether a text spells a whole number that a float64 does not hold."""
    return _WHOLE.fullmatch(text) is not None and whole_number(text) != float(text)
