"""Warnings of values per query whose interval is too short."""

from collections.abc import Iterable

import numpy as np

from .._display import words
from .._typing import FloatArray
from ..io import _wording
from ..statistics.averages import GEOMETRIC_FLOOR
from ..statistics.moments import effective_number

#: t intervals of fewer queries are too short if most values are equal
_FEW = 200
_MOST = 0.8
#: queries needed per unit of squared skewness (Cochran 1977, p. 42)
_SKEWED = 25
#: queries after which values near 0 would have shown, if there are any
_MANY = 400


def warn_of_intervals(
    named: Iterable[tuple[str, FloatArray]],
    average: str = "macro",
    weight: FloatArray | None = None,
) -> None:
    """Warn of values of queries of positive weight, whose interval is too short.

    All or nearly all of them are equal, they are skewed, or few are near 0, of a
    geometric mean; or a single query has nearly all of the weight.
    """
    if average == "median":
        return
    weight = None if weight is None else weight[weight > 0]
    names_by_reason: dict[str, list[str]] = {}
    # a dict keeps each text once, in order
    unequal: dict[str, None] = {}
    for name, values in named:
        is_defined = ~np.isnan(values)
        values = values[is_defined]
        n = len(values)
        if n < 2:
            continue
        if weight is not None and (worth := effective_number(weight[is_defined])) < 2:
            said = f"the weights of {n} queries are worth {worth:.1f} of equal weight: "
            unequal[f"{said}there is no t interval and no t test"] = None
        enough = _FEW if values.min() <= GEOMETRIC_FLOOR else _MANY
        scale = np.abs(values).max()
        if scale > 0:
            values = values / scale
        most = np.unique(np.round(values, 12), return_counts=True)[1].max()
        if most == n:
            why = "are all equal: no spread, and no interval except at a bound"
        elif n < _FEW and most > _MOST * n:
            why = f"are equal for over {_MOST:.0%} of them: the interval is too short"
        elif n < _SKEWED * _squared_skewness(values):
            why = f"are too skewed for {n} queries: take more, or the interval is short"
        elif n < enough and average == "geometric":
            why = "are hardly ever near 0: if others are, the interval is too short"
        else:
            continue
        names_by_reason.setdefault(why, []).append(name)
    for said in unequal:
        words.warn(said)
    for why, names in names_by_reason.items():
        listed = _wording.listed(dict.fromkeys(names))
        words.warn(f"the values per query of {listed} {why}")


def _squared_skewness(values: FloatArray) -> float:
    # scipy's skewness warns of values that hardly differ, and takes longer
    deviation = values - values.mean()
    return float((deviation**3).mean() ** 2 / (deviation**2).mean() ** 3)
