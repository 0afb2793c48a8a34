"""Diversity and novelty of rankings of documents with a label for each subtopic."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display import html, text_tables, words
from .._engine import checks, exact_numbers, lists, messages, segments
from .._engine.segments import FloatArray, IntArray
from ..measures import SubtopicMeasure, _parse, _subtopics, parse_subtopic_measure
from . import _averages, _blocks, _intervals, _prepared, _resolved


def ideal_scores(
    relevant: NDArray[np.bool_],
    queries: checks.Queries,
    weights: FloatArray,
    keep: float,
    depth: int | None,
) -> FloatArray:
    """Scores that rank the documents of each query in the ideal order.

    Parameters
    ----------
    relevant : ndarray of shape (n_rows, n_subtopics)
        Which documents are relevant to which subtopics, query by query.
    queries : Queries
    weights : ndarray of shape (n_queries, n_subtopics)
    keep : float
        What a subtopic still gains with each document that is relevant to it.
    depth : int, optional
        Documents of each query that are ranked; others are not retrieved, and so are
        those without a gain.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    scores = np.full(len(relevant), -np.inf)
    rows = np.flatnonzero(relevant.any(axis=1))
    # documents relevant to the same subtopics are of one kind
    bits, kind = np.unique(
        np.packbits(relevant[rows], axis=1), axis=0, return_inverse=True
    )
    kind = kind.reshape(-1)
    subtopics = [
        np.flatnonzero(row).tolist()
        for row in np.unpackbits(bits, axis=1, count=relevant.shape[1])
    ]
    query = queries.codes[rows]
    order = np.lexsort((kind, query))
    rows, kind, query = rows[order], kind[order], query[order]
    starts = np.flatnonzero(segments.begins(query) | segments.begins(kind))
    # the kinds of documents of each query
    ends = np.searchsorted(query[starts], np.arange(queries.n_queries + 1)).tolist()
    runs = [*pairwise([*starts.tolist(), len(rows)])]
    of_run = [subtopics[kind] for kind in kind[starts].tolist()]
    chosen: list[int] = []
    ranks: list[int] = []
    for (first, stop), left in zip(pairwise(ends), weights.tolist(), strict=True):
        ranked = _greedy(of_run[first:stop], runs[first:stop], left, keep, depth)
        chosen += ranked
        ranks += range(len(ranked))
    scores[rows[chosen]] = -np.array(ranks, dtype=np.float64)
    return scores


def _greedy(
    subtopics: Sequence[Sequence[int]],
    runs: Sequence[tuple[int, int]],
    left: list[float],
    keep: float,
    limit: int | None,
) -> list[int]:
    """Order documents greedily by their gain after those before them.

    They come in kinds, each a run of documents about the same subtopics. Of equal
    gains that of the last kind. Gains only fall, so that those known from earlier
    steps are bounds: a kind whose gain is still the largest is the one.
    """
    following = [first for first, _ in runs]

    def gain(kind: int) -> float:
        # rounded once, so that gains do not depend on the order of subtopics
        return math.fsum(left[subtopic] for subtopic in subtopics[kind])

    heap = [(-gain(kind), -kind) for kind in range(len(subtopics))]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) != limit:
        known, kind = -heap[0][0], -heap[0][1]
        now = gain(kind)
        if now == 0 or following[kind] == runs[kind][1]:
            heapq.heappop(heap)
        elif now < known:
            heapq.heapreplace(heap, (-now, -kind))
        else:
            chosen.append(following[kind])
            following[kind] += 1
            for subtopic in subtopics[kind]:
                left[subtopic] *= keep
    return chosen


_DEFAULTS = ("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")


