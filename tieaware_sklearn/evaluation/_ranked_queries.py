"""Queries ranked by scores: their ties, and values of measures, by either engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._engine import FloatArray, TieGroups
from .._kernel import ArrangedLabels, SortedRows, WalkedRows
from ..measures import Measure

#: how many numerators the kernel gives to have one of them
_ROOM = {"expected": 1, "best": 3, "worst": 3, "std": 4}


class RankedQueries:
    """A block of queries, ranked.

    Parameters
    ----------
    ranked : SortedRows or list of TieGroups
        Of each score column: sorted rows, or the ties in them.
    labels : ArrangedLabels, optional
        Of sorted rows, or of all documents as one tie.
    backwards : bool
        Lower scores rank first, of sorted rows.
    several : bool
        The score columns are the first axis of all statistics, be there but one.
    """

    def __init__(
        self,
        ranked: SortedRows | list[TieGroups],
        labels: ArrangedLabels | None = None,
        *,
        backwards: bool = False,
        several: bool = False,
    ) -> None:
        self._ranked = ranked
        self._labels = labels
        self._backwards = backwards
        self._several = several

    @property
    def groups(self) -> TieGroups:
        """Their ties, by the first score column."""
        return self._columns[0]

    def turned(self) -> RankedQueries:
        """Sorted rows by lower scores, without a further sort."""
        return RankedQueries(
            self._ranked, self._labels, backwards=True, several=self._several
        )

    @cached_property
    def _columns(self) -> list[TieGroups]:
        if isinstance(self._ranked, SortedRows):
            return self._ranked.groups(backwards=self._backwards)
        return self._ranked

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> list[FloatArray]:
        """Methods of `Measure` by name: each of shape (..., n_queries, n_measures).

        Several score columns come first.
        """
        walks = {} if self._labels is None else self._labels.walks(measures)
        rows: WalkedRows | None = None
        if isinstance(self._ranked, SortedRows):
            room = max(_ROOM.get(name, 0) for name in names)
            rows = self._ranked.walk(walks, room, backwards=self._backwards)
            shape = (*self._ranked.retrieved.shape, len(measures))
        else:
            shape = len(self._ranked), self.groups.n_queries, len(measures)
        out = []
        for name in names:
            values = np.empty(shape)
            for at, measure in enumerate(measures):
                compute = getattr(measure, name)
                if rows is not None and measure in walks:
                    values[..., at] = compute(rows)
                    continue
                for column, groups in zip(values, self._columns, strict=True):
                    column[:, at] = compute(groups)
            out.append(values if self._several else values[0])
        return out
