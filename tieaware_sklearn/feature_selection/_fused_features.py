"""What the estimators that fuse features share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.fitted_queries import FittedQueries
from .._engine.qid_column import how_to_pass_qid, warn_one_query
from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_labels,
    check_qid,
    check_query_weight,
)
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked, ask
from ..measures import Measure, parse_measure
from ._borda import BordaScores
from ._columns import FeatureColumns
from ._fusion import Fusion, by_length


class TrainingData(NamedTuple):
    """Checked training data.

    Attributes
    ----------
    X : ndarray or sparse matrix
        Features; rows as they came.
    labels : ndarray of shape (n_rows,)
        Rows as they came.
    given : Queries
        As their rows came.
    queries : Queries
        By length and id.
    weight : ndarray of shape (n_queries,) or None
    asked : Asked
        The measure.
    """

    X: Any
    labels: FloatArray
    given: Queries
    queries: Queries
    weight: FloatArray | None
    asked: Asked

    def fusion(self, X: Any, n_jobs: int | None) -> Fusion:
        """Columns of X, all or some of those of the data, to be fused."""
        labels = self.queries.arrange(self.labels)
        arranged = replace(self.queries, order=None)
        prepared = Prepared(labels, arranged, self.weight, keep=True)
        borda = BordaScores.of(X, self.queries, n_jobs)
        return Fusion(borda, prepared, self.asked, n_jobs)

    def fitted_queries(self) -> FittedQueries:
        """What tells later that a ranker is scored on parts of these queries."""
        return FittedQueries.of(self.given)


class FusedFeatures(FeatureColumns):
    """Checks of data and options.

    Attributes
    ----------
    measure, direction, missing, zero_relevance, unjudged, qid, n_jobs
        Parameters of the estimator.
    """

    measure: str | Measure
    direction: str | Sequence[str]
    zero_relevance: float | str
    unjudged: str
    n_jobs: int | None

    def _training_data(
        self, X: Any, y: ArrayLike, qid: Any, query_weight: ArrayLike | None
    ) -> TrainingData:
        check_choice(self.missing, "missing", ("raise", "last"))
        asked = ask([parse_measure(self.measure)], self.zero_relevance, self.unjudged)
        data, given, qid = self._check_data(X, y, qid, reset=True)
        labels = check_labels(given, name="y", unjudged=asked.unjudged)
        queries = check_qid(qid, n_rows=len(labels))
        if qid is None:
            column = f"{type(self).__name__}(qid=<name or index>)"
            how = f"pass qid to fit. {how_to_pass_qid()}, {column}"
            warn_one_query(len(labels), how)
        weight = check_query_weight(query_weight, queries)
        ordered = by_length(queries)
        if weight is not None:
            weight = weight[queries.shortest_first()]
        return TrainingData(data, labels, queries, ordered, weight, asked)


def direction_names(ascending: NDArray[np.bool_]) -> NDArray[Any]:
    """The directions as parameters have them."""
    return np.where(ascending, "ascending", "descending").astype(object)
