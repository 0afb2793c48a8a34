"""Counts of documents above a cut-off, and places of the first relevant documents.

P, R, F, fallout, R-precision and Judged count documents down to rank k. A tie group of
n documents, r of them counted, with kk places above the cut-off, adds a hypergeometric
count: mean r kk / n, variance r (n - r) kk (n - kk) / (n² (n - 1)). SetAP, a measure of
the whole list, is the same in every order.
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
    #: Whether the cut-off is the number of relevant documents of the query.
    at_relevant = False
    #: Whether documents that are not relevant are counted.
    counts_non_relevant = False
    k: Any

    @property
    def worth(self) -> float:
        """The amount that one document adds to the numerator."""
        return 1.0

    def _cutoff(self, groups: TieGroups) -> int | IntArray | None:
        return groups.total_relevant(self.rel) if self.at_relevant else self.k

    def _counted(self, groups: TieGroups) -> IntArray:
        """Return the number of documents of each group that the measure counts."""
        relevant = groups.relevant(self.rel)
        return groups.n - relevant if self.counts_non_relevant else relevant

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return np.ones(len(rank))

    def spread_within_ties(self, groups: TieGroups) -> FloatArray:
        # The worth of a rank is 1 down to the cut-off, and 0 below the cut-off.
        inside = groups.inside(self._cutoff(groups))
        return groups.sum_groups(inside * (1 - inside / groups.n))

    def numerator(self, groups: TieGroups) -> FloatArray:
        counted = self._counted(groups)
        inside = groups.inside(self._cutoff(groups))
        return self.worth * groups.sum_groups(counted * inside / groups.n)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        n = groups.n
        counted = self._counted(groups) / n
        inside = groups.inside(self._cutoff(groups)) / n
        spread = counted * (1 - counted) * inside * (1 - inside)
        variance = groups.sum_groups(spread * n * n / np.maximum(n - 1, 1))
        return self.worth**2 * variance

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        counted = self._counted(groups)
        inside = groups.inside(self._cutoff(groups))
        is_cut = (inside > 0) & (inside < groups.n)
        is_whole = (inside > 0) & ~is_cut
        certain = groups.sum_groups(counted * is_whole)
        # Where the denominator is 0, the numerator is also 0.
        normaliser = np.maximum(self.normaliser(groups), 1)
        # A cut-off divides at most one group of a query.
        cut_group = np.full(groups.n_queries, -1)
        cut_group[groups.query[is_cut]] = np.flatnonzero(is_cut)
        for query, group in enumerate(cut_group.tolist()):
            hits = np.zeros(1)
            chances = np.ones(1)
            if group >= 0:
                n = groups.n[group]
                n_inside = inside[group]
                r = counted[group]
                fewest = max(0, r + n_inside - n)
                hits = np.arange(fewest, min(r, n_inside) + 1.0)
                chances = stats.hypergeom.pmf(hits, n, r, n_inside)
            numerators = self.worth * (certain[query] + hits)
            yield query, numerators / normaliser[query], chances

    def _places(self, groups: Totals) -> FloatArray:
        """Return k, or the number of documents retrieved if there is no cut-off."""
        if self.k is None:
            return groups.retrieved.astype(np.float64)
        return np.full(groups.n_queries, float(self.k))


@dataclass(frozen=True)
class Precision(_CountMeasure, BinaryMeasure):
    """Precision: the share of the first k documents that are relevant.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, the divisor is the
        number of retrieved documents.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"cutoff", "retrieved"}, default="cutoff"
        Divisor if fewer than k documents are retrieved: k itself ("cutoff") or the
        number of retrieved documents ("retrieved").

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], if `rel` is not a
        finite number above 0, or if the denominator is unknown.

    See Also
    --------
    Recall : The share of the relevant documents that are found.
    RPrecision : Precision at the number of relevant documents.
    FBeta : The weighted harmonic mean of precision and recall.

    Notes
    -----
    Precision is 0 for queries without a relevant document. For the mean under ties,
    see McSherry and Najork (2008), section 2.1.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Precision
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Precision(k=2))
    0.6666666666666666
    """

    name = "P"
    # ir-measures names measures of the whole list with the prefix Set.
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
    """Recall: the share of the relevant documents that are among the first k.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"relevant", "cutoff"}, default="relevant"
        Divisor of the number of relevant documents found: R, the number of relevant
        documents of the query ("relevant"), or min(k, R) ("cutoff"). "relevant" gives
        recall, and "cutoff" gives capped recall, which is 1 for a perfect list. Without
        a cut-off, both divisors are R.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], if `rel` is not a
        finite number above 0, or if the denominator is unknown.

    See Also
    --------
    Precision : The share of the first k documents that are relevant.
    Fallout : The share of the non-relevant documents that are found.

    Notes
    -----
    Recall is undefined for queries without a relevant document. For the mean under
    ties, see McSherry and Najork (2008), section 2.2. Capped recall is called R_cap in
    BEIR (Thakur et al., NeurIPS Datasets 2021), and relative_P in trec_eval.

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
    documents in the query. β is the parameter `beta`. Without a cut-off, k is the
    number of retrieved documents.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    beta : float, default=1
        Weight β of recall, above 0 and below 1e50. Recall matters β times as much as
        precision.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], if `rel` is not a
        finite number above 0, or if `beta` is not above 0 and below 1e50.

    See Also
    --------
    Precision, Recall : The two measures that F combines.

    Notes
    -----
    F is 0 for queries without a relevant document. In place of β, van Rijsbergen,
    Information Retrieval (1979), chapter 7, uses a weight α of precision, with
    F = 1/(α/precision + (1 - α)/recall) and β² = (1 - α)/α. For the mean under ties,
    see McSherry and Najork (2008), section 2.3.

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
    """Fallout: the share of the non-relevant documents that are among the first k.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, every retrieved
        document counts.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if `rel` is not a
        finite number above 0.

    See Also
    --------
    Recall : The share of the relevant documents that are found.

    Notes
    -----
    Lower is better, so the best value over the orders of ties is the smallest value.
    Fallout is undefined for queries without a non-relevant document. See van
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
    counts_non_relevant = True

    def normaliser(self, groups: Totals) -> FloatArray:
        # The label of dropped documents is below the label of unjudged documents.
        documents = groups.total_relevant(checks.UNJUDGED_LABEL)
        return documents - self.total(groups)


@dataclass(frozen=True)
class RPrecision(_CountMeasure, MeasureOverRelevant):
    """R-precision: precision at rank R, where R is the number of relevant documents.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `rel` is not a finite number above 0.

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
        is_relevant = self._required(labels) >= self.rel
        return _measure.even(is_relevant.sum())


