"""Split data into folds, or training and test sets, of whole queries."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import model_selection

from .._engine import checks, exact_numbers, feature_matrix, messages, segments
from .._typing import Array, BoolArray, FloatArray, IntArray


class QuerySplits:
    """A splitter that keeps queries whole, whatever the order of rows.

    Subclasses also inherit from a splitter of scikit-learn, which gets the queries as
    groups. The groups are numbered in the order of the query ids, so the order of rows
    changes nothing.

    Attributes
    ----------
    qid : str, int or None
        The column of X that contains query ids.
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {"qid": True, "groups": True}
    qid: str | int | None
    n_splits: int

    def split(
        self, X: Any, y: Any = None, groups: Any = None, *, qid: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the rows of each training and test set.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
        y : array-like of shape (n_rows,), optional
            Labels. Only `QueryKFold` with `stratify` needs labels.
        groups, qid : array-like of shape (n_rows,), optional
            Query id of each row, passed under one of the two names. Pass no ids if the
            parameter `qid` of the splitter names a column of X.

        Yields
        ------
        train : ndarray, int
            Row numbers, ascending.
        test : ndarray, int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there are no query ids, or too few queries. Also if query ids are passed
            under both names, or are passed although a column of X contains the ids.
            Also if `y` or the size of a set breaks a rule that the class states.

        Warns
        -----
        UserWarning
            If X and the query ids have the same index in different orders.
        """
        codes = self._gather(X, groups, qid).row_codes()
        # The next class in the order of inheritance is scikit-learn's group splitter.
        yield from super().split(codes, y, codes)  # type: ignore[misc]

    def get_n_splits(
        self, X: Any = None, y: Any = None, groups: Any = None, **routed: Any
    ) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups, **routed : ignored

        Returns
        -------
        int
            Number of pairs of a training set and a test set that `split` generates.
        """
        return int(self.n_splits * getattr(self, "n_repeats", 1))

    def _gather(self, X: Any, groups: Any, qid: Any) -> checks.Queries:
        """Return the queries of the rows, in the order of their ids."""
        name = "qid"
        if groups is not None:
            if qid is not None:
                raise ValueError("qid must be given only once, got both qid and groups")
            name = "groups"
            qid = groups
        checks.check_same_order({"X": X, name: qid})
        qid = _argument_or_column(X, self.qid, qid, "qid", name)
        option = f"{type(self).__name__}(qid=<name or index>)"
        feature_matrix.need_qid(qid, "split", option)
        n_rows = feature_matrix.count_rows(X)
        return checks.check_qid(qid, n_rows=n_rows, name=name).by_id()


def _argument_or_column(
    X: Any, column: str | int | None, values: Any, name: str, argument: str
) -> Any:
    """Return values per row: the argument of `split`, or a column of X."""
    if column is None:
        return values
    if values is not None:
        raise ValueError(
            f"{name} must be given only once, but column {column!r} of X already "
            f"contains {name}. If metadata routing passes the argument, call "
            f"set_split_request({argument}=False)"
        )
    return feature_matrix.column_of(X, column, name)


def _query_means(values: FloatArray, codes: IntArray) -> FloatArray:
    """Return the mean over the rows of each query."""
    sizes = np.bincount(codes)
    # The values are sorted, because their sum must not depend on the order of rows.
    ascending = values[np.lexsort((values, codes))]
    return segments.sum_segments(ascending, sizes) / sizes


def _query_ranks(values: Any, queries: checks.Queries, name: str) -> IntArray:
    """Return the rank of the value of each query. Queries of equal value share a rank.

    The values of the rows, of any type that sorts, must be constant within a query.
    """
    n_rows = queries.n_rows
    # Values are checked and gathered as query ids are.
    gathered = checks.check_qid(values, n_rows=n_rows, name=name, empty=True)
    distinct = gathered.by_id()
    return checks.one_per_query(distinct.row_codes(), queries, name, distinct.name)


class QueryKFold(QuerySplits, model_selection.GroupKFold):  # type: ignore[misc]
    """K folds of whole queries, with balanced numbers of documents.

    In contrast, the folds of an integer ``cv`` may split queries. Some documents of a
    query are then in the training rows and others in the test rows, so a scorer ranks
    only a part of the query.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index for
        arrays). A column needs no metadata routing. By default, pass the ids as
        `groups`, or as ``qid`` through metadata routing. No call of
        `set_split_request` is needed.
    shuffle : bool, default=False
        Whether to draw the folds at random. The folds stay balanced.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds that `shuffle` draws. An int gives the same folds at every
        call.
    n_repeats : int, default=1
        Number of times that the folds are drawn. A number above 1 requires `shuffle`.
    stratify : {False, "n_relevant", "mean_label"}, default=False
        Quantity to balance over the folds, besides the number of documents.
        "n_relevant" is the number of relevant documents of a query (labels of at least
        1). "mean_label" is the mean label of a query, which depends on the grades, but
        not on the number of documents. Balancing matters if there are few queries, or
        if the queries differ greatly. False balances only the number of documents.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2 or `n_repeats` less than 1, if `random_state` is
        set or `n_repeats` is above 1 without `shuffle`, or if `stratify` is not one of
        the values above. The method `split` raises the error if there are no query ids,
        or fewer queries than folds. With `stratify`, `split` also raises the error if
        there is no `y`, or if labels are negative or infinite.

    See Also
    --------
    QueryShuffleSplit : Test sets of any size, which may overlap.
    QueryTimeSeriesSplit : Folds whose test queries are later than the training queries.
    sklearn.model_selection.GroupKFold : Folds of any groups, which are not balanced
        when shuffled.
    sklearn.model_selection.StratifiedGroupKFold : Balances the classes of rows.

    Notes
    -----
    Queries are assigned from the largest to the smallest, each to the fold that has the
    fewest rows so far (Graham 1969). With `shuffle`, the fold is drawn at random among
    the folds that exceed the smallest fold by fewer rows than the query has. Queries of
    equal size are assigned in the order of their ids, or in random order with
    `shuffle`. So folds do not depend on the order of rows. Scores of the same queries
    in several repeats are not independent, so a test that assumes independence finds
    differences too easily.

    With `stratify`, queries are sorted by relevance, and queries of equal relevance by
    size. The sorted queries are cut into runs of `n_splits` queries. The first run may
    be shorter. The queries of a run are assigned to different folds, from the largest
    query to the smallest, in the way described above. The run whose largest and
    smallest queries differ most in size is assigned first. If a run is shorter, its
    smallest query counts as empty. The folds' numbers of queries differ by at most 1. A
    NaN label counts as 0.

    By default (``resource="n_samples"``), `HalvingGridSearchCV` and
    `HalvingRandomSearchCV` start with a sample of rows. Both searches sample the rows
    of each fold without regard to queries, and so rank only parts of queries. With a
    resource of the estimator, such as the number of trees, queries stay whole, as in
    the last example. By default, `sklearn.model_selection.learning_curve` trains on the
    first rows of each training set, and so may split a query. To train on some of the
    queries, draw the queries with ``QueryShuffleSplit(train_size=...)``.

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
        checks.check_count(n_repeats, "n_repeats")
        if n_repeats > 1 and not shuffle:
            raise ValueError(
                f"n_repeats must be 1 without shuffle=True, got {n_repeats}"
            )
        choices = (False, "n_relevant", "mean_label")
        checks.check_choice(stratify, "stratify", choices)
        self.qid = qid
        self.n_repeats = n_repeats
        self.stratify = stratify

    def _iter_test_masks(self, X: Any, y: Any, groups: IntArray) -> Iterator[BoolArray]:
        """Generate masks of the test rows, from which scikit-learn makes the folds."""
        sizes = np.bincount(groups)
        if len(sizes) < self.n_splits:
            raise ValueError(
                f"n_splits must be at most the number of queries ({len(sizes)}), got "
                f"{self.n_splits}"
            )
        relevance: Array | None = None
        if self.stratify:
            if y is None:
                raise ValueError(
                    f"y must contain the labels if stratify={self.stratify!r}, got None"
                )
            labels = checks.check_labels(y, unjudged="nonrelevant", name="y")
            if self.stratify == "mean_label":
                # The label of unjudged documents is negative.
                relevance = _query_means(np.maximum(labels, 0.0), groups)
            else:
                relevant = groups[labels >= 1]
                relevance = np.bincount(relevant, minlength=len(sizes))
        rng = checks.check_seed(self.random_state) if self.shuffle else None
        for _ in range(self.n_repeats):
            fold = _balanced_folds(self.n_splits, sizes, relevance, rng)[groups]
            for number in range(self.n_splits):
                yield fold == number


# scikit-learn's GroupKFold orders groups of equal size by an unstable sort, which
# differs between CPUs, and does not balance shuffled folds. scikit-learn's
# StratifiedGroupKFold balances classes of rows, not numbers of relevant documents per
# query.
def _balanced_folds(
    n_splits: int,
    sizes: IntArray,
    relevance: Array | None,
    rng: np.random.RandomState | None,
) -> IntArray:
    """Assign queries to folds that are balanced in rows and, if given, relevance."""
    order = np.arange(len(sizes))
    if rng is not None:
        order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    groups = [order]
    if relevance is not None:
        order = order[np.argsort(relevance[order], kind="stable")]
        groups = _groups_of_neighbours(order, sizes, n_splits)
    fold = np.empty(len(sizes), dtype=np.int64)
    loads = [0] * n_splits
    # The loop uses Python integers, because NumPy calls for each query would take most
    # of the time.
    for group in groups:
        free = list(range(n_splits))
        for query, size in zip(group.tolist(), sizes[group].tolist(), strict=True):
            smallest = min(loads[k] for k in free)
            # Without a random order, only folds with the fewest rows are candidates.
            excess = 1 if rng is None else size
            candidates = [k for k in free if loads[k] < smallest + excess]
            chosen = candidates[0]
            if rng is not None and len(candidates) > 1:
                chosen = candidates[rng.randint(len(candidates))]
            fold[query] = chosen
            loads[chosen] += size
            if relevance is not None:
                free.remove(chosen)
    return fold


def _groups_of_neighbours(
    order: IntArray, sizes: IntArray, n_splits: int
) -> list[IntArray]:
    """Cut the order into groups of `n_splits` queries, with the largest query first.

    The groups whose sizes differ most come first. If a group is smaller, it is cut from
    the start of the order, where relevance is lowest.
    """
    cuts = range(len(order) % n_splits, len(order), n_splits)
    groups = []
    for group in np.split(order, cuts):
        if len(group):
            by_size = np.argsort(-sizes[group], kind="stable")
            groups.append(group[by_size])

    def size_range(group: IntArray) -> int:
        # In a smaller group, some folds get no query.
        smallest = 0
        if len(group) == n_splits:
            smallest = sizes[group[-1]]
        return int(sizes[group[0]] - smallest)

    return sorted(groups, key=size_range, reverse=True)


def query_folds(
    cv: Any, X: Any, y: ArrayLike, codes: IntArray, qid: Array
) -> list[tuple[IntArray, IntArray]]:
    """Return the training queries and the test queries of each fold.

    `codes` contains the query of each row of X.

    Raises
    ------
    ValueError
        If there is no fold, or if a fold splits queries or tests on training queries.
    """
    if isinstance(cv, Integral):
        cv = QueryKFold(int(cv))
    elif isinstance(cv, str) or not hasattr(cv, "split"):
        raise ValueError(
            f"cv must be a number of folds or a cross-validator, got {cv!r}"
        )
    with warnings.catch_warnings():
        # Splitters by position ignore the groups on purpose, so their warning is noise.
        warnings.filterwarnings("ignore", "The groups parameter is ignored")
        parts = list(cv.split(X, y, qid[codes]))
    if not parts:
        raise ValueError(f"cv must yield at least one fold, got none from {cv!r}")
    sizes = np.bincount(codes, minlength=len(qid))
    folds = []
    for number, (train_rows, test_rows) in enumerate(parts):
        train = np.unique(codes[train_rows])
        test = np.unique(codes[test_rows])
        train_is_whole = len(train_rows) == sizes[train].sum()
        test_is_whole = len(test_rows) == sizes[test].sum()
        overlap = np.isin(test, train).any()
        if overlap or not (train_is_whole and test_is_whole):
            raise ValueError(
                "cv must keep queries whole, with different queries for training and "
                f"testing, as QueryKFold does, got fold {number} of {cv!r}"
            )
        folds.append((train, test))
    return folds


class QueryTimeSeriesSplit(QuerySplits, model_selection.TimeSeriesSplit):  # type: ignore[misc]
    """Folds of whole queries in the order of time.

    In each fold, every test query is later than every training query, as in
    production. So queries with the same time are never in both sets.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    max_train_size : int, optional
        Largest number of queries in a training set. If more queries are available, the
        latest queries are used. By default, all available queries are used.
    test_size : int, optional
        Number of queries in a test set, by default ``n_queries // (n_splits + 1)``. A
        test set may contain more or fewer queries, because each test set begins where
        the time changes.
    gap : int, default=0
        Number of queries left out between a training set and its test set.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index for
        arrays). A column needs no metadata routing. By default, pass the ids as
        `groups`, or as ``qid`` through metadata routing. No call of
        `set_split_request` is needed.
    time : str or int, optional
        The column of X that contains the time of each row's query: numbers, dates, or
        other values that sort. Set ``time="qid"`` if the query ids are in the order of
        time. By default, pass the times to `split` as ``time``, directly or through
        metadata routing. No call of `set_split_request` is needed.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2, or if `max_train_size`, `test_size` or `gap` is
        not a number of queries. The method `split` raises the error if there are no
        query ids, too few queries or too few times, or if the time is missing or varies
        within a query.

    See Also
    --------
    QueryKFold : Folds that do not depend on time.
    sklearn.model_selection.TimeSeriesSplit : Folds of rows in the order of time.

    Notes
    -----
    Folds do not depend on the order of rows. If X contains a column of times, an
    estimator uses the column as a feature. The second example therefore drops the
    column.

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

    In this example, ids and times are columns of X, and the ranker learns from neither:

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

    __metadata_request__split: ClassVar = {"qid": True, "groups": True, "time": True}

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
        if max_train_size is not None:
            checks.check_count(max_train_size, "max_train_size")
        if test_size is not None:
            checks.check_count(test_size, "test_size")
        checks.check_count(gap, "gap", least=0)
        self.qid = qid
        self.time = time

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        time: Any = None,
        *,
        qid: Any = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Generate the rows of each training and test set.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
        y : ignored
        groups, qid : array-like of shape (n_rows,), optional
            Query id of each row, passed under one of the two names. Pass no ids if the
            parameter `qid` of the splitter names a column of X.
        time : array-like of shape (n_rows,), optional
            Time of each row's query: numbers, dates, or other values that sort. Pass no
            times if the parameter `time` of the splitter names a column of X.

        Yields
        ------
        train : ndarray, int
            Row numbers, ascending.
        test : ndarray, int
            Row numbers, ascending.

        Raises
        ------
        ValueError
            If there are no query ids or no times, if there are too few queries or
            times, or if the time is missing or varies within a query. Also if query ids
            or times are passed twice.

        Warns
        -----
        UserWarning
            If X and the query ids have the same index in different orders.
        """
        queries = self._gather(X, groups, qid)
        # If X has a column named "qid", it is read like any other column.
        if self.time == "qid" and "qid" not in feature_matrix.list_columns(X):
            if time is not None:
                raise ValueError(
                    "time must be given only once, got both time='qid' and an array"
                )
            ranks = np.arange(queries.n_queries)
        else:
            time = _argument_or_column(X, self.time, time, "time", "time")
            if time is None:
                raise ValueError(
                    "time must contain the time of each row's query, got None: pass "
                    "time to split, or through metadata routing. For the order of ids, "
                    'set time="qid"'
                )
            ranks = _query_ranks(time, queries, "time")
        n_queries = queries.n_queries
        n_splits = self.n_splits
        gap = self.gap
        test_size = self.test_size or n_queries // (n_splits + 1)
        train_size = self.max_train_size or n_queries
        order = np.argsort(ranks, kind="stable")
        # Positions in `order` where a new time begins.
        changes = 1 + np.flatnonzero(np.diff(ranks[order]))
        starts = []
        first = n_queries - n_splits * test_size
        if test_size and first > gap and len(changes) >= n_splits:
            targets = range(first, n_queries, test_size)
            starts = _nearest_changes(changes, targets)
        if not starts or starts[0] <= gap:
            raise ValueError(
                "n_splits, test_size and gap must leave earlier queries for training, "
                f"got {n_splits=}, {test_size=}, {gap=} for {n_queries} queries with "
                f"{len(changes) + 1} distinct times"
            )
        place_of_query = np.argsort(order)
        places = place_of_query[queries.row_codes()]
        for start, end in pairwise([*starts, n_queries]):
            train_end = start - gap
            train_start = max(0, train_end - train_size)
            is_train = (train_start <= places) & (places < train_end)
            is_test = (start <= places) & (places < end)
            yield np.flatnonzero(is_train), np.flatnonzero(is_test)


def _nearest_changes(changes: IntArray, targets: range) -> list[int]:
    """Return a different change for each target, as near as possible and ascending."""
    chosen = []
    first = 0
    # At least one change is left for each later target.
    last = len(changes) - len(targets)
    for target in targets:
        last += 1
        distances = np.abs(changes[first:last] - target)
        nearest = first + int(np.argmin(distances))
        chosen.append(int(changes[nearest]))
        first = nearest + 1
    return chosen


class QueryShuffleSplit(QuerySplits, model_selection.GroupShuffleSplit):  # type: ignore[misc]
    """Training and test sets of whole queries, drawn at random.

    Parameters
    ----------
    n_splits : int, default=5
        Number of times that the sets are drawn.
    test_size, train_size : float or int, optional
        Size of the test set and of the training set. A float is a share of the queries
        (not of the documents), and an int is a number of queries. If only one size is
        given, the other set contains all remaining queries. If neither size is given,
        20% of the queries are used for testing.
    qid : str or int, optional
        The column of X that contains query ids (a name for data frames, an index for
        arrays). A column needs no metadata routing. By default, pass the ids as
        `groups`, or as ``qid`` through metadata routing. No call of
        `set_split_request` is needed.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. An int gives the same sets at every call.

    Raises
    ------
    ValueError
        If `n_splits` is less than 1. The method `split` raises the error if there are
        no query ids, if a share is outside (0, 1), if the sizes leave a set without
        queries, or if the sizes add up to more than all queries.

    See Also
    --------
    train_test_split_queries : Splits arrays into one training and one test part.
    QueryKFold : Folds. The test sets of a repeat do not overlap.
    sklearn.model_selection.GroupShuffleSplit : Training and test sets of any groups.

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
        checks.check_count(n_splits, "n_splits")
        super().__init__(
            n_splits,
            test_size=test_size,
            train_size=train_size,
            random_state=random_state,
        )
        self.qid = qid


