"""Measures by name, in the spelling of ir-measures: ``NDCG(gain=linear)@10``."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from ._average_precision import AveragePrecision, PrecisionRecallArea
from ._base import Measure
from ._bpref import BPref
from ._dcg import CG, DCG, NDCG
from ._err import ERR
from ._interpolated_precision import InterpolatedAveragePrecision, InterpolatedPrecision
from ._precision_recall import Fallout, FBeta, Precision, Recall, RPrecision
from ._rbp import CWL, RBP
from ._reciprocal_rank import ReciprocalRank, Success
from ._search_length import RaghavanPrecision, SearchLength

_CLASSES: dict[str, type[Measure]] = {
    "p": Precision,
    "precision": Precision,
    "r": Recall,
    "recall": Recall,
    "f": FBeta,
    "f1": FBeta,
    "fallout": Fallout,
    "success": Success,
    "hit": Success,
    "hits": Success,
    "rprec": RPrecision,
    "cg": CG,
    "dcg": DCG,
    "ndcg": NDCG,
    "rbp": RBP,
    "ap": AveragePrecision,
    "map": AveragePrecision,
    "rr": ReciprocalRank,
    "mrr": ReciprocalRank,
    "err": ERR,
    "bpref": BPref,
    "esl": SearchLength,
    "prr": RaghavanPrecision,
    "iprec": InterpolatedPrecision,
    "iap": InterpolatedAveragePrecision,
    "auprc": PrecisionRecallArea,
    "aucpr": PrecisionRecallArea,
    "cwl": CWL,
    # ir-measures' names for measures of the whole list
    "setp": Precision,
    "setr": Recall,
    "setf": FBeta,
}
_NEEDED: dict[type[Measure], str] = {
    InterpolatedPrecision: "IPrec@0.1",
    CWL: "CWL(chances=[0.9,0.5])",
}
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
# ir-measures' names for the gains of its nDCG
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exponential"}


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
        mrr SetP SetR SetF`` (the last three without a cut-off). A measure is
        returned as it is.

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
    cls = _CLASSES.get(name.lower())
    if cls is None:
        raise ValueError(_unknown(name, measure))
    given = _parameters(inside or "", measure)
    if cutoff is not None:
        if "k" in given:
            raise ValueError(f"measure must give its cut-off once, got {measure!r}")
        if cls is InterpolatedPrecision:
            if "recall" in given:
                raise ValueError(f"measure must give recall once, got {measure!r}")
            given["recall"] = _recall(cutoff, measure)
        else:
            given["k"] = _number(cutoff, measure)
    if cls is NDCG and "dcg" in given:
        if "gain" in given:
            raise ValueError(f"measure must give gain or dcg, got {measure!r}")
        given["gain"] = _ir_measures_gain(given.pop("dcg"), measure)
    allowed = [field.name for field in fields(cls)]
    if name.lower() == "f1":
        allowed = ["k", "rel"]
    if name.lower().startswith("set"):
        allowed.remove("k")
    for parameter in given:
        if parameter == "k" and "k" not in allowed:
            raise ValueError(f"{name} takes no cut-off, got {measure!r}")
        if parameter not in allowed:
            known = ", ".join(allowed) or "none"
            raise ValueError(
                f"{name} has no parameter {parameter!r} (it takes: {known}), "
                f"got {measure!r}"
            )
    for field in fields(cls):
        if field.default is MISSING and field.name not in given:
            raise ValueError(
                f"{cls.name} needs {field.name}, as in {_NEEDED[cls]!r}, got "
                f"{measure!r}"
            )
    try:
        return cls(**given)
    except ValueError as error:
        raise ValueError(f"measure {measure!r}: {error}") from None


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
    spelled = {key: cls.name for key, cls in _CLASSES.items()}
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


def _number(text: str, measure: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(
            f"k must be an integer >= 1, got {text!r} in measure {measure!r}"
        )
    return int(text)


def _recall(text: str, measure: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"recall must be a number in [0, 1], got {text!r} in measure {measure!r}"
        ) from None


def _ir_measures_gain(dcg: Any, measure: str) -> str:
    if not isinstance(dcg, str) or dcg not in _IR_MEASURES_DCG:
        raise ValueError(
            f"dcg must be one of {tuple(_IR_MEASURES_DCG)}, got {dcg!r} in {measure!r}"
        )
    return _IR_MEASURES_DCG[dcg]
