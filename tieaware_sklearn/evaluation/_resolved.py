"""Measures with the options of a call: conventions and values for undefined cases."""

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
    """A parameter of a measure as a tool defines it.

    Attributes
    ----------
    value : object
        Default of the tool.
    modes : container of object, optional
        Other values for which the tool has an option. None stands for any value.
    """

    value: Any
    modes: Container[Any] | None = ()

    def takes(self, value: Any) -> bool:
        """Return whether the value is the tool's default or an option of the tool."""
        return self.modes is None or value == self.value or value in self.modes


class Definition(NamedTuple):
    """A measure as a tool defines it.

    Attributes
    ----------
    undefined : float
        Value of queries where the measure is undefined.
    parameters : mapping of str to Parameter
        Parameters that the tool sets. The user sets all others.
    unweighted : str
        Reason why weights of queries are refused. The text is empty if the tool applies
        weights.
    counts_undefined_once : bool
        Whether queries where the measure is undefined have weight 1 in averages,
        whatever their weight.
    least_documents : int
        Smallest number of documents of a query that the tool accepts.
    """

    undefined: float
    parameters: Mapping[str, Parameter] = {}
    unweighted: str = ""
    counts_undefined_once: bool = False
    least_documents: int = 1


_LOG2 = {"discount": Parameter("log2")}
_LINEAR = {"gain": Parameter("linear")} | _LOG2
# LightGBM accepts any gain as label_gain.
_OF_LIGHTGBM = {"gain": Parameter("exponential", None)} | _LOG2
# XGBoost uses linear gain with ndcg_exp_gain=False.
_OF_XGBOOST = {"gain": Parameter("exponential", ["linear"])} | _LOG2
# CatBoost uses exponential gain with type=Exp, and the inverse discount with
# denominator=Position.
_OF_CATBOOST = {
    "gain": Parameter("linear", ["exponential"]),
    "discount": Parameter("log2", ["inverse"]),
}
_OF_THE_LIST = {"denominator": Parameter("retrieved")}
_OVER_RELEVANT = {"denominator": Parameter("relevant")}
_OVER_CUTOFF = {"denominator": Parameter("cutoff")}
_BINARY = {"rel": Parameter(1.0)}
_UNCUT = {"k": Parameter(None)}
# The default cut-off is LambdaMART's default number of pairs per document.
_CUT = {"k": Parameter(32, None)}
_NO_WEIGHTS = "{} has no weights"
_IGNORED = "{} ignores weights for this measure"


def _trec_eval(rounding: str) -> dict[str, Definition]:
    """Return the conventions of trec_eval 9 or 10.

    The two versions differ in the rounding of recall levels.
    """
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
        # trec_eval supports any number of levels, but no level at each relevant
        # document.
        "IAP": levels | {"points": Parameter(11, range(2, 1002))},
    }
    definitions = {}
    for name in parameters:
        definitions[name] = Definition(0.0, parameters[name], _NO_WEIGHTS)
    return definitions


#: Definitions by tool and measure. Measures that are not listed are refused.
#: tests/evaluation/test_conventions.py compares the values with the tools themselves.
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
    # The name without a version means version 9, which most people have installed.
    "trec_eval": _trec_eval("trec_eval9"),
    "trec_eval9": _trec_eval("trec_eval9"),
    "trec_eval10": _trec_eval("nearest"),
}


def define(measure: Measure, convention: str) -> Measure:
    """Return the measure as a tool defines it, with the parameters that users may set.

    Raises
    ------
    ValueError
        If the tool does not support the measure, or does not support these parameters.
    """
    definitions = CONVENTIONS[convention]
    is_known = measure.name in definitions and _measure.is_ours(type(measure))
    # No tool has cut-offs that are shares of the list.
    if not is_known or _measure.cuts_share(measure):
        names = " ".join(sorted(definitions, key=str.lower))
        raise ValueError(
            f"measure must be defined with convention={convention!r}, got {measure}. "
            f"The measures of this convention are {names}, without cut-offs in %"
        )
    filled = measure.filled()
    changes = {}
    for name, parameter in definitions[measure.name].parameters.items():
        stated = getattr(measure, name)
        # A cut-off is None if it is not stated.
        if stated is None or stated is _measure.DEFAULT:
            # The name of a measure shows the parameters that are not its defaults.
            if parameter.value != getattr(filled, name):
                changes[name] = parameter.value
        elif not parameter.takes(stated):
            known = [parameter.value]
            if isinstance(parameter.modes, list):
                known += parameter.modes
            choices = " or ".join(map(repr, known))
            raise ValueError(
                f"{name} must be {choices} with convention={convention!r}, got "
                f"{stated!r} in {measure}"
            )
    return replace(measure, **changes)


