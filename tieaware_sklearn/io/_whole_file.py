"""Files that appear only once they are complete."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def check_writable(path: str, option: str) -> None:
    """Raise before the work is done, not after, if a file cannot be written."""
    if not path:
        raise ValueError(f"{option} must name a file, got an empty name")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise ValueError(f"{option} must name a file, got the folder {path}")
    if Path(path).exists() and not Path(path).is_file():
        return
    if not target.parent.is_dir():
        raise ValueError(f"{option}: there is no folder for {path}")
    # a new file takes the place of the old one
    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{option}: the folder of {path} cannot be written to")


def write_whole(path: Path, lines: Iterable[str]) -> None:
    """Write a text file that appears only once it is complete.

    Gzipped if its name ends in ``.gz``.
    """
    with whole_file(path) as file:
        file.writelines(lines)


@contextmanager
def whole_file(path: Path, *, binary: bool = False) -> Iterator[Any]:
    """A file to write to, which appears only once it is complete.

    What is not a plain file, such as a pipe or a device, is written to as it is; a
    link stays a link.
    """
    mode = "b" if binary else "t"
    form: dict[str, Any] = {}
    if not binary:  # ids that are not UTF-8 go out as they came in
        form = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}
    target = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open(f"w{mode}", **form) as file:
            yield file
        return
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    opener: Any = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(unfinished, f"w{mode}", **form) as file:
            yield file
        if target.exists():
            shutil.copymode(target, unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