@dataclass(frozen=True, eq=False, repr=False)
class SubtopicReport(html.Result):
    """Diversity and novelty of a ranking for each query; prints as a table.

    The table has the mean over queries with its 95% t interval.

    Attributes
    ----------
    measures : tuple of str
        Canonical names, such as ``"alpha_nDCG@20"``.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected : ndarray of shape (n_queries, n_measures)
        Exact mean over the orders of tied documents. NaN where a query is skipped.
    chance : ndarray of shape (n_queries, n_measures)
        Expected value if all documents of the query are retrieved and tie.
    n_subtopics : ndarray of shape (n_queries, n_measures), int
        Number of subtopics that count: those with a relevant document.
    n_undefined : ndarray of shape (n_measures,), int
        Number of queries where the measure is undefined.
    maximum : ndarray of shape (n_measures,)
        Largest value that each measure can have: infinite for sums, and 1 for measures
        that are divided by a greedy ideal, which few values exceed. Intervals stay
        below it, or below the largest value where that is larger.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages.

    See Also
    --------
    evaluate_subtopics : The function that returns this report.
    RankingReport : The same for documents with one label each.

    Examples
    --------
    >>> from tieaware_sklearn import evaluate_subtopics
    >>> report = evaluate_subtopics([[1, 0], [0, 1], [0, 0]], [2, 1, 1],
    ...                             measures="StRecall@2")
    >>> report.expected, report.chance.round(4), report.n_subtopics
    (array([[0.75]]), array([[0.6667]]), array([[2]]))
    """

    measures: tuple[str, ...]
    qid: NDArray[Any]
    expected: FloatArray
    chance: FloatArray
    n_subtopics: IntArray
    n_undefined: IntArray
    maximum: FloatArray
    query_weight: FloatArray | None = None

    @property
    def mean(self) -> FloatArray:
        """Mean over queries of the expected values, of shape (n_measures,)."""
        return _averages.means(self.expected, self.query_weight)

    @property
    def interval(self) -> FloatArray:
        """95% t interval of the mean over queries, of shape (n_measures, 2)."""
        bounds = np.stack([np.zeros_like(self.maximum), self.maximum], axis=-1)
        moments = _intervals.QueryMoments.of(self.expected, self.query_weight)
        interval = moments.interval(bounds=bounds)
        _intervals.warn_of_intervals(zip(self.measures, self.expected.T, strict=True))
        most = np.fmax(self.maximum, np.fmax.reduce(self.expected))
        return np.clip(interval, 0.0, most[:, None])

    def _columns(self) -> dict[str, Any]:
        names = ("expected", "chance", "n_subtopics")
        values = {name: getattr(self, name) for name in names}
        keys = {"qid": self.qid, "measure": self.measures}
        return html.by_cell(keys, values)

    def _tables(self) -> list[text_tables.Table]:
        columns: list[tuple[str, Any]] = [
            ("measure", self.measures),
            ("mean", self.mean),
            ("chance", _averages.means(self.chance, self.query_weight)),
            ("95% interval", self.interval),
        ]
        counts = (~np.isnan(self.expected)).sum(axis=0)
        notes = []
        if len(set(counts.tolist())) > 1:
            columns.append(("queries", counts))
        else:
            notes = [words.counted(counts[0], "query", "queries")]
        return [text_tables.Table.of(*columns, notes=notes)]


