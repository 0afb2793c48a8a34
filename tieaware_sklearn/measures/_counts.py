"""Counts of documents above a cut-off.

Measures of the set of documents above a cut-off: P, R, F, fallout, R-precision.

All count the relevant documents down to rank k, or those judged. A tie group of n
documents, r of them relevant, with kk places above the cut-off, adds a hypergeometric
count: mean r kk / n, variance r (n - r) kk (n - kk) / (n² (n - 1)). SetAP, of the whole
list, is the same in every order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from .._engine import UNJUDGED_LABEL, FloatArray, IntArray, TieGroups, Totals
from .._kernel import Walk
from ._base import (
    BinaryMeasure,
    BoolArray,
    MeasureOverRelevant,
    Outcomes,
    RelevanceMeasure,
    choice,
    cutoff,
    even,
    number,
)

#: cut-offs beyond are no floats, and what is divided by them is next to nothing
_LARGEST = 2**1023


class _CountMeasure(RelevanceMeasure):
    """A count of documents above a cut-off, over a total."""

    is_ratio: ClassVar[bool] = True
    maximum: ClassVar[float] = 1.0
    k: int | None

    def _cutoff(self, groups: TieGroups) -> int | IntArray | None:
        return self.k

    def _counted(self, groups: TieGroups) -> IntArray:
        """Documents of each group that the measure counts."""
        return groups.relevant(self.rel)

    def _worth_of_one(self) -> float:
        """What one document adds to the numerator."""
        return 1.0

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        scale = self._worth_of_one()
        return self._walk("counted", levels, depth=self.k, scale=scale)

    def numerator(self, groups: TieGroups) -> FloatArray:
        counted = self._counted(groups)
        inside = groups.inside(self._cutoff(groups))
        return self._worth_of_one() * groups.sum_groups(counted * inside / groups.n)

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        # in floats: the product of four counts leaves 64-bit integers behind
        n = groups.n.astype(np.float64)
        counted = self._counted(groups) / n
        inside = groups.inside(self._cutoff(groups)) / n
        spread = counted * (1 - counted) * inside * (1 - inside)
        variance = groups.sum_groups(spread * n * n / np.maximum(n - 1, 1))
        return self._worth_of_one() ** 2 * variance

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
            worth = self._worth_of_one() * (whole[query] + hits)
            yield query, worth / normaliser[query], chance

    def _places(self, groups: Totals) -> FloatArray:
        """Places down to the cut-off, filled or not; without one, those filled."""
        if self.k is None:
            return groups.retrieved.astype(np.float64)
        return np.full(groups.n_queries, float(min(self.k, _LARGEST)))


@dataclass(frozen=True)
class Precision(_CountMeasure, BinaryMeasure):
    """Precision: the share of the first k documents that are relevant.

    Parameters
    ----------
    k : int, optional
        Cut-off. P@k divides by k even where the list is shorter. Without a cut-off,
        P divides by the number of documents retrieved.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    denominator : {"cutoff", "retrieved"}, default="cutoff"
        Whether to divide by k or, where the list is shorter, by its length
        ("retrieved").

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
    see McSherry and Najork (2008), section 3.1.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Precision
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Precision(k=2))
    0.6666666666666666
    """

    name: ClassVar[str] = "P"
    # with Set in front: ir-measures' names for measures of the whole list
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"precision": (), "SetP": ("k",)}
    denominator: str = choice("cutoff", "retrieved")

    def normaliser(self, groups: Totals) -> FloatArray:
        if self.denominator == "retrieved":
            return np.minimum(self._places(groups), groups.retrieved)
        return self._places(groups)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        if self.k is not None and self.denominator == "cutoff":
            return even(self.k, n)
        return even(len(self._needed(labels)[: self.k]))


@dataclass(frozen=True)
class Recall(_CountMeasure, BinaryMeasure):
    """Recall: the share of the relevant documents found down to rank k.

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
    Precision : The share of the documents found that are relevant.
    Fallout : The share of the non-relevant documents that are found.

    Notes
    -----
    Recall is undefined for queries without a relevant document. For the mean under
    ties see McSherry and Najork (2008), section 3.2.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import Recall
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=Recall(k=2))
    0.6666666666666666
    """

    name: ClassVar[str] = "R"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"recall": (), "SetR": ("k",)}
    undefined_over_zero: ClassVar[bool] = True

    def normaliser(self, groups: Totals) -> FloatArray:
        return self.total(groups)


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
    Retrieval (1979), chapter 7, gives precision a weight alpha in place of beta,
    F = 1/(alpha/P + (1 - alpha)/R), so that β² = (1 - alpha)/alpha. For the mean
    under ties see McSherry and Najork (2008), section 3.3.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import FBeta
    >>> ranking_score([1, 0, 0, 1], [3, 2, 2, 2], measure=FBeta(k=2))
    0.6666666666666666
    """

    name: ClassVar[str] = "F"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"F1": ("beta",), "SetF": ("k",)}
    beta: float = number(1.0, above=0, below=1e50)

    def _worth_of_one(self) -> float:
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

    name: ClassVar[str] = "Fallout"
    greater_is_better: ClassVar[bool] = False
    undefined_over_zero: ClassVar[bool] = True

    def _counted(self, groups: TieGroups) -> IntArray:
        return groups.n - groups.relevant(self.rel)

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        return self._walk("counted", levels, depth=self.k, others=True)

    def normaliser(self, groups: Totals) -> FloatArray:
        # a query whose documents are all dropped has none
        documents = groups.total_relevant(UNJUDGED_LABEL)
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

    name: ClassVar[str] = "Rprec"

    def walk(self, levels: FloatArray, longest: int) -> Walk | None:
        return self._walk("counted", levels, at_relevant=True)

    def _cutoff(self, groups: TieGroups) -> IntArray:
        return groups.total_relevant(self.rel)

    def _attention(self, n: int, labels: FloatArray | None) -> FloatArray:
        return even(int((self._needed(labels) >= self.rel).sum()))


