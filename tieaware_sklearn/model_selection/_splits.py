"""Training and test sets of whole queries, drawn at random."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseShuffleSplit

from .._engine import (
    FloatArray,
    IntArray,
    Queries,
    as_floats,
    check_count,
    check_length,
    check_qid,
    check_seed,
    count_rows,
    ids_of,
    is_number,
    numbers_of,
    reject,
    show,
    take_rows,
)
from ._folds import (
    Part,
    QuerySplits,
    are_numbers,
    query_means,
    query_ranks,
    rows_of,
)


class QueryShuffleSplit(QuerySplits, BaseShuffleSplit):  # type: ignore[misc]
    """Draw training and test sets of whole queries at random, several times.

    Parameters
    ----------
    n_splits : int, default=5
        Number of times that the sets are drawn.
    test_size, train_size : float or int, optional
        A share of the queries (not of the documents), or a number of queries. By
        default, all queries that the other set leaves; if neither is given, 0.2 of the
        queries are for testing.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. By default the ids come as ``qid``
        through metadata routing, which needs no request, or as `groups`.
    random_state : int, RandomState instance or None, default=None
        An int gives the same sets at every call.

    Raises
    ------
    ValueError
        If `n_splits` is less than 1. The split raises it if there are no query ids, or
        if the sizes leave one of the sets without a query.

    See Also
    --------
    train_test_split_queries : The same for one split of arrays.
    QueryKFold : Folds, whose test sets do not overlap.
    sklearn.model_selection.GroupShuffleSplit : The same for any groups.

    Notes
    -----
    The sets do not depend on the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import QueryShuffleSplit
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> cv = QueryShuffleSplit(2, test_size=0.5, random_state=0)
    >>> for train, test in cv.split(np.zeros((6, 1)), groups=qid):
    ...     print(qid[train], qid[test])
    ['a' 'b' 'a' 'b'] ['c' 'd']
    ['b' 'b' 'd'] ['a' 'a' 'c']
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        test_size: float | int | None = None,
        train_size: float | int | None = None,
        qid: str | int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        check_count(n_splits, "n_splits")
        super().__init__(
            n_splits,
            test_size=test_size,
            train_size=train_size,
            random_state=random_state,
        )
        self.qid = qid

    def _parts(self, queries: Queries, y: Any) -> Iterator[Part]:
        n_queries = queries.n_queries
        n_train, n_test = _part_sizes(n_queries, self.train_size, self.test_size, 0.2)
        rng = check_seed(self.random_state)
        drawn = (rng.permutation(n_queries) for _ in range(self.n_splits))
        return ((one[n_test : n_test + n_train], one[:n_test]) for one in drawn)


