"""Folds of whole queries."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from .._engine import (
    FloatArray,
    IntArray,
    Queries,
    check_choice,
    check_count,
    check_labels,
    check_length,
    check_qid,
    check_seed,
    column_of,
    count_rows,
    count_segments,
    how_to_pass_qid,
    numbers_of,
    one_dimensional,
    show,
)

#: queries for training and for testing: their numbers, or a flag per query
Part = tuple[NDArray[Any], NDArray[Any]]
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

    def rows(chosen: NDArray[Any]) -> Rows:
        among_them = np.zeros(queries.n_queries, dtype=bool)
        among_them[chosen] = True
        return np.flatnonzero(among_them[query])

    return ((rows(train), rows(test)) for train, test in parts)


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


_RELEVANCE = ("n_relevant", "mean_label")


class QueryKFold(QuerySplits, GroupKFold):  # type: ignore[misc]
    """K folds of whole queries, balanced in documents.

    An integer ``cv`` splits queries: some documents of a query are in the training
    rows, others in the test rows, and the scorer then ranks only a part of the query.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. By default the ids come as ``qid``
        through metadata routing, which needs no request, or as `groups`.
    shuffle : bool, default=False
        Whether to draw the folds at random. They stay balanced.
    random_state : int, RandomState instance or None, default=None
        With `shuffle`, an int gives the same folds at every call.
    n_repeats : int, default=1
        With `shuffle`, how many times folds are drawn.
    stratify : {False, "n_relevant", "mean_label"}, default=False
        What to balance over folds beside documents: the number of relevant documents of
        a query (labels of at least 1), or the mean of its labels, which takes account
        of grades and not of the number of documents. It matters when there are few
        queries or when they differ much.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2 or `n_repeats` less than 1, if `random_state` or
        repeats are asked for without `shuffle`, or if `stratify` is not allowed. The
        split raises it if there are no query ids, fewer queries than folds or, with
        `stratify`, no `y` or labels that are negative or infinite.

    See Also
    --------
    QueryShuffleSplit : Test sets of any size, which may overlap.
    QueryTimeSeriesSplit : Tests on later queries.
    sklearn.model_selection.GroupKFold : The same for any groups; it does not
        balance shuffled folds.
    sklearn.model_selection.StratifiedGroupKFold : Balances the classes of rows.

    Notes
    -----
    Queries are assigned from the largest to the smallest, each to the fold that has the
    fewest rows so far (Graham 1969). With `shuffle`, the fold is drawn at random among
    those that exceed the smallest fold by fewer rows than the query has. Queries of
    equal size come in the order of their ids, or in random order with `shuffle`. So
    folds do not depend on the order of rows. Scores of the same queries in several
    repeats are not independent: a test that assumes independence finds differences too
    easily.

    With `stratify`, queries are sorted by relevance, and queries of equal relevance by
    size. Each run of `n_splits` consecutive queries is spread over the folds, one query
    to each, the largest to the fold with the fewest rows so far; the runs whose sizes
    differ most are assigned first. So the folds' numbers of queries differ by at most
    1. A document with a NaN label counts as not relevant.

    By default (``resource="n_samples"``), `HalvingGridSearchCV` and
    `HalvingRandomSearchCV` start with a sample of rows, which they draw from each fold
    without regard to queries, so that they rank only parts of queries. A resource of
    the estimator, such as the number of trees, keeps queries whole, as in the last
    example. `sklearn.model_selection.learning_curve` takes the first so many rows, too:
    to train on some of the queries, draw them with `QueryShuffleSplit(train_size=...)`.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import QueryKFold
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> for train, test in QueryKFold(2).split(np.zeros((6, 1)), groups=qid):
    ...     print(qid[train], qid[test])
    ['b' 'b' 'd'] ['a' 'a' 'c']
    ['a' 'a' 'c'] ['b' 'b' 'd']

    >>> y = np.array([1, 0, 0, 0, 0, 1])
    >>> cv = QueryKFold(2, shuffle=True, random_state=0, n_repeats=2,
    ...                 stratify="n_relevant")
    >>> [qid[test].tolist() for _, test in cv.split(np.zeros((6, 1)), y, qid)]
    [['c', 'd'], ['a', 'b', 'a', 'b'], ['a', 'a', 'c'], ['b', 'b', 'd']]

    A search by halving over the number of trees:

    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from sklearn.experimental import enable_halving_search_cv
    >>> from sklearn.model_selection import HalvingGridSearchCV
    >>> from sklearn.pipeline import Pipeline
    >>> from tieaware_sklearn import make_ranking_scorer
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=30, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> without_qid = make_column_transformer(("drop", [0]), remainder="passthrough")
    >>> trees = GradientBoostingRegressor(random_state=0)
    >>> search = HalvingGridSearchCV(
    ...     Pipeline([("features", without_qid), ("trees", trees)]),
    ...     {"trees__max_depth": [1, 2, 3]}, resource="trees__n_estimators",
    ...     min_resources=3, max_resources=27, cv=QueryKFold(3, qid=0),
    ...     scoring=make_ranking_scorer("ndcg@10", qid=0))
    >>> search = search.fit(X, web.target)
    >>> search.n_resources_, search.n_candidates_
    ([3, 9], [3, 1])
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        qid: str | int | None = None,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_repeats: int = 1,
        stratify: bool | str = False,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        check_count(n_repeats, "n_repeats")
        if n_repeats > 1 and not shuffle:
            raise ValueError(
                f"n_repeats must be 1 without shuffle=True, got {n_repeats}"
            )
        check_choice(stratify, "stratify", (False, *_RELEVANCE))
        self.qid = qid
        self.n_repeats = n_repeats
        self.stratify = stratify

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds in all repeats.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int
        """
        return int(self.n_splits * self.n_repeats)

    def _parts(self, queries: Queries, y: Any) -> Iterator[Part]:
        n_splits = self.n_splits
        if queries.n_queries < n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries ({queries.n_queries})"
                f", got {n_splits}"
            )
        relevance = self._relevance(queries, y) if self.stratify else None
        rng = check_seed(self.random_state) if self.shuffle else None
        folds = (
            _folds(n_splits, queries, relevance, rng) for _ in range(self.n_repeats)
        )
        return ((fold != k, fold == k) for fold in folds for k in range(n_splits))

    def _relevance(self, queries: Queries, y: Any) -> FloatArray | IntArray:
        """What each query is stratified by."""
        if y is None:
            raise ValueError(
                f"y must hold the labels to balance folds by {self.stratify}, got None"
            )
        labels = np.maximum(check_labels(y, unjudged="nonrelevant", name="y"), 0.0)
        check_length(labels, queries.n_rows, "y")
        if self.stratify == "mean_label":
            return query_means(labels, queries)
        return count_segments(queries.arrange(labels) >= 1, queries.sizes)


def _folds(
    n_splits: int,
    queries: Queries,
    relevance: NDArray[Any] | None,
    rng: np.random.RandomState | None,
) -> IntArray:
    """The fold of each query, balanced in rows, and in relevance if that is given."""
    order = np.arange(queries.n_queries)
    if rng is not None:
        order = rng.permutation(order)
    by_size = -queries.sizes[order]
    if relevance is None:
        runs = [order[np.argsort(by_size, kind="stable")]]
    else:
        order = order[np.lexsort((by_size, relevance[order]))]
        runs = _by_spread(order, queries.sizes, n_splits)
    fold = np.empty(queries.n_queries, dtype=np.int64)
    loads = [0] * n_splits
    # plain numbers: calls of NumPy for each query would take most of a split
    for run in runs:
        free = list(range(n_splits))
        sizes = queries.sizes[run].tolist()
        for query, size in zip(run.tolist(), sizes, strict=True):
            limit = min(loads[k] for k in free) + (1 if rng is None else size)
            near = [k for k in free if loads[k] < limit]
            # there is nothing to draw of one
            drawn = 0 if rng is None or len(near) == 1 else rng.randint(len(near))
            fold[query] = near[drawn]
            loads[near[drawn]] += size
            if relevance is not None:
                free.remove(near[drawn])
    return fold


def check_cv(cv: Any) -> Any:
    """A cross-validator; a number of folds is that of `QueryKFold`."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        return QueryKFold(int(cv))
    if isinstance(cv, str) or not hasattr(cv, "split"):
        raise ValueError(
            f"cv must be a number of folds or a cross-validator, got {show(cv)}"
        )
    return cv


