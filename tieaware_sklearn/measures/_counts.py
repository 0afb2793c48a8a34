"""Counts of documents above a cut-off, and places of the first relevant ones.

Measures of the set of documents above a cut-off: P, R, F, fallout, R-precision.

All count the relevant documents down to rank k, or those judged. A tie group of n
documents, r of them relevant, with kk places above the cut-off, adds a hypergeometric
count: mean r kk / n, variance r (n - r) kk (n - kk) / (n² (n - 1)). SetAP, of the whole
list, is the same in every order.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import gammaln

from .._engine import checks, segments
from .._engine.tie_groups import TieGroups, Totals
from .._typing import BoolArray, FloatArray, IntArray
from . import _measure, _places
from ._measure import (
    BinaryMeasure,
    CappedMeasure,
    MeasureOverRelevant,
    Outcomes,
    RelevanceMeasure,
)
from ._values import Detail


class _CountMeasure(RelevanceMeasure):
    """A count of documents above a cut-off, over a total."""

    is_ratio = True
    #: the cut-off is the number of relevant documents of the query
    at_relevant: ClassVar[bool] = False
    #: documents that are not relevant are counted
    others: ClassVar[bool] = False
    k: int | None

    @property
    def worth(self) -> float:
        """The amount that one document adds to the numerator."""
        return 1.0

    def _cutoff(self, groups: TieGroups) -> int | IntArray | None:
        return groups.total_relevant(self.rel) if self.at_relevant else self.k

    def _counted(self, groups: TieGroups) -> IntArray:
        """Documents of each group that the measure counts."""
        relevant = groups.relevant(self.rel)
        return groups.n - relevant if self.others else relevant

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return np.ones(len(rank))

    def spread_within_ties(self, groups: TieGroups) -> FloatArray:
        # ranks down to the cut-off are worth 1, the others 0
        inside = groups.inside(self._cutoff(groups))
        return groups.sum_groups(inside * (1 - inside / groups.n))

    def numerator(self, groups: TieGroups) -> FloatArray:
        counted = self._counted(groups)
        inside = groups.inside(self._cutoff(groups))
        return self.worth * groups.sum_groups(counted * inside / groups.n)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        # in floats: the product of four counts leaves 64-bit integers behind
        n = groups.n.astype(np.float64)
        counted = self._counted(groups) / n
        inside = groups.inside(self._cutoff(groups)) / n
        spread = counted * (1 - counted) * inside * (1 - inside)
        variance = groups.sum_groups(spread * n * n / np.maximum(n - 1, 1))
        return self.worth**2 * variance

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        counted, inside = self._counted(groups), groups.inside(self._cutoff(groups))
        cut = (inside > 0) & (inside < groups.n)
        whole = groups.sum_groups(np.where(cut, 0, counted * (inside > 0)))
        normaliser = np.maximum(self.normaliser(groups), 1)
        # a cut-off falls into one group at most
        open_group = np.full(groups.n_queries, -1)
        open_group[groups.query[cut]] = np.flatnonzero(cut)
        for query, g in enumerate(open_group.tolist()):
            hits, chance = np.zeros(1), np.ones(1)
            if g >= 0:
                n, c, kk = int(groups.n[g]), int(counted[g]), int(inside[g])
                hits = np.arange(max(0, c + kk - n), min(c, kk) + 1, dtype=np.float64)
                chance = stats.hypergeom.pmf(hits, n, c, kk)
            worth = self.worth * (whole[query] + hits)
            yield query, worth / normaliser[query], chance

    def _places(self, groups: Totals) -> FloatArray:
        """Places down to the cut-off, filled or not; without one, those filled."""
        if self.k is None:
            return groups.retrieved.astype(np.float64)
        return np.full(groups.n_queries, float(self.k))


@dataclass(frozen=True)
class Precision(_CountMeasure, BinaryMeasure):
    """Precision: the share of the first k documents that are relevant.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, P divides by the number of documents retrieved.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"cutoff", "retrieved"}, default="cutoff"
        Divisor where the list is shorter than k: k itself ("cutoff") or the length of
        the list ("retrieved").

    Raises
    ------
    ValueError
        For k < 1, rel <= 0 or an unknown denominator.

    See Also
    --------
    Recall : The share of the relevant documents that are found.
    RPrecision : Precision at the number of relevant documents.
    FBeta : The harmonic mean of precision and recall.

    Notes
    -----
    Precision is 0 for queries without a relevant document. For the mean under ties
    see McSherry and Najork (2008), section 2.1.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Precision
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Precision(k=2))
    0.6666666666666666
    """

    name = "P"
    # with Set in front: ir-measures' names for measures of the whole list
    aliases: ClassVar = {"precision": (), "SetP": ("k",)}
    denominator: str = _measure.choice("cutoff", "retrieved")

    def normaliser(self, groups: Totals) -> FloatArray:
        if self.denominator == "retrieved":
            return np.minimum(self._places(groups), groups.retrieved)
        return self._places(groups)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is not None and self.denominator == "cutoff":
            return _measure.even(self.k, n)
        return _measure.even(len(self._required(labels)[: self.k]))


@dataclass(frozen=True)
class Recall(_CountMeasure, CappedMeasure):
    """Recall: the share of the relevant documents found down to rank k.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, every document retrieved counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        Divisor: R, the number of relevant documents ("relevant"), or min(k, R)
        ("cutoff": capped recall, in which a perfect list scores 1).

    Raises
    ------
    ValueError
        For k < 1, rel <= 0 or an unknown denominator.

    See Also
    --------
    Precision : The share of the documents found that are relevant.
    Fallout : The share of the non-relevant documents that are found.

    Notes
    -----
    Recall is undefined for queries without a relevant document. For the mean under
    ties see McSherry and Najork (2008), section 2.2. Capped recall is R_cap of BEIR
    (Thakur et al., NeurIPS Datasets 2021) and relative_P of trec_eval.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Recall
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Recall(k=2))
    0.6666666666666666
    """

    name = "R"
    aliases: ClassVar = {"recall": (), "SetR": ("k",)}


@dataclass(frozen=True)
class FBeta(_CountMeasure, BinaryMeasure):
    """F: the weighted harmonic mean of precision and recall at rank k.

    F = (1 + β²) h / (k + β² R), with h relevant documents down to rank k and R relevant
    documents in the query. Without a cut-off, k is the number of documents retrieved.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, every document retrieved counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    beta : float, default=1
        How many times as much recall matters as precision.

    Raises
    ------
    ValueError
        For k < 1, rel <= 0, beta <= 0 or beta >= 1e50.

    See Also
    --------
    Precision, Recall : The two measures that F combines.

    Notes
    -----
    F is 0 for queries without a relevant document. van Rijsbergen, Information
    Retrieval (1979), chapter 7, weights precision by alpha in place of beta:
    F = 1/(alpha/P + (1 - alpha)/R). Then β² = (1 - alpha)/alpha. For the mean under
    ties see McSherry and Najork (2008), section 2.3.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import FBeta
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=FBeta(k=2))
    0.6666666666666666
    """

    name = "F"
    aliases: ClassVar = {"F1": ("beta",), "SetF": ("k",)}
    beta: float = _measure.number(1.0, above=0, below=1e50)

    @property
    def worth(self) -> float:
        return 1 + self.beta**2

    def normaliser(self, groups: Totals) -> FloatArray:
        return self._places(groups) + self.beta**2 * self.total(groups)


@dataclass(frozen=True)
class Fallout(_CountMeasure, BinaryMeasure):
    """Fallout: the share of the non-relevant documents found down to rank k.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, every document retrieved counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For k < 1 or rel <= 0.

    See Also
    --------
    Recall : The share of the relevant documents that are found.

    Notes
    -----
    Lower is better: the best value of fallout is its smallest. Fallout is undefined
    for queries without a non-relevant document. The definition is that of van
    Rijsbergen, Information Retrieval (1979), chapter 7.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Fallout
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Fallout(k=2))
    0.3333333333333333
    """

    name = "Fallout"
    greater_is_better = False
    undefined_over_zero = True
    others = True

    def normaliser(self, groups: Totals) -> FloatArray:
        # a query whose documents are all dropped has none
        documents = groups.total_relevant(checks.UNJUDGED_LABEL)
        return documents - self.total(groups)


@dataclass(frozen=True)
class RPrecision(_CountMeasure, MeasureOverRelevant):
    """R-precision: precision at rank R, the number of relevant documents.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For rel <= 0.

    See Also
    --------
    Precision : Precision at a fixed rank.

    Notes
    -----
    R-precision is undefined for queries without a relevant document. R includes
    relevant documents that are not retrieved, as in trec_eval. See Manning, Raghavan
    and Schütze (2008), section 8.4.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import RPrecision
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=RPrecision())
    0.6666666666666666
    """

    name = "Rprec"
    at_relevant = True
    has_query_rank_worth = True
    k = None

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return _measure.even(int((self._required(labels) >= self.rel).sum()))


@dataclass(frozen=True)
class Judged(_CountMeasure):
    """Judged: the share of the first k documents that have a judgment.

    Parameters
    ----------
    k : int, optional
        Cut-off. Without one, or where the list is shorter, the value is the share of
        all documents retrieved.

    Raises
    ------
    ValueError
        For k < 1.

    See Also
    --------
    Precision : The share of the first k documents that are relevant.
    residuals : How much unjudged documents could change a measure.

    Notes
    -----
    Documents with a NaN label are unjudged. The value is 0 where nothing is retrieved.
    The definition is that of ir-measures, which calls the measure ``Judged@k``. Its
    mean under ties is that of precision, with judged documents in place of relevant
    ones.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Judged
    >>> unjudged = float("nan")
    >>> ranking_score([1, unjudged, 0, unjudged], [3, 2, 2, 2], measure=Judged(k=2))
    0.6666666666666666
    """

    name = "Judged"
    takes_unjudged = True
    #: every judged document has a label of at least 0
    rel = 0.0
    k: int | None = _measure.cutoff()

    def normaliser(self, groups: Totals) -> FloatArray:
        return np.minimum(self._places(groups), groups.retrieved)


@dataclass(frozen=True)
class SetAP(MeasureOverRelevant):
    """SetAP: precision times recall of all documents retrieved.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For rel <= 0.

    See Also
    --------
    FBeta : The harmonic mean of precision and recall.
    AveragePrecision : The measure of a ranking that SetAP is named after.

    Notes
    -----
    SetAP is h² / (n R), with n documents retrieved, h of them relevant, and R relevant
    documents in the query. This is average precision with the precision of the whole
    list at every relevant document found. No order of ties changes it. It is
    undefined for queries without a relevant document, and 0 where nothing is
    retrieved. trec_eval calls it ``set_map``.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import SetAP
    >>> unretrieved = float("-inf")
    >>> ranking_score([1, 0, 0, 1, 1], [3, 2, 2, 2, unretrieved], measure=SetAP())
    0.3333333333333333
    """

    name = "SetAP"

    def numerator(self, groups: TieGroups) -> FloatArray:
        return groups.sum_groups(groups.relevant(self.rel)) ** 2

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return np.zeros(groups.n_queries)

    def normaliser(self, groups: Totals) -> FloatArray:
        return self.total(groups) * groups.retrieved

    def defined(self, groups: TieGroups) -> BoolArray:
        # a list without documents has none of the relevant ones
        return self.total(groups) > 0

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        values = self.values(groups, Detail.EXPECTED).expected
        for query, value in enumerate(values.tolist()):
            yield query, np.array([value]), np.ones(1)


#: the chance that no relevant document is among so many times n/r places is below 1e-18
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


def _log_binomial(n: IntArray, k: IntArray) -> FloatArray:
    """log C(n, k), which is -inf for k > n and for k < 0."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


