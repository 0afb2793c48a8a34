"""Measures that reward what is new: α-nDCG, NRBP and their kin."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from ._average_precision import AveragePrecision
from ._base import relevance
from ._err import ERR
from ._fields import cutoff, number, spelled_out
from ._novelty_under_ties import novelty_sums
from ._precision_recall import Precision
from ._rank_weights import log_discount
from ._subtopics import IntentAware, SubtopicMeasure, SubtopicRecall


class NoveltyMeasure(SubtopicMeasure):
    """Σ w(rank) (1 - alpha)^(relevant documents above), over ranks and subtopics."""

    k: int | None
    alpha: float
    rel: float

    @abstractmethod
    def _rank_weights(self, rank: IntArray) -> FloatArray:
        """What ranks weigh, which count from 0."""

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self.rel)

    def of_lists(self, groups: TieGroups) -> FloatArray:
        keep = 1 - self.alpha
        return novelty_sums(groups, self.rel, keep, self.k, self._rank_weights)


@dataclass(frozen=True)
class _UpToCutoff(NoveltyMeasure):
    k: int | None = cutoff()
    alpha: float = number(0.5, least=0, most=1)
    rel: float = number(1.0, above=0)


class _Discounted(_UpToCutoff):
    """Ranks weigh 1 / log2(rank + 1)."""

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return log_discount(rank)


class _Reciprocal(_UpToCutoff):
    """Ranks weigh 1 / rank."""

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return np.asarray(1.0 / (rank + 1))


@dataclass(frozen=True)
class AlphaDCG(_Discounted):
    """α-DCG: discounted gains that shrink with each document on the same subtopic.

    A document relevant to a subtopic gains (1 - α)^c for it, with c the number of
    documents above it that are relevant to the same subtopic.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    alpha : float, default=0.5
        How much a repeated subtopic loses, from 0 (nothing) to 1 (everything).
    rel : float, default=1
        Documents with a label of at least `rel` are relevant to a subtopic.

    Raises
    ------
    ValueError
        For k < 1, alpha outside [0, 1] or rel <= 0.

    See Also
    --------
    AlphaNDCG : The same divided by that of an ideal order.
    DCG : Discounted gain without subtopics.

    Notes
    -----
    The definition is that of Clarke et al. (SIGIR 2008). Under ties, a group of n
    documents with lo documents above it, c of the group and C above it relevant to a
    subtopic, adds (1 - α)^C c/n Σ_x E[(1 - α)^H] / log2(lo + x + 1): H is
    hypergeometric, the relevant ones among x - 1 of the n - 1 other documents, of which
    c - 1 are relevant. The mean is exact. The sum over subtopics is not divided by
    their number; weights of subtopics have the mean 1. It is 0 for queries without a
    relevant document.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1, 1], [1, 0]], [2, 1], measures="alpha_DCG@1").expected
    array([[2.]])
    """

    name: ClassVar[str] = "alpha_DCG"
    needs_subtopics: ClassVar[bool] = False

    @property
    def maximum(self) -> float:
        return np.inf

    def of_queries(
        self, sums: FloatArray, weights: FloatArray, n_subtopics: IntArray
    ) -> FloatArray:
        there = weights > 0
        scale = np.divide(n_subtopics, weights, out=np.zeros(len(sums)), where=there)
        return sums * scale


@dataclass(frozen=True)
class AlphaNDCG(_Discounted):
    """α-nDCG: α-DCG divided by that of an ideal order.

    Parameters
    ----------
    k, alpha, rel
        As in `AlphaDCG`.

    Raises
    ------
    ValueError
        As in `AlphaDCG`.

    See Also
    --------
    AlphaDCG : The same without normalisation.
    NRBP : Geometric weights of ranks in place of logarithmic ones.

    Notes
    -----
    The definition is that of Clarke et al. (SIGIR 2008). To find the best order is
    NP-hard; as there and in ndeval, the ideal order is found greedily, one document
    with the largest gain after the other. Of documents with equal gains the one with
    relevant subtopics in the first columns is taken (ndeval takes the last document
    id), so that the order of rows does not matter. A ranking that is better than the
    greedy one has a value above 1. α-nDCG is undefined for queries without a relevant
    document. Under ties the mean is exact, as that of `AlphaDCG`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 1], [1, 0], [0, 0]]
    >>> evaluate_subtopics(labels, [1, 1, 1], measures="alpha_nDCG@1").expected
    array([[0.5]])
    """

    name: ClassVar[str] = "alpha_nDCG"
    normalised: ClassVar[bool] = True


@dataclass(frozen=True)
class NormalisedERRIA(_Reciprocal):
    """nERR-IA: ERR-IA of binary labels divided by that of an ideal order.

    A user who looks for a subtopic stops at each document relevant to it with
    probability alpha.

    Parameters
    ----------
    k, alpha, rel
        As in `AlphaDCG`.

    Raises
    ------
    ValueError
        As in `AlphaDCG`.

    See Also
    --------
    IntentAware : ERR-IA, of graded labels and without normalisation.
    AlphaNDCG : Logarithmic weights of ranks in place of reciprocal ones.

    Notes
    -----
    The definition is that of ndeval, the program of the TREC Web track; the ideal order
    is that of `AlphaNDCG`. With alpha of 0.5, the numerator is
    ``IntentAware(ERR(k, max_label=1))`` but for a constant. Under ties the mean is
    exact.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 1], [1, 0], [0, 0]]
    >>> evaluate_subtopics(labels, [1, 1, 1], measures="nERR_IA@1").expected
    array([[0.5]])
    """

    name: ClassVar[str] = "nERR_IA"
    normalised: ClassVar[bool] = True


@dataclass(frozen=True)
class NRBP(NoveltyMeasure):
    """Novelty- and rank-biased precision.

    A document relevant to a subtopic gains (1 - α)^c β^(rank - 1) for it, with c the
    number of documents above it that are relevant to the same subtopic. The sum is
    divided by the number of subtopics, and by its value for a list in which all
    documents are relevant to all of them.

    Parameters
    ----------
    alpha : float, default=0.5
        How much a repeated subtopic loses, from 0 (nothing) to 1 (everything).
    beta : float, default=0.5
        Probability that the user goes on to the next document, between 0 and 1.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant to a subtopic.

    Raises
    ------
    ValueError
        For parameters outside these ranges. The measure takes no cut-off.

    See Also
    --------
    NormalisedNRBP : The same divided by that of an ideal order.
    RBP : Rank-biased precision without subtopics.

    Notes
    -----
    The definition is that of Clarke, Kolla and Vechtomova (ICTIR 2009). Under ties the
    mean is exact, as that of `AlphaDCG`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1], [0]], [1, 1], measures="NRBP").expected
    array([[0.5625]])
    """

    name: ClassVar[str] = "NRBP"
    k: ClassVar[int | None] = None  # type: ignore[misc]
    alpha: float = number(0.5, least=0, most=1)
    beta: float = number(0.5, above=0, below=1)
    rel: float = number(1.0, above=0)

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        scale = 1 - (1 - self.alpha) * self.beta
        return np.asarray(scale * np.power(self.beta, rank))


@dataclass(frozen=True)
class NormalisedNRBP(NRBP):
    """nNRBP: novelty- and rank-biased precision divided by that of an ideal order.

    Parameters
    ----------
    alpha, beta, rel
        As in `NRBP`.

    Raises
    ------
    ValueError
        As in `NRBP`.

    See Also
    --------
    NRBP : The same without normalisation.
    AlphaNDCG : Logarithmic weights of ranks in place of geometric ones.

    Notes
    -----
    The definition is that of ndeval; the ideal order is that of `AlphaNDCG`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1], [0]], [1, 1], measures="nNRBP").expected
    array([[0.75]])
    """

    name: ClassVar[str] = "nNRBP"
    normalised: ClassVar[bool] = True


class _OverAll(_UpToCutoff):
    """Divided by the sum for documents that are all relevant to all subtopics."""

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        assert self.k is not None
        ranks = np.arange(self.k)
        kept = np.power(1 - self.alpha, ranks)
        return self._weights(rank) / math.fsum((self._weights(ranks) * kept).tolist())

    @abstractmethod
    def _weights(self, rank: IntArray) -> FloatArray:
        """What ranks weigh before that."""


@dataclass(frozen=True)
class _OfNdevalDCG(_OverAll):
    def _weights(self, rank: IntArray) -> FloatArray:
        return log_discount(rank)

    def __str__(self) -> str:
        return str(AlphaDCG(self.k, self.alpha, self.rel))


@dataclass(frozen=True)
class _OfNdevalERR(_OverAll):
    def _weights(self, rank: IntArray) -> FloatArray:
        return np.asarray(1.0 / (rank + 1))

    def __str__(self) -> str:
        return str(IntentAware(ERR(self.k)))


def as_ndeval(measure: SubtopicMeasure) -> SubtopicMeasure:
    """The measure as ndeval defines it.

    Raises
    ------
    ValueError
        For measures that ndeval does not have, or not with these parameters.
    """
    if isinstance(measure, AlphaDCG) and measure.k is not None:
        return _OfNdevalDCG(measure.k, measure.alpha, measure.rel)
    if isinstance(measure, (SubtopicRecall, AlphaNDCG, NormalisedERRIA, NRBP)):
        return measure
    inner = getattr(measure, "measure", None)
    if isinstance(inner, (AveragePrecision, Precision)):
        # what it has no option for must be as it is there
        cut = None if isinstance(inner, AveragePrecision) else inner.k
        wants_cut = isinstance(inner, Precision)
        if inner == type(inner)(cut, inner.rel) and (cut is not None) == wants_cut:
            return measure
    # a scale that was spelled out is another measure
    if isinstance(inner, ERR) and inner.k and "max_label" not in spelled_out(inner):
        return _OfNdevalERR(inner.k)
    raise ValueError(
        "measures must be among alpha_DCG@k, alpha_nDCG@k, ERR_IA@k (without "
        "max_label), nERR_IA@k, NRBP, nNRBP, AP_IA, P_IA@k and StRecall@k with "
        f"convention='ndeval', got {measure}"
    )
