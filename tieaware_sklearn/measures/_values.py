"""Containers for values over the orders of ties and for values of labels alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from .._typing import Array, FloatArray


class Detail(IntEnum):
    """Statistics over the orders of ties that are computed.

    Each detail includes the details before it. Up to DEVIATION, the value of a detail
    is the number of numerators that the kernel sums.
    """

    #: The mean.
    EXPECTED = 1
    #: The best and worst value, and the denominator.
    RANGE = 3
    #: The standard deviation.
    DEVIATION = 4
    #: The spread within ties, which is used to test features against chance.
    SPREAD = 5


class _Arrays:
    """Base class of dataclasses of arrays. Arrays that are not computed are None."""

    __slots__: tuple[str, ...] = ()

    def apply(self, function: Callable[[Array], Array]) -> Self:
        """Apply a function to each array."""
        arrays = []
        for name in self.__slots__:
            array = getattr(self, name)
            arrays.append(None if array is None else function(array))
        return type(self)(*arrays)

    @classmethod
    def join(
        cls, parts: Sequence[Self], combine: Callable[[list[Array]], Array]
    ) -> Self:
        """Combine each array of the parts. Parts that lack an array add zeros."""
        first = cls.__slots__[0]
        joined: list[Array | None] = []
        for name in cls.__slots__:
            arrays = [getattr(part, name) for part in parts]
            if all(array is None for array in arrays):
                joined.append(None)
                continue
            for i, part in enumerate(parts):
                if arrays[i] is None:
                    arrays[i] = np.zeros_like(getattr(part, first))
            joined.append(combine(arrays))
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
        Standard errors of estimated means, 0 for exact means, or None if all means are
        exact.
    std_is_estimate : ndarray or None
        1 if the standard deviation is estimated from sampled orders, otherwise 0. The
        array is None if all standard deviations are exact.
    normaliser : ndarray
        Denominators, which are computed together with the range.
    spread_within_ties : ndarray
        Spread within ties, as in `Measure.spread_within_ties`.
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
