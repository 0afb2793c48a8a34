"""Values of measures from what the kernel has added up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, TieGroups, Totals
from .._kernel.arranged import ArrangedLabels, SortedRows
from .._kernel.walks import Walk
from ..measures import NDCG, Measure

BoolArray = NDArray[np.bool_]
#: of `SortedRows.walk`, which gives all up to the last that is asked for
_WALKED = ("expected", "best", "worst", "std")
_MEAN, _BEST, _, _VARIANCE = range(4)
#: how many of them the kernel gives to have one of them
_ROOM = (1, 3, 3, 4)


def statistics_of(
    measures: Sequence[Measure], statistics: Sequence[str], groups: TieGroups
) -> list[FloatArray]:
    """Each of `statistics`, of shape (n_queries, n_measures), of one block."""
    # np.column_stack takes three times as long where queries are few
    return [
        np.array([getattr(measure, name)(groups) for measure in measures]).T
        for name in statistics
    ]


def walked_statistics(
    labels: ArrangedLabels,
    ranked: SortedRows | None,
    measures: Sequence[Measure],
    statistics: Sequence[str],
) -> list[FloatArray]:
    """The same, by the kernel for the measures that have a walk.

    Without scores (None), as if all documents tied.
    """
    found = [measure.walk(labels.levels, labels.longest) for measure in measures]
    walks = {at: walk for at, walk in enumerate(found) if walk is not None}
    others = [at for at in range(len(measures)) if at not in walks]
    out = [np.empty((len(labels.sizes), len(measures))) for _ in statistics]
    if walks:
        some = [measures[at] for at in walks]
        own = _Walked(labels, ranked, some, [*walks.values()], statistics)
        columns = list(walks)
        for values, name in zip(out, statistics, strict=True):
            values[:, columns] = own.statistic(name)
    if others:
        groups = labels.everything if ranked is None else ranked.groups()
        slow = statistics_of([measures[at] for at in others], statistics, groups)
        for values, one in zip(out, slow, strict=True):
            values[:, others] = one
    return out


class _Walked:
    """Statistics of measures that have a walk, (n_queries, n_measures) each."""

    def __init__(
        self,
        labels: ArrangedLabels,
        ranked: SortedRows | None,
        measures: Sequence[Measure],
        walks: Sequence[Walk],
        statistics: Sequence[str],
    ) -> None:
        self._labels = labels
        self._measures = measures
        self._walks = walks
        self._scale = np.array([walk.scale for walk in walks])
        self._over_zero = np.array([m.undefined_over_zero for m in measures])
        self._rises = np.array([m.greater_is_better for m in measures])
        everything = labels.everything
        self._all = self._normalisers(everything)
        if ranked is None:
            return
        retrieved = ranked.retrieved
        whole = (retrieved == labels.sizes).all()
        self._own = (
            self._all if whole else self._normalisers(Totals(everything, retrieved))
        )
        if deepest := [_WALKED.index(name) for name in statistics if name in _WALKED]:
            self._found = ranked.walk(walks, _ROOM[max(deepest)])[:, 0]

    def statistic(self, name: str) -> FloatArray:
        """One of the statistics of `Measure`."""
        if name in _WALKED:
            return self._of_scores(_WALKED.index(name))
        if name == "normaliser":
            return self._own
        if name in ("chance", "ideal"):
            mean, best = self._of_labels
            values = self._divide(mean * self._scale, self._all)
            if name == "ideal":
                best = self._divide(best * self._scale, self._all)
                values = self._bound(best, values, self._rises)
            return values
        return np.zeros(self._own.shape)

    def _of_scores(self, at: int) -> FloatArray:
        found = self._found[at]
        if at == _VARIANCE:
            return self._divide(np.sqrt(found) * self._scale, self._own)
        values = self._divide(found * self._scale, self._own)
        if at == _MEAN:
            return values
        # worst <= expected <= best holds in floats too, not only on paper
        higher = self._rises if at == _BEST else ~self._rises
        return self._bound(values, self._of_scores(_MEAN), higher)

    @cached_property
    def _of_labels(self) -> tuple[FloatArray, FloatArray]:
        """Mean and best of numerators if everything tied, once per block."""
        key = "walked", tuple(self._measures)
        labels, walks = self._labels, self._walks
        found: tuple[FloatArray, FloatArray] = labels.everything.memo(
            key, lambda: labels.of_labels(walks)
        )
        return found

    def _normalisers(self, totals: Totals) -> FloatArray:
        out = np.empty((totals.n_queries, len(self._measures)))
        for at, measure in enumerate(self._measures):
            # one that is overridden goes its own way
            if type(measure).normaliser is NDCG.normaliser:
                out[:, at] = self._of_labels[1][:, at]
            else:
                out[:, at] = measure.normaliser(totals)
        return out

    def _divide(self, numerator: FloatArray, normaliser: FloatArray) -> FloatArray:
        """Nothing over nothing is 0 where a measure is defined, NaN elsewhere."""
        there = normaliser > 0
        values = np.divide(
            numerator, normaliser, out=np.zeros(normaliser.shape), where=there
        )
        values[~there & self._over_zero] = np.nan
        return values

    @staticmethod
    def _bound(values: FloatArray, mean: FloatArray, higher: BoolArray) -> FloatArray:
        return np.where(higher, np.maximum(values, mean), np.minimum(values, mean))
