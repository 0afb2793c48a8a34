"""Measures of rankings whose documents have a label for each subtopic of a query."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._engine.exact import show
from .._engine.ties import FloatArray, IntArray, TieGroups
from ._base import Measure, relevance
from ._fields import RemembersArguments, cutoff, number, spelled
from ._names import OF_SUBTOPICS, Named
from ._parse import parse_measure, put_together, take_apart
from ._reciprocal_rank import Success

_EXAMPLE = '"alpha_nDCG@20" or "ERR_IA@20"'
#: an intent-aware measure by the name of the measure
_INTENT_AWARE = re.compile(r"([A-Za-z]\w*?)_IA(?!\w)(.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class SubtopicMeasure(RemembersArguments, ABC):
    """Base class of the measures that `evaluate_subtopics` takes.

    They are small, immutable and hashable. ``str(measure)`` is the canonical name,
    which `parse_subtopic_measure` reads back.

    A measure gives each subtopic of a query a value, from the ranking of all documents
    with their labels for this subtopic. Only subtopics with a relevant document count.

    See Also
    --------
    parse_subtopic_measure : Makes a measure from its name.
    evaluate_subtopics : Computes the values of measures.

    Examples
    --------
    >>> from tieaware_sklearn import AlphaNDCG, SubtopicMeasure
    >>> isinstance(AlphaNDCG(k=20), SubtopicMeasure), str(AlphaNDCG(k=20))
    (True, 'alpha_nDCG@20')
    """

    name: ClassVar[str]
    #: as in `Measure`
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    at: ClassVar[str] = "k"
    always_shown: ClassVar[tuple[str, ...]] = ()
    synonyms: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    example: ClassVar[str] = ""
    #: divided by the value of the ideal order, which is found greedily
    normalised: ClassVar[bool] = False
    #: undefined, and not 0, for a query without subtopics
    needs_subtopics: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name = vars(cls).get("name", "")
        if name.isidentifier():
            OF_SUBTOPICS[name.lower()] = Named(cls, ())
            for alias, without in cls.aliases.items():
                OF_SUBTOPICS[alias.lower()] = Named(cls, without)

    def __post_init__(self) -> None:
        for f in fields(self):
            if check := f.metadata.get("check"):
                object.__setattr__(self, f.name, check(getattr(self, f.name), f.name))

    @property
    def reach(self) -> int | None:
        """The rank down to which this measure looks."""
        return getattr(self, "k", None)

    @property
    def maximum(self) -> float:
        """No value is above it."""
        return 1.0

    @abstractmethod
    def gains(self, levels: FloatArray) -> FloatArray:
        """The gain of each label; a subtopic counts if any of its documents has one."""

    @abstractmethod
    def of_lists(self, groups: TieGroups) -> FloatArray:
        """The mean value of each subtopic over the orders of tied documents."""

    def counts(self, groups: TieGroups) -> NDArray[np.bool_]:
        """Which of the lists are of subtopics with a relevant document."""
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

    def __str__(self) -> str:
        return spelled(self)


def _checked_measure(value: Any, name: str) -> Measure:
    measure = parse_measure(value)
    if not measure.greater_is_better:
        raise ValueError(
            f"{name} must be one of which higher values are better, got {measure}"
        )
    return measure


@dataclass(frozen=True)
class IntentAware(SubtopicMeasure):
    """Mean over the subtopics of a query of another measure: ERR-IA, AP-IA, P-IA.

    Its name is that of the measure with ``_IA``, as in ``ERR_IA(max_label=4)@20``.

    Parameters
    ----------
    measure : str or Measure
        Measure of each subtopic, such as ``"err@20"``. Higher values must be better.

    Raises
    ------
    ValueError
        As in `parse_measure`, and for a measure of which lower values are better.

    See Also
    --------
    SubtopicRecall : Success-IA.
    AlphaNDCG : A measure that rewards novelty within a subtopic, too.

    Notes
    -----
    Agrawal, Gollapudi, Halverson and Ieong (WSDM 2009) define intent-aware measures as
    Σ_i P(i | q) M_i, with P the probability of subtopic i and M_i the measure of its
    labels. ERR-IA is that of Chapelle, Metzler, Zhang and Grinspan (CIKM 2009). The
    mean of a sum is the sum of the means, so it is exact under ties wherever that of
    the measure is. Where a measure is undefined for a subtopic with a relevant
    document, it counts as 0. ndeval's ERR-IA is divided by another constant: see
    `convention` of `evaluate_subtopics`.

    Examples
    --------
    >>> from tieaware_sklearn import IntentAware, evaluate_subtopics
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
    def maximum(self) -> float:
        return float(self.measure.maximum)

    def gains(self, levels: FloatArray) -> FloatArray:
        gains: FloatArray = self.measure.gains(levels)
        return gains

    def of_lists(self, groups: TieGroups) -> FloatArray:
        values: FloatArray = self.measure.expected(groups)
        return np.nan_to_num(values)

    def __str__(self) -> str:
        name = self.measure.name
        return f"{name}_IA{str(self.measure).removeprefix(name)}"


