"""Displays of systems, given by their scores or as fitted estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._engine import count_rows
from ..comparison import check_systems
from ..model_selection import predicted_scores
from ._display_base import Display

#: checked scores by the names of systems
Systems = dict[str, Any]


class SystemsDisplay(Display):
    """A display of one system, or of several that rank the same documents."""

    @classmethod
    @abstractmethod
    def _measure(cls, y_true: Any, systems: Systems, ax: Any, **options: Any) -> Self:
        """Compute what is to be seen of checked scores, and plot it."""

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: Any = None,
        response_method: str | Sequence[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Rank documents by fitted estimators, and plot the results.

        Parameters
        ----------
        estimator : fitted estimator, or mapping of str to such
            One estimator, or several by name.
        X : array-like or data frame of shape (n_rows, n_features)
            Features of the documents.
        y : array-like of shape (n_rows,)
            Labels.
        qid : array-like of shape (n_rows,), optional
            Query of each row.
        response_method
            As in `make_ranking_scorer`.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.
        **options
            As in `from_predictions`.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            As in `from_predictions`, and if scores are NaN.
        """
        if not isinstance(estimator, Mapping):
            estimator = {type(estimator).__name__: estimator}
        n_rows = count_rows(X)
        scores = {
            str(name): predicted_scores(one, X, n_rows, response_method, qid=qid)
            for name, one in estimator.items()
        }
        return cls.from_predictions(y, scores, qid=qid, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Any,
        *,
        qid: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Measure systems by their scores, and plot the results.

        Parameters
        ----------
        y_true : array-like of shape (n_documents,)
            Labels.
        y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents,) or (n_documents, n_systems)
            Scores of one system, or of each of several.
        qid : array-like of shape (n_documents,), optional
            Query of each document.
        ax : matplotlib Axes or list of them, optional
            Axes to draw into, one per panel.
        **options
            Options of the function that the description of the class names.

        Returns
        -------
        Display

        Raises
        ------
        ValueError
            As in that function.
        """
        names, columns = check_systems(y_score, len(np.asarray(y_true)))
        systems = dict(zip(names, columns, strict=True))
        return cls._measure(y_true, systems, ax, qid=qid, **options)


def check_one_treatment(display: str, ties: Any = "expected", **_: Any) -> None:
    """Refuse several treatments of ties for a display that has room for one."""
    if not isinstance(ties, str):
        raise ValueError(f"ties must be one treatment for {display}, got {ties!r}")
