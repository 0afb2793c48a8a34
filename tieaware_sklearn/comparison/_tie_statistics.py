"""Ties of systems, and the ranks or lines that contradict their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._display import html
from .._engine import checks, exact_numbers, feature_matrix, lists, tie_groups
from .._typing import Array, FloatArray, IntArray
from ..statistics.averages import weighted_mean
from . import _text


class ScoreTies(NamedTuple):
    """Numbers of ties in the scores of a system.

    Attributes
    ----------
    n_queries, n_documents : int
        Queries with a retrieved document, and documents that are retrieved.
    tied_queries, tied_documents, repeated_documents : float
        Share of these queries with a tie; shares of these documents that tie with
        another document of their query, and with the document before them.
    bits : float
        log2 of the distinct scores of a query, averaged over queries.
    """

    n_queries: int
    n_documents: int
    tied_queries: float
    tied_documents: float
    repeated_documents: float
    bits: float


def score_ties(scores: Array, queries: checks.Queries) -> ScoreTies:
    """Count the ties of a system within queries."""
    scores = queries.arrange(scores)
    retrieved = checks.is_retrieved(scores)
    if not retrieved.any():
        return ScoreTies(0, 0, 0.0, 0.0, 0.0, 0.0)
    ties = tie_groups.ties_of_rows(scores, retrieved, queries.sizes)
    distinct = np.unique(ties.query, return_counts=True)[1]
    is_tied = ties.n > 1
    n_queries, n_documents = len(distinct), int(ties.n.sum())
    return ScoreTies(
        n_queries,
        n_documents,
        tied_queries=len(np.unique(ties.query[is_tied])) / n_queries,
        tied_documents=int(ties.n[is_tied].sum()) / n_documents,
        repeated_documents=(n_documents - len(ties.n)) / n_documents,
        bits=weighted_mean(np.log2(distinct)),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TieStatistics(html.Result):
    """Ties and contradictions of the rankings of many systems; prints as tables.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    n_queries, n_documents : ndarray of shape (n_systems,), int
        Number of queries with a retrieved document, and of retrieved documents.
    tied_queries, tied_documents : ndarray of shape (n_systems,)
        Share of these queries with a tie, and share of these documents that tie with
        another document of their query.
    repeated_documents : ndarray of shape (n_systems,)
        Share of documents that tie with the document before them.
    contradictions, contradicted_queries : ndarray of shape (n_systems,), int
        Number of neighbours by rank whose scores have the opposite order, and of
        queries with such neighbours. -1 without ranks.
    rises, rising_queries : ndarray of shape (n_systems,), int
        Number of lines with a higher score than the line before, and of queries with
        any. -1 without `input_order`.
    tied_ranks, unordered_documents : ndarray of shape (n_systems,)
        Share of documents with the rank of another document of their query, and with
        its rank and score, so nothing orders them. NaN without ranks.

    See Also
    --------
    tie_statistics : The function that returns these statistics.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import tie_statistics
    >>> ties = tie_statistics({"a": [2, 1, 1], "b": [3, 2, 1]}, rank=[1, 3, 2])
    >>> ties.tied_documents.round(2), ties.contradictions
    (array([0.67, 0.  ]), array([0, 1]))
    """

    systems: tuple[str, ...]
    n_queries: IntArray
    n_documents: IntArray
    tied_queries: FloatArray
    tied_documents: FloatArray
    repeated_documents: FloatArray
    contradictions: IntArray
    contradicted_queries: IntArray
    rises: IntArray
    rising_queries: IntArray
    tied_ranks: FloatArray
    unordered_documents: FloatArray

    _tables = _text.tables_of_ties

    def overall(self) -> dict[str, float]:
        """Shares over all systems, as in Table 1 of Yang, Moffat and Turpin (2016).

        Returns
        -------
        dict of str to float
            Share of systems, of (system, query) pairs and of documents with ties. With
            ranks, also of systems and pairs where they contradict scores, and of the
            documents whose score is above that of the document before them by rank.
            With `input_order`, also of those with scores that rise by line.
        """
        queries = max(int(self.n_queries.sum()), 1)
        documents = max(int(self.n_documents.sum()), 1)
        repeated = math.fsum(self.repeated_documents * self.n_documents)
        shares = {
            "systems": float(np.mean(self.tied_queries > 0)),
            "queries": math.fsum(self.tied_queries * self.n_queries) / queries,
            "documents": repeated / documents,
        }
        for by, neighbours, concerned in self._against():
            kind = {"rank": "contradictory", "line": "rising"}[by]
            shares[f"{kind} systems"] = float(np.mean(neighbours > 0))
            shares[f"{kind} queries"] = int(concerned.sum()) / queries
            shares[f"{kind} documents"] = int(neighbours.sum()) / documents
        return shares

    def _against(self) -> list[tuple[str, IntArray, IntArray]]:
        """Say how many neighbours and queries contradict their scores."""
        every = [
            ("rank", self.contradictions, self.contradicted_queries),
            ("line", self.rises, self.rising_queries),
        ]
        return [one for one in every if (one[1] >= 0).all()]


def tie_statistics(
    y_score: Any,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    rank: ArrayLike | None = None,
    input_order: ArrayLike | None = None,
) -> TieStatistics:
    """Count the ties of systems, and the ranks or lines that contradict scores.

    Parameters
    ----------
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system, -inf where it does not retrieve a document. A system may
        be a matrix with a query in each row, as in `compare_systems`.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices holds a document. By default, cells that are
        missing in all of them are padding.
    rank : array-like of shape (n_documents,) or (n_documents, n_systems), optional
        Ranks that the systems give, 1 for the first document, as `load_trec` returns
        them. NaN where a document is not retrieved. Of matrices, it has their shape,
        and may have a last axis of systems.
    input_order : array-like of the shape of `rank`, optional
        Position of each document in the file of the system, as in `load_trec`.

    Returns
    -------
    TieStatistics

    Raises
    ------
    ValueError
        For scores as in `compare_systems`, and for ranks or positions of another shape
        or missing for a retrieved document.

    See Also
    --------
    tie_report : One ranking, with what its ties can change.
    compare_systems : Averages by several treatments of ties (``ties=``).

    Notes
    -----
    The shares are those of Yang, Moffat and Turpin, "How precise does document scoring
    need to be?", AIRS 2016, Table 1. There, a document counts as tied if it has the
    score of the document before it ("as before" in the printed table).

    Examples
    --------
    >>> from tieaware_sklearn.comparison import tie_statistics
    >>> clicks, age = [9, 1, 1, 5, 2, 2], [1, 2, 3, 2, 3, 1]
    >>> print(tie_statistics({"clicks": clicks, "age": age}, qid=[1, 1, 1, 2, 2, 2]))
    system  queries  with ties  documents    tied  as before
    --------------------------------------------------------
    clicks        2    100.0 %          6  66.7 %     33.3 %
    age           2      0.0 %          6   0.0 %      0.0 %
    <BLANKLINE>
    share with ties          median system
    --------------------------------------
    systems          50.0 %              -
    queries          50.0 %         50.0 %
    documents        16.7 %         16.7 %
    """
    matrices = None if mask is None else True
    names, given = feature_matrix.list_systems(y_score, matrices=matrices)
    scores, queries, cells = lists.check_rankings(given, qid, mask)
    shape = len(scores[0]), len(scores)
    ranks = _ranks(rank, "rank", shape, cells)
    lines = _ranks(input_order, "input_order", shape, cells)
    # a row for each system, in the order of the fields; bits are of no use here
    rows = [
        (
            *score_ties(column, queries)[:-1],
            *_contradictions(column, of_ranks, queries, "rank"),
            *_contradictions(column, of_lines, queries, "input_order"),
            *_unordered(column, of_ranks, queries),
        )
        for column, of_ranks, of_lines in zip(scores, ranks, lines, strict=True)
    ]
    return TieStatistics(names, *map(np.array, zip(*rows, strict=True)))


def _ranks(
    rank: Any, name: str, shape: tuple[int, int], cells: lists.Lists | None
) -> Sequence[FloatArray | None]:
    """Return the ranks of each system, or the places of its lines."""
    n_rows, n_systems = shape
    if rank is None:
        return [None] * n_systems
    if cells is not None:
        rank = cells.documents(rank, name, several=True)
    array = exact_numbers.as_array(rank, name)
    if array.shape not in ((n_rows,), shape):
        raise ValueError(
            f"{name} must have shape (n_documents,) or (n_documents, n_systems), here "
            f"({n_rows},) or {shape}, got {array.shape}"
        )
    ranks = []
    for column in np.broadcast_to(array.T, (n_systems, n_rows)):
        values = exact_numbers.floats_of(column, name)
        # NaN stands for documents that are not retrieved
        values = np.where(np.isnan(values), -np.inf, values)
        ranks.append(checks.check_scores(values, name=name))
    return ranks


def _unordered(
    scores: Array, rank: FloatArray | None, queries: checks.Queries
) -> tuple[float, float]:
    """Shares of documents that share their rank, and rank and score, with others."""
    if rank is None:
        return np.nan, np.nan
    there = checks.is_retrieved(scores)
    number, shares = queries.row_codes()[there], []
    for column in (rank[there], scores[there]):
        ranks, n_ranks = tie_groups.dense_ranks(column)
        key = number * n_ranks + ranks
        _, number, n = np.unique(key, return_inverse=True, return_counts=True)
        shares.append(int(n[n > 1].sum()) / max(len(ranks), 1))
    return shares[0], shares[1]


def _contradictions(
    scores: Array, rank: FloatArray | None, queries: checks.Queries, name: str
) -> tuple[int, int]:
    """Count neighbours by rank whose scores rise, and the queries with any."""
    if rank is None:
        return -1, -1
    there = np.flatnonzero(checks.is_retrieved(scores))
    rule = "not be missing where a document is retrieved"
    checks.reject(rank[there] == -np.inf, rank[there], name, rule)
    query = queries.row_codes()[there]
    # from the last document up; those of equal rank do not contradict their scores
    order = np.lexsort((scores[there], -rank[there], query))
    score, query = scores[there][order], query[order]
    contradicted = query[1:][(score[1:] < score[:-1]) & (query[1:] == query[:-1])]
    return len(contradicted), len(np.unique(contradicted))
