"""The public surface as tables; ``python -m tests.signatures`` writes the page."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpydoc.docscrape import NumpyDocString

from tieaware_sklearn import Measure, RankingScorer, SubtopicMeasure
from tieaware_sklearn._display.result import Result

PAGE = Path(__file__).parents[1] / "docs" / "api" / "signatures.md"
MODULES = [
    "tieaware_sklearn",
    *(
        f"tieaware_sklearn.{name}"
        for name in (
            *("comparison", "score_precision", "judgments", "datasets", "plots"),
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
    meaning: str


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
    # a scorer is made by make_ranking_scorer
    if not is_result(thing) and thing is not RankingScorer:
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


def spelled(call: Callable[..., Any]) -> str:
    """The names of the parameters, keyword-only ones after a star."""
    names, starred = [], False
    for parameter in parameters(call):
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            names.append("*")
            starred = True
        starred |= parameter.kind is parameter.VAR_POSITIONAL
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        names.append(stars.get(parameter.kind, "") + parameter.name)
    return f"({', '.join(names)})"


def meanings(thing: Any) -> dict[str, str]:
    """The first sentence on each parameter, where it does not refer to another."""
    out = {}
    for given in NumpyDocString(inspect.getdoc(thing) or "")["Parameters"]:
        text = " ".join(given.desc).strip()
        names = [name.strip(" *") for name in given.name.split(",")]
        if text and not text.startswith("As in"):
            sentence = re.split(r"(?<=[^.][.:;])\s", text, maxsplit=1)[0]
            out.update(dict.fromkeys(names, sentence.rstrip(".:;")))
    return out


def taken() -> dict[str, list[Taken]]:
    """Every parameter of functions, classes and methods: who takes it, and how."""
    out = defaultdict(list)
    for _, name, thing in public():
        if inspect.isclass(thing) and issubclass(thing, MEASURES):
            continue
        for owner, call in calls(name, thing):
            told = meanings(call)
            for parameter in parameters(call):
                if parameter.kind is parameter.VAR_KEYWORD:
                    continue
                default = "" if parameter.default is parameter.empty else None
                if default is None:
                    default = repr(parameter.default)
                meaning = told.get(parameter.name, "")
                out[parameter.name].append(Taken(owner, default, meaning))
    return out


def attributes() -> dict[str, list[str]]:
    """Fields of results and displays: whose they are."""
    out = defaultdict(list)
    for _, name, thing in public():
        if is_result(thing):
            for field in fields(thing):
                out[field.name].append(name)
    return out


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def page() -> str:
    """The page of the reference that lists it all."""
    lines = [
        "# All signatures",
        "",
        "Every public function, class and method with its parameters, and every",
        "parameter with its default and meaning: a name means one thing wherever it",
        "is taken. Made from the code by `python -m tests.signatures`.",
    ]
    for module in MODULES:
        rows = [
            [f"`{owner}`", f"`{spelled(call)}`"]
            for of, name, thing in public()
            if of == module
            for owner, call in calls(name, thing)
        ]
        lines += ["", f"## {module}", "", *table(["call", "parameters"], rows)]
    rows = []
    for name, uses in sorted(taken().items(), key=lambda item: item[0].lower()):
        defaults = sorted({use.default for use in uses} - {""})
        # the best known first
        told = sorted(
            uses, key=lambda use: use.owner not in ("ranking_score", "evaluate")
        )
        meaning = next((use.meaning for use in told if use.meaning), "")
        rows.append(
            [
                f"`{name}`",
                " or ".join(f"`{default}`" for default in defaults),
                meaning.replace("|", r"\|"),
                str(len(uses)),
            ]
        )
    lines += ["", "## Parameters", "", "The number says how many take it.", ""]
    lines += table(["parameter", "default", "meaning", "taken by"], rows)
    rows = [
        [f"`{name}`", ", ".join(owners)]
        for name, owners in sorted(attributes().items(), key=lambda item: item[0])
    ]
    lines += ["", "## Attributes of results", ""]
    lines += table(["attribute", "of"], rows)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