@dataclass(frozen=True)
class Judged(_CountMeasure):
    """Judged: the share of the first k documents that have a judgment.

    Parameters
    ----------
    k : int, optional
        Cut-off. Where the list is shorter, and without a cut-off, the value is the
        share of all documents retrieved.

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

    name: ClassVar[str] = "Judged"
    takes_unjudged: ClassVar[bool] = True
    #: every judged document has a label of at least 0
    rel: ClassVar[float] = 0.0  # type: ignore[misc]
    k: int | None = cutoff()

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
    With h relevant documents among the n retrieved and R in the query, SetAP is
    h² / (n R): the average precision of a list in which every relevant document found
    has the precision of the whole list. No order of ties changes it. It is undefined
    for queries without a relevant document, and 0 where nothing is retrieved.
    trec_eval calls the measure ``set_map``.

    Examples
    --------
    >>> from tieaware_sklearn import ranking_score
    >>> from tieaware_sklearn.measures import SetAP
    >>> unretrieved = float("-inf")
    >>> ranking_score([1, 0, 0, 1, 1], [3, 2, 2, 2, unretrieved], measure=SetAP())
    0.3333333333333333
    """

    name: ClassVar[str] = "SetAP"
    maximum: ClassVar[float] = 1.0

    def numerator(self, groups: TieGroups) -> FloatArray:
        return groups.sum_groups(groups.relevant(self.rel)) ** 2

    def numerator_variance(self, groups: TieGroups) -> FloatArray:
        return np.zeros(groups.n_queries)

    def normaliser(self, groups: Totals) -> FloatArray:
        return self.total(groups) * groups.retrieved

    def defined(self, groups: TieGroups) -> BoolArray:
        # a list without documents has found none of them
        return self.total(groups) > 0

    def _outcomes(self, groups: TieGroups) -> Outcomes:
        (values,) = self.statistics(groups, ["expected"])
        for query, value in enumerate(values.tolist()):
            yield query, np.array([value]), np.ones(1)
