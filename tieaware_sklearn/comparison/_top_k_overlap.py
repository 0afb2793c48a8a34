"""The neighbours that two rankings with ties share among their first k."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display import html, text_tables, words
from .._engine import checks, exact_numbers, messages, segments
from .._engine import lists as _lists
from .._engine.segments import FloatArray, IntArray
from ..evaluation import Summary, _averages, _intervals

METRICS = ("similarity", "distance")
REFERENCE_TIES = ("orders", "interchangeable")
#: places of a document: outside of the first k, in the tie that k cuts, or before it
_OUTSIDE, _CUT, _SURE = range(3)
#: documents that are looked at together
_CELLS = 1 << 15
#: ids that leave three bits of 64
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
    qid: NDArray[Any]
    expected: FloatArray
    worst: FloatArray
    best: FloatArray
    std: FloatArray
    is_open: NDArray[np.bool_]

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
        _intervals.warn_of_intervals([(name, self.expected)])
        moments = _intervals.QueryMoments.of(self.expected[:, None])
        ((low, high),) = np.clip(moments.interval(bounds=(0.0, 1.0)), 0.0, 1.0)
        cells = {
            "overlap": name,
            "mean": _averages.mean(self.expected),
            "worst": _averages.mean(self.worst),
            "best": _averages.mean(self.best),
            "tie_std": _averages.std_of_mean(self.std),
            "interval_low": low,
            "interval_high": high,
            "n_queries": int(moments.count[0]),
        }
        columns = {key: np.array([cell]) for key, cell in cells.items()}
        return Summary(columns, ("overlap",), {}, _tables_of_means)

    def _columns(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in _PER_QUERY}
        reference, other = self.is_open.T
        flags = {"reference_is_open": reference, "is_open": other}
        return {"qid": self.qid, **values, **flags}

    def _tables(self) -> list[text_tables.Table]:
        return self.summary()._tables()


def _tables_of_means(of: Summary) -> list[text_tables.Table]:
    return [
        text_tables.Table.of(
            ("", of.overlap),
            *((name, of.columns[name]) for name in ("mean", "worst", "best")),
            ("tie_std", of.tie_std),
            ("95% interval", of.interval),
            ("queries", of.n_queries),
        )
    ]


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
    checks.check_choice(metric, "metric", METRICS)
    checks.check_choice(reference_ties, "reference_ties", REFERENCE_TIES)
    checks.check_flag(relative, "relative")
    if not checks.is_number(tolerance, least=0):
        raise ValueError(f"tolerance must be a number >= 0, got {tolerance!r}")
    if tolerance and reference_ties == "orders":
        raise ValueError(
            "tolerance must be 0 unless reference_ties='interchangeable', got "
            f"{tolerance!r}"
        )
    documents: tuple[IntArray, IntArray] | None = None
    if ids is None:
        query_ids, exact, other = _of_documents(reference, scores, qid, mask, metric)
    elif qid is not None or mask is not None:
        raise ValueError("qid and mask must be None with ids, whose rows are queries")
    else:
        documents = _check_ids(ids, k)
        query_ids = np.arange(len(documents[0]))
        checks.check_same_order({"reference": reference, "scores": scores})
        exact = _of_lists(reference, documents[0], "reference", metric)
        other = _of_lists(scores, documents[1], "scores", metric)
    slack = (tolerance, relative, metric) if reference_ties != "orders" else None
    # what is made of some queries stays in the cache of the processor
    longest = max(int(side.sizes.max(initial=1)) for side in (exact, other))
    step = max(1, _CELLS // longest)
    parts = []
    sides = zip(exact.parts(step), other.parts(step), strict=True)
    for number, pair in enumerate(sides):
        start = number * step
        listed = None
        if documents is not None:
            listed = [side[start : start + step] for side in documents]
        parts.append(_overlaps(*pair, listed, start, k, slack))
    moments, is_open = (
        np.concatenate(each, axis=1) for each in zip(*parts, strict=True)
    )
    _warn_of_open(is_open.T, k)
    values = dict(zip(_PER_QUERY, moments, strict=True))
    return TopKOverlap(int(k), reference_ties, query_ids, is_open=is_open.T, **values)


def _overlaps(
    exact: _Neighbours,
    other: _Neighbours,
    documents: list[IntArray] | None,
    start: int,
    k: int,
    slack: tuple[float, bool, str] | None,
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Compute the values of queries from `start` on, and which lists are open."""
    first, second = (_FirstK.of(side, k) for side in (exact, other))
    if slack is not None:
        first = first.with_equals(exact, *slack)
    if documents is None:
        cells = exact.query * 9 + first.place * 3 + second.place
    else:
        cells = _shared_cells(documents, [first.place, second.place], start)
    counts = np.bincount(cells, minlength=9 * len(exact.sizes)).reshape(-1, 3, 3)
    with np.errstate(invalid="ignore"):
        moments = _moments(counts, first, second) / np.minimum(k, first.length)
    return moments, np.stack([first.is_open, second.is_open])


