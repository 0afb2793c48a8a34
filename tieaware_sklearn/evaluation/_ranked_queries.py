"""Queries ranked by scores: their ties, and values of measures, by either engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._engine.ties import FloatArray, TieGroups, Totals
from .._kernel.arranged import ArrangedLabels, SortedRows, compiled_walks
from .._kernel.walks import Walk
from ..measures import NDCG, Measure

BoolArray = NDArray[np.bool_]
#: of `SortedRows.walk`
_WALKED = ("expected", "best", "worst", "std")
_MEAN, _BEST, _WORST, _VARIANCE = range(4)
#: how many of them the kernel gives to have one of them
_ROOM = (1, 3, 3, 4)


class RankedQueries(ABC):
    """A block of queries, ranked."""

    @property
    @abstractmethod
    def groups(self) -> TieGroups:
        """Their ties."""

    @abstractmethod
    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> list[FloatArray]:
        """Methods of `Measure` by name: each of shape (..., n_queries, n_measures).

        Several score columns come first.
        """


class GroupedQueries(RankedQueries):
    """Ties found before, and measures in NumPy."""

    def __init__(self, groups: TieGroups) -> None:
        self._groups = groups

    @property
    def groups(self) -> TieGroups:
        return self._groups

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> list[FloatArray]:
        # np.column_stack takes three times as long where queries are few
        return [
            np.array([getattr(measure, name)(self._groups) for measure in measures]).T
            for name in names
        ]


class WalkedQueries(RankedQueries):
    """Sorted rows, walked by the kernel for the measures that have a walk.

    Parameters
    ----------
    labels : ArrangedLabels
    ranked : SortedRows, optional
        None takes all documents of a query as tied.
    backwards : bool
        Lower scores rank first.
    several : bool
        The score columns are the first axis of all statistics, be there but one.
    """

    def __init__(
        self,
        labels: ArrangedLabels,
        ranked: SortedRows | None = None,
        *,
        backwards: bool = False,
        several: bool = False,
    ) -> None:
        self._labels = labels
        self._ranked = ranked
        self._backwards = backwards
        self._several = several

    @property
    def groups(self) -> TieGroups:
        return self._columns[0]

    def turned(self) -> WalkedQueries:
        """The same by lower scores, without a further sort."""
        return WalkedQueries(
            self._labels, self._ranked, backwards=True, several=self._several
        )

    @cached_property
    def _columns(self) -> list[TieGroups]:
        """The ties of each score column."""
        if self._ranked is None:
            return [self._labels.everything]
        return self._ranked.groups(backwards=self._backwards)

    def statistics(
        self, measures: Sequence[Measure], names: Sequence[str]
    ) -> list[FloatArray]:
        labels = self._labels
        found = [measure.walk(labels.levels, labels.longest) for measure in measures]
        walks = {at: walk for at, walk in enumerate(found) if walk is not None}
        some = [measures[at] for at in walks]
        own = _Walked(labels, some, list(walks.values()))
        out = own.statistics(self._ranked, names, backwards=self._backwards)
        if len(walks) < len(measures):
            out = [
                self._with_others(measures, [*walks], name, values)
                for name, values in zip(names, out, strict=True)
            ]
        return out if self._several else [values[0] for values in out]

    def _with_others(
        self,
        measures: Sequence[Measure],
        walked: list[int],
        name: str,
        values: FloatArray,
    ) -> FloatArray:
        """`values` of some of the measures, and those of the others by NumPy."""
        every = np.empty((*values.shape[:-1], len(measures)))
        every[..., walked] = values
        for column, groups in zip(every, self._columns, strict=True):
            for at in set(range(len(measures))).difference(walked):
                column[:, at] = getattr(measures[at], name)(groups)
        return every


class _Walked:
    """Statistics of measures that have a walk, from what the kernel adds up."""

    def __init__(
        self, labels: ArrangedLabels, measures: Sequence[Measure], walks: Sequence[Walk]
    ) -> None:
        self._labels = labels
        self._measures = measures
        self._walks = compiled_walks(walks, labels)
        self._scale = np.array([walk.scale for walk in walks])
        self._over_zero = np.array([m.undefined_over_zero for m in measures], bool)
        self._rises = np.array([m.greater_is_better for m in measures], bool)

    def statistics(
        self, ranked: SortedRows | None, names: Sequence[str], *, backwards: bool
    ) -> list[FloatArray]:
        """Those of each name, of shape (n_columns, n_queries, n_measures)."""
        every = self._normalisers(self._labels.everything)
        normaliser, n_columns = every[None], 1
        walked: dict[str, FloatArray] = {}
        if ranked is not None:
            n_columns, sizes = ranked.n_columns, self._labels.sizes
            retrieved = ranked.retrieved
            if (retrieved != sizes).any():
                totals = [Totals(self._labels.everything, own) for own in retrieved]
                normaliser = np.stack([self._normalisers(own) for own in totals])
            deepest = [_WALKED.index(name) for name in names if name in _WALKED]
            if deepest:
                n_statistics = _ROOM[max(deepest)]
                found = ranked.walk(self._walks, n_statistics, backwards=backwards)
                walked = self._of_numerators(found, normaliser)
        shape = n_columns, *every.shape
        out = []
        for name in names:
            if name in walked:
                out.append(walked[name])
            elif name == "normaliser":
                out.append(np.broadcast_to(normaliser, shape))
            elif name in ("chance", "ideal"):
                out.append(np.broadcast_to(self._of_tied(name, every), shape))
            else:
                # all is exact
                out.append(np.zeros(shape))
        return out

    def _of_numerators(
        self, found: FloatArray, normaliser: FloatArray
    ) -> dict[str, FloatArray]:
        """Means, bounds and standard deviations by what the kernel has added up."""
        mean = self._divide(found[_MEAN], normaliser)
        values = {"expected": mean}
        if len(found) > _BEST:
            values["best"] = self._bound(found[_BEST], normaliser, mean, self._rises)
            values["worst"] = self._bound(found[_WORST], normaliser, mean, ~self._rises)
        if len(found) > _VARIANCE:
            values["std"] = self._divide(np.sqrt(found[_VARIANCE]), normaliser)
        return values

    def _of_tied(self, name: str, normaliser: FloatArray) -> FloatArray:
        """Chance levels, or ideals."""
        mean, best = self._of_labels
        chance = self._divide(mean, normaliser)
        if name == "chance":
            return chance
        return self._bound(best, normaliser, chance, self._rises)

    @cached_property
    def _of_labels(self) -> tuple[FloatArray, FloatArray]:
        """Mean and best of numerators if everything tied, once per block."""
        labels, walks = self._labels, self._walks
        found: tuple[FloatArray, FloatArray] = labels.everything.memo(
            (_Walked, tuple(self._measures)), lambda: labels.of_labels(walks)
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
        values = np.zeros(numerator.shape)
        np.divide(numerator * self._scale, normaliser, out=values, where=there)
        if not there.all():
            values[np.broadcast_to(~there & self._over_zero, values.shape)] = np.nan
        return values

    def _bound(
        self,
        numerator: FloatArray,
        normaliser: FloatArray,
        mean: FloatArray,
        higher: BoolArray,
    ) -> FloatArray:
        """worst <= expected <= best holds in floats too, not only on paper."""
        values = self._divide(numerator, normaliser)
        return np.where(higher, np.maximum(values, mean), np.minimum(values, mean))
