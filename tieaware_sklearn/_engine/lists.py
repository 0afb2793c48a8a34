"""Queries as the rows of a matrix: which of its cells are documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display import words
from . import checks, exact_numbers, feature_matrix, messages, segments


@dataclass(frozen=True)
class Lists:
    """Documents in the cells of a matrix, a row for each query; others are padding.

    Attributes
    ----------
    there : ndarray of shape (n_queries, n_columns), bool
        The cells that are documents.
    like : str
        The name of a matrix of this shape.
    """

    there: NDArray[np.bool_]
    like: str

    @classmethod
    def of(
        cls,
        given: Mapping[str, Any],
        qid: Any,
        mask: Any,
        *,
        qid_name: str = "qid",
        full: bool = False,
    ) -> Lists | None:
        """The cells of a mask, or those that are not missing in all of the arrays.

        None where the first array is a column. Without a mask, all cells are documents
        of a matrix that is `full`.
        """
        label, first = next(iter(given.items()))
        is_matrix = exact_numbers.are_lists(first, masked=mask is not None)
        if not is_matrix and mask is None:
            return None
        rule = f"mask must be None unless {label} has shape (n_queries, n_documents)"
        messages.require(is_matrix, rule)
        rule = f"{qid_name} must be None where {label} has two dimensions: its"
        messages.require(qid is None, f"{rule} rows are the queries")
        labels = matrix_of(first, label)
        got = f"got shape {labels.shape}"
        messages.require(
            labels.ndim == 2, f"{label} must have one or two dimensions, {got}"
        )
        messages.require(labels.size, f"{label} must not be empty, {got}")
        if mask is not None:
            there = matrix_of(mask, "mask")
            rule = "mask must be boolean, True where there is a document (seen == 0), "
            messages.require(there.dtype.kind == "b", f"{rule}got dtype {there.dtype}")
            _check_shape(there.shape, labels.shape, "mask", label)
            if label == "y_true" and labels.dtype.kind in "biuf":
                relevant = labels > 0
                if relevant.any() and not relevant[there].any():
                    words.warn(
                        "mask leaves out all relevant documents: it must be True where "
                        "there is a document (~mask is its opposite)"
                    )
        else:
            there = np.full(labels.shape, full)
            for name, values in given.items():
                matrix = matrix_of(values, name)
                _check_shape(matrix.shape, labels.shape, name, label)
                there |= ~_missing(matrix)
        empty = ~there.any(axis=1)
        rule = f"{label} must have a document in every row, got nothing but padding in"
        if mask is not None:
            rule = "mask must be True somewhere in every row, got no document in"
        messages.require(not empty.any(), f"{rule} row {int(np.argmax(empty))}")
        return cls(there, label)

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

    def documents(
        self, values: Any, name: str, *, several: bool = False
    ) -> NDArray[Any]:
        """Values of the documents in a matrix of this shape, query by query.

        A document may have `several`, along a last axis.
        """
        matrix = matrix_of(values, name)
        shape = matrix.shape[:2] if several else matrix.shape
        _check_shape(shape, self.there.shape, name, self.like)
        if self.there.all():
            return matrix.reshape(-1, *matrix.shape[2:])
        cells: NDArray[Any] = matrix[self.there]
        return cells

    def place(self, document: int) -> str:
        """Where a document stands, for a message."""
        return messages.in_cell(int(self.cells[document]), self.there.shape[1])


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


def check_rankings(
    given: Mapping[str, Any], qid: Any, mask: Any
) -> tuple[list[NDArray[Any]], checks.Queries, Lists | None]:
    """Scores of the same documents by several rankings, in columns or matrices."""
    lists, columns, n_rows = Lists.of(given, qid, mask), [], None
    place = messages.in_row if lists is None else lists.place
    for name, values in given.items():
        flat = values if lists is None else lists.documents(values, name)
        scores = checks.check_scores(flat, n_rows=n_rows, name=name, place=place)
        columns.append(scores)
        # the first ranking gives the number of documents
        n_rows = len(scores)
    if lists is not None:
        return columns, lists.queries, lists
    return columns, checks.check_qid(qid, n_rows=len(columns[0])), None


def _check_shape(
    given: tuple[int, ...], shape: tuple[int, ...], name: str, like: str
) -> None:
    rule = f"{name} must have the shape of {like}, {shape}"
    messages.require(given == shape, rule, given)