def evaluate_subtopics(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measures: str | SubtopicMeasure | Iterable[str | SubtopicMeasure] = _DEFAULTS,
    subtopic_weight: ArrayLike | None = None,
    zero_relevance: float | str = 0.0,
    query_weight: ArrayLike | None = None,
    convention: str | None = None,
) -> SubtopicReport:
    """Evaluate how well a ranking covers the subtopics of queries, exactly under ties.

    Parameters
    ----------
    y_true : array-like of shape (n_documents, n_subtopics) or \
(n_queries, n_documents, n_subtopics)
        Labels of each document for each subtopic, >= 0. Column j is the j-th subtopic
        of each query. The same column of two queries has nothing in common. NaN means
        unjudged, which counts as not relevant. Only subtopics with a relevant document
        count, so queries may have fewer subtopics than there are columns.
    y_score : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores, as in `ranking_score`. Equal scores tie.
    qid : array-like of shape (n_documents,), optional
        Query of each document, as in `ranking_score`.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices holds a document. By default, a cell is
        padding if its score is missing, and its label for every subtopic.
    measures : list of str or SubtopicMeasure, \
default=("alpha_nDCG@20", "ERR_IA@20", "StRecall@20")
        Names of measures, or `SubtopicMeasure` objects; see `parse_subtopic_measure`.
    subtopic_weight : array-like of shape (n_subtopics,), (n_documents, n_subtopics) \
or (n_queries, n_subtopics), optional
        Weight >= 0 of each subtopic, such as the probability that a user means it: one
        row for all queries, or a row for each document, constant within a query. For
        matrices, a row for each query.
        Subtopics of weight 0 do not count. Weights are divided by their sum over the
        subtopics that count. By default, all weights are equal.
    zero_relevance : float, "skip" or "raise", default=0.0
        Value for queries without a relevant document, where all measures but alpha_DCG
        are undefined. "skip" leaves them out of the average, "raise" raises an error.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document in averages, as in `ranking_score`.
    convention : {None, "ndeval"}, default=None
        "ndeval" takes the definitions of ndeval, the program of the TREC Web track, and
        of ir-measures, which calls it. Two measures differ: ERR_IA and alpha_DCG are
        divided by their value for a list in which every document is relevant to every
        subtopic. Their labels are binary, and ERR_IA has a probability of 0.5 to stop
        at a relevant document.

    Returns
    -------
    SubtopicReport

    Raises
    ------
    ValueError
        For input that breaks a rule above, an unknown measure, and a measure that
        ndeval does not have with ``convention="ndeval"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is skipped, so that the average is NaN.

    See Also
    --------
    evaluate : Documents with one label each.
    tieaware_sklearn.datasets.load_subtopics : Labels by subtopic from TREC files.
    parse_subtopic_measure : Names of measures.

    Notes
    -----
    Each measure is a sum over subtopics, so its mean over the orders of ties is the sum
    of their means. Each subtopic gives a ranking of its own, with the mean of McSherry
    and Najork (ECIR 2008). Best values, worst values and standard deviations are not
    reported. All subtopics of a query share one order of tied documents, so these
    values do not follow from single subtopics. Finding the best order is NP-hard.

    Examples
    --------
    The first two of three documents tie. The first is about both subtopics:

    >>> from tieaware_sklearn import evaluate_subtopics
    >>> labels = [[1, 1], [1, 0], [0, 0]]
    >>> measures = ["alpha_nDCG@2", "P_IA@1"]
    >>> print(evaluate_subtopics(labels, [2, 2, 1], measures=measures))
    measure         mean  chance  95% interval
    ------------------------------------------
    alpha_nDCG@2  0.9203  0.6589        [-, -]
    P_IA@1        0.7500  0.5000        [-, -]
    1 query
    """
    resolved: list[SubtopicMeasure] = _parse.parse_measures(
        measures, parse=parse_subtopic_measure
    )
    _resolved.check_zero_relevance(zero_relevance)
    checks.check_choice(convention, "convention", (None, "ndeval"))
    measured = resolved
    if convention == "ndeval":
        measured = list(map(_subtopics.as_ndeval, resolved))
    cells = lists.Lists.of({"y_score": y_score, "y_true": y_true}, qid, mask)
    place: messages.Place = messages.in_row
    if cells is not None:
        shape, place = lists.matrix_of(y_true, "y_true").shape, cells.place
        rule = "y_true must have shape (n_queries, n_documents, n_subtopics) where "
        messages.require(len(shape) == 3, f"{rule}y_score is a matrix", shape)
        y_true = cells.documents(y_true, "y_true", several=True)
        y_score = cells.documents(y_score, "y_score")
    labels = _matrix(y_true, "y_true", place)
    labels = np.where(np.isnan(labels), checks.UNJUDGED_LABEL, labels)
    queries = weighted = checks.check_qid(qid, n_rows=len(labels))
    if cells is not None:
        queries, weighted = cells.queries, cells.rows
    scores = checks.check_scores(y_score, n_rows=len(labels), place=place)
    weight = checks.check_query_weight(query_weight, weighted)
    weights = _weights(subtopic_weight, weighted, labels.shape[1])
    rankings = _SubtopicLists(queries.arrange(labels), queries, weights)

    n_subtopics, total_weight = rankings.counted(measured)
    ideals = rankings.ideals(measured)

    def per_query(ranked_by: NDArray[Any]) -> FloatArray:
        values = np.zeros_like(total_weight)
        sums = rankings.sums(measured, ranked_by)
        for j, measure in enumerate(measured):
            column, of = sums[:, j], (total_weight[:, j], n_subtopics[:, j])
            if measure.normalised:
                np.divide(column, ideals[j], out=values[:, j], where=ideals[j] > 0)
            else:
                values[:, j] = measure.of_queries(column, *of)
        return values

    needs = np.array([measure.needs_subtopics for measure in measured], dtype=bool)
    undefined = (n_subtopics == 0) & needs
    expected = per_query(queries.arrange(scores))
    # at the chance level all documents tie, also those that are not retrieved
    chance = per_query(np.zeros(queries.n_rows))
    if undefined.any():
        query, column = np.argwhere(undefined)[0].tolist()
        rule = f"{resolved[column]} is undefined for query {queries.name(query)}: no "
        rule += "document is relevant to any subtopic (zero_relevance=0.0 gives the "
        rule += 'query this value, "skip" leaves it out)'
        messages.require(zero_relevance != "raise", rule)
        value = np.nan if zero_relevance == "skip" else float(zero_relevance)
        expected[undefined] = chance[undefined] = value
    report = SubtopicReport(
        measures=tuple(map(str, resolved)),
        qid=queries.qid.copy(),
        expected=expected,
        chance=chance,
        n_subtopics=n_subtopics,
        n_undefined=undefined.sum(axis=0),
        maximum=np.array([measure.maximum for measure in measured]),
        query_weight=weight,
    )
    _resolved.warn_of_nan(report.measures, report.mean.tolist())
    return report


