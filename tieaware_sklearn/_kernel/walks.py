"""What a measure tells the kernel: tables and levels, which is all that this knows."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._engine import FloatArray


class Walk(NamedTuple):
    """What is added up down a ranking.

    Attributes
    ----------
    kind : {"weighted", "precisions", "first", "found", "counted"}
        Gains weighted by rank; precisions at relevant documents; 1 over the rank of
        the first relevant one, or whether there is one; their number.
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

    def arguments(self) -> tuple[Any, ...]:
        """Those of the class of the same name in the kernel."""
        return self[:8]
