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
    """Raise a ValueError if a file cannot be written, before any work is done."""
    target = Path(path)
    if not path or target.is_dir():
        raise ValueError(f"{option} must name a file, got {path!r}")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option}: {path}: the folder does not exist")
    places = [target] if target.exists() else []
    if target.is_file() or not places:
        # The folder receives the temporary file that replaces the old one.
        places.append(folder)
    if not all(os.access(place, os.W_OK) for place in places):
        raise ValueError(f"{option}: {path}: Permission denied")


def write_whole(path: Path, content: bytes | Iterable[str]) -> None:
    """Write a file that appears only once it is complete.

    The content is written to a temporary file in the same folder, which then replaces
    the old file. If an error occurs, the old file stays unchanged. Pipes, devices and
    other special files are written to directly. If the name ends in ``.gz``, text is
    gzipped, but bytes are written unchanged.

    Raises
    ------
    OSError
        If the file cannot be written. The error names `path`.
    """
    try:
        if path.exists() and not path.is_file():
            _write(path.open("wb"), path, content)
            return
        # The file that a link names is replaced, so the link stays a link.
        target = path.resolve()
        part = target.with_name(f".tieaware-{secrets.token_hex(8)}.part")
        try:
            file = part.open("xb")
            # The content of a private file must never be open to others, so the
            # permissions are copied before the content is written.
            if target.exists():
                shutil.copymode(target, part)
            _write(file, path, content)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        # The error names the temporary file, which the caller does not know.
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
            # A gzip file records its name, which is not the temporary name.
            file = layers.enter_context(gzip.GzipFile(path.name, "wb", fileobj=file))
        # Texts may contain names of files, whose bytes may not be UTF-8.
        text = io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="\n")
        layers.enter_context(text).writelines(content)
