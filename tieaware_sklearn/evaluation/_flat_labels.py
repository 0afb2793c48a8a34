"""Labels as flat arrays, ranked by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._engine import checks, segments, tie_groups
from .._engine.segments import FloatArray, IntArray
from ..measures import Measure


class FlatLabels:
    """The labels of some queries, one after another: what NumPy ranks.

    Parameters are those of `ArrangedLabels`, its twin of the kernel.
    """

    def __init__(
        self,
        code: NDArray[np.integer[Any]],
        order: IntArray | None,
        start: IntArray,
        sizes: IntArray,
        levels: FloatArray,
    ) -> None:
        rows = segments.consecutive(start, sizes)
        self._rows = rows if order is None else order[rows]
        self._query = segments.owners(sizes)
        self._label = code[self._rows]
        self.ties = tie_groups.all_tied(sizes, self._label, levels)

    def walk(self, measure: Measure) -> Any:
        """None: the kernel has walks."""
        return None

    def rank(
        self, scores: NDArray[Any], *, ascending: bool, input_order: bool
    ) -> tie_groups.TieGroups:
        """The ties of these queries; `scores` are those of all rows."""
        own = scores[self._rows]
        ranks, n_ranks = tie_groups.dense_ranks(own)
        place = ranks if ascending else n_ranks - 1 - ranks
        place[ranks < 0] = n_ranks
        return tie_groups.find_ties(
            self._query,
            place,
            self._label,
            self.ties,
            retrieved=checks.is_retrieved(own),
            input_order=input_order,
        )