def query_folds(
    cv: Any, X: Any, y: ArrayLike, codes: NDArray[np.int64], qid: NDArray[Any]
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Training and test queries of each fold; `codes` has the query of each row of X.

    Raises
    ------
    ValueError
        For no fold, and for one that splits queries or tests on a training query.
    """
    if isinstance(cv, (int, np.integer)) and cv > len(qid):
        raise ValueError(
            f"cv must be at most the number of queries ({len(qid)}), got {cv}"
        )
    cv = check_cv(cv)
    if getattr(cv, "qid", None) is not None:
        raise ValueError(
            "cv must leave its qid at None, because it is given the query ids as "
            f"groups, got {cv!r}"
        )
    with warnings.catch_warnings():
        # folds by position need no groups
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        rows = list(cv.split(X, y, qid[codes]))
    if not rows:
        raise ValueError(f"cv must make a fold, got none from {cv!r}")
    sizes, folds = np.bincount(codes, minlength=len(qid)), []
    for number, fold in enumerate(rows):
        train, test = (np.unique(codes[part]) for part in fold)
        whole = len(fold[0]) == sizes[train].sum()
        whole &= len(fold[1]) == sizes[test].sum()
        if not whole or np.isin(test, train).any():
            raise ValueError(
                "cv must keep queries whole and test on others than it trains on, as "
                f"QueryKFold does, got fold {number} of {cv!r}"
            )
        folds.append((train, test))
    return folds


def _by_spread(
    order: NDArray[np.intp], sizes: IntArray, n_splits: int
) -> list[NDArray[np.intp]]:
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


class QueryTimeSeriesSplit(QuerySplits, TimeSeriesSplit):  # type: ignore[misc]
    """Folds of whole queries in the order of time.

    In each fold, the test queries are later than the training queries, as they are in
    production.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    max_train_size : int, optional
        Largest number of queries in a training set, which then holds the latest ones.
    test_size : int, optional
        Number of queries in a test set; by default ``n_queries // (n_splits + 1)``.
    gap : int, default=0
        Number of queries left out between the training set and the test set.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. By default the ids come as ``qid``
        through metadata routing, which needs no request, or as `groups`.
    time : str or int, optional
        The column of X that holds the time of each row's query: numbers, dates, or
        anything that sorts. By default the time comes as ``time`` through metadata
        routing, which needs no request; without it, queries are ordered by their ids.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2, or `max_train_size`, `test_size` or `gap` is not a
        number of queries. The split raises it if there are no query ids or too few
        queries, or if the time is missing or varies within a query.

    See Also
    --------
    QueryKFold : Folds without regard to time.
    sklearn.model_selection.TimeSeriesSplit : The same for rows.

    Notes
    -----
    Queries with the same time come in the order of their ids. Folds do not depend on
    the order of rows. An estimator that is given a column of times uses it as a
    feature: the second example drops it.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import QueryTimeSeriesSplit
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> day = np.array([3, 1, 3, 2, 1, 4])
    >>> cv = QueryTimeSeriesSplit(2, test_size=1)
    >>> for train, test in cv.split(np.zeros((6, 1)), groups=qid, time=day):
    ...     print(qid[train], qid[test])
    ['b' 'c' 'b'] ['a' 'a']
    ['a' 'b' 'a' 'c' 'b'] ['d']

    Here ids and times are columns of X, and the ranker learns from neither:

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.pipeline import make_pipeline
    >>> from tieaware_sklearn import make_ranking_scorer
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> from tieaware_sklearn.lightgbm import QueryLGBMRanker
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> day = pd.Timestamp("2024-01-01") + pd.to_timedelta(web.qid % 20, unit="D")
    >>> X = pd.DataFrame(web.data, columns=web.feature_names)
    >>> X = X.assign(day=day, qid=web.qid)
    >>> without_day = make_column_transformer(("drop", ["day"]),
    ...                                       remainder="passthrough")  # qid stays last
    >>> ranker = QueryLGBMRanker(n_estimators=5, verbosity=-1, qid=-1)
    >>> scores = cross_val_score(make_pipeline(without_day, ranker), X, web.target,
    ...                          cv=QueryTimeSeriesSplit(3, qid="qid", time="day"),
    ...                          scoring=make_ranking_scorer("ndcg@10", qid="qid"))
    >>> bool((scores > 0.3).all())
    True
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {
        "groups": "qid",
        "time": True,
    }

    def __init__(
        self,
        n_splits: int = 5,
        *,
        max_train_size: int | None = None,
        test_size: int | None = None,
        gap: int = 0,
        qid: str | int | None = None,
        time: str | int | None = None,
    ) -> None:
        super().__init__(
            n_splits, max_train_size=max_train_size, test_size=test_size, gap=gap
        )
        for name in ("max_train_size", "test_size"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        check_count(gap, "gap", least=0)
        self.qid = qid
        self.time = time

    def split(
        self, X: Any, y: Any = None, groups: Any = None, time: Any = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Generate the rows of each training and test set.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
        y : ignored
        groups : array-like of shape (n_rows,), optional
            Query of each row, unless a column of X holds it.
        time : array-like of shape (n_rows,), optional
            Time of each row's query, unless a column of X holds it.

        Yields
        ------
        train : ndarray, int
            Row numbers, ascending.
        test : ndarray, int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there are no query ids or too few queries, or if the time varies within a
            query.
        """
        queries = self._gather(X, groups)
        time = given_or_column(X, self.time, time, "time", "time")
        return rows_of(queries, self._parts(queries, time))

    def _parts(self, queries: Queries, time: Any) -> Iterator[Part]:
        n_queries, n_splits, gap = queries.n_queries, self.n_splits, self.gap
        test_size = self.test_size or n_queries // (n_splits + 1)
        if test_size < 1 or n_queries - gap - n_splits * test_size < 1:
            raise ValueError(
                "n_splits, test_size and gap must leave queries for training, got "
                f"n_splits={n_splits}, test_size={test_size}, gap={gap} for "
                f"{n_queries} queries"
            )
        order = np.arange(n_queries)
        if time is not None:
            order = np.argsort(query_ranks(time, queries, "time"), kind="stable")
        parts = TimeSeriesSplit.split(self, order)
        return ((order[train], order[test]) for train, test in parts)
