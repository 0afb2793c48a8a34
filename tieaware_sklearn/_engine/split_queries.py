"""Split queries: a fitted ranker recognises its own, and warns if folds split them."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

from .._display import words
from . import checks, hashing
from .segments import IntArray

#: of a list in an attribute, so many are looked at
_MOST_INSIDE = 10_000


class SplitQueriesWarning(UserWarning):
    """Scored queries have ids that the ranker was fitted on other rows of.

    Most often, folds have split queries: `QueryKFold` keeps them whole.

    See Also
    --------
    make_ranking_scorer : Says when its scorers warn.

    Examples
    --------
    >>> import warnings
    >>> from tieaware_sklearn import SplitQueriesWarning
    >>> with warnings.catch_warnings():
    ...     warnings.filterwarnings("ignore", category=SplitQueriesWarning)
    """


class FittedQueries(NamedTuple):
    """The queries of a fit, 16 bytes each, none of them by its name.

    Attributes
    ----------
    ids : ndarray of shape (n_queries,), uint64
        Digests, ascending.
    sizes : ndarray of shape (n_queries,)
        Numbers of rows.
    """

    ids: hashing.Digests
    sizes: IntArray

    @classmethod
    def of(cls, queries: checks.Queries) -> FittedQueries:
        """Keep the digests and the sizes of these queries."""
        ids = hashing.value_bits(queries.qid)
        order = np.argsort(ids)
        return cls(ids[order], queries.sizes[order])

    def otherwise(self, queries: checks.Queries) -> IntArray:
        """The queries whose ids were there, but with another number of rows."""
        ids = hashing.value_bits(queries.qid)
        at = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        other = (self.ids[at] == ids) & (self.sizes[at] != queries.sizes)
        return np.flatnonzero(other)


def check_whole_queries(estimator: Any, queries: checks.Queries) -> None:
    """Warn, once, of queries that a ranker was fitted on other rows of.

    Parameters
    ----------
    estimator : object
        A ranker that keeps its `FittedQueries`, or a fitted estimator with such
        rankers inside; others are not checked.
    queries : Queries
        What the estimator is given to predict.

    Warns
    -----
    SplitQueriesWarning
    """
    for ranker in _rankers_inside(estimator, set()):
        split = ranker._fitted_queries_.otherwise(queries)
        if len(split):
            more = "" if len(split) == 1 else f" and {len(split) - 1} more"
            sizes, saw = ranker._fitted_queries_.sizes, ""
            if isinstance(getattr(ranker, "qid", None), numbers.Integral):
                saw = (
                    f"Its ids were column {ranker.qid} of what it got in fit, with "
                    f"{len(sizes)} values in {sizes.sum()} rows. If that is a feature, "
                    "a step before the ranker, such as SelectKBest, dropped or moved "
                    "the ids: pass qid by metadata routing. "
                )
            words.warn(
                f"qid holds ids that {type(ranker).__name__} was fitted on with other "
                f"numbers of rows: {queries.name(split[0])}{more}. {saw}If the folds "
                "split queries, as those of an integer cv do, the scores are of "
                "shorter, easier rankings: use QueryKFold, which keeps queries whole. "
                "If these are other queries, make ids unique. Or, as where bagging "
                "drew the rows of fit, silence this: "
                'warnings.filterwarnings("ignore", '
                "category=tieaware_sklearn.SplitQueriesWarning)",
                SplitQueriesWarning,
            )
            return


def _rankers_inside(value: Any, known: set[int]) -> Iterator[Any]:
    """Rankers that keep their queries, in attributes with names that end in _.

    A `FrozenEstimator`, and what is no estimator itself, have them under any name; a
    pipeline has its steps. Attributes may be lists of them, or of (name, estimator).
    """
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        # longer ones are data
        for item in value[:_MOST_INSIDE]:
            yield from _rankers_inside(item, known)
    methods = ("fit", "predict", "predict_proba")
    if id(value) in known or not any(hasattr(value, name) for name in methods):
        return
    known.add(id(value))
    # not those of a class: a FrozenEstimator has all that the one inside has
    attributes: dict[str, Any] = getattr(value, "__dict__", {})
    if isinstance(attributes.get("_fitted_queries_"), FittedQueries):
        yield value
        return
    plain = isinstance(value, FrozenEstimator) or not isinstance(value, BaseEstimator)
    for name, inner in attributes.items():
        if plain or name == "steps" or (name.endswith("_") and name[0] != "_"):
            yield from _rankers_inside(inner, known)
