"""Results that are saved to files and loaded again."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np

from .._engine import AddedUp
from ._atomic import whole_file
from ._saved_file import Kept, UnreadableError, from_bytes, to_bytes

_Saved = TypeVar("_Saved", bound="Saved")
_Sums = TypeVar("_Sums", bound=AddedUp)
#: what can be in a file, by the kind that its header has
_KINDS: dict[str, type[Saved]] = {}


class Saved:
    """What can be saved, and loaded again.

    A subclass names its kind of files, gives their content by `_kept`, and makes an
    object of content by `_of_kept`. What it finds wrong there it says by
    `UnreadableError`. Objects within others: `kept_of` and `Kept.with_part`,
    `Kept.part` and `result_of`.
    """

    #: what the header of a file calls it
    _kind: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_kind" in vars(cls):
            _KINDS[cls._kind] = cls

    def _kept(self) -> Kept:
        """The content of a file."""
        raise NotImplementedError

    @classmethod
    def _of_kept(cls, kept: Kept) -> Self:
        """From the content of a file."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save to a file, from which `load` makes an equal object.

        Parameters
        ----------
        path : str or path-like
            File to write, by convention with the suffix ``.tie``. It appears only once
            it is complete; one that was there is replaced.

        Raises
        ------
        ValueError
            If something cannot be saved as plain data, such as a measure whose gain is
            a function: it is named.
        OSError
            If the file cannot be written. What stood there stays.

        Notes
        -----
        The file is a zip archive of NumPy arrays with a header in JSON, which
        ``numpy.load(path, allow_pickle=False)`` opens, too; its layout is in the guide.
        The same object makes the same bytes.

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
        data = self.to_bytes()
        with whole_file(file, binary=True) as out:
            out.write(data)

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
            An object of this class, or of a subclass if the file holds one, equal to
            the one that was saved, to the last bit.

        Raises
        ------
        ValueError
            If the file was not written by `save`, is damaged or cut off, has a newer
            version of the format, or holds an object of another class.
        OSError
            If the file cannot be read.
        """
        return cls._read(Path(path).read_bytes(), f"{os.fspath(path)}")

    def to_bytes(self) -> bytes:
        """Return what `save` writes, to be sent or stored in any way.

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
        return to_bytes(self._kind, self._kept())

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
            kind, kept = from_bytes(data)
            return cls._of_kind(kind)._of_kept(kept)
        except UnreadableError as error:
            raise ValueError(f"{name} {error}") from None
        # what our own checks refuse, such as a measure of a class that is not defined
        except ValueError as error:
            raise ValueError(f"{name} cannot be read: {error}") from None
        # of content that no object of ours has
        except Exception as error:
            raise ValueError(
                f"{name} is damaged, or was not written by save "
                f"({type(error).__name__}: {error})"
            ) from None

    @classmethod
    def _of_kind(cls, kind: str) -> type[Self]:
        """The class of which a file holds an object: this one, or one below it."""
        found = _KINDS.get(kind)
        if found is not None and issubclass(found, cls):
            of: type[Self] = found
            return of
        # a class of the user's own, derived from one of ours
        if getattr(cls, "_kind", None) == kind:
            return cls
        got = f"{kind!r}, which this library does not know"
        if found is not None:
            got = f"a {found.__name__}: use {found.__name__}.load"
        raise UnreadableError(f"must hold a {cls.__name__}, got {got}")


def kept_of(saved: Saved) -> Kept:
    """What a file of it holds, to be a part of another file."""
    return saved._kept()


def result_of(cls: type[_Saved], kept: Kept) -> _Saved:
    """From what a file holds, or a part of one."""
    return cls._of_kept(kept)


def kept_sums(sums: AddedUp) -> Kept:
    """The arrays of sums, by the names of their fields."""
    kept = Kept({}, {})
    for field in fields(sums):  # type: ignore[arg-type]
        value = getattr(sums, field.name)
        if isinstance(value, AddedUp):
            kept = kept.with_part(field.name, kept_sums(value))
        elif isinstance(value, np.ndarray):
            kept.arrays[field.name] = value
    return kept


def sums_of(cls: type[_Sums], kept: Kept, *shape: int) -> _Sums:
    """Sums of which every field is an array of floats of this shape, or such sums."""
    types = get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in fields(cls):  # type: ignore[arg-type]
        of = types[field.name]
        if isinstance(of, type) and issubclass(of, AddedUp):
            values[field.name] = sums_of(of, kept.part(field.name), *shape)
        else:
            values[field.name] = kept.array(field.name, "f", *shape)
    return cls(**values)
