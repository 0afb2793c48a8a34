"""Results as plain bytes: a zip archive of arrays, with a header in JSON.

The layout is in docs/howto/shards.md. Nothing in such a file is ever executed.
"""

from __future__ import annotations

import io
import json
import zipfile
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._wording import in_one_line

#: name and version of the format
FORMAT, VERSION = "tieaware", 1
_HEADER = "header.json"
#: zip archives begin with it, if they are not empty
_MAGIC = b"PK\x03\x04"
#: the earliest time that a zip archive can hold
_NO_TIME = (1980, 1, 1, 0, 0, 0)
#: arrays by the kind of their numbers: little-endian, 64 bits or flags
_DTYPES = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}


class UnreadableError(ValueError):
    """A file that cannot be read: what is to be said after its name."""


class Kept(NamedTuple):
    """What is in a file: plain values, and arrays by name.

    Names of arrays within a part begin with the name of the part and a slash.
    """

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def part(self, name: str) -> Kept:
        """A part that `with_part` put in."""
        start = f"{name}/"
        arrays = {
            key.removeprefix(start): array
            for key, array in self.arrays.items()
            if key.startswith(start)
        }
        # sums have arrays alone
        header = self.header.get(name, {})
        if not isinstance(header, dict):
            raise UnreadableError(f"must have an object, {name!r}, in its header")
        return Kept(header, arrays)

    def with_part(self, name: str, part: Kept) -> Kept:
        """A copy, to which a part is added."""
        arrays = {f"{name}/{key}": array for key, array in part.arrays.items()}
        header = {name: part.header} if part.header else {}
        return Kept(self.header | header, self.arrays | arrays)

    def value(self, name: str, *types: type) -> Any:
        """A plain value, of one of these types."""
        value = self.header.get(name)
        # True is an int
        if name not in self.header or type(value) not in types:
            wanted = " or ".join(of.__name__ for of in types)
            raise UnreadableError(f"must have {name!r} of type {wanted} in its header")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.value(name, list)
        if not all(isinstance(value, str) for value in values):
            raise UnreadableError(f"must have a list of texts, {name!r}, in its header")
        return tuple(values)

    def array(self, name: str, kind: str, *shape: int | None) -> NDArray[Any]:
        """An array of numbers of this kind and shape; None is any length."""
        array = self.arrays.get(name)
        if array is None:
            raise UnreadableError(f"has no array {name!r}")
        fits = len(array.shape) == len(shape) and all(
            wanted is None or length == wanted
            for length, wanted in zip(array.shape, shape, strict=True)
        )
        if array.dtype.kind != kind or not fits:
            wanted = "n".join(str(shape).split("None"))
            raise UnreadableError(
                f"must have an array {name!r} of dtype {_DTYPES[kind]} and shape "
                f"{wanted}, got {array.dtype.str} and {array.shape}"
            )
        return array


def to_bytes(kind: str, kept: Kept) -> bytes:
    """A file of this kind; the same content makes the same bytes."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "library": _library(),
        "content": kept.header,
    }
    out = io.BytesIO()
    # not compressed: what compression gives differs from one zlib to another
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        text = json.dumps(header, allow_nan=False, indent=1)
        file.writestr(_member(_HEADER), text.encode())
        for name, array in kept.arrays.items():
            # in the order of C, little-endian, whatever the machine
            plain = np.array(array, dtype=_DTYPES[array.dtype.kind], order="C")
            member = io.BytesIO()
            np.lib.format.write_array(member, plain, (1, 0), allow_pickle=False)
            file.writestr(_member(f"{name}.npy"), member.getbuffer())
    return out.getvalue()


def from_bytes(data: bytes) -> tuple[str, Kept]:
    """Kind and content of a file.

    Raises
    ------
    UnreadableError
        If it is no such file, damaged, or of a newer version of the format.
    """
    if not data.startswith(_MAGIC):
        raise UnreadableError("is not a file that save has written")
    try:
        header, members = _unzipped(data)
    except UnreadableError:
        raise
    # zipfile raises errors of a dozen types for bytes that are not as they were
    except Exception as error:
        raise UnreadableError(
            f"is damaged or cut off ({error}): save it again, or copy it again"
        ) from None
    arrays = {
        name.removesuffix(".npy"): _array(name, member)
        for name, member in members.items()
        if name.endswith(".npy")
    }
    top = Kept(header, {})
    return top.value("kind", str), Kept(top.value("content", dict), arrays)


def _library() -> str:
    """The version of this library."""
    # the package imports this module, and is there when this runs
    return str(import_module("tieaware_sklearn").__version__)


def _member(name: str) -> zipfile.ZipInfo:
    """The same on every system and at any time."""
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def _unzipped(data: bytes) -> tuple[Any, dict[str, bytes]]:
    """The header, and the other members; each is checked by its checksum."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        infos = file.infolist()
        names = [info.filename for info in infos]
        if _HEADER not in names:
            raise UnreadableError("is not a file that save has written")
        if len(set(names)) < len(names):
            raise ValueError("a name comes twice")
        # what is compressed may be of any size
        if not _is_stored(file.getinfo(_HEADER)):
            raise ValueError("its header is compressed")
        # each has bytes of its own
        if sum(info.file_size for info in infos if _is_stored(info)) > len(data):
            raise ValueError("its parts overlap")
        header = json.loads(file.read(_HEADER), parse_constant=_refuse)
        # before the rest, which may be anything in a later version
        _check_version(header)
        if not all(map(_is_stored, infos)):
            raise ValueError("it is compressed")
        return header, {name: file.read(name) for name in names if name != _HEADER}


def _is_stored(info: zipfile.ZipInfo) -> bool:
    return info.compress_type == zipfile.ZIP_STORED


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} in its header")


def _check_version(header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableError("is not a file that save has written")
    version = Kept(header, {}).value("version", int)
    if version > VERSION:
        raise UnreadableError(
            f"has version {version} of the format, written by tieaware-sklearn "
            f"{in_one_line(header.get('library'))[:20]}; this is {_library()}, which "
            f"reads up to version {VERSION}: upgrade tieaware-sklearn"
        )
    if version < 1:
        raise UnreadableError(f"has version {version} of the format, which never was")


def _array(name: str, member: bytes) -> NDArray[Any]:
    """An array of plain numbers, in the order of bytes of this machine."""
    file = io.BytesIO(member)
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version} of npy")
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # of whatever type NumPy has for it
        raise UnreadableError(
            f"must have arrays in the format of NumPy, got {name!r}: {error}"
        ) from None
    start = file.tell()
    if dtype.str not in _DTYPES.values():
        raise UnreadableError(
            f"must have arrays of {', '.join(_DTYPES.values())}, got {name!r} of "
            f"{dtype.str}"
        )
    size = dtype.itemsize
    for length in shape:
        size *= length
    if min(shape, default=0) < 0 or size != len(member) - start:
        raise UnreadableError(f"must have whole arrays, got {name!r} cut off")
    order: Any = "F" if by_column else "C"
    values = np.ndarray(shape, dtype, member, start, order=order)
    if dtype.kind == "b" and values.view(np.uint8).max(initial=0) > 1:
        raise UnreadableError(f"must have flags of 0 or 1, got others in {name!r}")
    return values.astype(dtype.newbyteorder("="), order="C")
