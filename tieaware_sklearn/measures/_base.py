"""The base class of all measures."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain, takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, TieGroups, Totals, once_per_block
from .._kernel.walks import Walk
from ._distribution import Distribution
from ._fields import RemembersArguments, cutoff, number, spelled
from ._names import names_where, register
from ._user_models import UserModel

BoolArray = NDArray[np.bool_]
#: what a walk stands for: a measure that has another of these has no walk
_FORMULAS = {
    "numerator", "numerator_variance", "gains_of", "defined", "expected", "std", "best",
    "worst", "ideal", "chance", "sampling_error", "std_is_estimate", "found",
}  # fmt: skip
#: numerators, as `found` has them
MEAN, BEST, WORST, STD = range(4)
#: a query, the values that a measure can have there, and their probabilities
Outcomes = Iterator[tuple[int, FloatArray, FloatArray]]


@dataclass(frozen=True)
class Measure(UserModel, RemembersArguments, ABC):
    """Base class of all measures, which are exact under ties.

    Measures are small, immutable and hashable objects: two with the same parameters
    are equal. ``str(measure)`` is the canonical name, which `parse_measure` reads
    back. A measure takes `TieGroups` and returns an array of shape (n_queries,),
    float64, with NaN where the measure is undefined.

    A measure is a numerator divided by a denominator. The order of tied documents
    changes the numerator only.

    See Also
    --------
    parse_measure : Makes a measure from its name.
    ranking_score : Computes the value of a measure.

    Notes
    -----
    The mean over the orders of tied documents follows McSherry and Najork (ECIR
    2008). Each measure states the source of its formula.

    Examples
    --------
    >>> from tieaware_sklearn import NDCG, Measure, parse_measure
    >>> isinstance(parse_measure("ndcg@10"), Measure), str(NDCG(k=10))
    (True, 'NDCG@10')
    """

    name: ClassVar[str]
    #: other names, and the parameters that each of them does not take
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    #: the parameter that a name has after @
    at: ClassVar[str] = "k"
    #: parameters that stand in the name even where they have their default
    always_shown: ClassVar[tuple[str, ...]] = ()
    #: a name in full, of a measure with a parameter that has no default
    example: ClassVar[str] = ""
    #: parameters that a name may give by other words: what they mean, and their values
    synonyms: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    greater_is_better: ClassVar[bool] = True
    #: undefined, and not 0, where its denominator is 0
    undefined_over_zero: ClassVar[bool] = False
    #: a ratio of counts, which micro-averaging may pool over queries
    is_ratio: ClassVar[bool] = False
    #: tells documents without a judgment from those that are not relevant
    takes_unjudged: ClassVar[bool] = False
    #: a query where the measure is undefined may be given a number instead
    takes_zero_relevance: ClassVar[bool] = True
    #: no value is above it, as none is below 0: 1 where a measure is normalised
    maximum: ClassVar[float] = math.inf

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        register(cls)
        # formulas of a subclass, or of another parent that comes first
        newer = takewhile(lambda parent: "walk" not in vars(parent), cls.__mro__)
        if not _FORMULAS.isdisjoint(chain.from_iterable(map(vars, newer))):
            cls.walk = Measure.walk  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        for f in fields(self):
            if check := f.metadata.get("check"):
                object.__setattr__(self, f.name, check(getattr(self, f.name), f.name))

    @property
    def reach(self) -> int | None:
        """The rank down to which this measure looks: deeper documents do not count."""
        return getattr(self, "k", None)

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        """What the kernel adds up for `numerator`; None leaves that to NumPy.

        Of labels on these `levels`, in queries of up to `longest` documents.
        """
        return None

    @abstractmethod
    def numerator(self, groups: TieGroups) -> FloatArray:
        """The mean numerator of each query over the orders of its tied documents."""

    @abstractmethod
    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        """The variance of the numerator over the same orders."""

    def normaliser(self, groups: Totals) -> FloatArray:
        """The denominator of each query, which is the same in every order."""
        return np.ones(groups.n_queries)

    def defined(self, groups: TieGroups) -> BoolArray:
        """Whether the measure is defined, for each query."""
        if self.undefined_over_zero:
            return self.normaliser(groups) > 0
        return np.ones(groups.n_queries, dtype=bool)

    @abstractmethod
    def gains(self, levels: FloatArray) -> FloatArray:
        """The gain of each label; the best order ranks documents by gain."""

    def gains_of(self, groups: TieGroups) -> FloatArray:
        """The gain of each label, computed once per block."""
        return self._gains(groups.everything)

    @once_per_block
    def _gains(self, everything: TieGroups) -> FloatArray:
        return self.gains(everything.levels)

    def found(self, groups: TieGroups, which: int) -> FloatArray:
        """One of the numerators of each query: by the kernel, or by NumPy."""
        walked = groups.walked(self)
        if walked is not None:
            return np.asarray(walked[which])
        if which == MEAN:
            return self.numerator(groups)
        if which == STD:
            return np.sqrt(self.numerator_variance(groups))
        # no group of these mixes gains: the mean is the best, or the worst
        gains = self.gains_of(groups)
        return self.numerator(groups.ordered(gains, descending=which == BEST))

    def _value(self, groups: TieGroups, which: int) -> FloatArray:
        """A numerator of each query, divided; NaN where the measure is undefined."""
        numerator = self.found(groups, which)
        denominator, is_positive, undefined = self._divisor(groups)
        if is_positive.all() and undefined is None:
            return np.asarray(numerator / denominator)
        # nothing over nothing is 0 where a measure is defined (P of an empty list)
        values = np.zeros(numerator.shape)
        np.divide(numerator, denominator, out=values, where=is_positive)
        if undefined is not None:
            np.copyto(values, np.nan, where=undefined)
        return values

    @once_per_block
    def _divisor(
        self, groups: TieGroups
    ) -> tuple[FloatArray, BoolArray, BoolArray | None]:
        """The denominators, which are positive, and where the measure is undefined."""
        denominator, undefined = self.normaliser(groups), ~self.defined(groups)
        return denominator, denominator > 0, undefined if undefined.any() else None

    @once_per_block
    def expected(self, groups: TieGroups) -> FloatArray:
        """The mean value of each query over all orders of its tied documents."""
        return self._value(groups, MEAN)

    def std(self, groups: TieGroups) -> FloatArray:
        """The standard deviation of each query over the same orders."""
        return self._value(groups, STD)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        """The standard error of `expected` where it is an estimate, 0 where exact."""
        return np.zeros(groups.n_queries)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        """1 for queries whose `std` comes from sampled orders, 0 where exact."""
        return np.zeros(groups.n_queries)

    def distributions(self, groups: TieGroups) -> list[Distribution]:
        """The distribution of each query over the same orders.

        Raises
        ------
        ValueError
            If the distribution of the measure has no closed form, or is too large.
        """
        out = [
            Distribution(np.zeros(1), np.ones(1))
            if is_defined
            else Distribution.undefined()
            for is_defined in self.defined(groups).tolist()
        ]
        for query, values, chances in self._outcomes(groups):
            if len(out[query]):
                out[query] = Distribution.of(values, chances)
        return out

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        """The parts of `distributions`; queries that are left out have the value 0."""
        known = names_where(lambda cls: cls._outcomes is not Measure._outcomes)
        raise ValueError(
            f"the distribution of {self} over the orders of ties has no closed form "
            f"(sampled() estimates it); {known} have one"
        )

    def best(self, groups: TieGroups) -> FloatArray:
        """The value of each query in the most favourable order."""
        return self._bound(groups, BEST)

    def worst(self, groups: TieGroups) -> FloatArray:
        """The value of each query in the least favourable order."""
        return self._bound(groups, WORST)

    def _bound(self, groups: TieGroups, which: int) -> FloatArray:
        expected = self.expected(groups)
        if not groups.mixed:
            return expected
        bound = np.maximum if (which == BEST) == self.greater_is_better else np.minimum
        # worst <= expected <= best holds in floats too, not only on paper
        return np.asarray(bound(self._value(groups, which), expected))

    def ideal(self, groups: TieGroups) -> FloatArray:
        """The best value of each query if all its documents are retrieved and tie."""
        return self.best(groups.everything)

    def chance(self, groups: TieGroups) -> FloatArray:
        """The expected value of each query if all its documents tie."""
        return self.expected(groups.everything)

    def __str__(self) -> str:
        return spelled(self)


class RelevanceMeasure(Measure):
    """A measure of binary relevance: labels of at least `rel` are relevant."""

    rel: float

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self.rel)

    def _walk(self, kind: str, levels: FloatArray, **options: Any) -> Walk | None:
        """A walk that counts the levels from the first relevant one on."""
        if type(self).gains is not RelevanceMeasure.gains:
            # the best order is another
            return None
        return Walk(kind, least=int(np.searchsorted(levels, self.rel)), **options)

    def total(self, groups: Totals) -> FloatArray:
        """R, the relevant documents of each query, retrieved or not."""
        return groups.total_relevant(self.rel).astype(np.float64)


@dataclass(frozen=True)
class BinaryMeasure(RelevanceMeasure):
    """A measure of binary relevance with a cut-off."""

    k: int | None = cutoff()
    rel: float = number(1.0, above=0)


@dataclass(frozen=True)
class MeasureOverRelevant(RelevanceMeasure):
    """A measure divided by R, the number of relevant documents; undefined if R is 0."""

    undefined_over_zero: ClassVar[bool] = True
    rel: float = number(1.0, above=0)

    def normaliser(self, groups: Totals) -> FloatArray:
        return self.total(groups)


def relevance(levels: FloatArray, rel: float) -> FloatArray:
    """1 for levels of at least `rel`, 0 for the others."""
    return (levels >= rel).astype(np.float64)
