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

_, providers, theirs, util = (
    _optional.import_optional(f"ir_measures{part}", extra="ir-measures")
    for part in ("", ".providers", ".measures", ".util")
)

__all__ = ["TieAwareProvider"]

_NOT_PROVIDED = providers.base.NOT_PROVIDED
#: of gdeval, where ir-measures gets ERR from
_TOP_GRADE = 4
#: a measure of ours, or a function that counts documents
_Ours = measures.Measure | Callable[[_relevance_evaluator.TopicRows], FloatArray]


class _Number(providers.base.ParamSpec):  # type: ignore[misc, name-defined]
    """Numbers within bounds; if it is `optional`, none as well."""

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
_MAYBE_K = _MAYBE_REL = _Number(least=1, optional=True)
_OF_LIST = {"rel": _REL, "judged_only": _ANY}
_RANKED = {"cutoff": _MAYBE_K, **_OF_LIST}
_CUT = {"cutoff": _K, **_OF_LIST}


def _cutoff(measure: Any) -> int | None:
    return measure.params.get("cutoff")


def _at_cutoff(ours: Callable[..., measures.Measure]) -> Callable[[Any], _Ours]:
    return lambda measure: ours(_cutoff(measure), measure["rel"])


def _of_list(ours: Callable[..., measures.Measure]) -> Callable[[Any], _Ours]:
    return lambda measure: ours(measure["rel"])


def _ndcg(measure: Any) -> measures.Measure:
    gain = {"log2": "linear", "exp-log2": "exponential"}[measure["dcg"]]
    return measures.NDCG(_cutoff(measure), gain)


def _set_p(measure: Any) -> _Ours:
    if measure["relative"]:
        return lambda rows: _relevance_evaluator.share_of_possible(rows, measure["rel"])
    return measures.Precision(None, measure["rel"])


#: measures of ir-measures with the parameters that are supported, and as ours
_SUPPORTED: list[tuple[Any, Callable[[Any], _Ours]]] = [
    (theirs._P(**_CUT), _at_cutoff(measures.Precision)),
    (theirs._R(**_CUT), _at_cutoff(measures.Recall)),
    (theirs._Success(**_CUT), _at_cutoff(measures.Success)),
    (theirs._RR(**_RANKED), _at_cutoff(measures.ReciprocalRank)),
    (theirs._AP(**_RANKED), _at_cutoff(measures.AveragePrecision)),
    (theirs._Rprec(**_OF_LIST), _of_list(measures.RPrecision)),
    (theirs._Bpref(rel=_REL), _of_list(measures.BPref)),
    (theirs._nDCG(cutoff=_MAYBE_K, dcg=_ANY, gains=_ANY, judged_only=_ANY), _ndcg),
    (
        theirs._ERR(cutoff=_MAYBE_K),
        lambda m: measures.ERR(_cutoff(m), max_label=_TOP_GRADE),
    ),
    # without rel its gains are not defined
    (
        theirs._RBP(cutoff=_MAYBE_K, p=_Number(above=0, below=1), rel=_REL),
        lambda m: measures.RBP(m["p"], _cutoff(m), m["rel"]),
    ),
    # pytrec_eval, where ir-measures gets it from, is version 9
    (
        theirs._IPrec(recall=_Number(least=0, most=1), **_OF_LIST),
        lambda m: measures.InterpolatedPrecision(
            m["recall"], m["rel"], rounding="trec_eval9"
        ),
    ),
    (theirs._SetP(relative=_ANY, **_OF_LIST), _set_p),
    # without a cut-off
    (theirs._SetR(rel=_REL), _at_cutoff(measures.Recall)),
    # ir-measures passes beta on to trec_eval, where the parameter is β²
    (
        theirs._SetF(beta=_Number(above=0, below=1e90), **_OF_LIST),
        lambda m: measures.FBeta(None, m["rel"], beta=math.sqrt(m["beta"])),
    ),
    (theirs._SetAP(**_OF_LIST), _of_list(measures.SetAP)),
    (theirs._Judged(cutoff=_MAYBE_K), lambda m: measures.Judged(_cutoff(m))),
    (
        theirs._NumRet(rel=_MAYBE_REL),
        lambda m: lambda rows: rows.n_retrieved(m.params.get("rel")),
    ),
    (theirs._NumRel(rel=_REL), lambda m: lambda rows: rows.n_judged(m["rel"])),
    (theirs._NumQ(), lambda m: lambda rows: np.ones(len(rows.topics))),
]
_OURS = {spec.NAME: ours for spec, ours in _SUPPORTED}


