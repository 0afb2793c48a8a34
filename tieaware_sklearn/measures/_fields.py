"""Parameters of measures: dataclass fields that know what they may be.

`Measure.__post_init__` passes the value and the name of a field to the check in its
metadata, and keeps what that gives back.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from dataclasses import MISSING, field, fields
from typing import Any, Self

from .._engine.exact import show
from .._engine.validation import check_choice, check_cutoff, is_number

#: how the bounds that `is_number` takes are spelled
_SIGNS = {"above": ">", "below": "<", "least": ">=", "most": "<="}


def cutoff() -> Any:
    """k: None, or an integer >= 1."""
    return field(
        default=None, metadata={"check": lambda value, name: check_cutoff(value)}
    )


def number(default: Any = MISSING, **bounds: float) -> Any:
    """A finite number within the bounds above, below, least and most, as a float."""

    def check(value: Any, name: str) -> float:
        if not is_number(value, **bounds):
            rule = " and ".join(f"{_SIGNS[b]} {x:g}" for b, x in bounds.items())
            raise ValueError(
                f"{name} must be a finite number {rule}, got {show(value)}"
            )
        return float(value)

    return field(default=default, metadata={"check": check})


def choice(*choices: str) -> Any:
    """One of some texts; the first is the default."""

    def check(value: Any, name: str) -> Any:
        check_choice(value, name, choices)
        return value

    return field(default=choices[0], metadata={"check": check})


class RemembersArguments:
    """A dataclass that knows which of its fields were spelled out.

    A default that was asked for is not one that was left open, and a field that holds
    it cannot tell.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        new = super().__new__(cls)
        in_order = [f.name for f in fields(cls) if f.init and not f.kw_only]  # type: ignore[arg-type]
        spell_out(new, [*in_order[: len(args)], *kwargs])
        return new


def spell_out(measure: Any, names: Iterable[str]) -> None:
    """Remember the fields of a measure that its maker named; no part of its value."""
    object.__setattr__(measure, "_spelled_out", frozenset(names))


def spelled_out(measure: Any) -> frozenset[str]:
    """Fields that were named when a measure was parsed or constructed.

    `dataclasses.replace` names all of them.
    """
    # a class with slots pickles its fields alone
    names: frozenset[str] = getattr(measure, "_spelled_out", frozenset())
    return names


def shortest(number: float) -> str:
    """The shortest spelling that reads back as the same number."""
    return repr(int(number)) if float(number).is_integer() else repr(float(number))


def spelling(value: Any) -> str:
    """A parameter as it stands in the name of a measure."""
    if isinstance(value, numbers.Real):
        return shortest(float(value))
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return "{" + ",".join(f"{shortest(a)}:{shortest(b)}" for a, b in value) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(shortest, value)) + "]"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return str(value)


def spelled(measure: Any) -> str:
    """The name of a measure, with the parameters that are not at their defaults."""
    values = {f.name: getattr(measure, f.name) for f in fields(measure)}
    after = values.pop(measure.at, None)
    shown = ",".join(
        f"{f.name}={spelling(values[f.name])}"
        for f in fields(measure)
        if f.name in values
        and (f.name in measure.always_shown or values[f.name] != f.default)
    )
    inside = f"({shown})" if shown else ""
    return str(measure.name) + inside + ("" if after is None else f"@{after}")
