"""Quotations in messages: cells, names, and messages of other libraries."""

from collections.abc import Iterable, Mapping

#: Maximum number of characters of a cell that a message quotes.
_QUOTED = 60
#: Maximum number of characters of a list of names that a message quotes.
_LISTED = 500


def quoted(cell: str) -> str:
    """Return a cell as quoted in messages. Long cells are cut."""
    return repr(cell) if len(cell) <= _QUOTED else f"{cell[:_QUOTED]!r}..."


def in_one_line(error: object) -> str:
    """Return a text from another library or a file, of any bytes, in one line."""
    return "".join(c if c.isprintable() else " " for c in str(error)).strip()


def kind_of(table: object) -> str:
    """Return the kind of a table, such as a pandas DataFrame."""
    return f"a {type(table).__module__.partition('.')[0]} {type(table).__name__}"


def listed(names: Iterable[object]) -> str:
    """Return names as listed in messages."""
    text = ", ".join(map(str, names))
    return text if len(text) <= _LISTED else f"{text[:_LISTED]}..."


def with_reasons(files: Mapping[str, str]) -> str:
    """Return a text that lists the files that are left out, with the reasons."""
    return listed(f"{name} ({reason})" for name, reason in files.items())


def number_as_text(value: float) -> str:
    """Return the shortest text from which the same number is read."""
    return repr(int(value) if isinstance(value, bool) else value).removesuffix(".0")
