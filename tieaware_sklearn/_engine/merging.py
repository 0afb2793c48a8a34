"""Sums over queries, of which those of several parts of the data merge."""

from collections.abc import Callable, Mapping, Sequence
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


def other_features(
    ours: Sequence[str], theirs: Sequence[str], here: str, there: str
) -> str:
    """The first difference of names of features; nothing if they are the same.

    `here` and `there` say whose they are.
    """
    for mine, yours, lacks in ((ours, theirs, there), (theirs, ours, here)):
        known = set(yours)
        missing = [name for name in mine if name not in known]
        if missing:
            return f"features differ: {lacks} has no {missing[0]!r}"
    for mine, yours in zip(ours, theirs, strict=False):
        if mine != yours:
            pair = f"{there} has {yours!r} where {here} has {mine!r}"
            return f"features differ in their order: {pair}"
    # names that come several times
    if len(ours) != len(theirs):
        return f"features differ: {len(theirs)} in {there}, {len(ours)} in {here}"
    return ""


def other_options(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], here: str, there: str
) -> str:
    """The first option with another value; nothing if all are the same.

    Options are named as users know them. Of values one per feature, in a list, the
    first two that differ are shown, and so of measures that have the same names.
    """
    for what, mine in ours.items():
        yours = theirs[what]
        if mine == yours:
            continue
        if isinstance(mine, list) or _shown(mine) == _shown(yours):
            mine, yours = next(
                (one, other)
                for one, other in zip(mine, yours, strict=True)
                if one != other
            )
        if str(mine) == str(yours):
            one = f"the functions of {mine} are not known to be the same"
            return f"{what} differ: {one} in {there} and {here}"
        return f"{what} differ: {_shown(yours)} in {there}, {_shown(mine)} in {here}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