class FirstRelevantMeasure(BinaryMeasure):
    """A measure of the place of the first relevant document."""

    def spread_within_ties(self, groups: TieGroups) -> FloatArray:
        """The variance over orders of ties, the mean over all places of the labels.

        Of r relevant among n documents, c are in a tie of m, and none of the lo above
        it, in C(m, c) C(n - lo - m, r - c) of C(n, r) placements. The document at place
        x of the tie is then the first relevant one with chance p = c / (m - x), if none
        above it is. From the last place up, variance and mean become
        (1 - p) (variance + p (worth - mean)²) and mean + p (worth - mean).
        """
        relevant = groups.total_relevant(self.rel)[groups.query]
        chosen = np.flatnonzero((groups.n > 1) & (groups.inside(self.k) > 0))
        spread = np.zeros(len(groups.n))
        for width, part in _places.widths(groups.n[chosen]):
            some = chosen[part]
            lo, m, r = groups.lo[some, None], groups.n[some, None], relevant[some, None]
            n = groups.everything.retrieved[groups.query[some], None]
            c = np.arange(1, min(width, int(r.max())) + 1)
            ways = _log_binomial(m, c) + _log_binomial(n - lo - m, r - c)
            chance = np.exp(ways - _log_binomial(n, r))
            mean = variance = np.zeros(chance.shape)
            for x in range(width)[::-1]:
                rank = lo + x
                shown = (x < m) & (rank < (self.k or np.inf))
                p = np.minimum(c / np.maximum(m - x, 1), 1.0)
                deviation = np.where(shown, self.rank_worth(rank), 0.0) - mean
                variance = (1 - p) * (variance + p * deviation**2)
                mean = mean + p * deviation
            spread[some] = (chance * variance).sum(axis=1)
        return groups.sum_groups(spread)

    def _walks(self, groups: TieGroups) -> Iterator[_Walks]:
        """Where the first relevant document stands.

        It is in the first group that holds one, of n documents, r of them relevant,
        lo above it: at its x-th place with chance p_1 = r/n,
        p_{x+1} = p_x (n - r - x + 1)/(n - x). McSherry and Najork (2008), section
        3.4, whose printed f(x) is the chance that none of the first x is relevant;
        what belongs there is f(x - 1) - f(x), as its text says.
        """
        holding, per_query = groups.holding(self.rel)
        chosen = holding[segments.starts_of(per_query)[per_query > 0]]
        lo, n = groups.lo[chosen], groups.n[chosen]
        r = groups.relevant(self.rel)[chosen]
        all_places = np.minimum(groups.inside(self.k, chosen), n - r + 1)
        places = np.minimum(all_places, np.ceil(_FAR * n / r).astype(np.int64))
        cut = places == all_places

        for columns, part in _places.widths(places, cells=_CELLS, fine=0):
            if not columns:
                continue
            x = np.arange(float(columns))
            inside = x < places[part, None]
            left = np.maximum(n[part, None] - x, 1.0)
            steps = np.maximum(left - r[part, None], 0.0)
            steps /= left
            steps[~inside] = 1.0
            missed = np.multiply.accumulate(steps, axis=1)
            chance = r[part, None] / left
            chance[:, 1:] *= missed[:, :-1]
            chance[~inside] = 0.0
            # the chance beyond `_FAR` is taken as 0
            never = np.where(cut[part], missed[:, -1], 0.0)
            query, rank = groups.query[chosen[part]], lo[part, None] + (x + 1)
            yield _Walks(query, rank, chance, never)

    def _of_walks(
        self, groups: TieGroups, of: Callable[[_Walks], FloatArray]
    ) -> FloatArray:
        """Values of `of` for each query, 0 for those without a walk."""
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
    see McSherry and Najork (2008), section 2.5. They print f(x), the probability that
    none of the first x documents of the group is relevant. This misprint for
    f(x - 1) - f(x) is corrected here.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import ReciprocalRank
    >>> ranking_score([0, 1], [1, 1], measure=ReciprocalRank())
    0.75
    """

    name = "RR"
    aliases: ClassVar = {"mrr": ()}

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return 1 / (rank + 1)

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._of_walks(groups, lambda w: (w.chance / w.rank).sum(axis=1))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        mean = self._mean(groups)

        def variance(walk: _Walks) -> FloatArray:
            m = mean[walk.query]
            deviation = 1 / walk.rank - m[:, None]
            spread = (walk.chance * deviation * deviation).sum(axis=1)
            return spread + walk.missed * m * m

        return self._of_walks(groups, variance)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        shown = self._required(labels)[: self.k] >= self.rel
        return _measure.even(int(np.argmax(shown)) + 1 if shown.any() else len(shown))

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

    name = "Success"
    aliases: ClassVar = {"hit": (), "HR": ()}

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return np.ones(rank.shape)

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
        return self.before + self.j * (self.s / (self.r + 1))

    def chances(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Owners, x and the chance of x of the group's s above: 0 ... s each."""
        owner, x = segments.expand(self.s + 1)
        n, s, j = (self.r + self.s)[owner], self.s[owner], self.j[owner]
        return owner, x, stats.nhypergeom.pmf(x, n, s, j)


