"""Write files that appear only once they are complete."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any


def check_writable(path: str, option: str) -> None:
    """Raise, before any work is done, if a file cannot be written."""
    if not path or "\0" in path:
        raise ValueError(f"{option} must name a file, got {path!r}")
    try:
        _target(Path(path))
    except OSError as error:
        raise ValueError(f"{option}: {path}: {error.strerror}") from None


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a text file that appears only once it is complete.

    Gzipped if its name ends in ``.gz``.
    """
    with whole_file(path) as file:
        file.writelines(lines)


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[Any]:
    """Open a file for writing that appears only once it is complete.

    It grows beside `path`, where the old file stays as it is until then, and for good
    if an error comes between. A link stays a link, and the mode stays. What is not a
    plain file, such as a pipe or a device, is written to as it is.

    Raises
    ------
    OSError
        If the file cannot be written; it names `path`.
    """
    try:
        target, mode = _target(path)
        part = target.with_name(f".tieaware-{secrets.token_hex(8)}.part")
        with ExitStack() as stack:
            plain = mode is None or stat.S_ISREG(mode)
            if plain:
                allowed = 0o666 if mode is None else stat.S_IMODE(mode)
                flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
                descriptor = os.open(part, flags, allowed)
                stack.callback(part.unlink, missing_ok=True)
            layers = stack.enter_context(ExitStack())
            opened = os.fdopen(descriptor, "wb") if plain else path.open("wb")
            file: Any = layers.enter_context(opened)
            if path.suffix == ".gz" and not binary:
                zipped = gzip.GzipFile(path.name, "wb", fileobj=file)
                file = layers.enter_context(zipped)
            if not binary:
                # file names may hold bytes that are not UTF-8
                file = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="\n")
                layers.enter_context(file)
            yield file
            layers.close()
            if plain:
                if mode is not None:
                    part.chmod(stat.S_IMODE(mode))
                os.replace(part, target)
    except OSError as error:
        # a link leads to the file that is to be replaced
        error.filename = str(path)
        raise


def _target(path: Path) -> tuple[Path, int | None]:
    """Return the file that links lead to, and its mode."""
    target, mode = Path(os.path.realpath(path)), None
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no folder for it") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    # the superuser could write, but the mode forbids it to all
    if mode is not None and not (mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is write-protected")
    plain = mode is None or stat.S_ISREG(mode)
    if plain and not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "its folder takes no new file")
    return target, mode
