"""Cross-validation that keeps queries whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold

from .._engine.exact import show
from .._engine.seeds import check_seed
from .._engine.segments import FloatArray, IntArray, count_segments
from .._engine.validation import (
    Queries,
    check_choice,
    check_count,
    check_labels,
    check_length,
)
from ._query_splits import Part, QuerySplits, query_means

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
    []

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
