"""Estimates of any function over seeded random orders of tied documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import html, progress_bars
from .._engine import checks, messages, segments, tie_groups
from .._typing import Array, FloatArray, IndexArray
from ..ranking import _blocks
from ..statistics.averages import AVERAGE_FUNCTIONS, weighted_mean
from . import _prepared, _resolved, _text


class CanonicalRows:
    """Rows sorted by query id, then by score, then by label.

    Rows that are not retrieved come last in their query. Rows with equal query ids,
    scores and labels are interchangeable, so the order of the input has no effect.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Rows of the input.
    queries : Queries
        The queries in the order of their ids. The offsets are indices into `rows`.
    by_id : ndarray of shape (n_queries,)
        Indices of the queries, in order of first appearance, sorted by id.
    label : ndarray of shape (n_rows,)
        Label of each of `rows`.
    retrieved : ndarray of shape (n_rows,), bool
        Whether each of `rows` has a rank.
    group : ndarray of shape (n_rows,)
        Index of the tie group of each of `rows`. The rows of a query that are not
        retrieved form one group.
    mixed : ndarray of shape (n_groups,), bool
        Whether the documents of a tie group have different labels.
    tied : ndarray of shape (n_queries,), bool
        Whether a query has a tie group with different labels.
    """

    def __init__(
        self, labels: FloatArray, scores: Array, unsorted: checks.Queries
    ) -> None:
        self.queries = queries = unsorted.by_id()
        self.by_id = unsorted.sorted()
        ranks, _ = tie_groups.dense_ranks(scores)
        # Documents that are not retrieved rank below all others.
        place = np.where(checks.is_retrieved(scores), -ranks, 1)
        query = queries.codes
        place = queries.arrange(place)
        label = queries.arrange(labels)
        order = np.lexsort((label, place, query))
        self.rows = queries.original_rows(order)
        place = place[order]
        self.label = label[order]
        # No two pairs of query and place have the same key.
        n_places = place.max() - place.min() + 1
        starts, sizes = segments.runs(query * n_places + place)
        self.group = segments.owners(sizes)
        self.retrieved = place <= 0
        # The labels of a group ascend.
        is_mixed = self.label[starts] != self.label[starts + sizes - 1]
        self.mixed = is_mixed & self.retrieved[starts]
        n_mixed = np.bincount(query[starts], self.mixed, queries.n_queries)
        self.tied = n_mixed > 0

    def shuffled(self, random: np.random.RandomState) -> IndexArray:
        """Return the rows, with the rows of each tie group in a random order."""
        # Rows that are not retrieved stay in their order.
        jitter = random.random_sample(len(self.rows)) * self.retrieved
        order = np.argsort(self.group + jitter, kind="stable")
        return self.rows[order]


def sample_orderings(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    n_orders: int = 1000,
    random_state: Any = 0,
    unjudged: str = "raise",
) -> Iterator[IndexArray]:
    """Draw random orders of a ranking, with tied documents shuffled.

    Parameters
    ----------
    y_true, y_score, qid, mask, unjudged
        As in `ranking_score`.
    n_orders : int, default=1000
        Number of orders, at least 1.
    random_state : int, Generator, RandomState or None, default=0
        Seed. Equal seeds give equal sequences of labels, whatever the order of rows.

    Returns
    -------
    iterator of ndarray of shape (n_documents,), int
        One array of row indices of the input for each order. For matrices, the indices
        refer to the flattened matrix, and padding is left out. Queries are in order of
        first appearance, and the documents of each query are in ranking order, from the
        top down. Documents that are not retrieved, and documents that
        ``unjudged="drop"`` leaves out, come last in their query.

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if `n_orders` is not an integer >= 1.

    See Also
    --------
    sampled : Estimates the mean of a function of your own over random orders.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn.evaluation import sample_orderings
    >>> labels, clicks = np.array([0, 1, 0, 0]), np.array([7, 2, 2, 2])
    >>> tops = [labels[rows][:2].sum()
    ...         for rows in sample_orderings(labels, clicks, n_orders=300)]
    >>> print(f"{np.mean(tops):.1f}")  # 1/3
    0.3
    """
    checks.check_count(n_orders, "n_orders")
    resolved = _resolved.resolve((), unjudged=unjudged)
    prepared, scores = _prepared.prepare_ranking(resolved, y_true, y_score, qid, mask)
    labels = prepared.labels
    scores = _blocks.without_dropped(scores, labels)
    canonical = CanonicalRows(labels, scores, prepared.queries)
    random = checks.check_seed(random_state)
    # Rows are shuffled in the order of query ids, so the order of the input has no
    # effect. Queries are returned in order of first appearance.
    as_appeared = canonical.queries.rows(np.argsort(canonical.by_id))
    cells = np.arange(len(labels))
    if prepared.lists is not None:
        cells = prepared.lists.cells
    # A generator expression is returned, so options are checked when the function is
    # called.
    return (cells[canonical.shuffled(random)[as_appeared]] for _ in range(n_orders))


@dataclass(frozen=True, eq=False, repr=False)
class SampledScore(html.Result):
    """Averages of a function of your own over sampled orders of ties.

    Printing the result shows a table.

    Attributes
    ----------
    measure : str
        Name of the function.
    mean : float
        Mean, over the sampled orders, of the average over queries.
    sampling_error : float
        Standard error of `mean`. If the average over queries is the same in all sampled
        orders, as without ties, the standard error is 0.
    tie_std : float
        Standard deviation, over the sampled orders, of the average over queries.
    min, max : float
        Smallest and largest average over queries in the sampled orders. In all possible
        orders, the smallest and the largest average may lie further apart.
    n_orders : int
        Number of sampled orders.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, std, query_min, query_max : ndarray of shape (n_queries,)
        Mean, standard deviation, smallest value and largest value of each query over
        the sampled orders.
    query_sampling_error : ndarray of shape (n_queries,)
        Standard error of `expected` for each query.

    See Also
    --------
    sampled : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn import sampled
    >>> def first_label(labels, scores):
    ...     return labels[0]
    >>> result = sampled([1, 0, 1], [2, 2, 1], first_label, n_orders=100)
    >>> result.mean, result.min, result.max
    (0.52, 0.0, 1.0)
    """

    measure: str
    mean: float
    sampling_error: float
    tie_std: float
    min: float
    max: float
    n_orders: int
    qid: Array
    expected: FloatArray
    std: FloatArray
    query_sampling_error: FloatArray
    query_min: FloatArray
    query_max: FloatArray

    _tables = _text.table_of_sampled

    def _columns(self) -> dict[str, Any]:
        columns = super()._columns().items()
        return {name.removeprefix("query_"): column for name, column in columns}


def sampled(
    y_true: ArrayLike,
    y_score: ArrayLike,
    score_func: Callable[[FloatArray, FloatArray], float],
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    n_orders: int = 1000,
    random_state: Any = 0,
    average: str = "macro",
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    progress: bool = False,
) -> SampledScore:
    """Estimate the mean of a function of your own over random orders of ties.

    Parameters
    ----------
    y_true, y_score
        As in `ranking_score`.
    score_func : callable
        Function that is called for one query at a time, as
        ``score_func(labels, scores)``. The labels are in the order drawn, from the
        top down. The scores are not the scores in `y_score`, but fall by 1 from rank to
        rank. Documents that are not retrieved come last, with scores of -inf. The
        function must return a finite number. To leave a query out, the function must
        return NaN for every order of the query.
    qid, mask, query_weight
        As in `ranking_score`.
    n_orders : int, default=1000
        Number of orders to draw, at least 2.
    random_state : int, Generator, RandomState or None, default=0
        Seed. Equal seeds give equal results, whatever the order of rows.
    average : {"macro", "geometric", "median"}, default="macro"
        Average over queries in each order, as in `ranking_score`.
    unjudged : {"raise", "nonrelevant", "drop", "keep"}, default="raise"
        How to treat documents with a NaN label. "raise" raises an error. "keep" passes
        NaN labels to the function, and "nonrelevant" passes 0 in place of NaN. "drop"
        passes only judged documents. If a query has no judged document, "drop" passes
        one document that is not relevant and not retrieved.
    progress : bool, default=False
        Whether to show a progress bar. A progress bar requires tqdm.

    Returns
    -------
    SampledScore

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if `n_orders` is not an integer >= 2, if
        `score_func` is not callable, if the function returns anything other than a
        finite number or NaN, or if the function returns NaN for only some orders of a
        query.
    ImportError
        If ``progress=True`` and tqdm is not installed.

    See Also
    --------
    sample_orderings : Draws the random orders themselves.
    ranking_score : Computes exact values for the measures of this library.

    Notes
    -----
    For a query with different labels inside a tie group, the function is called once
    for each order. For any other query, the function is called once. Errors that the
    function raises are not caught.

    Use `sampled` for measures whose mean over the orders of ties has no exact formula.

    Examples
    --------
    >>> from tieaware_sklearn import sampled
    >>> def relevant_above_first_miss(labels, scores):
    ...     return labels.argmin() if (labels == 0).any() else len(labels)
    >>> relevance, clicks = [1, 1, 0, 1], [2, 1, 1, 1]
    >>> result = sampled(relevance, clicks, relevant_above_first_miss, n_orders=2000)
    >>> print(f"{result.mean:.2f} ± {result.sampling_error:.2f}")  # 2
    2.00 ± 0.02
    """
    checks.check_count(n_orders, "n_orders", least=2)
    checks.check_flag(progress, "progress")
    checks.check_choice(average, "average", tuple(AVERAGE_FUNCTIONS))
    if not callable(score_func):
        raise ValueError(
            "score_func must be a function of labels and scores, got "
            f"{messages.show(score_func)}"
        )
    unjudged_label = 0.0
    if unjudged == "keep":
        unjudged = "nonrelevant"
        unjudged_label = np.nan
    resolved = _resolved.resolve((), unjudged=unjudged)
    prepared, scores = _prepared.prepare_ranking(
        resolved, y_true, y_score, qid, mask, query_weight
    )
    judged = _blocks.JudgedRows(prepared.labels, prepared.queries)
    queries = judged.queries
    labels = np.where(judged.labels < 0, unjudged_label, judged.labels)
    canonical = CanonicalRows(judged.labels, judged.scores(scores), queries)
    random = checks.check_seed(random_state)
    # These scores have no ties, and are the same for each order of the rows.
    falling = -np.arange(len(labels), dtype=np.float64)
    falling[~canonical.retrieved] = -np.inf
    # A place is the index of a query in the order of the ids.
    bounds = canonical.queries.offsets.tolist()
    by_id = canonical.by_id.tolist()
    values = np.empty((n_orders, len(by_id)))

    def measured(rows: IndexArray, place: int) -> float:
        part = slice(bounds[place], bounds[place + 1])
        result = score_func(labels[rows[part]], falling[part].copy())
        try:
            value = float(result)
        except (TypeError, ValueError):
            # A result that is not a number is refused like an infinite result.
            value = np.inf
        if np.isinf(value):
            raise ValueError(
                f"score_func must return a finite number or NaN, got {result!r} for "
                f"query {queries.name(by_id[place])}"
            )
        return value

    for place in np.flatnonzero(~canonical.tied).tolist():
        values[:, by_id[place]] = measured(canonical.rows, place)
    tied_places = np.flatnonzero(canonical.tied).tolist()
    orders = range(n_orders if tied_places else 0)
    for i in progress_bars.show_progress(orders, progress, n_orders, "order"):
        rows = canonical.shuffled(random)
        for place in tied_places:
            values[i, by_id[place]] = measured(rows, place)
    n_nan = np.isnan(values).sum(axis=0)
    is_partly_nan = (n_nan > 0) & (n_nan < n_orders)
    if is_partly_nan.any():
        query = int(np.argmax(is_partly_nan))
        raise ValueError(
            "score_func must return NaN for every order of a query or for none, got "
            f"NaN for {n_nan[query]} of {n_orders} orders of query "
            f"{queries.name(query)}"
        )
    average_of = AVERAGE_FUNCTIONS[average]
    averages = np.array([average_of(row, prepared.weight) for row in values])
    # The standard deviation and the mean of equal values may have rounding errors.
    tie_std = 0.0
    if np.ptp(averages) > 0:
        tie_std = float(averages.std(ddof=1))
    varies = np.ptp(values, axis=0) > 0
    expected = np.where(varies, values.mean(axis=0), values[0])
    std = np.where(varies, values.std(axis=0, ddof=1), 0.0)
    root = float(np.sqrt(n_orders))
    name = getattr(score_func, "__name__", type(score_func).__name__)
    return SampledScore(
        measure=name,
        mean=weighted_mean(averages),
        sampling_error=tie_std / root,
        tie_std=tie_std,
        min=float(averages.min()),
        max=float(averages.max()),
        n_orders=n_orders,
        qid=queries.qid,
        expected=expected,
        std=std,
        query_sampling_error=std / root,
        query_min=values.min(axis=0),
        query_max=values.max(axis=0),
    )
