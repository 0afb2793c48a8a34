"""Values of a system over orders of its ties, drawn at random or enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._engine.segments import begins, runs
from .._engine.ties import FloatArray
from .._engine.validation import Queries
from ..evaluation._canonical_rows import CanonicalRows
from ..evaluation._intervals import NO_DIFFERENCE
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
        rows = CanonicalRows(labels, scores, queries)
        by_id = {name: values[:, rows.by_id] for name, values in found.items()}
        self.expected = by_id["expected"]
        apart = np.abs(by_id["best"] - by_id["worst"]) > NO_DIFFERENCE
        self.varies = apart & rows.tied
        self._measures = measures
        self._random = np.random.default_rng(seed)
        self._open = np.flatnonzero(self.varies.any(axis=0))
        mixed = rows.mixed[rows.group]
        self._n_drawn = int(mixed.sum())
        if not len(self._open):
            return
        own = rows.queries.some(self._open)
        at = rows.queries.rows(self._open)
        label, group = rows.label[at], rows.group[at]
        self._labelled = LabelledQueries(label, own, keep=True)
        # the groups of each query from 0 down: a place in a group is added to them
        first = np.repeat(group[own.offsets[:-1]], own.sizes)
        self._scores = np.where(rows.retrieved[at], first - group, -np.inf)
        self._tied = np.flatnonzero(mixed[at])
        there = np.zeros(len(mixed), dtype=bool)
        there[at] = True
        self._kept = there[mixed]
        starts, sizes = runs(group[self._tied])
        self._tied_labels = np.split(label[self._tied], starts[1:])
        self._log_orders = _log_arrangements(label[self._tied], starts, sizes)

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
        n_at_once = max(1, _CELLS // max(len(self._scores), self._n_drawn))
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
        scores = np.repeat(self._scores[None], len(places), axis=0)
        scores[:, self._tied] += places
        found = self._labelled.values(self._measures, scores, statistics=("expected",))[
            "expected"
        ]
        out = np.repeat(self.expected[:, None], len(places), axis=1)
        varies = self.varies[:, self._open]
        for own, values, there in zip(
            out, np.moveaxis(found, -1, 0), varies, strict=True
        ):
            own[:, self._open[there]] = values[:, there]
        return out


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