def _count(value: Any, name: str) -> int:
    checks.check_count(value, name)
    return int(value)


@dataclass(frozen=True)
class _IthRelevant(RelevanceMeasure):
    i: int = field(default=1, metadata={"check": _count})
    rel: float = _measure.relevant_label()

    @abstractmethod
    def _worth(self, above: Any) -> FloatArray:
        """The value, given the number of non-relevant documents above."""

    def _variances(self, stop: _Stop) -> FloatArray:
        """The variance of that value for each query that has one."""
        owner, x, chance = stop.chances()
        value = self._worth(stop.before[owner] + x)
        mean = segments.sum_segments(chance * value, stop.s + 1)
        deviation = value - mean[owner]
        return segments.sum_segments(chance * deviation**2, stop.s + 1)

    def _column(self, groups: TieGroups, of: Callable[[_Stop], Any]) -> FloatArray:
        """Values of `of` for queries with so many relevant documents, else 0."""
        values, stop = np.zeros(groups.n_queries), self._stop(groups)
        values[stop.query] = of(stop)
        return values

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, lambda stop: self._worth(stop.mean()))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._column(groups, self._variances)

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        stop = self._stop(groups)
        owner, x, chance = stop.chances()
        worth = self._worth(stop.before[owner] + x)
        ends = np.cumsum(stop.s + 1)
        # nothing is behind the last end
        values, chances = np.split(worth, ends), np.split(chance, ends)
        yield from zip(stop.query.tolist(), values, chances, strict=False)

    def _stop(self, groups: TieGroups) -> _Stop:
        r = groups.relevant(self.rel)
        above = groups.relevant_above(self.rel)
        chosen = np.flatnonzero((above < self.i) & (self.i <= above + r))
        r, above = r[chosen], above[chosen]
        before, others = groups.lo[chosen] - above, groups.n[chosen] - r
        return _Stop(groups.query[chosen], before, r, others, self.i - above)


