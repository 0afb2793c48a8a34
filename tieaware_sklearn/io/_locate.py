"""Where files are: those named, of folders and patterns, URLs; what names say."""

from __future__ import annotations

import errno
import glob
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote

from .._optional import import_optional
from ._wording import in_one_line

PathLike = str | os.PathLike[str]
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
#: after the name of a file: where the sizes of its queries are
GROUP_SUFFIXES = (".query", ".group")
_PARQUET = (".parquet", ".pq")
_TEXT = {".csv": ",", ".tsv": "\t"}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
#: what stands for a missing value in the name of a folder
_MISSING = "__HIVE_DEFAULT_PARTITION__"
_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"(\d+)")
#: URLs of files of this machine, and what only makes a copy of the next in a chain
_LOCAL = re.compile(r"(file|local):(//)?(?!.*::)")
_COPIES = re.compile(r"^((simple|file|block)cache::)+")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def is_url(name: str | os.PathLike[str]) -> bool:
    """Whether a name is a URL, or a chain of them as fsspec has it."""
    return isinstance(name, str) and _URL.match(name) is not None


class Url:
    """A file by its URL, with those methods of `pathlib.Path` that readers need.

    Parameters
    ----------
    url : str
        As fsspec takes it, such as ``s3://...`` or ``simplecache::https://...``.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # what follows ? is no part of the name
        self._path = PurePosixPath(re.split(r"[?#]", url.rpartition("::")[2])[0])

    def __str__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"Url({self._url!r})"

    @property
    def suffix(self) -> str:
        return self._path.suffix

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def parents(self) -> list[PurePosixPath]:
        """The folders above, innermost first."""
        return list(self._path.parents)

    def with_suffix(self, suffix: str) -> PurePosixPath:
        """The path with another suffix, only to look at."""
        return self._path.with_suffix(suffix)

    def with_name(self, name: str) -> Url:
        """Another file of the same folder."""
        return Url(self._url.removesuffix(self.name) + name)

    def exists(self) -> bool:
        return self.is_file()

    def is_file(self) -> bool:
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return bool(filesystem.isfile(path))

    def size(self) -> int:
        """Bytes of the file; 0 where the server does not say."""
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return int(filesystem.size(path) or 0)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The bytes; every error of a driver names the URL."""
        with as_errors_of(self._url):
            filesystem, path = connect(self._url)
            return io.BufferedReader(_Remote(filesystem.open(path, mode), self._url))


