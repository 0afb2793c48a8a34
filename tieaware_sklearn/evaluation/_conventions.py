"""The definitions of other tools, as parameters that exist here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from .._engine.ties import FloatArray
from ..measures import (
    DCG,
    NDCG,
    RBP,
    AveragePrecision,
    BPref,
    FBeta,
    InterpolatedAveragePrecision,
    InterpolatedPrecision,
    Measure,
    Precision,
    Recall,
    ReciprocalRank,
    RPrecision,
    Success,
)


@dataclass(frozen=True)
class _Definition:
    """Parameters of a measure, and its value where it is undefined.

    `k` is the cut-off of the tool where none is given, `cut` whether it takes one.
    """

    undefined: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None
    cut: bool = True


class Convention(NamedTuple):
    """What a tool means by its measures.

    Attributes
    ----------
    ties : str
        The `ties` of `ranking_score` that breaks ties as the tool does.
    unjudged : str
        What it takes documents without a judgment for.
    measures : mapping of type to _Definition
        The measures that it has.
    """

    ties: str
    unjudged: str
    measures: Mapping[type[Measure], _Definition]


_LINEAR = {"gain": "linear"}
_EXPONENTIAL = {"gain": "exponential"}
_ROUNDING = {"rounding": "nearest"}
_SHORT = {"denominator": "cutoff"}
_BOOSTING: dict[type[Measure], _Definition] = {
    NDCG: _Definition(1.0, _EXPONENTIAL),
    AveragePrecision: _Definition(1.0, _SHORT),
}
#: checked against the tools themselves in tests/evaluation/test_conventions.py
CONVENTIONS: dict[str, Convention] = {
    "lightgbm": Convention("input", "raise", _BOOSTING),
    "xgboost": Convention(
        "input",
        "raise",
        {
            # as many as the pairs per document of LambdaMART, 32 by default
            NDCG: _Definition(1.0, _EXPONENTIAL, k=32),
            AveragePrecision: _Definition(1.0, _SHORT, k=32),
            Precision: _Definition(0.0, {"denominator": "retrieved"}, k=32),
        },
    ),
    "catboost": Convention(
        "worst",
        "raise",
        {
            NDCG: _Definition(1.0, _LINEAR),
            DCG: _Definition(0.0, _LINEAR),
            AveragePrecision: _Definition(0.0, _SHORT),
            Precision: _Definition(0.0, {"denominator": "retrieved"}),
            Recall: _Definition(1.0),
            ReciprocalRank: _Definition(),
        },
    ),
    "sklearn": Convention(
        "expected",
        "raise",
        {
            NDCG: _Definition(0.0, _LINEAR),
            DCG: _Definition(0.0, _LINEAR),
            AveragePrecision: _Definition(),
        },
    ),
    "trec_eval": Convention(
        "input",
        "nonrelevant",
        {
            NDCG: _Definition(0.0, _LINEAR),
            AveragePrecision: _Definition(0.0, {"denominator": "relevant"}),
            Precision: _Definition(0.0, {"denominator": "cutoff"}),
            Recall: _Definition(),
            FBeta: _Definition(cut=False),
            RBP: _Definition(),
            Success: _Definition(),
            ReciprocalRank: _Definition(),
            RPrecision: _Definition(),
            BPref: _Definition(),
            InterpolatedPrecision: _Definition(0.0, _ROUNDING),
            InterpolatedAveragePrecision: _Definition(0.0, _ROUNDING),
        },
    ),
}


def define(
    measures: Sequence[Measure], convention: str
) -> tuple[tuple[Measure, ...], FloatArray]:
    """Measures as a tool defines them, and their values where undefined."""
    known = CONVENTIONS[convention].measures
    return (
        tuple(_define(measure, convention) for measure in measures),
        np.array([known[type(measure)].undefined for measure in measures]),
    )


def _define(measure: Measure, convention: str) -> Measure:
    known = CONVENTIONS[convention].measures
    if type(measure) not in known:
        names = " ".join(sorted({cls.name for cls in known}, key=str.lower))
        raise ValueError(
            f"measure must be one that {convention} has ({names}), got {measure}"
        )
    definition = known[type(measure)]
    if not definition.cut and getattr(measure, "k", None) is not None:
        raise ValueError(
            f"{convention} has no {measure.name} with a cut-off, got {measure}"
        )
    parameters = dict(definition.parameters)
    if definition.k is not None and getattr(measure, "k", None) is None:
        measure = replace(measure, **{"k": definition.k})
    defaults = {f.name: f.default for f in fields(measure)}
    for name, value in parameters.items():
        given = getattr(measure, name)
        if given not in (defaults[name], value):
            raise ValueError(
                f"{name} is {value!r} by convention={convention!r}, got {given!r} in "
                f"{measure}"
            )
    return replace(measure, **parameters)