def _labels_of(measure: Any) -> tuple[Hashable, Callable[[Any], Any]]:
    """How a measure reads labels: a key, and a function of a label."""
    if measure.NAME == "Judged":
        # a label below 0 is a judgment, too
        return "judged", lambda label: 1
    gains = measure.params.get("gains")
    if gains is None:
        return "as given", lambda label: label
    return tuple(sorted(gains.items())), lambda label: gains.get(label, label)


class TieAwareProvider(providers.Provider):  # type: ignore[misc, name-defined]
    """A provider of ir-measures whose values are exact means over the orders of ties.

    Importing this module registers ``tieaware_sklearn.ir_measures.provider`` as
    ``ir_measures.providers.registry["tieaware"]``. It has the methods of all providers:
    ``calc_aggregate``, ``iter_calc``, ``calc``, ``evaluator`` and ``supports``.
    Judgments and runs are dicts of dicts, named tuples or data frames.

    See Also
    --------
    RelevanceEvaluator : The same for the names of pytrec_eval.
    evaluate : The same for arrays, with best and worst values.
    parse_measure : Reads most names of ir-measures.

    Notes
    -----
    The measures are P, R, Success, RR, AP, Rprec, Bpref, nDCG, ERR, RBP, IPrec, SetP,
    SetR, SetF, SetAP, Judged, NumRet, NumRel and NumQ. Without ties, the values equal
    those of the other providers: pytrec_eval, gdeval for ERR (grades up to 4) and nDCG
    with ``dcg='exp-log2'``, and the provider of Judged. ``supports`` refuses RBP
    without ``rel``, cut-offs and ``rel`` below 1, and other parameters outside their
    range. ``SetF(beta=b)`` is F with β² = b, as in trec_eval, and ``IPrec`` counts
    recall levels as version 9 does. All judged topics count. As in ir-measures, topics
    that are not in the run count as 0, also in NumRel and NumQ. Scores and ids are as
    in a dict of dicts for `load_trec`. If a list or a data frame holds a document of a
    topic twice, the last score counts.

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

    First in a pipeline, with the others for what it does not have:

    >>> import ir_measures
    >>> pipeline = ir_measures.providers.FallbackProvider(
    ...     [provider, ir_measures.DefaultPipeline])
    >>> pipeline.calc_aggregate([AP], qrels, run)
    {AP: 0.41666666666666663}
    """

    NAME = "tieaware"
    SUPPORTED_MEASURES = [spec for spec, _ in _SUPPORTED]  # noqa: RUF012

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        resolved = list(dict.fromkeys(measures))
        for measure in resolved:
            if not self.supports(measure):
                raise ValueError(f"unsupported measure {measure}")
        return _Evaluator(resolved, util.QrelsConverter(qrels).as_dict_of_dict())


class _Evaluator(providers.Evaluator):  # type: ignore[misc, name-defined]
    """Judgments prepared for any runs."""

    def __init__(self, measures: list[Any], qrels: dict[str, dict[str, Any]]) -> None:
        super().__init__(measures, set(qrels))
        #: measures by how they read labels, and whether of judged documents only
        self._groups: dict[tuple[Hashable, bool], list[Any]] = {}
        self._judged: dict[Hashable, _relevance_evaluator.JudgedTopics] = {}
        if not qrels:
            return
        for measure in measures:
            key, read = _labels_of(measure)
            if key not in self._judged:
                labels = {
                    topic: {docno: read(label) for docno, label in documents.items()}
                    for topic, documents in qrels.items()
                }
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
                ours = _OURS[measure.NAME](measure)
                if isinstance(ours, measures.Measure):
                    exact[measure] = ours
                else:
                    yield from _metrics(rows, measure, ours(rows))
            if exact:
                resolved = _resolved.resolve([*exact.values()], unjudged="nonrelevant")
                values = rows.values(resolved).expected
                for measure, column in zip(exact, values.T, strict=True):
                    yield from _metrics(rows, measure, column)


def _metrics(
    rows: _relevance_evaluator.TopicRows, measure: Any, values: FloatArray
) -> Iterator[Any]:
    # ir-measures adds up in this order, and sums must not depend on that of the run
    for topic, value in sorted(zip(rows.topics, values.tolist(), strict=True)):
        yield util.Metric(query_id=topic, measure=measure, value=value)


#: the one that is registered
provider = providers.register(TieAwareProvider())