class _SubtopicLists:
    """A ranked list for each subtopic of each query that any document is about.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_subtopics)
        Of the rows query by query.
    queries : Queries
    weights : ndarray of shape (n_queries, n_subtopics)
    """

    def __init__(
        self, labels: FloatArray, queries: checks.Queries, weights: FloatArray
    ) -> None:
        self._labels = labels
        self._queries = queries
        self._weights = weights
        any_relevant = np.maximum.reduceat(labels, queries.offsets[:-1], axis=0) > 0
        self._query, self._subtopic = np.nonzero(any_relevant & (weights > 0))
        self._list_weights = weights[self._query, self._subtopic][:, None]
        sizes = queries.sizes[self._query]
        self._rows = queries.rows(self._query)
        of_lists = labels[self._rows, np.repeat(self._subtopic, sizes)]
        numbers, offsets = np.arange(len(sizes)), segments.offsets_of(sizes)
        per_list = checks.Queries(numbers, offsets, None)
        self._lists = None
        if len(sizes):
            self._lists = _prepared.Prepared(of_lists, per_list, keep=True)

    def _over_subtopics(self, values: FloatArray) -> FloatArray:
        """Sum over the lists of each query; of shape (n_queries, n_columns)."""
        n_queries, n_subtopics = self._weights.shape
        cells = np.zeros((n_subtopics, n_queries, values.shape[1]))
        cells[self._subtopic, self._query] = values
        return _averages.column_sums(cells)

    def _by_list(
        self, method: str, measures: Sequence[SubtopicMeasure], ranked_by: NDArray[Any]
    ) -> FloatArray:
        """Results of a method of the measures for each list, (n_lists, n_measures)."""
        if self._lists is None:
            return np.zeros((0, len(measures)))

        def compute(ranked: _blocks.RankedBlock) -> FloatArray:
            return np.column_stack(
                [*map(methodcaller(method, ranked.groups), measures)]
            )

        parts = self._lists.each_block(compute, ranked_by[self._rows])
        return self._lists.in_order(parts).astype(np.float64)

    def counted(
        self, measures: Sequence[SubtopicMeasure]
    ) -> tuple[IntArray, FloatArray]:
        """Number and weight of the subtopics that count, by query and measure."""
        counts = self._by_list("counts", measures, np.zeros(self._queries.n_rows))
        number = self._over_subtopics(counts)
        weights = self._over_subtopics(counts * self._list_weights)
        return number.astype(np.int64), weights

    def sums(
        self, measures: Sequence[SubtopicMeasure], ranked_by: NDArray[Any]
    ) -> FloatArray:
        """Sum the weighted values of each measure over subtopics."""
        # the value of a subtopic that does not count is 0
        values = self._by_list("of_lists", measures, ranked_by)
        return self._over_subtopics(values * self._list_weights)

    def ideals(self, measures: Sequence[SubtopicMeasure]) -> dict[int, FloatArray]:
        """Compute ideal sums for the measures that are divided by them.

        They are added up as `sums` are, so that an ideal ranking is worth just 1.
        """
        groups: dict[tuple[float, float], list[int]] = {}
        for j, measure in enumerate(measures):
            if measure.normalised and isinstance(measure, _subtopics.NoveltyMeasure):
                groups.setdefault((measure.alpha, measure.rel), []).append(j)
        # subtopics of weight 0 do not count, and break no tie of gains
        weighs = (self._weights > 0)[self._queries.codes]
        sums: dict[int, FloatArray] = {}
        for (alpha, rel), members in groups.items():
            some = [measures[j] for j in members]
            relevant, depth = (self._labels >= rel) & weighs, _blocks.deepest(some)
            ideal = ideal_scores(
                relevant, self._queries, self._weights, 1 - alpha, depth
            )
            sums.update(zip(members, self.sums(some, ideal).T, strict=True))
        return sums


