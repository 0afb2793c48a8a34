"""Queries as the rows of a matrix: which of its cells are documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import checks, exact_numbers, feature_matrix, messages, segments


@dataclass(frozen=True)
class Lists:
    """Documents in the cells of a matrix, a row for each query; others are padding.

    Attributes
    ----------
    there : ndarray of shape (n_queries, n_columns), bool
        The cells that are documents.
    """

    there: NDArray[np.bool_]

    @classmethod
    def of(cls, y_true: Any, y_score: Any, mask: Any, names: tuple[str, str]) -> Lists:
        """The cells of a mask, or those that are not missing in both arrays.

        Without scores (None) all labels are of documents.
        """
        label, score = names
        labels = matrix_of(y_true, label)
        got = f"got shape {labels.shape}"
        messages.require(
            labels.ndim == 2, f"{label} must have one or two dimensions, {got}"
        )
        messages.require(labels.size, f"{label} must not be empty, {got}")
        if mask is not None:
            there = matrix_of(mask, "mask")
            rule = "mask must be boolean, True where there is a document, got dtype"
            messages.require(there.dtype.kind == "b", f"{rule} {there.dtype}")
            _check_shape(there, labels.shape, "mask", label)
        elif y_score is None:
            there = np.ones(labels.shape, dtype=bool)
        else:
            scores = matrix_of(y_score, score)
            _check_shape(scores, labels.shape, score, label)
            there = ~(_missing(labels) & _missing(scores))
        empty = ~there.any(axis=1)
        rule = f"{label} must have a document in every row, got nothing but padding in"
        messages.require(not empty.any(), f"{rule} row {int(np.argmax(empty))}")
        return cls(there)

    @property
    def queries(self) -> checks.Queries:
        """The documents by query; ids are the numbers of the rows."""
        sizes = self.there.sum(axis=1)
        return checks.Queries(np.arange(len(sizes)), segments.offsets_of(sizes), None)

    @property
    def rows(self) -> checks.Queries:
        """The rows, each as a query of its own: for what queries have one of."""
        numbers = np.arange(len(self.there) + 1)
        return checks.Queries(numbers[:-1], numbers, None)

    @property
    def cells(self) -> NDArray[np.intp]:
        """Where documents stand in the flattened matrix."""
        return np.flatnonzero(self.there)

    def documents(self, values: Any, name: str, like: str = "y_true") -> NDArray[Any]:
        """Values of the documents in a matrix of this shape, query by query."""
        matrix = matrix_of(values, name)
        _check_shape(matrix, self.there.shape, name, like)
        if self.there.all():
            return matrix.reshape(-1)
        cells: NDArray[Any] = matrix[self.there]
        return cells

    def place(self, document: int) -> str:
        """Where a document stands, for a message."""
        row, column = divmod(int(self.cells[document]), self.there.shape[1])
        return f"row {row}, column {column}"


def matrix_of(values: Any, name: str) -> NDArray[Any]:
    """An array in which no number is rounded, masked cells included."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    values = exact_numbers.from_tensor(values, name)
    try:
        return feature_matrix.array_of(values)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must have rows of equal length (pad labels and scores with NaN): "
            f"{error}"
        ) from None


def _missing(matrix: NDArray[Any]) -> NDArray[np.bool_]:
    values, missing = np.ma.getdata(matrix), np.ma.getmaskarray(matrix)
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    elif values.dtype.kind == "O":
        missing = missing | np.vectorize(exact_numbers.is_missing, [bool])(values)
    return missing


def _check_shape(
    matrix: NDArray[Any], shape: tuple[int, ...], name: str, like: str
) -> None:
    rule = f"{name} must have the shape of {like}, {shape}"
    messages.require(matrix.shape == shape, rule, matrix.shape)
