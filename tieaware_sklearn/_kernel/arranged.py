"""Labels, scores and measures as the kernel takes them: levels, floats and plans."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, exact_numbers, segments, tie_groups
from .._typing import Array, FloatArray
from . import engines

#: rows are numbered by integers of 32 bits
MOST_ROWS = 2**31 - 1
#: 32-bit floats leave as many bits free as number so many documents of a query
_MOST_OF_32_BITS = 1 << 29


class Plan(NamedTuple):
    """Quantities that the kernel adds up down a ranking, for one measure.

    Attributes
    ----------
    kind : {"weighted", "precisions", "first", "found", "counted", "satisfied"}
        Gains weighted by rank; precisions at relevant documents; 1 over the rank of
        the first relevant one, or whether there is one; their number; 1 over the rank
        of the document that satisfies a user, with a chance that is its gain.
    depth : int or None
        Ranks that count.
    least : int
        The first level that is relevant, or that has a gain.
    gain : ndarray of shape (n_levels,), optional
        Not falling from level to level.
    tables : ndarray of shape (3, n_ranks), optional
        Of ranks: weights, their running sums, and what these have lost.
    at_relevant : bool
        The cut-off is the number of relevant documents of the query.
    others : bool
        Documents that are not relevant are counted.
    flat : bool
        All ranks weigh the same.
    scale : float
        What one document counts.
    over_ideal : bool
        The denominator is the best sum, added up in the same way.
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
    """The distinct labels, ascending, and the place of each label among them."""
    code = np.empty(len(labels), dtype=np.int32)
    levels = engines.compiled.small_codes(np.ascontiguousarray(labels), code)
    if levels is not None:
        return np.array(levels, dtype=np.float64), code
    # by the first bits of floats, 16 at a time, which NumPy sorts fast
    bits = np.ascontiguousarray(labels).view(np.uint64) >> 32
    order = bits.astype(np.uint16).argsort(kind="stable")
    order = order[(bits >> 16).astype(np.uint16)[order].argsort(kind="stable")]
    # then by what is left, mostly in order
    order = order[labels[order].argsort(kind="stable")]
    ascending = labels[order]
    is_first = segments.begins(ascending)
    code[order] = is_first.cumsum() - 1
    return ascending[is_first], code


def score_columns(scores: Array) -> NDArray[np.floating[Any]]:
    """Columns (n_columns, n_rows) as floats that compare as the scores do."""
    few = scores.shape[-1] <= _MOST_OF_32_BITS
    if scores.dtype == np.float64 or (scores.dtype == np.float32 and few):
        return np.ascontiguousarray(scores)
    if exact_numbers.fits_floats(scores):
        return np.ascontiguousarray(scores, dtype=np.float64)
    # ranks compare as the scores do
    out = np.empty(scores.shape)
    for column, column_scores in zip(out, scores, strict=True):
        ranks, _ = tie_groups.dense_ranks(column_scores)
        column[:] = ranks
        column[ranks < 0] = np.nan
        column[~checks.is_retrieved(column_scores)] = -np.inf
    return out
