"""Where files are: paths, folders, patterns and URLs; columns that folders name."""

from __future__ import annotations

import errno
import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, NamedTuple, NoReturn
from urllib.parse import unquote

from .. import _optional
from . import _wording

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
#: after the name of a file: where the sizes of its queries are
GROUP_SUFFIXES = (".query", ".group")
#: formats of files of features, and the names that tell them
FORMATS = ("letor", "csv", "tsv", "parquet")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
#: why a file beside tables is not read
NO_TABLE = "no table by its name"
#: what stands for a missing value in the name of a folder
MISSING = "__HIVE_DEFAULT_PARTITION__"
_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"(\d+)")
#: before the path of a local file by its URL
_LOCAL = re.compile(r"^((simple|file|block)cache::)*(file|local):(//)?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def is_url(name: PathLike) -> bool:
    """Return whether a name is a URL, or a chain of them as fsspec has it."""
    return isinstance(name, str) and _URL.match(name) is not None


class Url:
    """A file by its URL, with the methods of `pathlib.Path` that readers need.

    Parameters
    ----------
    url : str
        A URL of fsspec, such as ``s3://...`` or ``simplecache::https://...``.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # what follows ? is no part of the name
        path = PurePosixPath(re.split(r"[?#]", url.rpartition("::")[2])[0])
        self.name = path.name
        self.suffix = path.suffix
        self.parents = path.parents

    def __str__(self) -> str:
        return self._url

    def with_name(self, name: str) -> Url:
        """Return another file of the same folder."""
        return Url(self._url.removesuffix(self.name) + name)

    def is_file(self) -> bool:
        with connected(self._url) as (filesystem, path):
            return bool(filesystem.isfile(path))

    def size(self) -> int:
        """Return the bytes of the file; 0 where the server does not tell."""
        with connected(self._url) as (filesystem, path):
            return int(filesystem.size(path) or 0)

    def open(self, mode: str = "rb") -> IO[bytes]:
        with connected(self._url) as (filesystem, path):
            return io.BufferedReader(filesystem.open(path, mode))


@contextmanager
def connected(url: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL, and the path there; errors name the URL."""
    purpose = f"reading {url}"
    core = _optional.import_optional("fsspec.core", extra="urls", purpose=purpose)
    try:
        yield core.url_to_fs(url)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        raise cannot_be_read(url, error) from error


def cannot_be_read(url: object, error: Exception) -> OSError:
    """Return an error that names the URL, for an error of a driver of any kind."""
    kind = FileNotFoundError if isinstance(error, FileNotFoundError) else OSError
    # the cause may be a server that does not answer
    message = _wording.in_one_line(error.__cause__ or error) or type(error).__name__
    return kind(errno.EIO, f"cannot be read: {message}", str(url))


class Wrapped(io.RawIOBase):
    """A file that is read through another one, which may add bytes at the end."""

    def __init__(self, file: Any, end: bytes = b"") -> None:
        self._file, self._end = file, end

    def readable(self) -> bool:
        return True

    def block(self, size: int) -> bytes:
        """Return the next bytes, so many at most, and none at the end."""
        block = bytes(self._file.read(size))
        if not block:
            block, self._end = self._end, b""
        return block

    def readinto(self, buffer: Any) -> int:
        block = self.block(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._file.close()
        super().close()


#: a file that is read
Location = Path | Url


def format_of_name(path: Location) -> str | None:
    """Return the format that the name of a table tells, without its compression."""
    name = path.name.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return _ENDINGS.get(PurePath(name).suffix)


def size_on_disk(paths: Sequence[Location]) -> int:
    """Return the bytes of the files; pipes count as nothing."""
    return sum(
        path.size() if isinstance(path, Url) else path.stat().st_size
        for path in paths
        if path.is_file()
    )


class Files(NamedTuple):
    """The files to read, in their order, and why others of their folders are not."""

    paths: list[Location]
    left_out: dict[str, str]


def find_files(path: Paths, name: str = "path", format: str | None = None) -> Files:
    """Return the files that are meant, in the order in which they are read.

    A folder stands for all files in it and in its folders, a pattern (``*``, ``?``,
    ``[...]``; ``**`` for folders of any depth) for those that match. They are sorted
    by name, folder by folder, digits as numbers: ``part-2`` before ``part-10``.

    Left out are names that begin with ``_`` or ``.``, as by pyarrow.dataset, and
    checksums (``.crc``). If there are tables among the others, only these are read.
    With a `format`, only files of it are read, or, if there are none, those whose names
    tell no format.

    Raises
    ------
    ValueError
        If there is no path or an empty one, no file in a folder, or none that matches,
        and if a file is found twice.
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not given or "" in given:
        raise ValueError(f"{name} must name files, got {path!r}")
    paths: dict[object, Location] = {}
    left_out: dict[str, str] = {}
    for item in given:
        files = _files_of(os.fspath(item), format, left_out)
        if not files:
            raise ValueError(f"{name}: there is no file to read in {item}")
        for file in files:
            key = which_file(file)
            if key in paths:
                raise ValueError(
                    f"{name} must name each file once, or its rows would count twice: "
                    f"{paths[key]} and {file} are the same file"
                )
            paths[key] = file
    return Files(list(paths.values()), left_out)


def which_file(file: Location | str) -> object:
    """Return a key that is equal for all names of a local file."""
    path = _LOCAL.sub("", str(file))
    try:
        state = os.stat(path)
    except OSError:
        return os.path.abspath(path)  # a URL, or a file that is not there
    return state.st_dev, state.st_ino


def _files_of(
    name: str, format: str | None, left_out: dict[str, str]
) -> list[Location]:
    """Return the files of a path, folder, pattern or URL, sorted."""
    files: list[Location]
    if is_url(name):
        files = _urls_of(name)
    elif Path(name).is_dir():
        folders = os.walk(name, onerror=_fail, followlinks=True)
        files = [Path(folder, file) for folder, _, inside in folders for file in inside]
    elif _PATTERN.search(name) and not Path(name).exists():
        files = [*map(Path, glob.iglob(name, recursive=True))]
    else:
        return [Path(name)]
    if [*map(str, files)] == [name]:
        return files
    # a pipe would wait for ever; of a file that is not there, its reader tells
    files = [file for file in files if not is_special(file)]
    root = PurePath(_PATTERN.split(f"{name}/")[0] + "x").parent
    return _chosen(files, len(root.parts), format, left_out)


def is_special(file: Location) -> bool:
    """Return whether a path is there and no file, such as a folder or a pipe."""
    return isinstance(file, Path) and file.exists() and not file.is_file()


def _fail(error: OSError) -> NoReturn:
    """Raise the error of a folder that cannot be listed."""
    raise error


def _urls_of(url: str) -> list[Location]:
    """Return the files of a URL, which may be a folder or a pattern."""
    # the links of a chain are not taken apart
    if "::" in url or (Url(url).suffix and "*" not in url):
        return [Url(url)]
    with connected(url) as (filesystem, path):
        if "*" in url:
            paths = filter(filesystem.isfile, filesystem.glob(path))
        elif filesystem.isdir(path):
            paths = filesystem.find(path)
        else:
            return [Url(url)]
        return [Url(filesystem.unstrip_protocol(path)) for path in paths]


def _chosen(
    files: Sequence[Location], n_root: int, format: str | None, left_out: dict[str, str]
) -> list[Location]:
    """Return the files of a folder to read, in order: 2 before 10.

    They are those of the format, or of any format of tables, or else all.
    """
    keys, formats = {}, {}
    for file in files:
        parts = PurePath(str(file)).parts[n_root:]
        # text and numbers by turns
        pieces = _DIGITS.split("\0".join(parts))
        keys[file] = [int(piece) if piece.isdecimal() else piece for piece in pieces]
        is_hidden = any(part.startswith(("_", ".")) for part in parts)
        if not (is_hidden or file.name.endswith((".crc", *GROUP_SUFFIXES))):
            formats[file] = format_of_name(file)
        elif format_of_name(file):
            left_out[str(file)] = "a name that begins with _ or ."
    wanted = [format] if format else FORMATS
    chosen = (
        [file for file in formats if formats[file] in wanted]
        or [file for file in formats if formats[file] is None]
        or list(formats)
    )
    for file in formats.keys() - chosen:
        left_out[str(file)] = f"{formats[file]} by its name"
        if formats[file] is None:
            left_out[str(file)] = NO_TABLE
    return sorted(chosen, key=keys.__getitem__)


def columns_of_folders(file: Location) -> dict[str, str]:
    """Return the columns in names of folders: ``day=3/hour=7/part.parquet``.

    Folders count from the file upward, as far as they are so named.
    """
    folders = (folder.name.partition("=") for folder in file.parents)
    named = list(takewhile(all, folders))
    return {unquote(column): unquote(value) for column, _, value in reversed(named)}
