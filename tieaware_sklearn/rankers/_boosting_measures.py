"""Measures taken again and again on the same data, as boosting does."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray
from .._engine.validation import Queries, check_labels, check_query_weight, check_scores
from ..evaluation._averages import macro_means
from ..evaluation._labelled_queries import LabelledQueries
from ..evaluation._undefined import check_zero_relevance
from ..measures import Measure, parse_measures


class _Prepared(NamedTuple):
    """A data set as it was given, and all of it that scores do not change."""

    owner: weakref.ref[Any]
    given: list[NDArray[Any]]
    labelled: LabelledQueries
    weight: FloatArray | None


class BoostingMeasures:
    """Measures of changing scores of data sets that stay.

    The query structure and ideals of each data set are kept for as long as it
    lives; copies and pickles leave them behind.

    Parameters
    ----------
    measure : str, Measure or list of them
    zero_relevance : float or "skip"
    """

    def __init__(
        self,
        measure: str | Measure | Iterable[str | Measure],
        zero_relevance: float | str,
    ) -> None:
        self.single = isinstance(measure, (str, Measure))
        self.measures = parse_measures(measure)
        check_zero_relevance(zero_relevance)
        self.zero_relevance = zero_relevance
        self._prepared: dict[int, _Prepared] = {}

    def values(
        self,
        owner: Any,
        labels: NDArray[Any],
        sizes: NDArray[Any] | None,
        weight: NDArray[Any] | None,
        scores: NDArray[Any],
    ) -> list[float]:
        """Mean of each measure over the queries of a data set.

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
        data = self._prepare(owner, labels, sizes, weight)
        queries = data.labelled.queries
        scores = check_scores(scores, n_rows=queries.n_rows, name="predictions")
        found = data.labelled.values(self.measures, scores, statistics=("expected",))
        return macro_means(
            found["expected"], self.measures, queries, self.zero_relevance, data.weight
        )

    def _prepare(
        self,
        owner: Any,
        labels: NDArray[Any],
        sizes: NDArray[Any] | None,
        weight: NDArray[Any] | None,
    ) -> _Prepared:
        if sizes is None:
            raise ValueError(
                "the evaluated data must have query groups, got none: make it with "
                "lightgbm.Dataset(X, y, group=[rows of the first query, rows of the "
                "second, ...]) or xgboost.DMatrix(X, y, qid=qid)"
            )
        labels, sizes = np.asarray(labels), np.asarray(sizes)
        given = [labels, sizes]
        if weight is not None:
            given.append(np.asarray(weight))
        key = id(owner)
        data = self._prepared.get(key)
        if (
            data is None
            or data.owner() is not owner
            or len(data.given) != len(given)
            or not all(map(np.array_equal, data.given, given))
        ):
            checked = check_labels(shortest_decimals(labels), name="label")
            queries = queries_of(sizes)
            if weight is not None:
                weight = shortest_decimals(given[-1])
            data = _Prepared(
                weakref.ref(owner, lambda _: self._prepared.pop(key, None)),
                [part.copy() for part in given],
                LabelledQueries(checked, queries, keep=True),
                check_query_weight(weight, queries, name="weight"),
            )
            self._prepared[key] = data
        return data

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": {}}


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
    offsets = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
    return Queries(np.flatnonzero(sizes > 0), offsets, None)
