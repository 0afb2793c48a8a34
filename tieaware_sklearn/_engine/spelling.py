"""How numbers are spelled in text."""

import re

#: a whole number, also with zeros as decimals
_WHOLE = re.compile(r"([+-]?[0-9]+)(?:\.0*)?")
#: a decimal number
NUMBER = r"[ \t]*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*"
#: what floats may be beside numbers
NO_NUMBER = r"[+-]?(?i:inf|infinity|nan)"


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
    """Return whether a text spells a whole number that a float64 does not hold."""
    return _WHOLE.fullmatch(text) is not None and whole_number(text) != float(text)
