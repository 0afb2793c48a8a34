"""What there is to fuzz: how cases are drawn, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.fuzz import draw, enumerated
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


KINDS: dict[str, Kind] = {
    "graded": Kind(draw.graded, enumerated.check_measures, 0.25),
    "long ties": Kind(draw.long_ties, enumerated.check_measures, 0.15),
    "dtypes": Kind(draw.of_a_dtype, enumerated.check_measures, 0.15),
    "labels": Kind(draw.any_labels, enumerated.check_measures, 0.10),
    "averages": Kind(draw.averaged, enumerated.check_averages, 0.15),
    "distributions": Kind(draw.distributed, enumerated.check_distributions, 0.05),
    "neighbours": Kind(draw.neighbours, enumerated.check_places, 0.05, False),
}


def drawn(kind: str, seed: int, number: int) -> Case:
    """The case of this number, the same wherever and whenever it is drawn."""
    return KINDS[kind].draw(Random(f"{kind} {seed} {number}"))
