"""Results that are saved to files and loaded again: plain arrays, a header in JSON.

A file is a zip archive, whose layout is in docs/formats.md. Nothing in it is ever
executed.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _atomic
from .._engine import merging
from .._version import __version__
from . import _wording

_Sums = TypeVar("_Sums", bound=merging.AddedUp)
#: name and version of the format
FORMAT, VERSION = "tieaware", 1
_HEADER = "header.json"
#: zip archives begin with it, if they are not empty
_MAGIC = b"PK\x03\x04"
_NOT_OURS = "is not a file that save has written"
#: arrays by the kind of their numbers: little-endian, 64 bits or flags
_DTYPES = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}
#: what can be in a file, by the kind that its header has
_KINDS: dict[str, type[Saved]] = {}


class Saved:
    """An object that can be saved and loaded again.

    A subclass names its kind of files, gives their content by `_content`, and makes an
    object of content by `_of_content`. What it finds wrong there it says by
    `UnreadableError`. Objects within others: `Content.with_part`, `Content.part`.
    """

    #: what the header of a file calls it
    _kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_kind" in vars(cls):
            _KINDS[cls._kind] = cls

    def _content(self) -> Content:
        """The content of a file."""
        raise NotImplementedError

    @classmethod
    def _of_content(cls, content: Content) -> Self:
        """Make an object of the content of a file."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a file, from which `load` makes an equal object.

        Parameters
        ----------
        path : str or path-like
            File to write, by convention with the suffix ``.tie``. It appears only once
            complete, and replaces an existing file.

        Raises
        ------
        ValueError
            If something cannot be saved as plain data, such as a measure whose gain is
            a function (the error names it).
        OSError
            If the file cannot be written. An existing file is then kept.

        Notes
        -----
        The file is a zip archive of NumPy arrays with a JSON header.
        ``numpy.load(path, allow_pickle=False)`` also opens it. The guide has its
        layout. The same object makes the same bytes.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from tieaware_sklearn import RankingReport, evaluate
        >>> report = evaluate([1, 0, 0], [2, 1, 1], measures="ap")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "report.tie")
        ...     report.save(path)
        ...     RankingReport.load(path).expected
        array([[1.]])
        """
        file = Path(path)
        if file.suffix == ".gz":
            raise ValueError(
                f"path must not end in .gz, since files are not compressed, got {path}"
            )
        _atomic.write_whole(file, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load from a file that `save` has written.

        Parameters
        ----------
        path : str or path-like
            File to read. Nothing in it is executed, wherever it comes from.

        Returns
        -------
        object
            The saved object, bit for bit: of this class, or of a subclass if the file
            holds one.

        Raises
        ------
        ValueError
            If the file was not written by `save`, is damaged or truncated, has a newer
            version of the format, or holds an object of another class.
        OSError
            If the file cannot be read.
        """
        return cls._read(Path(path).read_bytes(), f"{os.fspath(path)}")

    def to_bytes(self) -> bytes:
        """Return what `save` writes, as bytes to send or store.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            As in `save`.

        Examples
        --------
        >>> from tieaware_sklearn import RankingReport, evaluate
        >>> report = evaluate([1, 0, 0], [2, 1, 1], measures="ap")
        >>> RankingReport.from_bytes(report.to_bytes()).expected
        array([[1.]])
        """
        return to_bytes(self._kind, self._content())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make an object from the bytes that `to_bytes` returned.

        Parameters
        ----------
        data : bytes
            What `to_bytes` returned. Nothing in it is executed, wherever it comes from.

        Returns
        -------
        object
            As from `load`.

        Raises
        ------
        ValueError
            As in `load`.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ValueError(f"data must be bytes, got {type(data).__name__}")
        return cls._read(bytes(data), "data")

    @classmethod
    def _read(cls, data: bytes, name: str) -> Self:
        try:
            kind, content = from_bytes(data)
            return cls._of_kind(kind)._of_content(content)
        except UnreadableError as error:
            raise ValueError(f"{name} {error}") from None
        # what our own checks refuse, such as a measure of a class that is not defined,
        # and what is raised by content that no object of ours has
        except Exception as error:
            why = f"{type(error).__name__}: {_wording.in_one_line(error)}"
            raise ValueError(f"{name} cannot be read ({why})") from None

    @classmethod
    def _of_kind(cls, kind: str) -> type[Self]:
        """The class of which a file holds an object: this one, or one below it."""
        # also if a user has derived it from one of ours
        if getattr(cls, "_kind", None) == kind:
            return cls
        other = _KINDS.get(kind)
        if other is not None and issubclass(other, cls):
            return other
        got = f"{kind!r}, which this library does not know"
        if other is not None:
            got = f"a {other.__name__}: use {other.__name__}.load"
        raise UnreadableError(f"must hold a {cls.__name__}, got {got}")


