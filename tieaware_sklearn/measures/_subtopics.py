"""Measures of documents with a label for each subtopic: diversity and novelty.

Gains that shrink with every repetition, as means over the orders of ties.

A list holds the documents of a query with their labels for one subtopic. The first
relevant document counts in full, each further one `keep` times what the one before it
does.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._engine import messages, tie_groups
from .._engine.segments import FloatArray, IntArray
from . import _measure, _parse, _places, _rank_tables
from ._average_precision import AveragePrecision
from ._counts import Precision, Success
from ._err import ERR
from ._measure import Measure
from ._parse import parse_measure

_EXAMPLE = '"alpha_nDCG@20" or "ERR_IA@20"'
#: an intent-aware measure by the name of the measure
_INTENT_AWARE = re.compile(r"([A-Za-z]\w*?)_IA(?!\w)(.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class SubtopicMeasure(_measure.NamedMeasure, ABC):
    """Base class of the measures that `evaluate_subtopics` takes.

    They are small, immutable and hashable. ``str(measure)`` is the canonical name,
    which `parse_subtopic_measure` reads back.

    A measure computes a value for each subtopic of a query, from all ranked documents
    and their labels for this subtopic. Only subtopics with a relevant document count.

    See Also
    --------
    parse_subtopic_measure : Makes a measure from its name.
    evaluate_subtopics : Computes the values of measures.

    Examples
    --------
    >>> from tieaware_sklearn.measures import AlphaNDCG, SubtopicMeasure
    >>> isinstance(AlphaNDCG(k=20), SubtopicMeasure), str(AlphaNDCG(k=20))
    (True, 'alpha_nDCG@20')
    """

    #: divided by the value of the ideal order, which is found greedily
    normalised: ClassVar[bool] = False
    #: no value is above it
    maximum: ClassVar[float] = 1.0
    #: undefined, and not 0, for a query without subtopics
    needs_subtopics: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name = vars(cls).get("name", "")
        if name.isidentifier():
            for one, without in {**cls.aliases, name: ()}.items():
                _measure.OF_SUBTOPICS[one.lower()] = _measure.Named(cls, without)

    @abstractmethod
    def gains(self, levels: FloatArray) -> FloatArray:
        """The gain of each label; a subtopic counts if any of its documents has one."""

    @abstractmethod
    def of_lists(self, groups: tie_groups.TieGroups) -> FloatArray:
        """The mean value of each subtopic over the orders of tied documents."""

    def counts(self, groups: tie_groups.TieGroups) -> NDArray[np.bool_]:
        """Which lists belong to subtopics with a relevant document."""
        everything = groups.everything
        gains = self.gains(everything.levels)
        return np.asarray(everything.sum_groups(everything.gain_sums(gains)) > 0)

    def of_queries(
        self, sums: FloatArray, weights: FloatArray, n_subtopics: IntArray
    ) -> FloatArray:
        """Values of queries from weighted sums over their subtopics.

        By default the mean. Queries without subtopics get 0.
        """
        return np.divide(sums, weights, out=np.zeros(len(sums)), where=weights > 0)


def _checked_measure(value: Any, name: str) -> Measure:
    measure = parse_measure(value)
    rule = f"{name} must be one of which higher values are better, got {measure}"
    messages.require(measure.greater_is_better, rule)
    return measure


@dataclass(frozen=True)
class IntentAware(SubtopicMeasure):
    """Mean of a measure over the subtopics of a query: ERR-IA, AP-IA, P-IA.

    Its name adds ``_IA`` to the name of the measure: ``ERR_IA(max_label=4)@20``.

    Parameters
    ----------
    measure : str or Measure
        Measure of each subtopic, such as ``"err@20"``. Higher values must be better.

    Raises
    ------
    ValueError
        As in `parse_measure`, and for a measure whose lower values are better.

    See Also
    --------
    SubtopicRecall : The same as Success-IA.
    AlphaNDCG : A measure that rewards novelty within a subtopic, too.

    Notes
    -----
    Agrawal, Gollapudi, Halverson and Ieong (WSDM 2009) define intent-aware measures as
    Σ_i P(i | q) M_i, with P the probability of subtopic i and M_i the measure of its
    labels. ERR-IA is that of Chapelle, Metzler, Zhang and Grinspan (CIKM 2009). The
    mean under ties is exact if it is exact for the measure. A measure that is
    undefined for a subtopic with a relevant document counts as 0 there. ndeval divides
    ERR-IA by another constant: see `convention` of `evaluate_subtopics`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> from tieaware_sklearn.measures import IntentAware
    >>> print(IntentAware("err(max_label=1)@20"))
    ERR_IA(max_label=1)@20
    >>> evaluate_subtopics([[1, 0], [0, 1]], [2, 1], measures="p_ia@1").expected
    array([[0.5]])
    """

    measure: Any = field(metadata={"check": _checked_measure})

    @property
    def reach(self) -> int | None:
        reach: int | None = self.measure.reach
        return reach

    @property
    def maximum(self) -> float:  # type: ignore[override]
        return float(self.measure.maximum)

    def gains(self, levels: FloatArray) -> FloatArray:
        return np.asarray(self.measure.gains(levels))

    def of_lists(self, groups: tie_groups.TieGroups) -> FloatArray:
        (values,) = self.measure.statistics(groups, ["expected"])
        return np.asarray(np.nan_to_num(values))

    def __str__(self) -> str:
        name = self.measure.name
        return f"{name}_IA{str(self.measure).removeprefix(name)}"


@dataclass(frozen=True)
class SubtopicRecall(_measure.OfRelevance, SubtopicMeasure):
    """Subtopic recall: the share of subtopics that the first k documents cover.

    Parameters
    ----------
    k : int, optional
        Cut-off.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant to a subtopic.

    Raises
    ------
    ValueError
        For k < 1 or rel <= 0.

    See Also
    --------
    IntentAware : The mean of any measure over subtopics.
    Success : The same without subtopics.

    Notes
    -----
    This is the S-recall of Zhai, Cohen and Lafferty (SIGIR 2003). It is undefined for
    queries without a relevant document. A subtopic of weight w counts w times.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    >>> evaluate_subtopics(labels, [1, 1, 1], measures="StRecall@1").expected
    array([[0.33333333]])
    """

    name: ClassVar[str] = "StRecall"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"strec": ()}
    k: int | None = _measure.cutoff()
    rel: float = _measure.number(1.0, above=0)

    def of_lists(self, groups: tie_groups.TieGroups) -> FloatArray:
        return Success(self.k, self.rel).numerator(groups)


def parse_subtopic_measure(measure: str | SubtopicMeasure) -> SubtopicMeasure:
    """Return the subtopic measure of this name.

    Parameters
    ----------
    measure : str or SubtopicMeasure
        Case-insensitive name, spelled as in ir-measures: ``alpha_nDCG@20
        alpha_nDCG(alpha=0.8)@20 alpha_DCG@20 nERR_IA@20 NRBP nNRBP StRecall@20``. Or
        any name that `parse_measure` reads, with ``_IA``: ``ERR_IA@20 P_IA@10 AP_IA
        NDCG_IA(gain=linear)@10``. ndeval's names ``alpha-nDCG@20``, ``ERR-IA@20``,
        ``MAP-IA`` and ``strec@20`` are accepted, too. A measure is returned unchanged.

    Returns
    -------
    SubtopicMeasure
        ``parse_subtopic_measure(str(m)) == m``, except for callable gains.

    Raises
    ------
    ValueError
        For an unknown name, an unknown parameter, or a value that the measure does not
        accept.

    See Also
    --------
    parse_measure : Names of measures without subtopics.
    evaluate_subtopics : Accepts these names.

    Examples
    --------
    >>> from tieaware_sklearn.measures import parse_subtopic_measure
    >>> parse_subtopic_measure("alpha-ndcg@20")
    AlphaNDCG(k=20, alpha=0.5, rel=1.0)
    >>> str(parse_subtopic_measure("map-ia"))
    'AP_IA'
    """
    if isinstance(measure, SubtopicMeasure):
        return measure
    rule = f"measure must be a name such as {_EXAMPLE} or a SubtopicMeasure"
    messages.require(isinstance(measure, str), rule, measure)
    # ndeval has hyphens in names
    text = re.sub(r"^\s*[\w-]*", lambda name: name[0].replace("-", "_"), measure)
    known = _measure.OF_SUBTOPICS.get(re.split(r"[(@]", text)[0].strip().lower())
    if known is None and (match := _INTENT_AWARE.fullmatch(text.strip())):
        return IntentAware(parse_measure("".join(match.groups())))
    every = {named.cls.name for named in _measure.OF_SUBTOPICS.values()}
    unknown = (
        f"unknown measure of subtopics {messages.show(measure)} (known: "
        f"{' '.join(sorted(every, key=str.lower))}, and other measures with _IA after "
        "their names, as in AP_IA)"
    )
    parsed: SubtopicMeasure = _parse.read(
        text, measure, _measure.OF_SUBTOPICS, lambda *_: unknown, _EXAMPLE
    )
    return parsed


def mean_powers(n: IntArray, c: IntArray, keep: float, width: int) -> FloatArray:
    """E[keep^H] for x = 0 ... width - 1, of shape (n_groups, width), while x <= n.

    H of x documents drawn from n are relevant, c being so. With one relevant document
    more, among n of them, x of them hold it with chance x/n:
    E_x <- (1 - x/n) E_x + x/n keep E_{x-1}. All terms are positive.
    """
    x = np.arange(width, dtype=np.float64)
    # those with most relevant documents first: a step is for the first of them
    order = np.argsort(-c, kind="stable")
    most, fewest = c[order], (n - c)[order]
    means = np.ones((len(n), width))
    for step in range(int(most.max(initial=0))):
        some = slice(int(np.searchsorted(-most, -step)))
        share = np.minimum(x / (fewest[some, None] + step + 1.0), 1.0)
        part = means[some]
        following = (1 - share) * part
        following[:, 1:] += keep * share[:, 1:] * part[:, :-1]
        means[some] = following
    return np.asarray(means[np.argsort(order)])


class NoveltyMeasure(_measure.OfRelevance, SubtopicMeasure):
    """Σ w(rank) (1 - alpha)^(relevant documents above), over ranks and subtopics."""

    k: int | None
    alpha: float

    @abstractmethod
    def _rank_weights(self, rank: IntArray) -> FloatArray:
        """Weights of ranks, which count from 0."""

    def of_lists(self, groups: tie_groups.TieGroups) -> FloatArray:
        """Over the relevant documents of each list.

        With q = 1 - alpha, a group of n documents, c of them relevant, with C relevant
        ones above it adds q^C Σ_x w(lo + x) c/n E[q^H]: a relevant document is at place
        x with chance c/n, and H of the x - 1 others above it in the group are relevant,
        out of c - 1 among n - 1.
        """
        keep, relevant = 1 - self.alpha, groups.relevant(self.rel)
        inside = groups.inside(self.k)
        chosen = np.flatnonzero((relevant > 0) & (inside > 0))
        c, n, lo = relevant[chosen], groups.n[chosen], groups.lo[chosen]
        # what decays to nothing is not summed
        mean = 1 - (1 - keep) * ((c - 1) / np.maximum(n - 1, 1))
        places = np.minimum(inside[chosen], 1 + _places.hopeless_after(mean))
        worth = np.zeros(len(chosen))
        for width, part in _places.widths(places):
            powers = mean_powers(n[part] - 1, c[part] - 1, keep, width)
            x = np.arange(width)
            powers *= self._rank_weights(lo[part, None] + x)
            powers[x >= places[part, None]] = 0.0
            worth[part] = powers.sum(axis=1)
        worth *= c / n
        worth *= np.power(keep, groups.relevant_above(self.rel)[chosen])
        values = np.zeros(len(groups.n))
        values[chosen] = worth
        return groups.sum_groups(values)


@dataclass(frozen=True)
class _UpToCutoff(NoveltyMeasure):
    k: int | None = _measure.cutoff()
    alpha: float = _measure.number(0.5, least=0, most=1)
    rel: float = _measure.number(1.0, above=0)

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return _rank_tables.log_discount(rank)


@dataclass(frozen=True)
class AlphaDCG(_UpToCutoff):
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
    AlphaNDCG : The same divided by its value in an ideal order.
    DCG : Discounted gain without subtopics.

    Notes
    -----
    The definition is that of Clarke et al. (SIGIR 2008). Consider a tie group of n
    documents, c of them relevant to a subtopic. Above it are lo documents, C of them
    relevant. The group adds (1 - α)^C c/n Σ_x E[(1 - α)^H] / log2(lo + x + 1). H is
    hypergeometric: the relevant documents among x - 1 drawn from n - 1, c - 1 of them
    relevant. The mean is exact. The sum over subtopics is not divided by their
    number, and weights have the mean 1. It is 0 for queries without a relevant
    document.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1, 1], [1, 0]], [2, 1], measures="alpha_DCG@1").expected
    array([[2.]])
    """

    name: ClassVar[str] = "alpha_DCG"
    needs_subtopics: ClassVar[bool] = False
    maximum: ClassVar[float] = np.inf

    def of_queries(
        self, sums: FloatArray, weights: FloatArray, n_subtopics: IntArray
    ) -> FloatArray:
        scale = super().of_queries(n_subtopics.astype(np.float64), weights, n_subtopics)
        return np.asarray(sums * scale)


