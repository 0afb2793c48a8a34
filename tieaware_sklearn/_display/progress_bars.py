"""Progress bars."""

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import TypeVar

from .. import _optional

Item = TypeVar("Item")


def show_progress(
    items: Iterable[Item],
    show: bool,
    total: int | None,
    unit: str,
    description: str | None = None,
    *,
    size: Callable[[Item], int] | None = None,
) -> Iterator[Item]:
    """Yield the items. With `show`, show a bar over their number or their sizes."""
    if not show:
        yield from items
        return
    tqdm = _optional.import_optional("tqdm.auto", extra="io", purpose="a progress bar")
    # With a scale, tqdm abbreviates large numbers, as in 25k.
    scale = total is None or total >= 10_000
    bar = tqdm.tqdm(total=total, desc=description, unit=unit, unit_scale=scale)
    with bar:
        for item in items:
            yield item
            bar.update(1 if size is None else size(item))


def shows_progress(quiet: bool) -> bool:
    """Return whether to show bars, which need a terminal and tqdm, and no --quiet."""
    return not quiet and sys.stderr.isatty() and find_spec("tqdm") is not None