def content_of_sums(sums: merging.AddedUp) -> Content:
    """The arrays of sums, by the names of their fields."""
    content = Content({}, {})
    for field in fields(sums):  # type: ignore[arg-type]
        value = getattr(sums, field.name)
        if isinstance(value, merging.AddedUp):
            content = content.with_part(field.name, content_of_sums(value))
        elif isinstance(value, np.ndarray):
            content.arrays[field.name] = value
    return content


def sums_of(cls: type[_Sums], content: Content, *shape: int) -> _Sums:
    """Sums of which every field is an array of floats of this shape."""
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
    return cls(*(content.array(name, "f", *shape) for name in names))


class UnreadableError(ValueError):
    """A file that cannot be read: what is to be said after its name."""


class Content(NamedTuple):
    """The content of a file: plain values, and arrays by name.

    Names of arrays within a part begin with the name of the part and a slash.
    """

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def part(self, name: str) -> Content:
        """A part that `with_part` put in."""
        within = [key for key in self.arrays if key.startswith(f"{name}/")]
        arrays = {key.removeprefix(f"{name}/"): self.arrays[key] for key in within}
        # sums have arrays alone
        header = self.header.get(name, {})
        if not isinstance(header, dict):
            raise UnreadableError(f"must have an object, {name!r}, in its header")
        return Content(header, arrays)

    def with_part(self, name: str, part: Content) -> Content:
        """A copy, to which a part is added."""
        arrays = {f"{name}/{key}": array for key, array in part.arrays.items()}
        header = {name: part.header} if part.header else {}
        return Content(self.header | header, self.arrays | arrays)

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
        lengths = array.shape if len(array.shape) == len(shape) else (-1,) * len(shape)
        pairs = zip(lengths, shape, strict=True)
        fits = all(wanted in (None, length) for length, wanted in pairs)
        if array.dtype.str != _DTYPES[kind] or not fits:
            wanted = "n".join(str(shape).split("None"))
            raise UnreadableError(
                f"must have an array {name!r} of dtype {_DTYPES[kind]} and shape "
                f"{wanted}, got {array.dtype.str} and {array.shape}"
            )
        return array


def to_bytes(kind: str, content: Content) -> bytes:
    """A file of this kind; the same content makes the same bytes."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "library": __version__,
        "content": content.header,
    }
    text = json.dumps(header, allow_nan=False, indent=1)
    out = io.BytesIO()
    # in the order of C, little-endian, whatever the machine; not compressed: what
    # compression gives differs from one zlib to another
    plain = {
        name: np.array(array, dtype=_DTYPES[array.dtype.kind], order="C")
        for name, array in content.arrays.items()
    }
    np.savez(out, **plain)  # type: ignore[arg-type]
    with zipfile.ZipFile(out, "a") as file:
        # without the time of today
        file.writestr(zipfile.ZipInfo(_HEADER), text)
    return out.getvalue()


def from_bytes(data: bytes) -> tuple[str, Content]:
    """Kind and content of a file.

    Raises
    ------
    UnreadableError
        If it is no such file, damaged, or of a newer version of the format.
    """
    if not data.startswith(_MAGIC):
        raise UnreadableError(_NOT_OURS)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            if _HEADER not in file.files:
                raise UnreadableError(_NOT_OURS)
            # what is compressed may be of any size, and each has bytes of its own
            if file.zip.getinfo(_HEADER).file_size > len(data):
                raise ValueError("its header is compressed")
            # int() refuses NaN and the infinities
            header = json.loads(file[_HEADER], parse_constant=int)
            # before the rest, which may be anything in a later version
            _check_version(header)
            if sum(info.file_size for info in file.zip.infolist()) > len(data):
                raise ValueError("it is compressed, or its parts overlap")
            # the bytes of what is no array have a dtype that nothing asks for
            names = [name for name in file.files if name != _HEADER]
            arrays = {name: np.asarray(file[name]) for name in names}
    except UnreadableError:
        raise
    # NumPy and zipfile raise errors of a dozen types for other bytes
    except Exception as error:
        raise UnreadableError(
            f"is damaged or cut off ({_wording.in_one_line(error)}): save it again, or "
            "copy it again"
        ) from None
    top = Content(header, {})
    return top.value("kind", str), Content(top.value("content", dict), arrays)


def _check_version(header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableError(_NOT_OURS)
    version = Content(header, {}).value("version", int)
    if version != VERSION:
        raise UnreadableError(
            f"has version {version} of the format, written by tieaware-sklearn "
            f"{_wording.in_one_line(header.get('library'))[:20]}; this is "
            f"{__version__}, which reads version {VERSION}: upgrade tieaware-sklearn"
        )