def state_gain(measure: Measure, gain: Any, convention: str | None) -> Measure:
    """Return the measure with the gain of a ranker, unless its gain is stated.

    The measure also keeps its gain if the tool of the convention does not accept the
    gain of the ranker.
    """
    if gain is None or getattr(measure, "gain", None) is not _measure.DEFAULT:
        return measure
    if convention is not None:
        definition = CONVENTIONS[convention].get(measure.name)
        # `define` refuses measures without a definition.
        if definition and not definition.parameters["gain"].takes(gain):
            return measure
    return replace(measure, gain=gain)  # type: ignore[call-arg]


def check_zero_relevance(zero_relevance: Any) -> None:
    """Refuse a value that is neither a finite number, nor "skip", nor "raise"."""
    if isinstance(zero_relevance, str):
        checks.check_choice(zero_relevance, "zero_relevance", ("skip", "raise"))
    elif not checks.is_number(zero_relevance):
        raise ValueError(
            'zero_relevance must be a finite number, "skip" or "raise", got '
            f"{messages.show(zero_relevance)}"
        )


@dataclass(frozen=True, eq=False)
class ResolvedMeasures:
    """Measures with the options of a call applied.

    Attributes
    ----------
    measures : tuple of Measure
        The resolved measures.
    names : tuple of str
        Canonical names, without the gain of a ranker.
    value : ndarray of shape (n_measures,)
        Value of each measure for queries where the measure is undefined. NaN leaves
        these queries out.
    unjudged : {"raise", "nonrelevant", "drop"}
        Treatment of NaN labels.
    definitions : tuple of Definition
        Definitions of the measures by the convention. The tuple is empty without a
        convention.
    options : dict
        ``zero_relevance``, ``unjudged`` and ``convention``, as the caller set them.
    """

    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    value: FloatArray
    unjudged: str
    definitions: tuple[Definition, ...]
    options: dict[str, Any]

    @property
    def bounds(self) -> FloatArray:
        """Return bounds of the values of each measure, of shape (n_measures, 2)."""
        lowest = [measure.minimum for measure in self.measures]
        highest = [measure.maximum for measure in self.measures]
        # The values for undefined queries may lie outside the measures' own range.
        bounds = np.empty((len(self.measures), 2))
        np.fmin(self.value, lowest, out=bounds[:, 0])
        np.fmax(self.value, highest, out=bounds[:, 1])
        return bounds

    def fill(
        self,
        values: QueryValues,
        queries: checks.Queries,
        weight: FloatArray | None = None,
    ) -> QueryValues:
        """Replace undefined values, and set their standard deviations to 0.

        An error is raised if the tool of the convention would return another value for
        these queries and weights.
        """
        undefined = np.isnan(values.expected)
        if self.definitions:
            self._check_convention(queries, weight, undefined)
        if not undefined.any():
            return values
        if self.options["zero_relevance"] == "raise":
            # The first axis may be columns of scores.
            *_, query, column = np.argwhere(undefined)[0]
            measure = self.measures[column]
            reason = (
                "too few relevant documents are retrieved. To leave the query out, set "
                'zero_relevance="skip"'
            )
            if measure.takes_zero_relevance:
                reason = (
                    "the labels define no value. Set zero_relevance=0.0 to give the "
                    'query this value, or "skip" to leave the query out'
                )
            raise ValueError(
                f"{measure} is undefined for query {queries.name(query)}: {reason}"
            )
        # Queries that are left out have no standard deviation.
        spread = np.where(np.isnan(self.value), np.nan, 0.0)
        filled = {}
        for name in ("expected", "best", "worst", "std", "sampling_error"):
            array = getattr(values, name)
            value = spread if name in ("std", "sampling_error") else self.value
            if array is not None:
                filled[name] = np.where(undefined, value, array)
        return replace(values, **filled)

    def fill_labels(self, labels: LabelValues, undefined: BoolArray) -> LabelValues:
        """Replace the values of labels where the values of a ranking are undefined."""
        if not undefined.any():
            return labels
        return labels.apply(lambda array: np.where(undefined, self.value, array))

    def _check_convention(
        self, queries: checks.Queries, weight: FloatArray | None, undefined: BoolArray
    ) -> None:
        """Refuse queries and weights for which the tool would return another value.

        `undefined` has shape (..., n_queries, n_measures).
        """
        convention = self.options["convention"]
        for j, definition in enumerate(self.definitions):
            measure = self.measures[j]
            short = queries.sizes < definition.least_documents
            if short.any():
                query = int(np.argmax(short))
                raise ValueError(
                    f"queries must have at least {definition.least_documents} "
                    f"documents for {measure} with convention={convention!r}, got "
                    f"{queries.sizes[query]} in query {queries.name(query)}: leave out "
                    "the query, or set convention=None"
                )
            if weight is None:
                continue
            if definition.unweighted:
                raise ValueError(
                    f"query_weight must be None for {measure} with convention="
                    f"{convention!r}: {definition.unweighted.format(convention)}"
                )
            is_weighted = undefined[..., j] & (weight != 1)
            if definition.counts_undefined_once and is_weighted.any():
                *_, query = np.argwhere(is_weighted)[0]
                raise ValueError(
                    f"query_weight must be 1 for queries where {measure} is undefined, "
                    f"because {convention} counts each such query once, got "
                    f"{weight[query]:g} for query {queries.name(query)}"
                )

    def warn_below_rel(self, labels: FloatArray) -> None:
        """Warn if no document is relevant for a measure although labels are above 0."""
        # A gain takes the place of `rel`.
        binary = []
        for measure in self.measures:
            if hasattr(measure, "rel") and getattr(measure, "gain", None) is None:
                binary.append(measure)
        if not binary:
            return
        largest = float(labels.max())
        rels = {}
        for measure in binary:
            rel = measure.filled().rel
            if rel > largest > 0:
                rels[str(measure)] = rel
        if rels:
            words.warn(
                f"no document is relevant for {', '.join(rels)}: the largest label is "
                f"{largest!r}, below rel={min(rels.values()):g}. Set rel of the "
                "measure to the least label that is relevant",
                UndefinedMetricWarning,
            )


