"""Measures taken again and again on the same data, as boosting does."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import offsets_of
from .._engine.validation import Queries, check_labels, check_query_weight, check_scores
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import ask
from ..measures import Measure
from ..measures._parse import parse_measures
from ._tree_by_tree import measured


class _DataSet(NamedTuple):
    """A data set as it was given, and all of it that scores do not change."""

    owner: weakref.ref[Any]
    given: list[NDArray[Any]]
    prepared: Prepared

    def is_of(self, owner: Any, given: list[NDArray[Any]]) -> bool:
        return (
            self.owner() is owner
            and len(self.given) == len(given)
            and all(map(np.array_equal, self.given, given))
        )


class BoostingMeasures:
    """Measures of changing scores of data sets that stay.

    The query structure and ideals of each data set are kept for as long as it
    lives; copies and pickles leave them behind.

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
        self._prepared: dict[int, _DataSet] = {}

    def result(self, measure: Measure, value: float) -> tuple[Any, ...]:
        """Name, value and whether higher is better, as LightGBM wants them."""
        return str(measure), value, measure.greater_is_better

    def results(
        self,
        owner: Any,
        labels: NDArray[Any],
        sizes: NDArray[Any] | None,
        weight: NDArray[Any] | None,
        scores: NDArray[Any],
    ) -> Any:
        """The result of each measure over a data set; of one measure it alone.

        Parameters
        ----------
        owner : object
            What lives as long as the data set does.
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
        given = [np.asarray(a) for a in (labels, sizes, weight) if a is not None]
        prepared = self._prepare(owner, given)
        n_rows = prepared.queries.n_rows
        scores = check_scores(scores, n_rows=n_rows, name="predictions")
        means = measured(self._asked, prepared, scores)
        results = list(map(self.result, self.measures, means))
        return results[0] if self.single else results

    def _prepare(self, owner: Any, given: list[NDArray[Any]]) -> Prepared:
        """Labels, sizes of queries and, if any, weights, as they were given."""
        key = id(owner)
        data = self._prepared.get(key)
        if data is None or not data.is_of(owner, given):
            labels, sizes, *weights = given
            checked = check_labels(shortest_decimals(labels), name="label")
            queries = queries_of(sizes)
            per_query = [
                check_query_weight(shortest_decimals(weight), queries, name="weight")
                for weight in weights
            ]
            data = _DataSet(
                weakref.ref(owner, lambda _: self._prepared.pop(key, None)),
                [part.copy() for part in given],
                Prepared(checked, queries, *per_query, keep=True),
            )
            self._prepared[key] = data
        return data.prepared

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}

    def __repr__(self) -> str:
        return f"{self.made_by}({', '.join(self._asked.names)})"


def shortest_decimals(values: NDArray[Any]) -> NDArray[Any]:
    """32-bit values as the decimals that they were: 0.7, and not 0.699999988.

    LightGBM and XGBoost keep labels and weights in 32 bits; the shortest decimal
    that names such a value is the one that was given, up to seven digits.
    """
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
