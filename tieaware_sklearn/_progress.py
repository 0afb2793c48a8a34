"""Progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ._optional import import_optional

Item = TypeVar("Item")


def show_progress(
    items: Iterable[Item], wanted: bool, total: int, unit: str, what: str = ""
) -> Iterator[Item]:
    """`items`, with a bar if it is wanted."""
    if wanted:
        tqdm = import_optional("tqdm.auto", extra="io", purpose="a progress bar")
        items = tqdm.tqdm(items, total=total, desc=what or None, unit=unit)
    yield from items


def shows_progress(quiet: bool) -> bool:
    """A bar on a terminal, if tqdm is there and nobody asked for quiet."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        return False
    try:
        import tqdm  # noqa: F401
    except ImportError:
        return False
    return True
