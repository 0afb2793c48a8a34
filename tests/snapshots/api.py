"""The public API as a text: names, parameters, fields of results, methods."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from tests.signatures import PATHS, is_result, parameters
from tieaware_sklearn import SplitQueriesWarning
from tieaware_sklearn.model_selection import RankingScorer
from tieaware_sklearn.optuna import QueryObjective

#: methods of scikit-learn's protocol, which it makes
PROTOCOL = re.compile("set_.*_request|get_metadata_routing")


def annotation(value: Any) -> str:
    """Return an annotation as it is written."""
    return value if isinstance(value, str) else inspect.formatannotation(value)


def parameter_lines(call: Callable[..., Any]) -> Iterator[str]:
    """Yield a line for each parameter, and one for the star before those by name."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    by_name = False
    for parameter in parameters(call):
        if parameter.kind is parameter.KEYWORD_ONLY and not by_name:
            yield "*"
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            by_name = True
        line = stars.get(parameter.kind, "") + parameter.name
        if parameter.annotation is not parameter.empty:
            line += f": {annotation(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            line += f" = {parameter.default!r}"
        yield line


def returned(function: Callable[..., Any]) -> str:
    value = inspect.signature(function).return_annotation
    return "" if value is inspect.Signature.empty else f" -> {annotation(value)}"


def member_lines(cls: type) -> Iterator[str]:
    """Yield fields, properties and methods of a class that users may call."""
    if is_dataclass(cls) and is_result(cls):
        for field in fields(cls):
            if not field.name.startswith("_"):
                yield f"    field {field.name}: {annotation(field.type)}"
    for name, member in inspect.getmembers(cls):
        if name.startswith("_") or PROTOCOL.fullmatch(name):
            continue
        if isinstance(member, property):
            yield f"    property {name}{returned(member.fget)}"
            continue
        function = getattr(member, "__func__", member)
        if not inspect.isfunction(function):
            continue
        if function.__module__.startswith("tieaware_sklearn"):
            yield f"    method {name}{returned(function)}"
            for line in parameter_lines(function):
                yield f"        {line}"


def api() -> str:
    """Return a paragraph for each public name, and for types that users meet."""
    paragraphs = []
    things = PATHS | {
        "tieaware_sklearn.model_selection.RankingScorer": RankingScorer,
        "tieaware_sklearn.optuna.QueryObjective": QueryObjective,
    }
    for path, thing in sorted(things.items()):
        if inspect.isclass(thing):
            lines = [f"class {path}"]
            # results, scorers and warnings are made by functions
            if not is_result(thing) and thing not in (
                RankingScorer,
                SplitQueriesWarning,
            ):
                lines += [f"    {line}" for line in parameter_lines(thing)]
            lines += member_lines(thing)
        else:
            lines = [f"function {path}{returned(thing)}"]
            lines += [f"    {line}" for line in parameter_lines(thing)]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"
