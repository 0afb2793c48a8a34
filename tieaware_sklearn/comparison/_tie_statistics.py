"""Counts of ties of systems, and of ranks or lines that contradict their scores."""

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
    """Counts and shares of ties in the scores of a system.

    Attributes
    ----------
    n_queries, n_documents : int
        Number of queries with a retrieved document, and number of retrieved documents.
    tied_queries : float
        Share of queries with a tie, among the queries with a retrieved document.
    tied_documents, repeated_documents : float
        Share of retrieved documents that tie with another document of their query, and
        share of retrieved documents that tie with the document before them.
    bits : float
        Mean over queries of log2 of the number of distinct scores.
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
    _, n_distinct = np.unique(ties.query, return_counts=True)
    n_queries = len(n_distinct)
    n_documents = int(ties.n.sum())
    is_tied = ties.n > 1
    n_tied_queries = len(np.unique(ties.query[is_tied]))
    n_tied_documents = int(ties.n[is_tied].sum())
    # The first document of each tie does not tie with the document before.
    n_repeated = n_documents - len(ties.n)
    return ScoreTies(
        n_queries,
        n_documents,
        n_tied_queries / n_queries,
        n_tied_documents / n_documents,
        n_repeated / n_documents,
        weighted_mean(np.log2(n_distinct)),
    )


@dataclass(frozen=True, eq=False, repr=False)
class TieStatistics(html.Result):
    """Counts of ties, and of ranks or lines that contradict scores, printed as tables.

    Documents that a system does not retrieve are left out of all counts and shares.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    n_queries, n_documents : ndarray of shape (n_systems,), int
        Number of queries with a retrieved document, and number of retrieved documents.
    tied_queries, tied_documents : ndarray of shape (n_systems,)
        Share of queries with a tie, among the queries with a retrieved document, and
        share of retrieved documents that tie with another document of their query.
    repeated_documents : ndarray of shape (n_systems,)
        Share of retrieved documents that tie with the document ranked directly above.
    contradictions, contradicted_queries : ndarray of shape (n_systems,), int
        Number of pairs of neighbours by rank whose scores have the opposite order, and
        number of queries with such pairs. Both numbers are -1 without `rank`.
    rises, rising_queries : ndarray of shape (n_systems,), int
        Number of lines in the file of the system with a higher score than the previous
        line of the same query, and number of queries with such lines. Both numbers are
        -1 without `input_order`.
    tied_ranks, unordered_documents : ndarray of shape (n_systems,)
        Share of retrieved documents with the same rank as another document of their
        query, and share of retrieved documents with the same rank and the same score as
        another document of their query, so that neither rank nor score orders the two.
        Both shares are NaN without `rank`.

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
        """Return the shares over all systems.

        The shares are defined as in Table 1 of Yang, Moffat and Turpin (2016).

        Returns
        -------
        dict of str to float
            Shares by name:

            - ``"systems"`` is the share of systems that have a tie in any query.
            - ``"queries"`` is the share of pairs of a system and a query that have a
              tie, among the pairs with a retrieved document.
            - ``"documents"`` is the share of retrieved documents that tie with the
              document ranked directly above.
            - ``"contradictory systems"`` is the share of systems whose ranks contradict
              the scores for at least one query.
            - ``"contradictory queries"`` is the share of pairs of a system and a query
              in which the ranks contradict the scores, among the pairs with a retrieved
              document.
            - ``"contradictory documents"`` is the share of retrieved documents with a
              higher score than the document ranked directly above.
            - ``"rising systems"``, ``"rising queries"`` and ``"rising documents"`` are
              the same three shares for lines in place of ranks.

            The three contradictory shares exist only if `rank` was given, and the three
            rising shares only if `input_order` was given.
        """
        # The shares are 0 if no document is retrieved.
        n_queries = max(int(self.n_queries.sum()), 1)
        n_documents = max(int(self.n_documents.sum()), 1)
        tied = math.fsum(self.tied_queries * self.n_queries)
        repeated = math.fsum(self.repeated_documents * self.n_documents)
        shares = {"systems": float(np.mean(self.tied_queries > 0))}
        shares["queries"] = tied / n_queries
        shares["documents"] = repeated / n_documents
        kinds = {"rank": "contradictory", "line": "rising"}
        for order, neighbours, queries in self._against():
            kind = kinds[order]
            shares[f"{kind} systems"] = float(np.mean(neighbours > 0))
            shares[f"{kind} queries"] = int(queries.sum()) / n_queries
            shares[f"{kind} documents"] = int(neighbours.sum()) / n_documents
        return shares

    def _against(self) -> list[tuple[str, IntArray, IntArray]]:
        """Return counts of neighbours and queries that contradict their scores."""
        counts = []
        if (self.contradictions >= 0).all():
            counts.append(("rank", self.contradictions, self.contradicted_queries))
        if (self.rises >= 0).all():
            counts.append(("line", self.rises, self.rising_queries))
        return counts


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
        Scores of each system, -inf for documents that the system does not retrieve. A
        system may be a matrix with a query in each row, as in `compare_systems`.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all documents belong to one query. Matrices
        accept no `qid`: each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices contains a document. By default, cells that
        are missing in all matrices are padding.
    rank : array-like of shape (n_documents,) or (n_documents, n_systems), optional
        Ranks that the systems assign, 1 for the first document, as returned by
        `load_trec`. The rank is NaN for documents that are not retrieved. If the
        systems are matrices, `rank` has the shape of the matrices, or this shape
        followed by an axis with an entry for each system.
    input_order : array-like of shape (n_documents,) or (n_documents, n_systems), \
