"""Constructors that hand their options on, and still show them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TypeVar

Init = TypeVar("Init", bound=Callable[..., None])


def options_of(parent: Callable[..., None]) -> Callable[[Init], Init]:
    """Show the options of `parent` in the place of ``**options``.

    scikit-learn reads the parameters of an estimator there, as `help` and editors do.
    """

    def decorate(init: Init) -> Init:
        own = {
            name: parameter
            for name, parameter in signature(init).parameters.items()
            if parameter.kind is not Parameter.VAR_KEYWORD
        }
        options = [
            parameter
            for name, parameter in signature(parent).parameters.items()
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
            and name not in own
        ]
        shown = sorted([*own.values(), *options], key=lambda one: one.kind)
        init.__signature__ = signature(init).replace(  # type: ignore[attr-defined]
            parameters=shown
        )
        return init

    return decorate
