"""The one door of evaluation: labels, scores and weights, gathered by query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from numpy.typing import ArrayLike, NDArray

from .._engine.ties import FloatArray
from .._engine.validation import (
    Queries,
    check_labels,
    check_qid,
    check_query_weight,
    check_scores,
)
from ..measures import Measure, accepted_unjudged


class Ranking(NamedTuple):
    """What every evaluation is given, checked."""

    queries: Queries
    labels: FloatArray
    scores: NDArray[Any]
    weight: FloatArray | None


class ColumnNames(NamedTuple):
    """What messages call the arrays."""

    label: str = "y_true"
    score: str = "y_score"
    qid: str = "qid"
    weight: str = "query_weight"


def check_ranking(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: Any,
    measures: Iterable[Measure],
    unjudged: str,
    query_weight: ArrayLike | None = None,
    *,
    names: ColumnNames = ColumnNames(),  # noqa: B008
    allow_zero: bool = False,
) -> Ranking:
    """Labels, scores and weights as arrays, the rows gathered into queries."""
    accepted = accepted_unjudged(measures, unjudged)
    labels = check_labels(y_true, name=names.label, unjudged=accepted)
    scores = check_scores(y_score, n_rows=len(labels), name=names.score)
    queries = check_qid(qid, n_rows=len(labels), name=names.qid)
    weight = check_query_weight(
        query_weight, queries, allow_zero=allow_zero, name=names.weight
    )
    return Ranking(queries, labels, scores, weight)