@dataclass(frozen=True)
class Judged(_CountMeasure):
    """Judged: the share of the first k documents that have a judgment.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, or if fewer than k
        documents are retrieved, all retrieved documents take the place of the first k
        documents.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%].

    See Also
    --------
    Precision : The share of the first k documents that are relevant.
    residuals : Reports how much unjudged documents could change a measure.

    Notes
    -----
    Documents with a NaN label are unjudged. The value is 0 if no document is retrieved.
    ir-measures defines the measure, as ``Judged@k``. The mean under ties is computed as
    for precision, with judged documents in place of relevant documents.

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
    #: Every judged document has a label of at least 0.
    rel = 0.0
    k: Any = _measure.cutoff()

    def normaliser(self, groups: Totals) -> FloatArray:
        return np.minimum(self._places(groups), groups.retrieved)


@dataclass(frozen=True)
class SetAP(MeasureOverRelevant):
    """SetAP: the product of the precision and the recall of all retrieved documents.

    Parameters
    ----------
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `rel` is not a finite number above 0.

    See Also
    --------
    FBeta : The weighted harmonic mean of precision and recall.
    AveragePrecision : Average precision of a ranking.

    Notes
    -----
    SetAP is h² / (n R), with n retrieved documents, h of them relevant, and R relevant
    documents in the query. SetAP is average precision in which the precision at every
    relevant document found is replaced by the precision of the whole list. The order of
    documents does not change SetAP. SetAP is undefined for queries without a relevant
    document, and otherwise 0 if no document is retrieved. trec_eval calls the measure
    ``set_map``.

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
        # If no document is retrieved, SetAP is 0, not undefined.
        return self.total(groups) > 0

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        values = self.values(groups, Detail.EXPECTED).expected
        for query in range(groups.n_queries):
            yield query, values[query : query + 1], np.ones(1)


