"""Blocks of queries as NumPy takes them: a row of a matrix for each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from .._engine.row_sort import Rows, find_row_ties, inside_rows
from .._engine.segments import owners
from .._engine.ties import (
    FloatArray,
    IntArray,
    Reach,
    TieGroups,
    all_tied,
    dense_ranks,
    find_ties,
)
from .._engine.validation import Queries, is_retrieved

# up to this many distinct labels every block lists them all
_FEW_LEVELS = 64


class RowBlock(NamedTuple):
    """Queries of about equal length: labels, and lists as if everything tied.

    Attributes
    ----------
    data : Queries
        All queries of the data set.
    queries : ndarray of shape (n_queries,)
        Those of the block.
    order : ndarray of shape (n_queries, longest) or None
        Rows of the data set of each query; None where those of a query stand
        together.
    rows : Rows
    everything : TieGroups
    """

    data: Queries
    queries: IntArray
    order: IntArray | None
    rows: Rows
    everything: TieGroups

    @classmethod
    def of(
        cls,
        data: Queries,
        queries: IntArray,
        codes: NDArray[np.integer[Any]],
        levels: FloatArray,
    ) -> RowBlock:
        """The block of these queries, which are sorted by length."""
        sizes = data.sizes[queries]
        longest = int(sizes[-1])
        order = None
        if data.order is not None:
            order = _by_query(data.order, data, queries, longest)
            label = codes[order]
        else:
            label = _by_query(codes, data, queries, longest)
        if len(levels) > _FEW_LEVELS:
            there, label = np.unique(label, return_inverse=True)
            levels = levels[there]
        rows = Rows(sizes, label, inside_rows(sizes, longest))
        everything = all_tied(sizes, rows.flat(label), levels)
        if rows.inside is not None:
            # any label that there is
            label[~rows.inside] = 0
        return cls(data, queries, order, rows, everything)

    def groups(
        self,
        scores: NDArray[Any],
        *,
        ascending: bool = False,
        input_order: bool = False,
        reaches: Sequence[Reach] = (Reach(),),
    ) -> TieGroups:
        """The ties of these queries; `scores` are those of all rows.

        Groups that none of the reaches looks at may be missing.
        """
        rows, everything = self.rows, self.everything
        if self.order is not None:
            column = scores[self.order]
        else:
            column = _by_query(scores, self.data, self.queries, rows.label.shape[1])
        found = find_row_ties(
            column,
            rows,
            everything,
            reaches,
            ascending=ascending,
            input_order=input_order,
        )
        if found is not None:
            return found
        flat = rows.flat(column)
        ranks, n_ranks = dense_ranks(flat)
        place = ranks if ascending else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        return find_ties(
            owners(rows.sizes),
            place,
            rows.flat(rows.label),
            everything,
            retrieved=is_retrieved(flat),
            input_order=input_order,
        )


def _by_query(
    values: NDArray[Any], data: Queries, queries: IntArray, longest: int
) -> NDArray[Any]:
    """A row for each query of `values`, which stand query by query.

    What is behind the end of a query belongs to any other.
    """
    # whole rows are copied twice as fast as their cells
    shape = (len(values) - longest + 1, longest)
    windows = as_strided(values, shape, 2 * values.strides, writeable=False)
    start, last = data.offsets[queries], len(windows) - 1
    out: NDArray[Any] = windows[np.minimum(start, last)]
    near_end = np.flatnonzero(start > last)
    if len(near_end):
        cells = start[near_end, None] + np.arange(longest)
        out[near_end] = values[np.minimum(cells, len(values) - 1)]
    return out
