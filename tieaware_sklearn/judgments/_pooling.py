"""Pools of documents for assessors, and votes of runs in place of judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import html, text_tables
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..score_precision import _bands
from . import _agreement


@dataclass(frozen=True, eq=False, repr=False)
class Pool(html.Result):
    """Pool of the top documents of several runs, printed as a table.

    The arrays contain an element for each document of a query that can be in the pool.
    Queries are in order of first appearance. The documents of a query are sorted by id.

    Attributes
    ----------
    qid, docno : ndarray of shape (n_documents,)
        Query and document ids.
    probability : ndarray of shape (n_documents,)
        Probability that the document is in the pool, over the orders of ties.
    certain : ndarray of shape (n_documents,), bool
        Whether the document is in the pool in every order of ties.
    stratum : ndarray of shape (n_documents,), int
        Best rank of the document over all runs and orders of ties, counted from 1. With
        ``by="band"``, the number of the band that contains this rank, counted from 1.
    n_runs : ndarray of shape (n_documents,), int
        Number of runs that retrieve the document at any rank.
    depth : int
        Rank down to which the documents of each run and query are pooled.
    by : str
        Meaning of `stratum`: the parameter `by` of `depth_pool`.

    See Also
    --------
    depth_pool : The function that returns this pool.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import depth_pool
    >>> first = {"qid": [1, 1, 1], "docno": ["a", "b", "c"], "score": [2, 1, 1]}
    >>> second = {"qid": [1, 1], "docno": ["c", "d"], "score": [9, 8]}
    >>> pool = depth_pool([first, second], depth=2)
    >>> pool.docno.tolist(), pool.certain.tolist()
    (['a', 'b', 'c', 'd'], [True, False, True, True])
    """

    qid: Array
    docno: Array
    probability: FloatArray
    certain: BoolArray
    stratum: IntArray
    n_runs: IntArray
    depth: int
    by: str

    @property
    def expected_size(self) -> float:
        """Expected number of documents in the pool, over all queries."""
        return float(self.probability.sum())

    def _tables(self) -> list[text_tables.Table]:
        names = [f"depth {self.depth}"]
        queries: list[Any] = [len(set(self.qid.tolist()))]
        expected = [f"{self.expected_size:.1f}"]
        certain = [self.certain.sum()]
        possible = [len(self.stratum)]
        if self.by == "band":
            for band in np.unique(self.stratum):
                is_in_band = self.stratum == band
                names.append(f"band {band}")
                queries.append("")
                expected.append(f"{self.probability[is_in_band].sum():.1f}")
                certain.append(self.certain[is_in_band].sum())
                possible.append(is_in_band.sum())
        table = text_tables.Table.of(
            ("pool", names),
            ("queries", queries),
            ("expected", expected),
            ("certain", certain),
            ("possible", possible),
        )
        return [table]


class Documents:
    """Documents of queries. Each document occurs at most once in a query.

    Attributes
    ----------
    queries : Queries
    keys : list of (qid, docno)
        Query and document of each row.
    values : object
        The column of labels or scores, without a check of its values.
    """

    def __init__(self, columns: Mapping[str, Any], name: str, column: str) -> None:
        qid = columns["qid"]
        self.values = columns[column]
        docno = _agreement.check_values(columns["docno"], f"{name} docno")
        self.queries = checks.check_qid(qid, n_rows=len(docno), name=f"{name} qid")
        ids = self.queries.qid[self.queries.row_codes()]
        self.keys = list(zip(ids.tolist(), docno.tolist(), strict=True))
        counts = Counter(self.keys)
        ((qid, document), count) = counts.most_common(1)[0]
        if count > 1:
            raise ValueError(
                f"{name} must contain each document of a query at most once, got "
                f"{document!r} {count} times for query {qid!r}"
            )


class _Run(Documents):
    """A run, with the query, the document and the score of each row."""

    def __init__(self, run: Mapping[str, Any], number: int) -> None:
        name = f"runs[{number}]"
        super().__init__(run, name, "score")
        self.score = checks.check_scores(
            self.values, n_rows=len(self.keys), name=f"{name} score"
        )
        # A document that is not retrieved is in no tie, so n is 0.
        self.above, self.n = _bands.above_and_tied(self.score, self.queries)
        self.retrieved = self.n > 0

    def inclusion(self, depth: int) -> FloatArray:
        """Return the probability that each row is at rank `depth` or above."""
        inside = np.clip(depth - self.above, 0, self.n)
        return inside / np.maximum(self.n, 1)


class PooledRuns:
    """Several runs, and the documents of all these runs.

    Attributes
    ----------
    runs : list of _Run
    keys : list of (qid, docno)
        Documents of all runs, with queries in order of first appearance and the
        documents of a query sorted.
    indices : list of ndarray
        For each run, the index in `keys` of each row.
    n_runs : ndarray of shape (n_documents,), int
        Number of runs that retrieve each document.
    """

    def __init__(self, runs: Sequence[Mapping[str, Any]]) -> None:
        if isinstance(runs, Mapping) or not len(runs):
            raise ValueError("runs must be a sequence of at least one run")
        self.runs = [_Run(run, number) for number, run in enumerate(runs)]
        query_numbers: dict[Any, int] = {}
        keys = set()
        for run in self.runs:
            keys.update(run.keys)
            for qid in run.queries.qid.tolist():
                query_numbers.setdefault(qid, len(query_numbers))
        self.keys = sorted(keys, key=lambda key: (query_numbers[key[0]], key[1]))
        index_of = {key: i for i, key in enumerate(self.keys)}
        self.indices = []
        self.n_runs = np.zeros(len(keys), dtype=np.int64)
        for run in self.runs:
            indices = np.array([index_of[key] for key in run.keys])
            self.indices.append(indices)
            self.n_runs[indices] += run.retrieved

    def columns(self, chosen: BoolArray) -> dict[str, Array]:
        """Return the ids of the chosen documents, and the number of runs of each."""
        keys = [self.keys[i] for i in np.flatnonzero(chosen)]
        qid = [topic for topic, _ in keys]
        docno = [document for _, document in keys]
        n_runs = self.n_runs[chosen]
        return {"qid": _column(qid), "docno": _column(docno), "n_runs": n_runs}


def depth_pool(
    runs: Sequence[Mapping[str, Any]],
    depth: int = 100,
    *,
    by: str = "rank",
    rho: Any = 2,
) -> Pool:
    """Pool the top documents of several runs, and show how ties affect the pool.

    Parameters
    ----------
    runs : sequence of mapping
        Runs, each with ``qid``, ``docno`` and ``score`` of shape (n_documents,), as
        returned by `tieaware_sklearn.datasets.load_run`. A score of -inf means that the
        run does not retrieve the document.
    depth : int, default=100
        Rank down to which the documents of each run and query are pooled.
    by : {"rank", "band"}, default="rank"
        Strata of the pool, to which judgments can be allotted. With "rank", each rank
        is a stratum. With "band", the strata are bands of ranks that grow by the factor
        `rho`.
    rho : float, str or Fraction, default=2
        Growth factor of the bands, above 1. With 2, the bands begin at the ranks 1, 2,
        4, 8 and so on. A string may contain a fraction, such as ``"3/2"``. See
        `geometric_bands`.

    Returns
    -------
    Pool

    Raises
    ------
    ValueError
        If there is no run, if a run is empty, if the arrays of a run differ in length,
        if scores are NaN or +inf, if ids are missing, if a document occurs twice in a
        query of a run, if `depth` is not an integer >= 1, if `by` is unknown, or if
        `rho` is at most 1 or not a number.
    KeyError
        If a run lacks one of the keys ``qid``, ``docno`` and ``score``.
    TypeError
        If the ids of a query's documents are strings in one run and numbers in another.

    See Also
    --------
    pseudo_relevance : Labels documents by the votes of runs.
    load_run : Reads a run.

    Notes
    -----
    If `depth` cuts a tie group of n documents of a run, and r of the ranks of the group
    are at or above rank `depth`, each of the n documents is pooled from the run with
    probability r/n. The orders of ties are independent between runs, so a document is
    in the pool with probability 1 - Π (1 - p), where p is the probability that the
    document is pooled from a run, and the product is over the runs. Spärck Jones and
    van Rijsbergen (1975) proposed pooling. Yang, Moffat and Turpin (2016) proposed
    bands of geometric size as strata.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import depth_pool
    >>> first = {"qid": [1, 1, 1], "docno": ["a", "b", "c"], "score": [2, 1, 1]}
    >>> second = {"qid": [1, 1], "docno": ["c", "d"], "score": [9, 8]}
    >>> pool = depth_pool([first, second], depth=2)
    >>> pool.docno.tolist(), pool.probability.tolist()
    (['a', 'b', 'c', 'd'], [1.0, 0.5, 1.0, 1.0])
    >>> pool.expected_size
    3.5
    >>> print(depth_pool([first, second], depth=2, by="band"))
    pool     queries  expected  certain  possible
    ---------------------------------------------
    depth 2        1       3.5        3         4
    band 1                 2.0        2         2
    band 2                 1.5        1         2
    """
    checks.check_count(depth, "depth")
    checks.check_choice(by, "by", ("rank", "band"))
    starts = _bands.geometric_bands(depth, rho)
    pooled_runs = PooledRuns(runs)
    n_documents = len(pooled_runs.keys)
    chance_missed = np.ones(n_documents)
    certain = np.zeros(n_documents, dtype=bool)
    # Documents below rank `depth` are not pooled, so their best rank does not matter.
    stratum = np.full(n_documents, depth)
    for run, indices in zip(pooled_runs.runs, pooled_runs.indices, strict=True):
        best_rank = np.where(run.retrieved, run.above + 1, depth)
        stratum[indices] = np.minimum(stratum[indices], best_rank)
        chance = run.inclusion(depth)
        chance_missed[indices] *= 1.0 - chance
        certain[indices] |= chance == 1
    if by == "band":
        stratum = starts.searchsorted(stratum, side="right")
    pooled = chance_missed < 1
    return Pool(
        **pooled_runs.columns(pooled),
        probability=1.0 - chance_missed[pooled],
        certain=certain[pooled],
        stratum=stratum[pooled],
        depth=depth,
        by=by,
    )


@dataclass(frozen=True, eq=False, repr=False)
class PseudoJudgments(html.Result):
    """Labels from the votes of runs, printed as a table of counts.

    The arrays contain an element for each document of a query that any run retrieves.
    Queries are in order of first appearance. The documents of a query are sorted by id.

    Attributes
    ----------
    qid, docno : ndarray of shape (n_documents,)
        Query and document ids.
    target : ndarray of shape (n_documents,), int
        Labels: 1 for documents that more than `m` runs retrieve, and 0 for all other
        documents. `m` is the parameter of `pseudo_relevance`.
    n_runs : ndarray of shape (n_documents,), int
        Number of runs that retrieve the document.

    See Also
    --------
    pseudo_relevance : The function that returns these labels.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import pseudo_relevance
    >>> first = {"qid": [1, 1], "docno": ["a", "b"], "score": [2, 1]}
    >>> second = {"qid": [1, 1], "docno": ["b", "c"], "score": [9, 8]}
    >>> votes = pseudo_relevance([first, second], m=1)
    >>> dict(zip(votes.docno.tolist(), votes.target.tolist()))
    {'a': 0, 'b': 1, 'c': 0}
    """

    qid: Array
    docno: Array
    target: IntArray
    n_runs: IntArray

    def _tables(self) -> list[text_tables.Table]:
        n_queries = len(set(self.qid.tolist()))
        table = text_tables.Table.of(
            ("votes", [""]),
            ("queries", [n_queries]),
            ("documents", [len(self.docno)]),
            ("relevant", [self.target.sum()]),
        )
        return [table]


def pseudo_relevance(runs: Sequence[Mapping[str, Any]], m: int) -> PseudoJudgments:
    """Label a document as relevant if more than `m` runs retrieve the document.

    Parameters
    ----------
    runs : sequence of mapping
        Runs, in the form that `depth_pool` accepts.
    m : int
        Threshold on the number of runs. A document is relevant if more than `m` runs
        retrieve the document.

    Returns
    -------
    PseudoJudgments

    Raises
    ------
    ValueError
        If the runs are invalid, as in `depth_pool`, if `m` is not an integer >= 0, or
        if `m` is not below the number of runs.
    KeyError, TypeError
        As in `depth_pool`.

    See Also
    --------
    depth_pool : Selects documents for assessors to judge.
    load_run : Reads a run.

    Notes
    -----
    Aslam and Savell (2003) find that votes, used in place of judgments, rank systems by
    the popularity of the documents that the systems retrieve. Nuray and Can (2006) also
    discuss evaluation without judgments.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import pseudo_relevance
    >>> first = {"qid": [1, 1], "docno": ["a", "b"], "score": [2, 1]}
    >>> second = {"qid": [1, 1], "docno": ["b", "c"], "score": [9, 8]}
    >>> votes = pseudo_relevance([first, second], m=1)
    >>> votes.docno.tolist(), votes.target.tolist()
    (['a', 'b', 'c'], [0, 1, 0])
    """
    pooled_runs = PooledRuns(runs)
    checks.check_count(m, "m", least=0)
    if m >= len(runs):
        raise ValueError(f"m must be below the number of runs ({len(runs)}), got {m!r}")
    columns = pooled_runs.columns(pooled_runs.n_runs > 0)
    target = (columns["n_runs"] > m).astype(np.int64)
    return PseudoJudgments(**columns, target=target)


def _column(values: list[Any]) -> Array:
    """Return ids as an array of their type, or as objects if the types differ."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and issubclass(kinds.pop(), (int, float, str)):
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))
