"""Files of text, whatever their compression, from a path or a pipe."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn, TypeGuard

from ._inflate import OPENERS, damaged
from ._urls import Url
from ._wording import in_one_line

PathLike = str | os.PathLike[str]
#: a file that is read
Location = Path | Url
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: bytes of a line at most, so that a small file which unpacks to gigabytes without a
#: line end is refused before it fills the memory; a million features take as many
MAX_LINE = 1 << 24
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")


def check_paths(path: PathLike | Sequence[PathLike], name: str) -> list[Path]:
    """One path or several as a list of at least one."""
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not paths:
        raise ValueError(f"{name} must name at least one file, got none")
    return [Path(one) for one in paths]


def would_not_read_as_text(start: bytes) -> str:
    """What a file with this start is taken for, if not for text; else nothing."""
    if start.startswith(_BYTE_ORDER_MARK):
        return "a byte order mark"
    if start.startswith(_UTF_16_MARKS):
        return "UTF-16"
    return "compressed data" if start.startswith(tuple(OPENERS)) else ""


class TextSource:
    """A file that can be read more than once: a path, URL, pipe or standard input.

    Parameters
    ----------
    path : path or Url
        ``-`` is standard input. gzip, bzip2 and xz are known by their first bytes;
        a byte order mark is left out.
    """

    def __init__(self, path: PathLike | Url) -> None:
        self.path: Location = path if isinstance(path, Url) else Path(path)
        self._bytes: bytes | None = None
        if str(path) == "-":
            if sys.stdin is None:
                raise ValueError("standard input is closed")
            self._bytes = sys.stdin.buffer.read()
        elif _is_pipe(self.path):
            self._bytes = self.path.read_bytes()

    def __str__(self) -> str:
        return "standard input" if str(self.path) == "-" else str(self.path)

    def open_text(self) -> IO[bytes]:
        """The same as lines of text; what is none raises a ValueError with its line."""
        return io.BufferedReader(_Lines(self.open(), str(self)))

    def open(self) -> IO[bytes]:
        """The bytes of the file, unpacked, from the start."""
        text: Any = self.open_packed()
        start = text.peek(max(map(len, OPENERS)))
        for magic, opener in OPENERS.items():
            if start.startswith(magic):
                if isinstance(self.path, Path) and self._bytes is None:
                    text.close()
                    text = opener(self.path)
                else:
                    text = opener(text)
        if text.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
            text.read(len(_BYTE_ORDER_MARK))
        opened: IO[bytes] = text
        return opened

    def open_packed(self) -> IO[bytes]:
        """The bytes of the file as they are, which can be looked at ahead."""
        if self._bytes is not None:
            return io.BufferedReader(io.BytesIO(self._bytes))
        return self.path.open("rb")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of damaged compressed data as a ValueError that names the file."""
        try:
            yield
        except Exception as error:
            of_system = isinstance(error, OSError) and error.errno is not None
            if of_system or not isinstance(error, (*damaged(), OSError)):
                raise
            what = f"damaged compressed data: {in_one_line(error)}"
            raise ValueError(f"{self}: {what}") from None

    def line_not_in_utf8(self) -> str:
        """The first such line, for a message."""
        with self.open_text() as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    return (
                        f"{self}, line {number}: must be UTF-8, got the byte "
                        f"0x{line[error.start]:02x} (save the file as UTF-8)"
                    )
        return f"{self}: must be UTF-8"

    def csv_rows(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """Lines on which the rows of a CSV file end, and their cells, head first."""
        limit = csv.field_size_limit(2**31 - 1)
        try:
            with self.open_text() as file:
                text = io.TextIOWrapper(file, "utf-8", "replace", newline="")
                reader = csv.reader(text, delimiter=separator)
                for cells in reader:
                    if len(cells) > 1 or "".join(cells).strip():
                        yield reader.line_num, cells
        finally:
            csv.field_size_limit(limit)


def no_documents(sources: Sequence[TextSource]) -> str:
    """That there is nothing in any of some files, for a message."""
    if len(sources) == 1:
        return f"{sources[0]}: the file holds no documents"
    return f"{sources[0]} and {len(sources) - 1} more: the files hold no documents"


def _is_pipe(path: Location) -> TypeGuard[Path]:
    """Whether a file is there that can be read only once."""
    return isinstance(path, Path) and path.exists() and not path.is_file()


class _Lines(io.RawIOBase):
    """Bytes handed on as they are, as long as they are lines of text."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._n_ended = 0
        #: bytes of the line that has not ended; None before the first
        self._open_line: int | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._file.read(len(buffer))
        self._check(block)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _check(self, block: bytes) -> None:
        if self._open_line is None:
            self._open_line = 0
            if block.startswith(_UTF_16_MARKS):
                self._refuse("must be UTF-8, got UTF-16 (save the file as UTF-8)")
        nul = block.find(b"\0")
        if nul >= 0:
            self._n_ended += block.count(b"\n", 0, nul)
            self._refuse("must be text in UTF-8, got a NUL byte (binary, or UTF-16?)")
        # old files end lines by \r alone
        ends = [place for end in b"\n\r" if (place := block.find(end)) >= 0]
        if self._open_line + min(ends, default=len(block)) > MAX_LINE:
            self._refuse(f"a line must not be longer than {MAX_LINE} bytes")
        last = max(block.rfind(b"\n"), block.rfind(b"\r"))
        self._open_line = len(block) - 1 - last + (self._open_line if last < 0 else 0)
        self._n_ended += block.count(b"\n")

    def _refuse(self, rule: str) -> NoReturn:
        raise ValueError(f"{self._name}, line {self._n_ended + 1}: {rule}")
