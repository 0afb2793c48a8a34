"""Names of the measures that can do a thing, for messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def names_where(base: type[Any], holds: Callable[[type[Any]], bool]) -> str:
    """Measures below `base` of which this holds, by name: ``"A, B and C"``.

    Those of this library, all of which are there once it is imported.
    """
    names, classes = set(), [base]
    while classes:
        cls = classes.pop()
        classes += cls.__subclasses__()
        ours = cls.__module__.startswith(f"{__package__}.")
        # what other measures are made of has no name of its own
        if ours and "name" in vars(cls) and holds(cls):
            names.add(cls.name)
    *others, last = sorted(names, key=str.lower)
    return f"{', '.join(others)} and {last}" if others else last
