"""What there is to fuzz: how cases are drawn, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from random import Random
from typing import NamedTuple

from tests.fuzz import draw, enumerated, tools
from tests.fuzz.cases import Case
from tests.fuzz.enumerated import Tally


class Kind(NamedTuple):
    """How cases are drawn and checked, and what share of the time they have."""

    draw: Callable[[Random], Case]
    #: raises where the library is wrong, or tells what was compared
    check: Callable[[Case], Tally]
    share: float
    #: whether all orders of ties are gone through: each measure is a case
    enumerated: bool = True


def _of_tools() -> dict[str, Kind]:
    weighted = partial(tools.drawn, weights=True)
    untied = lambda rng: tools.drawn(rng, tied=rng.random() < 0.7)  # noqa: E731
    # XGBoost and CatBoost sum in 32 bits
    found = {
        "lightgbm": ("lightgbm", weighted, tools.lightgbm, 1e-9),
        "xgboost": ("xgboost", weighted, tools.xgboost, 1e-6),
        "catboost": ("catboost", weighted, tools.catboost, 1e-6),
        "sklearn": ("sklearn", untied, tools.sklearn, 1e-9),
        "trec_eval": ("pytrec_eval", tools.drawn_for_trec_eval, tools.trec_eval, 1e-9),
    }
    return {
        name: Kind(drawn, tools.checker(name, tool, near), 0.05, enumerated=False)
        for name, (library, drawn, tool, near) in found.items()
        if find_spec(library)
    }


KINDS: dict[str, Kind] = {
    "graded": Kind(draw.graded, enumerated.check_measures, 0.25),
    "long ties": Kind(draw.long_ties, enumerated.check_measures, 0.15),
    "dtypes": Kind(draw.of_a_dtype, enumerated.check_measures, 0.15),
    "labels": Kind(draw.any_labels, enumerated.check_measures, 0.10),
    "averages": Kind(draw.averaged, enumerated.check_averages, 0.15),
    "distributions": Kind(draw.distributed, enumerated.check_distributions, 0.05),
    "neighbours": Kind(draw.neighbours, enumerated.check_places, 0.05, False),
    **_of_tools(),
}


def drawn(kind: str, seed: int, number: int) -> Case:
    """The case of this number, the same wherever and whenever it is drawn."""
    return KINDS[kind].draw(Random(f"{kind} {seed} {number}"))
