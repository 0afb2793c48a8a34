"""Queries as rows of a matrix, whose cells are documents or padding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._display import words
from .._typing import Array, BoolArray, IndexArray
from . import checks, exact_numbers, messages, segments


@dataclass(frozen=True)
class Lists:
    """Documents in the cells of a matrix, with a row for each query and padding.

    Attributes
    ----------
    is_document : ndarray of shape (n_queries, n_columns), bool
        Mask of the cells that are documents.
    like : str
        The name of a matrix of this shape, for messages.
    """

    is_document: BoolArray
    like: str

    @classmethod
    def from_matrices(
        cls,
        matrices: Mapping[str, Any],
        qid: Any,
        mask: Any,
        *,
        qid_name: str = "qid",
        full: bool = False,
    ) -> Lists | None:
        """Return the documents of a mask, or the cells with a value in any matrix.

        The result is None if the first array is a column. Without a mask, all cells of
        a `full` matrix are documents.
        """
        name, first = next(iter(matrices.items()))
        labels = exact_numbers.as_array(first, name)
        if labels.ndim != 2 or (mask is None and labels.shape[1] == 1):
            if mask is not None:
                raise ValueError(
                    f"mask must be None unless {name} has shape (n_queries, "
                    f"n_documents), got {name} of shape {labels.shape}"
                )
            return None
        if qid is not None:
            raise ValueError(
                f"{qid_name} must be None if {name} has two dimensions, because the "
                f"rows of {name} are the queries"
            )
        if not labels.size:
            raise ValueError(f"{name} must not be empty, got shape {labels.shape}")
        if mask is None:
            is_document = np.full(labels.shape, full)
            for matrix_name, values in matrices.items():
                matrix = exact_numbers.as_array(values, matrix_name)
                _check_shape(matrix.shape, labels.shape, matrix_name, name)
                is_document |= ~_is_missing(matrix)
            requirement = f"{name} must have a document in every row, got only padding"
        else:
            is_document = _check_mask(mask, labels, name)
            requirement = "mask must be True at least once in every row, got only False"
        is_empty = ~is_document.any(axis=1)
        if is_empty.any():
            raise ValueError(f"{requirement} in row {int(np.argmax(is_empty))}")
        return cls(is_document, name)

    @property
    def queries(self) -> checks.Queries:
        """The documents by query. The query ids are the indices of the rows."""
        sizes = self.is_document.sum(axis=1)
        return checks.Queries(np.arange(len(sizes)), segments.offsets_of(sizes), None)

    @property
    def rows(self) -> checks.Queries:
        """One query for each row of the matrix, as if each row were a single document.

        With these queries, checks of one value per document become checks of one value
        per query.
        """
        numbers = np.arange(len(self.is_document) + 1)
        return checks.Queries(numbers[:-1], numbers, None)

    @property
    def cells(self) -> IndexArray:
        """The indices of documents in the flattened matrix."""
        return np.flatnonzero(self.is_document)

    def documents(self, values: Any, name: str, *, several: bool = False) -> Array:
        """Return the values of the documents in a matrix of this shape.

        The documents are sorted by query. With `several`, each document has several
        values, along a last axis.
        """
        matrix = exact_numbers.as_array(values, name)
        shape = matrix.shape[:2] if several else matrix.shape
        _check_shape(shape, self.is_document.shape, name, self.like)
        if self.is_document.all():  # A view is faster.
            return matrix.reshape(-1, *matrix.shape[2:])
        return matrix[self.is_document]

    def place(self, document: int) -> str:
        """Return the place of a document in the matrix, for a message."""
        n_columns = self.is_document.shape[1]
        return messages.in_cell(int(self.cells[document]), n_columns)


def _check_mask(mask: Any, labels: Array, name: str) -> BoolArray:
    """Return the mask as an array. Warn if it leaves out all relevant documents."""
    is_document = exact_numbers.as_array(mask, "mask")
    if is_document.dtype.kind != "b":
        raise ValueError(
            "mask must be boolean, with True for documents and False elsewhere, got "
            f"dtype {is_document.dtype}"
        )
    _check_shape(is_document.shape, labels.shape, "mask", name)
    if name == "y_true" and labels.dtype.kind in "biuf":
        is_relevant = labels > 0
        if is_relevant.any() and not is_relevant[is_document].any():
            words.warn(
                "mask leaves out all relevant documents, but must be True for "
                "documents: pass ~mask if True marks padding"
            )
    return is_document


def _check_shape(
    shape: tuple[int, ...], expected: tuple[int, ...], name: str, like: str
) -> None:
    if shape != expected:
        raise ValueError(
            f"{name} must have the same shape as {like}, {expected}, got {shape}"
        )


def _is_missing(matrix: Array) -> BoolArray:
    if matrix.dtype.kind == "f":
        return np.isnan(matrix)
    if matrix.dtype.kind == "O":
        return np.asarray(np.vectorize(exact_numbers.is_missing, [bool])(matrix))
    return np.zeros(matrix.shape, dtype=bool)


def check_rankings(
    rankings: Mapping[str, Any], qid: Any, mask: Any
) -> tuple[list[Array], checks.Queries, Lists | None]:
    """Return the scores of the same documents in several rankings, as columns."""
    lists = Lists.from_matrices(rankings, qid, mask)
    place = messages.in_row if lists is None else lists.place
    columns = []
    n_rows = None
    for name, values in rankings.items():
        column = values if lists is None else lists.documents(values, name)
        scores = checks.check_scores(column, n_rows=n_rows, name=name, place=place)
        columns.append(scores)
        # All rankings must have as many documents as the first ranking.
        n_rows = len(scores)
    if lists is not None:
        return columns, lists.queries, lists
    return columns, checks.check_qid(qid, n_rows=len(columns[0])), None
