"""Rows of CSV files that lack cells, which readers would take for missing numbers."""

from __future__ import annotations

import io
from typing import IO, Any

import numpy as np

from ._text_source import TextSource

#: bytes that are looked at together
_BLOCK = 1 << 20


class CheckedRows(io.RawIOBase):
    """A table handed on as it is, as long as no row is shorter than the head.

    Parameters
    ----------
    file : binary file
        The table, from its head on.
    source : TextSource
        The same, for what lines alone do not tell, and for messages.
    separator : str
    n_cells : int
        Cells of a row.
    """

    def __init__(
        self, file: IO[bytes], source: TextSource, separator: str, n_cells: int
    ) -> None:
        self._file, self._source = file, source
        self._separator, self._n_cells = separator, n_cells
        self._blocks: list[bytes] = []
        self._n_bytes = 0
        #: whether only a reader can tell what is a row
        self._is_irregular = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        if not self._is_irregular:
            self._blocks.append(block)
            self._n_bytes += len(block)
            if self._n_bytes >= _BLOCK:
                self.check()
        return len(block)

    def check(self, *, at_end: bool = False) -> None:
        """Raise a ValueError with the line of a short row among those handed on.

        `at_end` says that all were, and that no quotation mark is left open.
        """
        text = b"".join(self._blocks)
        end = len(text) if at_end else _end_of_rows(text)
        separator = self._separator.encode()
        if not self._is_irregular and (
            len(text) - end >= _BLOCK
            or not _all_have(text[:end], separator, self._n_cells)
        ):
            # slower, but right for whatever may stand in quotes
            self._is_irregular = True
            if not at_end:
                self._read_rows(but_last=True)
        if self._is_irregular and at_end:
            self._read_rows()
        self._blocks = [] if self._is_irregular else [text[end:]]
        self._n_bytes = sum(map(len, self._blocks))

    def _read_rows(self, *, but_last: bool = False) -> None:
        """Raise for the first short row; the last may be one whose quote stays open."""
        short: str = ""
        for line, cells in self._source.csv_rows(self._separator):
            if short:
                raise ValueError(short)
            if len(cells) < self._n_cells:
                short = (
                    f"{self._source}, line {line}: a row must not have fewer cells "
                    f"than the header ({self._n_cells}), got {len(cells)}"
                )
        if short and not but_last:
            raise ValueError(short)

    def close(self) -> None:
        self._file.close()
        super().close()


def _end_of_rows(text: bytes) -> int:
    """Where the last row ends of which all is there."""
    end = text.rfind(b"\n") + 1
    while end and text.count(b'"', 0, end) % 2:
        # the line end is in quotes
        end = text.rfind(b"\n", 0, text.rfind(b'"', 0, end)) + 1
    return end


def _all_have(text: bytes, separator: bytes, n_cells: int) -> bool:
    """Whether all rows certainly have so many cells; blank lines are none.

    Where quotes are as writers set them, what is after an odd number of them is in
    quotes.
    """
    if not text:
        return True
    if b"\r" in text and text.count(b"\r") > text.count(b"\r\n"):
        return False
    if _is_regular(text, separator, n_cells):
        return True
    signs = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(signs == ord(b"\n"))
    between = np.flatnonzero(signs == ord(separator))
    if b'"' in text:
        quotes = np.flatnonzero(signs == ord(b'"'))
        opening = quotes[::2]
        before = signs[opening[opening > 0] - 1]
        if len(quotes) % 2 or not np.isin(before, list(b'\n"' + separator)).all():
            return False
        ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        between = between[np.searchsorted(quotes, between) % 2 == 0]
    if not text.endswith(b"\n"):
        ends = np.append(ends, len(text))
    n_between = np.diff(np.searchsorted(between, ends), prepend=0)
    bad = np.flatnonzero(n_between != n_cells - 1)
    starts = np.append(0, ends[:-1] + 1)[bad]
    lines = (
        text[a:b] for a, b in zip(starts.tolist(), ends[bad].tolist(), strict=True)
    )
    return not any(line.strip(b"\r") for line in lines)


def _is_regular(text: bytes, separator: bytes, n_cells: int) -> bool:
    """Whether nothing but separators and line ends stands between cells, in order."""
    marks = text.translate(None, bytes(set(range(256)) - {*b'\r\n"', *separator}))
    for end in (b"\n", b"\r\n"):
        row = separator * (n_cells - 1) + end
        n_rows = len(marks) // len(row)
        if marks == row * n_rows:
            return text.endswith(end) and text.count(end) == n_rows
    return False
