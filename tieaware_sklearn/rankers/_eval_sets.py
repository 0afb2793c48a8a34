"""Measures of evaluation sets, whose scores change from tree to tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine import (
    Queries,
    check_labels,
    check_query_weight,
    check_scores,
    offsets_of,
)
from ..evaluation import Asked, Prepared, ask
from ..measures import Measure, parse_measures

#: data sets of which a metric keeps what it prepared
_DATA_SETS = 16


def ask_eval_metric(
    eval_metric: str | Measure | Iterable[str | Measure] | None,
    zero_relevance: float | str,
    library: str,
) -> Asked | None:
    """What `eval_metric` of a ranker asks for, None for nothing.

    Raises
    ------
    ValueError
        For an unknown measure, or one twice.
    TypeError
        For anything else than names and Measures.
    """
    if eval_metric is None:
        return None
    one = isinstance(eval_metric, (str, Measure)) or not np.iterable(eval_metric)
    measures: list[Any] = [eval_metric] if one else [*eval_metric]  # type: ignore[misc]
    other = [one for one in measures if not isinstance(one, (str, Measure))]
    if other:
        raise TypeError(
            "eval_metric must be the name of a measure, a Measure or a list of these, "
            f"got {other[0]!r:.80}: other metrics need {library}"
        )
    try:
        parsed = parse_measures(measures)
    except ValueError as error:
        raise ValueError(f"eval_metric: {error}") from None
    return ask(parsed, zero_relevance)


def measured(asked: Asked, prepared: Prepared, predictions: Any) -> list[float]:
    """The mean of each measure over the queries."""
    n_rows = prepared.queries.n_rows
    scores = check_scores(predictions, n_rows=n_rows, name="predictions")
    return prepared.means(asked, prepared.values(asked, scores)["expected"])


def prepare_set(
    labels: ArrayLike,
    queries: Queries,
    weight: ArrayLike | None = None,
    name: str = "weight",
) -> Prepared:
    """A data set as a library keeps it, for scores after each tree.

    Its rows stand query by query; `weight` has one value per row, of its query.
    """
    checked = check_labels(shortest_decimals(labels), name="label")
    if weight is not None:
        weight = check_query_weight(shortest_decimals(weight), queries, name=name)
    return Prepared(checked, queries, weight, keep=True)


class TreeByTree:
    """Values of measures by evaluation set, in the order of the trees.

    Attributes
    ----------
    asked : Asked
    sets : dict of str to Prepared
    history : dict
        ``history["valid_0"]["NDCG@10"]``: one value per tree.
    """

    def __init__(self, asked: Asked, sets: dict[str, Prepared]) -> None:
        self.asked = asked
        self.sets = sets
        self.history: dict[str, dict[str, list[float]]] = {
            name: {measure: [] for measure in asked.names} for name in sets
        }

    def add(self, values: dict[str, list[float]]) -> None:
        """The values of evaluation sets after one more tree."""
        for name, means in values.items():
            for kept, value in zip(self.history[name].values(), means, strict=True):
                kept.append(value)


class BoostingMeasures:
    """Measures of changing scores of data sets that stay.

    What scores do not change is kept of the last data sets; copies and pickles leave it
    behind.

    Parameters
    ----------
    measure : str, Measure or list of them
    zero_relevance : float, "skip" or "raise"
    """

    #: the public function that makes it
    made_by: ClassVar[str]

    def __init__(
        self,
        measure: str | Measure | Iterable[str | Measure],
        zero_relevance: float | str,
    ) -> None:
        self.single = isinstance(measure, (str, Measure))
        self._asked = ask(parse_measures(measure), zero_relevance)
        self.measures = self._asked.measures
        self._prepared: dict[tuple[Any, ...], Prepared] = {}

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        """Name, value and whether higher is better, as LightGBM wants them."""
        return str(measure), value, measure.greater_is_better

    def results(
        self,
        labels: NDArray[Any],
        sizes: NDArray[Any] | None,
        weight: NDArray[Any] | None,
        scores: NDArray[Any],
    ) -> Any:
        """The result of each measure over a data set; of one measure it alone.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
        sizes : ndarray of shape (n_queries,) or None
            Numbers of rows of each query, one query after another.
        weight : ndarray of shape (n_rows,) or None
            Weights of queries.
        scores : ndarray of shape (n_rows,)
        """
        if sizes is None:
            raise ValueError(
                "the evaluation data must have query groups, got none: make them with "
                "lightgbm.Dataset(X, y, group=[number of rows of the first query, of "
                "the second, ...]) or xgboost.DMatrix(X, y, qid=qid)"
            )
        given = [None if a is None else np.asarray(a) for a in (labels, sizes, weight)]
        key = tuple(a if a is None else (a.dtype, a.tobytes()) for a in given)
        if key not in self._prepared:
            prepared = prepare_set(labels, queries_of(sizes), weight)
            if len(self._prepared) == _DATA_SETS:
                self._prepared.clear()
            self._prepared[key] = prepared
        means = measured(self._asked, self._prepared[key], scores)
        results = list(map(self.result, self.measures, means))
        return results[0] if self.single else results

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}

    def __repr__(self) -> str:
        return f"{self.made_by}({', '.join(self._asked.names)})"


def shortest_decimals(values: ArrayLike) -> NDArray[Any]:
    """32-bit values as the decimals that they were: 0.7, and not 0.699999988.

    LightGBM and XGBoost keep labels and weights in 32 bits; the shortest decimal
    that names such a value is the one that was given, up to seven digits.
    """
    values = np.asarray(values)
    if values.dtype != np.float32:
        return values
    levels, codes = np.unique(values, return_inverse=True)
    decimals = np.array([float(str(level)) for level in levels])
    # whole numbers are exact as they are
    return np.where(levels == np.floor(levels), levels, decimals)[codes]


def queries_of(sizes: NDArray[Any]) -> Queries:
    """Queries that stand one after another, by their numbers of rows."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return Queries(np.flatnonzero(sizes > 0), offsets_of(sizes[sizes > 0]), None)