class _Neighbours(NamedTuple):
    """Documents that a ranking gives, query by query.

    Attributes
    ----------
    sizes : ndarray of shape (n_queries,)
        Documents of each query.
    score : ndarray of shape (n_documents,)
        Higher is nearer, and -inf not retrieved.
    is_full : ndarray of shape (n_queries,), bool
        Whether the list could have gone on.
    """

    sizes: IntArray
    score: NDArray[Any]
    is_full: NDArray[np.bool_]

    @property
    def query(self) -> IntArray:
        """The number of the query of each document."""
        return segments.owners(self.sizes)

    def parts(self, step: int) -> Iterator[_Neighbours]:
        """The documents of so many neighbouring queries at a time."""
        offsets = segments.offsets_of(self.sizes)
        for start in range(0, len(self.sizes), step):
            some, stop = slice(start, start + step), min(start + step, len(self.sizes))
            score = self.score[offsets[start] : offsets[stop]]
            yield _Neighbours(self.sizes[some], score, self.is_full[some])


def _of_documents(
    reference: ArrayLike, scores: ArrayLike, qid: Any, mask: Any, metric: str
) -> tuple[NDArray[Any], _Neighbours, _Neighbours]:
    """Query ids and the two rankings, from columns or matrices."""
    given: dict[str, Any] = {"reference": reference, "scores": scores}
    checks.check_same_order({**given, "qid": qid})
    if (cells := _lists.Lists.of(given, qid, mask)) is not None:
        queries = cells.queries
        columns = [cells.documents(given[name], name) for name in given]
    else:
        columns = list(given.values())
        n_rows = len(exact_numbers.numbers_of(reference, "reference"))
        queries = checks.check_qid(qid, n_rows=n_rows)
    sides = []
    for name, column in zip(given, columns, strict=True):
        score = _nearest_highest(column, name, metric)
        checks.check_length(score, queries.n_rows, name)
        never = np.zeros(queries.n_queries, dtype=bool)
        sides.append(_Neighbours(queries.sizes, queries.arrange(score), never))
    return queries.qid, sides[0], sides[1]


def _check_ids(ids: Any, k: int) -> tuple[IntArray, IntArray]:
    """Check the ids that two indexes return."""
    pair = isinstance(ids, (tuple, list)) and len(ids) == 2
    messages.require(pair, "ids must be a pair, of the reference and of scores", ids)
    # masked entries are empty
    reference, other = (np.ma.filled(np.ma.asarray(side), -1) for side in ids)
    for name, side in (("reference", reference), ("scores", other)):
        if side.ndim != 2 or side.dtype.kind not in "iu":
            raise ValueError(
                f"ids of {name} must be integers of shape (n_queries, depth), got "
                f"shape {side.shape} and dtype {side.dtype}"
            )
        if side.shape[1] < k:
            raise ValueError(
                f"ids of {name} must have at least k={k} columns, got {side.shape[1]}"
            )
        if side.min(initial=0) < -1 or side.max(initial=0) > _LARGEST:
            raise ValueError(f"ids of {name} must be >= -1 and at most 2^60")
    if len(reference) != len(other):
        raise ValueError(
            f"ids must have as many rows on both sides, got {len(reference)} and "
            f"{len(other)}"
        )
    return reference.astype(np.int64), other.astype(np.int64)


