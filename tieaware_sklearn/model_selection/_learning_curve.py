"""Learning curves: scores by the number of training queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.model_selection import BaseCrossValidator, cross_validate

from .._engine.exact import show
from .._engine.qid_column import ids_of
from .._engine.seeds import check_seed
from .._engine.ties import IntArray
from .._engine.validation import check_qid, is_number
from ..measures import Measure
from ._folds import check_cv
from ._query_splits import Rows
from ._scorers import make_ranking_scorer

_SHARES = (0.1, 0.325, 0.55, 0.775, 1.0)


def query_learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    qid: Any,
    train_sizes: Sequence[float | int] = _SHARES,
    cv: Any = 5,
    scoring: Any = "ndcg@10",
    n_jobs: int | None = None,
    error_score: Any = np.nan,
    random_state: Any = 0,
    return_times: bool = False,
    params: Mapping[str, Any] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Compute a learning curve over the number of training queries.

    It is like `sklearn.model_selection.learning_curve`, but that function takes the
    first rows of each training fold and so splits queries. Here training sets consist
    of whole queries, and each contains the smaller ones.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is cloned for every fit.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Labels.
    qid : array-like of shape (n_rows,), or str or int
        Query of each row, which goes to the estimator, the scorer and the splitter
        through metadata routing, switched on for the call. Or the column of X that
        holds it (a name for data frames, an index for arrays), which the estimator must
        leave out of its features, as ``QueryLGBMRanker(qid=...)`` does.
    train_sizes : list of float or int, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Sizes of the training sets: numbers of queries, or shares of the training
        queries of the fold that has the fewest.
    cv : int or cross-validator, default=5
        Number of folds of `QueryKFold`, or a cross-validator, which is given the query
        ids as `groups` unless its own `qid` names a column.
    scoring : str, Measure or callable, default="ndcg@10"
        A measure, as in `make_ranking_scorer`, or a scorer.
    n_jobs : int, optional
        Number of processes that fit (joblib).
    error_score : float or "raise", default=nan
        The score where fitting or scoring fails; with ``"raise"``, the error is raised.
    random_state : int, RandomState instance or None, default=0
        Seed for drawing the training queries.
    return_times : bool, default=False
        Whether to return the times for fitting and scoring, too.
    params : dict, optional
        Further metadata, which is routed to `fit` and the scorer; it needs metadata
        routing to be switched on.

    Returns
    -------
    train_sizes : ndarray of shape (n_sizes,), int
        Numbers of training queries, ascending, without repeats.
    train_scores, test_scores : ndarray of shape (n_sizes, n_folds)
        Scores on the training rows and on the test rows.
    fit_times, score_times : ndarray of shape (n_sizes, n_folds)
        Times in seconds, only with `return_times`.

    Raises
    ------
    ValueError
        If a training size is neither a share nor a number of queries, if the folds
        split a query, or if `scoring` is several measures.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : Draws the curve.
    sklearn.model_selection.validation_curve : Scores by the values of a parameter; with
        `QueryKFold` and `make_ranking_scorer` it keeps queries whole.

    Notes
    -----
    Which queries are drawn does not depend on the order of rows. `HalvingGridSearchCV`,
    with its default ``resource="n_samples"``, splits queries as `learning_curve` does:
    see `QueryKFold`.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import query_learning_curve
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> sizes, train_scores, test_scores = query_learning_curve(
    ...     Ridge(), web.data, web.target, qid=web.qid, cv=3)
    >>> sizes
    array([ 4, 13, 22, 31, 40])
    >>> test_scores.mean(axis=1).round(2)
    array([0.52, 0.55, 0.56, 0.56, 0.56])
    """
    ids, is_column = ids_of(X, qid)
    splits = _NestedQueries(_folds(cv, X, y, ids), ids, train_sizes, random_state)
    given = dict(params or {})
    if not is_column:
        given["qid"] = ids
    if isinstance(scoring, (str, Measure)):
        scoring = make_ranking_scorer(scoring, qid=qid if is_column else None)
    if not callable(scoring):
        raise ValueError(
            f"scoring must be one measure or one scorer, got {show(scoring)}"
        )
    routing = not is_column or get_config()["enable_metadata_routing"]
    with config_context(enable_metadata_routing=routing):
        found = cross_validate(
            estimator,
            X,
            y,
            scoring=scoring,
            cv=splits,
            n_jobs=n_jobs,
            error_score=error_score,
            return_train_score=True,
            params=given,  # scikit-learn 1.6 cannot route None
        )
    names = ["train_score", "test_score"]
    names += ["fit_time", "score_time"] * return_times
    shape = len(splits.sizes), splits.n_folds
    return splits.sizes, *(np.reshape(found[name], shape) for name in names)


def _folds(cv: Any, X: Any, y: Any, ids: Any) -> list[tuple[Rows, Rows]]:
    cv = check_cv(cv)
    groups = ids if getattr(cv, "qid", None) is None else None
    return list(cv.split(X, y, groups))


class _NestedQueries(BaseCrossValidator):  # type: ignore[misc]
    """The folds, for each size with so many of their training queries.

    Those of a smaller size are among those of a larger one.
    """

    def __init__(
        self,
        folds: list[tuple[Rows, Rows]],
        ids: Any,
        train_sizes: Sequence[float | int],
        random_state: Any,
    ) -> None:
        n_rows = len(ids)
        queries = check_qid(ids, n_rows=n_rows).by_id()
        query = queries.row_codes()
        rng = check_seed(random_state)
        self.folds = []
        most = queries.n_queries
        for number, (train, test) in enumerate(folds):
            there = np.unique(query[train])
            if (
                np.isin(query[test], there).any()
                or len(train) != queries.sizes[there].sum()
            ):
                raise ValueError(
                    f"cv must keep queries whole, as QueryKFold does, got part of a "
                    f"query in fold {number}"
                )
            # the place of each training row's query in a random order
            place = np.empty(queries.n_queries, dtype=np.int64)
            place[rng.permutation(there)] = np.arange(len(there))
            self.folds.append((train, place[query[train]], test))
            most = min(most, len(there))
        self.sizes = _sizes(train_sizes, most)
        self.n_folds = len(folds)

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Rows, Rows]]:
        for size in self.sizes.tolist():
            for train, place, test in self.folds:
                yield train[place < size], test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.sizes) * self.n_folds


def _sizes(train_sizes: Sequence[float | int], most: int) -> IntArray:
    """Numbers of queries, ascending, each once."""
    sizes = np.ravel(np.asarray(train_sizes, dtype=object)).tolist()
    counts = set()
    for size in sizes:
        whole = isinstance(size, (int, np.integer)) and is_number(size, least=1)
        if not ((whole and size <= most) or is_number(size, above=0, most=1)):
            raise ValueError(
                "train_sizes must be shares in (0, 1] or numbers of queries up to "
                f"{most}, got {show(size)}"
            )
        counts.add(int(size) if whole else max(int(size * most), 1))
    if not counts:
        raise ValueError("train_sizes must not be empty")
    return np.array(sorted(counts), dtype=np.int64)
