"""Measures of this package as metrics of boosters, computed after each tree."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import checks, segments
from .._typing import Array
from ..evaluation import _prepared, _resolved
from ..measures import Measure, _parse

#: Maximum number of data sets that a metric keeps prepared.
_MOST_DATA_SETS = 16


def mean_values(
    resolved: _resolved.ResolvedMeasures, prepared: _prepared.Prepared, predictions: Any
) -> list[float]:
    """Return the mean of each measure over the queries."""
    scores = prepared.scores(predictions, "predictions")
    values = prepared.values(resolved, scores)
    return prepared.means(resolved, values.expected)


def prepare_set(
    labels: ArrayLike, queries: checks.Queries, weight: ArrayLike | None = None
) -> _prepared.Prepared:
    """Prepare a data set of a booster, to be scored after each tree.

    The rows are arranged query by query. `weight` contains the weight of each row's
    query.
    """
    labels = checks.check_labels(shortest_decimals(labels), name="label")
    if weight is not None:
        weight = shortest_decimals(weight)
        weight = checks.check_query_weight(weight, queries, name="weight")
    return _prepared.Prepared(labels, queries, weight, keep=True)


class BoosterMetric:
    """Measures of data sets whose scores change from tree to tree.

    Labels and queries of the last data sets stay prepared. Copies and pickles do not
    contain the prepared data.

    Parameters
    ----------
    measure : str, Measure or list of them
    zero_relevance : float, "skip" or "raise"
    negate : bool
        Whether to negate values, for LightGBM's tuners, which minimise.
    """

    #: Name of the public function that makes the metric.
    made_by: ClassVar[str]

    def __init__(
        self,
        measure: str | Measure | Iterable[str | Measure],
        zero_relevance: float | str,
        *,
        negate: bool = False,
    ) -> None:
        self.single = isinstance(measure, (str, Measure))
        self.negate = negate
        parsed = _parse.parse_measures(measure)
        self._resolved = _resolved.resolve(parsed, zero_relevance)
        self.measures = self._resolved.measures
        self._prepared: dict[tuple[Any, ...], _prepared.Prepared] = {}

    def with_gain(self, gain: Any) -> Self:
        """Return a copy in which measures without a stated gain have this gain."""
        metric = copy(self)
        zero_relevance = self._resolved.options["zero_relevance"]
        metric._resolved = _resolved.resolve(self.measures, zero_relevance, gain=gain)
        return metric

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        """Return the name, the value and whether higher is better, for LightGBM."""
        if self.negate:
            return f"neg_{measure}", -value, not measure.greater_is_better
        return str(measure), value, measure.greater_is_better

    def results(
        self,
        labels: Array,
        sizes: Array | None,
        weight: Array | None,
        scores: Array,
    ) -> Any:
        """Return a list of the results of measures, or the result of a single measure.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
        sizes : ndarray of shape (n_queries,) or None
            Number of rows of each query, in the order of the rows.
        weight : ndarray of shape (n_rows,) or None
            Weight of the query of each row.
        scores : ndarray of shape (n_rows,)
        """
        if sizes is None:
            raise ValueError(
                "the evaluation data must have query groups, got none: make data with "
                "lightgbm.Dataset(X, y, group=sizes) or xgboost.DMatrix(X, y, qid=qid)"
            )
        arrays = []
        for array in (labels, sizes, weight):
            if array is not None:
                array = np.asarray(array)
                arrays.append((array.dtype, array.tobytes()))
        key = tuple(arrays)
        if key not in self._prepared:
            if len(self._prepared) == _MOST_DATA_SETS:
                self._prepared.clear()
            self._prepared[key] = prepare_set(labels, queries_of(sizes), weight)
        means = mean_values(self._resolved, self._prepared[key], scores)
        if self.single:
            return self.result(self.measures[0], means[0])
        return list(map(self.result, self.measures, means))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}

    def __repr__(self) -> str:
        names = ", ".join(self._resolved.names)
        return f"{self.made_by}({names})"


def shortest_decimals(values: ArrayLike) -> Array:
    """Convert 32-bit values to the shortest decimals: 0.7, and not 0.699999988.

    LightGBM and XGBoost keep labels and weights in 32 bits. The shortest decimal that
    rounds to a 32-bit value is the value that the user passed, up to six digits.
    """
    values = np.asarray(values)
    if values.dtype != np.float32:
        return values
    levels, codes = np.unique(values, return_inverse=True)
    decimals = levels.astype(str).astype(np.float64)
    # Whole numbers are already exact.
    is_whole = levels == np.floor(levels)
    return np.where(is_whole, levels, decimals)[codes]


def queries_of(sizes: Any) -> checks.Queries:
    """Return consecutive queries of these sizes, with numbers as ids.

    Sizes of 0 are left out, because a query has at least one row.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    ids = np.flatnonzero(sizes > 0)
    return checks.Queries(ids, segments.offsets_of(sizes[ids]), None)
