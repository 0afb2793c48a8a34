"""Later queries for testing, earlier ones for training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from .._engine.validation import Queries, check_count
from ._query_splits import (
    Part,
    QuerySplits,
    Rows,
    flags,
    given_or_column,
    query_ranks,
    rows_of,
)


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
        return (
            (flags(n_queries, order[train]), flags(n_queries, order[test]))
            for train, test in TimeSeriesSplit.split(self, order)
        )
