"""Files of text, whatever their compression, from a path or a pipe."""

import bz2
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, NoReturn

from .._engine import checks
from . import _locate, _wording

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: how files begin that are no such text; UTF-32 begins as UTF-16 does
_OTHER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32 (save the file as UTF-8)",
    b"\0\0\xfe\xff": "UTF-32 (save the file as UTF-8)",
    b"\xff\xfe": "UTF-16 (save the file as UTF-8)",
    b"\xfe\xff": "UTF-16 (save the file as UTF-8)",
    b"\x28\xb5\x2f\xfd": "text compressed by Zstandard (unpack it, or use gzip)",
    b"PK\x03\x04": "a zip archive (unpack it, or use gzip)",
}
#: bytes of a line at most, so that a small file which unpacks to gigabytes without a
#: line end is refused before it fills the memory; a million features take as many
MAX_LINE = 1 << 24
#: bytes that show how a file is written
_START = 1 << 12
#: bytes that are unpacked together
_PACKED = 1 << 17


class _Streams(_locate.Wrapped):
    """Compressed streams, one after another, to the end of the file.

    The readers of `bz2` and `lzma` take what follows a stream and is none for the end,
    in silence: a damaged stream, and all that come after it.
    """

    def __init__(self, file: IO[bytes], unpacker: Callable[[], Any]) -> None:
        super().__init__(file)
        self._size, self._blocks = 0, self._unpacked(unpacker)

    def block(self, size: int) -> bytes:
        self._size = size
        return next(filter(None, self._blocks), b"")

    def _unpacked(self, unpacker: Callable[[], Any]) -> Iterator[bytes]:
        packed = self._file.read(_PACKED)
        while packed:
            stream = unpacker()
            while not stream.eof:
                if not packed and getattr(stream, "needs_input", True):
                    packed = self._file.read(_PACKED)
                    if not packed:
                        raise EOFError("the file ends within compressed data")
                yield stream.decompress(packed, self._size)
                # zlib gives back what waits to be unpacked, the others keep it
                packed = getattr(stream, "unconsumed_tail", b"")
            # there may be zeros between streams, however many
            packed = stream.unused_data.lstrip(b"\0")
            while not packed and (block := self._file.read(_PACKED)):
                packed = block.lstrip(b"\0")


#: by the first bytes of what they unpack
UNPACKERS: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": partial(zlib.decompressobj, wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}


