"""Names of measures: every class that has one registers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Named(NamedTuple):
    """What a name stands for: a class, and its parameters that the name leaves out."""

    cls: type[Any]
    without: tuple[str, ...]


#: by name in lower case
NAMED: dict[str, Named] = {}


def register(cls: type[Any]) -> None:
    """Take the name and the aliases of a measure.

    Raises
    ------
    ValueError
        For a name that another class has; the same class defined again takes its
        place.
    """
    names = {name.lower(): without for name, without in cls.aliases.items()}
    names[cls.name.lower()] = ()
    for name in names:
        other = NAMED.get(name)
        if other is not None and _path(other.cls) != _path(cls):
            raise ValueError(
                f"name of {cls.__name__} must be its own, got {name!r}, a name of "
                f"{other.cls.__name__}"
            )
    NAMED.update({name: Named(cls, without) for name, without in names.items()})


def _path(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def names_where(holds: Callable[[type[Any]], bool]) -> str:
    """Measures of this library of which this holds, by name: ``"A, B and C"``."""
    names = {
        named.cls.name
        for named in NAMED.values()
        if named.cls.__module__.startswith(f"{__package__}.") and holds(named.cls)
    }
    *others, last = sorted(names, key=str.lower)
    return f"{', '.join(others)} and {last}" if others else last
