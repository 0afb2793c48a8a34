"""Sums over queries, of which those of several parts of the data merge."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self, TypeVar

import numpy as np

_Part = TypeVar("_Part")


class AddedUp:
    """A dataclass of sums over queries; two of them merge, field by field.

    Fields are arrays and numbers, which add up, flags, of which one is enough, and
    others of this kind; None where one has None.
    """

    def merge(self, other: Self) -> Self:
        """Of the queries of both."""
        merged: list[Any] = []
        for field in fields(self):  # type: ignore[arg-type]
            ours, theirs = getattr(self, field.name), getattr(other, field.name)
            if ours is None or theirs is None:
                merged.append(None)
            elif isinstance(ours, AddedUp):
                merged.append(ours.merge(theirs))
            elif isinstance(ours, np.ndarray):
                total = ours | theirs if ours.dtype.kind == "b" else ours + theirs
                # NumPy makes a number of two arrays without a dimension
                merged.append(np.asarray(total))
            else:
                merged.append(ours + theirs)
        return type(self)(*merged)


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
