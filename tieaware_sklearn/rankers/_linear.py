"""A linear score over features, as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .._engine.exact import as_floats, numbers_of
from .._engine.matrix import without_mask
from .._engine.ties import FloatArray
from .._engine.validation import check_choice
from ._ranker_mixin import RankerMixin

TRANSFORMS = ("identity", "log1p", "rank")


class LinearRanker(RankerMixin, BaseEstimator):  # type: ignore[misc]
    """Rank by a weighted sum of features, Σ coef x transform(feature).

    Rows with equal features have equal scores, to the last bit, wherever they are in X.
    Matrix products of linear algebra libraries do not guarantee this, and can break
    ties.

    Parameters
    ----------
    coef : array-like of shape (n_features,), optional
        Weights of the transformed features. By default the inverse of their standard
        deviation, which weights standardised features equally (0 for constant ones).
    transforms : str or list of str, optional
        Transform of all features, or of each: ``"identity"`` (the default), ``"log1p"``
        (sign(x) log(1 + abs(x))) or ``"rank"`` (the share of training values below x,
        plus half the share of those equal to it).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,), float64
        Weights of the transformed features.
    transforms_ : tuple of str
        Transform of each feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where all are texts.

    See Also
    --------
    tieaware_sklearn.optuna.LinearScoringObjective : Tunes the weights.

    Notes
    -----
    `fit` learns from X alone and so takes no query ids; `score` needs them.

    Examples
    --------
    >>> from tieaware_sklearn import LinearRanker, ranking_score
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=60, random_state=0)
    >>> columns = [web.feature_names.index(name) for name in ("text_score", "clicks")]
    >>> ranker = LinearRanker([1.0, 2.0], transforms=["identity", "log1p"])
    >>> scores = ranker.fit(web.data[:, columns]).predict(web.data[:, columns])
    >>> scores.shape == web.target.shape
    True
    """

    def __init__(
        self,
        coef: ArrayLike | None = None,
        transforms: str | Sequence[str] | None = None,
    ) -> None:
        self.coef = coef
        self.transforms = transforms

    def fit(self, X: Any, y: Any = None) -> LinearRanker:
        """Learn what the transforms and default weights need.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Features, finite numbers.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If `coef` or `transforms` does not have one entry per feature, or has an
            entry that is not allowed, or if X has values that are not finite.
        """
        X = validate_data(self, without_mask(X), dtype=np.float64, order="C")
        self.transforms_ = check_transforms(self.transforms, X.shape[1])
        self._sorted_ = [
            np.sort(column) if kind == "rank" else None
            for column, kind in zip(X.T, self.transforms_, strict=True)
        ]
        if self.coef is None:
            self.coef_ = 1 / scales(self._transform(X))
        else:
            self.coef_ = as_floats(numbers_of(self.coef, "coef"), "coef").copy()
            if self.coef_.shape != (X.shape[1],):
                raise ValueError(
                    f"coef must have one weight per feature ({X.shape[1]}), got shape "
                    f"{self.coef_.shape}"
                )
            if not np.isfinite(self.coef_).all():
                raise ValueError(f"coef must be finite, got {self.coef_}")
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the scores of the rows of X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Features, finite numbers.

        Returns
        -------
        ndarray of shape (n_rows,), float64

        Raises
        ------
        ValueError
            If X does not have the features of `fit`, or has values that are not finite.
        """
        check_is_fitted(self)
        X = without_mask(X)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return linear_scores(self._transform(X), self.coef_)

    def _transform(self, X: FloatArray) -> FloatArray:
        if set(self.transforms_) == {"identity"}:
            return X
        columns = zip(X.T, self.transforms_, self._sorted_, strict=True)
        return np.column_stack([transformed(*column) for column in columns])


def linear_scores(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Σ_j X_ij coef_j, the same bits for the same row."""
    scores = np.zeros(len(X))
    # einsum itself cuts rows in buffers of 8192, not at the same place in each
    for start in range(0, len(coef), 4096):
        part = np.ascontiguousarray(X[:, start : start + 4096])
        scores += np.einsum("ij,j->i", part, coef[start : start + 4096])
    return scores


def transformed(
    column: FloatArray, kind: str, ordered: FloatArray | None = None
) -> FloatArray:
    """One feature, transformed; `ordered` are its sorted training values."""
    if kind == "log1p":
        return np.asarray(np.sign(column) * np.log1p(np.abs(column)))
    if kind == "rank":
        if ordered is None:
            ordered = np.sort(column)
        below = np.searchsorted(ordered, column, side="left")
        up_to = np.searchsorted(ordered, column, side="right")
        return np.asarray((below + up_to) / (2 * len(ordered)))
    return column


def scales(X: FloatArray) -> FloatArray:
    """Standard deviations of features, infinite for constant ones."""
    constant = (X[:1] == X).all(axis=0)
    largest = np.abs(X).max(axis=0)
    extreme = ~constant & ((largest < 1e-100) | (largest > 1e100))
    if extreme.any():
        column = int(np.argmax(extreme))
        raise ValueError(
            "X must have features whose largest absolute values are from 1e-100 to "
            f"1e100, got {largest[column]:g} in column {column}"
        )
    # sorted first: a sum must not depend on the order of rows
    deviations = np.sort(X, axis=0).std(axis=0)
    return np.where(constant, np.inf, deviations)


def check_transforms(
    transforms: Any, n_features: int, allowed: tuple[str, ...] = TRANSFORMS
) -> tuple[str, ...]:
    """The transform of each feature."""
    each = "identity" if transforms is None else transforms
    names = (each,) * n_features if isinstance(each, str) else each
    if not isinstance(names, (list, tuple, np.ndarray)) or len(names) != n_features:
        raise ValueError(
            "transforms must be a name, or a list with one entry per feature "
            f"({n_features}), got {transforms!r}"
        )
    for name in names:
        check_choice(name, "transforms", allowed)
    return tuple(names)
