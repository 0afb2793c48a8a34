"""Parts that are merged a few at a time, so that none is copied often."""

from collections.abc import Callable
from typing import TypeVar

_Part = TypeVar("_Part")


def gather(
    parts: list[_Part],
    newest: _Part,
    merge: Callable[[_Part, _Part], _Part],
    size: Callable[[_Part], int],
) -> None:
    """Add one more to parts of something that will be merged.

    Those of about as many queries are merged at once. Each part that is left is at
    least twice as large as the next, so that few are copied often.
    """
    while parts and size(parts[-1]) < 2 * size(newest):
        newest = merge(parts.pop(), newest)
    parts.append(newest)
