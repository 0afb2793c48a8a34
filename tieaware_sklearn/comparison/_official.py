"""trec_eval's order of ties against the exact mean over all orders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _optional
from .._display import html, text_tables, words
from .._engine import checks, exact_numbers, feature_matrix, lists, messages, tie_groups
from .._engine.segments import FloatArray, IntArray
from ..evaluation import _averages, _ties
from ..measures import Measure, _parse
from . import _correlation, _orders, _result, _segmented, _systems
from ._result import SystemComparison


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


def score_ties(scores: NDArray[Any], queries: checks.Queries) -> ScoreTies:
    """Count the ties of a system within queries."""
    there = checks.is_retrieved(scores)
    ranks, n_ranks = tie_groups.dense_ranks(scores[there])
    if not n_ranks:
        return ScoreTies(0, 0, 0.0, 0.0, 0.0, 0.0)
    key = queries.row_codes()[there] * n_ranks + ranks
    groups, sizes = np.unique(key, return_counts=True)
    query, tied = groups // n_ranks, sizes > 1
    distinct = np.unique(query, return_counts=True)[1]
    n_queries, n_documents = len(distinct), len(ranks)
    return ScoreTies(
        n_queries,
        n_documents,
        tied_queries=len(np.unique(query[tied])) / n_queries,
        tied_documents=int(sizes[tied].sum()) / n_documents,
        repeated_documents=(n_documents - len(groups)) / n_documents,
        bits=_averages.mean(np.log2(distinct)),
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

    def _tables(self) -> list[text_tables.Table]:
        tables = [
            text_tables.Table.of(
                ("system", self.systems),
                ("queries", self.n_queries),
                ("with ties", self.tied_queries, _percent),
                ("documents", self.n_documents),
                ("tied", self.tied_documents, _percent),
                ("as before", self.repeated_documents, _percent),
                terms=_TERMS_OF_TIES,
            )
        ]
        columns: list[tuple[Any, ...]] = [("against scores", self.systems)]
        for by, neighbours, concerned in self._against():
            columns += [(f"by {by}", neighbours), ("queries", concerned)]
        if not np.isnan(self.tied_ranks).any():
            columns.append(("tied ranks", self.tied_ranks, _percent))
            columns.append(("no order", self.unordered_documents, _percent))
        if columns[1:]:
            tables.append(text_tables.Table.of(*columns, terms=_TERMS_OF_TIES))
        names, shares = zip(*self.overall().items(), strict=True)
        each = {"queries": self.tied_queries, "documents": self.repeated_documents}
        medians = [np.median(each.get(name, np.nan)) for name in names]
        share = ("share with ties", names), ("", shares, _percent)
        middle = ("median system", medians, _percent)
        return [*tables, text_tables.Table.of(*share, middle, terms=_TERMS_OF_TIES)]


_TERMS_OF_TIES = {
    "with ties": "share of the queries in which documents tie",
    "tied": "share of the documents that tie with another one of their query",
    "as before": "share of the documents that tie with the document before them",
    "by rank": "neighbours by rank whose scores have the opposite order",
    "by line": "lines whose score is above that of the line before",
    "tied ranks": "share of the documents with the rank of another one of their query",
    "no order": "share of the documents with the rank and the score of another one",
    "median system": "the median of the shares of the systems",
}


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
    official_vs_exact : What the order of ties changes.

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
    names, scores, queries, cells = _systems.check_systems(y_score, qid, mask)
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
) -> list[FloatArray | None]:
    """Return the ranks of each system, or the places of its lines."""
    n_rows, n_systems = shape
    if rank is None:
        return [None] * n_systems
    if cells is not None:
        rank = cells.documents(rank, name, several=True)
    array, shapes = feature_matrix.array_of(rank), ((n_rows,), shape)
    rule = f"{name} must have shape (n_documents,) or (n_documents, n_systems), here "
    rule += f"({n_rows},) or {shape}"
    messages.require(array.shape in shapes, rule, array.shape)
    columns = [rank] * n_systems if array.ndim == 1 else [*array.T]
    ranks = [exact_numbers.floats_of(one, name) for one in columns]
    # NaN stands for documents that are not retrieved
    filled = [np.where(np.isnan(one), -np.inf, one) for one in ranks]
    return [checks.check_scores(one, name=name) for one in filled]


def _unordered(
    scores: NDArray[Any], rank: FloatArray | None, queries: checks.Queries
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
    scores: NDArray[Any], rank: FloatArray | None, queries: checks.Queries, name: str
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


#: changes of conclusions, the gravest first
CHANGES = {
    "turned": "both differences are significant, in opposite directions",
    "lost": "only the official difference is significant",
    "new": "only the exact difference is significant",
    "sign": "neither is significant, and the signs differ",
}
#: beyond this number of pairs, only those with a change are shown
_MOST_PAIRS = 10
_OVER_ORDERS = ("share", "share_error", "smallest", "largest")
#: the two treatments compared
OFFICIAL, EXACT = "official", "expected"
#: treatments and statistics whose averages are shown
_MEANS = {
    "official": (OFFICIAL, "expected"),
    "exact": (EXACT, "expected"),
    "worst": (EXACT, "worst"),
    "best": (EXACT, "best"),
}


def changes_of(comparisons: SystemComparison, alpha: float) -> NDArray[np.str_]:
    """Classify each measure and pair by its change of conclusion, empty for none."""
    shape = len(comparisons.measures), 2, -1
    a, b = np.moveaxis(comparisons.difference.reshape(shape), 1, 0)
    sure, truly = np.moveaxis(comparisons.pvalues.reshape(shape) < alpha, 1, 0)
    smaller = np.minimum(np.abs(a), np.abs(b))
    opposite = (a * b < 0) & (smaller > _averages.NO_DIFFERENCE)
    return np.select(
        [sure & truly & opposite, sure & ~truly, ~sure & truly, ~sure & opposite],
        list(CHANGES),
        default="",
    )


@dataclass(frozen=True, eq=False, repr=False)
class OfficialVsExact(_segmented.SegmentedResult):
    """Systems by trec_eval's order of ties and by exact means; prints as tables.

    Each measure has a table of the systems and one of the pairs. With more than ten
    pairs, only those whose conclusion changes are shown. `to_pandas` has all.

    Attributes
    ----------
    systems, measures : tuple of str
        Names of the systems, and canonical names of the measures.
    tied_documents : ndarray of shape (n_systems,)
        Share of the retrieved documents that tie with another one of their query.
    official, exact, worst, best : ndarray of shape (n_systems, n_measures)
        Averages over queries: with ties broken by descending document id, over all
        orders of ties, in the worst order, and in the best one.
    tau_b, tau_ap : ndarray of shape (n_measures,)
        Rank correlation of the orders of systems by official and by exact means. NaN
        where undefined.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    change : ndarray of shape (n_measures, n_pairs), str
        What the exact means change: "turned" (both differences are significant, in
        opposite directions), "lost" (only the official one is significant), "new"
        (only the exact one is), "sign" (neither is, and the signs differ), or "".
    comparisons : SystemComparison
        The comparison by each measure, with ``ties`` "official" and "expected".
    share, share_error : ndarray of shape (n_measures, n_pairs)
        Share of the orders of ties in which p < alpha, and its standard error.
    smallest, largest : ndarray of shape (n_measures, n_pairs)
        Smallest and largest p-value found among these orders.
    alpha : float
        Significance level.

    See Also
    --------
    official_vs_exact : The function that returns this result.
    tieaware_sklearn.plots.OfficialVsExactDisplay : Draws it.

    Examples
    --------
    >>> from tieaware_sklearn import official_vs_exact
    >>> result = official_vs_exact(
    ...     [1, 0, 1, 0], {"a": [1, 1, 1, 1], "b": [2, 1, 1, 2]}, ["4", "3", "2", "1"],
    ...     qid=[1, 1, 2, 2], measures="P@1")
    >>> result.official[:, 0].tolist(), result.exact[:, 0].tolist()
    ([1.0, 0.5], [0.5, 0.5])
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    tied_documents: FloatArray
    official: FloatArray
    exact: FloatArray
    worst: FloatArray
    best: FloatArray
    tau_b: FloatArray
    tau_ap: FloatArray
    pairs: IntArray
    change: NDArray[np.str_]
    comparisons: SystemComparison
    share: FloatArray
    share_error: FloatArray
    smallest: FloatArray
    largest: FloatArray
    alpha: float

    def _columns(self) -> dict[str, Any]:
        of_both = self.comparisons._columns()
        exact = of_both["ties"] == EXACT
        names = of_both["measure"], of_both["a"], of_both["b"]
        measure, a, b = (column[exact].tolist() for column in names)
        columns: dict[str, Any] = {"measure": measure, "a": a, "b": b}
        for ties, rows in (("official", ~exact), ("exact", exact)):
            for name in ("difference", "pvalue"):
                columns[f"{ties}_{name}"] = of_both[name][rows]
        for name in ("tie_range_low", "tie_range_high"):
            columns[name] = of_both[name][exact]
        for name in (*_OVER_ORDERS, "change"):
            columns[name] = getattr(self, name).ravel()
        return columns

    def averages(self) -> Any:
        """Return the means as a `pandas.DataFrame` by measure and system.

        Returns
        -------
        pandas.DataFrame
            Columns measure, system, tied_documents, official, exact, worst and best.
        """
        pandas = _optional.import_optional("pandas", extra="io", purpose="averages")
        tied = np.tile(self.tied_documents, (len(self.measures), 1))
        values = {name: getattr(self, name).T for name in _MEANS}
        keys = {"measure": self.measures, "system": self.systems}
        return pandas.DataFrame(html.by_cell(keys, {"tied_documents": tied, **values}))

    def _tables(self) -> list[text_tables.Table]:
        tables = []
        for j, change in enumerate(self.change):
            shown = np.flatnonzero((change != "") | (len(change) <= _MOST_PAIRS))
            tables.append(self._system_table(j, [] if len(shown) else [_note(change)]))
            if len(shown):
                tables.append(self._pair_table(j, shown))
        return tables

    def _whole(self) -> list[text_tables.Table]:
        # the legend of a page explains the changes once
        order = _result.best_first(self.comparisons, self.exact[:, 0])
        return [
            replace(table, notes=[]) if table.ranges is None else table.of_rows(order)
            for table in self._tables()
        ]

    def _conclusion(self) -> list[str]:
        told = zip(self.measures, map(_note, self.change), strict=True)
        return [f"{measure}: {text.partition(';')[0]}." for measure, text in told]

    def _system_table(self, j: int, more: list[str]) -> text_tables.Table:
        shown = {name: getattr(self, name)[:, j] for name in _MEANS}
        if not np.isnan(self.tau_b[j]):
            agreement = "order of systems, official against exact: tau-b "
            agreement += f"{self.tau_b[j]:.2f}, tau-AP {self.tau_ap[j]:.2f}"
            more = [agreement, *more]
        return text_tables.Table.of(
            (self.measures[j], self.systems),
            ("tied", self.tied_documents, _percent),
            *shown.items(),
            notes=more,
            ranges=text_tables.Ranges(shown["worst"], shown["exact"], shown["best"]),
            terms=_TERMS,
            title=f"Systems by {self.measures[j]}",
        )

    def _pair_table(self, j: int, shown: IntArray) -> text_tables.Table:
        official, exact = list(self.comparisons)[2 * j : 2 * j + 2]
        first, second = np.array(self.systems, dtype=object)[self.pairs[shown].T]
        level = f"p < {self.alpha:g}"
        return text_tables.Table.of(
            ("A", first),
            ("B", second),
            ("official", official.difference[shown]),
            ("pvalue", official.pvalues[shown], words.probability),
            ("exact", exact.difference[shown]),
            ("pvalue exact", exact.pvalues[shown], words.probability),
            (level, self.share[j, shown], _percent),
            ("tie range", exact.tie_range[shown]),
            ("change", self.change[j, shown].tolist()),
            left=2,
            drop=[7],
            notes=[_note(self.change[j])],
            terms=_TERMS
            | {level: "share of the orders of ties with it"}
            | {kind: text for kind, text in CHANGES.items() if kind in self.change},
            title=f"Pairs of systems by {self.measures[j]}",
        )


