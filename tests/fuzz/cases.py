"""Query sets as plain data, which are drawn, handed over and printed."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Case:
    """Rows of queries, and the measures and options of a call."""

    #: Python numbers and ids, one per row; a NaN label is unjudged
    labels: list[Any]
    scores: list[Any]
    qid: list[Any]
    #: weight of the query of each row
    weight: list[float] | None = None
    #: a dtype, or another kind that `handed` knows
    scores_as: str = "list"
    labels_as: str = "list"
    qid_as: str = "list"
    #: places in `tests.instances.MEASURES`
    measures: Sequence[int] = ()
    #: options of the call
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def arrays(self) -> dict[str, Any]:
        """The rows as arguments of the library."""
        arrays = {"y_true": handed(self.labels, self.labels_as)}
        arrays["y_score"] = handed(self.scores, self.scores_as)
        arrays["qid"] = handed(self.qid, self.qid_as)
        if self.weight is not None:
            arrays["query_weight"] = self.weight
        return arrays

    @property
    def queries(self) -> dict[Any, list[int]]:
        """The rows of each query, queries by first appearance."""
        rows: dict[Any, list[int]] = {}
        for row, query in enumerate(self.qid):
            rows.setdefault(query, []).append(row)
        return rows

    @property
    def may_be_refused(self) -> bool:
        """Whether a finite score does not fit in a 64-bit float."""
        finite = [value for value in self.scores if value != -math.inf]
        return any(abs(exact(value)) > LARGEST for value in finite)

    def select(self, rows: Sequence[int]) -> Case:
        """Return a case of these rows, in this order."""
        columns = {}
        for name in ("labels", "scores", "qid", "weight"):
            column = getattr(self, name)
            if column is not None:
                columns[name] = [column[row] for row in rows]
        return dataclasses.replace(self, **columns)


def handed(values: list[Any], kind: str) -> Any:
    """Return the values as a list, an array of a dtype, or a column of pandas."""
    if kind == "list":
        return list(values)
    if kind == "tuple":
        return tuple(values)
    if kind == "object":
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if kind == "strided":
        return np.repeat(np.array(values), 2)[::2]
    if kind == "longdouble":
        return np.array([_long(value) for value in values], dtype=np.longdouble)
    if kind.startswith("pandas:"):
        import pandas as pd

        return pd.Series(values, dtype=kind.removeprefix("pandas:"))
    if kind.startswith("scalars:"):
        return list(np.array(values, dtype=kind.removeprefix("scalars:")))
    return np.array(values, dtype=kind)


def _long(value: Any) -> np.longdouble:
    """Return a fraction over a power of two, without conversion to 64 bits."""
    if value == -math.inf:
        return np.longdouble(value)
    over, below = value.as_integer_ratio()
    return np.ldexp(np.longdouble(over), 1 - below.bit_length())


def exact(value: Any) -> Any:
    """Return a score of any type as a fraction, or -inf."""
    if isinstance(value, (bool, np.bool_, np.integer)):
        return int(value)
    if value == -math.inf:
        return -math.inf
    return Fraction(*value.as_integer_ratio())


def places(scores: Iterable[Any]) -> list[float]:
    """Return small whole numbers that compare as the scores. -inf stays.

    NumPy gives the values of a list one type. Objects become 64-bit floats.
    """
    if isinstance(scores, list):
        scores = np.asarray(scores)
    values = [exact(value) for value in scores]
    if isinstance(scores, np.ndarray) and scores.dtype == object:
        values = [value if abs(value) > LARGEST else float(value) for value in values]
    finite = sorted(set(values) - {-math.inf})
    ranks = {value: rank for rank, value in enumerate(finite)}
    return [ranks.get(value, -math.inf) for value in values]
