"""Files that appear only once they are complete."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

#: why a file that may be written to cannot be replaced: others own it or its folder,
#: or it is mounted
_MUST_STAY = (errno.EACCES, errno.EPERM, errno.EBUSY)
#: what ends a process at once, unless it listens
_ENDINGS = ("SIGTERM", "SIGHUP")


def check_writable(path: str, option: str) -> None:
    """Raise before the work is done, not after, if a file cannot be written."""
    if not path:
        raise ValueError(f"{option} must name a file, got an empty name")
    if "\0" in path:
        raise ValueError(f"{option} must name a file, got {path!r} with a NUL")
    place = Path(path)
    try:
        if stat.S_ISDIR(place.stat().st_mode):
            raise ValueError(f"{option} must name a file, got the folder {path}")
    except FileNotFoundError:
        if not _target(place).parent.is_dir():
            raise ValueError(f"{option}: there is no folder for {path}") from None
    except OSError:
        pass  # found, and named, again below
    try:
        old = _replaceable(place)
        if old is None or stat.S_ISREG(old.st_mode):
            # a trial: permissions do not tell all
            with _growing(_target(place), old) as unfinished:
                _create(unfinished, old).close()
    except OSError as error:
        raise ValueError(f"{option}: {path}: {error.strerror}") from None


def number_as_text(value: float) -> str:
    """The shortest text that reads back as the same number."""
    text = repr(int(value) if isinstance(value, bool) else value)
    return text.removesuffix(".0")


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a text file that appears only once it is complete.

    Gzipped if its name ends in ``.gz``.
    """
    with whole_file(path) as file:
        file.writelines(lines)


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[Any]:
    """A file to write to, which appears only once it is complete.

    Until then, and for good if an error or a signal comes between, what stood at
    `path` stays as it is. A link stays a link; owner and mode stay. What is not a
    plain file, such as a pipe or a device, is written to as it is; a file that may be
    written to but not replaced gets the new content at the end.

    Raises
    ------
    OSError
        If the file cannot be written; it names `path`.
    """
    try:
        old = _replaceable(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with path.open("wb") as there, _layers(there, binary=binary) as file:
                yield file
            return
        zipped = path.name if path.suffix == ".gz" else ""
        with _growing(_target(path), old) as unfinished:
            with (
                _create(unfinished, old) as raw,
                _layers(raw, binary=binary, zipped=zipped) as file,
            ):
                yield file
            _put_in_place(unfinished, _target(path), old)
    except OSError as error:
        # not the file beside it, or none
        error.filename = str(path)
        raise


def _target(path: Path) -> Path:
    """Where links lead."""
    return Path(os.path.realpath(path))


def _replaceable(path: Path) -> os.stat_result | None:
    """The state of what stands at `path`, which may be written to; None of nothing.

    Raises
    ------
    OSError
        If it may not be written to, or nobody can say, as of a link to itself.
    """
    try:
        old = path.stat()
    except FileNotFoundError:
        return None
    # the superuser could, but the mode says that nobody is to
    if not old.st_mode & 0o222 or not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", str(path))
    if stat.S_ISREG(old.st_mode):
        os.close(os.open(path, os.O_WRONLY))
    return old


@contextmanager
def _growing(target: Path, old: os.stat_result | None) -> Iterator[Path]:
    """Where the new file may grow, to be gone in the end, whatever happens.

    Beside the old one, if its folder takes any. Its name is short, however long that
    of the target is.
    """
    folder = target.parent
    if old is not None and not os.access(folder, os.W_OK | os.X_OK):
        folder = Path(tempfile.gettempdir())
    unfinished = folder / f".tieaware-{secrets.token_hex(8)}.part"
    with endings_as_errors():
        try:
            yield unfinished
        finally:
            unfinished.unlink(missing_ok=True)


def _create(path: Path, old: os.stat_result | None) -> IO[bytes]:
    """A file that was not there, as private as the one that it is to replace."""
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


@contextmanager
def _layers(raw: IO[bytes], *, binary: bool, zipped: str = "") -> Iterator[Any]:
    """What takes text or bytes, and hands bytes on to a file."""
    with ExitStack() as stack:
        file: Any = raw
        if zipped:
            file = stack.enter_context(gzip.GzipFile(zipped, "wb", fileobj=raw))
        if not binary:
            # names of files may hold what UTF-8 has not
            file = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="\n")
            stack.enter_context(file)
        yield file


def _put_in_place(unfinished: Path, target: Path, old: os.stat_result | None) -> None:
    """Let the new file take the place of the old one, or its content if that stays."""
    try:
        if old is None or unfinished.parent == target.parent:
            if old is not None:
                _keep_owner_and_mode(unfinished, old)
            unfinished.replace(target)
            return
    except OSError as error:
        if old is None or error.errno not in _MUST_STAY:
            raise
    # opened as it is: there is no going back once it is cut
    kept = os.open(target, os.O_WRONLY)
    with unfinished.open("rb") as new, os.fdopen(kept, "wb") as file:
        shutil.copyfileobj(new, file)
        file.truncate()


def _keep_owner_and_mode(path: Path, old: os.stat_result) -> None:
    new = path.stat()
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.chown(path, old.st_uid, old.st_gid)
    path.chmod(stat.S_IMODE(old.st_mode))


class _EndedError(BaseException):
    """A signal asks the process to end: its number."""


@contextmanager
def endings_as_errors() -> Iterator[None]:
    """Signals that would end the process at once let the block clean up before.

    Those that the program listens to, or ignores, are its own matter.
    """
    ours: list[int] = []
    if threading.current_thread() is threading.main_thread():
        known = [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]
        ours = [one for one in known if signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, _: object) -> None:
        raise _EndedError(number)

    try:
        for one in ours:
            signal.signal(one, end)
        yield
    except _EndedError as ended:
        (number,) = ended.args
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)
