"""Quotations in messages: cells, names, the words of other libraries."""

from collections.abc import Iterable, Mapping

#: characters of a cell that a message quotes
_QUOTED = 60
#: and of a list of names
_LISTED = 500


def quoted(cell: str) -> str:
    """A cell as a message shows it: none fills a screen."""
    return repr(cell) if len(cell) <= _QUOTED else f"{cell[:_QUOTED]!r}..."


def in_one_line(error: object) -> str:
    """The words of another library or of a file, which may hold any bytes."""
    return "".join(c if c.isprintable() else " " for c in str(error)).strip()


def kind_of(table: object) -> str:
    """The kind of a table, such as a pandas DataFrame."""
    return f"a {type(table).__module__.partition('.')[0]} {type(table).__name__}"


def listed(names: Iterable[object]) -> str:
    """Names as a message lists them."""
    text = ", ".join(map(str, names))
    return text if len(text) <= _LISTED else f"{text[:_LISTED]}..."


def with_reasons(files: Mapping[str, str]) -> str:
    """The files that are left out, with the reasons."""
    return listed(f"{name} ({reason})" for name, reason in files.items())


def number_as_text(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(int(value) if isinstance(value, bool) else value).removesuffix(".0")
