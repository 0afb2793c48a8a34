"""Text files of any compression, from a path or standard input."""

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from .._engine import checks
from . import _locate, _wording

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Beginnings of files that are not supported. UTF-32 begins like UTF-16.
_NO_TEXT = {
    rb"\xff\xfe|\xfe\xff": "UTF-16 (save the file as UTF-8)",
    rb"\x28\xb5\x2f\xfd": "text compressed by Zstandard (unpack it, or use gzip)",
    rb"PK\x03\x04": "a zip archive (unpack it, or use gzip)",
    rb"PAR1": "Parquet (load_table reads features; dump_trec_run and dump_qrels write "
    "the columns of runs and judgments as text)",
    rb"\s*[{[]\s*[]}[{\"]": "JSON (functions read the dicts and data frames that it "
    "holds; dump_trec_run, dump_qrels and dump_letor write text)",
    rb"[^\0]*\0": "binary data or UTF-16 (save the file as text in UTF-8)",
}
#: Number of first bytes by which the encoding and the format are recognised.
_START = 1 << 12
#: Number of bytes that are unpacked together.
_BUFFER = 1 << 17
#: Functions that open compressed files, by the first bytes of the files.
_UNPACKERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


class TextSource:
    """A file that can be read more than once.

    Parameters
    ----------
    path : path
        Path of the file, or ``-`` for standard input. gzip, bzip2 and xz are recognised
        by their first bytes. A byte order mark is skipped.
    format : str, optional
        Format of the file. By default, the format is inferred from the name or else
        from the first bytes.
    """

    def __init__(self, path: _locate.PathLike, format: str | None = None) -> None:
        self.path = Path(path)
        self._format = format or _locate.format_of_name(self.path)
        self._bytes: bytes | None = None
        if str(path) == "-":
            if sys.stdin is None:
                raise ValueError("standard input is closed")
            self._bytes = sys.stdin.buffer.read()
        elif self.path.exists() and not self.path.is_file():
            self._bytes = self.path.read_bytes()  # A pipe can be read only once.

    def __str__(self) -> str:
        return "standard input" if str(self.path) == "-" else str(self.path)

    @cached_property
    def format(self) -> str:
        """The format, as set, or inferred from the name or else from the first line."""
        return self._format or _format_of_start(self.start())

    def start(self) -> bytes:
        """The first bytes of the file."""
        with self.reading(), self.open() as file:
            return file.read(_START)

    @contextmanager
    def open_text(self, *, is_table: bool = False) -> Iterator[IO[bytes]]:
        """Open the file as UTF-8 text. CR alone ends a line only in tables."""
        with self.reading(), self.open() as file:
            start = file.peek()
            for pattern, content in _NO_TEXT.items():
                if re.match(pattern, start):
                    raise ValueError(f"{self}: must be text in UTF-8, got {content}")
            if not is_table and re.match(rb"[^\n]*\r[^\r\n]", start):
                raise ValueError(
                    rf"{self}: lines must end in \n or \r\n, got \r: save the file "
                    r"with \n, for example by tr '\r' '\n'"
                )
            yield file

    def open(self) -> Any:
        """Open the file, unpacked and without a byte order mark."""
        file = self._open_packed()
        start = file.peek()
        for magic, unpacker in _UNPACKERS.items():
            if start.startswith(magic):
                file.close()
                packed = self.path if self._bytes is None else self._open_packed()
                file = io.BufferedReader(unpacker(packed), _BUFFER)
        if file.peek().startswith(_BYTE_ORDER_MARK):
            file.read(len(_BYTE_ORDER_MARK))
        return file

    def _open_packed(self) -> io.BufferedReader:
        if self._bytes is None:
            return self.path.open("rb")
        return io.BufferedReader(io.BytesIO(self._bytes))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Add the name of the file to errors about damaged compressed data."""
        try:
            yield
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            # Errors of the system have a number. Errors of gzip and bz2 have no number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{self}: damaged compressed data: {_wording.in_one_line(error)}"
            ) from None


def _format_of_start(start: bytes) -> str:
    """Infer the format from the first line that is neither blank nor a comment."""
    if start.startswith(b"PAR1"):
        return "parquet"
    lines = (line for line in start.splitlines() if not re.match(rb"\s*(#|$)", line))
    line = next(lines, b"")
    if re.match(rb"\s*([-+.0-9]|\S+\s+(qid|[0-9]+):)", line):
        return "letor"
    if b"\t" in line:
        return "tsv"
    return "csv" if re.search(rb"[,;|]", line) else "letor"


def sources_of(files: _locate.Files, format: str | None = None) -> list[TextSource]:
    """Return the files, which must all be tables, or all be LETOR text."""
    checks.check_choice(format, "format", (None, *_locate.FORMATS))
    sources = [TextSource(path, format) for path in files.paths]
    of_kinds = {source.format == "letor": source for source in sources}
    if len(of_kinds) > 1:
        raise ValueError(
            f"all files must be of one kind, got a table in {of_kinds[False]} and "
            f"LETOR text in {of_kinds[True]}: name only files of one kind, as in "
            "'folder/*.csv', or set format, or --format"
        )
    return sources
