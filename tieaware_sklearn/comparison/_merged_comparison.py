"""Comparisons of systems from merged sums over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._engine.ties import FloatArray, IntArray
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments, adjust, t_test
from ..evaluation._undefined import Asked
from ._comparison_result import SystemComparison, SystemSummary
from ._comparison_sums import STATISTICS, ComparisonSums
from ._paired_tests import effect_of
from ._tukey import tukey_of_sums


@dataclass(frozen=True, eq=False, repr=False)
class MergedComparison(SystemComparison):
    """A `SystemComparison` from sums over queries, without the values of each query.

    It has all attributes and methods of `SystemComparison`, and prints as one. But
    `qid`, `expected`, `best`, `worst`, `std` and `chance` have no rows, and `by_query`
    is an error.

    See Also
    --------
    tieaware_sklearn.dask.compare_systems : The function that returns this comparison.
    tieaware_sklearn.dask.evaluate_queries : The values of every query of a system.

    Examples
    --------
    >>> import pandas as pd
    >>> from dask import dataframe as dd
    >>> from tieaware_sklearn.dask import compare_systems
    >>> rows = pd.DataFrame({"label": [1, 0, 1, 0], "qid": [1, 1, 2, 2],
    ...                      "a": [2, 1, 2, 1], "b": [1, 1, 1, 2]})
    >>> found = compare_systems(dd.from_pandas(rows, npartitions=1), scores=["a", "b"],
    ...                         measure="rr")
    >>> found.difference, found.summary().worst, found.expected.shape
    (array([0.375]), array([1. , 0.5]), (0, 2))
    """

    _averages: SystemSummary
    _moments: QueryMoments

    def summary(self) -> SystemSummary:
        """Average each system over queries.

        Returns
        -------
        SystemSummary
        """
        return self._averages

    def _differences(self) -> QueryMoments:
        return self._moments


def merged_comparisons(
    sums: ComparisonSums,
    asked: Asked,
    ties: Sequence[str],
    pairs: IntArray,
    **options: Any,
) -> list[SystemComparison]:
    """One for each measure and treatment: all treatments of the first measure first.

    `options` are the attributes of a `SystemComparison` that say how systems were
    compared.
    """
    found = _Found.of(sums)
    return [
        _merged(found, asked, (t, j), pairs, ties=treatment, **options)
        for j in range(len(asked.measures))
        for t, treatment in enumerate(ties)
    ]


class _Found(NamedTuple):
    """Moments, and sums rounded once, as in `ComparisonSums`."""

    systems: QueryMoments
    tie_variance: FloatArray
    differences: QueryMoments
    ends: FloatArray
    pair_variance: FloatArray
    residuals: QueryMoments | None

    @classmethod
    def of(cls, sums: ComparisonSums) -> _Found:
        return cls(
            sums.systems.moments(),
            sums.tie_variance.rounded,
            sums.differences.moments(),
            sums.ends.rounded,
            sums.pair_variance.rounded,
            None if sums.residuals is None else sums.residuals.moments(),
        )


def _merged(
    of: _Found,
    asked: Asked,
    at: tuple[int, int],
    pairs: IntArray,
    *,
    systems: tuple[str, ...],
    ties: str,
    alternative: str,
    correction: str | None,
    confidence: float,
    **options: Any,
) -> SystemComparison:
    """The comparison by one measure under one treatment of ties."""
    measure, bounds = asked.measures[at[1]], asked.bounds[at[1]]
    differences, apart = (_columns(of.differences, (i, *at)) for i in (0, 1))
    n = differences.count
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b, small_a, large_b, large_a, small_b = of.ends[:, *at] / n
        tie_std = np.sqrt(of.pair_variance[at]) / n
    least, largest = small_a - large_b, large_a - small_b
    tested = t_test(apart.mean, apart.standard_error(), n, alternative)
    effects = [
        effect_of(statistic, int(count), confidence)
        for statistic, count in zip(tested.statistic.tolist(), n.tolist(), strict=True)
    ]
    effect = np.array(effects, dtype=float).reshape(len(pairs), 3)
    if of.residuals is None:
        adjusted = adjust(tested.pvalue, correction)
    else:
        values, centred = (_columns(of.residuals, (i, *at)) for i in (0, 1))
        adjusted = tukey_of_sums(
            values.mean, float(centred.spread2.sum()), int(values.count[0]), pairs
        )
    none = np.empty((0, len(systems)))
    of_queries: dict[str, Any] = dict.fromkeys(STATISTICS, none)
    return MergedComparison(
        systems=systems,
        measure=str(measure),
        greater_is_better=measure.greater_is_better,
        qid=none[:, 0],
        **of_queries,
        bounds=bounds,
        pairs=pairs,
        difference=a - b,
        difference_interval=differences.interval(confidence),
        tie_std=tie_std,
        tie_range=np.column_stack([least, largest]),
        survives=(least > NO_DIFFERENCE) | (largest < -NO_DIFFERENCE),
        statistic=tested.statistic,
        pvalues=tested.pvalue,
        adjusted_pvalues=adjusted,
        effect=effect[:, 0],
        effect_interval=effect[:, 1:],
        n_queries=n.astype(np.int64),
        ties=ties,
        alternative=alternative,
        correction=correction,
        confidence=confidence,
        _averages=_summary(of, systems, str(measure), ties, bounds, at),
        _moments=differences,
        **options,
    )


def _summary(
    of: _Found,
    systems: tuple[str, ...],
    measure: str,
    ties: str,
    bounds: FloatArray,
    at: tuple[int, int],
) -> SystemSummary:
    found = [_columns(of.systems, (i, *at)) for i in range(4)]
    mean, best, worst, chance = (moments.averages() for moments in found)
    with np.errstate(invalid="ignore", divide="ignore"):
        tie_std = np.sqrt(of.tie_variance[at]) / found[0].count
    return SystemSummary(
        systems=systems,
        measure=measure,
        ties=ties,
        mean=mean,
        worst=worst,
        best=best,
        tie_std=tie_std,
        chance=chance,
        interval=np.clip(found[0].interval(), *bounds),
    )


def _columns(moments: QueryMoments, at: tuple[int, int, int]) -> QueryMoments:
    """Those of one kind of values, by one treatment and measure."""
    return QueryMoments(*(values[at] for values in vars(moments).values()))
