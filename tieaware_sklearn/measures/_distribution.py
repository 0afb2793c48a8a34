"""Whole distributions of a measure over the orders of tied documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine.ties import FloatArray


@dataclass(frozen=True, eq=False)
class Distribution:
    """What a measure can be worth for one query, and with which chance.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Ascending; empty where the measure is undefined.
    probability : ndarray of shape (n_values,)
        Chances of each, positive.

    See Also
    --------
    tie_distributions : The function that returns it.

    Examples
    --------
    >>> from tieaware_sklearn import tie_distributions
    >>> found = tie_distributions([1, 0, 0], [1, 1, 1], measure="rr")[0]
    >>> found.values
    array([0.33333333, 0.5       , 1.        ])
    >>> found.probability
    array([0.33333333, 0.33333333, 0.33333333])
    """

    values: FloatArray
    probability: FloatArray

    @classmethod
    def of(cls, values: FloatArray, chances: FloatArray) -> Distribution:
        """Sort the values, add up equal ones and leave out what cannot be."""
        there = chances > 0
        distinct, at = np.unique(values[there], return_inverse=True)
        total = np.bincount(at, chances[there], len(distinct)).astype(np.float64)
        return cls(distinct, total)

    @classmethod
    def undefined(cls) -> Distribution:
        """Of a query for which the measure means nothing."""
        return cls(np.zeros(0), np.zeros(0))

    def _if_defined(self, value: Any) -> float:
        return float(value) if len(self) else float("nan")

    def mean(self) -> float:
        """Mean, NaN where undefined."""
        return self._if_defined((self.values * self.probability).sum())

    def std(self) -> float:
        """Standard deviation, NaN where undefined."""
        deviation = self.values - self.mean()
        return self._if_defined(np.sqrt((self.probability * deviation**2).sum()))

    def cdf(self, value: float) -> float:
        """Chance of at most `value`, NaN where undefined."""
        return self._if_defined(self.probability[self.values <= value].sum())

    def quantile(self, q: float) -> float:
        """Smallest value that is reached with a chance of at least `q`."""
        if not 0 <= q <= 1:
            raise ValueError(f"q must be in [0, 1], got {q!r}")
        if not len(self):
            return float("nan")
        reached = np.cumsum(self.probability)
        at = int(np.searchsorted(reached, q * reached[-1]))
        return float(self.values[min(at, len(self) - 1)])

    def __len__(self) -> int:
        return len(self.values)
