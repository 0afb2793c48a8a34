"""Files of text, whatever their compression, from a path or a pipe."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PathLike = str | os.PathLike[str]
_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: what damaged compressed data raises, besides an OSError without a number
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError)
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")


def check_paths(path: PathLike | Sequence[PathLike], name: str) -> list[Path]:
    """One path or several as a list of at least one."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise ValueError(f"{name} must name at least one file, got none")
    return [Path(one) for one in paths]


def memory_of_text(path: Path) -> int:
    """Bytes that the numbers of a text file take, roughly: as many as it has."""
    size = path.stat().st_size
    return 5 * size if path.suffix.lower() in COMPRESSED_SUFFIXES else size


class TextSource:
    """A file that can be read more than once: a path, a pipe or standard input.

    Parameters
    ----------
    path : path
        ``-`` is standard input. gzip, bzip2 and xz are known by their first bytes;
        a byte order mark is left out.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        self._bytes: bytes | None = None
        if str(path) == "-":
            if sys.stdin is None:
                raise ValueError("standard input is closed")
            self._bytes = sys.stdin.buffer.read()
        elif self.path.exists() and not self.path.is_file():
            self._bytes = self.path.read_bytes()

    def __str__(self) -> str:
        return "standard input" if str(self.path) == "-" else str(self.path)

    def open(self) -> IO[bytes]:
        """The bytes of the text, from the start."""
        with self._raw() as raw:
            start = raw.read(max(map(len, _OPENERS)))
        text = self._raw()
        for magic, opener in _OPENERS.items():
            if start.startswith(magic):
                text.close()
                text = opener(self.path if self._bytes is None else self._raw())
        if text.read(len(_BYTE_ORDER_MARK)) != _BYTE_ORDER_MARK:
            text.seek(0)
        return text

    def _raw(self) -> IO[bytes]:
        return self.path.open("rb") if self._bytes is None else io.BytesIO(self._bytes)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of damaged compressed data as a ValueError that names the file."""
        try:
            yield
        except (*_DAMAGED, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(f"{self}: damaged compressed data: {error}") from None

    def csv_rows(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """Lines on which the rows of a CSV file end, and their cells, head first."""
        limit = csv.field_size_limit(2**31 - 1)
        try:
            with self.open() as file:
                text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
                reader = csv.reader(text, delimiter=separator)
                for cells in reader:
                    if len(cells) > 1 or "".join(cells).strip():
                        yield reader.line_num, cells
        finally:
            csv.field_size_limit(limit)
