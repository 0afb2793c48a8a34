"""The measure objects of ir-measures, with exact values under ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from . import _optional, measures
from ._engine import checks
from ._typing import FloatArray
from .evaluation import _relevance_evaluator, _resolved

providers, specs, util = (
    _optional.import_optional(f"ir_measures.{part}", extra="ir-measures")
    for part in ("providers", "measures", "util")
)

__all__ = ["TieAwareProvider"]

_NOT_PROVIDED = providers.base.NOT_PROVIDED
#: Highest grade in gdeval, with which ir-measures computes ERR.
_TOP_GRADE = 4
#: The counterpart of a measure of ir-measures: a measure of this package, or a
#: function that counts documents.
_Counterpart = measures.Measure | Callable[[_relevance_evaluator.TopicRows], FloatArray]


class _Number(providers.base.ParamSpec):  # type: ignore[misc, name-defined]
    """A numeric parameter within bounds. An `optional` parameter may also be absent."""

    def __init__(self, *, optional: bool = False, **bounds: float) -> None:
        self._optional = optional
        self._bounds = bounds

    def validate(self, value: Any) -> bool:
        if value is _NOT_PROVIDED:
            return self._optional
        return checks.is_number(value, **self._bounds)

    def __repr__(self) -> str:
        return " and ".join(f"{name} {bound:g}" for name, bound in self._bounds.items())


_ANY = providers.base.Any()
_K = _REL = _Number(least=1)
_OPTIONAL_K = _OPTIONAL_REL = _Number(least=1, optional=True)
_LABELS = {"rel": _REL, "judged_only": _ANY}
_RANKED = {"cutoff": _OPTIONAL_K, **_LABELS}
_CUT = {"cutoff": _K, **_LABELS}
_SUPPORTED = [
    specs._P(**_CUT),
    specs._R(**_CUT),
    specs._Success(**_CUT),
    specs._RR(**_RANKED),
    specs._AP(**_RANKED),
    specs._Rprec(**_LABELS),
    specs._Bpref(rel=_REL),
    specs._nDCG(cutoff=_OPTIONAL_K, dcg=_ANY, gains=_ANY, judged_only=_ANY),
    specs._ERR(cutoff=_OPTIONAL_K),
    # Without rel, the gains of RBP are not defined.
    specs._RBP(cutoff=_OPTIONAL_K, p=_Number(above=0, below=1), rel=_REL),
    specs._IPrec(recall=_Number(least=0, most=1), **_LABELS),
    specs._SetP(relative=_ANY, **_LABELS),
    specs._SetR(rel=_REL),
    # This beta is β². FBeta refuses a β of 1e50 or more.
    specs._SetF(beta=_Number(above=0, below=1e90), **_LABELS),
    specs._SetAP(**_LABELS),
    specs._Judged(cutoff=_OPTIONAL_K),
    specs._NumRet(rel=_OPTIONAL_REL),
    specs._NumRel(rel=_REL),
    specs._NumQ(),
]

#: Gains of NDCG by the parameter `dcg` of nDCG.
_GAINS = {"log2": "linear", "exp-log2": "exponential"}
#: Classes with a relevance level and a cut-off, which is None for set measures.
_WITH_CUTOFF: dict[str, Callable[..., measures.Measure]] = {
    "P": measures.Precision,
    "R": measures.Recall,
    "Success": measures.Success,
    "RR": measures.ReciprocalRank,
    "AP": measures.AveragePrecision,
    "SetP": measures.Precision,
    "SetR": measures.Recall,
}
#: Classes with a relevance level and no cut-off.
_WITHOUT_CUTOFF: dict[str, Callable[..., measures.Measure]] = {
    "Rprec": measures.RPrecision,
    "Bpref": measures.BPref,
    "SetAP": measures.SetAP,
}


def _counterpart(measure: Any) -> _Counterpart:
    """Return the measure of this package, or a function that counts documents."""
    name = measure.NAME
    cutoff = measure.params.get("cutoff")
    if name == "nDCG":
        return measures.NDCG(cutoff, _GAINS[measure["dcg"]])
    if name == "ERR":
        return measures.ERR(cutoff, max_label=_TOP_GRADE)
    if name == "Judged":
        return measures.Judged(cutoff)
    if name == "NumQ":
        return lambda rows: np.ones(len(rows.topics))
    if name == "NumRet":
        return lambda rows: rows.n_retrieved(measure.params.get("rel"))
    rel = measure["rel"]
    if name == "NumRel":
        return lambda rows: rows.n_judged(rel)
    if name == "RBP":
        return measures.RBP(measure["p"], cutoff, rel)
    if name == "IPrec":
        # ir-measures uses the values of pytrec_eval, which is version 9 of trec_eval.
        recall = measure["recall"]
        return measures.InterpolatedPrecision(recall, rel, rounding="trec_eval9")
    if name == "SetP" and measure["relative"]:
        return lambda rows: _relevance_evaluator.share_of_possible(rows, rel)
    if name == "SetF":
        # ir-measures passes beta on to trec_eval, where the parameter is β².
        return measures.FBeta(None, rel, beta=math.sqrt(measure["beta"]))
    if name in _WITHOUT_CUTOFF:
        return _WITHOUT_CUTOFF[name](rel)
    return _WITH_CUTOFF[name](cutoff, rel)


def _labels_of(measure: Any) -> tuple[Hashable, Callable[[Any], Any]]:
    """Return a key for how a measure reads labels, and the function that reads them."""
    if measure.NAME == "Judged":
        # A label below 0 is also a judgment. Other measures read it as no judgment.
        return "judged", lambda label: 1
    gains = measure.params.get("gains")
    if gains is None:
        return "unchanged", lambda label: label
    return tuple(sorted(gains.items())), lambda label: gains.get(label, label)


class TieAwareProvider(providers.Provider):  # type: ignore[misc, name-defined]
    """A provider of ir-measures whose values are exact means over the orders of ties.

    Importing this module registers ``tieaware_sklearn.ir_measures.provider`` as
    ``ir_measures.providers.registry["tieaware"]``. The methods of the provider are the
    methods of all providers: ``calc_aggregate``, ``iter_calc``, ``calc``, ``evaluator``
    and ``supports``. Judgments and runs are dicts of dicts, iterables of named tuples,
    or data frames.

    See Also
    --------
    RelevanceEvaluator : Computes measures by the names of pytrec_eval.
    evaluate : Computes measures of arrays, with best and worst values.
    parse_measure : Reads most names of ir-measures.

    Notes
    -----
    The measures are P, R, Success, RR, AP, Rprec, Bpref, nDCG, ERR, RBP, IPrec, SetP,
    SetR, SetF, SetAP, Judged, NumRet, NumRel and NumQ. Without ties, the values equal,
    up to rounding, the values of the other providers: pytrec_eval, gdeval for ERR
    (grades up to 4) and nDCG with ``dcg='exp-log2'``, and the provider of Judged.
    ``supports`` returns False for RBP without ``rel``, for cut-offs and ``rel`` below
    1, and for other parameters outside their range. ``SetF(beta=b)`` is F with β² = b,
    as in trec_eval, and ``IPrec`` counts recall levels as in version 9 of trec_eval.
    All judged topics count. As in ir-measures, topics that are not in the run count as
    0, even in NumRel and NumQ. Scores and ids have the same form as in a dict of dicts
    for `load_trec`. If a list or a data frame contains a document of a topic twice, the
    last score counts.

    S. MacAvaney, C. Macdonald and I. Ounis, "Streamlining evaluation with ir-measures",
    ECIR 2022.

    Examples
    --------
    >>> from ir_measures import AP, nDCG
    >>> from tieaware_sklearn.ir_measures import provider
    >>> qrels = {"q1": {"d1": 0, "d2": 1, "d3": 0}}
    >>> run = {"q1": {"d1": 2.0, "d2": 1.5, "d3": 1.5}}
    >>> provider.calc_aggregate([AP], qrels, run)
    {AP: 0.41666666666666663}

    In a pipeline, this provider comes first. Other providers compute the measures that
    this provider does not support:

    >>> import ir_measures
    >>> pipeline = ir_measures.providers.FallbackProvider(
    ...     [provider, ir_measures.DefaultPipeline])
    >>> pipeline.calc_aggregate([AP], qrels, run)
    {AP: 0.41666666666666663}
    """

    NAME = "tieaware"
    SUPPORTED_MEASURES = _SUPPORTED

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        distinct = list(dict.fromkeys(measures))
        for measure in distinct:
            if not self.supports(measure):
                raise ValueError(f"unsupported measure {measure}")
        return _Evaluator(distinct, util.QrelsConverter(qrels).as_dict_of_dict())


class _Evaluator(providers.Evaluator):  # type: ignore[misc, name-defined]
    """Judgments that are prepared for the evaluation of any number of runs."""

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, Any]]) -> None:
        super().__init__(measures, set(qrels))
        #: Measures, grouped by the function that reads labels, and by whether only
        #: judged documents are ranked.
        self._groups: dict[tuple[Hashable, bool], list[Any]] = {}
        self._judged: dict[Hashable, _relevance_evaluator.JudgedTopics] = {}
        if not qrels:
            return
        for measure in measures:
            key, read = _labels_of(measure)
            if key not in self._judged:
                labels = {}
                for topic, documents in qrels.items():
                    labels[topic] = {d: read(label) for d, label in documents.items()}
                self._judged[key] = _relevance_evaluator.JudgedTopics(labels)
            judged_only = bool(measure.params.get("judged_only"))
            self._groups.setdefault((key, judged_only), []).append(measure)

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        ranked = util.RunConverter(run).as_dict_of_dict()
        if not ranked:
            return
        for (key, judged_only), group in self._groups.items():
            rows = self._judged[key].rows(ranked, "run", judged_only=judged_only)
            if not rows.topics:
                continue
            exact: dict[Any, measures.Measure] = {}
            for measure in group:
                counterpart = _counterpart(measure)
                if isinstance(counterpart, measures.Measure):
                    exact[measure] = counterpart
                else:
                    yield from _metrics(rows, measure, counterpart(rows))
            if exact:
                resolved = _resolved.resolve([*exact.values()], unjudged="nonrelevant")
                values = rows.values(resolved).expected
                for measure, column in zip(exact, values.T, strict=True):
                    yield from _metrics(rows, measure, column)


def _metrics(
    rows: _relevance_evaluator.TopicRows, measure: Any, values: FloatArray
) -> Iterator[Any]:
    # ir-measures adds values in this order. Sums must not depend on the order of the
    # run, so topics are sorted.
    for topic, value in sorted(zip(rows.topics, values.tolist(), strict=True)):
        yield util.Metric(query_id=topic, measure=measure, value=value)


#: The provider that is registered with ir-measures.
provider = providers.register(TieAwareProvider())