def connect(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there."""
    core = import_optional("fsspec.core", extra="urls", purpose=f"reading {url}")
    filesystem, path = core.url_to_fs(url)
    return filesystem, path


class _Remote(io.RawIOBase):
    """A file of fsspec whose errors name the URL."""

    def __init__(self, file: Any, url: str) -> None:
        self._file, self._url = file, url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return int(self._file.seek(offset, whence))
        except (ValueError, io.UnsupportedOperation) as error:
            raise OSError(
                errno.ESPIPE,
                "the server gives the file only as a whole: simplecache:: before the "
                "URL copies it to a temporary file",
                self._url,
            ) from error

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: Any) -> int:
        with as_errors_of(self._url):
            block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def as_errors_of(url: str) -> Iterator[None]:
    """Errors of drivers, which are of many kinds, as an OSError that names the URL."""
    try:
        yield
    except FileNotFoundError as error:
        # drivers say so of a server that does not answer, too
        why = error.__cause__
        is_absent = isinstance(why, (FileNotFoundError, KeyError))
        if isinstance(why, Exception) and not (
            is_absent or getattr(why, "status", None) == 404
        ):
            raise _unread(url, why) from error
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from error
    except (ImportError, MemoryError):
        raise
    except OSError as error:
        if error.filename == url:
            raise
        raise _unread(url, error) from error
    except Exception as error:
        raise _unread(url, error) from error


def _unread(url: str, error: Exception) -> OSError:
    why = in_one_line(error) or type(error).__name__
    return OSError(errno.EIO, f"cannot be read: {why}", url)


#: a file that is read
Location = Path | Url


def is_tabular(path: Location) -> bool:
    """Whether the name is that of a CSV, TSV or Parquet file."""
    return _kind(path) in (*_PARQUET, *_TEXT)


def all_tabular(paths: Sequence[Location]) -> bool:
    """Whether the files are tables; LETOR text does not go with them."""
    tabular = [is_tabular(path) for path in paths]
    if any(tabular) and not all(tabular):
        raise ValueError("all files must be of one kind: LETOR text, or CSV or Parquet")
    return all(tabular)


def separator_of(path: Location) -> str | None:
    """What parts the cells of text; None of Parquet."""
    return _TEXT.get(_kind(path))


def _kind(path: Location) -> str:
    """The suffix of the name, that of a compression left out."""
    plain: Any = path
    if path.suffix.lower() in COMPRESSED_SUFFIXES:
        plain = path.with_suffix("")
    return str(plain.suffix).lower()


def size_on_disk(paths: Sequence[Location]) -> int:
    """Bytes of the files; pipes, and what a server does not tell, count as nothing."""
    sizes = (
        path.size() if isinstance(path, Url) else path.stat().st_size
        for path in paths
        if path.is_file()
    )
    return sum(sizes)


def find_files(
    path: PathLike | Sequence[PathLike], name: str = "path"
) -> list[Location]:
    """The files that are meant, in the order in which they are read.

    A folder stands for all files in it and in its folders, a pattern (``*``, ``?``,
    ``[...]``; ``**`` for folders of any depth) for those that match. They are sorted
    by name, folder by folder, digits as numbers: ``part-2`` before ``part-10``.

    Left out are names that begin with ``_`` or ``.``, as by pyarrow.dataset, and
    checksums (``.crc``) and saved results (``.tie``). If there are tables among the
    others, only these are read.

    Raises
    ------
    ValueError
        If there is no path or an empty one, no file in a folder, or none that matches;
        if a file is found twice, be it by another name or through a link.
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not given:
        raise ValueError(f"{name} must name at least one file, got none")
    found = [(one, file) for one in given for file in _files_of(one, name)]
    _check_twice(found, name)
    return [file for _, file in found]


def _check_twice(found: Sequence[tuple[PathLike, Location]], name: str) -> None:
    """Rows that are read twice would count twice."""
    if len(found) == 1:
        return
    seen: dict[object, str] = {}
    for given, file in found:
        spelled = os.fspath(given)
        if Path(spelled) != file and spelled != str(file):
            spelled = f"{file} (of {spelled})"
        which = which_file(file)
        if which in seen:
            raise ValueError(
                f"{name} must name each file once, or its rows would count twice: "
                f"{seen[which]} and {spelled} are the same file"
            )
        seen[which] = spelled


def which_file(file: Location) -> object:
    """What is the same for all names of a file; other URLs are known by their text."""
    if isinstance(file, Url):
        if not _LOCAL.match(url := _COPIES.sub("", str(file))):
            return str(file)
        with as_errors_of(url):
            path = connect(url)[1]
    else:
        path = str(file)
    try:
        state = os.stat(path)
    except OSError:
        return os.path.realpath(path)  # not there: its reader says so
    # some file systems have no numbers for files
    return (state.st_dev, state.st_ino) if state.st_ino else os.path.realpath(path)


def _files_of(given: PathLike, name: str) -> Sequence[Location]:
    if not os.fspath(given):
        raise ValueError(f"{name} must not be empty, got an empty name")
    if is_url(given):
        return _urls_of(str(given), name)
    path = Path(given)
    if path.is_dir():
        return _chosen(_inside(path), path, name)
    if _PATTERN.search(str(path)) and not path.exists():
        matching = map(Path, glob.iglob(str(given), recursive=True))
        files = (match for match in matching if match.is_file())
        return _chosen(files, Path(_before_pattern(str(given))), name, str(given))
    return [path]


def _inside(root: Path) -> Iterator[Path]:
    """All files of a folder and of its folders, links followed.

    Raises
    ------
    OSError
        If a folder cannot be listed.
    """

    def fail(error: OSError) -> None:
        raise error

    seen = set()
    for folder, folders, files in os.walk(root, onerror=fail, followlinks=True):
        place = os.path.realpath(folder)
        if place in seen:  # by a link
            folders.clear()
            continue
        seen.add(place)
        folders.sort()
        # a pipe or a socket would wait for ever
        inside = (Path(folder, file) for file in files)
        yield from (file for file in inside if file.is_file() or not file.exists())


def _urls_of(url: str, name: str) -> Sequence[Location]:
    # a ? begins the query of a URL; the links of a chain are not taken apart
    is_pattern = "*" in url
    if "::" in url or not (is_pattern or url.endswith("/")):
        if "::" in url or Path(Url(url).name).suffix:
            return [Url(url)]
        with as_errors_of(url):
            filesystem, path = connect(url)
            if not filesystem.isdir(path):
                return [Url(url)]
    with as_errors_of(url):
        filesystem, path = connect(url)
        found = filesystem.glob(path) if is_pattern else filesystem.find(path)
        files = [
            Url(filesystem.unstrip_protocol(file))
            for file in found
            if not is_pattern or filesystem.isfile(file)
        ]
    root = _before_pattern(url) if is_pattern else url
    return _chosen(files, Url(root), name, url if is_pattern else None)


def _before_pattern(pattern: str) -> str:
    """The folder in which a pattern begins."""
    plain = _PATTERN.split(pattern)[0]
    return plain[: max(plain.rfind("/"), plain.rfind(os.sep)) + 1]


def _chosen(
    files: Iterable[Location], root: Location, name: str, pattern: str | None = None
) -> list[Location]:
    """Those that are read, in their order."""
    n_root = len(root.parents) + bool(root.name)
    seen = list(files)
    kept = [file for file in seen if not _is_left_out(_parts(file)[n_root:])]
    if any(map(is_tabular, kept)):
        kept = [file for file in kept if is_tabular(file)]
    if not kept:
        where = f"the folder {root}" if pattern is None else f"of the pattern {pattern}"
        where = f"in {where}" if pattern is None else where
        others = f" ({len(seen)} left out: {seen[0]}...)" if seen else ""
        raise ValueError(f"{name}: there is no file to read {where}{others}")
    return sorted(kept, key=_natural)


def _parts(file: Location) -> list[str]:
    return [*(folder.name for folder in reversed(list(file.parents))), file.name]


def _is_left_out(parts: Sequence[str]) -> bool:
    return any(part.startswith(("_", ".")) for part in parts) or parts[-1].endswith(
        (".crc", ".tie", *GROUP_SUFFIXES)
    )


def _natural(file: Location) -> list[list[tuple[int, int, str]]]:
    """A key by which files of a folder stand together and 2 comes before 10."""
    return [
        [
            (0, int(piece), piece) if piece.isdecimal() else (1, 0, piece)
            for piece in _DIGITS.split(part)
            if piece
        ]
        for part in _parts(file)
    ]


def columns_of_folders(file: Location) -> dict[str, str]:
    """The columns that the names of its folders hold: ``day=3/hour=7/part.parquet``.

    Folders count from the file upward, as far as they are so named.
    """
    found: dict[str, str] = {}
    for folder in file.parents:
        column, is_one, value = folder.name.partition("=")
        if not (column and is_one):
            break
        found.setdefault(unquote(column), unquote(value))
    return dict(reversed(found.items()))


def type_of_values(values: Iterable[str]) -> type[int] | type[float] | type[str]:
    """One type for the values of a column in all folders: numbers, if all are some."""
    given = {value for value in values if value != _MISSING}
    if given and all(map(_WHOLE.fullmatch, given)):
        return int
    try:
        for value in given:
            float(value)
    except ValueError:
        return str
    return float if given else str


def value_of_folder(value: str, kind: Any) -> Any:
    """The value; None where it is missing."""
    return None if value == _MISSING else kind(value)
