"""The measures asked for, and the values of queries where they are undefined."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from .._display.warn import warn
from .._engine.exact import show
from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_choice, is_number
from ..measures import Measure
from ..measures._parse import accepted_unjudged
from ._conventions import CONVENTIONS, UNJUDGED, Defined, define

#: statistics that a value put in has none of: it does not vary
_SPREADS = ("std", "sampling_error")
#: statistics that say nothing of the value
_OTHERS = ("normaliser", "std_is_estimate")


def check_zero_relevance(zero_relevance: Any) -> None:
    """A finite number, "skip" or "raise"."""
    if isinstance(zero_relevance, str):
        check_choice(zero_relevance, "zero_relevance", ("skip", "raise"))
    elif not is_number(zero_relevance):
        raise ValueError(
            'zero_relevance must be a finite number, "skip" or "raise", got '
            f"{show(zero_relevance)}"
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Measures as they were asked for.

    Attributes
    ----------
    measures : tuple of Measure
    value : ndarray of shape (n_measures,)
        What stands where a measure is undefined; NaN leaves the query out.
    refuses : bool
        Raise where a measure is undefined.
    unjudged : {"raise", "nonrelevant", "drop"}
        What to do with NaN labels.
    defined : Defined, optional
        What a convention says of the measures.
    options : dict
        What was given, by the names of the arguments.
    """

    measures: tuple[Measure, ...]
    value: FloatArray
    refuses: bool
    unjudged: str
    defined: Defined | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Canonical names."""
        return tuple(map(str, self.measures))

    @property
    def bounds(self) -> FloatArray:
        """Least and largest value that each measure can have, (n_measures, 2)."""
        most = np.array([measure.maximum for measure in self.measures])
        # where it is undefined, a value that the user chose
        return np.column_stack([np.fmin(self.value, 0.0), np.fmax(self.value, most)])

    def fill(
        self, values: FloatArray, undefined: NDArray[np.bool_], queries: Queries
    ) -> FloatArray:
        """`values` of shape (..., n_queries, n_measures), undefined ones replaced."""
        if not undefined.any():
            return values
        if self.refuses:
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
        return np.where(undefined, self.value, values)

    def fill_statistics(
        self,
        found: dict[str, FloatArray],
        queries: Queries,
        weight: FloatArray | None = None,
    ) -> dict[str, FloatArray]:
        """Each statistic filled, undefined where the first of them is.

        Refuses queries, and a `weight` of them, that a convention cannot follow.
        """
        undefined = np.isnan(next(iter(found.values())))
        if self.defined is not None:
            self.defined.check_sizes(queries)
            if weight is not None:
                self.defined.check_weight(weight, undefined, queries)
        still = np.where(np.isnan(self.value), np.nan, 0.0)
        filled = {}
        for name, values in found.items():
            if name in _OTHERS:
                filled[name] = values
            elif name in _SPREADS:
                filled[name] = np.where(undefined, still, values)
            else:
                filled[name] = self.fill(values, undefined, queries)
        return filled

    def warn_of_nan(self, averages: Iterable[float]) -> None:
        """Warn of each measure whose average is NaN."""
        for measure, average in zip(self.measures, averages, strict=True):
            if math.isnan(average):
                warn(
                    f"{measure} is undefined for every query: its average is NaN",
                    UndefinedMetricWarning,
                )


def ask(
    measures: Iterable[Measure],
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    convention: str | None = None,
) -> Asked:
    """Measures with their values where undefined, by a convention or the user's word.

    Raises
    ------
    ValueError
        For a `zero_relevance` that is none, beside a convention, or a measure that
        the convention does not have, or not as it is spelled out.
    """
    check_zero_relevance(zero_relevance)
    asked, defined = tuple(measures), None
    options = {
        "zero_relevance": zero_relevance
        if isinstance(zero_relevance, str)
        else float(zero_relevance),
        "unjudged": unjudged,
        "convention": convention,
    }
    if convention is not None:
        check_choice(convention, "convention", tuple(CONVENTIONS))
        if isinstance(zero_relevance, str) or zero_relevance != 0:
            raise ValueError(
                "zero_relevance must be left at its default with "
                f"convention={convention!r}, which sets it, got {zero_relevance!r}"
            )
        defined = define(asked, convention)
        asked, value = defined.measures, defined.undefined
        if unjudged == "raise":
            unjudged = UNJUDGED.get(convention, unjudged)
    else:
        given = math.nan if isinstance(zero_relevance, str) else float(zero_relevance)
        value = np.full(len(asked), given)
    takes = np.array([measure.takes_zero_relevance for measure in asked], dtype=bool)
    return Asked(
        asked,
        np.where(takes, value, np.nan),
        isinstance(zero_relevance, str) and zero_relevance == "raise",
        accepted_unjudged(asked, unjudged),
        defined,
        options,
    )