#: Multiple of n/r to which the places of a walk are limited. The chance that no
#: relevant document is among these places is below 1e-18.
_FAR = 41.5
#: Maximum number of array elements in a batch of walks.
_CELLS = 1 << 16


class _Walks(NamedTuple):
    """Walks down the groups that contain the first relevant document of a query.

    Attributes
    ----------
    query : ndarray of shape (n_walks,)
        Index of the query of each walk.
    rank : ndarray of shape (n_walks, n_places), float64
        Rank of each place, from 1.
    chance : ndarray of shape (n_walks, n_places)
        Chance that the first relevant document is at each place, 0 beyond the cut-off.
    missed : ndarray of shape (n_walks,)
        Chance that the first relevant document is below the cut-off.
    """

    query: IntArray
    rank: IntArray
    chance: FloatArray
    missed: FloatArray


def _log_binomial(n: IntArray, k: IntArray) -> FloatArray:
    """Return log C(n, k), which is -inf for k > n and for k < 0."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


class FirstRelevantMeasure(BinaryMeasure):
    """A measure of the place of the first relevant document."""

    def spread_within_ties(self, groups: TieGroups) -> FloatArray:
        """The sum over ties of the variance within a tie, averaged over labels.

        The variance within a tie is the variance of the value of the query over the
        orders of the tie. The average is over all placements of the labels on the
        documents of the query.

        Let r of the n documents of a query be relevant. Consider a tie of m documents,
        below lo other documents. In C(m, c) C(n - lo - m, r - c) of the C(n, r)
        placements, the tie contains c relevant documents, and no document above the tie
        is relevant. The worth of a place is the value if the first relevant document is
        at this place. Count the places of the tie from 0. If the tie contains c
        relevant documents, and none of these documents is above place x, the document
        at place x is relevant with probability p = c / (m - x), at most 1.

        The mean and the variance are computed from the last place up, and start at 0.
        At each place, (1 - p) (variance + p (worth - mean)²) replaces the variance.
        Then mean + p (worth - mean) replaces the mean.
        """
        relevant = groups.total_relevant(self.rel)[groups.query]
        inside = groups.inside(self.k)
        chosen = np.flatnonzero((groups.n > 1) & (inside > 0))
        spread = np.zeros(len(groups.n))
        for width, batch in _places.widths(groups.n[chosen]):
            group = chosen[batch]
            lo = groups.lo[group, None]
            m = groups.n[group, None]
            r = relevant[group, None]
            n = groups.everything.retrieved[groups.query[group], None]
            c = np.arange(1, min(width, r.max()) + 1)
            placements = _log_binomial(m, c) + _log_binomial(n - lo - m, r - c)
            chance = np.exp(placements - _log_binomial(n, r))
            mean = variance = np.zeros(chance.shape)
            for x in reversed(range(width)):
                rank = lo + x
                is_shown = (x < m) & (rank < (self.k or np.inf))
                p = np.minimum(c / np.maximum(m - x, 1), 1.0)
                deviation = np.where(is_shown, self.rank_worth(rank), 0.0) - mean
                variance = (1 - p) * (variance + p * deviation**2)
                mean = mean + p * deviation
            spread[group] = (chance * variance).sum(axis=1)
        return groups.sum_groups(spread)

    def _walks(self, groups: TieGroups) -> Iterator[_Walks]:
        """Yield walks to the first relevant document, in batches.

        The first relevant document is in the first group with a relevant document. If r
        of the n documents of the group are relevant, the first relevant document is at
        the x-th place of the group with probability p_x, where p_1 = r/n and
        p_{x+1} = p_x (n - r - x + 1)/(n - x). McSherry and Najork (2008), section 3.4,
        print f(x), the probability that none of the first x documents is relevant. The
        correct term is f(x - 1) - f(x), as the text of the paper states.
        """
        holding, per_query = groups.holding(self.rel)
        starts = segments.starts_of(per_query)
        chosen = holding[starts[per_query > 0]]
        lo = groups.lo[chosen]
        n = groups.n[chosen]
        r = groups.relevant(self.rel)[chosen]
        all_places = np.minimum(groups.inside(self.k, chosen), n - r + 1)
        far = np.ceil(_FAR * n / r).astype(np.int64)
        places = np.minimum(all_places, far)
        is_complete = places == all_places

        for n_columns, batch in _places.widths(places, cells=_CELLS, fine=0):
            if not n_columns:
                # The groups of this batch are below the cut-off.
                continue
            x = np.arange(float(n_columns))
            relevant = r[batch, None]
            inside = x < places[batch, None]
            left = np.maximum(n[batch, None] - x, 1.0)
            steps = np.maximum(left - relevant, 0.0)
            steps /= left
            steps[~inside] = 1.0
            missed = np.multiply.accumulate(steps, axis=1)
            chance = relevant / left
            chance[:, 1:] *= missed[:, :-1]
            chance[~inside] = 0.0
            # The chance beyond `_FAR` n/r places counts as 0.
            missed_all = np.where(is_complete[batch], missed[:, -1], 0.0)
            rank = lo[batch, None] + (x + 1)
            yield _Walks(groups.query[chosen[batch]], rank, chance, missed_all)

    def _from_walks(
        self, groups: TieGroups, function: Callable[[_Walks], FloatArray]
    ) -> FloatArray:
        """Return values of walks by query, 0 for queries without a walk."""
        values = np.zeros(groups.n_queries)
        for walks in self._walks(groups):
            values[walks.query] = function(walks)
        return values


@dataclass(frozen=True)
class ReciprocalRank(FirstRelevantMeasure):
    """Reciprocal rank: 1 divided by the rank of the first relevant document.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. The value is 0 if no relevant
        document is among the first k. Without a cut-off, the value is 0 if no relevant
        document is retrieved.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if `rel` is not a
        finite number above 0.

    See Also
    --------
    Success : Whether a relevant document is among the first k.
    ERR : Expected reciprocal rank for graded relevance.
    SearchLength : The number of non-relevant documents above the i-th relevant
        document.

    Notes
    -----
    Reciprocal rank is 0 for queries without a relevant document. In general, the mean
    of the reciprocal rank is not the reciprocal of the mean rank. For the mean under
    ties, see McSherry and Najork (2008), section 2.5. The printed formula contains
    f(x), the probability that none of the first x documents of a tie group is relevant.
    The correct term is f(x - 1) - f(x), the probability that the x-th document is the
    first relevant document.

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
        return self._from_walks(
            groups, lambda walks: (walks.chance / walks.rank).sum(axis=1)
        )

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        means = self._mean(groups)

        def variance(walks: _Walks) -> FloatArray:
            mean = means[walks.query]
            deviation = 1 / walks.rank - mean[:, None]
            spread = (walks.chance * deviation * deviation).sum(axis=1)
            return spread + walks.missed * mean * mean

        return self._from_walks(groups, variance)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        is_relevant = self._required(labels)[: self.k] >= self.rel
        if is_relevant.any():
            return _measure.even(int(np.argmax(is_relevant)) + 1)
        return _measure.even(len(is_relevant))

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for walks in self._walks(groups):
            for row, query in enumerate(walks.query.tolist()):
                values = np.append(1 / walks.rank[row], 0.0)
                chances = np.append(walks.chance[row], walks.missed[row])
                yield query, values, chances


