"""Measures by name, in the spelling of ir-measures: ``NDCG(gain=linear)@10``."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from ._base import Measure
from ._names import NAMED

_SPEC = re.compile(r"\s*([A-Za-z]\w*)\s*(?:\((.*)\))?\s*(?:@\s*(\S+?))?\s*", re.DOTALL)
_OF_TREC_EVAL = {
    "ndcg_cut": "NDCG(gain=linear)@{}",
    "map_cut": "AP@{}",
    "p": "P@{}",
    "recall": "R@{}",
    "success": "Success@{}",
    "recip_rank": "RR",
}
_TREC_EVAL = re.compile(rf"({'|'.join(_OF_TREC_EVAL)})(?:[_.](\d+))?")


def parse_measure(measure: str | Measure) -> Measure:
    """The measure that a name stands for.

    Parameters
    ----------
    measure : str or Measure
        Case-insensitive name, parameters in parentheses, cut-off after ``@``:
        ``P@5 R@10 F(beta=2)@10 Fallout@10 Success@10 Rprec CG@10 DCG@10 NDCG
        NDCG(gain=linear)@10 RBP(p=0.8) CWL(chances=[0.9,0.5]) AP
        AP(denominator=cutoff)@10 IPrec@0.1 IAP IAP(points=all) AUPRC BPref RR@10
        ERR(max_label=4)@20 ESL ESL(i=3) PRR``; also ``precision recall f1 hit map
        mrr SetP SetR SetF`` (the last three without a cut-off), and the name of
        any subclass of `Measure` of your own. A measure is returned as it is.

    Returns
    -------
    Measure
        ``parse_measure(str(m)) == m``, measures with a callable gain excepted.

    Raises
    ------
    ValueError
        For an unknown name (the nearest one is suggested), an unknown parameter
        or a value that the measure refuses.

    Examples
    --------
    >>> from tieaware_sklearn import parse_measure
    >>> parse_measure("ndcg@10")
    NDCG(k=10, gain='exponential')
    >>> str(parse_measure("map(rel=2)@100"))
    'AP(rel=2)@100'
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(
            f'measure must be a name such as "ndcg@10" or a Measure, got {measure!r}'
        )
    match = _SPEC.fullmatch(measure)
    if match is None:
        raise ValueError(
            f'measure must look like "ndcg@10" or "rbp(p=0.8)@10", got {measure!r}'
        )
    name, inside, cutoff = match.groups()
    named = NAMED.get(name.lower())
    if named is None:
        raise ValueError(_unknown(name, measure))
    cls = named.cls
    given = _parameters(inside or "", measure)
    if cutoff is not None:
        if cls.at in given:
            what = "its cut-off" if cls.at == "k" else cls.at
            raise ValueError(f"measure must give {what} once, got {measure!r}")
        given[cls.at] = _after_at(cutoff, cls.at, measure)
    given = cls.parameters(given, measure)
    takes = [f for f in fields(cls) if f.init and f.name not in named.without]
    _check_parameters(name, given, [field.name for field in takes], measure)
    for field in takes:
        if field.default is MISSING and field.name not in given:
            example = f", as in {cls.example!r}" if cls.example else ""
            raise ValueError(f"{cls.name} needs {field.name}{example}, got {measure!r}")
    try:
        parsed: Measure = cls(**given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"measure {measure!r}: {error}") from None
    return parsed


def _check_parameters(
    name: str, given: Iterable[str], takes: list[str], measure: str
) -> None:
    for parameter in given:
        if parameter == "k" and "k" not in takes:
            raise ValueError(f"{name} takes no cut-off, got {measure!r}")
        if parameter not in takes:
            known = ", ".join(takes) or "none"
            raise ValueError(
                f"{name} has no parameter {parameter!r} (it takes: {known}), "
                f"got {measure!r}"
            )


def parse_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """One measure or several as a list; no measure twice."""
    if isinstance(measures, (str, Measure)):
        return [parse_measure(measures)]
    if not isinstance(measures, Iterable):
        raise ValueError(
            f"measures must be a name or a list of names, got {measures!r}"
        )
    parsed = [parse_measure(measure) for measure in measures]
    if not parsed:
        raise ValueError("measures must name at least one measure, got none")
    names = [str(measure) for measure in parsed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"measures must differ, got {name} twice (a callable gain goes by its "
                "__name__)"
            )
    return parsed


def accepted_unjudged(measures: Iterable[Measure], unjudged: str) -> str:
    """What to do with NaN labels: measures that know of them do it themselves."""
    known = [measure.takes_unjudged for measure in measures]
    return "nonrelevant" if known and all(known) and unjudged == "raise" else unjudged


def _unknown(name: str, measure: str) -> str:
    of_trec_eval = _TREC_EVAL.fullmatch(measure.strip().lower())
    if of_trec_eval is not None:
        ours = _OF_TREC_EVAL[of_trec_eval[1]].format(of_trec_eval[2] or "10")
        return f"unknown measure {measure!r}; trec_eval's is {ours!r} here"
    spelled = {key: named.cls.name for key, named in NAMED.items()}
    rest = measure.strip()[len(name) :]
    bare = name.rstrip("0123456789")
    if bare != name and not rest:
        name, rest = bare, f"@{name[len(bare) :]}"
    near = difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.5)
    hint = ""
    if near:
        hint = f"; did you mean {spelled[near[0]] + rest!r}?"
    known = " ".join(sorted(set(spelled.values()), key=str.lower))
    return f"unknown measure {measure!r}{hint} (known: {known})"


def _parameters(inside: str, measure: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        call = None
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Name)
        or call.args
        or any(keyword.arg is None for keyword in call.keywords)
    ):
        raise ValueError(
            f"parameters of a measure must look like name=value, got {_short(measure)}"
        )
    names = [str(keyword.arg).lower() for keyword in call.keywords]
    if len(set(names)) < len(names):
        raise ValueError(f"a measure must give each parameter once, got {measure!r}")
    values = [_literal(keyword.value) for keyword in call.keywords]
    return dict(zip(names, values, strict=True))


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:97] + "...")


def _literal(node: ast.expr) -> Any:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return ast.unparse(node).replace(" ", "").lower()
    if isinstance(node, ast.Dict) and len(node.keys) > len(value):
        # a label named twice: as pairs, so that the measure sees it
        return [
            (ast.literal_eval(a), ast.literal_eval(b))  # type: ignore[arg-type]
            for a, b in zip(node.keys, node.values, strict=True)
        ]
    return value.lower() if isinstance(value, str) else value


def _after_at(text: str, parameter: str, measure: str) -> int | float:
    """A cut-off, or another number that stands after @."""
    if parameter == "k":
        if not re.fullmatch(r"[+-]?[0-9]+", text):
            raise ValueError(
                f"k must be an integer >= 1, got {text!r} in measure {measure!r}"
            )
        return int(text)
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{parameter} must be a number, got {text!r} in measure {measure!r}"
        ) from None
