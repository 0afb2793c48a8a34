"""Rank-biased overlap of every pair of systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display.result import Result
from .._display.tables import Ranges, Table
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import check_qid
from ..evaluation._averages import mean
from ._measured_systems import check_systems
from ._prefix_overlaps import RankedLists
from ._rank_biased_overlap import check_reader, overlap_values


@dataclass(frozen=True, eq=False, repr=False)
class OverlapMatrix(Result):
    """Mean rank-biased overlap of every pair of systems; prints as a table.

    The matrices are symmetric. A system and itself are a pair, too: its overlap is
    below 1 as far as its ties leave the ranking open.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    p : float
        Persistence.
    depth : int or None
        Depth of evaluation.
    mean, worst, best : ndarray of shape (n_systems, n_systems)
        Averages over queries of the expected, worst and best overlaps, as in
        `RankBiasedOverlap`.
    n_queries : ndarray of shape (n_systems, n_systems), int
        Number of queries for which both systems retrieve documents.

    See Also
    --------
    pairwise_overlap : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import pairwise_overlap
    >>> found = pairwise_overlap({"a": [3, 2, 1], "b": [2, 2, 1]}, p=0.5)
    >>> found.mean
    array([[1.  , 0.75],
           [0.75, 0.75]])
    """

    systems: tuple[str, ...]
    p: float
    depth: int | None
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    n_queries: IntArray

    @property
    def distance(self) -> FloatArray:
        """Rank-biased distance, 1 - `mean`: of shape (n_systems, n_systems)."""
        return 1.0 - self.mean

    def _columns(self) -> dict[str, Any]:
        names = np.array(self.systems, dtype=object)
        rows, columns = np.triu_indices(len(names))
        values = {
            name: getattr(self, name)[rows, columns]
            for name in ("mean", "worst", "best", "distance", "n_queries")
        }
        return {"a": names[rows], "b": names[columns], **values}

    def _tables(self) -> list[Table]:
        cells = self._columns()
        heads = [("A", "a"), ("B", "b"), ("queries", "n_queries")]
        heads[2:2] = [(name, name) for name in ("mean", "worst", "best")]
        return [
            Table.of(
                *((head, cells[name]) for head, name in heads),
                left=2,
                ranges=Ranges(cells["worst"], cells["mean"], cells["best"]),
            )
        ]


def pairwise_overlap(
    y_score: Any, *, qid: Any = None, p: float = 0.9, depth: int | None = None
) -> OverlapMatrix:
    """Mean rank-biased overlap (RBO) of every pair of systems.

    Parameters
    ----------
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents, with -inf for documents that
        the system does not retrieve.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    p, depth
        As in `rank_biased_overlap`.

    Returns
    -------
    OverlapMatrix

    Raises
    ------
    ValueError
        As in `rank_biased_overlap`, and for systems of another length or with the
        same name.

    See Also
    --------
    rank_biased_overlap : Two rankings, query by query, and the definition.
    compare_systems : Tests whether systems differ by a measure.

    Notes
    -----
    The orders of the ties of two systems are independent, also where a system is
    compared with itself. Its mean overlap with itself is the one that it has with any
    order of its ties, such as the order that trec_eval gives it.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import pairwise_overlap
    >>> systems = {"clicks": [9, 5, 5, 1], "age": [2, 3, 1, 1]}
    >>> print(pairwise_overlap(systems, p=0.5))
    A       B         mean   worst    best  queries
    -----------------------------------------------
    clicks  clicks  0.9375  0.8750  1.0000        1
    clicks  age     0.4167  0.3333  0.5000        1
    age     age     0.9792  0.9583  1.0000        1
    """
    names, columns = check_systems(y_score)
    queries = check_qid(qid, n_rows=len(columns[0]))
    p, depth = check_reader(p, depth)
    codes, n_systems = queries.codes, len(names)
    lists = [
        RankedLists.of(queries.arrange(scores), codes, queries.n_queries)
        for scores in columns
    ]
    averages = np.empty((3, n_systems, n_systems))
    counts = np.empty((n_systems, n_systems), dtype=np.int64)
    for i, j in zip(*np.triu_indices(n_systems), strict=True):
        found = overlap_values(lists[i], lists[j], codes, p, depth)
        values = [mean(found[name]) for name in ("expected", "worst", "best")]
        averages[:, i, j] = averages[:, j, i] = values
        counts[i, j] = counts[j, i] = (~np.isnan(found["expected"])).sum()
    return OverlapMatrix(
        systems=names,
        p=p,
        depth=depth,
        mean=averages[0],
        worst=averages[1],
        best=averages[2],
        n_queries=counts,
    )
