"""Search for files by path, folder, pattern or URL, and formats of file names."""

import atexit
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from .. import _optional
from . import _wording

PathLike = str | os.PathLike[str]
Paths = PathLike | Sequence[PathLike]
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz")
#: Suffixes of the files that contain the sizes of the queries of another file.
GROUP_SUFFIXES = (".query", ".group")
#: Formats of files with features, and the suffixes from which formats are inferred.
FORMATS = ("letor", "csv", "tsv", "parquet")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"(\d+)")
#: Pattern of URLs of fsspec, such as s3://bucket/file and
#: simplecache::https://host/file.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def format_of_name(path: Path) -> str | None:
    """Infer the format of a table from its name, without a suffix of compression."""
    name = path.name.lower()
    for suffix in COMPRESSED_SUFFIXES:
        name = name.removesuffix(suffix)
    return _ENDINGS.get(PurePath(name).suffix)


def size_on_disk(paths: Sequence[Path]) -> int:
    """Return the total size of the files in bytes. The size of a pipe counts as 0."""
    return sum(path.stat().st_size for path in paths if path.is_file())


class Files(NamedTuple):
    """The files to read, in their order, and the reasons for omitting other files."""

    paths: list[Path]
    left_out: dict[str, str]


def find_files(path: Paths, name: str = "path", format: str | None = None) -> Files:
    """Return the files of paths, folders and patterns, in the order of reading.

    A folder stands for all files in the folder and its subfolders. A pattern (``*``,
    ``?``, ``[...]``; ``**`` for folders of any depth) stands for the files that match.
    Files are sorted by name, folder by folder, with digits as numbers: ``part-2``
    before ``part-10``.

    In folders and patterns, names that begin with ``_`` or ``.`` are skipped, as by
    pyarrow.dataset. Checksums (``.crc``) and sizes of queries (``.query``, ``.group``)
    are also skipped. If some of the other files are tables, only tables are read. With
    a `format`, only files of this format are read. If no file is of this format, the
    files whose names imply no format are read, or else all files.

    Raises
    ------
    ValueError
        If there is no path or an empty path, if a folder contains no file, if no file
        matches a pattern, or if a file is found twice.
    """
    items = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if not items or "" in items:
        raise ValueError(f"{name} must name files, got {path!r}")
    paths: dict[object, Path] = {}
    left_out: dict[str, str] = {}
    for item in items:
        files = _files_of(os.fspath(item), format, left_out)
        if not files:
            raise ValueError(f"{name}: there is no file to read in {item}")
        for file in files:
            key = which_file(file)
            if key in paths:
                raise ValueError(
                    f"{name} must name each file once, because rows must not count "
                    f"twice, got {paths[key]} and {file}, which are the same file"
                )
            paths[key] = file
    return Files(list(paths.values()), left_out)


def which_file(file: PathLike) -> object:
    """Return a key that is equal for all names of a file."""
    try:
        state = os.stat(file)
    except OSError:
        return os.path.abspath(file)  # The reader raises if the file is missing.
    return state.st_dev, state.st_ino


def _files_of(name: str, format: str | None, left_out: dict[str, str]) -> list[Path]:
    """Return the files of a path, folder, pattern or URL, sorted."""
    if _URL.match(name):
        name = _downloaded(name)
    # The name of an existing file may contain the characters of a pattern.
    wildcard = _PATTERN.search(name)
    if os.path.isdir(name):
        folder, pattern = name, "**"
    elif wildcard and not os.path.exists(name):
        folder = os.path.dirname(name[: wildcard.start()])
        pattern = str(PurePath(name).relative_to(folder))
    else:
        return [Path(name)]
    formats: dict[Path, str | None] = {}
    names = glob.glob(pattern, root_dir=folder or None, recursive=True)
    for relative in sorted(names, key=_natural_order):
        file = Path(folder, relative)
        is_hidden = any(part.startswith(("_", ".")) for part in Path(relative).parts)
        is_aside = file.is_dir() or file.name.endswith((".crc", *GROUP_SUFFIXES))
        if not is_hidden and not is_aside:
            formats[file] = format_of_name(file)
    wanted = [format] if format else FORMATS
    chosen = [file for file in formats if formats[file] in wanted]
    if not chosen:
        chosen = [file for file in formats if formats[file] is None] or list(formats)
    for file in formats.keys() - chosen:
        told = formats[file] or "no table"
        left_out[str(file)] = f"{told} by its name"
    return chosen


def _downloaded(url: str) -> str:
    """Copy the files of a URL into a new folder, and return the path of the folder.

    The folder is deleted when the process ends.
    """
    purpose = f"reading {url}"
    core = _optional.import_optional("fsspec.core", extra="urls", purpose=purpose)
    folder = tempfile.mkdtemp(prefix="tieaware-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # The text after ? or # is not part of the name.
    name = PurePosixPath(re.split(r"[?#]", url)[0]).name
    try:
        filesystem, path = core.url_to_fs(url)
        # A name with a suffix and without * is a file. Other names are folders or
        # patterns.
        if PurePath(name).suffix and "*" not in name:
            filesystem.get_file(path, os.path.join(folder, name))
        else:
            filesystem.get(path, f"{folder}/", recursive=True)
    except (ImportError, OSError):
        raise
    # Drivers of fsspec raise errors of any type.
    except Exception as error:
        message = _wording.in_one_line(error)
        raise OSError(f"{url} cannot be read: {message}") from error
    return folder


def _natural_order(name: str) -> list[str | int]:
    """Return a key that sorts names folder by folder, with 2 before 10."""
    # The pieces are alternately texts and numbers.
    pieces = _DIGITS.split("\0".join(PurePath(name).parts))
    return [int(piece) if piece.isdecimal() else piece for piece in pieces]
