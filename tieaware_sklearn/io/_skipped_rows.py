"""Rows of CSV files that need not be read again."""

from __future__ import annotations

import io
from typing import IO, Any

from ._text_source import TextSource

#: bytes that are looked at together
_BLOCK = 1 << 20
#: where a line may be no row: quotes may hold line ends, blank lines are left out, and
#: old files end lines by \r alone
_NOT_PLAIN = (b'"', b"\n\n", b"\n ", b"\n\t", b"\n\r")


def without_rows(source: TextSource, n_rows: int) -> IO[bytes] | None:
    """A table from its head on, without its first rows; read at the speed of the disk.

    None where lines up to there may not be rows, which only a reader can tell.
    """
    with source.reading():
        file = source.open_text()
        head = file.readline()
        rest = _after(file, n_rows) if _is_plain(head) else None
    if rest is None:
        file.close()
        return None
    return io.BufferedReader(_Joined(head + rest, file))


def _after(file: IO[bytes], n_lines: int) -> bytes | None:
    """Pass by so many lines; what was read beyond them."""
    while True:
        block = file.read(_BLOCK)
        block += file.readline()
        if not block.endswith(b"\n") or not _is_plain(block):
            return None
        n_here = block.count(b"\n")
        if n_here >= n_lines:
            return block.split(b"\n", n_lines)[-1]
        n_lines -= n_here


def _is_plain(lines: bytes) -> bool:
    """Whether each line is a row."""
    at_start = lines[:1] not in (b"\n", b" ", b"\t", b"\r")
    ends = lines.count(b"\r") == lines.count(b"\r\n")
    return at_start and ends and not any(sign in lines for sign in _NOT_PLAIN)


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
