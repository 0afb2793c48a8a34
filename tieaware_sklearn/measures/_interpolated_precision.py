"""Interpolated precision, at one recall level and averaged over many."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups, once_per_block
from .._engine.validation import is_number
from ._base import BoolArray, Outcomes, RelevanceMeasure
from ._fields import choice, number
from ._interpolated_ties import REACH, RelevantInTies, relevant_in_ties

_ROUNDING = ("up", "nearest", "trec_eval9")


class _Query(NamedTuple):
    """The relevant documents of a query, and what is averaged of them."""

    ties: RelevantInTies
    depths: IntArray
    weights: FloatArray

    def mean(self) -> float:
        return self.ties.mean(self.depths, self.weights)

    def variance(self) -> float:
        return self.ties.variance(self.depths, self.weights)

    def error(self) -> float:
        return self.ties.error(self.depths, self.weights)

    def estimated(self) -> float:
        return float(self.ties.is_estimate(self.depths))


@dataclass(frozen=True)
class _Interpolated(RelevanceMeasure):
    """A weighted mean of precisions interpolated at several depths.

    The precision interpolated at depth c is the largest i/pos_i over i >= c, pos_i
    being the rank of the i-th relevant document (0 where c are not retrieved).
    """

    maximum: ClassVar[float] = 1.0

    @abstractmethod
    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        """Depths c, ascending, and their weights, for `total` relevant documents."""

    @once_per_block
    def _queries(self, groups: TieGroups) -> list[_Query | None]:
        """Each query, None without a relevant document."""
        ties = relevant_in_ties(groups, self.rel)
        averaged = cache(self._depths)
        return [
            _Query(own, *averaged(total)) if total else None
            for own, total in zip(
                ties, groups.total_relevant(self.rel).tolist(), strict=True
            )
        ]

    def _column(self, groups: TieGroups, of: Callable[[_Query], float]) -> FloatArray:
        queries = self._queries(groups)
        return np.array([0.0 if q is None else of(q) for q in queries])

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.mean)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.variance)

    def sampling_error(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.error)

    def std_is_estimate(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, _Query.estimated)

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) > 0


@dataclass(frozen=True)
class InterpolatedPrecision(_Interpolated):
    """Interpolated precision: the highest precision at recall `recall` or above.

    Parameters
    ----------
    recall : float
        Recall level in [0, 1]. Names have it after @: ``IPrec@0.1``.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        How to round recall · R, with R relevant documents, to a number of documents:
        up, to ⌈recall · R⌉; to the nearest integer, as in trec_eval 10; or down after
        adding 0.9 in floats, as in trec_eval 9, which is sometimes one less than
        ⌈recall · R⌉.

    Raises
    ------
    ValueError
        For a recall outside [0, 1], rel <= 0 or an unknown rounding.

    See Also
    --------
    precision_recall_curve : Interpolated precision at all recall levels.
    InterpolatedAveragePrecision : The average over recall levels.

    Notes
    -----
    Interpolated precision is undefined for queries without a relevant document. With
    R of them, it is the largest i/(rank of the i-th relevant document) over
    i >= max(1, ⌈recall · R⌉). The product is computed in exact arithmetic: 0.1 is a
    tenth. See Manning, Raghavan and Schütze (2008), section 8.4.

    Mean and standard deviation under ties are exact where Σ n r over the tie groups
    of a query is at most 10,000, with n documents in a group, r of them relevant.
    Groups of relevant documents only do not count. Beyond this limit, both are
    estimates from 100 to 1,000 sampled orders (up to 20 million places of relevant
    documents), and reports state the standard error of the mean; the distribution is
    an error.

    A query takes up to a tenth of a second, up to a second with thousands of short
    ties, and a few seconds and 100 MB with 10^6 tied documents. Reports also compute
    the chance level, for which all documents tie. Results that several queries,
    levels or measures share are computed once.

    Examples
    --------
    >>> from tieaware_sklearn import InterpolatedPrecision, ranking_score
    >>> ranking_score([0, 1, 1], [3, 2, 1], measure=InterpolatedPrecision(0.5))
    0.6666666666666666
    """

    name: ClassVar[str] = "IPrec"
    at: ClassVar[str] = "recall"
    example: ClassVar[str] = "IPrec@0.1"
    recall: float = number(least=0, most=1)
    rel: float = number(1.0, above=0)
    rounding: str = choice(*_ROUNDING)

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        return np.array([_depth(self.recall, total, self.rounding)]), np.ones(1)

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for number_of_query, query in enumerate(self._queries(groups)):
            if query is None:
                continue
            if query.ties.is_long:
                raise ValueError(
                    f"the distribution of {self} is computed where the sum of n r over "
                    "the tie groups of a query (n documents, r of them relevant) is at "
                    f"most {REACH}, got {query.ties.cost} (sampled() estimates it)"
                )
            law = query.ties.law(int(query.depths[0]))
            yield number_of_query, law.values, law.chances()


def _points(value: Any, name: str) -> int | str:
    if isinstance(value, str) and value == "all":
        return value
    if isinstance(value, numbers.Integral) and is_number(value, least=2, most=1001):
        return int(value)
    raise ValueError(
        f'{name} must be an integer from 2 to 1001 or "all", got {value!r}'
    )


@dataclass(frozen=True)
class InterpolatedAveragePrecision(_Interpolated):
    """Interpolated precision averaged over 11 recall levels, or over all.

    Parameters
    ----------
    points : int or "all", default=11
        Number of evenly spaced recall levels from 0 to 1, from 2 to 1,001. "all" has
        one level for each relevant document of the query (all-point interpolation).
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    rounding : {"up", "nearest", "trec_eval9"}, default="up"
        As in `InterpolatedPrecision`.

    Raises
    ------
    ValueError
        For fewer than two points or more than 1,001, rel <= 0 or an unknown rounding.

    See Also
    --------
    InterpolatedPrecision : Interpolated precision at one recall level.
    precision_recall_curve : Interpolated precision at each recall level.
    AveragePrecision : The average without interpolation.

    Notes
    -----
    The measure is undefined for queries without a relevant document. It is described
    by Salton and McGill (1983). TREC averages over 11 points, and PASCAL VOC over all
    points since 2010. The mean under ties is exact under the same condition as for
    `InterpolatedPrecision`. The standard deviation is an estimate from 100 to 1,000
    sampled orders wherever ties change the value.

    Examples
    --------
    >>> from tieaware_sklearn import InterpolatedAveragePrecision, ranking_score
    >>> ranked = [1, 0, 1, 0, 0, 1]
    >>> measure = InterpolatedAveragePrecision()
    >>> round(ranking_score(ranked, [6, 5, 4, 3, 2, 1], measure=measure), 4)
    0.7273
    """

    name: ClassVar[str] = "IAP"
    points: int | str = field(default=11, metadata={"check": _points})
    rel: float = number(1.0, above=0)
    rounding: str = choice(*_ROUNDING)

    def _depths(self, total: int) -> tuple[IntArray, FloatArray]:
        if isinstance(self.points, str):
            return np.arange(1, total + 1), np.full(total, 1 / total)
        last = self.points - 1
        levels = [
            _depth(Fraction(step, last), total, self.rounding)
            for step in range(self.points)
        ]
        depths, counts = np.unique(levels, return_counts=True)
        return depths, counts / self.points


def _depth(recall: float | Fraction, total: int, rounding: str) -> int:
    """Relevant documents that make up a recall, at least one."""
    if rounding != "up":
        added = 0.9 if rounding == "trec_eval9" else 0.5
        return max(int(float(recall) * total + added), 1)
    exact = Fraction(repr(recall)) if isinstance(recall, float) else recall
    return max(math.ceil(exact * total), 1)