@dataclass(frozen=True)
class SubtopicRecall(SubtopicMeasure):
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
    IntentAware : The mean over subtopics of any measure.
    Success : The same for a query without subtopics.

    Notes
    -----
    The S-recall of Zhai, Cohen and Lafferty (SIGIR 2003). It is undefined for queries
    without a relevant document. Subtopics with a weight of w count w times.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    >>> evaluate_subtopics(labels, [1, 1, 1], measures="StRecall@1").expected
    array([[0.33333333]])
    """

    name: ClassVar[str] = "StRecall"
    aliases: ClassVar[Mapping[str, tuple[str, ...]]] = {"strec": ()}
    k: int | None = cutoff()
    rel: float = number(1.0, above=0)

    def gains(self, levels: FloatArray) -> FloatArray:
        return relevance(levels, self.rel)

    def of_lists(self, groups: TieGroups) -> FloatArray:
        return Success(self.k, self.rel).expected(groups)


def parse_subtopic_measure(measure: str | SubtopicMeasure) -> SubtopicMeasure:
    """Return the measure of subtopics of this name.

    Parameters
    ----------
    measure : str or SubtopicMeasure
        Case-insensitive name, spelled as in ir-measures: ``alpha_nDCG@20
        alpha_nDCG(alpha=0.8)@20 alpha_DCG@20 nERR_IA@20 NRBP nNRBP StRecall@20``, and
        the name of any measure that `parse_measure` reads with ``_IA``: ``ERR_IA@20
        P_IA@10 AP_IA NDCG_IA(gain=linear)@10``. ndeval's names ``alpha-nDCG@20``,
        ``ERR-IA@20``, ``MAP-IA`` and ``strec@20`` are understood, too. A measure is
        returned unchanged.

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
    >>> from tieaware_sklearn import parse_subtopic_measure
    >>> parse_subtopic_measure("alpha-ndcg@20")
    AlphaNDCG(k=20, alpha=0.5, rel=1.0)
    >>> str(parse_subtopic_measure("map-ia"))
    'AP_IA'
    """
    if isinstance(measure, SubtopicMeasure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(
            f"measure must be a name such as {_EXAMPLE} or a SubtopicMeasure, got "
            f"{show(measure)}"
        )
    # ndeval has hyphens in names
    text = re.sub(r"^\s*[\w-]*", lambda name: name[0].replace("-", "_"), measure)
    known = OF_SUBTOPICS.get(re.split(r"[(@]", text)[0].strip().lower())
    if known is None and (found := _INTENT_AWARE.fullmatch(text.strip())):
        return IntentAware(parse_measure("".join(found.groups())))
    spelling = take_apart(text, measure, _EXAMPLE)
    if known is None:
        names = sorted(
            {named.cls.name for named in OF_SUBTOPICS.values()}, key=str.lower
        )
        raise ValueError(
            f"unknown measure of subtopics {show(measure)} (known: {' '.join(names)}, "
            "and other measures with _IA after their names, as in AP_IA)"
        )
    parsed: SubtopicMeasure = put_together(spelling, known, measure)
    return parsed


def parse_subtopic_measures(
    measures: str | SubtopicMeasure | Iterable[str | SubtopicMeasure],
) -> list[SubtopicMeasure]:
    """One measure or several as a list; no measure twice."""
    if isinstance(measures, (str, SubtopicMeasure)):
        return [parse_subtopic_measure(measures)]
    if not isinstance(measures, Iterable):
        raise ValueError(
            f"measures must be a name or a list of names, got {show(measures)}"
        )
    parsed = [parse_subtopic_measure(measure) for measure in measures]
    if not parsed:
        raise ValueError("measures must name at least one measure, got none")
    names = list(map(str, parsed))
    twice = [again for again in names if names.count(again) > 1]
    if twice:
        raise ValueError(f"measures must differ, got {twice[0]} twice")
    return parsed
