"""Several systems that rank the same documents, measured query by query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._engine.ties import FloatArray
from .._engine.validation import check_labels, check_qid, check_scores
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import ask
from ..measures import Measure, parse_measure


class MeasuredSystems:
    """Checked labels and the score columns of systems.

    Attributes
    ----------
    names : tuple of str
    scores : list of ndarray of shape (n_documents,)
    measure : Measure
    queries : Queries
        In order of first appearance.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_scores: Any,
        qid: Any,
        measure: str | Measure,
        zero_relevance: float | str,
        unjudged: str,
        n_jobs: int | None,
    ) -> None:
        self.measure = parse_measure(measure)
        self._asked = ask([self.measure], zero_relevance, unjudged)
        labels = check_labels(y_true, unjudged=self._asked.unjudged)
        self.names, self.scores = check_systems(y_scores, len(labels))
        self.queries = check_qid(qid, n_rows=len(labels))
        self._n_jobs = n_jobs
        self._prepared = Prepared(labels, self.queries, keep=True)

    def values(
        self, scores: NDArray[Any], statistics: Sequence[str]
    ) -> dict[str, FloatArray]:
        """Each of `statistics` per query, of the measure under these scores."""
        names = ("expected", *statistics)
        found = self._prepared.values(self._asked, scores, names, n_jobs=self._n_jobs)
        return {name: values[:, 0] for name, values in found.items()}

    def warn_undefined(self) -> None:
        """Warn of a system for which the measure is undefined throughout."""
        self._asked.warn_of_nan([math.nan])

    def all_values(self, statistics: Sequence[str]) -> dict[str, FloatArray]:
        """The same of every system, of shape (n_queries, n_systems)."""
        each = [self.values(scores, statistics) for scores in self.scores]
        return {
            name: np.column_stack([values[name] for values in each])
            for name in ["expected", *statistics]
        }


def check_systems(
    y_scores: Any, n_rows: int
) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and score columns: a mapping, a data frame, or an array of columns."""
    if isinstance(y_scores, Mapping):
        names = list(y_scores)
        columns = [y_scores[name] for name in names]
    elif hasattr(y_scores, "columns"):
        names = list(y_scores.columns)
        columns = [y_scores[name] for name in names]
    else:
        try:
            array = np.asarray(y_scores)
        except ValueError as error:
            raise ValueError(f"y_scores must be a 2-D array: {error}") from None
        if array.ndim != 2:
            raise ValueError(
                "y_scores must map names of systems to scores, or be an array of shape "
                f"(n_documents, n_systems), got shape {array.shape}"
            )
        names, columns = list(range(array.shape[1])), list(array.T)
    if not names:
        raise ValueError("y_scores must hold at least one system, got none")
    texts = tuple(map(str, names))
    for name in texts:
        if texts.count(name) > 1:
            raise ValueError(f"y_scores must name each system once, got {name} twice")
    return texts, [
        check_scores(column, n_rows=n_rows, name=f"y_scores[{name!r}]")
        for name, column in zip(texts, columns, strict=True)
    ]
