"""What the orders of ties do to p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Table, probability
from .._engine.ties import FloatArray, IntArray

_TESTS = {
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "Fisher's randomisation test",
}
_FIGURES = (
    *("pvalues", "share", "share_error", "share_a", "share_b", "smallest", "largest"),
    *("mean", "combined", "n_orders", "is_exact"),
)


@dataclass(frozen=True, eq=False, repr=False)
class PValuesOverOrders(Result):
    """Paired tests of systems in the orders of their ties; prints as a table.

    Attributes
    ----------
    systems, measures : tuple of str
        Names of the systems and canonical names of the measures.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    pvalues : ndarray of shape (n_measures, n_pairs)
        The p-value of the exact means over all orders, as in `compare_systems`.
    share : ndarray of shape (n_measures, n_pairs)
        Share of the orders with p < alpha.
    share_error : ndarray of shape (n_measures, n_pairs)
        Standard error of `share`; 0 where all orders were tested.
    share_a, share_b : ndarray of shape (n_measures, n_pairs)
        Shares of the orders with p < alpha in which A is better, and in which B is.
        Where both are positive, some orders of ties lead to opposite conclusions.
    smallest, largest : ndarray of shape (n_measures, n_pairs)
        Smallest and largest p-value found.
    mean : ndarray of shape (n_measures, n_pairs)
        Mean of the p-values over the orders, which is not itself a p-value.
    combined : ndarray of shape (n_measures, n_pairs)
        A p-value for orders at random: twice the mean, at most 1.
    n_orders : ndarray of shape (n_measures, n_pairs), int
        Number of orders tested: 1 where the measure does not depend on the order.
    is_exact : ndarray of shape (n_measures, n_pairs), bool
        Whether these are all orders.
    test, alternative : str
        As given to `pvalues_over_orders`.
    alpha : float
        A p-value below this is significant.

    See Also
    --------
    pvalues_over_orders : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn import pvalues_over_orders
    >>> systems = {"a": [2, 1, 2, 1, 2, 1], "b": [1, 1, 1, 2, 1, 1]}
    >>> found = pvalues_over_orders([1, 0, 1, 0, 1, 0], systems, qid=[1, 1, 2, 2, 3, 3],
    ...                             measure=["rr", "p@1"])
    >>> found.share[0], found.n_orders[0]
    (array([0.25]), array([4]))
    >>> found.to_pandas()[["measure", "a", "b", "share", "largest"]]
      measure  a  b  share  largest
    0      RR  a  b   0.25  0.42265
    1     P@1  a  b   0.25  0.42265
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    pairs: IntArray
    pvalues: FloatArray
    share: FloatArray
    share_error: FloatArray
    share_a: FloatArray
    share_b: FloatArray
    smallest: FloatArray
    largest: FloatArray
    mean: FloatArray
    combined: FloatArray
    n_orders: IntArray
    is_exact: NDArray[np.bool_]
    test: str
    alternative: str
    alpha: float

    def _names(self) -> dict[str, list[str]]:
        """Measure, A and B of each row."""
        first, second = np.array(self.systems, dtype=object)[self.pairs.T].tolist()
        n_measures = len(self.measures)
        return {
            "measure": np.repeat(self.measures, len(self.pairs)).tolist(),
            "a": first * n_measures,
            "b": second * n_measures,
        }

    def _columns(self) -> dict[str, Any]:
        figures = {name: getattr(self, name).ravel() for name in _FIGURES}
        return {**self._names(), **figures}

    def _tables(self) -> list[Table]:
        columns: list[tuple[Any, ...]] = [
            *zip(("measure", "A", "B"), self._names().values(), strict=True),
            ("p", self.pvalues.ravel(), probability),
            (f"p < {self.alpha:g}", self.share.ravel()),
            ("error", self.share_error.ravel()),
            ("min p", self.smallest.ravel(), probability),
            ("max p", self.largest.ravel(), probability),
            ("combined", self.combined.ravel(), probability),
        ]
        terms = {
            "p": "p-value of the exact means over all orders of ties",
            f"p < {self.alpha:g}": "share of the orders of ties with such a p-value",
            "error": "standard error of this share; 0 where all orders were tested",
            "min p": "smallest p-value found over the orders of ties",
            "max p": "largest p-value found over the orders of ties",
            "combined": "a p-value for ties broken at random: twice the mean of the "
            "p-values over the orders, at most 1",
        }
        note = f"{_TESTS[self.test]}, {self.alternative}"
        if len(self.measures) == 1:
            # without the column of the measure there is room for the error
            del columns[0]
            note = f"{self.measures[0]}, {note}"
        n = len(columns)
        drop = [n - 4, n - 1]
        return [Table.of(*columns, left=n - 6, drop=drop, terms=terms, notes=[note])]
