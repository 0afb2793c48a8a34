"""Write files that appear only once they are complete."""

import errno
import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import ExitStack
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


def write_whole(path: Path, content: bytes | Iterable[str]) -> None:
    """Write a file that appears only once it is complete.

    It grows beside `path`, where the old file stays as it is until then, and for good
    if an error comes between. A link stays a link, and the mode stays. What is not a
    plain file, such as a pipe or a device, is written to as it is. Text is gzipped if
    the name ends in ``.gz``, bytes are not.

    Raises
    ------
    OSError
        If the file cannot be written; it names `path`.
    """
    try:
        target, mode = _target(path)
        if target is None:
            _fill(path.open("wb"), path, content)
            return
        part = target.with_name(f".tieaware-{secrets.token_hex(8)}.part")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        descriptor = os.open(part, flags, 0o666 if mode is None else mode)
        try:
            _fill(os.fdopen(descriptor, "wb"), path, content)
            if mode is not None:
                part.chmod(mode)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        # a link leads to the file that is to be replaced
        error.filename = str(path)
        raise


def _fill(file: Any, path: Path, content: bytes | Iterable[str]) -> None:
    """Write into a file that is open, and close it."""
    with ExitStack() as layers:
        layers.enter_context(file)
        if isinstance(content, bytes):
            file.write(content)
            return
        if path.suffix == ".gz":
            file = layers.enter_context(gzip.GzipFile(path.name, "wb", fileobj=file))
        # file names may hold bytes that are not UTF-8
        text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="\n")
        layers.enter_context(text).writelines(content)


def _target(path: Path) -> tuple[Path | None, int | None]:
    """Return the plain file that links lead to, or that will be there, and its mode."""
    target, mode = Path(os.path.realpath(path)), None
    try:
        status = path.stat()
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no folder for it") from None
    else:
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        # the superuser could write, but the mode forbids it to all
        if not (mode & 0o222 and os.access(path, os.W_OK)):
            raise PermissionError(errno.EACCES, "the file is write-protected")
        if not stat.S_ISREG(status.st_mode):
            return None, None
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "its folder takes no new file")
    return target, mode
