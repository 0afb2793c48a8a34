"""Permutation importances, as data and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Ranges, Table, number, probability
from .._engine.ties import FloatArray, IntArray

#: rows of a table in print
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class PermutationImportance(Result):
    """Permutation importances of the columns of X, which print as tables.

    `query_permutation_importance` returns it. There is one table for each measure, with
    the value on the unpermuted data in its header and the most important columns on
    top.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns or groups of columns.
    measures : tuple of str
        Names of the measures.
    baseline : ndarray of shape (n_measures,)
        Mean over queries on the unpermuted data.
    importances : ndarray of shape (n_columns, n_measures, n_repeats)
        Loss in the mean with each permutation: `baseline` minus the mean with the
        column permuted, or the reverse where lower is better.
    importances_mean, importances_std : ndarray of shape (n_columns, n_measures)
        Mean and standard deviation of `importances` over repeats.
    interval : ndarray of shape (n_columns, n_measures, 2)
        t interval of `importances_mean` over queries, clipped to the possible range:
        [-1, 1] for normalised measures.
    pvalues, adjusted_pvalues : ndarray of shape (n_columns, n_measures)
        p-values of the one-sided paired t test over queries of whether the mean gets
        worse, uncorrected and corrected for the number of columns.
    ranking : ndarray of shape (n_columns,), int
        Ranks of the columns by the first measure; 1 is the most important column.
    qid : ndarray of shape (n_queries,)
        Query ids, ascending.
    differences : ndarray of shape (n_queries, n_columns, n_measures)
        Loss of each query, averaged over repeats; NaN where it is undefined.
    query_weight : ndarray of shape (n_queries,) or None
        Weights of the queries.
    within_queries : bool
        Whether rows were permuted only within queries.
    confidence : float
        Confidence level of `interval`.
    correction : str or None
        Correction of `adjusted_pvalues`.

    See Also
    --------
    query_permutation_importance : Returns such a result.
    tieaware_sklearn.plots.PermutationImportanceDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from tieaware_sklearn import query_permutation_importance
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> X, y, qid = make_web_search(n_queries=20, as_frame=True, return_X_y_qid=True)
    >>> model = LinearRegression().fit(X, y)
    >>> found = query_permutation_importance(model, X, y, qid=qid, measures="ap")
    >>> found.measures, found.importances_mean.shape
    (('AP',), (12, 1))
    """

    columns: tuple[str, ...]
    measures: tuple[str, ...]
    baseline: FloatArray
    importances: FloatArray
    importances_mean: FloatArray
    interval: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    qid: NDArray[Any]
    differences: FloatArray
    query_weight: FloatArray | None
    within_queries: bool
    confidence: float
    correction: str | None

    @property
    def importances_std(self) -> FloatArray:
        return np.asarray(self.importances.std(axis=2))

    @property
    def ranking(self) -> IntArray:
        return np.argsort(self._order(0)) + 1

    def _order(self, measure: int) -> IntArray:
        """Columns, the most important by a measure first."""
        return np.argsort(-self.importances_mean[:, measure], kind="stable")

    def _columns(self) -> dict[str, Any]:
        figures = {
            "importances_mean": self.importances_mean,
            "importances_std": self.importances_std,
            "interval_low": self.interval[..., 0],
            "interval_high": self.interval[..., 1],
            "pvalue": self.pvalues,
            "adjusted_pvalue": self.adjusted_pvalues,
        }
        return {
            "column": np.repeat(np.array(self.columns, object), len(self.measures)),
            "measure": list(self.measures) * len(self.columns),
            **{name: values.ravel() for name, values in figures.items()},
        }

    def _tables(self) -> list[Table]:
        return [self._table(m) for m in range(len(self.measures))]

    def _table(self, m: int) -> Table:
        order = self._order(m)
        shown, more = order[:_SHOWN], len(order) - _SHOWN
        pvalues: tuple[str, FloatArray] = ("p", self.pvalues)
        if self.correction is not None and len(order) > 1:
            pvalues = (f"p ({self.correction})", self.adjusted_pvalues)
        head, corrected = pvalues
        lost, (low, high) = self.importances_mean[shown, m], self.interval[shown, m].T
        interval = f"{self.confidence:.0%} interval"
        return Table.of(
            (
                f"{self.measures[m]} {number(self.baseline[m])}",
                [self.columns[j] for j in shown],
            ),
            ("loss", lost),
            (interval, self.interval[shown, m]),
            ("±repeats", self.importances_std[shown, m]),
            (head, corrected[shown, m], probability),
            drop=(3,),
            notes=[f"... and {more} more"] if more > 0 else [],
            ranges=Ranges(low, lost, high, head=interval),
        )
