"""Measures as a call means them: by a convention, with values where undefined."""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from .._display import words
from .._engine import checks, messages
from .._typing import BoolArray, FloatArray
from ..measures import Measure, _measure
from ..measures._values import LabelValues, QueryValues


class Parameter(NamedTuple):
    """A parameter as a tool has it.

    Attributes
    ----------
    value : object
        Where the user does not say.
    modes : container of object, optional
        Values that the tool can be told to take instead; None is any.
    """

    value: Any
    modes: Container[Any] | None = ()

    def takes(self, value: Any) -> bool:
        """Return whether the tool has this value, or can be told to take it."""
        return self.modes is None or value == self.value or value in self.modes


class Definition(NamedTuple):
    """A measure as a tool has it.

    Attributes
    ----------
    undefined : float
        Its value where undefined.
    parameters : mapping of str to Parameter
        All others are the user's.
    unweighted : str
        Why no weights of queries give the tool's number; empty where they do.
    counts_undefined_once : bool
        Queries where it is undefined weigh 1, whatever their weight.
    least_documents : int
        Queries of fewer are an error there.
    """

    undefined: float
    parameters: Mapping[str, Parameter] = {}
    unweighted: str = ""
    counts_undefined_once: bool = False
    least_documents: int = 1


_LOG2 = {"discount": Parameter("log2")}
_LINEAR = {"gain": Parameter("linear")} | _LOG2
# label_gain
_OF_LIGHTGBM = {"gain": Parameter("exponential", None)} | _LOG2
# ndcg_exp_gain=False
_OF_XGBOOST = {"gain": Parameter("exponential", ["linear"])} | _LOG2
# type=Exp, denominator=Position
_OF_CATBOOST = {
    "gain": Parameter("linear", ["exponential"]),
    "discount": Parameter("log2", ["inverse"]),
}
_OF_THE_LIST = {"denominator": Parameter("retrieved")}
_OVER_RELEVANT = {"denominator": Parameter("relevant")}
_OVER_CUTOFF = {"denominator": Parameter("cutoff")}
_BINARY = {"rel": Parameter(1.0)}
_UNCUT = {"k": Parameter(None)}
# as many as the pairs per document of LambdaMART, 32 by default
_CUT = {"k": Parameter(32, None)}
_NO_WEIGHTS = "{} has no weights"
_IGNORED = "{} ignores weights for this measure"


def _trec_eval(rounding: str) -> dict[str, Definition]:
    """Conventions of trec_eval 9 and 10, which differ in recall levels."""
    levels = {"rounding": Parameter(rounding)}
    parameters = {
        "NDCG": _LINEAR,
        "AP": _OVER_RELEVANT,
        "P": _OVER_CUTOFF,
        "R": {"denominator": Parameter("relevant", ["cutoff"])},
        "F": _UNCUT,
        "Success": {},
        "RR": {},
        "Rprec": {},
        "BPref": {},
        "SetAP": {},
        "IPrec": levels,
        # as many levels as there are, but none at each relevant document
        "IAP": levels | {"points": Parameter(11, range(2, 1002))},
    }
    return {name: Definition(0.0, one, _NO_WEIGHTS) for name, one in parameters.items()}


#: by tool and measure, of which others are refused. Checked against the tools
#: themselves in tests/evaluation/test_conventions.py
CONVENTIONS: dict[str, dict[str, Definition]] = {
    "lightgbm": {
        "NDCG": Definition(1.0, _OF_LIGHTGBM, counts_undefined_once=True),
        "AP": Definition(1.0, _OVER_CUTOFF | _BINARY),
    },
    "xgboost": {
        "NDCG": Definition(1.0, _OF_XGBOOST | _CUT, counts_undefined_once=True),
        "AP": Definition(1.0, _OVER_CUTOFF | _BINARY | _CUT),
        "P": Definition(0.0, _OF_THE_LIST | _BINARY | _CUT),
    },
    "catboost": {
        "NDCG": Definition(1.0, _OF_CATBOOST),
        "DCG": Definition(0.0, _OF_CATBOOST),
        "AP": Definition(0.0, _OVER_CUTOFF, _IGNORED),
        "P": Definition(0.0, _OF_THE_LIST, _IGNORED),
        "R": Definition(1.0, _OVER_RELEVANT, _IGNORED),
        "RR": Definition(0.0),
    },
    "sklearn": {
        "NDCG": Definition(0.0, _LINEAR, least_documents=2),
        "DCG": Definition(0.0, _LINEAR, least_documents=2),
        "AP": Definition(0.0, _OVER_RELEVANT | _BINARY | _UNCUT),
    },
    # what everyone has installed
    "trec_eval": _trec_eval("trec_eval9"),
    "trec_eval9": _trec_eval("trec_eval9"),
    "trec_eval10": _trec_eval("nearest"),
}


