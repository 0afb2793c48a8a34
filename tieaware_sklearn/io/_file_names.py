"""Which files are read: those named, those of folders, those of patterns, URLs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ._letor_format import GROUP_SUFFIXES
from ._tabular_frames import is_tabular
from ._text_source import Location, PathLike
from ._urls import Url, as_errors_of, connect, is_url

_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"(\d+)")
#: URLs of files of this machine, and what only makes a copy of the next in a chain
_LOCAL = re.compile(r"(file|local):(//)?(?!.*::)")
_COPIES = re.compile(r"^((simple|file|block)cache::)+")


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
        which = _which(file)
        if which in seen:
            raise ValueError(
                f"{name} must name each file once, or its rows would count twice: "
                f"{seen[which]} and {spelled} are the same file"
            )
        seen[which] = spelled


def _which(file: Location) -> object:
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
        yield from (Path(folder, file) for file in files)


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
