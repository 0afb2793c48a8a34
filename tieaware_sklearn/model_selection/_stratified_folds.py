"""Folds of whole queries that are alike in relevance, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine.segments import count_segments
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    Queries,
    check_choice,
    check_labels,
    check_length,
    is_number,
)
from ._folds import QueryKFold
from ._query_splits import query_means

_BY = ("n_relevant", "mean_label")


class StratifiedQueryKFold(QueryKFold):
    """K folds of whole queries, balanced in documents and in relevance.

    Queries with no, few and many relevant documents are spread evenly over the folds.
    This matters when there are few queries or when they differ much.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    by : {"n_relevant", "mean_label"}, default="n_relevant"
        What to balance over folds: the number of relevant documents of a query, or the
        mean of its labels, which takes account of grades and not of the number of
        documents.
    rel : float, default=1
        Documents with a label of at least `rel` are relevant.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. By default the ids come as ``qid``
        through metadata routing, which needs no request, or as `groups`.
    shuffle : bool, default=False
        Whether to draw the folds at random. They stay balanced.
    random_state : int, RandomState instance or None, default=None
        With `shuffle`, an int gives the same folds at every call.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2, `random_state` is given without `shuffle`, or `by`
        or `rel` is not allowed. The split raises it if there are no query ids, fewer
        queries than folds, no `y`, or labels that are negative or infinite.

    See Also
    --------
    QueryKFold : Balances documents alone.
    sklearn.model_selection.StratifiedGroupKFold : Balances the classes of rows.

    Notes
    -----
    Queries are sorted by relevance, and queries of equal relevance by size. Each run of
    `n_splits` consecutive queries is spread over the folds, one query to each, the
    largest to the fold with the fewest rows so far; the runs whose sizes differ most
    are assigned first. So the folds' numbers of queries differ by at most 1. With
    `shuffle`, equal queries come in random order, and the fold is drawn at random among
    those that exceed the smallest fold by fewer rows than the query has. Folds do not
    depend on the order of rows. A document with a NaN label counts as not relevant.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import StratifiedQueryKFold
    >>> qid = np.repeat(["a", "b", "c", "d"], 3)
    >>> y = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1])
    >>> for _, test in StratifiedQueryKFold(2).split(np.zeros((12, 1)), y, qid):
    ...     print(np.unique(qid[test]), y[test].sum())
    ['a' 'b'] 2
    ['c' 'd'] 2
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        by: str = "n_relevant",
        rel: float = 1.0,
        qid: str | int | None = None,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, qid=qid, shuffle=shuffle, random_state=random_state)
        check_choice(by, "by", _BY)
        if not is_number(rel, above=0):
            raise ValueError(f"rel must be a number > 0, got {rel!r}")
        self.by = by
        self.rel = rel

    def _folds(self, queries: Queries, y: Any) -> NDArray[np.int64]:
        relevance = self._relevance(queries, y)
        rng, order = self._drawn_order(queries)
        order = order[np.lexsort((-queries.sizes[order], relevance[order]))]
        loads = [0] * self.n_splits
        fold = np.empty(queries.n_queries, dtype=np.int64)
        for neighbours in _by_spread(order, queries.sizes, self.n_splits):
            free = set(range(self.n_splits))
            for query in neighbours.tolist():
                size = int(queries.sizes[query])
                near = _near(loads, free, size if rng is not None else 1)
                # there is nothing to draw of one
                drawn = 0 if rng is None or len(near) == 1 else rng.randint(len(near))
                fold[query] = near[drawn]
                loads[fold[query]] += size
                free.remove(int(fold[query]))
        return fold

    def _relevance(self, queries: Queries, y: Any) -> FloatArray | IntArray:
        """What each query is stratified by."""
        if y is None:
            raise ValueError(
                f"y must hold the labels by which {type(self).__name__} balances "
                "folds, got None"
            )
        labels = np.maximum(check_labels(y, unjudged="nonrelevant", name="y"), 0.0)
        check_length(labels, queries.n_rows, "y")
        if self.by == "mean_label":
            return query_means(labels, queries)
        return count_segments(queries.arrange(labels) >= self.rel, queries.sizes)


def _by_spread(
    order: NDArray[np.intp], sizes: IntArray, n_splits: int
) -> Iterable[NDArray[np.intp]]:
    """Neighbours, the largest first; those that differ most in size come first.

    What is left over stands at the start, where queries have the least to lose.
    """
    first = len(order) % n_splits
    starts = range(first, len(order), n_splits)
    groups = [order[:first], *(order[start : start + n_splits] for start in starts)]
    groups = [some[np.argsort(-sizes[some], kind="stable")] for some in groups]

    def spread(some: NDArray[np.intp]) -> int:
        least = sizes[some[-1]] if len(some) == n_splits else 0
        return int(sizes[some[0]] - least)

    return sorted(filter(len, groups), key=spread, reverse=True)


def _near(loads: list[int], free: set[int], size: int) -> list[int]:
    """Free folds that are ahead of the smallest one by less than `size`."""
    limit = min(loads[fold] for fold in free) + size
    return [fold for fold in sorted(free) if loads[fold] < limit]
