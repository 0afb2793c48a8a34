"""Constructors that hand their options on, and still show them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from operator import attrgetter
from typing import TypeVar

Init = TypeVar("Init", bound=Callable[..., None])


def options_of(parent: Callable[..., None]) -> Callable[[Init], Init]:
    """Show the options of `parent` in the place of ``**options``.

    scikit-learn reads the parameters of an estimator there, as `help` and editors do.
    """

    def decorate(init: Init) -> Init:
        *own, _ = signature(init).parameters.values()
        taken = {parameter.name for parameter in own}
        _, *theirs = signature(parent).parameters.values()
        options = [
            parameter.replace(kind=max(parameter.kind, Parameter.KEYWORD_ONLY))
            for parameter in theirs
            if parameter.name not in taken
        ]
        shown = sorted([*own, *options], key=attrgetter("kind"))
        signed = signature(init).replace(parameters=shown)
        init.__signature__ = signed  # type: ignore[attr-defined]
        return init

    return decorate
