"""Where files are: those named, of folders and patterns, URLs; what names say."""

from __future__ import annotations

import errno
import glob
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

from .. import _optional
from .._engine import messages
from . import _wording

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
#: after the name of a file: where the sizes of its queries are
GROUP_SUFFIXES = (".query", ".group")
#: formats of files of features, and the names that tell them
FORMATS = ("letor", "csv", "tsv", "parquet")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
#: why a file beside tables is not read
NO_TABLE = "no table by its name"
#: what stands for a missing value in the name of a folder
MISSING = "__HIVE_DEFAULT_PARTITION__"
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
        path = PurePosixPath(re.split(r"[?#]", url.rpartition("::")[2])[0])
        self.name, self.suffix = path.name, path.suffix
        #: the folders above, innermost first
        self.parents = path.parents

    def __str__(self) -> str:
        return self._url

    def with_name(self, name: str) -> Url:
        """Another file of the same folder."""
        return Url(self._url.removesuffix(self.name) + name)

    def is_file(self) -> bool:
        with connected(self._url) as (filesystem, path):
            return bool(filesystem.isfile(path))

    def size(self) -> int:
        """Bytes of the file; 0 where the server does not say."""
        with connected(self._url) as (filesystem, path):
            return int(filesystem.size(path) or 0)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The bytes; every error of a driver names the URL."""
        with connected(self._url) as (filesystem, path):
            return io.BufferedReader(_Remote(filesystem.open(path, mode), self._url))


@contextmanager
def connected(url: str) -> Iterator[tuple[Any, str]]:
    """The file system of a URL, and the path there."""
    purpose = f"reading {url}"
    core = _optional.import_optional("fsspec.core", extra="urls", purpose=purpose)
    with as_errors_of(url):
        yield core.url_to_fs(url)


class Wrapped(io.RawIOBase):
    """A file that is read through another one, and closed with it."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def block(self, size: int) -> bytes:
        """The next bytes, so many at most; none at the end."""
        return bytes(self._file.read(size))

    def readinto(self, buffer: Any) -> int:
        block = self.block(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Remote(Wrapped):
    """A file of fsspec whose errors name the URL."""

    def __init__(self, file: Any, url: str) -> None:
        super().__init__(file)
        self._url = url

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

    def block(self, size: int) -> bytes:
        with as_errors_of(self._url):
            return super().block(size)


@contextmanager
def as_errors_of(url: str) -> Iterator[None]:
    """Errors of drivers, which are of many kinds, as an OSError that names the URL."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename == url:
            raise
        why: BaseException = error
        if isinstance(error, FileNotFoundError):
            # drivers say so of a server that does not answer, too
            why = error.__cause__ or error
            is_absent = isinstance(why, (FileNotFoundError, KeyError))
            if is_absent or getattr(why, "status", None) == 404:
                absent = os.strerror(errno.ENOENT)
                raise FileNotFoundError(errno.ENOENT, absent, url) from error
        said = _wording.in_one_line(why) or type(why).__name__
        raise OSError(errno.EIO, f"cannot be read: {said}", url) from error


#: a file that is read
Location = Path | Url


def format_of_name(path: Location) -> str | None:
    """The format that the name of a table tells, that of a compression left out."""
    suffixes = [suffix.lower() for suffix in PurePath(path.name).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED_SUFFIXES:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def size_on_disk(paths: Sequence[Location]) -> int:
    """Bytes of the files; pipes, and what a server does not tell, count as nothing."""
    files = [path for path in paths if path.is_file()]
    return sum(
        one.size() if isinstance(one, Url) else one.stat().st_size for one in files
    )


class Files(NamedTuple):
    """The files to read, in their order, and why others of their folders are not."""

    paths: list[Location]
    left_out: dict[str, str]


def find_files(path: Paths, name: str = "path", format: str | None = None) -> Files:
    """The files that are meant, in the order in which they are read.

    A folder stands for all files in it and in its folders, a pattern (``*``, ``?``,
    ``[...]``; ``**`` for folders of any depth) for those that match. They are sorted
    by name, folder by folder, digits as numbers: ``part-2`` before ``part-10``.

    Left out are names that begin with ``_`` or ``.``, as by pyarrow.dataset, and
    checksums (``.crc``). If there are tables among the others, only these are read;
    with a `format`, only files of it and, if there are none, those whose names tell no
    format.

    Raises
    ------
    ValueError
        If there is no path or an empty one, no file in a folder, or none that matches;
        if a file is found twice, be it by another name or through a link.
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    messages.require(given, f"{name} must name at least one file, got none")
    left_out: dict[str, str] = {}
    files = [
        (one, file) for one in given for file in _files_of(one, name, format, left_out)
    ]
    _check_twice(files, name)
    return Files([file for _, file in files], left_out)


def _check_twice(files: Sequence[tuple[PathLike, Location]], name: str) -> None:
    """Rows that are read twice would count twice."""
    seen: dict[object, str] = {}
    for given, file in files:
        spelled = os.fspath(given)
        if Path(spelled) != file and spelled != str(file):
            spelled = f"{file} (of {spelled})"
        which = which_file(file)
        rule = f"{name} must name each file once, or its rows would count twice"
        same = f"{seen.get(which)} and {spelled} are the same file"
        messages.require(which not in seen, f"{rule}: {same}")
        seen[which] = spelled


def which_file(file: Location) -> object:
    """A key that is equal for all names of one file; other URLs have their text."""
    if isinstance(file, Url):
        if not _LOCAL.match(url := _COPIES.sub("", str(file))):
            return str(file)
        with connected(url) as (_, path):
            pass
    else:
        path = str(file)
    try:
        state = os.stat(path)
    except OSError:
        return os.path.realpath(path)  # not there: its reader says so
    # some file systems have no numbers for files
    return (state.st_dev, state.st_ino) if state.st_ino else os.path.realpath(path)


def _files_of(
    given: PathLike, name: str, format: str | None, left_out: dict[str, str]
) -> Sequence[Location]:
    spelled = os.fspath(given)
    messages.require(spelled, f"{name} must not be empty, got an empty name")
    path = Path(given)
    files: Iterable[Location]
    if is_url(given):
        if (of_folder := _urls_of(spelled)) is None:
            return [Url(spelled)]
        files, root = of_folder
    elif path.is_dir():
        files, root = _inside(path), spelled
    elif _PATTERN.search(spelled) and not path.exists():
        matching = map(Path, glob.iglob(spelled, recursive=True))
        files = (match for match in matching if match.is_file())
        root = _before_pattern(spelled)
    else:
        return [path]
    seen = list(files)
    chosen = _of_one_kind(_visible(seen, root, left_out), format, left_out)
    of = f" ({len(seen)} left out: {seen[0]}...)" if seen else ""
    messages.require(chosen, f"{name}: there is no file to read in {spelled}{of}")
    return chosen


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


def _urls_of(url: str) -> tuple[list[Location], str] | None:
    """The files of a folder or pattern, and its root; None of a single file."""
    # a ? begins the query of a URL; the links of a chain are not taken apart
    is_pattern, is_one = "*" in url, Path(Url(url).name).suffix
    if "::" in url or (is_one and not (is_pattern or url.endswith("/"))):
        return None
    with connected(url) as (filesystem, path):
        if is_pattern:
            paths = [file for file in filesystem.glob(path) if filesystem.isfile(file)]
        elif url.endswith("/") or filesystem.isdir(path):
            paths = filesystem.find(path)
        else:
            return None
        files: list[Location] = [Url(filesystem.unstrip_protocol(f)) for f in paths]
    return files, _before_pattern(url) if is_pattern else url


def _before_pattern(pattern: str) -> str:
    """The folder in which a pattern begins."""
    plain = _PATTERN.split(pattern)[0]
    return plain[: max(plain.rfind("/"), plain.rfind(os.sep)) + 1]


def _visible(
    files: Iterable[Location], root: str, left_out: dict[str, str]
) -> list[Location]:
    """Files that may be read, in order: folder by folder, and 2 before 10."""
    n_root = len(PurePath(root).parts)
    keys: dict[Location, list[Any]] = {}
    for file in files:
        parts = PurePath(str(file)).parts[n_root:]
        if any(part.startswith(("_", ".")) for part in parts):
            if format_of_name(file):
                left_out[str(file)] = "a name that begins with _ or ."
        elif not file.name.endswith((".crc", *GROUP_SUFFIXES)):
            keys[file] = [*map(_natural, parts)]
    return sorted(keys, key=keys.__getitem__)


def _of_one_kind(
    files: list[Location], format: str | None, left_out: dict[str, str]
) -> list[Location]:
    """Files whose names tell the format, or any format of tables; else the others."""
    formats = {file: format_of_name(file) for file in files}
    chosen = [f for f, named in formats.items() if named and format in (named, None)]
    if not chosen and format:
        chosen = [file for file, named in formats.items() if named is None]
    chosen = chosen or files
    # a set, since there may be many files
    is_chosen = set(chosen)
    for file, named in formats.items():
        if file not in is_chosen:
            left_out[str(file)] = f"{named} by its name" if named else NO_TABLE
    return chosen


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key by which 2 comes before 10."""
    pieces = filter(None, _DIGITS.split(name))
    return [(0, int(one), one) if one.isdecimal() else (1, 0, one) for one in pieces]


def columns_of_folders(file: Location) -> dict[str, str]:
    """The columns that the names of its folders hold: ``day=3/hour=7/part.parquet``.

    Folders count from the file upward, as far as they are so named.
    """
    columns: dict[str, str] = {}
    for folder in file.parents:
        column, is_one, value = folder.name.partition("=")
        if not (column and is_one):
            break
        columns.setdefault(unquote(column), unquote(value))
    return dict(reversed(columns.items()))


def type_of_values(values: Iterable[str]) -> type[int] | type[float] | type[str]:
    """One type for the values of a column in all folders: numbers, if all are some."""
    given = set(values) - {MISSING}
    if given and all(map(_WHOLE.fullmatch, given)):
        return int
    try:
        floats = set(map(float, given))
    except ValueError:
        return str
    # of two numbers, floats must not make one
    return float if given and len(floats) == len(set(map(Decimal, given))) else str
