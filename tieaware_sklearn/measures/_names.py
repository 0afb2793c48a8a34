"""Names of measures: every class that has one registers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Named(NamedTuple):
    """What a name stands for: a class, and its parameters that the name leaves out."""

    cls: type[Any]
    without: tuple[str, ...]


_READABLE = re.compile(r"[A-Za-z]\w*", re.ASCII)
#: by name in lower case
NAMED: dict[str, Named] = {}


def register(cls: type[Any]) -> None:
    """Take the name and the aliases of a measure, if they can be read back.

    A subclass has no part in the names that it inherits; of classes of the user's own
    the last one defined has the name.

    Raises
    ------
    ValueError
        For a name of another measure of this library.
    """
    names = dict(vars(cls).get("aliases", {}))
    names[getattr(cls, "name", None)] = ()
    taken: dict[str, Named] = {}
    for name, without in names.items():
        if not (isinstance(name, str) and _READABLE.fullmatch(name)):
            continue
        other = NAMED.get(name.lower())
        if other is not None and other.cls in cls.__mro__[1:]:
            continue
        if other is not None and is_ours(other.cls) and not is_ours(cls):
            raise ValueError(
                f"name of {cls.__name__} must be its own, got {name!r}, a name of "
                f"{other.cls.__name__}"
            )
        taken[name.lower()] = Named(cls, tuple(without))
    NAMED.update(taken)


def is_ours(cls: type[Any]) -> bool:
    """Whether a class is of this library."""
    return cls.__module__.startswith(f"{__package__}.")


def names_where(holds: Callable[[type[Any]], bool]) -> str:
    """Measures of this library of which this holds, by name: ``"A, B and C"``."""
    names = {
        named.cls.name
        for named in NAMED.values()
        if is_ours(named.cls) and holds(named.cls)
    }
    *others, last = sorted(names, key=str.lower)
    return f"{', '.join(others)} and {last}" if others else last
