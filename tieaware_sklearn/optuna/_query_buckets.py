"""Queries dealt into buckets, and measured some buckets at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._engine.ties import FloatArray, IntArray, TieGroups
from .._engine.validation import Queries
from ..evaluation._averages import mean, std_of_mean
from ..evaluation._labelled_queries import STATISTICS, statistics_of
from ..evaluation._prepared_ranking import Prepared
from ..evaluation._undefined import ask
from ..measures import Measure


class Measured(NamedTuple):
    """What scores of some queries are worth.

    Arrays of shape (n_chosen,); `tied` and `ranked` count documents.
    """

    chosen: IntArray
    values: dict[str, FloatArray]
    tied: int
    ranked: int


class Summary(NamedTuple):
    """Averages over the queries measured so far."""

    value: float
    best: float
    worst: float
    tie_std: float
    tied_documents: float
    n_queries: int


class QueryBuckets:
    """Labels of queries, measured for any choice of them.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), float64
        Query by query.
    queries : Queries
        In the order of their ids, their rows arranged already.
    measure : Measure
    zero_relevance : float, "skip" or "raise"
    weight : ndarray of shape (n_queries,) or None
    """

    def __init__(
        self,
        labels: FloatArray,
        queries: Queries,
        measure: Measure,
        zero_relevance: float | str,
        weight: FloatArray | None,
    ) -> None:
        self.queries = Queries(queries.qid, queries.offsets, None)
        self.labels = labels
        self.zero_relevance = zero_relevance
        self.weight = weight
        self._asked = ask([measure], zero_relevance)
        self._prepare()
        (chance,) = self._all.of_labels(self._asked, ["chance"])
        counts = ~np.isnan(chance[:, 0])
        if weight is not None:
            counts &= weight > 0
        if not counts.any():
            raise ValueError(
                f"y must hold a query for which {measure} is defined"
                f"{'' if weight is None else ' and that has weight'}, got none (of "
                f"{self.queries.n_queries} queries)"
            )

    def _prepare(self) -> None:
        self._all = Prepared(self.labels, self.queries, self.weight, keep=True)

    def reorder(self, rows: IntArray) -> None:
        """Take the rows of each query in another order."""
        self.labels = self.labels[rows]
        self._prepare()

    def measured(self, chosen: IntArray, scores: Any) -> Measured:
        """Exact values of these queries, given scores of their rows in order."""
        some = self._all
        if len(chosen) < self.queries.n_queries or (np.diff(chosen) != 1).any():
            some = self._all.of_queries(chosen)

        def compute(groups: TieGroups) -> tuple[list[FloatArray], int, int]:
            found = statistics_of(self._asked.measures, STATISTICS, groups)
            tied = int(groups.n[groups.n > 1].sum())
            return found, tied, int(groups.n.sum())

        parts = some.labelled.each_block(compute, scores)
        stacked = [
            some.labelled.in_order(arrays)
            for arrays in zip(*(part[0] for part in parts), strict=True)
        ]
        found = dict(zip(STATISTICS, stacked, strict=True))
        filled = self._asked.fill_statistics(found, some.queries)
        return Measured(
            chosen,
            {name: values[:, 0] for name, values in filled.items()},
            sum(part[1] for part in parts),
            sum(part[2] for part in parts),
        )

    def mean(self, measured: Measured, part: IntArray | slice = slice(None)) -> float:
        """Mean value of some of the queries, NaN where none is defined."""
        values, chosen = measured.values["expected"][part], measured.chosen[part]
        return mean(values, None if self.weight is None else self.weight[chosen])

    def summary(self, parts: list[Measured]) -> Summary:
        """Averages over all that was measured."""
        chosen = np.concatenate([part.chosen for part in parts])
        weight = None if self.weight is None else self.weight[chosen]
        values = {
            name: np.concatenate([part.values[name] for part in parts])
            for name in STATISTICS
        }
        ranked = sum(part.ranked for part in parts)
        return Summary(
            value=mean(values["expected"], weight),
            best=mean(values["best"], weight),
            worst=mean(values["worst"], weight),
            tie_std=std_of_mean(values["std"], weight),
            tied_documents=sum(part.tied for part in parts) / max(ranked, 1),
            n_queries=len(chosen),
        )


def deal(n_queries: int, size: int, seed: int) -> list[IntArray]:
    """Fixed buckets of about `size` queries, drawn at random."""
    order = np.random.default_rng(seed).permutation(n_queries)
    return [np.sort(part) for part in np.array_split(order, -(-n_queries // size))]
