"""What a comparison of systems found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result, as_columns
from .._display.tables import Ranges, Table, bracketed, number, probability
from .._engine.ties import FloatArray, IntArray
from ..evaluation._averages import means, stds_of_means
from ..evaluation._intervals import QueryMoments

_OF_PAIRS = (
    *("difference", "difference_interval", "tie_std", "tie_range", "survives"),
    *("statistic", "pvalues", "adjusted_pvalues", "effect", "effect_interval"),
    "n_queries",
)


@dataclass(frozen=True, eq=False, repr=False)
class SystemSummary(Result):
    """Averages over queries of a `SystemComparison`; prints as a table.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    measure : str
        Canonical name.
    mean, worst, best : ndarray of shape (n_systems,)
        Averages over queries of the expected, worst and best values.
    tie_std : ndarray of shape (n_systems,)
        Standard deviation of `mean` over the orders of tied documents.
    chance : ndarray of shape (n_systems,)
        Average over queries of the expected value if all documents of a query tie.
    interval : ndarray of shape (n_systems, 2)
        95% interval of `mean` over queries, as in `RankingSummary`.

    See Also
    --------
    SystemComparison.summary : The method that returns this summary.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2], measure="rr")
    >>> found.summary().worst
    array([1. , 0.5])
    """

    systems: tuple[str, ...]
    measure: str
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    tie_std: FloatArray
    chance: FloatArray
    interval: FloatArray

    def _tables(self) -> list[Table]:
        columns: list[tuple[str, Any]] = [
            (self.measure, self.systems),
            ("mean", self.mean),
            ("worst", self.worst),
            ("best", self.best),
            ("tie std", self.tie_std),
        ]
        return [Table.of(*columns, ranges=Ranges(self.worst, self.mean, self.best))]


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(Result):
    """Comparison of systems on the same queries; prints as two tables.

    The first table has a row for each system, the second a row for each pair. In the
    second, "holds" says whether the difference has the same sign in every order of
    ties.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    measure : str
        Canonical name.
    greater_is_better : bool
        Whether higher values of the measure are better.
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst, std, chance : ndarray of shape (n_queries, n_systems)
        As in `RankingReport`.
    bounds : ndarray of shape (2,)
        Smallest and largest value that the measure can have.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    difference : ndarray of shape (n_pairs,)
        Mean of A minus mean of B, over the queries where both are defined.
    difference_interval : ndarray of shape (n_pairs, 2)
        Interval of `difference` over queries, in units of the measure.
    tie_std : ndarray of shape (n_pairs,)
        Standard deviation of the difference over the orders of tied documents, which
        are independent between A and B.
    tie_range : ndarray of shape (n_pairs, 2)
        Smallest and largest difference over all orders of ties.
    survives : ndarray of shape (n_pairs,), bool
        Whether the difference has the same sign in every order of ties.
    statistic, pvalues, adjusted_pvalues : ndarray of shape (n_pairs,)
        Statistic and p-value of the paired test over queries, and the p-value
        corrected for the number of pairs.
    effect : ndarray of shape (n_pairs,)
        Cohen's d of the differences: their mean divided by their standard deviation.
    effect_interval : ndarray of shape (n_pairs, 2)
        Interval of `effect`, from the non-central t distribution.
    n_queries : ndarray of shape (n_pairs,), int
        Number of queries where both systems are defined.
    ties, test, alternative, interval : str
        Treatment of ties, test, alternative hypothesis and interval of the difference,
        as given to `compare_systems`.
    baselines : tuple of str
        Systems that the others are compared with; empty if all pairs are compared.
    correction : str or None
        Correction of the p-values, as given to `compare_systems`.
    confidence : float
        Confidence level of `difference_interval` and `effect_interval`.

    See Also
    --------
    compare_systems : The function that returns this comparison.
    tieaware_sklearn.plots.TieRangeDisplay : Draws the systems.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2], measure="rr")
    >>> found.difference
    array([0.375])
    >>> found.survives
    array([ True])
    """

    systems: tuple[str, ...]
    measure: str
    greater_is_better: bool
    qid: NDArray[Any]
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    std: FloatArray
    chance: FloatArray
    bounds: FloatArray
    pairs: IntArray
    difference: FloatArray
    difference_interval: FloatArray
    tie_std: FloatArray
    tie_range: FloatArray
    survives: NDArray[np.bool_]
    statistic: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    effect: FloatArray
    effect_interval: FloatArray
    n_queries: IntArray
    ties: str
    baselines: tuple[str, ...]
    test: str
    correction: str | None
    alternative: str
    interval: str
    confidence: float

    def summary(self) -> SystemSummary:
        """Average each system over queries.

        Returns
        -------
        SystemSummary
        """
        return SystemSummary(
            systems=self.systems,
            measure=self.measure,
            mean=means(self.expected),
            worst=means(self.worst),
            best=means(self.best),
            tie_std=stds_of_means(self.std),
            chance=means(self.chance),
            interval=np.clip(QueryMoments.of(self.expected).interval(), *self.bounds),
        )

    def _columns(self) -> dict[str, Any]:
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        of_pairs = {name: getattr(self, name) for name in _OF_PAIRS}
        return as_columns({"a": first, "b": second, **of_pairs})

    def _tables(self) -> list[Table]:
        averages = self.summary()._tables()
        return [*averages, self._pair_table()] if len(self.pairs) else averages

    def _pair_table(self) -> Table:
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        level = f"{100 * self.confidence:g}%"
        low, high = self.tie_range.T
        interval, said = self._interval_column(level)
        columns: list[tuple[Any, ...]] = [
            ("A", first),
            ("B", second),
            ("A - B", self.difference),
            interval,
            ("tie std", self.tie_std),
            ("tie range", self.tie_range),
            ("holds", np.where(self.survives, "yes", "no")),
            (f"p ({self.test})", self.pvalues, probability),
            (f"p ({self.correction})", self.adjusted_pvalues, probability),
            ("d", self.effect, partial(number, digits=2)),
            (
                f"{level} interval of d",
                self.effect_interval,
                partial(bracketed, digits=2),
            ),
        ]
        # what a narrow terminal does without; of the interval and the tie range, that
        # which was not asked for
        last = 3 if self.interval == "t" else 5
        drop = [10, 4, 7, 9, last]
        if self.correction is None or len(self.pairs) == 1:
            del columns[8]
            drop = [9, 4, 8, last]
        return Table.of(
            *columns,
            left=2,
            drop=drop,
            terms={interval[0]: said},
            ranges=Ranges(low, self.difference, high, head="tie range"),
        )

    def _interval_column(self, level: str) -> tuple[tuple[Any, ...], str]:
        """The interval of the difference, half of it where it is symmetric."""
        low, high = self.difference_interval.T
        if self.interval == "t":
            said = f"half of the {level} t interval of A - B over queries"
            return (f"±{level}", (high - low) / 2), said
        show = partial(bracketed, digits=3)
        head = f"{level} interval"
        said = f"{level} bootstrap interval of A - B over queries"
        return (head, self.difference_interval, show), said


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparisons(Result):
    """Comparisons by several measures or treatments of ties; prints as their tables.

    Attributes
    ----------
    comparisons : tuple of SystemComparison
        One for each measure and treatment: all treatments of the first measure, then
        all of the second.

    See Also
    --------
    compare_systems : The function that returns these comparisons.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
    ...                         measure=["rr", "p@1"], ties=["expected", "worst"])
    >>> found.measures, found.ties
    (('RR', 'P@1'), ('expected', 'worst'))
    >>> found["P@1", "worst"].difference
    array([1.])
    """

    comparisons: tuple[SystemComparison, ...]

    @property
    def measures(self) -> tuple[str, ...]:
        """Canonical names of the measures."""
        return tuple(dict.fromkeys(one.measure for one in self.comparisons))

    @property
    def ties(self) -> tuple[str, ...]:
        """Treatments of ties."""
        return tuple(dict.fromkeys(one.ties for one in self.comparisons))

    def __iter__(self) -> Iterator[SystemComparison]:
        return iter(self.comparisons)

    def __len__(self) -> int:
        return len(self.comparisons)

    def __getitem__(self, key: tuple[str, str]) -> SystemComparison:
        """The comparison by a measure, under a treatment of ties."""
        for one in self.comparisons:
            if (one.measure, one.ties) == key:
                return one
        known = [(one.measure, one.ties) for one in self.comparisons]
        raise KeyError(f"{key!r} is not one of {known}")

    def _columns(self) -> dict[str, Any]:
        parts = [one._columns() for one in self.comparisons]
        n_pairs = [len(one.pairs) for one in self.comparisons]
        about = {
            "measure": np.repeat([one.measure for one in self.comparisons], n_pairs),
            "ties": np.repeat([one.ties for one in self.comparisons], n_pairs),
        }
        return about | {
            name: np.concatenate([part[name] for part in parts]) for name in parts[0]
        }

    def _tables(self) -> list[Table]:
        return [table for one in self.comparisons for table in one._tables()]