@dataclass(frozen=True)
class Success(FirstRelevantMeasure):
    """Success: 1 if a relevant document is among the first k, otherwise 0.

    Parameters
    ----------
    k : int or str, optional
        Cut-off: a rank, or a share of each query's documents such as ``"5%"``, which is
        rounded up to a whole number of documents. Without a cut-off, the value is 1 if
        any relevant document is retrieved.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `k` is neither a rank >= 1 nor a share in (0%, 100%], or if `rel` is not a
        finite number above 0.

    See Also
    --------
    ReciprocalRank : 1 divided by the rank of the first relevant document.

    Notes
    -----
    Success is 0 for queries without a relevant document, as in trec_eval. Under ties,
    the mean of success is the probability p of a success, and the variance is
    p (1 - p).

    The average over queries is called hit rate in recommendation (``HitRate@10``,
    ``HR@10``), and accuracy in sentence-transformers (``Accuracy@10``).

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Success
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=Success(k=2))
    0.33333333333333337
    """

    name = "Success"
    aliases: ClassVar = {"hit": (), "HR": (), "HitRate": (), "Accuracy": ()}

    def rank_worth(self, rank: IntArray) -> FloatArray:
        return np.ones(rank.shape)

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._from_walks(groups, lambda walks: 1 - walks.missed)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._from_walks(groups, lambda walks: walks.missed * (1 - walks.missed))

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        for query, chance in enumerate(self.numerator(groups).tolist()):
            chances = np.array([1 - chance, chance])
            yield query, np.arange(2.0), chances


