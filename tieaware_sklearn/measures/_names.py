"""Names of measures: every class that has one registers it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Any, NamedTuple


class Named(NamedTuple):
    """What a name stands for: a class, and its parameters that the name leaves out."""

    cls: type[Any]
    without: tuple[str, ...]

    @property
    def parameters(self) -> dict[str, Field[Any]]:
        """Those that may stand beside the name."""
        own = (f for f in fields(self.cls) if f.init and f.name not in self.without)
        return {f.name: f for f in own}


_READABLE = re.compile(r"[A-Za-z]\w*", re.ASCII)
#: by name in lower case
NAMED: dict[str, Named] = {}
#: the same of measures of subtopics
OF_SUBTOPICS: dict[str, Named] = {}
#: measures that names were read as, until another class takes one
READ: dict[str, Any] = {}


def register(cls: type[Any]) -> None:
    """Take the name and the aliases of a measure, if they can be read back.

    A subclass has no part in the names that it inherits; of classes of the user's own
    the last one defined has the name.

    Raises
    ------
    ValueError
        For a name of another measure of this library.
    """
    names = {**vars(cls).get("aliases", {}), getattr(cls, "name", None): ()}
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
    READ.clear()


def is_ours(cls: type[Any]) -> bool:
    """Whether a class is of this library."""
    return cls.__module__.startswith(f"{__package__}.")


def names_where(holds: Callable[[type[Any]], bool]) -> str:
    """Measures of this library of which this holds, by name: ``"A, B and C"``."""
    ours = {named.cls for named in NAMED.values() if is_ours(named.cls)}
    names = (cls.name for cls in ours if holds(cls))
    *others, last = sorted(names, key=str.lower)
    return f"{', '.join(others)} and {last}" if others else last
