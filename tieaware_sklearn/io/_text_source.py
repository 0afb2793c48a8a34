"""Files read, whatever their compression, and written whole."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: what damaged compressed data raises, besides an OSError without a number
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError)
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")


class TextSource:
    """A file that can be read more than once: a path, a pipe or standard input.

    Parameters
    ----------
    path : path
        ``-`` is standard input. gzip, bzip2 and xz are known by their first bytes;
        a byte order mark is left out.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._bytes: bytes | None = None
        if str(path) == "-":
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


def check_writable(path: str, option: str) -> None:
    """Raise before the work is done, not after, if a file cannot be written."""
    if not path:
        raise ValueError(f"{option} must name a file, got an empty name")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"{option} must name a file, got the folder {path}")
    if Path(path).exists() and not Path(path).is_file():
        return
    if not target.parent.is_dir():
        raise ValueError(f"{option}: there is no folder for {path}")
    # a new file takes the place of the old one
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{option}: the folder of {path} cannot be written to")


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a text file that appears only once it is complete.

    Gzipped if its name ends in ``.gz``.
    """
    with whole_file(path) as file:
        file.writelines(lines)


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[Any]:
    """A file to write to, which appears only once it is complete.

    What is not a plain file, such as a pipe or a device, is written to as it is; a
    link stays a link.
    """
    mode = "b" if binary else "t"
    form: dict[str, Any] = {} if binary else {"encoding": "utf-8", "newline": "\n"}
    target = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open(f"w{mode}", **form) as file:
            yield file
        return
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(unfinished, f"w{mode}", **form) as file:
            yield file
        if target.exists():
            shutil.copymode(target, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