def _of_lists(values: Any, ids: IntArray, name: str, metric: str) -> _Neighbours:
    """The ranking of the documents that an index returns."""
    matrix, there = _lists.matrix_of(values, name), ids >= 0
    if matrix.shape != ids.shape:
        raise ValueError(
            f"{name} must have the shape of its ids, {ids.shape}, got {matrix.shape}"
        )
    score = np.empty(0)
    if there.any():
        score = _nearest_highest(matrix[there], name, metric)
    sizes: IntArray = there.sum(axis=1)
    return _Neighbours(sizes, score, sizes == ids.shape[1])


def _nearest_highest(values: Any, name: str, metric: str) -> NDArray[Any]:
    """Scores for which higher is nearer, in an order that no rounding changes."""
    numbers = exact_numbers.numbers_of(values, name)
    if metric == "distance":
        if numbers.dtype.kind in "bu" and (numbers <= np.iinfo(np.int64).max).all():
            numbers = numbers.astype(np.int64)
        numbers = -numbers if numbers.dtype.kind == "f" else ~numbers
    return checks.check_scores(numbers, name=name)


class _FirstK(NamedTuple):
    """Which documents are among the first k.

    Attributes
    ----------
    place : ndarray of shape (n_documents,), int8
        `_SURE`, `_CUT` or `_OUTSIDE`.
    length : ndarray of shape (n_queries,)
        Documents retrieved.
    tied, fit : ndarray of shape (n_queries,)
        Documents of the tie that is cut, and how many of them are among the first k.
    is_open : ndarray of shape (n_queries,), bool
        Whether the list ends inside of the tie that the k-th document belongs to.
    """

    place: NDArray[np.int8]
    length: IntArray
    tied: IntArray
    fit: IntArray
    is_open: NDArray[np.bool_]

    @classmethod
    def of(cls, side: _Neighbours, k: int) -> _FirstK:
        """Find the k-th document of each query."""
        score = side.score
        kth = np.empty(len(side.sizes), dtype=score.dtype)
        # queries of one length are the rows of a matrix
        for size in np.unique(side.sizes[side.sizes > 0]).tolist():
            alike = np.flatnonzero(side.sizes == size)
            rows = segments.consecutive(
                segments.starts_of(side.sizes)[alike], side.sizes[alike]
            )
            at = max(size - k, 0)
            kth[alike] = np.partition(score[rows].reshape(-1, size), at)[:, at]
        last, retrieved = np.repeat(kth, side.sizes), checks.is_retrieved(score)
        sure, tied = score > last, (score == last) & retrieved
        length, n_sure, n_tied = (
            segments.count_segments(flags, side.sizes)
            for flags in (retrieved, sure, tied)
        )
        fit = np.minimum(k, length) - n_sure
        is_open = side.is_full & (n_tied > 1) & (n_sure + n_tied == length)
        whole = fit == n_tied
        of_tie = np.where(whole, _SURE, _CUT).astype(np.int8)
        place = tied * np.repeat(of_tie, side.sizes) + sure * np.int8(_SURE)
        n_tied, fit = (np.where(whole, 0, count) for count in (n_tied, fit))
        return cls(place, length, n_tied, fit, is_open)

    def with_equals(
        self, side: _Neighbours, tolerance: float, relative: bool, metric: str
    ) -> _FirstK:
        """Take all documents that are as near as the k-th for sure."""
        right, none = self.place > _OUTSIDE, np.zeros_like(self.fit)
        is_open = self.is_open
        if tolerance:
            near, query = side.score.astype(np.float64), side.query
            kth = np.full(len(none), np.inf)
            np.minimum.at(kth, query[right], near[right])
            # of integers, distances are turned round by their complement, -d - 1
            turned = metric == "distance" and side.score.dtype.kind != "f"
            size = np.abs(kth + 1 if turned else kth)
            right |= (
                near >= (kth - (tolerance * size if relative else tolerance))[query]
            )
            # the list may go on within the tolerance
            whole = segments.count_segments(right, side.sizes) == side.sizes
            is_open = is_open | (side.is_full & whole)
        place = right * np.int8(_SURE)
        return self._replace(place=place, tied=none, fit=none, is_open=is_open)


