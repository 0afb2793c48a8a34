"""Columns of X as features, beside query ids; and rows that are checked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from .._display import warn
from .._engine import (
    as_matrix,
    blank_qid_column,
    check_kinds,
    check_no_nan,
    how_to_pass_qid,
    keep_order,
    qid_index,
    resolve_qid,
    warn_one_query,
    without_mask,
)
from ..evaluation import QueryRows

#: columns that are copied at once: as many float64 as a line of the cache holds
_COLUMNS_COPIED = 8
#: memory for them
_BYTES_COPIED = 1 << 27
#: rows of theirs that a cache holds
_ROWS_COPIED = 1 << 13


class FeatureColumns(SelectorMixin):  # type: ignore[misc]
    """A selector of the columns of X that are features.

    Attributes
    ----------
    qid : str, int or None
        The column of X with query ids.
    missing : {"raise", "last"}
        Whether NaN is an error.
    support_ : ndarray of shape (n_columns,), bool
        Which columns are selected.
    """

    qid: str | int | None
    missing: str
    support_: NDArray[np.bool_]
    n_features_in_: int
    _qid_at_: int

    def _check_features(
        self,
        X: Any,
        qid: Any,
        *,
        reset: bool,
        request: str = "set_fit_request(qid=False)",
    ) -> tuple[Any, Any]:
        """Features and query ids, `request` being what keeps routed ids away."""
        # NaN is refused below, in words that name `missing`
        options = {"accept_sparse": ("csc", "csr"), "ensure_all_finite": "allow-nan"}
        names = self._look_at(X, reset=reset)
        X, qid = resolve_qid(X, self.qid, qid, request=request)
        check_kinds(X, hint="; query ids go into qid={}" if self.qid is None else "")
        if self.qid is not None and not names:
            raise ValueError(
                f"X must have a feature beside its qid column {self.qid!r}, got "
                "n_features=1"
            )
        features = X
        X = check_array(without_mask(X), estimator=self, input_name="X", **options)
        X = keep_order(X, features)
        if self.missing == "raise":
            columns = getattr(self, "feature_names_in_", None)
            check_no_nan(X, columns if columns is None else columns[self._is_feature()])
        return X, qid

    def _rows(
        self,
        X: Any,
        y: ArrayLike,
        qid: Any,
        query_weight: ArrayLike | None,
        *,
        unjudged: str,
        allow_zero: bool = False,
    ) -> QueryRows:
        """Rows of features that are checked already."""
        name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None"
            )
        rows = QueryRows.of(
            X, y, qid, query_weight, unjudged=unjudged, allow_zero=allow_zero
        )
        if qid is None:
            how = f"{how_to_pass_qid()}, {name}(qid=<name or index>)"
            warn_one_query(len(rows.labels), f"pass qid to fit. {how}")
        return rows

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, in the order of their columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            The selected columns, of the type that `set_output` chooses; without a
            column, with a warning, if no feature is selected.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`.
        """
        check_is_fitted(self)
        why_none = "" if self.support_.any() else self._why_none()
        X = without_mask(X)
        if self.qid is not None:
            X = blank_qid_column(X, self.qid)
        if why_none:
            warn(why_none)
        with warnings.catch_warnings():
            if why_none:
                warnings.filterwarnings("ignore", "No features were selected")
            chosen = super().transform(X)
        objects = isinstance(chosen, np.ndarray) and chosen.dtype.kind == "O"
        if self.qid is None or not objects:
            return chosen
        # ids may be texts, which make objects of the numbers beside them
        finite = "allow-nan" if self.missing == "last" else True
        return check_array(chosen, ensure_all_finite=finite, ensure_min_features=0)

    def _why_none(self) -> str:
        """Why no feature is selected, for a message."""
        return "no feature is selected: each is constant within every query"

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.support_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "last"
        return tags

    def _is_feature(self) -> NDArray[np.bool_]:
        """Columns of X that are features."""
        features = np.ones(self.n_features_in_, dtype=bool)
        if self.qid is not None:
            features[self._qid_at_] = False
        return features

    def _names(self) -> list[str]:
        """Names of the features; x0, x1, ... by the columns of X if they have none."""
        columns = np.flatnonzero(self._is_feature())
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return [f"x{j}" for j in columns.tolist()]
        return [str(name) for name in names[columns]]

    def _look_at(self, X: Any, *, reset: bool = True) -> list[str]:
        """Take, or without `reset` compare, the columns of X; names of the features."""
        X = as_matrix(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if self.qid is not None:
            self._qid_at_ = qid_index(X, self.qid)
        return self._names()


def columns_of(X: Any, some: slice) -> NDArray[Any]:
    """Columns of a dense or sparse matrix, dense."""
    part = X[:, some]
    return np.asarray(part.toarray() if sp.issparse(part) else part)


def side_by_side(X: Any, some: slice) -> NDArray[Any]:
    """The same columns, each contiguous: of shape (n_columns, n_rows)."""
    columns = columns_of(X, some).T
    if columns.flags.c_contiguous:
        return columns
    # NumPy copies column by column, reading all lines of the cache for each of them
    out = np.empty(columns.shape, dtype=columns.dtype)
    for start in range(0, columns.shape[1], _ROWS_COPIED):
        rows = slice(start, start + _ROWS_COPIED)
        out[:, rows] = columns[:, rows]
    return out


def columns_taken(X: Any, size: int, most: int) -> int:
    """How many columns to copy at once: a multiple of `size`, `most` at the most."""
    column_bytes = max(int(X.shape[0]) * int(X.dtype.itemsize), 1)
    taken = min(_COLUMNS_COPIED, _BYTES_COPIED // column_bytes, most)
    return size * max(taken // size, 1)
