"""Rows in an order that their contents decide, and parts of whole queries of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from .._engine.exact import show
from .._engine.qid_column import (
    array_of,
    count_rows,
    ids_of,
    list_columns,
    split_qid_column,
    take_rows,
)
from .._engine.row_order import by_content
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    Queries,
    check_labels,
    check_length,
    check_qid,
    check_query_weight,
)
from ..model_selection._folds import query_folds


class QueryRows:
    """Features, labels and queries, sorted by the ids and contents of the rows.

    Nothing that is computed of them depends on the order in which they were given.

    Attributes
    ----------
    X, labels : features and labels
    queries : Queries
        By id; their rows stand in this order.
    weight : ndarray of shape (n_queries,) or None
    names : tuple of str
        Names of the columns of X.
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any,
        *,
        unjudged: str = "raise",
        query_weight: ArrayLike | None = None,
    ) -> None:
        ids, is_column = ids_of(X, qid)
        X = split_qid_column(X, qid)[0] if is_column else X
        X = X if hasattr(X, "shape") else array_of(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must be 2-dimensional, got shape {X.shape}")
        labels = check_labels(y, unjudged=unjudged, name="y")
        check_length(labels, count_rows(X), "y")
        given = by_content(X, check_qid(ids, n_rows=len(labels)), labels)
        self.weight = check_query_weight(query_weight, given)
        self.X, self.labels = take_rows(X, given.order), given.arrange(labels)
        self.queries = Queries(given.qid, given.offsets, None)
        # where each of these rows was
        self._given = given.given(np.arange(given.n_rows))
        names = list_columns(X) or [f"x{j}" for j in range(X.shape[1])]
        self.names = tuple(map(str, names))

    def part(self, chosen: IntArray) -> tuple[Any, FloatArray, Queries]:
        """Features, labels and queries; one that is chosen twice is two of them."""
        rows = self.queries.rows(chosen)
        part = self.queries.some(chosen)
        if len(np.unique(chosen)) < len(chosen):
            part = Queries(np.arange(len(chosen)), part.offsets, None)
        return take_rows(self.X, rows), self.labels[rows], part

    def folds(self, cv: Any) -> list[tuple[IntArray, IntArray]]:
        """Training and test queries of each fold.

        Raises
        ------
        ValueError
            For no fold, and for one that splits queries or tests on a training query.
        """
        place = np.argsort(self._given)  # splitters see rows as they were given
        codes = self.queries.codes[place]
        X, labels = take_rows(self.X, place), self.labels[place]
        return query_folds(cv, X, labels, codes, self.queries.qid)


def check_without_qid(model: Any, name: str) -> None:
    """Refuse an estimator, or a pipeline of one, that reads ids from a column of X."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    for own in [model, *steps]:
        if getattr(own, "qid", None) is not None:
            raise ValueError(
                f"qid must be given once, as an argument, got {name} "
                f"{type(own).__name__}(qid={own.qid!r})"
            )


def check_selector(selector: Any, name: str = "selector") -> None:
    """Refuse what is no selector of scikit-learn's interface."""
    if isinstance(selector, type) or not (
        hasattr(selector, "fit") and hasattr(selector, "get_support")
    ):
        raise ValueError(
            f"{name} must be a selector with fit and get_support, got {show(selector)}"
        )
    check_without_qid(selector, "selector")


def check_selectors(selectors: Any) -> dict[str, Any]:
    """Selectors by name; one alone goes by its class."""
    if not isinstance(selectors, Mapping):
        check_selector(selectors, "selectors")
        return {type(selectors).__name__: selectors}
    if not selectors:
        raise ValueError("selectors must have at least one entry, got none")
    for name, selector in selectors.items():
        check_selector(selector, f"selectors[{name!r}]")
    return {str(name): selector for name, selector in selectors.items()}
