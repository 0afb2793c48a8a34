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

from .._engine import checks, messages
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
#: how lines of LETOR text begin
_LETOR = re.compile(rb"\s*([-+.0-9]|(nan|inf)\s|qid:|\S+\s+(qid|[0-9]+):)")
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


def would_not_read_as_text(start: bytes) -> str:
    """The kind of a file that is no text, told by its start; empty for text."""
    marks = {_BYTE_ORDER_MARK: "a byte order mark"} | _OTHER_MARKS
    marks |= dict.fromkeys(UNPACKERS, "compressed data")
    return next((what for mark, what in marks.items() if start.startswith(mark)), "")


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
        file = path if isinstance(path, _locate.Url) else Path(path)
        self.path: _locate.Location = file
        self._format = format or _locate.format_of_name(self.path)
        self._bytes: bytes | None = None
        if str(path) == "-":
            messages.require(sys.stdin is not None, "standard input is closed")
            self._bytes = sys.stdin.buffer.read()
        elif isinstance(file, Path) and file.exists() and not file.is_file():
            self._bytes = file.read_bytes()  # a pipe, which is read only once

    def __str__(self) -> str:
        return "standard input" if str(self.path) == "-" else str(self.path)

    @cached_property
    def format(self) -> str:
        """The format, if it is a table, or else letor."""
        return self._format or _format_of_start(self.start()) or "letor"

    def start(self) -> bytes:
        """The first bytes."""
        with self.reading(), self.open() as file:
            return file.read(_START)

    def open_text(self) -> IO[bytes]:
        """Open the file as text; other bytes raise a ValueError with their line."""
        return io.BufferedReader(Lines(self.open(), str(self)))

    def open(self) -> IO[bytes]:
        """The bytes of the file, unpacked, from the start."""
        text: Any = io.BytesIO(self._bytes or b"")
        text = self.path.open("rb") if self._bytes is None else io.BufferedReader(text)
        try:
            start = text.peek(max(map(len, UNPACKERS)))
            for magic, unpacker in UNPACKERS.items():
                if start.startswith(magic):
                    text = io.BufferedReader(_Streams(text, unpacker), _PACKED)
            if text.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
                text.read(len(_BYTE_ORDER_MARK))
        except BaseException:
            text.close()
            raise
        return text  # type: ignore[no-any-return]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of damaged compressed data as a ValueError that names the file."""
        try:
            yield
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            # errors of the system have a number, those of bz2 have none
            if isinstance(error, OSError) and error.errno is not None:
                raise
            what = f"damaged compressed data: {_wording.in_one_line(error)}"
            raise ValueError(f"{self}: {what}") from None


def _format_of_start(start: bytes) -> str | None:
    """The format that the first line tells, comments left out."""
    if start.startswith(b"PAR1"):
        return "parquet"
    lines = (line for line in start.splitlines() if line.strip())
    first = next((line for line in lines if not line.startswith(b"#")), b"")
    if _LETOR.match(first):
        return "letor"
    is_csv = any(one in first for one in b",;|")
    return "tsv" if b"\t" in first else "csv" if is_csv else None


def sources_of(files: _locate.Files, format: str | None = None) -> list[TextSource]:
    """The files, all of them tables, or all LETOR text.

    Raises
    ------
    ValueError
        If they are not, or a file that is no table by its name is LETOR text and would
        be left out beside tables.
    """
    checks.check_choice(format, "format", (None, *_locate.FORMATS))
    sources = [TextSource(path, format) for path in files.paths]
    kinds: dict[str, TextSource] = {}
    for source in sources:
        kind = "LETOR text" if source.format == "letor" else "tables"
        kinds.setdefault(kind, source)
    for name, reason in files.left_out.items():
        if reason == _locate.NO_TABLE and format is None:
            left = TextSource(_locate.Url(name) if _locate.is_url(name) else name)
            start = left.start()
            if _format_of_start(start) == "letor":
                kinds.setdefault("LETOR text", left)
            files.left_out[name] = would_not_read_as_text(start) or reason
    got = " and ".join(f"{kind} ({first})" for kind, first in kinds.items())
    messages.require(
        len(kinds) == 1,
        f"all files must be of one kind, got {got}: name those that are meant, such as "
        "by 'folder/*.csv', or choose by format (--format)",
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
        self.check(block)
        return block

    def check(self, block: bytes) -> None:
        if self._open_line is None:
            self._open_line = 0
            for mark, what in _OTHER_MARKS.items():
                if block.startswith(mark):
                    self._refuse(f"must be UTF-8, got {what}")
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
