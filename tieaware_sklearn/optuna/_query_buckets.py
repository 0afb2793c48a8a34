"""Labels of queries, measured some at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, IntArray
from ..evaluation._averages import means, stds_of_means
from ..evaluation._labelled_queries import STATISTICS
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._ranked_queries import RankedQueries
from ..evaluation._undefined import Asked


class Measured(NamedTuple):
    """Exact values of some queries.

    `values` are arrays of shape (n_chosen, n_measures); `tied` and `ranked` count
    documents.
    """

    chosen: IntArray
    values: dict[str, FloatArray]
    tied: int
    ranked: int


class Step(NamedTuple):
    """Queries measured together, and the places in them of each of their buckets.

    `seconds` is how long it took to score them, without all else.
    """

    measured: Measured
    buckets: list[tuple[int, IntArray]]
    is_last: bool
    seconds: float = 0.0


class Summary(NamedTuple):
    """Averages over queries: a value per measure, and how ties move it."""

    mean: list[float]
    best: list[float]
    worst: list[float]
    tie_std: list[float]
    tied_documents: float
    n_queries: int


class QueryBuckets:
    """Labels of queries, measured for any choice of them.

    Parameters
    ----------
    prepared : Prepared
        The queries in the order of their ids, their rows query by query.
    asked : Asked
    """

    def __init__(self, prepared: Prepared, asked: Asked) -> None:
        self.prepared = prepared
        self._asked = asked
        (chance,) = prepared.of_labels(asked, ["chance"])
        weight = prepared.weight
        self._weight = np.ones(len(chance)) if weight is None else weight
        counts = ~np.isnan(chance) & (self._weight > 0)[:, None]
        for j, measure in enumerate(asked.measures):
            if not counts[:, j].any():
                raise ValueError(
                    f"y must have a query for which {measure} is defined"
                    f"{'' if weight is None else ' and that has weight'}, got "
                    f"none (of {prepared.queries.n_queries} queries)"
                )

    def measured(self, chosen: IntArray, scores: NDArray[np.generic]) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        some = self.prepared
        if len(chosen) < some.queries.n_queries or (np.diff(chosen) != 1).any():
            some = some.of_queries(chosen)

        def compute(ranked: RankedQueries) -> tuple[list[FloatArray], int, int]:
            found = ranked.statistics(self._asked.measures, STATISTICS)
            groups = ranked.groups
            tied = int(groups.n[groups.n > 1].sum())
            return found, tied, int(groups.n.sum())

        parts, tied, ranked = zip(
            *some.labelled.each_block(compute, scores), strict=True
        )
        stacked = map(some.labelled.in_order, zip(*parts, strict=True))
        found = dict(zip(STATISTICS, stacked, strict=True))
        filled = self._asked.fill_statistics(found, some.queries)
        return Measured(chosen, filled, sum(tied), sum(ranked))

    def means(
        self, measured: Measured, part: IntArray | slice = slice(None)
    ) -> list[float]:
        """Mean values of some of the queries, NaN where none is defined."""
        weight = self._weight[measured.chosen[part]]
        found: list[float] = means(measured.values["expected"][part], weight).tolist()
        return found

    def summary(self, parts: list[Measured]) -> Summary:
        """Averages over all that was measured."""
        chosen = np.concatenate([part.chosen for part in parts])
        weight = self._weight[chosen]
        expected, best, worst, std = (
            np.concatenate([part.values[name] for part in parts]) for name in STATISTICS
        )
        tied, ranked = sum(p.tied for p in parts), sum(p.ranked for p in parts)
        return Summary(
            mean=means(expected, weight).tolist(),
            best=means(best, weight).tolist(),
            worst=means(worst, weight).tolist(),
            tie_std=stds_of_means(std, weight).tolist(),
            tied_documents=tied / max(ranked, 1),
            n_queries=len(chosen),
        )
