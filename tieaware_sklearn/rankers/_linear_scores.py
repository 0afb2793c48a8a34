"""Linear scores, their features transformed and put on one scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.ties import FloatArray
from .._engine.validation import check_choice

TRANSFORMS = ("identity", "log1p", "rank")


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
