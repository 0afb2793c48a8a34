"""Values on held-out queries by the number of features, as data and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result
from .._display.tables import Table, bracketed, number
from .._engine.ties import FloatArray
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments


@dataclass(frozen=True, eq=False, repr=False)
class SelectionCurve(Result):
    """A measure on held-out queries by the number of features; prints as a table.

    `selection_curve` returns it. The last row of the table is the estimator with all
    features. Differences are to the first selector with as many features.

    Attributes
    ----------
    selectors : tuple of str
        Names of the selectors; the first is the baseline of `difference`.
    n_features : tuple of int
        Numbers of features, ascending.
    measure : str
        Canonical name.
    values : ndarray of shape (n_queries, n_selectors, n_sizes)
        Value of each query where it was tested, averaged over repeats; NaN where it is
        undefined, or was never tested.
    all_features : ndarray of shape (n_queries,)
        The same with all features.
    mean : ndarray of shape (n_selectors, n_sizes)
        Mean of `values` over queries.
    interval : ndarray of shape (n_selectors, n_sizes, 2)
        t interval of `mean` over queries, clipped to the range of the measure.
    mean_all : float
        Mean of `all_features` over queries.
    interval_all : ndarray of shape (2,)
        Its interval.
    difference : ndarray of shape (n_selectors, n_sizes)
        Mean over queries of the values minus those of the first selector.
    difference_interval : ndarray of shape (n_selectors, n_sizes, 2)
        t interval of `difference` over queries, which are paired.
    difference_from_all : ndarray of shape (n_selectors, n_sizes)
        Mean over queries of the values minus those with all features.
    difference_from_all_interval : ndarray of shape (n_selectors, n_sizes, 2)
        t interval of `difference_from_all`.
    qid : ndarray of shape (n_queries,)
        Query ids, ascending.
    query_weight : ndarray of shape (n_queries,) or None
        Weights of the queries.
    feature_names : tuple of str
        Names of the features.
    selected : ndarray of shape (n_folds, n_selectors, n_sizes, n_columns), bool
        The features that were chosen in each fold.
    bounds : ndarray of shape (2,)
        Smallest and largest value that the measure can have.
    confidence : float
        Confidence level of the intervals.

    See Also
    --------
    selection_curve : Returns such a result.
    tieaware_sklearn.plots.SelectionCurveDisplay : Draws it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from tieaware_sklearn import RankingFeatureSelector, selection_curve
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> X, y, qid = make_web_search(n_queries=20, as_frame=True, return_X_y_qid=True)
    >>> curve = selection_curve(
    ...     RankingFeatureSelector("ap"), Ridge(), X, y, qid=qid, measure="ap", cv=2)
    >>> curve.n_features, curve.values.shape
    ((1, 2, 5, 10), (20, 1, 4))
    >>> curve.selected.shape
    (2, 1, 4, 12)
    """

    selectors: tuple[str, ...]
    n_features: tuple[int, ...]
    measure: str
    values: FloatArray
    all_features: FloatArray
    qid: NDArray[Any]
    query_weight: FloatArray | None
    feature_names: tuple[str, ...]
    selected: NDArray[np.bool_]
    bounds: FloatArray
    confidence: float

    @property
    def mean(self) -> FloatArray:
        return self._moments(self.values).averages()

    @property
    def interval(self) -> FloatArray:
        return np.clip(self._interval(self.values), *self.bounds)

    @property
    def mean_all(self) -> float:
        return float(self._moments(self.all_features).averages())

    @property
    def interval_all(self) -> FloatArray:
        return np.clip(self._interval(self.all_features), *self.bounds)

    @property
    def difference(self) -> FloatArray:
        return self._moments(self._from_first()).averages()

    @property
    def difference_interval(self) -> FloatArray:
        return self._interval(self._from_first())

    @property
    def difference_from_all(self) -> FloatArray:
        return self._moments(self._from_all()).averages()

    @property
    def difference_from_all_interval(self) -> FloatArray:
        return self._interval(self._from_all())

    def _from_first(self) -> FloatArray:
        return _without_rounding(self.values - self.values[:, :1])

    def _from_all(self) -> FloatArray:
        return _without_rounding(self.values - self.all_features[:, None, None])

    def _moments(self, values: FloatArray) -> QueryMoments:
        return QueryMoments.of(values, self.query_weight)

    def _interval(self, values: FloatArray) -> FloatArray:
        return self._moments(values).interval(self.confidence)

    def _columns(self) -> dict[str, Any]:
        n_sizes = len(self.n_features)
        names = [*np.repeat(np.array(self.selectors, object), n_sizes), "all features"]
        low, high = self.interval.reshape(-1, 2).T
        low_all, high_all = self.interval_all
        columns: dict[str, Any] = {
            "selector": names,
            "n_features": [
                *self.n_features * len(self.selectors),
                len(self.feature_names),
            ],
            "measure": [self.measure] * len(names),
            "mean": np.append(self.mean, self.mean_all),
            "interval_low": np.append(low, low_all),
            "interval_high": np.append(high, high_all),
        }
        for name, of_all in (("difference", np.nan), ("difference_from_all", 0.0)):
            low, high = getattr(self, f"{name}_interval").reshape(-1, 2).T
            columns[name] = np.append(getattr(self, name), of_all)
            columns[f"{name}_low"] = np.append(low, of_all)
            columns[f"{name}_high"] = np.append(high, of_all)
        return columns

    def _tables(self) -> list[Table]:
        columns = self._columns()
        half = (columns["interval_high"] - columns["interval_low"]) / 2
        share = f"{self.confidence:.0%}"
        first = self.selectors[0]
        # a selector does not differ from itself
        own = np.arange(len(half)) < len(self.n_features)
        difference = np.where(own, np.nan, columns["difference"])
        ends = np.column_stack([columns["difference_low"], columns["difference_high"]])
        ends[own] = np.nan
        shown: list[tuple[Any, ...]] = [
            (self.measure, columns["selector"]),
            ("features", columns["n_features"]),
            ("mean", columns["mean"]),
            (f"±{share}", half),
        ]
        terms = {"mean": "mean over held-out queries"}
        if len(self.selectors) > 1:
            shown += [
                ("difference", difference),
                (f"{share} interval", ends, _interval_or_dash),
            ]
            terms["difference"] = f"mean minus that of {first} with as many features"
            terms[f"{share} interval"] = "t interval of the difference over queries"
        return [Table.of(*shown, drop=(3,), terms=terms)]


def _without_rounding(differences: FloatArray) -> FloatArray:
    return np.where(np.abs(differences) <= NO_DIFFERENCE, 0.0, differences)


def _interval_or_dash(ends: FloatArray) -> str:
    return number(np.nan) if np.isnan(ends).any() else bracketed(ends)
