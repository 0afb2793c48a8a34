"""Labels, scores and measures in the kernel's form: levels, floats and plans."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, exact_numbers, segments, tie_groups
from .._typing import Array, FloatArray
from . import engines

#: Maximum number of rows, because row indices are 32-bit integers.
MOST_ROWS = 2**31 - 1
#: Maximum number of documents of a query that the free bits next to a 32-bit float can
#: number.
_MOST_OF_32_BITS = 1 << 29


class Plan(NamedTuple):
    """Quantities that the kernel adds up down a ranking, for one measure.

    Attributes
    ----------
    kind : {"weighted", "precisions", "first", "found", "counted", "satisfied"}
        Gains weighted by rank; precisions at relevant documents; 1 over the rank of
        the first relevant document, or whether there is a relevant document; the number
        of relevant documents; 1 over the rank of the document that satisfies a user,
        where the gain of a document is its chance of satisfying the user.
    depth : int or None
        Number of ranks that count, or None for all ranks.
    least : int
        The first level that is relevant, or that has a gain.
    gain : ndarray of shape (n_levels,), optional
        Gain of each level. Gains do not fall from level to level.
    tables : ndarray of shape (3, n_ranks), optional
        Weights of ranks, running sums of the weights, and rounding errors of these
        sums.
    at_relevant : bool
        Whether the cut-off is the number of relevant documents of the query.
    others : bool
        Whether the documents that are not relevant are counted.
    flat : bool
        Whether all ranks have the same weight.
    scale : float
        Amount that one document adds to the sum.
    over_ideal : bool
        Whether the denominator is the best sum, added up in the same way.
    """

    kind: str
    depth: int | None = None
    least: int = 0
    gain: FloatArray | None = None
    tables: FloatArray | None = None
    at_relevant: bool = False
    others: bool = False
    flat: bool = False
    scale: float = 1.0
    over_ideal: bool = False


def level_codes(labels: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return the distinct labels, ascending, and the index of each label in them."""
    code = np.empty(len(labels), dtype=np.int32)
    levels = engines.compiled.small_codes(np.ascontiguousarray(labels), code)
    if levels is not None:
        return np.array(levels, dtype=np.float64), code
    # The labels are sorted by the first bits of floats, 16 at a time, because NumPy
    # sorts 16-bit integers fast.
    bits = np.ascontiguousarray(labels).view(np.uint64) >> 32
    order = bits.astype(np.uint16).argsort(kind="stable")
    order = order[(bits >> 16).astype(np.uint16)[order].argsort(kind="stable")]
    # The labels are then sorted by the remaining bits. A stable sort is fast, because
    # most labels are already in order.
    order = order[labels[order].argsort(kind="stable")]
    ascending = labels[order]
    is_first = segments.begins(ascending)
    code[order] = is_first.cumsum() - 1
    return ascending[is_first], code


def score_columns(scores: Array) -> NDArray[np.floating[Any]]:
    """Return columns (n_columns, n_rows) of floats in the same order as the scores."""
    few = scores.shape[-1] <= _MOST_OF_32_BITS
    if scores.dtype == np.float64 or (scores.dtype == np.float32 and few):
        return np.ascontiguousarray(scores)
    if exact_numbers.fits_floats(scores):
        return np.ascontiguousarray(scores, dtype=np.float64)
    # The ranks of the scores have the same order as the scores.
    out = np.empty(scores.shape)
    for column, column_scores in zip(out, scores, strict=True):
        ranks, _ = tie_groups.dense_ranks(column_scores)
        column[:] = ranks
        column[ranks < 0] = np.nan
        column[~checks.is_retrieved(column_scores)] = -np.inf
    return out
