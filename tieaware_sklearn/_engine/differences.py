"""The first difference of two results that do not merge, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


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
