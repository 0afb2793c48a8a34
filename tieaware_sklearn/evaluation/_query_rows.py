"""Features, labels, query ids and weights, checked once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from .._engine import (
    FloatArray,
    Queries,
    check_labels,
    check_length,
    check_qid,
    check_query_weight,
    count_rows,
    take_rows,
)
from ._prepared_ranking import Prepared


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Checked rows of whole queries, as they were given or put in order.

    Attributes
    ----------
    X : matrix of any kind
    labels : ndarray of shape (n_rows,), float64
    queries : Queries
        Of the rows as they stand in X and labels.
    weight : ndarray of shape (n_queries,) or None
    """

    X: Any
    labels: FloatArray
    queries: Queries
    weight: FloatArray | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        qid: Any,
        query_weight: ArrayLike | None = None,
        *,
        unjudged: str = "raise",
        prefix: str = "",
        weight: str = "query_weight",
        allow_zero: bool = False,
    ) -> QueryRows:
        """Check data; messages begin names with `prefix`, and name the `weight`."""
        labels = check_labels(y, unjudged=unjudged, name=f"{prefix}y")
        check_length(labels, count_rows(X), f"{prefix}y")
        queries = check_qid(qid, n_rows=len(labels), name=f"{prefix}qid")
        weights = check_query_weight(
            query_weight, queries, allow_zero=allow_zero, name=weight
        )
        return cls(X, labels, queries, weights)

    def sorted(self, queries: Queries) -> QueryRows:
        """The rows query by query, as `Queries.by_id` or `by_content` have put them."""
        weight = self.weight
        if weight is not None:
            weight = weight[self.queries.sorted()]
        X, labels = take_rows(self.X, queries.order), queries.arrange(self.labels)
        return QueryRows(X, labels, replace(queries, order=None), weight)

    def prepared(self, *, keep: bool = True) -> Prepared:
        """The labels, ready for scores of these rows."""
        return Prepared(self.labels, self.queries, self.weight, keep=keep)