class _Stops(NamedTuple):
    """The tie groups that contain the i-th relevant document of a query.

    Attributes
    ----------
    query : ndarray of shape (n_found,)
        Index of the query.
    before : ndarray of shape (n_found,)
        Number of non-relevant documents above the group.
    r, s : ndarray of shape (n_found,)
        Numbers of relevant and non-relevant documents in the group.
    j : ndarray of shape (n_found,)
        Position of the document among the relevant documents of the group, from 1.
    """

    query: IntArray
    before: IntArray
    r: IntArray
    s: IntArray
    j: IntArray

    def mean(self) -> FloatArray:
        """Return the mean number of non-relevant documents above."""
        return self.before + self.j * (self.s / (self.r + 1))

    def chances(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return owners, x = 0 ... s, and chances of x non-relevant documents above."""
        owner, x = segments.expand(self.s + 1)
        n = self.r + self.s
        chances = stats.nhypergeom.pmf(x, n[owner], self.s[owner], self.j[owner])
        return owner, x, chances


@dataclass(frozen=True)
class _IthRelevant(RelevanceMeasure):
    i: int = field(default=1, metadata={"check": _measure.check_count})
    rel: float = _measure.relevant_label()

    @abstractmethod
    def _value(self, n_above: Any) -> FloatArray:
        """Return the value with `n_above` non-relevant documents above."""

    def _variances(self, stops: _Stops) -> FloatArray:
        """Return the variance of the value for each stop."""
        owner, x, chance = stops.chances()
        value = self._value(stops.before[owner] + x)
        mean = segments.sum_segments(chance * value, stops.s + 1)
        deviation = value - mean[owner]
        return segments.sum_segments(chance * deviation**2, stops.s + 1)

    def _from_stops(
        self, groups: TieGroups, function: Callable[[_Stops], Any]
    ) -> FloatArray:
        """Return values of stops by query, 0 for queries without a stop."""
        values = np.zeros(groups.n_queries)
        stops = self._stops(groups)
        values[stops.query] = function(stops)
        return values

    def numerator(self, groups: TieGroups) -> FloatArray:
        return self._from_stops(groups, lambda stops: self._value(stops.mean()))

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return self._from_stops(groups, self._variances)

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        stops = self._stops(groups)
        owner, x, chance = stops.chances()
        value = self._value(stops.before[owner] + x)
        ends = np.cumsum(stops.s + 1)
        values = np.split(value, ends)
        chances = np.split(chance, ends)
        # The part behind the last end is empty.
        yield from zip(stops.query.tolist(), values, chances, strict=False)

    def _stops(self, groups: TieGroups) -> _Stops:
        r = groups.relevant(self.rel)
        above = groups.relevant_above(self.rel)
        is_stop = (above < self.i) & (self.i <= above + r)
        chosen = np.flatnonzero(is_stop)
        r = r[chosen]
        above = above[chosen]
        query = groups.query[chosen]
        before = groups.lo[chosen] - above
        s = groups.n[chosen] - r
        return _Stops(query, before, r, s, self.i - above)


@dataclass(frozen=True)
class SearchLength(_IthRelevant):
    """Expected search length: how many non-relevant documents a user reads.

    The search length is the number of non-relevant documents above the i-th relevant
    document.

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `i` is not an integer >= 1, or if `rel` is not a finite number above 0.

    See Also
    --------
    ReciprocalRank : 1 divided by the rank of the first relevant document.
    RaghavanPrecision : Precision at the i-th relevant document.

    Notes
    -----
    Lower is better. The search length is undefined for queries with fewer than i
    relevant documents retrieved. With ``zero_relevance="raise"``, these queries raise
    an error. With any other `zero_relevance`, the values of these queries are NaN, and
    averages omit these queries. The `ideal` and the `chance` of a report are then also
    NaN for these queries.

    Cooper (1968) defines the search length. In a tie group of r relevant and s
    non-relevant documents, j s/(r + 1) non-relevant documents of the group are on
    average above the j-th relevant document of the group. The variance of this number
    is j (r - j + 1) s (r + s + 1) / ((r + 1)² (r + 2)).

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

    def _value(self, n_above: FloatArray) -> FloatArray:
        return n_above

    def _variances(self, stops: _Stops) -> FloatArray:
        _, _, r, s, j = stops
        share = j / (r + 1) * (r - j + 1) / (r + 1)
        return share * s * (r + s + 1) / (r + 2)

    def defined(self, groups: TieGroups) -> BoolArray:
        return self._from_stops(groups, lambda _: 1) > 0


@dataclass(frozen=True)
class Rank(SearchLength):
    """Rank of the first relevant document, or of the i-th relevant document.

    The rank is i plus the search length of `SearchLength`.

    Parameters
    ----------
    i : int, default=1
        Position, among the relevant documents, of the document whose rank is returned.
        The relevant document that ranks first has position 1.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `i` is not an integer >= 1, or if `rel` is not a finite number above 0.

    See Also
    --------
    SearchLength : The number of non-relevant documents above the same document.
    ReciprocalRank : 1 divided by the rank of the first relevant document.

    Notes
    -----
    Lower is better. Queries with fewer than i relevant documents retrieved are treated
    as the notes of `SearchLength` describe. Fuhr (2017) recommends the mean or median
    rank in place of the mean reciprocal rank.

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

    def _value(self, n_above: FloatArray) -> FloatArray:
        return self.i + n_above


@dataclass(frozen=True)
class RaghavanPrecision(_IthRelevant):
    """Precision for a user who stops at the i-th relevant document: i/(i + ESL_i).

    ESL_i is the expected search length, the mean of `SearchLength` over the orders of
    ties.

    Parameters
    ----------
    i : int, default=1
        Number of relevant documents that the user wants.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.

    Raises
    ------
    ValueError
        If `i` is not an integer >= 1, or if `rel` is not a finite number above 0.

    See Also
    --------
    SearchLength : The number of non-relevant documents above the i-th relevant
        document.
    Precision : Precision at a fixed rank.

    Notes
    -----
    The measure is the probability of relevance, PRR, of Raghavan, Bollmann and Jung
    (1989). The value is undefined if the query has fewer than i relevant documents.
    Otherwise, the value is 0 if fewer than i relevant documents are retrieved.

    The precision at the i-th relevant document is i/rank. The expected value of PRR is
    the harmonic mean of i/rank over the orders of ties. For all other measures of this
    library, the expected value is the arithmetic mean over the orders of ties. The best
    value, the worst value and the standard deviation of PRR refer to i/rank.

    The chance level is also a harmonic mean, which is at most the arithmetic mean. A
    random ranking without ties reaches the arithmetic mean on average. If
    `RankingFeatureSelector` uses PRR, the p-values of features without ties therefore
    tend to be too small.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import RaghavanPrecision
    >>> ranking_score([0, 1, 0, 0], [2, 1, 1, 1], measure=RaghavanPrecision())
    0.3333333333333333
    """

    name = "PRR"

    def _value(self, n_above: FloatArray) -> FloatArray:
        return self.i / (self.i + n_above)

    def defined(self, groups: TieGroups) -> BoolArray:
        return groups.total_relevant(self.rel) >= self.i
