"""Fitted queries and the gain of a ranker, and warnings of split queries."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._display import words
from .._typing import IntArray
from . import checks, hashing


class SplitQueriesWarning(UserWarning):
    """Warning that queries were scored and fitted with different numbers of rows.

    Queries are recognised by their ids. The usual reason is that folds split queries.
    `QueryKFold` keeps queries whole.

    See Also
    --------
    make_ranking_scorer : Makes scorers. The notes state when scorers emit the warning.

    Examples
    --------
    >>> import warnings
    >>> from tieaware_sklearn import SplitQueriesWarning
    >>> with warnings.catch_warnings():
    ...     warnings.filterwarnings("ignore", category=SplitQueriesWarning)
    """


@dataclass(frozen=True)
class FittedQueries:
    """The queries of a fit, which take 16 bytes each. The ids are not stored.

    Attributes
    ----------
    ids : ndarray of shape (n_queries,), uint64
        Digests of the query ids, in ascending order.
    sizes : ndarray of shape (n_queries,)
        Number of rows of each query.
    """

    ids: hashing.Digests
    sizes: IntArray

    @classmethod
    def from_queries(cls, queries: checks.Queries) -> FittedQueries:
        """Return the digests and the sizes of these queries."""
        ids = hashing.value_bits(queries.qid)
        order = np.argsort(ids)
        return cls(ids[order], queries.sizes[order])

    def resized(self, queries: checks.Queries) -> IntArray:
        """Return the indices of queries that were fitted with other numbers of rows."""
        ids = hashing.value_bits(queries.qid)
        place = np.minimum(self.ids.searchsorted(ids), len(self.ids) - 1)
        is_known = self.ids[place] == ids
        return np.flatnonzero(is_known & (self.sizes[place] != queries.sizes))


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, or the estimator itself."""
    if not isinstance(estimator, Pipeline):
        return estimator
    _, step = estimator.steps[-1]
    return step


def stated_gain(estimator: Any) -> Any:
    """Return the gain that the parameters of a ranker state for training, or None."""
    return getattr(last_step(estimator), "_stated_gain", None)


def check_whole_queries(estimator: Any, queries: checks.Queries) -> None:
    """Warn of queries that had other numbers of rows when a ranker was fitted.

    Parameters
    ----------
    estimator : object
        A ranker that keeps its `FittedQueries`, or a pipeline whose last step is such a
        ranker. Other estimators are not checked.
    queries : Queries
        The queries whose scores are predicted.

    Warns
    -----
    SplitQueriesWarning
        If a query was fitted with another number of rows.
    """
    ranker = last_step(estimator)
    fitted = getattr(ranker, "_fitted_queries_", None)
    if fitted is None:
        return
    resized = fitted.resized(queries)
    if not len(resized):
        return
    more = f" and {len(resized) - 1} more" if len(resized) > 1 else ""
    column = getattr(ranker, "qid", None)
    advice = ""
    if isinstance(column, numbers.Integral):
        advice = (
            f"In fit, the ids were column {column} of X, with {len(fitted.sizes)} "
            f"values in {fitted.sizes.sum()} rows. If the column is a feature, a step "
            "before the ranker, such as SelectKBest, dropped or moved the ids: pass "
            "qid by metadata routing. "
        )
    words.warn(
        f"qid contains ids that had other numbers of rows when {type(ranker).__name__} "
        f"was fitted: {queries.name(resized[0])}{more}. {advice}If the folds split "
        "queries, as the folds of an integer cv do, the rankings that are scored are "
        "shorter and easier: use QueryKFold, which keeps queries whole. If different "
        "queries share an id, make the ids unique, or silence this warning: "
        'warnings.filterwarnings("ignore", '
        "category=tieaware_sklearn.SplitQueriesWarning)",
        SplitQueriesWarning,
    )
