"""Rankings without the documents that nobody judged: ``unjudged="drop"``."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._engine import (
    DROPPED_LABEL,
    FloatArray,
    IntArray,
    Queries,
    offsets_of,
    sum_segments,
)
from .._kernel import score_columns


class JudgedRows(NamedTuple):
    """The rows of judged documents, query by query.

    A query without any keeps one row, of label `DROPPED_LABEL`, which stands for it
    and is never retrieved.

    Attributes
    ----------
    rows : ndarray of shape (n_kept,)
        Among the rows as they came.
    labels : ndarray of shape (n_kept,)
    queries : Queries
        The same queries, of these rows.
    stand_ins : ndarray of shape (n_stand_ins,)
        Places in `rows` of those that stand for a query.
    """

    rows: IntArray
    labels: FloatArray
    queries: Queries
    stand_ins: IntArray

    @classmethod
    def of(cls, labels: FloatArray, queries: Queries) -> Self | None:
        """Those of all rows; None where no document is dropped."""
        if labels.min() != DROPPED_LABEL:
            return None
        judged = queries.arrange(labels) != DROPPED_LABEL
        counts = sum_segments(judged.astype(np.float64), queries.sizes)
        # of documents that all have been dropped, any one will do
        judged[queries.offsets[:-1][counts == 0]] = True
        rows = queries.given(np.flatnonzero(judged))
        sizes = np.maximum(counts, 1).astype(np.int64)
        kept = labels[rows]
        return cls(
            rows,
            kept,
            Queries(queries.qid, offsets_of(sizes), None),
            np.flatnonzero(kept == DROPPED_LABEL),
        )

    def scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores of these rows, of (n_rows,) or (n_columns, n_rows) of all."""
        return not_retrieved(scores[..., self.rows], self.stand_ins)


def not_retrieved(scores: NDArray[Any], rows: IntArray) -> NDArray[Any]:
    """Scores that rank the same, but for rows that are not retrieved."""
    if len(rows) == 0:
        return scores
    # integers have no infinity
    floats = score_columns(np.atleast_2d(scores)).copy()
    floats[:, rows] = -np.inf
    return floats.reshape(scores.shape)
