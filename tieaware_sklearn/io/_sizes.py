"""How much memory tables take, before they are read."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._tabular_frames import cells_of_parquet, separator_of
from ._text_source import Location, TextSource

#: bytes of text that are looked at: at the start, in the middle and at the end
_SAMPLE = 1 << 18
#: bytes that are unpacked at a time, to know how many they become
_PACKED = 1 << 14
#: by the first bytes, as text is opened
_UNPACKERS: dict[bytes, Any] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}
#: bytes of what is on a server that does not say
_UNKNOWN = 1 << 60


def bytes_of_tables(paths: Sequence[Location]) -> int:
    """What the cells of tables take in memory, 8 bytes each; pipes count as nothing.

    The cells of text are counted in samples of it.
    """
    return sum(8 * _n_cells(path) for path in paths if path.is_file())


def _n_cells(path: Location) -> int:
    separator = separator_of(path)
    if separator is None:
        return cells_of_parquet(path)
    source = TextSource(path)
    with source.reading():
        samples, size = _samples(source, path)
    n_bytes = sum(map(len, samples))
    ends = separator.encode(), b"\n"
    n_ends = sum(sample.count(end) for sample in samples for end in ends)
    return -(-size * n_ends // n_bytes) if n_bytes else 0


def _samples(source: TextSource, path: Location) -> tuple[list[bytes], int]:
    """Some of the text, and how many bytes there are of it in all."""
    size = path.stat().st_size if isinstance(path, Path) else path.size() or _UNKNOWN
    packed: Any = source.open_packed()
    with packed:
        start = packed.peek(max(map(len, _UNPACKERS)))
        for first, unpacker in _UNPACKERS.items():
            if start.startswith(first):
                text, n_read = _unpacked(packed, unpacker(), 4 * _SAMPLE)
                return [text], int(size * len(text) / max(n_read, 1))
    with source.open() as file:
        samples = [file.read(_SAMPLE)]
        if size > 3 * _SAMPLE and file.seekable():
            for place in (size // 2, size - _SAMPLE):
                file.seek(place)
                samples.append(file.read(_SAMPLE))
    return samples, size


def _unpacked(file: Any, unpacker: Any, least: int) -> tuple[bytes, int]:
    """At least so much text, and how many bytes it was packed in."""
    text, n_read = bytearray(), 0
    while len(text) < least and not unpacker.eof and (block := file.read(_PACKED)):
        n_read += len(block)
        text += unpacker.decompress(block)
    return bytes(text), n_read - len(unpacker.unused_data)
