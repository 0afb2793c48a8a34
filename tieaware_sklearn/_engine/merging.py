"""Merging of parts, a few at a time, so that no part is copied often."""

from collections.abc import Callable
from typing import TypeVar

Part = TypeVar("Part")
Merge = Callable[[Part, Part], Part]


def gather(
    parts: list[Part], newest: Part, merge: Merge[Part], size: Callable[[Part], int]
) -> None:
    """Add a part to a list of parts, and merge parts of similar size.

    Each part in the list is at least twice as large as the next part, so each part is
    copied only a few times.
    """
    while parts and size(parts[-1]) < 2 * size(newest):
        newest = merge(parts.pop(), newest)
    parts.append(newest)