def _matrix(
    values: Any, name: str, place_of: messages.Place = messages.in_row
) -> FloatArray:
    """Check a matrix of numbers >= 0 or NaN."""
    matrix = lists.matrix_of(values, name)
    rule = f"{name} must have shape (n_documents, n_subtopics), and not be empty, got "
    messages.require(matrix.ndim == 2 and matrix.size, f"{rule}shape {matrix.shape}")
    place = _place_in(matrix.shape[1], place_of)
    numbers = exact_numbers.floats_of(matrix.reshape(-1), name, place)
    checks.reject(numbers < 0, numbers, name, "be >= 0", place)
    checks.reject(np.isinf(numbers), numbers, name, "be finite", place)
    return numbers.reshape(matrix.shape)


def _place_in(
    n_columns: int, place_of: messages.Place = messages.in_row
) -> messages.Place:
    axis = "column" if place_of is messages.in_row else "subtopic"

    def place(cell: int) -> str:
        row, column = divmod(int(cell), n_columns)
        return f"{place_of(row)}, {axis} {column}"

    return place


def _weights(
    subtopic_weight: Any, queries: checks.Queries, n_subtopics: int
) -> FloatArray:
    """Check the weights of subtopics, of shape (n_queries, n_subtopics)."""
    name, shape = "subtopic_weight", (queries.n_rows, n_subtopics)
    if subtopic_weight is None:
        return np.ones((queries.n_queries, n_subtopics))
    given = lists.matrix_of(subtopic_weight, name)
    rule = f"{name} must have shape (n_subtopics,), which is ({n_subtopics},), or a "
    rule += f"row for each of y_true, {shape}, got {given.shape}"
    messages.require(given.shape in ((n_subtopics,), shape), rule)
    weights = _matrix(np.atleast_2d(given), name)
    place = _place_in(n_subtopics)
    checks.reject(np.isnan(weights).ravel(), weights.ravel(), name, "not be NaN", place)
    if given.ndim == 1:
        return np.repeat(_scaled(weights), queries.n_queries, axis=0)
    columns = [
        checks.one_per_query(column, queries, f"column {j} of {name}", str)
        for j, column in enumerate(weights.T)
    ]
    return _scaled(np.column_stack(columns))


def _scaled(weights: FloatArray) -> FloatArray:
    """Scale each row by a power of 2, so that sums neither overflow nor vanish."""
    largest = weights.max(axis=1, keepdims=True)
    scaled = np.ldexp(weights, -np.frexp(largest)[1])
    # positive weights must stay positive
    return np.where(weights > 0, np.maximum(scaled, np.finfo(np.float64).tiny), 0.0)
