"""Ranking measures of single features, for scikit-learn's univariate filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._engine.qid_column import array_of, qid_index, spread_features, warn_one_query
from .._engine.ties import FloatArray
from ..measures import Measure, parse_measure
from ._selector import RankingFeatureSelector


class RankingScoreFunc(BaseEstimator):  # type: ignore[misc]
    """Exact ranking measures as the ``score_func`` of univariate feature selection.

    Every feature is scored alone, as a ranking. Use it in place of
    `sklearn.feature_selection.f_classif` in `SelectKBest`, `SelectPercentile`,
    `SelectFdr`, `SelectFpr`, `SelectFwe` and `GenericUnivariateSelect`, or call it as
    ``score_func(X, y, qid=qid)``, which returns scores and p-values.

    Parameters
    ----------
    measure : str or Measure, default="ndcg@10"
        A measure, as in `parse_measure`.
    direction : {"auto", "descending", "ascending"} or list, default="auto"
        As in `RankingFeatureSelector`.
    zero_relevance : float, "skip" or "raise", default=0.0
        As in `ranking_score`.
    qid : int or str, optional
        The column of X that holds query ids, which is never a feature. For the filters
        of scikit-learn it must be an index: they pass on arrays, which have no column
        names.
    n_jobs : int, optional
        Number of threads over features (joblib); no result depends on it.

    Raises
    ------
    ValueError
        When it is called: if the input or a parameter breaks a rule of
        `RankingFeatureSelector`.

    See Also
    --------
    sklearn.feature_selection.SelectKBest : A filter that takes a score function.
    RankingFeatureSelector : Selects by several measures, adds data in parts, takes
        query ids through metadata routing, and never selects a feature that is constant
        within queries.

    Notes
    -----
    Scores and p-values are ``mean_`` and ``pvalues_`` of `RankingFeatureSelector`, but
    scores are negated where lower is better, as they are by scorers. The column of
    query ids has a score of NaN, which scikit-learn ranks last, and a p-value of 1. It
    counts as a test where p-values are adjusted for their number, and it is kept by
    ``k="all"`` and by any `k` greater than the number of features. With fewer than two
    queries, p-values are NaN.

    A filter does not select the column of query ids. If a later ranker needs the ids,
    let the column bypass the filter, here with the ids in column 0 and ``every`` the
    list of all columns: ``ColumnTransformer([("features",
    SelectKBest(RankingScoreFunc("ap", qid=0), k=5), every), ("qid", "passthrough",
    [0])])``, followed by ``QueryLGBMRanker(qid=-1)``.

    Its parameters can be searched, as in ``{"selectkbest__score_func__measure": ["ap",
    "rr"]}``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from tieaware_sklearn import RankingScoreFunc
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=200, random_state=0)
    >>> X = np.column_stack([web.qid, web.data])
    >>> select = SelectKBest(RankingScoreFunc("ap", qid=0), k=3).fit(X, web.target)
    >>> select.get_feature_names_out(["qid", *web.feature_names]).tolist()
    ['clicks', 'text_score', 'log_clicks']
    >>> scores, pvalues = RankingScoreFunc("ap")(web.data, web.target, qid=web.qid)
    >>> bool((scores == select.scores_[1:]).all())
    True
    """

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        direction: str | Sequence[str] = "auto",
        zero_relevance: float | str = 0.0,
        qid: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.direction = direction
        self.zero_relevance = zero_relevance
        self.qid = qid
        self.n_jobs = n_jobs

    def __call__(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any = None,
        query_weight: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return scores and p-values of the columns of X.

        Parameters
        ----------
        X, y, qid, query_weight
            As in `RankingFeatureSelector.fit`.

        Returns
        -------
        scores, pvalues : ndarray of shape (n_columns,)

        Raises
        ------
        ValueError
            As in `RankingFeatureSelector.fit`.

        Warns
        -----
        UserWarning
            Without query ids.
        """
        measure = parse_measure(self.measure)
        X = X if hasattr(X, "shape") else array_of(X)
        if qid is None and self.qid is None:
            column = f"{type(self).__name__}(qid=<index>)"
            warn_one_query(X.shape[0], f"let them be a column of X, {column}")
            qid = np.zeros(X.shape[0])
        screening = RankingFeatureSelector(
            measure,
            direction=self.direction,
            zero_relevance=self.zero_relevance,
            qid=self.qid,
            redundancy=False,
            n_jobs=self.n_jobs,
        ).screen(X, y, qid, query_weight)
        is_feature = np.ones(X.shape[1], dtype=bool)
        if self.qid is not None:
            is_feature[qid_index(X, self.qid)] = False
        sign = 1 if measure.greater_is_better else -1
        return (
            spread_features(sign * screening.mean[:, 0], is_feature, np.nan),
            spread_features(screening.pvalues[:, 0], is_feature, 1.0),
        )
