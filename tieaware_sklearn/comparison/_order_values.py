"""Values of a system over orders of its ties, drawn at random or enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._engine.segments import begins, offsets_of, runs
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import DROPPED_LABEL, Queries
from ..evaluation._canonical_rows import CanonicalRows
from ..evaluation._intervals import NO_DIFFERENCE
from ..evaluation._judged_rows import not_retrieved
from ..evaluation._labelled_queries import LabelledQueries
from ..measures import Measure

#: scores of all orders that are ranked at a time
_CELLS = 1 << 20


class OrderValues:
    """Values of a system per query, the queries by id, in orders of its ties.

    Only queries whose value depends on the order are ranked again.

    Parameters
    ----------
    labels, scores : ndarray of shape (n_rows,)
    queries : Queries
    measures : sequence of Measure
    found : dict of str to ndarray of shape (n_measures, n_queries)
        "expected", "best" and "worst", the queries in order of first appearance.
    seed : list of int
        Seed of the orders. They do not depend on the measures.

    Attributes
    ----------
    expected : ndarray of shape (n_measures, n_queries)
        Means over all orders.
    varies : ndarray of shape (n_measures, n_queries), bool
        Where the value depends on the order.
    """

    def __init__(
        self,
        labels: FloatArray,
        scores: NDArray[Any],
        queries: Queries,
        measures: Sequence[Measure],
        found: dict[str, FloatArray],
        seed: Sequence[int],
    ) -> None:
        dropped = np.flatnonzero(labels == DROPPED_LABEL)
        rows = CanonicalRows(labels, not_retrieved(scores, dropped), queries)
        by_id = {name: values[:, rows.by_id] for name, values in found.items()}
        self.expected = by_id["expected"]
        apart = np.abs(by_id["best"] - by_id["worst"]) > NO_DIFFERENCE
        self.varies = apart & rows.tied
        self._random = np.random.default_rng(seed)
        self._open = np.flatnonzero(self.varies.any(axis=0))
        mixed = rows.mixed[rows.group]
        self._n_drawn = int(mixed.sum())
        if not len(self._open):
            return
        at = rows.queries.rows(self._open)
        there = np.zeros(len(mixed), dtype=bool)
        there[at] = True
        self._kept = there[mixed]
        tied = at[mixed[at]]
        starts, sizes = runs(rows.group[tied])
        self._tied_labels = np.split(rows.label[tied], starts[1:])
        self._log_orders = _log_arrangements(rows.label[tied], starts, sizes)
        self._parts = _parts(rows, self._open, mixed, measures)

    def enumerated(self, most: int) -> FloatArray | None:
        """The values in every order, if there are no more than so many.

        Of shape (n_measures, n_orders, n_queries). Orders that differ by documents of
        the same label only are one.
        """
        if not len(self._open):
            return self.expected[:, None]
        if self._log_orders > math.log(most) + 1e-6:
            return None
        places = [list(_places(labels)) for labels in self._tied_labels]
        chosen = [np.concatenate(one) for one in itertools.product(*places)]
        return self._values(np.array(chosen))

    def draw(self, number: int) -> FloatArray:
        """The values in so many more random orders, of the same shape."""
        if not len(self._open):
            return np.repeat(self.expected[:, None], number, axis=1)
        n_rows = max(len(part.scores) for part in self._parts)
        n_at_once = max(1, _CELLS // max(n_rows, self._n_drawn))
        parts = []
        for start in range(0, number, n_at_once):
            n = min(n_at_once, number - start)
            drawn = self._random.random((n, self._n_drawn))
            parts.append(self._values(drawn[:, self._kept]))
        return np.concatenate(parts, axis=1)

    def _values(self, places: FloatArray) -> FloatArray:
        """Values by the places, from 0 to 1, of the tied documents in their groups.

        Two equal places, if they are ever drawn, leave a tie of two documents, which
        is worth its exact mean.
        """
        out = np.repeat(self.expected[:, None], len(places), axis=1)
        for part in self._parts:
            for m, values in zip(part.numbers, part.values(places), strict=True):
                there = self.varies[m, self._open]
                out[m][:, self._open[there]] = values[there].T
        return out


class _Part(NamedTuple):
    """Measures, and the rows that they need of queries that vary.

    Attributes
    ----------
    numbers : list of int
        Which of the measures.
    measures : list of Measure
    labelled : LabelledQueries
    scores : ndarray of shape (n_rows,)
        They tie as the scores of the system do, and tied ones are 1 apart.
    tied : ndarray of shape (n_tied,)
        The rows in tie groups that mix labels.
    """

    numbers: list[int]
    measures: list[Measure]
    labelled: LabelledQueries
    scores: FloatArray
    tied: IntArray

    @classmethod
    def of(
        cls,
        rows: CanonicalRows,
        chosen: IntArray,
        at: IntArray,
        mixed: NDArray[np.bool_],
        measures: Sequence[Measure],
    ) -> _Part:
        """All measures, of the canonical rows `at` of the chosen queries."""
        sizes = np.diff(np.searchsorted(at, rows.queries.offsets))[chosen]
        own = Queries(rows.queries.qid[chosen], offsets_of(sizes), None)
        # the groups of each query from 0 down: a place in a group is added to them
        group = rows.group[at]
        first = np.repeat(group[own.offsets[:-1]], own.sizes)
        return cls(
            list(range(len(measures))),
            list(measures),
            LabelledQueries(rows.label[at], own, keep=True),
            np.where(rows.retrieved[at], (first - group).astype(np.float64), -np.inf),
            np.flatnonzero(mixed[at]),
        )

    def some(self, chosen: NDArray[np.bool_]) -> _Part:
        """The same for some of the measures."""
        numbers = np.flatnonzero(chosen).tolist()
        measures = [self.measures[m] for m in numbers]
        return self._replace(numbers=numbers, measures=measures)

    def values(self, places: FloatArray) -> FloatArray:
        """Of shape (n_measures, n_queries, n_orders)."""
        scores = np.repeat(self.scores[None], len(places), axis=0)
        scores[:, self.tied] += places
        found = self.labelled.values(self.measures, scores, statistics=("expected",))
        return found["expected"].T

    def statistics(self) -> FloatArray:
        """What tells measures that need more rows, of shape (n_measures, ...)."""
        names = ("expected", "best", "worst", "normaliser")
        found = self.labelled.values(self.measures, self.scores, statistics=names)
        return np.stack([found[name].T for name in names], axis=1)


def _parts(
    rows: CanonicalRows,
    chosen: IntArray,
    mixed: NDArray[np.bool_],
    measures: Sequence[Measure],
) -> list[_Part]:
    """Parts that together have all measures.

    A run is often a small part of the documents judged. Most measures have no use for
    documents without relevance that are not retrieved: those whose mean, best, worst
    and normaliser are the same without them, to the last bit.
    """
    at = rows.queries.rows(chosen)
    every = _Part.of(rows, chosen, at, mixed, measures)
    of_use = rows.retrieved[at] | (rows.label[at] > 0)
    if of_use.all():
        return [every]
    fewer = _Part.of(rows, chosen, at[of_use], mixed, measures)
    same = np.array(
        [
            np.array_equal(*both, equal_nan=True)
            for both in zip(every.statistics(), fewer.statistics(), strict=True)
        ]
    )
    parts = [(fewer, same), (every, ~same)]
    return [part.some(own) for part, own in parts if own.any()]


def _log_arrangements(label: FloatArray, starts: Any, sizes: Any) -> float:
    """Logarithm of the number of distinct orders of the labels of all groups."""
    new = begins(label)
    new[starts] = True
    alike = np.diff(np.append(np.flatnonzero(new), len(label)))
    return float(gammaln(sizes + 1.0).sum() - gammaln(alike + 1.0).sum())


def _places(labels: FloatArray) -> Iterator[FloatArray]:
    """The places of documents, by label, in each distinct order of a tie group."""
    order = labels.tolist()
    heights = 1 - (np.arange(len(order)) + 1) / (len(order) + 1)
    while True:
        # the documents of a label, one after another
        yield heights[np.argsort(order, kind="stable")]
        # the next order in the lexicographic sequence
        falls = [i for i in range(len(order) - 1) if order[i] < order[i + 1]]
        if not falls:
            return
        at = falls[-1]
        larger = max(j for j in range(at + 1, len(order)) if order[j] > order[at])
        order[at], order[larger] = order[larger], order[at]
        order[at + 1 :] = order[:at:-1]
