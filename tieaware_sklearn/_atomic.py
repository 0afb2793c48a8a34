"""Write files that appear only once they are complete."""

import gzip
import io
import os
import secrets
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any


def check_writable(path: str, option: str) -> None:
    """Raise, before any work is done, if a file cannot be written."""
    target = Path(path)
    if not path or target.is_dir():
        raise ValueError(f"{option} must name a file, got {path!r}")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option}: {path}: the folder does not exist")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise ValueError(f"{option}: {path}: Permission denied")


def write_whole(path: Path, content: bytes | Iterable[str]) -> None:
    """Write a file that appears only once it is complete.

    The content is written to a temporary file beside `path`, which then replaces the
    old file. If an error occurs, the old file stays unchanged. Pipes, devices and other
    special files are written to directly. Text is gzipped if the name ends in ``.gz``,
    bytes are not.

    Raises
    ------
    OSError
        If the file cannot be written. The error names `path`.
    """
    try:
        if path.exists() and not path.is_file():
            _write(path.open("wb"), path, content)
            return
        target = path.resolve()  # a link stays a link
        part = target.with_name(f".tieaware-{secrets.token_hex(8)}.part")
        try:
            file = part.open("xb")
            if target.exists():
                shutil.copymode(target, part)
            _write(file, path, content)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        error.filename = str(path)
        raise


def _write(file: Any, path: Path, content: bytes | Iterable[str]) -> None:
    """Write the content to an open file, and close the file."""
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
