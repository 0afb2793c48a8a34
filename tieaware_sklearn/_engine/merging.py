"""What is added up over queries, so that parts of the data merge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

_Part = TypeVar("_Part")


class AddedUp:
    """A dataclass of sums over queries; two of them merge, field by field.

    Fields are arrays and numbers, which add up, flags, of which one is enough, others
    of this kind, and texts and tuples, which both have alike.
    """

    def merge(self, other: Self) -> Self:
        """Of the queries of both."""
        return type(self)(
            *(
                _merged(getattr(self, field.name), getattr(other, field.name))
                for field in fields(self)  # type: ignore[arg-type]
            )
        )

    @classmethod
    def stack(cls, parts: Sequence[Self]) -> Self:
        """Several along a new first axis."""
        return cls(
            *(
                _stacked([getattr(part, field.name) for part in parts])
                for field in fields(cls)  # type: ignore[arg-type]
            )
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Several along the first axis that there is."""
        return cls(
            *(
                _joined([getattr(part, field.name) for part in parts])
                for field in fields(cls)  # type: ignore[arg-type]
            )
        )

    def some(self, chosen: NDArray[np.intp]) -> Self:
        """These of the first axis."""
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return type(self)(
            *(v.some(chosen) if isinstance(v, AddedUp) else v[chosen] for v in values)
        )


def _merged(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, AddedUp) and isinstance(theirs, AddedUp):
        return ours.merge(theirs)
    if ours is None or theirs is None:
        return None
    if isinstance(ours, (str, tuple)):
        return ours
    if isinstance(ours, np.ndarray) and ours.dtype.kind == "b":
        return ours | theirs
    return ours + theirs


def _stacked(values: list[Any]) -> Any:
    first = values[0]
    return type(first).stack(values) if isinstance(first, AddedUp) else np.stack(values)


def _joined(values: list[Any]) -> Any:
    first = values[0]
    joins = isinstance(first, AddedUp)
    return type(first).join(values) if joins else np.concatenate(values)


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
            return (
                f"features differ in their order: {there} has {yours!r} where {here} "
                f"has {mine!r}"
            )
    # names that come several times
    if len(ours) != len(theirs):
        return f"features differ: {len(theirs)} in {there}, {len(ours)} in {here}"
    return ""


def other_options(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], here: str, there: str
) -> str:
    """The first option with another value; nothing if all are the same.

    Options are named as users know them. Of values one per feature, in a list, the
    first two that differ are shown.
    """
    for what, mine in ours.items():
        yours = theirs[what]
        if mine == yours:
            continue
        if isinstance(mine, list):
            mine, yours = next(
                (one, other)
                for one, other in zip(mine, yours, strict=True)
                if one != other
            )
        return f"{what} differ: {_shown(yours)} in {there}, {_shown(mine)} in {here}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
