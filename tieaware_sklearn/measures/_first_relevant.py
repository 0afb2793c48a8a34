"""Measures of the first relevant documents: RR, Success, expected search length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats

from .._engine import (
    FloatArray,
    IntArray,
    TieGroups,
    check_count,
    expand,
    starts_of,
    sum_segments,
)
from .._kernel import Walk
from ._base import BinaryMeasure, BoolArray, Outcomes, RelevanceMeasure, even, number

# beyond this many times n/r places, no relevant document has been met with a
# chance below 1e-18
_FAR = 41.5
_CELLS = 1 << 16


class _Walks(NamedTuple):
    """Walks down the groups that hold the first relevant document of a query.

    Attributes
    ----------
    query : ndarray of shape (n_walks,)
    rank : ndarray of shape (n_walks, n_places), float64
        Rank of each place, from 1.
    chance : ndarray of shape (n_walks, n_places)
        Chance that the first relevant document stands there; 0 beyond the
        cut-off.
    missed : ndarray of shape (n_walks,)
        Chance that it stands below the cut-off.
    """

    query: IntArray
    rank: IntArray
    chance: FloatArray
    missed: FloatArray


def _first_relevant(groups: TieGroups, rel: float, k: int | None) -> Iterator[_Walks]:
    """Where the first relevant document stands.

    It is in the first group that holds one, of n documents, r of them relevant,
    lo above it: at its x-th place with chance p_1 = r/n,
    p_{x+1} = p_x (n - r - x + 1)/(n - x). McSherry and Najork (2008), section
    3.4, whose printed f(x) is the chance that none of the first x is relevant;
    what belongs there is f(x - 1) - f(x), as its text says.
    """
    holding, per_query = groups.holding(rel)
    chosen = holding[starts_of(per_query)[per_query > 0]]
    lo, n, r = groups.lo[chosen], groups.n[chosen], groups.relevant(rel)[chosen]
    all_places = np.minimum(groups.inside(k, chosen), n - r + 1)
    places = np.minimum(all_places, np.ceil(_FAR * n / r).astype(np.int64))
    cut = places == all_places

    # a width that depends on the walk alone keeps its sums free of its neighbours
    width = 1 << np.ceil(np.log2(np.maximum(places, 1))).astype(np.int64)
    width[places == 0] = 0
    for columns in np.unique(width[width > 0]).tolist():
        of_width = np.flatnonzero(width == columns)
        step = max(1, _CELLS // columns)
        for at in range(0, len(of_width), step):
            part = of_width[at : at + step]
            x = np.arange(float(columns))
            inside = x < places[part, None]
            left = np.maximum(n[part, None] - x, 1.0)
            steps = np.maximum(left - r[part, None], 0.0)
            steps /= left
            steps[~inside] = 1.0
            missed = np.asarray(np.multiply.accumulate(steps, axis=1))
            chance: FloatArray = r[part, None] / left
            chance[:, 1:] *= missed[:, :-1]
            chance[~inside] = 0.0
            yield _Walks(
                groups.query[chosen[part]],
                lo[part, None] + (x + 1),
                chance,
                # a walk that ends because it is hopeless to go on misses nothing
                np.where(cut[part], missed[:, -1], 0.0),
            )


class FirstRelevantMeasure(BinaryMeasure):
    """A measure of the place of the first relevant document."""

    maximum: ClassVar[float] = 1.0

    def _walks(self, groups: TieGroups) -> Iterator[_Walks]:
        return _first_relevant(groups, self.rel, self.k)

    def _of_walks(
        self, groups: TieGroups, of: Callable[[_Walks], FloatArray]
    ) -> FloatArray:
        """What `of` gives for each query, 0 for those without a walk."""
        values = np.zeros(groups.n_queries)
        for walk in self._walks(groups):
            values[walk.query] = of(walk)
        return values


@dataclass(frozen=True)
class ReciprocalRank(FirstRelevantMeasure):
    """Reciprocal rank: 1 divided by the rank of the first relevant document.

    Parameters
    ----------
    k : int, optional
        Cut-off. The value is 0 where no relevant document is among the first k.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For k < 1 or rel <= 0.

    See Also
    --------
    Success : Whether a relevant document is among the first k.
    ERR : Expected reciprocal rank for graded relevance.
    SearchLength : The number of non-relevant documents above the first relevant one.

    Notes
    -----
    Reciprocal rank is 0 for queries without a relevant document. The mean of the
    reciprocal rank is not the reciprocal of the mean rank. For the mean under ties
    see McSherry and Najork (2008), section 3.4. A misprint is corrected: they print
    the probability f(x) that none of the first x documents of the group is relevant
    where the difference f(x - 1) - f(x) is needed.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import ReciprocalRank
    >>> ranking_score([0, 1], [1, 1], measure=ReciprocalRank())
    0.75
    """

    name: ClassVar[str] = "RR"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"mrr": ()}

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        return self._walk("first", levels, depth=self.k)

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._of_walks(groups, lambda w: (w.chance / w.rank).sum(axis=1))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        mean = self._mean(groups)

        def variance(walk: _Walks) -> FloatArray:
            m = mean[walk.query]
            deviation = 1 / walk.rank - m[:, None]
            spread = (walk.chance * deviation * deviation).sum(axis=1)
            return np.asarray(spread + walk.missed * m * m)

        return self._of_walks(groups, variance)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        shown = self._needed(labels)[: self.k] >= self.rel
        return even(int(np.argmax(shown)) + 1 if shown.any() else len(shown))

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for walk in self._walks(groups):
            for row, query in enumerate(walk.query.tolist()):
                values = np.append(1 / walk.rank[row], 0.0)
                yield query, values, np.append(walk.chance[row], walk.missed[row])


@dataclass(frozen=True)
class Success(FirstRelevantMeasure):
    """Success: 1 where a relevant document is among the first k, else 0.

    Its average over queries is also called the hit rate.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, any relevant document that is retrieved is a success.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For k < 1 or rel <= 0.

    See Also
    --------
    ReciprocalRank : 1 divided by the rank of the first relevant document.

    Notes
    -----
    Success is 0 for queries without a relevant document. Under ties its mean is the
    probability p of a success, and its variance is p (1 - p). The definition is that
    of trec_eval.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Success
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=Success(k=2))
    0.33333333333333337
    """

    name: ClassVar[str] = "Success"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"hit": ()}

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        return self._walk("found", levels, depth=self.k)

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._of_walks(groups, lambda walk: 1 - walk.missed)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._of_walks(groups, lambda walk: walk.missed * (1 - walk.missed))

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for query, chance in enumerate(self.numerator(groups).tolist()):
            yield query, np.arange(2.0), np.array([1 - chance, chance])


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
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import SearchLength
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
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import RaghavanPrecision
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
