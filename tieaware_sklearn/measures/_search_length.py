"""Measures of the i-th relevant document: expected search length, and precision."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats

from .._engine.segments import expand, sum_segments
from .._engine.ties import FloatArray, IntArray, TieGroups
from .._engine.validation import check_count
from ._base import BoolArray, Outcomes, RelevanceMeasure
from ._fields import number


class _Stop(NamedTuple):
    """The tie groups in which the i-th relevant documents stand.

    Attributes
    ----------
    query : ndarray of shape (n_found,)
    before : ndarray of shape (n_found,)
        Non-relevant documents above the group.
    r, s : ndarray of shape (n_found,)
        Relevant and other documents of the group.
    j : ndarray of shape (n_found,)
        Which of its relevant documents it is.
    """

    query: IntArray
    before: IntArray
    r: IntArray
    s: IntArray
    j: IntArray

    def mean(self) -> FloatArray:
        return np.asarray(self.before + self.j * (self.s / (self.r + 1)))

    def chances(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Owners, x and the chance of x of the group's s above: 0 ... s each."""
        owner, x = expand(self.s + 1)
        n, s, j = (self.r + self.s)[owner], self.s[owner], self.j[owner]
        return owner, x, np.asarray(stats.nhypergeom.pmf(x, n, s, j))


def _count(value: Any, name: str) -> int:
    check_count(value, name)
    if value > 2**53:
        raise ValueError(f"{name} must be at most 2**53, got {value}")
    return int(value)


@dataclass(frozen=True)
class _IthRelevant(RelevanceMeasure):
    i: int = field(default=1, metadata={"check": _count})
    rel: float = number(1.0, above=0)

    @abstractmethod
    def _worth(self, above: FloatArray) -> FloatArray:
        """The value, given the number of non-relevant documents above."""

    def numerator(self, groups: TieGroups) -> FloatArray:
        stop = self._stop(groups)
        values = np.zeros(groups.n_queries)
        values[stop.query] = self._worth(stop.mean())
        return values

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        stop = self._stop(groups)
        owner, x, chance = stop.chances()
        worth = self._worth((stop.before[owner] + x).astype(np.float64))
        ends = np.cumsum(stop.s + 1)
        places = map(slice, (ends - stop.s - 1).tolist(), ends.tolist())
        for query, own in zip(stop.query.tolist(), places, strict=True):
            yield query, worth[own], chance[own]

    def _stop(self, groups: TieGroups) -> _Stop:
        r = groups.relevant(self.rel)
        above = groups.relevant_above(self.rel)
        chosen = np.flatnonzero((above < self.i) & (self.i <= above + r))
        found, above = r[chosen], above[chosen]
        return _Stop(
            groups.query[chosen],
            groups.lo[chosen] - above,
            found,
            groups.n[chosen] - found,
            self.i - above,
        )


@dataclass(frozen=True)
class SearchLength(_IthRelevant):
    """Expected search length: non-relevant documents above the i-th relevant one.

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants, at most 2^53.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For i < 1 or rel <= 0.

    See Also
    --------
    ReciprocalRank : 1 divided by the rank of the first relevant document.
    RaghavanPrecision : Precision at the end of such a search.

    Notes
    -----
    Lower is better. The search length is undefined where fewer than i relevant
    documents are retrieved. Averages leave out such queries, whatever number
    `zero_relevance` is, because 0 would be a perfect value; ``zero_relevance="raise"``
    makes them an error. The lift of a report is Cooper's reduction factor.

    The definition is that of Cooper (1968). In a tie group with r relevant and s
    other documents, the j-th relevant document has, on average, j s/(r + 1) of the
    others above it, with variance j (r - j + 1) s (r + s + 1) / ((r + 1)² (r + 2)).

    Examples
    --------
    >>> from tieaware_sklearn import SearchLength, ranking_score
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=SearchLength())
    2.0
    """

    name: ClassVar[str] = "ESL"
    greater_is_better: ClassVar[bool] = False
    takes_zero_relevance: ClassVar[bool] = False

    def _worth(self, above: FloatArray) -> FloatArray:
        return above

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        stop = self._stop(groups)
        r, s, j = (a.astype(np.float64) for a in (stop.r, stop.s, stop.j))
        values = np.zeros(groups.n_queries)
        share = j / (r + 1) * (r - j + 1) / (r + 1)
        values[stop.query] = share * s * (r + s + 1) / (r + 2)
        return values

    def defined(self, groups: TieGroups) -> BoolArray:
        found = np.zeros(groups.n_queries, dtype=bool)
        found[self._stop(groups).query] = True
        return found


@dataclass(frozen=True)
class RaghavanPrecision(_IthRelevant):
    """Precision of a user who stops at the i-th relevant document: i/(i + ESL_i).

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants, at most 2^53.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For i < 1 or rel <= 0.

    See Also
    --------
    SearchLength : The expected search length ESL_i.
    Precision : Precision at a fixed rank.

    Notes
    -----
    This is the probability of relevance, PRR, of Raghavan, Bollmann and Jung (1989).
    It is the harmonic mean, over the orders of ties, of the precision i/rank at the
    rank of the i-th relevant document; for every other measure, the expected value is
    the arithmetic mean. Best, worst and standard deviation are those of i/rank. The
    value is 0 where fewer than i relevant documents are retrieved, and undefined
    where the query has fewer than i.

    Examples
    --------
    >>> from tieaware_sklearn import RaghavanPrecision, ranking_score
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=RaghavanPrecision())
    0.3333333333333333
    """

    name: ClassVar[str] = "PRR"
    maximum: ClassVar[float] = 1.0

    def _worth(self, above: FloatArray) -> FloatArray:
        return self.i / (self.i + above)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        stop = self._stop(groups)
        owner, x, chance = stop.chances()
        value = self.i / (self.i + stop.before[owner] + x)
        mean = sum_segments(chance * value, stop.s + 1)
        deviation = value - mean[owner]
        values = np.zeros(groups.n_queries)
        values[stop.query] = sum_segments(chance * deviation**2, stop.s + 1)
        return values

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) >= self.i