def define(measure: Measure, convention: str) -> Measure:
    """A measure whose parameters are the tool's, but for those it lets the user set.

    Raises
    ------
    ValueError
        For a measure that the tool does not have, or not with the given parameters.
    """
    definitions = CONVENTIONS[convention]
    if measure.name not in definitions or not _measure.is_ours(type(measure)):
        names = " ".join(sorted(definitions, key=str.lower))
        raise ValueError(
            f"measure must be one that {convention} has ({names}), got {measure}"
        )
    filled, changes = measure.filled(), {}
    for name, parameter in definitions[measure.name].parameters.items():
        value, modes = parameter
        given = getattr(measure, name)
        # without a cut-off, k is None
        if given is None or given is _measure.DEFAULT:
            # names show what differs from the default of the class
            if value != getattr(filled, name):
                changes[name] = value
        elif not parameter.takes(given):
            listed = modes if isinstance(modes, list) else []
            known = " or ".join(map(repr, [value, *listed]))
            raise ValueError(
                f"{name} must be {known} with convention={convention!r}, got "
                f"{given!r} in {measure}"
            )
    return replace(measure, **changes)


def state_gain(measure: Measure, gain: Any, convention: str | None) -> Measure:
    """A measure with the gain of a ranker, unless it or the tool states another."""
    if gain is None or getattr(measure, "gain", None) is not _measure.DEFAULT:
        return measure
    if convention is not None:
        definition = CONVENTIONS[convention].get(measure.name)
        # `define` refuses measures that the tool does not have
        if definition and not definition.parameters["gain"].takes(gain):
            return measure
    return replace(measure, gain=gain)  # type: ignore[call-arg]


def check_zero_relevance(zero_relevance: Any) -> None:
    """A finite number, "skip" or "raise"."""
    if isinstance(zero_relevance, str):
        checks.check_choice(zero_relevance, "zero_relevance", ("skip", "raise"))
    elif not checks.is_number(zero_relevance):
        raise ValueError(
            'zero_relevance must be a finite number, "skip" or "raise", got '
            f"{messages.show(zero_relevance)}"
        )


@dataclass(frozen=True, eq=False)
class ResolvedMeasures:
    """Measures as a call means them.

    Attributes
    ----------
    measures : tuple of Measure
    names : tuple of str
        Canonical names, without the gain of a ranker.
    value : ndarray of shape (n_measures,)
        What stands where a measure is undefined; NaN leaves the query out.
    unjudged : {"raise", "nonrelevant", "drop"}
        What to do with NaN labels.
    definitions : tuple of Definition
        What a convention says of the measures, if there is one.
    options : dict
        What was given, by the names of the arguments.
    """

    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    value: FloatArray
    unjudged: str
    definitions: tuple[Definition, ...]
    options: dict[str, Any]

    @property
    def bounds(self) -> FloatArray:
        """Least and largest value that each measure can have, (n_measures, 2)."""
        bounds = np.array([(one.minimum, one.maximum) for one in self.measures])
        # where it is undefined, a value that the user chose
        bounds[:, 0] = np.fmin(self.value, bounds[:, 0])
        bounds[:, 1] = np.fmax(self.value, bounds[:, 1])
        return bounds

    def fill(
        self,
        values: QueryValues,
        queries: checks.Queries,
        weight: FloatArray | None = None,
    ) -> QueryValues:
        """Replace undefined values, whose standard deviations become 0.

        Refuses queries, and a `weight` of them, that a convention cannot follow.
        """
        undefined = np.isnan(values.expected)
        if self.definitions:
            self._check_convention(queries, weight, undefined)
        if not undefined.any():
            return values
        if self.options["zero_relevance"] == "raise":
            *_, query, column = np.argwhere(undefined)[0]
            measure = self.measures[column]
            why = (
                "its denominator is 0 (zero_relevance=0.0 gives the query this value, "
                '"skip" leaves it out)'
                if measure.takes_zero_relevance
                else "too few relevant documents are retrieved (any other "
                "zero_relevance leaves the query out)"
            )
            raise ValueError(
                f"{measure} is undefined for query {queries.name(query)}: {why}"
            )

        def fill(array: Any, value: FloatArray) -> Any:
            return None if array is None else np.where(undefined, value, array)

        spread = np.where(np.isnan(self.value), np.nan, 0.0)
        return QueryValues(
            fill(values.expected, self.value),
            fill(values.best, self.value),
            fill(values.worst, self.value),
            fill(values.std, spread),
            fill(values.sampling_error, spread),
            values.std_is_estimate,
            values.normaliser,
            values.spread_within_ties,
        )

    def fill_labels(self, labels: LabelValues, undefined: BoolArray) -> LabelValues:
        """Replace the values of labels where the values of a ranking are undefined."""
        if not undefined.any():
            return labels
        return LabelValues(
            np.where(undefined, self.value, labels.chance),
            np.where(undefined, self.value, labels.ideal),
        )

    def _check_convention(
        self,
        queries: checks.Queries,
        weight: FloatArray | None,
        undefined: BoolArray,
    ) -> None:
        """Refuse queries, and weights, with which the tool gives another number.

        `undefined` has shape (..., n_queries, n_measures).
        """
        convention = self.options["convention"]
        for j, (measure, definition) in enumerate(
            zip(self.measures, self.definitions, strict=True)
        ):
            short = queries.sizes < definition.least_documents
            if short.any():
                query = int(np.argmax(short))
                raise ValueError(
                    f"queries must have at least {definition.least_documents} "
                    f"documents for {measure} with convention={convention!r}, got "
                    f"{queries.sizes[query]} in query {queries.name(query)} (drop the "
                    "query or the convention)"
                )
            if weight is None:
                continue
            if definition.unweighted:
                raise ValueError(
                    f"query_weight must be None for {measure} with convention="
                    f"{convention!r}: {definition.unweighted.format(convention)}"
                )
            other = undefined[..., j] & (weight != 1)
            if definition.counts_undefined_once and other.any():
                *_, query = np.argwhere(other)[0]
                raise ValueError(
                    f"query_weight must be 1 for queries where {measure} is undefined, "
                    f"because {convention} counts each of them once, got "
                    f"{weight[query]:g} for query {queries.name(query)}"
                )

    def warn_below_rel(self, labels: FloatArray) -> None:
        """Warn of measures for which no document is relevant, if labels are above 0."""
        rels = [
            (measure, measure.filled().rel)
            for measure in self.measures
            if hasattr(measure, "rel") and getattr(measure, "gain", None) is None
        ]
        if not rels:
            return
        largest = float(labels.max())
        below = {str(measure): rel for measure, rel in rels if rel > largest}
        if below and largest > 0:
            words.warn(
                f"no document is relevant for {', '.join(below)}: the largest label "
                f"is {largest!r}, below rel={min(below.values()):g} (rel= of a measure "
                "is the least label that is relevant)",
                UndefinedMetricWarning,
            )


