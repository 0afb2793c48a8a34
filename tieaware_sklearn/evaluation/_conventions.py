"""The definitions of other tools, as parameters that exist here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from .._engine.ties import FloatArray
from ..measures import Measure
from ..measures._names import is_ours

_LINEAR = {"gain": "linear"}
_EXPONENTIAL = {"gain": "exponential"}
_OF_THE_LIST = {"denominator": "retrieved"}
_AT_BEST_ONE = {"denominator": "cutoff"}
_NEAREST = {"rounding": "nearest"}
# as many as the pairs per document of LambdaMART, 32 by default
_CUT = {"k": 32}
#: by tool and measure: its value where undefined, and what its parameters are. Others
#: are refused, but a cut-off gives way to the user's. Checked against the tools
#: themselves in tests/evaluation/test_conventions.py
CONVENTIONS: dict[str, dict[str, tuple[float, Mapping[str, Any]]]] = {
    "lightgbm": {
        "NDCG": (1.0, _EXPONENTIAL),
        "AP": (1.0, _AT_BEST_ONE),
    },
    "xgboost": {
        "NDCG": (1.0, _EXPONENTIAL | _CUT),
        "AP": (1.0, _AT_BEST_ONE | _CUT),
        "P": (0.0, _OF_THE_LIST | _CUT),
    },
    "catboost": {
        "NDCG": (1.0, _LINEAR),
        "DCG": (0.0, _LINEAR),
        "AP": (0.0, _AT_BEST_ONE),
        "P": (0.0, _OF_THE_LIST),
        "R": (1.0, {}),
        "RR": (0.0, {}),
    },
    "sklearn": {
        "NDCG": (0.0, _LINEAR),
        "DCG": (0.0, _LINEAR),
        "AP": (0.0, {}),
    },
    "trec_eval": {
        "NDCG": (0.0, _LINEAR),
        "AP": (0.0, {"denominator": "relevant"}),
        "P": (0.0, {"denominator": "cutoff"}),
        "R": (0.0, {}),
        "F": (0.0, {"k": None}),
        "RBP": (0.0, {}),
        "Success": (0.0, {}),
        "RR": (0.0, {}),
        "Rprec": (0.0, {}),
        "BPref": (0.0, {}),
        "IPrec": (0.0, _NEAREST),
        "IAP": (0.0, _NEAREST),
    },
}
#: tools that take documents without a judgment, and for what
UNJUDGED = {"trec_eval": "nonrelevant"}


def define(
    measures: Sequence[Measure], convention: str
) -> tuple[tuple[Measure, ...], FloatArray]:
    """Measures as a tool defines them, and their values where undefined."""
    defined = [_define(measure, convention) for measure in measures]
    return tuple(m for m, _ in defined), np.array([value for _, value in defined])


def _define(measure: Measure, convention: str) -> tuple[Measure, float]:
    known = CONVENTIONS[convention]
    if measure.name not in known or not is_ours(type(measure)):
        names = " ".join(sorted(known, key=str.lower))
        raise ValueError(
            f"measure must be one that {convention} has ({names}), got {measure}"
        )
    undefined, parameters = known[measure.name]
    defaults = {f.name: f.default for f in fields(measure)}
    changes = {}
    for name, value in parameters.items():
        given = getattr(measure, name)
        own_cutoff = name == "k" and value is not None and given is not None
        if given not in (defaults[name], value) and not own_cutoff:
            raise ValueError(
                f"{name} is {value!r} by convention={convention!r}, got {given!r} in "
                f"{measure}"
            )
        changes[name] = given if own_cutoff else value
    return replace(measure, **changes), undefined