optional
        Position of each document in the file of the system, as returned by `load_trec`.
        Matrices are accepted as for `rank`.

    Returns
    -------
    TieStatistics

    Raises
    ------
    ValueError
        If there is no system, if two systems have the same name, if systems differ in
        length, if scores are NaN (except in padding) or +inf, or if query ids are
        missing. Also if ranks or positions have the wrong shape or are infinite, or if
        the rank or position of a retrieved document is missing.

    See Also
    --------
    tie_report : Reports the ties of one ranking, and their effect on measures.
    compare_systems : Compares systems under several treatments of ties (``ties=``).

    Notes
    -----
    The shares with ties are defined by Yang, Moffat and Turpin, "How precise does
    document scoring need to be?", AIRS 2016, Table 1. In this paper, a document counts
    as tied if its score equals the score of the preceding document. The column "as
    before" of a printed `TieStatistics` shows the share of these documents.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import tie_statistics
    >>> clicks, age = [9, 1, 1, 5, 2, 2], [1, 2, 3, 2, 3, 1]
    >>> print(tie_statistics({"clicks": clicks, "age": age}, qid=[1, 1, 1, 2, 2, 2]))
    system  queries  with ties  documents   tied  as before
    -------------------------------------------------------
    clicks        2     100.0%          6  66.7%      33.3%
    age           2       0.0%          6   0.0%       0.0%
    <BLANKLINE>
    share with ties         median system
    -------------------------------------
    systems          50.0%              -
    queries          50.0%          50.0%
    documents        16.7%          16.7%
    """
    # Only matrices have a mask. Without a mask, the shape of the arrays decides.
    matrices = None if mask is None else True
    names, systems = feature_matrix.list_systems(y_score, matrices=matrices)
    scores, queries, cells = lists.check_rankings(systems, qid, mask)
    shape = len(scores[0]), len(scores)
    ranks = _check_ranks(rank, "rank", shape, cells)
    lines = _check_ranks(input_order, "input_order", shape, cells)
    # A row for each system contains the fields of `TieStatistics` in order. `bits`, the
    # last field of `ScoreTies`, is left out.
    rows = []
    for j, column in enumerate(scores):
        ties = score_ties(column, queries)
        contradictions = _contradictions(column, ranks[j], queries, "rank")
        rises = _contradictions(column, lines[j], queries, "input_order")
        shares = _unordered(column, ranks[j], queries)
        rows.append((*ties[:-1], *contradictions, *rises, *shares))
    return TieStatistics(names, *map(np.array, zip(*rows, strict=True)))


def _check_ranks(
    rank: Any, name: str, shape: tuple[int, int], cells: lists.Lists | None
) -> Sequence[FloatArray | None]:
    """Check ranks, or positions of lines, and return them for each system."""
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
        # Documents that are not retrieved have the rank NaN.
        values = np.where(np.isnan(values), -np.inf, values)
        ranks.append(checks.check_scores(values, name=name))
    return ranks


def _unordered(
    scores: Array, rank: FloatArray | None, queries: checks.Queries
) -> tuple[float, float]:
    """Return shares of documents with the same rank, and the same rank and score."""
    if rank is None:
        return np.nan, np.nan
    retrieved = checks.is_retrieved(scores)
    number = queries.row_codes()[retrieved]
    n_documents = max(len(number), 1)
    shares = []
    for column in (rank, scores):
        ranks, n_ranks = tie_groups.dense_ranks(column[retrieved])
        # `number` identifies the query at first, and then the query and the rank.
        key = number * n_ranks + ranks
        _, number, n = np.unique(key, return_inverse=True, return_counts=True)
        n_tied = int(n[n > 1].sum())
        shares.append(n_tied / n_documents)
    return shares[0], shares[1]


def _contradictions(
    scores: Array, rank: FloatArray | None, queries: checks.Queries, name: str
) -> tuple[int, int]:
    """Count pairs of neighbours by rank whose scores rise, and queries with such pairs.

    `rank` may also contain positions of lines. `name` is the name of `rank` in
    messages.
    """
    if rank is None:
        return -1, -1
    is_retrieved = checks.is_retrieved(scores)
    # `_check_ranks` has replaced NaN by -inf.
    is_missing = is_retrieved & (rank == -np.inf)
    shown = np.where(is_missing, np.nan, rank)
    checks.reject(
        is_missing, shown, name, "not be missing where a document is retrieved"
    )
    retrieved = np.flatnonzero(is_retrieved)
    scores = scores[retrieved]
    rank = rank[retrieved]
    query = queries.row_codes()[retrieved]
    # Documents are sorted from the last to the first. Equal ranks do not contradict
    # scores, because documents of equal rank are sorted by score.
    order = np.lexsort((scores, -rank, query))
    scores = scores[order]
    query = query[order]
    is_contradicted = (scores[1:] < scores[:-1]) & (query[1:] == query[:-1])
    contradicted = query[1:][is_contradicted]
    return len(contradicted), len(np.unique(contradicted))
