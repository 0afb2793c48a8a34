"""Values of measures: over the orders of ties, and of labels alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from .._typing import Array, FloatArray


class Detail(IntEnum):
    """How much is computed of the values over the orders of ties.

    Each detail includes those before it. Up to DEVIATION, it is the number of
    numerators that the kernel adds up.
    """

    #: the mean
    EXPECTED = 1
    #: and the best and worst value, and the denominator
    RANGE = 3
    #: and the standard deviation
    DEVIATION = 4
    #: and the spread within ties, by which features are tested against chance
    SPREAD = 5


class _Arrays:
    """A dataclass of arrays; those that were not asked for are None."""

    __slots__: tuple[str, ...] = ()

    def _arrays(self) -> list[Array | None]:
        return [getattr(self, name) for name in self.__slots__]

    def apply(self, function: Callable[[Array], Array]) -> Self:
        """Apply a function to each array."""
        arrays = self._arrays()
        return type(self)(*[None if a is None else function(a) for a in arrays])

    @classmethod
    def join(
        cls, parts: Sequence[Self], combine: Callable[[list[Array]], Array]
    ) -> Self:
        """Combine each array of the parts; an array that some parts lack is 0 there."""
        joined: list[Array | None] = []
        for arrays in zip(*[part._arrays() for part in parts], strict=True):
            if all(array is None for array in arrays):
                joined.append(None)
                continue
            joined.append(
                combine(
                    [
                        np.zeros_like(part._arrays()[0]) if array is None else array
                        for part, array in zip(parts, arrays, strict=True)
                    ]
                )
            )
        return cls(*joined)


@dataclass(slots=True)
class QueryValues(_Arrays):
    """Values of queries over the orders of their tied documents.

    Arrays have shape (..., n_queries, n_measures), with score columns in front, and are
    NaN where a measure is undefined.

    Attributes
    ----------
    expected : ndarray
        Mean values.
    best, worst : ndarray
        Values in the most and the least favourable order.
    std : ndarray
        Standard deviations.
    sampling_error : ndarray or None
        Standard errors of means that are estimated, 0 for exact ones. None if all means
        are exact.
    std_is_estimate : ndarray or None
        1 where the standard deviation comes from sampled orders, otherwise 0. None if
        all are exact.
    normaliser : ndarray
        Denominators, with the range.
    spread_within_ties : ndarray
        As in `Measure.spread_within_ties`.
    """

    expected: FloatArray
    best: FloatArray = None  # type: ignore[assignment]
    worst: FloatArray = None  # type: ignore[assignment]
    std: FloatArray = None  # type: ignore[assignment]
    sampling_error: FloatArray = None  # type: ignore[assignment]
    std_is_estimate: FloatArray = None  # type: ignore[assignment]
    normaliser: FloatArray = None  # type: ignore[assignment]
    spread_within_ties: FloatArray = None  # type: ignore[assignment]


@dataclass(slots=True)
class LabelValues(_Arrays):
    """Values of queries that depend on their labels alone, (n_queries, n_measures).

    Attributes
    ----------
    chance : ndarray
        Expected values if all documents are retrieved and tie.
    ideal : ndarray
        Best values of these documents.
    """

    chance: FloatArray
    ideal: FloatArray
