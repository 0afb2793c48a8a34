"""The neighbours that two rankings with ties share among their first k."""

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

#: documents of the reference that are looked at together
_CELLS = 1 << 16
#: the largest id that leaves three bits of 64
_LARGEST = 2**60
_PER_QUERY = ("expected", "worst", "best", "std")


@dataclass(frozen=True, eq=False, repr=False)
class TopKOverlap(html.Result):
    """Overlap of the first k of two rankings for each query; prints as a table.

    Attributes
    ----------
    k : int
        Number of neighbours.
    reference_ties : {"orders", "interchangeable"}
        How equal neighbours of the reference count.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance, or the numbers of the rows.
    expected, worst, best, std : ndarray of shape (n_queries,)
        Exact mean, extremes and standard deviation over the orders of ties. NaN for a
        query for which the reference retrieves nothing.
    is_open : ndarray of shape (n_queries, 2), bool
        Lists of the reference and of the other ranking that end inside a tie, which
        documents beyond the list may belong to.

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
        """Average over queries.

        Returns
        -------
        Summary
            One row, ``overlap``, with the averages ``mean`` (of the expected values),
            ``worst`` and ``best``. ``tie_std`` is the standard deviation of the mean
            over the orders of ties, and ``interval`` its 95 % t interval over queries.
            ``n_queries`` are in the average.

        Warns
        -----
        UserWarning
            As in `RankingReport.summary`.
        """
        name = f"overlap@{self.k}"
        _interval_warnings.warn_of_intervals([(name, self.expected)])
        moments = QueryMoments.of(self.expected[:, None])
        ((low, high),) = np.clip(moments.interval(bounds=(0.0, 1.0)), 0.0, 1.0)
        cells = {
            "overlap": name,
            "mean": weighted_mean(self.expected),
            "worst": weighted_mean(self.worst),
            "best": weighted_mean(self.best),
            "tie_std": float(stds_of_means(self.std)),
            "interval_low": low,
            "interval_high": high,
            "n_queries": int(moments.count[0]),
        }
        columns = {key: np.array([cell]) for key, cell in cells.items()}
        return Summary(columns, ("overlap",), {}, _text.table_of_means)

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in _PER_QUERY}
        reference, other = self.is_open.T
        return {
            "qid": self.qid,
            **values,
            "reference_is_open": reference,
            "is_open": other,
        }


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
    """Compute how many of the first k of one ranking are among the first k of another.

    This is the recall at k of an approximate or quantised index, against the exact
    neighbours, with ties on both sides.

    Parameters
    ----------
    reference, scores : array-like of shape (n_documents,) or (n_queries, n_documents)
        Scores of the same documents by the two rankings, such as similarities in full
        precision and of quantised codes. -inf (for distances, inf) means that a
        document is not retrieved. With `ids`, the scores of the documents that each
        index returns, of shape (n_queries, depth) with a depth for each index.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents of a column belong to one query;
        in a matrix, each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of both matrices holds a document.
    ids : pair of array-like of shape (n_queries, depth) of int, optional
        Ids of the documents that the reference and the other index return. Entries of
        -1 are empty, as in Faiss. A document that an index does not return is not
        retrieved.
    k : int, default=10
        Number of neighbours.
    metric : {"similarity", "distance"}, default="similarity"
        Whether high values are near ("similarity") or low ones ("distance").
    reference_ties : {"orders", "interchangeable"}, default="orders"
        With "orders", the first k of the reference are k documents, and each order of
        its ties is equally likely. With "interchangeable", every document that is as
        near as the k-th of the reference is right.
    tolerance : float, default=0.0
        With "interchangeable", how much farther than the k-th a right document may be,
        in units of the reference. With a tolerance, they are compared as 64-bit floats.
    relative : bool, default=False
        Whether `tolerance` is a share of the absolute value of the k-th.

    Returns
    -------
    TopKOverlap

    Raises
    ------
    ValueError
        For scores that are NaN, arrays of different shapes, `k` < 1, an unknown option,
        a `tolerance` that is negative or without "interchangeable", and a document that
        an index returns twice for one query.

    Warns
    -----
    UserWarning
        If a list ends inside the tie that the k-th document belongs to, or within the
        tolerance. Documents beyond the list may belong to it, too: ask the index for
        more than k. A list of just k documents whose last one ties with none of them
        is taken to be whole, for nothing tells what comes next.

    See Also
    --------
    rank_biased_overlap : The overlap at all depths, the first ones weighing most.
    tieaware_sklearn.evaluate : Measures of a ranking against labels.

    Notes
    -----
    The denominator is k, or the number of documents that the reference retrieves if
    these are fewer. Let C be the documents surely among the first k, and T the tie
    that the k-th belongs to if it is cut: a of its n documents are among the first k,
    each with chance α = a/n, and two of them with chance α₂ = a(a - 1)/(n(n - 1)). In
    the other ranking these are C', T', b, β and β₂. The number of shared documents has
    the mean CC' + α TC' + β CT' + αβ TT', where CC' is the number of documents of both
    C and C', and so on. Its variance is::

        TC' α(1 - α) + TC'(TC' - 1)(α₂ - α²) + CT' β(1 - β) + CT'(CT' - 1)(β₂ - β²)
        + TT' αβ(1 - αβ) + TT'(TT' - 1)(α₂β₂ - α²β²)
        + 2 TC' TT' β(α₂ - α²) + 2 CT' TT' α(β₂ - β²)

    Orders of the two rankings are independent, and so are those of different queries.
    An index that breaks ties by the place in the database has one order for all
    queries: the mean is the same, `tie_std` may be larger, and no database need reach
    `worst` or `best`. For "interchangeable", C are the right
    documents, T is empty, and the share is that of the first k of `scores` that are
    right. ann-benchmarks counts so, with distances to the documents returned and
    ``tolerance=1e-3``.

    The mean is also CG@k / k with the chances 0, α and 1 as labels.

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
        if (most := sides[0].sizes.max()) <= k:
            words.warn(
                f"k must leave out a document, got {k} for at most {most}; pass ids= "
                "if columns are places in lists, not documents"
            )
    elif qid is not None or mask is not None:
        raise ValueError("qid and mask must be None with ids, whose rows are queries")
    else:
        checks.check_same_order({"reference": reference, "scores": scores})
        sides = _of_lists(reference, scores, ids, k, metric)
        query_ids = np.arange(len(sides[0].sizes))
    equals = (tolerance, relative, metric) if reference_ties != "orders" else None
    values = np.empty((4, len(query_ids)))
    is_open = np.empty((len(query_ids), 2), dtype=bool)
    sizes = sides[0].sizes
    for size in np.unique(sizes).tolist():
        same_size = np.flatnonzero(sizes == size)
        n_batches = math.ceil(len(same_size) * size / _CELLS)
        for queries in np.array_split(same_size, n_batches):
            first = _FirstK.of(sides[0], queries, k, equals)
            second = _FirstK.of(sides[1], queries, k)
            shared = _shared_documents(first, second, queries)
            least, most = shared.extremes(first.cut, second.cut)
            mean = np.clip(shared.mean(first.cut, second.cut), least, most)
            variance = np.maximum(shared.variance(first.cut, second.cut), 0.0)
            std = np.where(least == most, 0.0, np.sqrt(variance))
            with np.errstate(invalid="ignore"):
                values[:, queries] = np.stack([mean, least, most, std]) / first.n
            is_open[queries] = np.column_stack([first.is_open, second.is_open])
    for name, count in zip(("reference", "scores"), is_open.sum(axis=0), strict=True):
        if count:
            words.warn(
                f"{count} of {len(is_open)} lists of {name} end inside the tie of the "
                f"k-th document, which may go on beyond them: ask the index for more "
                f"than k={k}"
            )
    per_query = dict(zip(_PER_QUERY, values, strict=True))
    return TopKOverlap(int(k), reference_ties, query_ids, is_open=is_open, **per_query)


class _Neighbours(NamedTuple):
    """Documents that a ranking gives, query by query.

    Attributes
    ----------
    sizes : ndarray of shape (n_queries,)
        Documents of each query.
    first : ndarray of shape (n_queries,)
        Where those of each query start.
    score : ndarray of shape (n_documents,)
        Higher is nearer, and -inf not retrieved.
    ids : ndarray of shape (n_documents,) or None
        None where both rankings have the same documents.
    is_full : ndarray of shape (n_queries,), bool
        Whether the list could have gone on.
    """

    sizes: IntArray
    first: IntArray
    score: Array
    ids: IntArray | None
    is_full: BoolArray


def _of_documents(
    reference: ArrayLike, scores: ArrayLike, qid: Any, mask: Any, metric: str
) -> tuple[Array, list[_Neighbours]]:
    """Query ids and the two rankings, from columns or matrices."""
    given = {"reference": reference, "scores": scores}
    checks.check_same_order({**given, "qid": qid})
    cells = lists.Lists.of(given, qid, mask)
    if cells is None:
        place = messages.in_row
        n_rows = len(exact_numbers.numbers_of(reference, "reference"))
        queries = checks.check_qid(qid, n_rows=n_rows)
    else:
        place, queries = cells.place, cells.queries
        given = {name: cells.documents(given[name], name) for name in given}
    first, never = queries.offsets[:-1], np.zeros(queries.n_queries, dtype=bool)
    sides = []
    for name, column in given.items():
        score = _nearest_highest(column, name, metric, place)
        checks.check_length(score, queries.n_rows, name)
        score = queries.arrange(score)
        sides.append(_Neighbours(queries.sizes, first, score, None, never))
    return queries.qid, sides


def _of_lists(
    reference: Any, scores: Any, ids: Any, k: int, metric: str
) -> list[_Neighbours]:
    """The rankings of the documents that two indexes return."""
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:
        raise ValueError(
            f"ids must be a pair, of the reference and of scores, got {ids!r}"
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
        if shape[1] < k:
            raise ValueError(
                f"ids of {name} must have at least k={k} columns, got {shape[1]}"
            )
        if documents.min(initial=0) < -1 or documents.max(initial=0) > _LARGEST:
            raise ValueError(f"ids of {name} must be >= -1 and at most 2^60")
        matrix, there = exact_numbers.as_array(values, name), documents >= 0
        if matrix.shape != shape:
            raise ValueError(
                f"{name} must have the shape of its ids, {shape}, got {matrix.shape}"
            )
        if not there.all():
            # nothing is retrieved at empty places, whose ids must differ, too
            matrix = np.where(
                there, matrix, np.inf if metric == "distance" else -np.inf
            )
            documents = np.where(there, documents, -1 - np.arange(shape[1]))
        place = partial(messages.in_cell, width=shape[1])
        score = _nearest_highest(matrix.ravel(), name, metric, place)
        sizes = np.full(shape[0], shape[1])
        first, is_full = segments.starts_of(sizes), np.asarray(there.all(axis=1))
        sides.append(_Neighbours(sizes, first, score, documents.ravel(), is_full))
    n_rows = [len(side.sizes) for side in sides]
    if n_rows[0] != n_rows[1]:
        raise ValueError(
            f"ids must have as many rows on both sides, got {n_rows[0]} and {n_rows[1]}"
        )
    return sides


def _nearest_highest(
    values: Any, name: str, metric: str, place: messages.Place
) -> Array:
    """Scores for which higher is nearer, in an order that no rounding changes."""
    numbers = exact_numbers.numbers_of(values, name, place)
    if metric == "distance":
        if numbers.dtype.kind != "f":
            return ~numbers
        numbers = -numbers
    return checks.check_scores(numbers, name=name, place=place)


class _FirstK(NamedTuple):
    """Which documents are among the first k, of queries with as many documents.

    Attributes
    ----------
    ids : ndarray of shape (n_queries, n_documents) or None
        As in `_Neighbours`.
    near, sure : ndarray of shape (n_queries, n_documents), bool
        Documents that may be among the first k, and those that are for sure.
    n : ndarray of shape (n_queries,)
        Documents among the first k: k, or as many as are retrieved.
    cut : Cut
        The tie that k cuts.
    is_open : ndarray of shape (n_queries,), bool
        Whether the list ends inside of the tie that the k-th document belongs to.
    """

    ids: IntArray | None
    near: BoolArray
    sure: BoolArray
    n: IntArray
    cut: _shared.Cut
    is_open: BoolArray

    @classmethod
    def of(
        cls,
        side: _Neighbours,
        queries: IntArray,
        k: int,
        equals: tuple[float, bool, str] | None = None,
    ) -> _FirstK:
        """Find the k-th document, with all its `equals` or the tie that is cut there.

        `equals` are a tolerance, whether it is relative, and the metric.
        """
        size = int(side.sizes[queries[0]])
        cells = side.first[queries, None] + np.arange(size)
        score = side.score[cells]
        ids = None if side.ids is None else side.ids[cells]
        place = max(size - k, 0)
        kth = np.partition(score, place, axis=1)[:, place, None]
        retrieved = checks.is_retrieved(score)
        near, sure = retrieved & (score >= kth), score > kth
        n_near, n_sure = near.sum(axis=1), sure.sum(axis=1)
        n, tied = np.minimum(k, n_near), n_near - n_sure
        is_full = side.is_full[queries]
        is_open = is_full & (tied > 1) & (near == retrieved).all(axis=1)
        is_cut = n < n_near
        if equals is not None:
            is_cut, (tolerance, relative, metric) = np.zeros_like(is_cut), equals
            if tolerance:
                if metric == "distance" and score.dtype.kind != "f":
                    score, kth = -(~score).astype(float), -(~kth).astype(float)
                least = kth.astype(float)
                least -= tolerance * (np.abs(least) if relative else 1)
                near = retrieved & (score >= least)
                # the list may go on within the tolerance
                is_open |= is_full & near.all(axis=1)
        sure |= near & ~is_cut[:, None]
        cut = _shared.Cut(*np.where(is_cut, [tied, n - n_sure], 1))
        return cls(ids, near, sure, n, cut, is_open)


def _shared_documents(
    first: _FirstK, second: _FirstK, queries: IntArray
) -> _shared.Shared:
    """Count the documents that both rankings have among their first k."""
    a, b = (first.near, first.sure), (second.near, second.sure)
    if first.ids is not None and second.ids is not None:
        # id, ranking and place as one number: in order, an id of both rankings is
        # beside itself
        keys = [
            (first.ids.astype(np.int64) << 3) + first.near + first.sure,
            (second.ids.astype(np.int64) << 3) + 4 + second.near + second.sure,
        ]
        key = np.sort(np.hstack(keys), axis=1)
        differ = (key[:, 1:] ^ key[:, :-1]).view(np.uint64)
        if (differ < 4).any():
            query, column = np.argwhere(differ < 4)[0].tolist()
            name = "scores" if key[query, column] & 4 else "reference"
            raise ValueError(
                f"ids of {name} must hold a document once for a query, got "
                f"{key[query, column] >> 3} twice in row {queries[query]} (-1 in place "
                "of the farther one leaves it out)"
            )
        same, place = differ < 8, key.astype(np.int8) & 3
        near, sure = place > 0, place > 1
        a = same & near[:, :-1], same & sure[:, :-1]
        b = near[:, 1:], sure[:, 1:]
    return _shared.Shared.of(lambda x, y: (x & y).sum(axis=1), a, b)
