"""Queries dealt into buckets, and measured some buckets at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from ..evaluation._averages import mean, std_of_mean
from ..evaluation._labelled_queries import STATISTICS, statistics_of
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import Asked


class Measured(NamedTuple):
    """What scores of some queries are worth.

    Arrays of shape (n_chosen,); `tied` and `ranked` count documents.
    """

    chosen: IntArray
    values: dict[str, FloatArray]
    tied: int
    ranked: int


class QueryBuckets:
    """Labels of queries, measured for any choice of them.

    Parameters
    ----------
    prepared : Prepared
        The queries in the order of their ids, their rows query by query.
    asked : Asked
        One measure.
    """

    def __init__(self, prepared: Prepared, asked: Asked) -> None:
        self.prepared = prepared
        self._asked = asked
        (chance,) = prepared.of_labels(asked, ["chance"])
        counts = ~np.isnan(chance[:, 0])
        if prepared.weight is not None:
            counts &= prepared.weight > 0
        if not counts.any():
            raise ValueError(
                f"y must hold a query for which {asked.measures[0]} is defined"
                f"{'' if prepared.weight is None else ' and that has weight'}, got "
                f"none (of {prepared.queries.n_queries} queries)"
            )

    def measured(self, chosen: IntArray, scores: Any) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        some = self.prepared
        if len(chosen) < some.queries.n_queries or (np.diff(chosen) != 1).any():
            some = some.of_queries(chosen)

        def compute(groups: TieGroups) -> tuple[list[FloatArray], int, int]:
            found = statistics_of(self._asked.measures, STATISTICS, groups)
            tied = int(groups.n[groups.n > 1].sum())
            return found, tied, int(groups.n.sum())

        parts, tied, ranked = zip(
            *some.labelled.each_block(compute, scores), strict=True
        )
        stacked = map(some.labelled.in_order, zip(*parts, strict=True))
        found = dict(zip(STATISTICS, stacked, strict=True))
        filled = self._asked.fill_statistics(found, some.queries)
        values = {name: column[:, 0] for name, column in filled.items()}
        return Measured(chosen, values, sum(tied), sum(ranked))

    def mean(self, measured: Measured, part: IntArray | slice = slice(None)) -> float:
        """Mean value of some of the queries, NaN where none is defined."""
        weight = self._weight(measured.chosen[part])
        return mean(measured.values["expected"][part], weight)

    def summary(self, parts: list[Measured]) -> dict[str, float]:
        """Averages over all that was measured; its value is the ``"mean"``."""
        chosen = np.concatenate([part.chosen for part in parts])
        weight = self._weight(chosen)
        expected, best, worst, std = (
            np.concatenate([part.values[name] for part in parts]) for name in STATISTICS
        )
        ranked = sum(part.ranked for part in parts)
        return {
            "mean": mean(expected, weight),
            "best": mean(best, weight),
            "worst": mean(worst, weight),
            "tie_std": std_of_mean(std, weight),
            "tied_documents": sum(part.tied for part in parts) / max(ranked, 1),
            "n_queries": len(chosen),
        }

    def _weight(self, chosen: IntArray) -> FloatArray | None:
        weight = self.prepared.weight
        return None if weight is None else weight[chosen]


def deal(n_queries: int, size: int, seed: int) -> list[IntArray]:
    """Fixed buckets of about `size` queries, drawn at random."""
    order = np.random.default_rng(seed).permutation(n_queries)
    return [np.sort(part) for part in np.array_split(order, -(-n_queries // size))]