def warn_of_nan(measures: Iterable[object], averages: Iterable[float]) -> None:
    """Warn about each measure whose average is NaN."""
    for measure, average in zip(measures, averages, strict=True):
        if math.isnan(average):
            words.warn(
                f"{measure} is undefined for every query, so the average is NaN",
                UndefinedMetricWarning,
            )


def resolve(
    measures: Iterable[Measure],
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
    gain: Any = None,
) -> ResolvedMeasures:
    """Apply a convention, or the options of the caller, to measures.

    `gain` is the gain that a ranker is trained with. This gain is used for measures
    whose gain is not stated.

    Raises
    ------
    ValueError
        If `zero_relevance` is invalid, if both `zero_relevance` and a convention are
        set, or if the convention does not support a measure or its parameters.
    """
    check_zero_relevance(zero_relevance)
    if convention is not None:
        checks.check_choice(convention, "convention", tuple(CONVENTIONS))
        if zero_relevance != 0:
            raise ValueError(
                "zero_relevance must be left at its default with "
                f"convention={convention!r}, which sets the value of undefined "
                f"queries, got {zero_relevance!r}"
            )
    value = math.nan
    if not isinstance(zero_relevance, str):
        value = zero_relevance = float(zero_relevance)
    options = {
        "zero_relevance": zero_relevance,
        "unjudged": unjudged,
        "convention": convention,
    }
    unresolved = tuple(measures)
    resolved = tuple(state_gain(measure, gain, convention) for measure in unresolved)
    values = np.full(len(resolved), value)
    definitions: tuple[Definition, ...] = ()
    if convention is not None:
        resolved = tuple(define(measure, convention) for measure in resolved)
        by_name = CONVENTIONS[convention]
        definitions = tuple(by_name[measure.name] for measure in resolved)
        values = np.array([definition.undefined for definition in definitions])
        if unjudged == "raise" and convention.startswith("trec_eval"):
            # trec_eval counts documents without a judgment as not relevant.
            unjudged = "nonrelevant"
    # Reports name the measures without the gain of the ranker.
    names = tuple(map(str, resolved if gain is None else unresolved))
    for j, measure in enumerate(resolved):
        if not measure.takes_zero_relevance:
            values[j] = math.nan
    takes_unjudged = [measure.takes_unjudged for measure in resolved]
    if resolved and all(takes_unjudged) and unjudged == "raise":
        # These measures have their own treatment of documents without a judgment.
        unjudged = "nonrelevant"
    return ResolvedMeasures(resolved, names, values, unjudged, definitions, options)