@dataclass(frozen=True)
class AlphaNDCG(_UpToCutoff):
    """α-nDCG: α-DCG divided by its value in an ideal order.

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
    The definition is that of Clarke et al. (SIGIR 2008). Finding the best order is
    NP-hard. As there and in ndeval, the ideal order is greedy: each rank gets the
    document with the largest gain. Of documents with equal gains, the one with
    relevant subtopics in the first columns is taken, so that the order of rows does
    not matter. ndeval takes the last document id. A ranking that is better than the
    greedy one has a value above 1. α-nDCG is undefined for queries without a relevant
    document. Under ties the mean is exact, as for `AlphaDCG`.

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
class NormalisedERRIA(_UpToCutoff):
    """nERR-IA: ERR-IA of binary labels divided by its value in an ideal order.

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
    The definition is that of ndeval, the program of the TREC Web track. The ideal order
    is that of `AlphaNDCG`. With alpha of 0.5, the numerator is a multiple of
    ``IntentAware(ERR(k, max_label=1))``. Under ties the mean is exact.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 1], [1, 0], [0, 0]]
    >>> evaluate_subtopics(labels, [1, 1, 1], measures="nERR_IA@1").expected
    array([[0.5]])
    """

    name: ClassVar[str] = "nERR_IA"
    normalised: ClassVar[bool] = True

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        return np.asarray(1.0 / (rank + 1))


@dataclass(frozen=True)
class NRBP(NoveltyMeasure):
    """Novelty- and rank-biased precision.

    A document relevant to a subtopic gains (1 - α)^c β^(rank - 1) for it, with c the
    number of documents above it that are relevant to the same subtopic. The mean over
    subtopics is divided by its value for a list in which all documents are relevant to
    all subtopics.

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
    NormalisedNRBP : The same divided by its value in an ideal order.
    RBP : Rank-biased precision without subtopics.

    Notes
    -----
    The definition is that of Clarke, Kolla and Vechtomova (ICTIR 2009). Under ties the
    mean is exact, as for `AlphaDCG`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1], [0]], [1, 1], measures="NRBP").expected
    array([[0.5625]])
    """

    name: ClassVar[str] = "NRBP"
    k: ClassVar[int | None] = None  # type: ignore[misc]
    alpha: float = _measure.number(0.5, least=0, most=1)
    beta: float = _measure.number(0.5, above=0, below=1)
    rel: float = _measure.number(1.0, above=0)

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        scale = 1 - (1 - self.alpha) * self.beta
        return np.asarray(scale * np.power(self.beta, rank))


@dataclass(frozen=True)
class NormalisedNRBP(NRBP):
    """nNRBP: NRBP divided by its value in an ideal order.

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
    The definition is that of ndeval. The ideal order is that of `AlphaNDCG`.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> evaluate_subtopics([[1], [0]], [1, 1], measures="nNRBP").expected
    array([[0.75]])
    """

    name: ClassVar[str] = "nNRBP"
    normalised: ClassVar[bool] = True


@dataclass(frozen=True)
class _OverAll(NoveltyMeasure):
    """`measure`, divided by its sum for documents that are all relevant to all."""

    measure: _UpToCutoff
    k: int
    alpha: float
    rel: float

    def _rank_weights(self, rank: IntArray) -> FloatArray:
        weights, ranks = self.measure._rank_weights, np.arange(self.k)
        shares = np.power(1 - self.alpha, ranks)
        return weights(rank) / math.fsum((weights(ranks) * shares).tolist())


def as_ndeval(measure: SubtopicMeasure) -> SubtopicMeasure:
    """The measure as ndeval defines it.

    Raises
    ------
    ValueError
        For measures that ndeval does not have, or not with these parameters.
    """
    if isinstance(measure, AlphaDCG) and measure.k is not None:
        return _OverAll(measure, measure.k, measure.alpha, measure.rel)
    if isinstance(measure, (SubtopicRecall, AlphaNDCG, NormalisedERRIA, NRBP)):
        return measure
    inner = getattr(measure, "measure", None)
    # what it has no option for must be as it is there
    cut, rel = getattr(inner, "k", None) or 1, getattr(inner, "rel", None) or 1.0
    if inner in (AveragePrecision(None, rel), Precision(cut, rel)):
        return measure
    # a scale that was spelled out is another measure
    has_scale = "max_label" in _measure.spelled_out(inner)
    if isinstance(inner, ERR) and inner.k and not has_scale:
        binary = NormalisedERRIA(inner.k)
        return _OverAll(binary, inner.k, binary.alpha, binary.rel)
    raise ValueError(
        "measures must be among alpha_DCG@k, alpha_nDCG@k, ERR_IA@k (without "
        "max_label), nERR_IA@k, NRBP, nNRBP, AP_IA, P_IA@k and StRecall@k with "
        f"convention='ndeval', got {measure}"
    )
