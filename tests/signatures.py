"""The public surface: parameters of all that is public, attributes of results."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from tieaware_sklearn import Measure, SplitQueriesWarning
from tieaware_sklearn._display.html import Result
from tieaware_sklearn.measures import SubtopicMeasure
from tieaware_sklearn.model_selection import RankingScorer

MODULES = [
    "tieaware_sklearn",
    *(
        f"tieaware_sklearn.{name}"
        for name in (
            *("evaluation", "measures", "comparison", "feature_selection"),
            *("inspection", "model_selection", "score_precision", "judgments"),
            *("datasets", "plots"),
            *("lightgbm", "xgboost", "catboost", "optuna", "dask", "ir_measures"),
        )
    ),
]
#: what has parameters of its own, which no other function takes
MEASURES = (Measure, SubtopicMeasure)
#: rooms whose rankers show the parameters of a library's own
BOOSTERS = tuple(
    f"tieaware_sklearn.{name}" for name in ("lightgbm", "xgboost", "catboost")
)


class Taken(NamedTuple):
    """A parameter of something public."""

    owner: str
    default: str


def public() -> Iterator[tuple[str, str, Any]]:
    """Module, name and thing of all that is public, at its first place."""
    seen = set()
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            thing = getattr(importlib.import_module(module), name)
            warns = inspect.isclass(thing) and issubclass(thing, Warning)
            if id(thing) not in seen and not warns:
                seen.add(id(thing))
                yield module, name, thing


def is_result(thing: Any) -> bool:
    """What users read and do not make: results, and displays, made by class methods."""
    return inspect.isclass(thing) and (
        issubclass(thing, Result) or (is_dataclass(thing) and hasattr(thing, "plot"))
    )


def calls(name: str, thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """What of it takes parameters: a function, a class, the methods of its own."""
    is_measure = inspect.isclass(thing) and issubclass(thing, MEASURES)
    # a scorer is made by make_ranking_scorer, and a warning has no parameters
    if not is_result(thing) and thing not in (RankingScorer, SplitQueriesWarning):
        yield name, thing
    if inspect.isclass(thing) and not is_measure:
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


def taken() -> dict[str, list[Taken]]:
    """Every parameter of functions, classes and methods: who takes it, and how."""
    out = defaultdict(list)
    for _, name, thing in public():
        if inspect.isclass(thing) and issubclass(thing, MEASURES):
            continue
        for owner, call in calls(name, thing):
            for parameter in parameters(call):
                if parameter.kind is parameter.VAR_KEYWORD:
                    continue
                default = "" if parameter.default is parameter.empty else None
                if default is None:
                    default = repr(parameter.default)
                out[parameter.name].append(Taken(owner, default))
    return out


def attributes() -> dict[str, list[str]]:
    """Fields of results and displays: whose they are."""
    out = defaultdict(list)
    for _, name, thing in public():
        if is_result(thing):
            for field in fields(thing):
                out[field.name].append(name)
    return out
