"""What there is to fuzz: how cases are drawn, and how they are checked."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.fuzz import draw, enumerated
from tests.fuzz.cases import Case
from tests.fuzz.enumerated import Tally


class Kind(NamedTuple):
    """How cases are drawn and checked."""

    draw: Callable[[Random], Case]
    #: raises where the library is wrong, or tells what was compared
    check: Callable[[Case], Tally]
    #: cases in a row, before it is the turn of the next kind
    batch: int
    #: whether all orders of ties are gone through: each measure is a case
    enumerated: bool = True


KINDS: dict[str, Kind] = {
    "graded": Kind(draw.graded, enumerated.check_measures, 3),
    "long ties": Kind(draw.long_ties, enumerated.check_measures, 1),
    "dtypes": Kind(draw.of_a_dtype, enumerated.check_measures, 4),
    "labels": Kind(draw.any_labels, enumerated.check_measures, 5),
    "averages": Kind(draw.averaged, enumerated.check_averages, 2),
    "distributions": Kind(draw.distributed, enumerated.check_distributions, 10),
    "neighbours": Kind(draw.neighbours, enumerated.check_places, 20, False),
}


def drawn(kind: str, seed: int, number: int) -> Case:
    """The case of this number, the same wherever and whenever it is drawn."""
    return KINDS[kind].draw(Random(f"{kind} {seed} {number}"))