class TextSource:
    """A file that can be read more than once: a path, URL, pipe or standard input.

    Parameters
    ----------
    path : path or Url
        ``-`` is standard input. gzip, bzip2 and xz are known by their first bytes;
        a byte order mark is left out.
    format : str, optional
        By default its name tells it, or else its first bytes.
    """

    def __init__(
        self, path: _locate.PathLike | _locate.Url, format: str | None = None
    ) -> None:
        self.path: _locate.Location = (
            path if isinstance(path, _locate.Url) else Path(path)
        )
        self._format = format or _locate.format_of_name(self.path)
        self._bytes: bytes | None = None
        if str(path) == "-":
            if sys.stdin is None:
                raise ValueError("standard input is closed")
            self._bytes = sys.stdin.buffer.read()
        elif isinstance(self.path, Path) and _locate.is_special(self.path):
            self._bytes = self.path.read_bytes()  # a pipe, which is read only once

    def __str__(self) -> str:
        return "standard input" if str(self.path) == "-" else str(self.path)

    @cached_property
    def format(self) -> str:
        """The format that the name tells, or else the first line."""
        return self._format or _format_of_start(self.start()) or "letor"

    def start(self) -> bytes:
        """The first bytes."""
        with self.reading(), self.open() as file:
            return file.read(_START)

    @contextmanager
    def open_text(self) -> Iterator[IO[bytes]]:
        """Open the file as text; other bytes raise a ValueError with their line."""
        with self.reading(), io.BufferedReader(Lines(self.open(), str(self))) as file:
            yield file

    def open(self) -> IO[bytes]:
        """Open the file, unpacked and without a byte order mark."""
        if self._bytes is None:
            file: Any = self.path.open("rb")
        else:
            file = io.BufferedReader(io.BytesIO(self._bytes))
        try:
            start = file.peek()
            for magic, unpacker in UNPACKERS.items():
                if start.startswith(magic):
                    file = io.BufferedReader(_Streams(file, unpacker), _PACKED)
            if file.peek().startswith(_BYTE_ORDER_MARK):
                file.read(len(_BYTE_ORDER_MARK))
        except BaseException:
            file.close()
            raise
        return file

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise errors of servers and of damaged compressed data with the file."""
        try:
            yield
        except (ValueError, ImportError, MemoryError):
            raise
        except Exception as error:
            # errors of the system have a number, those of bz2 have none
            if getattr(error, "errno", None) is not None:
                raise
            if isinstance(self.path, _locate.Url):
                raise _locate.cannot_be_read(self.path, error) from error
            if isinstance(error, (EOFError, OSError, zlib.error, lzma.LZMAError)):
                raise ValueError(
                    f"{self}: damaged compressed data: {_wording.in_one_line(error)}"
                ) from None
            raise


def _format_of_start(start: bytes) -> str | None:
    """Return the format that the first line tells, without comments."""
    if start.startswith(b"PAR1"):
        return "parquet"
    lines = (line for line in start.splitlines() if not re.match(rb"\s*(#|$)", line))
    line = next(lines, b"")
    if re.match(rb"\s*([-+.0-9]|\S+\s+(qid|[0-9]+):)", line):
        return "letor"
    if b"\t" in line:
        return "tsv"
    return "csv" if re.search(rb"[,;|]", line) else None


def sources_of(files: _locate.Files, format: str | None = None) -> list[TextSource]:
    """Return the files, all of them tables, or all LETOR text.

    Raises
    ------
    ValueError
        If they are not, or a file that is no table by its name is LETOR text and would
        be left out beside tables.
    """
    checks.check_choice(format, "format", (None, *_locate.FORMATS))
    sources = [TextSource(path, format) for path in files.paths]
    of_kinds = {source.format == "letor": source for source in sources}
    for name, reason in files.left_out.items():
        if reason == _locate.NO_TABLE and format is None:
            path = _locate.Url(name) if _locate.is_url(name) else name
            source = TextSource(path)
            if _format_of_start(source.start()) == "letor":
                of_kinds[True] = source
    if len(of_kinds) > 1:
        raise ValueError(
            f"all files must be of one kind, got tables ({of_kinds[False]}) and LETOR "
            f"text ({of_kinds[True]}): name those that are meant, such as by "
            "'folder/*.csv', or choose by format (--format)"
        )
    return sources


class Lines(_locate.Wrapped):
    """Bytes handed on as they are, as long as they are lines of text."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__(file)
        self._name = name
        self._n_ended = 0
        #: bytes of the line that has not ended; None before the first
        self._open_line: int | None = None

    def block(self, size: int) -> bytes:
        block = super().block(size)
        if self._open_line is None:
            self._open_line = 0
            for mark, what in _OTHER_MARKS.items():
                if block.startswith(mark):
                    self._refuse(f"must be UTF-8, got {what}")
        nul = block.find(b"\0")
        if nul >= 0:
            self._n_ended += block.count(b"\n", 0, nul)
            self._refuse("must be text in UTF-8, got a NUL byte (binary, or UTF-16?)")
        first, end, _ = block.partition(b"\n")
        self._open_line += len(first)
        if self._open_line > MAX_LINE:
            self._refuse(f"a line must not be longer than {MAX_LINE} bytes")
        if end:
            self._open_line = len(block.rpartition(b"\n")[2])
        self._n_ended += block.count(b"\n")
        return block

    def _refuse(self, rule: str) -> NoReturn:
        raise ValueError(f"{self._name}, line {self._n_ended + 1}: {rule}")
