"""Krippendorff's alpha: agreement of assessors if ratings are missing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .._engine import checks, exact_numbers
from .._typing import Array, BoolArray, FloatArray, IntArray

LEVELS = ("nominal", "ordinal", "interval")


def krippendorff_alpha(ratings: ArrayLike, *, level: str = "nominal") -> float:
    """Compute Krippendorff's alpha, the agreement of any number of assessors.

    Unlike the other coefficients, alpha accepts missing ratings.

    Parameters
    ----------
    ratings : array-like of shape (n_items, n_assessors)
        Judgment of each item by each assessor, as numbers, or as strings for the
        nominal level. NaN and None stand for missing ratings. Items with fewer than two
        ratings are left out.
    level : {"nominal", "ordinal", "interval"}, default="nominal"
        Level of measurement, which defines the distance between two ratings. With
        "nominal", the distance is 1 if the ratings are different, and otherwise 0. With
        "ordinal", the distance depends on how many ratings lie between the two ratings
        (see Notes). With "interval", the distance is the absolute difference of the two
        numbers.

    Returns
    -------
    float
        Coefficient of agreement: 1 for full agreement, 0 for the agreement expected by
        chance, and negative for less agreement than expected by chance. The coefficient
        is NaN if no item has two ratings, or if all ratings of the items with two or
        more ratings are equal.

    Raises
    ------
    ValueError
        If the ratings are not a matrix with at least one cell, mix numbers and strings,
        contain infinite numbers, or are strings at the ordinal or interval level. Also
        if the level is unknown.

    See Also
    --------
    assessor_agreement : Reports coefficients for each pair if no rating is missing.
    fleiss_kappa : Computes a coefficient for categories, and requires the same number
        of assessors for every item.

    Notes
    -----
    The coefficient is alpha = 1 - D_o/D_e. Let m_u be the number of ratings of item u,
    n the number of ratings of all items with m_u >= 2, and n_c the number of these n
    ratings that are equal to c. Then D_o = (1/n) Σ_u Σ_{i≠j} δ²(i, j)/(m_u - 1), where
    the inner sum is over the ordered pairs of two ratings i and j of item u, and
    D_e = Σ_c Σ_k n_c n_k δ²(c, k)/(n (n - 1)). At the nominal level, δ²(c, k) is 0 if
    c = k, and otherwise 1. At the interval level, δ²(c, k) is (c - k)². At the ordinal
    level, δ²(c, k) is the squared difference of the midranks of c and k among the n
    ratings. See Krippendorff, "Content Analysis" (2004), chapter 11.

    Examples
    --------
    >>> from tieaware_sklearn.judgments import krippendorff_alpha
    >>> nan = float("nan")
    >>> ratings = [[2, 2, nan], [1, 0, 1], [0, 0, 0], [1, nan, 1], [nan, nan, 2]]
    >>> round(krippendorff_alpha(ratings, level="ordinal"), 4)
    0.8
    """
    checks.check_choice(level, "level", LEVELS)
    table, is_rated = _check_ratings(ratings, level)
    is_kept = is_rated & (is_rated.sum(axis=1) >= 2)[:, None]
    if not is_kept.any():
        return math.nan
    values, code = np.unique(table[is_kept], return_inverse=True)
    n_ratings = np.bincount(code)
    codes = np.full(table.shape, -1)
    codes[is_kept] = code
    codes = codes[is_kept.any(axis=1)]
    # The matrix has one row for each item and one column for each value.
    columns = [(codes == c).sum(axis=1) for c in range(len(values))]
    counts = np.stack(columns, axis=1)
    distance = _squared_distances(values, n_ratings, level)
    n = float(n_ratings.sum())
    expected = float(n_ratings @ distance @ n_ratings) / (n * (n - 1))
    # Equal ratings have distance 0, so pairs of a rating with itself add nothing.
    item_distances = ((counts @ distance) * counts).sum(axis=1)
    item_distances /= counts.sum(axis=1) - 1
    observed = float(item_distances.sum()) / n
    return 1.0 - observed / expected if expected > 0 else math.nan


def _check_ratings(ratings: ArrayLike, level: str) -> tuple[Array, BoolArray]:
    """Return the ratings as numbers or strings, and a mask of the present ratings."""
    exact_numbers.check_not_masked(ratings, "ratings")
    # NumPy would convert numbers to strings if the ratings also contain strings.
    table = np.asarray(ratings, dtype=object)
    if table.ndim != 2 or not table.size:
        raise ValueError(
            "ratings must have a row for each item and a column for each assessor, got "
            f"shape {table.shape}"
        )
    is_missing = [*map(exact_numbers.is_missing, table.ravel().tolist())]
    is_rated = ~np.reshape(is_missing, table.shape)
    rated = table[is_rated].tolist()
    is_text = [isinstance(value, str) for value in rated]
    if any(is_text):
        if not all(is_text):
            raise ValueError(
                "ratings must contain only numbers or only strings, got both"
            )
        if level != "nominal":
            raise ValueError(
                f"ratings must be numbers at the {level} level, got {rated[0]!r}"
            )
        return np.where(is_rated, table, "").astype(str), is_rated
    numbers = np.full(table.shape, np.nan)
    if rated:
        numbers[is_rated] = exact_numbers.floats_of(rated, "ratings")
    if np.isinf(numbers).any():
        raise ValueError("ratings must be finite, got an infinite number")
    return numbers, is_rated


def _squared_distances(values: Array, counts: IntArray, level: str) -> FloatArray:
    """Return δ² of each pair of values, from the number of ratings with each value."""
    if level == "nominal":
        return 1.0 - np.eye(len(values))
    midranks = np.cumsum(counts) - (counts - 1) / 2
    scale = midranks if level == "ordinal" else values
    difference = np.subtract.outer(scale, scale)
    return difference**2
