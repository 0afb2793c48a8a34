"""What other libraries say of a table that they cannot read, in words that name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._optional import import_optional
from ._bunch import import_pandas
from ._text_source import TextSource
from ._wording import in_one_line


@contextmanager
def reading_table(source: TextSource, separator: str | None) -> Iterator[None]:
    """Errors of a reader in words that name the file, and the line of text."""
    errors = import_pandas("reading CSV and Parquet").errors
    # some errors of Arrow are neither a ValueError nor an OSError
    arrows = () if separator else (_arrow().lib.ArrowException,)
    try:
        with source.reading():
            yield
    except arrows as error:
        raise ValueError(f"{source}: {in_one_line(error)}") from None
    except (errors.ParserWarning, errors.ParserError) as error:
        raise ValueError(_ragged(source, separator or "", str(error))) from None
    except UnicodeDecodeError:
        raise ValueError(source.line_not_in_utf8()) from None
    except ValueError as error:
        if str(error).startswith((f"{source}:", f"{source}, ")):
            raise
        raise ValueError(f"{source}: {error}") from None


def _ragged(source: TextSource, separator: str, error: str) -> str:
    """The first row with more cells than the head, or with a quote left open."""
    rows = source.csv_rows(separator)
    end, head = next(rows)
    for line, cells in rows:
        if len(cells) > len(head):
            return (
                f"{source}, line {line}: a row must not have more cells than the "
                f"header ({len(head)}), got {len(cells)}"
            )
        start, end = end + 1, line
    if "EOF inside string" in error:
        return f"{source}, line {start}: a quotation mark is opened and never closed"
    return f"{source}: {error.strip()}"


def _arrow() -> Any:
    return import_optional("pyarrow", extra="io", purpose="reading Parquet")