def warn_of_nan(measures: Iterable[object], averages: Iterable[float]) -> None:
    """Warn of each measure whose average is NaN."""
    for measure, average in zip(measures, averages, strict=True):
        if math.isnan(average):
            words.warn(
                f"{measure} is undefined for every query: its average is NaN",
                UndefinedMetricWarning,
            )


def resolve(
    measures: Iterable[Measure],
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
    gain: Any = None,
) -> ResolvedMeasures:
    """Measures with their values where undefined, by a convention or the user's word.

    `gain` is what a ranker is trained by, for measures that state none.

    Raises
    ------
    ValueError
        For a `zero_relevance` that is none, beside a convention, or a measure that
        the convention does not have, or not with the given parameters.
    """
    check_zero_relevance(zero_relevance)
    named = isinstance(zero_relevance, str)
    unresolved = tuple(measures)
    definitions: tuple[Definition, ...] = ()
    options = {
        "zero_relevance": zero_relevance if named else float(zero_relevance),
        "unjudged": unjudged,
        "convention": convention,
    }
    if convention is not None:
        checks.check_choice(convention, "convention", tuple(CONVENTIONS))
        if named or zero_relevance != 0:
            raise ValueError(
                "zero_relevance must be left at its default with convention="
                f"{convention!r}, which sets it, got {zero_relevance!r}"
            )
    resolved = tuple(state_gain(measure, gain, convention) for measure in unresolved)
    if convention is not None:
        resolved = tuple(define(measure, convention) for measure in resolved)
        definitions = tuple(
            CONVENTIONS[convention][measure.name] for measure in resolved
        )
        values = [definition.undefined for definition in definitions]
        if unjudged == "raise" and convention.startswith("trec_eval"):
            # which takes documents without a judgment
            unjudged = "nonrelevant"
    else:
        values = [math.nan if named else float(zero_relevance)] * len(resolved)
    for j, measure in enumerate(resolved):
        if not measure.takes_zero_relevance:
            values[j] = math.nan
    takes_unjudged = [measure.takes_unjudged for measure in resolved]
    if resolved and all(takes_unjudged) and unjudged == "raise":
        # measures that know of documents without a judgment deal with them
        unjudged = "nonrelevant"
    names = tuple(map(str, resolved if gain is None else unresolved))
    return ResolvedMeasures(
        resolved, names, np.array(values), unjudged, definitions, options
    )