@dataclass(frozen=True)
class SearchLength(_IthRelevant):
    """Expected search length: non-relevant documents above the i-th relevant one.

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants.
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
    `zero_relevance` is, because 0 would be a perfect value. ``zero_relevance="raise"``
    makes them an error. `ideal` and `chance` of a report are NaN for such queries, too.
    The lift of a report is Cooper's reduction factor.

    The definition is that of Cooper (1968). In a tie group of r relevant and s other
    documents, j s/(r + 1) others are on average above the j-th relevant document.
    The variance is j (r - j + 1) s (r + s + 1) / ((r + 1)² (r + 2)).

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import SearchLength
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=SearchLength())
    2.0
    """

    name = "ESL"
    greater_is_better = False
    takes_zero_relevance = False
    maximum = math.inf

    def _worth(self, above: FloatArray) -> FloatArray:
        return above

    def _variances(self, stop: _Stop) -> FloatArray:
        r, s, j = (a.astype(np.float64) for a in (stop.r, stop.s, stop.j))
        share = j / (r + 1) * (r - j + 1) / (r + 1)
        return share * s * (r + s + 1) / (r + 2)

    def defined(self, groups: TieGroups) -> BoolArray:
        return self._column(groups, lambda _: 1) > 0


@dataclass(frozen=True)
class Rank(SearchLength):
    """Rank of the first, or of the i-th, relevant document: ESL_i + i.

    Parameters
    ----------
    i : int, default=1
        Which relevant document counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        For i < 1 or rel <= 0.

    See Also
    --------
    SearchLength : The number of non-relevant documents above it.
    ReciprocalRank : 1 divided by the rank of the first relevant document.

    Notes
    -----
    Lower is better. Ties and queries with fewer than i relevant documents are treated
    as in `SearchLength`, also in `ideal` and `chance` of a report. Fuhr (2017) asks for
    the mean or median rank in place of the mean reciprocal rank.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure="rank")
    3.0
    """

    name = "Rank"

    @property
    def minimum(self) -> float:  # type: ignore[override]
        return float(self.i)

    def _worth(self, above: FloatArray) -> FloatArray:
        return self.i + above


@dataclass(frozen=True)
class RaghavanPrecision(_IthRelevant):
    """Precision of a user who stops at the i-th relevant document: i/(i + ESL_i).

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants.
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
    The precision at the i-th relevant document is i/rank. The expected value is its
    harmonic mean over the orders of ties, and the arithmetic mean for every other
    measure. Best, worst and standard deviation are those of i/rank. So the chance level
    is below the mean of i/rank over random orders, which a list without ties reaches by
    chance, and p-values of `RankingFeatureSelector` are too small. The value is 0
    where fewer than i relevant documents are retrieved, and undefined where the query
    has fewer than i.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import RaghavanPrecision
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=RaghavanPrecision())
    0.3333333333333333
    """

    name = "PRR"

    def _worth(self, above: FloatArray) -> FloatArray:
        return self.i / (self.i + above)

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) >= self.i
