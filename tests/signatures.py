"""The public surface: parameters of all that is public, attributes of results."""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import tieaware_sklearn
from tests.house import LAYERS
from tieaware_sklearn import Measure, SplitQueriesWarning
from tieaware_sklearn._display.html import Result

#: rooms whose names are public at the top alone, or not at all
INNER = {"io", "rankers", "cli", "ranking", "statistics"}
FRONTS = [
    import_module(f"tieaware_sklearn.{name}")
    for name in LAYERS
    if not name.startswith("_") and name not in INNER
]
#: public things, each by the path that the reference has; what is at the top is at home
#: there
PATHS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in [tieaware_sklearn, *FRONTS]
    for name in module.__all__
    if module is tieaware_sklearn
    or getattr(module, name) is not getattr(tieaware_sklearn, name, None)
}
#: rooms whose rankers show the parameters of a library's own
BOOSTERS = tuple(
    f"tieaware_sklearn.{name}" for name in ("lightgbm", "xgboost", "catboost")
)


def is_result(thing: Any) -> bool:
    """What users read and do not make: results, and displays, made by class methods."""
    return inspect.isclass(thing) and (
        issubclass(thing, Result) or (is_dataclass(thing) and hasattr(thing, "plot"))
    )


def calls(thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """What of it takes parameters: a function, a class, the methods of its own."""
    name, is_class = thing.__name__, inspect.isclass(thing)
    # a warning has no parameters
    if not is_result(thing) and thing is not SplitQueriesWarning:
        yield name, thing
    if is_class and not issubclass(thing, Measure):
        for method, value in inspect.getmembers(thing):
            function = getattr(value, "__func__", value)
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            ours = function.__module__.startswith("tieaware_sklearn")
            # scikit-learn's protocol
            requests = re.fullmatch("set_.*_request|get_metadata_routing", method)
            if ours and parameters(function) and not requests:
                yield f"{name}.{method}", function


def parameters(call: Callable[..., Any]) -> list[inspect.Parameter]:
    """Its parameters; those that a ranker hands on to its library are not ours."""
    shown = inspect.signature(call).parameters
    ours = set(shown)
    if call.__module__.startswith(BOOSTERS):
        code = (call.__init__ if inspect.isclass(call) else call).__code__
        n_parameters = code.co_argcount + code.co_kwonlyargcount
        ours &= set(code.co_varnames[:n_parameters])
    return [
        parameter
        for name, parameter in shown.items()
        if name in ours and name not in ("self", "cls")
    ]


def taken() -> dict[str, dict[str, str]]:
    """Every parameter of functions, classes and methods: who takes it, and its default.

    One that has none is an empty text.
    """
    out: dict[str, dict[str, str]] = defaultdict(dict)
    for thing in PATHS.values():
        # a measure has parameters of its own, which no function takes
        if inspect.isclass(thing) and issubclass(thing, Measure):
            continue
        for owner, call in calls(thing):
            for parameter in parameters(call):
                if parameter.kind is not parameter.VAR_KEYWORD:
                    has_default = parameter.default is not parameter.empty
                    default = repr(parameter.default) if has_default else ""
                    out[parameter.name][owner] = default
    return out


def attributes() -> set[str]:
    """Fields of results and displays."""
    results = filter(is_result, PATHS.values())
    return {field.name for result in results for field in fields(result)}
