"""What all splitters have in common: queries gathered, checked and kept whole."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._engine.exact import numbers_of, one_dimensional
from .._engine.qid_column import column_of, count_rows, how_to_pass_qid
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import Queries, check_qid

#: training and test set, a flag per query
Part = tuple[NDArray[np.bool_], NDArray[np.bool_]]
Rows = NDArray[np.intp]


class QuerySplits:
    """A splitter that keeps queries whole, whatever the order of rows.

    A subclass says which queries each part has; it knows them by the order of their
    ids, which no order of rows changes.

    Attributes
    ----------
    qid : str, int or None
        The column of X that holds query ids.
    """

    # scikit-learn passes `qid` on as `groups`
    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": "qid"}
    qid: str | int | None

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Generate the rows of each training and test set.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,), optional
            Labels, which stratified folds need.
        groups : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.

        Yields
        ------
        train : ndarray, int
            Row numbers, ascending.
        test : ndarray, int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there are no query ids, or too few queries.
        """
        queries = self._gather(X, groups)
        return rows_of(queries, self._parts(queries, y))

    def _parts(self, queries: Queries, y: Any) -> Iterable[Part]:
        """Training and test queries of each split; checks come before the first."""
        raise NotImplementedError

    def _gather(self, X: Any, groups: Any) -> Queries:
        """The queries, by id."""
        qid = given_or_column(X, self.qid, groups, "qid", "groups")
        if qid is None:
            raise ValueError(
                "groups must hold the query of each row, got None. "
                f"{how_to_pass_qid()}, {type(self).__name__}(qid=<name or index>)"
            )
        return check_qid(qid, n_rows=count_rows(X), name="groups").by_id()


def given_or_column(
    X: Any, column: str | int | None, given: Any, name: str, argument: str
) -> Any:
    """Values per row, from a column of X or as the argument of `split`."""
    if column is None:
        return given
    if given is not None:
        raise ValueError(
            f"{name} must be given once: it is column {column!r} of X already (with "
            f"metadata routing, set_split_request({argument}=False) keeps the argument "
            "away)"
        )
    return column_of(X, column, name)


def rows_of(queries: Queries, parts: Iterable[Part]) -> Iterator[tuple[Rows, Rows]]:
    """Row numbers of training and test queries."""
    query = queries.row_codes()
    return (
        (np.flatnonzero(train[query]), np.flatnonzero(test[query]))
        for train, test in parts
    )


def flags(n_queries: int, chosen: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """A flag per query: whether it is one of the chosen."""
    out = np.zeros(n_queries, dtype=bool)
    out[chosen] = True
    return out


def are_numbers(values: Any, name: str) -> bool:
    """Whether values are numbers, of one type or of several."""
    array = one_dimensional(values, name)
    if array.dtype.kind != "O":
        return array.dtype.kind in "biuf"
    return all(isinstance(value, numbers.Real) for value in array)


def query_means(values: FloatArray, queries: Queries) -> FloatArray:
    """The mean over the rows of each query, the same bits in any order of rows."""
    arranged = queries.arrange(values)
    ascending = arranged[np.lexsort((arranged, queries.codes))]
    sums = np.add.reduceat(ascending, queries.offsets[:-1])
    return np.asarray(sums / queries.sizes)


def query_ranks(values: Any, queries: Queries, name: str) -> IntArray:
    """Ranks of queries by a value of any type that is constant within a query."""
    if are_numbers(values, name):
        values = numbers_of(values, name)
    distinct = check_qid(values, n_rows=queries.n_rows, name=name, empty=True).by_id()
    rank = queries.arrange(distinct.row_codes())
    varies = queries.varying(rank)
    if varies.any():
        row = int(np.argmax(varies))
        query = int(queries.codes[row])
        first = rank[queries.offsets[query]]
        raise ValueError(
            f"{name} must be constant within a query, got {distinct.name(first)} and "
            f"{distinct.name(rank[row])} in query {queries.name(query)}"
        )
    return np.asarray(rank[queries.offsets[:-1]])
