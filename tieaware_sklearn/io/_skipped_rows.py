"""Rows of CSV files that need not be read again."""

from __future__ import annotations

import io
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ._text_source import TextSource

#: bytes that are looked at together
_BLOCK = 1 << 20
#: how a line begins that may be no row: readers leave out blank ones
_BLANK = np.frombuffer(b"\n\r \t", np.uint8)


def without_rows(source: TextSource, n_rows: int) -> IO[bytes] | None:
    """A table from its head on, without its first rows; read at the speed of the disk.

    None where lines up to there may not be rows, which only a reader can tell.
    """
    with source.reading():
        file = source.open_text()
        head = file.readline()
        rest = None if _ends(head) is None else _after(file, n_rows)
    if rest is None:
        file.close()
        return None
    return io.BufferedReader(_Joined(head + rest, file))


def _after(file: IO[bytes], n_lines: int) -> bytes | None:
    """Pass by so many lines; what was read beyond them."""
    while True:
        block = file.read(_BLOCK)
        block += file.readline()
        ends = _ends(block)
        if ends is None:
            return None
        if len(ends) >= n_lines:
            return block[ends[n_lines - 1] + 1 :]
        n_lines -= len(ends)


def _ends(lines: bytes) -> NDArray[np.intp] | None:
    """Where each line ends, if it is a row; None where only a reader can tell.

    Quotes may hold line ends, and old files end lines by a carriage return alone.
    """
    if not lines.endswith(b"\n") or b'"' in lines:
        return None
    if b"\r" in lines and lines.count(b"\r") > lines.count(b"\r\n"):
        return None
    signs = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(signs == _BLANK[0])
    starts = np.append(0, ends[:-1] + 1)
    return None if np.isin(signs[starts], _BLANK).any() else ends


class _Joined(io.RawIOBase):
    """Bytes, and a file after them."""

    def __init__(self, start: bytes, file: IO[bytes]) -> None:
        self._start, self._file = memoryview(start), file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = min(len(buffer), len(self._start))
        if n_bytes:
            buffer[:n_bytes], self._start = self._start[:n_bytes], self._start[n_bytes:]
            return n_bytes
        return self._file.readinto(buffer)  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self._file.close()
        super().close()