def _note(change: NDArray[np.str_]) -> str:
    """Say how many conclusions change, and explain the kinds of changes."""
    count = int((change != "").sum())
    kinds = [f"{name}: {text}" for name, text in CHANGES.items() if name in change]
    return "; ".join([f"{count} of {len(change)} conclusions change", *kinds])


_TERMS = {
    "tied": "share of the documents that tie with another one of their query",
    "official": "by trec_eval's order of ties: descending document id",
    "exact": "mean over all orders of ties",
    "pvalue": "p-value of the official difference",
    "pvalue exact": "p-value of the exact difference",
}


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f} %"


def official_vs_exact(
    y_true: ArrayLike,
    y_score: Any,
    docno: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = ("map", "ndcg_cut_10", "P_10"),
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alpha: float = 0.05,
    n_orders: int = 1000,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    segment: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> OfficialVsExact:
    """Compare systems by trec_eval's rule for ties and by exact means.

    trec_eval ranks documents with equal scores by descending document id. This function
    shows how means, the order of systems and significant differences depend on that.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged. In a matrix,
        each row is a query.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems)
        Scores of each system, as in `compare_systems`. They are compared as 32-bit
        floats under both rules, as trec_eval does.
    docno : array-like of the shape of y_true
        Document ids, strings or bytes, compared as bytes. Convert numbers to strings:
        as bytes, "9" comes after "10".
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of matrices holds a document, as in `compare_systems`.
    measures : list of str or Measure, default=("map", "ndcg_cut_10", "P_10")
        Names of measures, or `Measure` objects; see `parse_measure`, which also knows
        trec_eval's names. One name differs: "ndcg" has exponential gains, and
        trec_eval's ndcg is "ndcg(gain=linear)".
    baseline : str or list of str, optional
        Systems with which all others are compared; by default all pairs.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Two-sided test of the differences per query, as in `compare_systems`.
    alpha : float, default=0.05
        Significance level. p-values are not corrected for the number of pairs;
        `compare_systems` does that.
    n_orders : int, default=1000
        Number of orders of ties to draw, as in `pvalues_over_orders`.
    n_resamples, random_state
        As in `pvalues_over_orders`.
    zero_relevance, unjudged
        As in `ranking_score`.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document, as in `compare_systems`.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        Segment of the query of each document, as in `evaluate`. `by_segment` of the
        result has the results on the queries of each segment.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). No result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    OfficialVsExact

    Raises
    ------
    ValueError
        As in `compare_systems`; for fewer than two systems; and for ids that are not
        strings or bytes, missing for a retrieved document, or not one per row.

    Warns
    -----
    UndefinedMetricWarning
        If a measure is undefined for every query of a system.

    See Also
    --------
    compare_systems : The comparison under any treatment of ties.
    pvalues_over_orders : p-values over the orders of ties.
    tieaware_sklearn.plots.OfficialVsExactDisplay : Draws the result.

    Notes
    -----
    Yang, Moffat and Turpin, "How precise does document scoring need to be?", AIRS 2016,
    Figure 2, compare the official values with the mean and the range
    over the orders of ties.

    Examples
    --------
    >>> from tieaware_sklearn import official_vs_exact
    >>> relevance, qid = [1, 0, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2]
    >>> docno = ["d3", "d2", "d1", "d9", "d8", "d7"]
    >>> systems = {"ties": [1, 1, 1, 1, 1, 1], "ranks": [3, 2, 1, 2, 3, 1]}
    >>> result = official_vs_exact(relevance, systems, docno, qid=qid, measures="rr")
    >>> result.official[:, 0], result.exact[:, 0].round(4)
    (array([1.  , 0.75]), array([0.6111, 0.75  ]))
    """
    checks.check_share(alpha, "alpha")
    checks.check_count(n_orders, "n_orders")
    checks.check_flag(progress, "progress")
    drawn = {"n_resamples": n_resamples, "random_state": random_state}
    options = _systems.check_options(test, **drawn, query_weight=query_weight)
    systems = _systems.MeasuredSystems(
        y_true, y_score, qid, _parse.parse_measures(measures),
        zero_relevance, unjudged, n_jobs, query_weight, segment, mask,
    )  # fmt: skip
    names = systems.names
    rule = "y_score must hold at least two systems"
    messages.require(len(names) > 1, rule, *names)
    rules = {OFFICIAL: (_ids(docno, systems), "descending")}
    systems.scores = [exact_numbers.in_32_bits(column) for column in systems.scores]
    systems.rules = _ties.TieRules(rules, len(systems.labels), names)
    baselines = systems.baselines(baseline)
    pairs = _systems.pairs_with(baselines, names)

    def compared(systems: _systems.MeasuredSystems) -> OfficialVsExact:
        values = {one: systems.all_values(ties=one) for one in (OFFICIAL, EXACT)}
        of, weight = (systems.resolved, systems.queries), systems.weight
        comparisons = _systems.compared(names, *of, values, baselines, options, weight)
        how = options, alpha, n_orders, progress
        over = _orders.over_orders(systems, pairs, values[EXACT], *how)
        ranked = map(systems.ranked, systems.scores)
        tied = [score_ties(scores, systems.queries).tied_documents for scores in ranked]
        means = {
            name: _averages.means(values[ties][statistic].swapaxes(0, 1), weight).T
            for name, (ties, statistic) in _MEANS.items()
        }
        up = comparisons.greater_is_better
        orders = zip(means["exact"].T, means["official"].T, up, strict=True)
        taus = [_correlation.order_agreement(*one) for one in orders]
        tau_b, tau_ap = np.transpose(taus)
        return OfficialVsExact(
            systems=names,
            measures=comparisons.measures,
            tied_documents=np.array(tied),
            **means,
            tau_b=tau_b,
            tau_ap=tau_ap,
            pairs=pairs,
            change=changes_of(comparisons, alpha),
            comparisons=comparisons,
            **{name: over[name] for name in _OVER_ORDERS},
            alpha=float(alpha),
        )

    return systems.with_segments(compared)


def _ids(docno: Any, systems: _systems.MeasuredSystems) -> Any:
    """Check document ids, of which trec_eval compares the bytes."""
    scores, prepared = systems.scores, systems.prepared
    if prepared.lists is not None:
        docno = prepared.lists.documents(docno, "docno")
    given = exact_numbers.none_for_masked(docno)
    array = feature_matrix.array_of(given)
    rule = f"docno must be 1-dimensional, got shape {array.shape}"
    messages.require(array.ndim == 1, rule)
    checks.check_length(array, len(scores[0]), "docno")
    values = given if isinstance(given, list) else array.tolist()
    retrieved = np.any([checks.is_retrieved(column) for column in scores], axis=0)
    for row, one in enumerate(values):
        if isinstance(one, (str, bytes)):
            continue
        rule = "hold strings, which are compared as bytes"
        if exact_numbers.is_missing(one):
            if not retrieved[row]:
                continue
            rule = "not be missing where a document is retrieved"
        got = f"got {messages.show(one)} in {prepared.place(row)}"
        raise ValueError(f"docno must {rule}, {got}")
    return given
