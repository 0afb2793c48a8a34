"""Neighbours that two rankings with ties share among their first k documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._display import html, words
from .._engine import checks, exact_numbers, lists, messages, segments
from .._typing import Array, BoolArray, FloatArray, IntArray
from ..evaluation import Summary, _interval_warnings
from ..statistics.averages import stds_of_means, weighted_mean
from ..statistics.moments import QueryMoments
from . import _shared, _text

#: Maximum number of documents of the reference that are compared at a time.
_CELLS = 1 << 16
#: Largest id. A key has 64 bits. Three bits record the ranking, and whether a document
#: is near or sure.
_LARGEST = 2**60 - 1


@dataclass(frozen=True, eq=False, repr=False)
class TopKOverlap(html.Result):
    """Overlap of the first k documents of two rankings, printed as a table.

    Attributes
    ----------
    k : int
        Number of documents at the top of each ranking that are compared.
    reference_ties : {"orders", "interchangeable"}
        How tied documents of the reference count, as given to `top_k_overlap`.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, or the indices of the rows.
    expected, worst, best, std : ndarray of shape (n_queries,)
        Exact mean, smallest value, largest value and standard deviation of the overlap
        over the orders of ties. The four values are NaN for a query for which the
        reference retrieves nothing.
    is_open : ndarray of shape (n_queries, 2), bool
        Whether the list of the reference (first column) and the list of the other
        ranking (second column) end inside the tie of the k-th document, to which
        further documents may belong. The list of the reference may also end within the
        tolerance. Without `ids`, all entries are False.

    See Also
    --------
    top_k_overlap : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import top_k_overlap
    >>> overlap = top_k_overlap([[4, 3, 2, 1]], [[2, 1, 1, 1]], k=2)
    >>> overlap.expected, overlap.worst, overlap.best
    (array([0.66666667]), array([0.5]), array([1.]))
    """

    k: int
    reference_ties: str
    qid: Array
    expected: FloatArray
    worst: FloatArray
    best: FloatArray
    std: FloatArray
    is_open: BoolArray

    def summary(self) -> Summary:
        """Average over the queries for which the reference retrieves a document.

        Returns
        -------
        Summary
            One row, whose ``overlap`` is a name such as ``"overlap@10"``, with these
            columns:

            - ``mean`` is the average of the expected values. ``worst`` and ``best`` are
              averages of the attributes with these names.
            - ``tie_std`` is the standard deviation, over the orders of ties, of the
              average over queries.
            - ``interval_low`` and ``interval_high`` are the ends of the 95% interval of
              the mean, as in `RankingReport.summary`, cut off at 0 and 1.
            - ``n_queries`` is the number of queries in the averages.

        Warns
        -----
        UserWarning
            As in `RankingReport.summary`.
        """
        name = f"overlap@{self.k}"
        _interval_warnings.warn_of_intervals([(name, self.expected)])
        moments = QueryMoments.from_values(self.expected[:, None])
        interval = moments.interval(bounds=(0.0, 1.0))
        interval = np.clip(interval, 0.0, 1.0)
        columns: dict[str, Array] = {"overlap": np.array([name])}
        columns["mean"] = np.array([weighted_mean(self.expected)])
        columns["worst"] = np.array([weighted_mean(self.worst)])
        columns["best"] = np.array([weighted_mean(self.best)])
        columns["tie_std"] = stds_of_means(self.std[:, None])
        columns["interval_low"], columns["interval_high"] = interval.T
        columns["n_queries"] = moments.count.astype(np.int64)
        return Summary(columns, ("overlap",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        columns = {"qid": self.qid}
        for name in ("expected", "worst", "best", "std"):
            columns[name] = getattr(self, name)
        columns["reference_is_open"] = self.is_open[:, 0]
        columns["is_open"] = self.is_open[:, 1]
        return columns


def top_k_overlap(
    reference: ArrayLike,
    scores: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    ids: tuple[ArrayLike, ArrayLike] | None = None,
    k: int = 10,
    metric: str = "similarity",
    reference_ties: str = "orders",
    tolerance: float = 0.0,
    relative: bool = False,
) -> TopKOverlap:
    """Compute the overlap of the first k documents of two rankings.

    The overlap is the share of the first k documents that both rankings have in common.
    For an approximate or quantised index, the overlap with the exact neighbours is the
    recall at k. Both rankings may have ties.

    Parameters
    ----------
    reference, scores : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the same documents by the two rankings, such as similarities in full
        precision and similarities of quantised codes. A score of -inf (for distances,
        inf) means that a document is not retrieved. With `ids`, these arrays contain
        the scores of the documents that each index returns, and have shape (n_queries,
        depth). The depth may differ between the indexes.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all documents of a column belong to one
        query. Matrices accept no `qid`: each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices contains a document. By default, cells that
        are missing in both matrices are padding.
    ids : pair of array-like of shape (n_queries, depth) of int, optional
        Ids of the documents that the reference and the other index return. Entries of
        -1 are empty, as in Faiss. A document that an index does not return counts as
        not retrieved. With `ids`, `qid` and `mask` must be None.
    k : int, default=10
        Number of documents at the top of each ranking to compare.
    metric : {"similarity", "distance"}, default="similarity"
        Whether high values ("similarity") or low values ("distance") mean that a
        document is near.
    reference_ties : {"orders", "interchangeable"}, default="orders"
        With "orders", only k documents of the reference count as correct, and each
        order of the ties of the reference is equally likely. With "interchangeable",
        every document that is at least as near as the k-th document of the reference
        counts as correct.
    tolerance : float, default=0.0
        With "interchangeable", a document also counts as correct if its score in the
        reference is worse than the score of the k-th document by at most this
        tolerance. With a tolerance above 0, scores are compared as 64-bit floats.
    relative : bool, default=False
        Whether `tolerance` is a share of the absolute value of the score of the k-th
        document, and not a difference of scores.

    Returns
    -------
    TopKOverlap

    Raises
    ------
    ValueError
        If a score is NaN (except in padding), or infinite in the direction of near
        documents, if arrays have different shapes, if query ids are missing, if `k` is
        not an integer >= 1, if an option is unknown, or if `tolerance` is negative or
        set without "interchangeable". With `ids`, an error is also raised if `qid` or
        `mask` is given, if `ids` is not a pair of matrices of integers from -1 to
        2^60 - 1, if there are fewer than k columns, or if an index returns a document
        twice for one query.

    Warns
    -----
    UserWarning
        With `ids`, if a list ends inside the tie of the k-th document, or within the
        tolerance, because documents beyond the end may belong to the tie or be within
        the tolerance. Ask the index for more than k documents. Without a tolerance, no
        warning is issued for a list of exactly k documents if the last document does
        not tie with another document of the list, although the next document could tie.
        Without `ids`, a warning is issued if no query has more than k documents.

    See Also
    --------
    rank_biased_overlap : Computes the overlap at all depths, with the largest weights
        for the first depths.
    tieaware_sklearn.evaluate : Evaluates a ranking by labels.

    Notes
    -----
    The denominator is k, or the number of documents that the reference retrieves if
    this number is lower. For the reference, let C be the set of the documents that are
    among the first k in every order of ties. Let T be the tie that k cuts, with n
    documents, a of which are among the first k. A document of T is among the first k
    with probability α = a/n, and two documents of T are both among the first k with
    probability α₂ = a(a - 1)/(n(n - 1)). Let C', T', β and β₂ be the corresponding
    symbols for the other ranking. Let CC' be the number of documents in both C and C',
    and TC', CT' and TT' likewise. The number of shared documents has the mean
    CC' + α TC' + β CT' + αβ TT'. The variance of the number of shared documents is::

        TC' α(1 - α) + TC'(TC' - 1)(α₂ - α²) + CT' β(1 - β) + CT'(CT' - 1)(β₂ - β²)
        + TT' αβ(1 - αβ) + TT'(TT' - 1)(α₂β₂ - α²β²)
        + 2 TC' TT' β(α₂ - α²) + 2 CT' TT' α(β₂ - β²)

    The orders of the two rankings are independent, and so are the orders of different
    queries. An index that breaks ties by the position in the database uses one order
    for all queries. For a random order of the database, the expected overlap of this
    index is the same, but the standard deviation of the mean may exceed ``tie_std``,
    and the mean may never reach ``worst`` or ``best``. For "interchangeable", C
    contains the correct documents, and T is empty. The overlap is then the number of
    correct documents among the first k documents of `scores`, divided by the same
    denominator. ann-benchmarks uses this definition for distances, with
    ``tolerance=1e-3``.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import top_k_overlap
    >>> exact, codes = [[0.9, 0.8, 0.7, 0.6]], [[3, 2, 2, 2]]
    >>> print(top_k_overlap(exact, codes, k=2))
                 mean   worst    best  tie_std  95% interval  queries
    -----------------------------------------------------------------
    overlap@2  0.6667  0.5000  1.0000   0.2357        [-, -]        1
    """
    checks.check_count(k, "k")
    checks.check_choice(metric, "metric", ("similarity", "distance"))
    checks.check_choice(reference_ties, "reference_ties", ("orders", "interchangeable"))
    checks.check_flag(relative, "relative")
    if not checks.is_number(tolerance, least=0):
        raise ValueError(f"tolerance must be a number >= 0, got {tolerance!r}")
    if tolerance and reference_ties == "orders":
        raise ValueError(
            "tolerance must be 0 unless reference_ties='interchangeable', got "
            f"{tolerance!r}"
        )
    if ids is None:
        query_ids, sides = _of_documents(reference, scores, qid, mask, metric)
        longest = sides[0].sizes.max()
        if longest <= k:
            words.warn(
                f"k must be below the number of documents, got {k} for at most "
                f"{longest} documents. If columns are ranks of search results, pass ids"
            )
    elif qid is not None or mask is not None:
        raise ValueError(
            "qid and mask must be None with ids, because each row of ids is a query"
        )
    else:
        checks.check_same_order({"reference": reference, "scores": scores})
        sides = _of_lists(reference, scores, ids, k, metric)
        query_ids = np.arange(len(sides[0].sizes))
    equality = None
    if reference_ties == "interchangeable":
        equality = (tolerance, relative, metric)
    sizes = sides[0].sizes
    n_queries = len(sizes)
    statistics = np.empty((4, n_queries))
    is_open = np.empty((n_queries, 2), dtype=bool)
    for size in np.unique(sizes).tolist():
        same_size = np.flatnonzero(sizes == size)
        n_batches = math.ceil(len(same_size) * size / _CELLS)
        for queries in np.array_split(same_size, n_batches):
            first = _first_k(sides[0], queries, k, equality)
            second = _first_k(sides[1], queries, k)
            shared = _shared_documents(first, second, queries)
            least, most = shared.extremes(first.cut, second.cut)
            # Rounding could take the mean past its bounds, and the variance below 0.
            mean = np.clip(shared.mean(first.cut, second.cut), least, most)
            variance = np.maximum(shared.variance(first.cut, second.cut), 0.0)
            deviation = np.where(least == most, 0.0, np.sqrt(variance))
            numbers = np.array([mean, least, most, deviation])
            # If the reference retrieves nothing, 0 / 0 is NaN.
            with np.errstate(invalid="ignore"):
                statistics[:, queries] = numbers / first.n
            is_open[queries, 0] = first.is_open
            is_open[queries, 1] = second.is_open
    for name, column in zip(("reference", "scores"), is_open.T, strict=True):
        n_open = column.sum()
        if n_open:
            words.warn(
                f"{n_open} of {n_queries} lists of {name} end within the tie at rank "
                f"k={k}, so more documents may tie: retrieve more than k documents"
            )
    expected, worst, best, std = statistics
    return TopKOverlap(
        int(k), reference_ties, query_ids, expected, worst, best, std, is_open
    )


class _Neighbours(NamedTuple):
    """Documents of a ranking, sorted by query.

    Attributes
    ----------
    sizes : ndarray of shape (n_queries,)
        Number of documents of each query.
    first : ndarray of shape (n_queries,)
        Place of the first document of each query.
    score : ndarray of shape (n_documents,)
        Scores. The document with the highest score is the nearest, and -inf means that
        a document is not retrieved.
    ids : ndarray of shape (n_documents,) or None
        Ids of the documents, or None if both rankings have the same documents.
    is_full : ndarray of shape (n_queries,), bool
        Whether further documents may follow the end of the list.
    """

    sizes: IntArray
    first: IntArray
    score: Array
    ids: IntArray | None
    is_full: BoolArray


def _of_documents(
    reference: ArrayLike, scores: ArrayLike, qid: Any, mask: Any, metric: str
) -> tuple[Array, list[_Neighbours]]:
    """Return query ids and the two rankings, from columns or matrices."""
    rankings = {"reference": reference, "scores": scores}
    checks.check_same_order({**rankings, "qid": qid})
    cells = lists.Lists.from_matrices(rankings, qid, mask)
    if cells is None:
        place = messages.in_row
        n_rows = len(exact_numbers.numbers_of(reference, "reference"))
        queries = checks.check_qid(qid, n_rows=n_rows)
    else:
        place = cells.place
        queries = cells.queries
    first = queries.offsets[:-1]
    is_full = np.zeros(queries.n_queries, dtype=bool)
    sides = []
    for name, column in rankings.items():
        if cells is not None:
            column = cells.documents(column, name)
        score = _nearest_highest(column, name, metric, place)
        checks.check_length(score, queries.n_rows, name)
        score = queries.arrange(score)
        sides.append(_Neighbours(queries.sizes, first, score, None, is_full))
    return queries.qid, sides


def _of_lists(
    reference: Any, scores: Any, ids: Any, k: int, metric: str
) -> list[_Neighbours]:
    """Return the rankings of the documents that two indexes return."""
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:
        raise ValueError(
            f"ids must be a pair (ids of reference, ids of scores), got {ids!r}"
        )
    sides = []
    rankings = {"reference": reference, "scores": scores}
    for (name, values), side in zip(rankings.items(), ids, strict=True):
        documents = exact_numbers.as_array(side, f"ids of {name}")
        shape = documents.shape
        if len(shape) != 2 or documents.dtype.kind not in "iu":
            raise ValueError(
                f"ids of {name} must be integers of shape (n_queries, depth), got "
                f"shape {shape} and dtype {documents.dtype}"
            )
        depth = shape[1]
        if depth < k:
            raise ValueError(
                f"ids of {name} must have at least k={k} columns, got {depth}"
            )
        if documents.min(initial=0) < -1 or documents.max(initial=0) > _LARGEST:
            raise ValueError(
                f"ids of {name} must be >= -1 and below 2^60, got ids from "
                f"{documents.min()} to {documents.max()}"
            )
        matrix = exact_numbers.as_array(values, name)
        if matrix.shape != shape:
            raise ValueError(
                f"{name} must have the same shape as its ids, {shape}, got "
                f"{matrix.shape}"
            )
        is_document = documents >= 0
        if not is_document.all():
            # An empty place retrieves nothing. The id of an empty place must differ
            # from all other ids.
            unretrieved = np.inf if metric == "distance" else -np.inf
            matrix = np.where(is_document, matrix, unretrieved)
            documents = np.where(is_document, documents, -1 - np.arange(depth))
        place = partial(messages.in_cell, width=depth)
        score = _nearest_highest(matrix.ravel(), name, metric, place)
        sizes = np.full(shape[0], depth)
        first = segments.starts_of(sizes)
        is_full = np.asarray(is_document.all(axis=1))
        sides.append(_Neighbours(sizes, first, score, documents.ravel(), is_full))
    n_rows, n_rows_of_scores = [len(side.sizes) for side in sides]
    if n_rows != n_rows_of_scores:
        raise ValueError(
            "ids of reference and of scores must have the same number of rows, got "
            f"{n_rows} and {n_rows_of_scores}"
        )
    return sides


def _nearest_highest(
    values: Any, name: str, metric: str, place: messages.Place
) -> Array:
    """Return scores that are higher for nearer documents, without loss of order."""
    numbers = exact_numbers.numbers_of(values, name, place)
    if metric == "distance":
        if numbers.dtype.kind != "f":
            # -numbers could overflow. ~numbers reverses the order of all integers.
            return ~numbers
        numbers = -numbers
    return checks.check_scores(numbers, name=name, place=place)


class _FirstK(NamedTuple):
    """The first k documents of queries with the same number of documents.

    Attributes
    ----------
    ids : ndarray of shape (n_queries, n_documents) or None
        As in `_Neighbours`.
    near, sure : ndarray of shape (n_queries, n_documents), bool
        Whether a document may be among the first k, and whether a document surely is
        among the first k.
    n : ndarray of shape (n_queries,)
        Number of documents among the first k: k, or the number of retrieved documents
        if this number is lower.
    cut : Cut
        The tie that k cuts.
    is_open : ndarray of shape (n_queries,), bool
        Whether the list ends inside the tie that the k-th document belongs to.
    """

    ids: IntArray | None
    near: BoolArray
    sure: BoolArray
    n: IntArray
    cut: _shared.Cut
    is_open: BoolArray


def _first_k(
    side: _Neighbours,
    queries: IntArray,
    k: int,
    equality: tuple[float, bool, str] | None = None,
) -> _FirstK:
    """Find the first k documents, and the tie that k cuts.

    `equality` is a tolerance, whether it is relative, and the metric. With `equality`,
    no tie is cut, and all documents that are as near as the k-th document are included.
    """
    size = int(side.sizes[queries[0]])
    cells = side.first[queries, None] + np.arange(size)
    score = side.score[cells]
    ids = None
    if side.ids is not None:
        ids = side.ids[cells]
    place = max(size - k, 0)
    kth = np.partition(score, place, axis=1)[:, place, None]
    retrieved = checks.is_retrieved(score)
    near = retrieved & (score >= kth)
    sure = score > kth
    n_near = near.sum(axis=1)
    n_sure = sure.sum(axis=1)
    n = np.minimum(k, n_near)
    n_tied = n_near - n_sure
    is_full = side.is_full[queries]
    is_open = is_full & (n_tied > 1) & (near == retrieved).all(axis=1)
    is_cut = n < n_near
    if equality is not None:
        tolerance, relative, metric = equality
        is_cut = np.zeros_like(is_cut)
        if tolerance:
            if metric == "distance" and score.dtype.kind != "f":
                # `_nearest_highest` has inverted the bits of integers. The tolerance
                # refers to the distances.
                score = -(~score).astype(float)
                kth = -(~kth).astype(float)
            least = kth.astype(float)
            if relative:
                least -= tolerance * np.abs(least)
            else:
                least -= tolerance
            near = retrieved & (score >= least)
            # Documents beyond the list may also be within the tolerance.
            is_open |= is_full & near.all(axis=1)
    sure |= near & ~is_cut[:, None]
    tied = np.where(is_cut, n_tied, 1)
    fit = np.where(is_cut, n - n_sure, 1)
    return _FirstK(ids, near, sure, n, _shared.Cut(tied, fit), is_open)


def _shared_documents(
    first: _FirstK, second: _FirstK, queries: IntArray
) -> _shared.SharedCounts:
    """Count the documents that are among the first k of both rankings."""
    a = first.near, first.sure
    b = second.near, second.sure
    if first.ids is not None and second.ids is not None:
        # A key contains an id, then a bit for the ranking, then two bits: 1 if the
        # document is near, and 2 if the document is also sure. Sorted keys put the two
        # entries of an id side by side, the entry of the first ranking first.
        a_keys = (first.ids.astype(np.int64) << 3) + first.near + first.sure
        b_keys = (second.ids.astype(np.int64) << 3) + 4 + second.near + second.sure
        key = np.sort(np.hstack([a_keys, b_keys]), axis=1)
        # The difference is below 8 for equal ids, and below 4 for equal ids in the same
        # ranking.
        difference = (key[:, 1:] ^ key[:, :-1]).view(np.uint64)
        if (difference < 4).any():
            query, column = np.argwhere(difference < 4)[0].tolist()
            repeated = key[query, column]
            name = "scores" if repeated & 4 else "reference"
            raise ValueError(
                f"ids of {name} must contain a document at most once in a row, got "
                f"{repeated >> 3} twice in row {queries[query]}: replace the farther "
                "copy by -1"
            )
        is_shared = difference < 8
        state = key.astype(np.int8) & 3
        near = state > 0
        sure = state > 1
        a = is_shared & near[:, :-1], is_shared & sure[:, :-1]
        b = near[:, 1:], sure[:, 1:]

    def count(a_chosen: BoolArray, b_chosen: BoolArray) -> IntArray:
        return (a_chosen & b_chosen).sum(axis=1)

    return _shared.SharedCounts.from_bounds(count, a, b)