def train_test_split_queries(
    *arrays: Any,
    qid: Any,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays into training rows and test rows, and keep queries whole.

    Parameters
    ----------
    *arrays : arrays, sparse matrices, data frames, Arrow tables or lists
        One or more arrays with the same number of rows.
    qid : array-like of shape (n_rows,), or str or int
        Query id of each row. The array `qid` is also split, and its two parts are
        returned last. Alternatively, the column of the first array that contains the
        query ids (a name for data frames, an index for arrays).
    test_size, train_size : float or int, optional
        Size of the test set and of the training set. A float is a share of the queries
        (not of the documents), and an int is a number of queries. If only one size is
        given, the other set contains all remaining queries. If neither size is given,
        25% of the queries are used for testing.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. An int gives the same split at every call.
    shuffle : bool, default=True
        Whether to draw queries at random. If False, queries are sorted by id. The first
        queries are used for training, and the next queries for testing.
    stratify : array-like of shape (n_rows,), optional
        Values to balance between the two sets. Numbers, such as labels, are averaged
        within each query. Other values, such as a market or a device, must be constant
        within a query.

    Returns
    -------
    list
        The training rows and the test rows of each array. If `qid` is an array, the
        training ids and the test ids follow. Rows keep their order. Arrays keep their
        type, except that sparse matrices become CSR, and tuples become lists.

    Raises
    ------
    ValueError
        If there is no array, if arrays differ in length, if query ids are missing, if
        the first array has no column `qid`, if a share is outside (0, 1), if the sizes
        leave a set without a query, or if the sizes add up to more than all queries.
        Also if `stratify` is given although `shuffle` is False, if `stratify` contains
        missing or infinite values, or if values of `stratify` that are not numbers vary
        within a query.

    See Also
    --------
    QueryShuffleSplit : Draws training and test sets for cross-validation.
    QueryTimeSeriesSplit : Folds whose test queries are later than the training queries.

    Notes
    -----
    To stratify, queries are sorted by their values and cut into as many runs as the
    test set has queries. One query of each run is drawn for the test set. If the test
    set contains more than half of the queries, the queries that are left out of the
    test set are drawn instead. The training set is drawn from the remaining queries in
    the same way. The sets do not depend on the order of rows.

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
    if qid is None:
        raise ValueError("qid must identify the query of each row, got None")
    ids = qid
    is_column = isinstance(qid, (str, Integral))
    if is_column:
        ids = feature_matrix.column_of(arrays[0], qid)
    n_ids = feature_matrix.count_rows(ids)
    queries = checks.check_qid(ids, n_rows=n_ids).by_id()
    for number, array in enumerate(arrays):
        n_rows = None if array is None else feature_matrix.count_rows(array)
        if n_rows != queries.n_rows:
            raise ValueError(
                f"arrays must have one row per value of qid ({queries.n_rows}), got "
                f"{n_rows} in array {number}"
            )
    n_queries = queries.n_queries
    if train_size is None and test_size is None:
        test_size = 0.25
    # The splitter checks the sizes. The sets are not used, so the seed does not matter.
    splitter = model_selection.ShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=0
    )
    train, test = next(splitter.split(np.empty(n_queries)))
    n_train, n_test = len(train), len(test)
    if shuffle:
        rng = checks.check_seed(random_state)
        order = rng.permutation(n_queries)
        train = order[n_test : n_test + n_train]
        test = order[:n_test]
        if stratify is not None:
            strata = _strata(stratify, queries)
            order = order[np.argsort(strata[order], kind="stable")]
            test = _spread(order, n_test, rng)
            untested = order[~np.isin(order, test)]
            train = _spread(untested, n_train, rng)
    elif stratify is not None:
        raise ValueError(
            f"stratify must be None with shuffle=False, got {messages.show(stratify)}"
        )
    else:
        train = np.arange(n_train)
        test = np.arange(n_train, n_train + n_test)
    codes = queries.row_codes()
    train_rows = np.flatnonzero(np.isin(codes, train))
    test_rows = np.flatnonzero(np.isin(codes, test))
    if not is_column:
        arrays = (*arrays, ids)
    parts = []
    for array in arrays:
        parts.append(feature_matrix.take_rows(array, train_rows))
        parts.append(feature_matrix.take_rows(array, test_rows))
    return parts


def _strata(values: Any, queries: checks.Queries) -> FloatArray | IntArray:
    """Return the mean of the numbers in each query, or ranks of other values."""
    array = exact_numbers.one_dimensional(values, "stratify")
    are_numbers = array.dtype.kind in "biuf"
    if array.dtype.kind == "O":
        are_numbers = all(isinstance(value, Real) for value in array)
    if not are_numbers:
        return _query_ranks(values, queries, "stratify")
    floats = exact_numbers.floats_of(array, "stratify")
    checks.check_length(floats, queries.n_rows, "stratify")
    checks.reject(~np.isfinite(floats), floats, "stratify", "be finite")
    return _query_means(floats, queries.row_codes())


def _spread(order: IntArray, number: int, rng: np.random.RandomState) -> IntArray:
    """Draw `number` queries, which are spread evenly over the order."""
    if number == 0:
        return order[:0]
    # With fewer than two queries for each draw, some runs would have a single query,
    # which would always be drawn. So the queries that are left out are drawn.
    if 2 * number > len(order):
        left_out = _spread(order, len(order) - number, rng)
        return order[~np.isin(order, left_out)]
    ends = np.arange(number + 1) * len(order) // number
    return order[rng.randint(ends[:-1], ends[1:])]