def _shared_cells(
    documents: list[IntArray], places: list[NDArray[np.int8]], start: int
) -> IntArray:
    """Query and both places, as one number, of documents that both lists hold."""
    keys = []
    for i, (ids, place) in enumerate(zip(documents, places, strict=True)):
        key = ids * 8 + i * 4
        if len(place) == key.size:
            key += place.reshape(key.shape)
        else:
            key[ids >= 0] += place
        keys.append(key)
    key = np.sort(np.concatenate(keys, axis=1))
    again = (key[:, 1:] >> 3 == key[:, :-1] >> 3) & (key[:, 1:] >= 0)
    query, column = again.nonzero()
    one, other = key[query, column], key[query, column + 1]
    twice = one >> 2 == other >> 2
    if twice.any():
        at = int(np.argmax(twice))
        name = "scores" if one[at] & 4 else "reference"
        raise ValueError(
            f"ids of {name} must hold a document once for a query, got {one[at] >> 3} "
            f"twice in row {start + query[at]}"
        )
    cells: IntArray = query * 9 + (one & 3) * 3 + (other & 3)
    return cells


def _moments(shared: IntArray, first: _FirstK, second: _FirstK) -> FloatArray:
    """Mean, least, most and standard deviation of the number of shared documents."""
    both = shared[:, _SURE, _SURE]
    sure_cut, cut_sure = shared[:, _SURE, _CUT], shared[:, _CUT, _SURE]
    cut_cut = shared[:, _CUT, _CUT]
    a, b = first.fit, second.fit
    (one, two), (other_one, other_two) = map(_chances, (first, second))
    # covariance of two documents of a tie
    apart, other_apart = two - one**2, other_two - other_one**2
    mean = both + sure_cut * other_one + cut_sure * one + cut_cut * one * other_one
    pair = one * other_one
    variance = (
        cut_sure * (one * (1 - one) + (cut_sure - 1) * apart)
        + sure_cut * (other_one * (1 - other_one) + (sure_cut - 1) * other_apart)
        + cut_cut * (pair * (1 - pair) + (cut_cut - 1) * (two * other_two - pair**2))
        + 2 * cut_sure * cut_cut * other_one * apart
        + 2 * sure_cut * cut_cut * one * other_apart
    )
    x, y = np.minimum(a, cut_sure), np.minimum(b, sure_cut)
    most = both + x + y + np.minimum(np.minimum(a - x, b - y), cut_cut)
    # documents that must be taken from those that the other ranking has, too
    x = np.maximum(0, a - (first.tied - cut_sure - cut_cut))
    y = np.maximum(0, b - (second.tied - sure_cut - cut_cut))
    p, q = np.minimum(x, cut_cut), np.minimum(y, cut_cut)
    least = both + (x - p) + (y - q) + np.maximum(0, p + q - cut_cut)
    std = np.sqrt(np.where(least == most, 0.0, np.maximum(variance, 0.0)))
    return np.stack([np.clip(mean, least, most), least, most, std])


def _chances(of: _FirstK) -> tuple[FloatArray, FloatArray]:
    """Chances that one, and that two documents of the tie are among the first k."""
    n, fit = of.tied, of.fit
    one = fit / np.maximum(n, 1)
    return one, one * ((fit - 1) / np.maximum(n - 1, 1))


def _warn_of_open(is_open: NDArray[np.bool_], k: int) -> None:
    for name, count in zip(("reference", "scores"), is_open.sum(axis=0), strict=True):
        if count:
            words.warn(
                f"{count} of {len(is_open)} lists of {name} end inside the tie of the "
                f"k-th document, which may go on beyond them: ask the index for more "
                f"than k={k}"
            )
