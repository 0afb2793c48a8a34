"""Whole distributions of a measure over the orders of tied documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._engine.ties import FloatArray


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values that a measure can take for one query, with their probabilities.

    The distribution is over the orders of tied documents, each equally likely.
    ``len(distribution)`` is the number of values.

    Attributes
    ----------
    values : ndarray of shape (n_values,), float64
        Distinct values in ascending order. Empty where the measure is undefined.
    probability : ndarray of shape (n_values,), float64
        Probability of each value, above 0.

    See Also
    --------
    tie_distributions : The function that returns one for each query.

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
        """Sort the values, merge equal ones and drop those of probability 0."""
        there = chances > 0
        distinct, at = np.unique(values[there], return_inverse=True)
        total = np.bincount(at, chances[there], len(distinct)).astype(np.float64)
        return cls(distinct, total)

    @classmethod
    def undefined(cls) -> Distribution:
        """The distribution of a query for which the measure is undefined."""
        return cls(np.zeros(0), np.zeros(0))

    def _if_defined(self, value: Any) -> float:
        return float(value) if len(self) else float("nan")

    def mean(self) -> float:
        """The mean; NaN where the measure is undefined."""
        return self._if_defined((self.values * self.probability).sum())

    def std(self) -> float:
        """The standard deviation; NaN where the measure is undefined."""
        deviation = self.values - self.mean()
        return self._if_defined(np.sqrt((self.probability * deviation**2).sum()))

    def cdf(self, value: float) -> float:
        """The probability of a value of at most `value`; NaN where undefined."""
        return self._if_defined(self.probability[self.values <= value].sum())

    def quantile(self, q: float) -> float:
        """The smallest value whose `cdf` is at least `q`; NaN where undefined.

        Raises
        ------
        ValueError
            For q outside [0, 1].
        """
        if not 0 <= q <= 1:
            raise ValueError(f"q must be in [0, 1], got {q!r}")
        if not len(self):
            return float("nan")
        reached = np.cumsum(self.probability)
        at = int(np.searchsorted(reached, q * reached[-1]))
        return float(self.values[min(at, len(self) - 1)])

    def __len__(self) -> int:
        return len(self.values)