def train_test_split_queries(
    *arrays: Any,
    qid: Any,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays into training and test rows and keep queries whole.

    Parameters
    ----------
    *arrays : arrays, sparse matrices, data frames, Arrow tables or lists
        One or more arrays with the same number of rows.
    qid : array-like of shape (n_rows,), or str or int
        Query of each row, which is split, too, and returned last. Or the column of the
        first array that holds it (a name for data frames, an index for arrays).
    test_size, train_size : float or int, optional
        A share of the queries (not of the documents), or a number of queries. By
        default, all queries that the other set leaves; if neither is given, 0.25 of the
        queries are for testing.
    random_state : int, RandomState instance or None, default=None
        An int gives the same split at every call.
    shuffle : bool, default=True
        Whether to draw queries at random. Otherwise the first queries by id are for
        training, the last ones for testing.
    stratify : array-like of shape (n_rows,), optional
        Values to balance between the two sets. Numbers, such as labels, are averaged
        within each query; other values, such as a market or a device, must be constant
        within a query.

    Returns
    -------
    list
        The training rows and the test rows of each array, and of `qid` unless it is a
        column: ``2 * len(arrays)`` entries, or 2 more. Rows keep their order and arrays
        their type (sparse matrices become CSR).

    Raises
    ------
    ValueError
        If arrays differ in length, if a set is left without a query, or if `stratify`
        is given without `shuffle`, has missing values, or has values other than numbers
        that vary within a query.

    See Also
    --------
    QueryShuffleSplit : The same as a splitter for cross-validation.
    QueryTimeSeriesSplit : Tests on later queries.

    Notes
    -----
    To stratify, queries are sorted by their values and cut into as many runs of
    neighbours as the smaller set has queries; one query is drawn from each run. Which
    queries are in which set does not depend on the order of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import train_test_split_queries
    >>> X, y = np.arange(12).reshape(6, 2), np.array([1, 0, 0, 2, 1, 0])
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = (
    ...     train_test_split_queries(X, y, qid=qid, random_state=0))
    >>> qid_train, qid_test
    (array(['a', 'b', 'a', 'b', 'd'], dtype='<U1'), array(['c'], dtype='<U1'))
    """
    if not arrays:
        raise ValueError("arrays must include at least one array, got none")
    ids, is_column = ids_of(arrays[0], qid)
    queries = check_qid(ids, n_rows=count_rows(ids)).by_id()
    for number, array in enumerate(arrays):
        if array is None or count_rows(array) != queries.n_rows:
            got = "None" if array is None else count_rows(array)
            raise ValueError(
                f"arrays must have one row per value of qid ({queries.n_rows}), got "
                f"{got} in array {number}"
            )
    n_queries = queries.n_queries
    n_train, n_test = _part_sizes(n_queries, train_size, test_size, 0.25)
    if shuffle:
        rng = check_seed(random_state)
        order = rng.permutation(n_queries)
        train, test = order[n_test : n_test + n_train], order[:n_test]
        if stratify is not None:
            order = order[np.argsort(_strata(stratify, queries)[order], kind="stable")]
            test = _spread(order, n_test, rng)
            train = _spread(order[~np.isin(order, test)], n_train, rng)
    elif stratify is None:
        train, test = np.split(np.arange(n_train + n_test), [n_train])
    else:
        raise ValueError("stratify must be None with shuffle=False, got values")
    ((train, test),) = rows_of(queries, [(train, test)])
    given = arrays if is_column else (*arrays, ids)
    return [take_rows(array, rows) for array in given for rows in (train, test)]


def _strata(values: Any, queries: Queries) -> FloatArray | IntArray:
    """What queries are sorted by: mean numbers, or ranks of what is none."""
    if not are_numbers(values, "stratify"):
        return query_ranks(values, queries, "stratify")
    floats = as_floats(numbers_of(values, "stratify"), "stratify")
    check_length(floats, queries.n_rows, "stratify")
    reject(~np.isfinite(floats), floats, "stratify", "be finite")
    return query_means(floats, queries)


def _spread(
    order: NDArray[np.intp], number: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """So many of these, drawn evenly along the order."""
    if number == 0:
        return order[:0]
    if 2 * number > len(order):
        left_out = _spread(order, len(order) - number, rng)
        return order[~np.isin(order, left_out)]
    ends = np.arange(number + 1) * len(order) // number
    return order[rng.randint(ends[:-1], ends[1:])]


def _part_sizes(
    n_queries: int,
    train_size: float | int | None,
    test_size: float | int | None,
    default: float,
) -> tuple[int, int]:
    """Queries for training and for testing, rounded as scikit-learn does it."""
    if train_size is None and test_size is None:
        test_size = default
    n_train = _part_size(train_size, "train_size", n_queries, math.floor)
    n_test = _part_size(test_size, "test_size", n_queries, math.ceil)
    n_train = n_queries - (n_test or 0) if n_train is None else n_train
    n_test = n_queries - n_train if n_test is None else n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > n_queries:
        raise ValueError(
            "train_size and test_size must leave queries for both sets and add up to "
            f"{n_queries} queries at most, got {train_size!r} and {test_size!r}, that "
            f"is {n_train} and {n_test} queries"
        )
    return n_train, n_test


def _part_size(
    size: float | int | None, name: str, n_queries: int, rounded: Callable[..., int]
) -> int | None:
    if size is None:
        return None
    if isinstance(size, numbers.Integral) and is_number(size, least=1):
        return int(size)
    if not is_number(size, above=0, below=1):
        raise ValueError(
            f"{name} must be a share of the queries in (0, 1) or a number of them, got "
            f"{show(size)}"
        )
    return rounded(size * n_queries)
