"""Cross-validation that keeps queries whole."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from heapq import heapreplace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, GroupKFold

from .._engine.exact import show
from .._engine.seeds import check_seed
from .._engine.validation import Queries, check_count
from ._query_splits import Part, QuerySplits


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

    Raises
    ------
    ValueError
        If `n_splits` is less than 2, or if `random_state` is given without `shuffle`.
        The split raises it if there are no query ids, or fewer queries than folds.

    See Also
    --------
    StratifiedQueryKFold : Also balances relevance.
    RepeatedQueryKFold, QueryShuffleSplit : Draw several times.
    QueryTimeSeriesSplit : Tests on later queries.
    sklearn.model_selection.GroupKFold : The same for any groups; it does not
        balance shuffled folds.

    Notes
    -----
    Queries are assigned from the largest to the smallest, each to the fold that has the
    fewest rows so far (Graham 1969). With `shuffle`, the fold is drawn at random among
    those that exceed the smallest fold by fewer rows than the query has. Queries of
    equal size come in the order of their ids, or in random order with `shuffle`. So
    folds do not depend on the order of rows.

    By default (``resource="n_samples"``), `HalvingGridSearchCV` and
    `HalvingRandomSearchCV` start with a sample of rows, which they draw from each fold
    without regard to queries, so that they rank only parts of queries. A resource of
    the estimator, such as the number of trees, keeps queries whole, as in the second
    example. For learning curves, see `query_learning_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import QueryKFold
    >>> qid = np.array(["a", "b", "a", "c", "b", "d"])
    >>> for train, test in QueryKFold(2).split(np.zeros((6, 1)), groups=qid):
    ...     print(qid[train], qid[test])
    ['b' 'b' 'd'] ['a' 'a' 'c']
    ['a' 'a' 'c'] ['b' 'b' 'd']

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
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.qid = qid

    def _parts(self, queries: Queries, y: Any) -> list[Part]:
        check_n_splits(self.n_splits, queries)
        fold = self._folds(queries, y)
        return [(fold != number, fold == number) for number in range(self.n_splits)]

    def _folds(self, queries: Queries, y: Any) -> NDArray[np.int64]:
        """The fold of each query."""
        rng, order = self._drawn_order(queries)
        order = order[np.argsort(-queries.sizes[order], kind="stable")]
        sizes = queries.sizes[order].tolist()
        if rng is None:
            dealt = _lightest(sizes, self.n_splits)
        else:
            dealt = _drawn(sizes, self.n_splits, rng)
        fold = np.empty(queries.n_queries, dtype=np.int64)
        fold[order] = np.fromiter(dealt, np.int64, len(sizes))
        return fold

    def _drawn_order(
        self, queries: Queries
    ) -> tuple[np.random.RandomState | None, NDArray[np.intp]]:
        """What draws, and queries by id or in random order."""
        order = np.arange(queries.n_queries)
        if not self.shuffle:
            return None, order
        rng = check_seed(self.random_state)
        return rng, rng.permutation(order)


class RepeatedQueryKFold(QuerySplits, BaseCrossValidator):  # type: ignore[misc]
    """Repeat `QueryKFold`, shuffled anew each time.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of queries.
    n_repeats : int, default=10
        Number of times that folds are drawn.
    qid : str or int, optional
        The column of X that holds query ids (a name for data frames, an index for
        arrays); this works without metadata routing. By default the ids come as ``qid``
        through metadata routing, which needs no request, or as `groups`.
    random_state : int, RandomState instance or None, default=None
        An int gives the same folds at every call.

    Raises
    ------
    ValueError
        If `n_splits` is less than 2 or `n_repeats` less than 1. The split raises it if
        there are no query ids, or fewer queries than folds.

    See Also
    --------
    QueryKFold : The same without repeats.
    QueryShuffleSplit : Test sets of any size, which may overlap.
    sklearn.model_selection.RepeatedKFold : The same for rows.

    Notes
    -----
    Folds do not depend on the order of rows. Scores of the same queries in several
    repeats are not independent: a test that assumes independence finds differences too
    easily.

    Examples
    --------
    >>> import numpy as np
    >>> from tieaware_sklearn import RepeatedQueryKFold
    >>> qid = np.repeat(["a", "b", "c", "d"], 2)
    >>> cv = RepeatedQueryKFold(2, n_repeats=2, random_state=2)
    >>> for _, test in cv.split(np.zeros((8, 1)), groups=qid):
    ...     print(np.unique(qid[test]))
    ['a' 'c']
    ['b' 'd']
    ['c' 'd']
    ['a' 'b']
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 10,
        qid: str | int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        check_count(n_splits, "n_splits", least=2)
        check_count(n_repeats, "n_repeats")
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.qid = qid
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds in all repeats.

        Parameters
        ----------
        X, y, groups : ignored

        Returns
        -------
        int
        """
        return self.n_splits * self.n_repeats

    def _parts(self, queries: Queries, y: Any) -> Iterator[Part]:
        check_n_splits(self.n_splits, queries)
        rng = check_seed(self.random_state)
        once = QueryKFold(self.n_splits, shuffle=True, random_state=rng)
        return (part for _ in range(self.n_repeats) for part in once._parts(queries, y))


def check_n_splits(n_splits: int, queries: Queries) -> None:
    """Refuse more folds than queries."""
    if queries.n_queries < n_splits:
        raise ValueError(
            f"n_splits must be at most the number of queries ({queries.n_queries}), "
            f"got {n_splits}"
        )


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
