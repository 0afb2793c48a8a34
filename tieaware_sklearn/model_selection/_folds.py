"""Cross-validation that keeps queries whole."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapreplace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from .._engine.qid_column import count_rows, how_to_pass_qid, resolve_qid
from .._engine.seeds import check_seed
from .._engine.validation import Queries, check_qid


class QueryKFold(GroupKFold):  # type: ignore[misc]
    """K folds of whole queries, balanced in documents.

    An integer ``cv`` cuts queries in two: their documents stand in the training
    and in the test rows, and the ranking of half a query is scored.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index
        for arrays), which works without metadata routing. By default they come as
        ``qid`` by metadata routing, without further request, or as `groups`.
    shuffle : bool, default=False
        Draw the folds at random. They stay balanced.
    random_state : int, RandomState instance or None, default=None
        With `shuffle`, an int for the same folds at every call.

    Raises
    ------
    ValueError
        For fewer than 2 folds, and a `random_state` without `shuffle`.

    See Also
    --------
    sklearn.model_selection.GroupKFold : The same for any groups; it does not
        balance shuffled folds.

    Notes
    -----
    Queries are dealt out from the largest to the smallest, each to the fold that
    has the fewest rows so far (Graham 1969). With `shuffle`, the fold is drawn at
    random among those ahead of the smallest by less than the size of the query.
    Queries of equal size come in the order of their ids, or in random order. So
    folds do not depend on the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import QueryKFold
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> for train, test in QueryKFold(2).split(np.zeros((6, 1)), groups=qid):
    ...     print(qid[train], qid[test])
    ['b' 'b' 'd'] ['a' 'a' 'c']
    ['a' 'a' 'c'] ['b' 'b' 'd']
    """

    # scikit-learn passes `qid` on as `groups`
    __metadata_request__split: ClassVar[dict[str, str]] = {"groups": "qid"}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        qid: str | int | None = None,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.qid = qid

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows of each training and test set.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
        y : ignored
        groups : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.

        Yields
        ------
        train : ndarray of shape (n_rows - n_test,), int
            Row numbers, ascending.
        test : ndarray of shape (n_test,), int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            Without query ids, and for more folds than queries.
        """
        request = "set_split_request(groups=False)"
        _, qid = resolve_qid(X, self.qid, groups, request=request)
        if qid is None:
            raise ValueError(
                "groups must say which rows are one query, got None. "
                f"{how_to_pass_qid()}, QueryKFold(qid=<name or index>)"
            )
        queries = check_qid(qid, n_rows=count_rows(X), name="groups")
        if queries.n_queries < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries "
                f"({queries.n_queries}), got {self.n_splits}"
            )
        fold = self._folds(queries)[queries.row_codes()]
        return (
            (np.flatnonzero(fold != number), np.flatnonzero(fold == number))
            for number in range(self.n_splits)
        )

    def _folds(self, queries: Queries) -> NDArray[np.int64]:
        """The fold of each query."""
        rng = check_seed(self.random_state) if self.shuffle else None
        order = queries.sorted()
        if rng is not None:
            order = rng.permutation(order)
        order = order[np.argsort(-queries.sizes[order], kind="stable")]
        sizes = queries.sizes[order].tolist()
        if rng is None:
            dealt = _lightest(sizes, self.n_splits)
        else:
            dealt = _drawn(sizes, self.n_splits, rng)
        fold = np.empty(queries.n_queries, dtype=np.int64)
        fold[order] = np.fromiter(dealt, np.int64, len(sizes))
        return fold


# plain numbers below: calls of NumPy for each query take most of a split


def _lightest(sizes: list[int], n_splits: int) -> Iterator[int]:
    """The fold of each query, the one with the fewest rows so far."""
    loads = [(0, fold) for fold in range(n_splits)]
    for size in sizes:
        load, fold = loads[0]
        heapreplace(loads, (load + size, fold))
        yield fold


def _drawn(
    sizes: list[int], n_splits: int, rng: np.random.RandomState
) -> Iterator[int]:
    """The fold of each query, drawn among those that are not ahead by its size."""
    loads = [0] * n_splits
    for size in sizes:
        limit = min(loads) + size
        near = [fold for fold, load in enumerate(loads) if load < limit]
        # there is nothing to draw of one
        fold = near[rng.randint(len(near))] if len(near) > 1 else near[0]
        loads[fold] += size
        yield fold
