"""How much of the rankings of many systems is tied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result
from .._display.tables import Table
from .._engine.exact import as_floats, numbers_of
from .._engine.qid_column import array_of
from .._engine.segments import rises
from .._engine.ties import FloatArray, IntArray, dense_ranks
from .._engine.validation import Queries, check_qid, check_scores, is_retrieved, reject
from ._measured_systems import check_systems


class ScoreTies(NamedTuple):
    """Ties of the scores of a system.

    Attributes
    ----------
    n_queries, n_tied_queries : int
        Queries with a retrieved document, and those of them with a tie.
    n_documents, n_tied, n_repeated : int
        Documents that are retrieved; those that tie with another document of their
        query; and those that tie with the document before them.
    bits : float
        log2 of the distinct scores of a query, averaged over queries.
    """

    n_queries: int
    n_tied_queries: int
    n_documents: int
    n_tied: int
    n_repeated: int
    bits: float

    @property
    def tied_documents(self) -> float:
        return self.n_tied / max(self.n_documents, 1)


def score_ties(scores: NDArray[Any], queries: Queries) -> ScoreTies:
    """Count the ties of a system within queries."""
    there = is_retrieved(scores)
    ranks, n_ranks = dense_ranks(scores[there])
    if not n_ranks:
        return ScoreTies(0, 0, 0, 0, 0, 0.0)
    key = queries.row_codes()[there] * n_ranks + ranks
    groups, sizes = np.unique(key, return_counts=True)
    query = groups // n_ranks
    distinct = np.bincount(query)
    distinct = distinct[distinct > 0]
    tied = sizes > 1
    bits = math.fsum(np.log2(distinct).tolist()) / len(distinct)
    return ScoreTies(
        n_queries=len(distinct),
        n_tied_queries=len(np.unique(query[tied])),
        n_documents=len(ranks),
        n_tied=int(sizes[tied].sum()),
        n_repeated=len(ranks) - len(groups),
        bits=bits,
    )


@dataclass(frozen=True, eq=False, repr=False)
class TieStatistics(Result):
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

    See Also
    --------
    tie_statistics : The function that returns these statistics.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import tie_statistics
    >>> found = tie_statistics({"a": [2, 1, 1], "b": [3, 2, 1]}, rank=[1, 3, 2])
    >>> found.tied_documents.round(2), found.contradictions
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

    def overall(self) -> dict[str, float]:
        """Shares over all systems, as in Table 1 of Yang, Moffat and Turpin (2016).

        Returns
        -------
        dict of str to float
            Share of systems, of (system, query) pairs and of documents with ties; and,
            if there are ranks, share of systems and of pairs with contradictions.
        """
        queries = max(int(self.n_queries.sum()), 1)
        documents = max(int(self.n_documents.sum()), 1)
        shares = {
            "systems": float(np.mean(self.tied_queries > 0)),
            "queries": math.fsum(self.tied_queries * self.n_queries) / queries,
            "documents": math.fsum(self.repeated_documents * self.n_documents)
            / documents,
        }
        if self._has_ranks:
            shares |= {
                "contradictory systems": float(np.mean(self.contradictions > 0)),
                "contradictory queries": int(self.contradicted_queries.sum()) / queries,
            }
        return shares

    def _tables(self) -> list[Table]:
        def share(value: float) -> str:
            return f"{100 * value:.1f} %"

        tables = [
            Table.of(
                ("system", self.systems),
                ("queries", self.n_queries),
                ("with ties", self.tied_queries, share),
                ("documents", self.n_documents),
                ("tied", self.tied_documents, share),
                ("as before", self.repeated_documents, share),
                terms=_TERMS,
            )
        ]
        if self._has_ranks:
            tables.append(
                Table.of(
                    ("ranks against scores", self.systems),
                    ("neighbours", self.contradictions),
                    ("queries", self.contradicted_queries),
                    terms=_TERMS,
                )
            )
        names, shares = zip(*self.overall().items(), strict=True)
        return [*tables, Table.of(("share with ties", names), ("", shares, share))]

    @property
    def _has_ranks(self) -> bool:
        return bool((self.contradictions >= 0).all())


_TERMS = {
    "with ties": "share of the queries in which documents tie",
    "tied": "share of the documents that tie with another one of their query",
    "as before": "share of the documents that tie with the document before them",
    "neighbours": "neighbours by rank whose scores have the opposite order",
}


def tie_statistics(
    y_score: Any, *, qid: Any = None, rank: ArrayLike | None = None
) -> TieStatistics:
    """Count the ties of many systems, and where their ranks contradict their scores.

    Parameters
    ----------
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system, -inf where it does not retrieve a document, as in
        `compare_systems`.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    rank : array-like of shape (n_documents,) or (n_documents, n_systems), optional
        Ranks that the systems state, 1 for the first document, as `load_trec` returns
        them. NaN where a document is not retrieved.

    Returns
    -------
    TieStatistics

    Raises
    ------
    ValueError
        For scores as in `compare_systems`; and for ranks of another shape, or missing
        where a document is retrieved.

    See Also
    --------
    tie_report : One ranking, with what its ties can change.
    official_vs_exact : What the order of ties changes.

    Notes
    -----
    The shares are those of Yang, Moffat and Turpin, "How precise does document scoring
    need to be?", AIRS 2016, Table 1, where a document counts as tied if its score is
    that of the document before it ("as before" in the printed table).

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
    share with ties
    -----------------------
    systems          50.0 %
    queries          50.0 %
    documents        16.7 %
    """
    names, scores = check_systems(y_score)
    queries = check_qid(qid, n_rows=len(scores[0]))
    ties = [score_ties(column, queries) for column in scores]
    ranks = _ranks(rank, len(scores[0]), len(scores))
    against = [
        (-1, -1) if own is None else _contradictions(column, own, queries)
        for column, own in zip(scores, ranks, strict=True)
    ]
    counts = np.array([one[:5] for one in ties], dtype=np.int64).T
    n_queries, n_tied_queries, n_documents, n_tied, n_repeated = counts
    contradictions, contradicted = np.array(against, dtype=np.int64).T
    return TieStatistics(
        systems=names,
        n_queries=n_queries,
        n_documents=n_documents,
        tied_queries=n_tied_queries / np.maximum(n_queries, 1),
        tied_documents=n_tied / np.maximum(n_documents, 1),
        repeated_documents=n_repeated / np.maximum(n_documents, 1),
        contradictions=contradictions,
        contradicted_queries=contradicted,
    )


def _ranks(rank: Any, n_rows: int, n_systems: int) -> list[FloatArray | None]:
    """Ranks of each system."""
    if rank is None:
        return [None] * n_systems
    array = array_of(rank)
    if array.shape not in ((n_rows,), (n_rows, n_systems)):
        raise ValueError(
            "rank must have shape (n_documents,) or (n_documents, n_systems), here "
            f"({n_rows},) or ({n_rows}, {n_systems}), got {array.shape}"
        )
    columns = [rank] * n_systems if array.ndim == 1 else [*array.T]
    found = [as_floats(numbers_of(one, "rank"), "rank") for one in columns]
    # NaN is for documents that are not retrieved
    filled = [np.where(np.isnan(one), -np.inf, one) for one in found]
    return [check_scores(one, name="rank") for one in filled]


def _contradictions(
    scores: NDArray[Any], rank: FloatArray, queries: Queries
) -> tuple[int, int]:
    """Neighbours by rank whose scores rise, and the queries that have any."""
    there = np.flatnonzero(is_retrieved(scores))
    reject(
        rank[there] == -np.inf,
        rank[there],
        "rank",
        "not be missing where a document is retrieved",
    )
    query = queries.row_codes()[there]
    places, _ = dense_ranks(scores[there])
    # documents of equal rank do not contradict their scores
    order = np.lexsort((-places, rank[there], query))
    score, query = scores[there][order], query[order]
    contradicted = query[1:][rises(score, query)]
    return len(contradicted), len(np.unique(contradicted))
