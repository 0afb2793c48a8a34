"""What a measure is."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .._engine.ties import FloatArray, Reach, TieGroups
from .._engine.validation import check_cutoff, is_number
from ._distribution import Distribution
from ._gains import gain_spelling, shortest
from ._names import names_where, register
from ._user_models import UserModel


@dataclass(frozen=True)
class Measure(UserModel, ABC):
    """A measure of a ranking, under ties.

    Measures are small, immutable and hashable: their fields are all there is to
    them, `str` is the canonical name and `parse_measure` reads it back. They
    take `TieGroups` and give one value per query, NaN where the measure is
    undefined.

    A measure is a numerator over a denominator, and the order of tied documents
    moves the numerator alone.
    """

    name: ClassVar[str]
    #: other names, and the parameters that each of them does not take
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: the parameter that a name has after @
    at: ClassVar[str] = "k"
    #: a name in full, of a measure with a parameter that has no default
    example: ClassVar[str] = ""
    greater_is_better: ClassVar[bool] = True
    #: a ratio of counts, which micro-averaging may pool over queries
    is_ratio: ClassVar[bool] = False
    #: tells documents without a judgment from those that are not relevant
    takes_unjudged: ClassVar[bool] = False
    #: a query where the measure is undefined may be given a number instead
    takes_zero_relevance: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)

    @classmethod
    def parameters(cls, given: dict[str, Any], spelled: str) -> dict[str, Any]:
        """Those that are given in a name, spelled so, as the class takes them."""
        return given

    @property
    def reach(self) -> Reach:
        """How far down a ranking this looks: what lies deeper changes no value."""
        return Reach(getattr(self, "k", None))

    @abstractmethod
    def numerator(self, groups: TieGroups) -> FloatArray:
        """Mean numerator of each query over the orders of its tied documents."""

    @abstractmethod
    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """Variance of the numerator over the same orders."""

    def normaliser(self, groups: TieGroups) -> FloatArray:
        """Denominator of each query, the same in every order."""
        return np.ones(groups.n_queries)

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Queries for which the measure means something."""
        return np.ones(groups.n_queries, dtype=bool)

    @abstractmethod
    def gains(self, levels: FloatArray) -> FloatArray:
        """What a document of each level is worth: its best order is by gain."""

    def gains_of(self, groups: TieGroups) -> FloatArray:
        """The gain of each level, once per block."""

        def compute() -> FloatArray:
            return self.gains(groups.levels)

        gains: FloatArray = groups.everything.memo(("gains", self), compute)
        return gains

    def _divide(self, numerator: FloatArray, groups: TieGroups) -> FloatArray:
        denominator = self.normaliser(groups)
        # nothing over nothing is 0 where a measure is defined (P of an empty list)
        values = np.zeros(groups.n_queries)
        np.divide(numerator, denominator, out=values, where=denominator > 0)
        values[~self.defined(groups)] = np.nan
        return values

    def expected(self, groups: TieGroups) -> FloatArray:
        """Mean of each query over every order of its tied documents."""

        def compute() -> FloatArray:
            return self._divide(self.numerator(groups), groups)

        values: FloatArray = groups.memo(("expected", self), compute)
        return values

    def std(self, groups: TieGroups) -> FloatArray:
        """Standard deviation of each query over the same orders."""
        return self._divide(np.sqrt(self.numerator_variance(groups)), groups)

    def standard_error(self, groups: TieGroups) -> FloatArray:
        """Standard error of `expected` where it is an estimate, 0 where exact."""
        return np.zeros(groups.n_queries)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        """1 for queries whose `std` comes from sampled orders, 0 where exact."""
        return np.zeros(groups.n_queries)

    def distributions(self, groups: TieGroups) -> list[Distribution]:
        """Distribution of each query over the same orders, where it is known."""
        known = names_where(lambda cls: cls.distributions is not Measure.distributions)
        raise ValueError(
            f"the distribution of {self} over tie orders has no closed form "
            f"(sampled() estimates it); {known} have one"
        )

    def best(self, groups: TieGroups) -> FloatArray:
        """Value of each query in the most favourable order."""
        return self._extreme(groups, favourable=True)

    def worst(self, groups: TieGroups) -> FloatArray:
        """Value of each query in the least favourable order."""
        return self._extreme(groups, favourable=False)

    def _extreme(self, groups: TieGroups, *, favourable: bool) -> FloatArray:
        expected = self.expected(groups)
        if not groups.mixed:
            return expected
        order = groups.ordered(self.gains_of(groups), descending=favourable)
        bound = np.maximum if favourable == self.greater_is_better else np.minimum
        # worst <= expected <= best holds in floats too, not only on paper
        return np.asarray(bound(self.expected(order), expected))

    def ideal(self, groups: TieGroups) -> FloatArray:
        """Best value of each query if all its documents were retrieved and tied."""
        return self.best(groups.everything)

    def chance(self, groups: TieGroups) -> FloatArray:
        """Expected value of each query if all its documents tied."""
        return self.expected(groups.everything)

    def __str__(self) -> str:
        shown = ",".join(
            f"{f.name}={_spell(f.name, getattr(self, f.name))}"
            for f in fields(self)
            if f.name != "k" and self._is_shown(f)
        )
        k = getattr(self, "k", None)
        return (
            self.name + (f"({shown})" if shown else "") + ("" if k is None else f"@{k}")
        )

    def _is_shown(self, field: Field[Any]) -> bool:
        return field.default is MISSING or getattr(self, field.name) != field.default


@dataclass(frozen=True)
class BinaryMeasure(Measure):
    """A measure of documents that are relevant or not, with a cut-off."""

    k: int | None = None
    rel: float = 1.0

    def __post_init__(self) -> None:
        set_cutoff(self)
        set_number(self, "rel", above=0)

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self.rel)


@dataclass(frozen=True)
class MeasureOverRelevant(Measure):
    """A measure over R, the number of relevant documents; undefined without any."""

    rel: float = 1.0

    def __post_init__(self) -> None:
        set_number(self, "rel", above=0)

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self.rel)

    def normaliser(self, groups: TieGroups) -> FloatArray:
        return groups.total_relevant(self.rel).astype(np.float64)

    def defined(self, groups: TieGroups) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return groups.total_relevant(self.rel) > 0


def relevance(levels: FloatArray, rel: float) -> FloatArray:
    """1 for levels of at least `rel`, 0 for the others."""
    return (levels >= rel).astype(np.float64)


def _spell(name: str, value: Any) -> str:
    if name == "gain":
        return gain_spelling(value)
    if isinstance(value, tuple):
        return "[" + ",".join(map(shortest, value)) + "]"
    return shortest(float(value)) if isinstance(value, numbers.Real) else str(value)


def set_cutoff(measure: Any) -> None:
    object.__setattr__(measure, "k", check_cutoff(measure.k))


def set_number(
    measure: Any,
    name: str,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> None:
    """Check a numeric parameter of a frozen measure and store it as a float."""
    value = getattr(measure, name)
    if not is_number(value, above=above, below=below, least=least, most=most):
        bounds = {">": above, "<": below, ">=": least, "<=": most}
        rules = [f"{sign} {x:g}" for sign, x in bounds.items() if math.isfinite(x)]
        rule = " and ".join(rules)
        raise ValueError(f"{name} must be a finite number {rule}, got {value!r}")
    object.__setattr__(measure, name, float(value))
