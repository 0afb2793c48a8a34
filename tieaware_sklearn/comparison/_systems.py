"""Two or many systems on the same queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._display.result import Result, as_columns
from .._display.tables import Ranges, Table, bracketed, number, probability
from .._engine.qid_column import warn_one_query
from .._engine.seeds import seed_of
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import check_choice, check_count, check_share
from ..evaluation._averages import mean, means, std_of_mean, stds_of_means
from ..evaluation._intervals import NO_DIFFERENCE, QueryMoments, adjust
from ..measures import Measure
from ._measured_systems import MeasuredSystems, pairs_of
from ._paired_tests import ALTERNATIVES, CORRECTIONS, TESTS, paired_effect, paired_test

_OF_PAIRS = (
    *("difference", "tie_std", "tie_range", "survives", "statistic", "pvalues"),
    *("adjusted_pvalues", "effect", "effect_interval", "n_queries"),
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
    test, alternative : str
        Test and alternative hypothesis, as given to `compare_systems`.
    correction : str or None
        Correction of the p-values, as given to `compare_systems`.
    confidence : float
        Confidence level of `effect_interval`.

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
    tie_std: FloatArray
    tie_range: FloatArray
    survives: NDArray[np.bool_]
    statistic: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    effect: FloatArray
    effect_interval: FloatArray
    n_queries: IntArray
    test: str
    correction: str | None
    alternative: str
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
        columns: list[tuple[Any, ...]] = [
            ("A", first),
            ("B", second),
            ("A - B", self.difference),
            ("tie std", self.tie_std),
            ("tie range", self.tie_range),
            ("holds", np.where(self.survives, "yes", "no")),
            (f"p ({self.test})", self.pvalues, probability),
        ]
        if self.correction is not None and len(self.pairs) > 1:
            corrected = f"p ({self.correction})"
            columns.append((corrected, self.adjusted_pvalues, probability))
        of_d = f"{self.confidence:.0%} interval of d"
        columns += [
            ("d", self.effect, partial(number, digits=2)),
            (of_d, self.effect_interval, partial(bracketed, digits=2)),
        ]
        # the interval of d, tie std, d, and the p-value that is not corrected
        drop = [len(columns) - 1, 3, len(columns) - 2, *range(6, len(columns) - 3)]
        low, high = self.tie_range.T
        return Table.of(
            *columns,
            left=2,
            drop=drop,
            ranges=Ranges(low, self.difference, high, head="tie range"),
        )


def compare_systems(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    measure: str | Measure = "ndcg@10",
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    n_jobs: int | None = None,
) -> SystemComparison:
    """Compare systems pair by pair, over queries and over the orders of their ties.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,)
        Labels, finite and >= 0. NaN means that a document is unjudged.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents, with -inf for documents that
        the system does not retrieve. `load_trec` returns them in this form for a list
        of runs. All columns of an array have its dtype; the columns of a mapping or
        data frame keep their own.
    qid : array-like of shape (n_documents,), optional
        Query of each document. If None, all documents belong to one query.
    measure : str or Measure, default="ndcg@10"
        Name of the measure, or a `Measure`; see `parse_measure`.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Test of the differences per query: the paired t test, Wilcoxon's signed-rank
        test, or Fisher's randomisation test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis: the mean of A differs from that of B, is greater, or
        is less.
    correction : {"holm", "bh", "by", None}, default="holm"
        Correction of the p-values for the number of pairs. "holm" (Holm) controls the
        probability of any false positive; "bh" (Benjamini and Hochberg) and "by"
        (Benjamini and Yekutieli) control the false discovery rate.
    confidence : float, default=0.95
        Confidence level of the interval of the effect size.
    n_resamples : int, default=9999
        Number of random assignments of signs for "randomization". If there are no
        more than this, all of them are used.
    random_state : int, Generator, RandomState or None, default=0
        Seed of "randomization".
    zero_relevance, unjudged
        As in `ranking_score`.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). No result depends on it.

    Returns
    -------
    SystemComparison

    Raises
    ------
    ValueError
        As in `ranking_score`; for systems of another length or with the same name;
        and for an unknown option.

    Warns
    -----
    UndefinedMetricWarning
        If the measure is undefined for every query of a system.
    UserWarning
        Without `qid`: a single query has no test.

    See Also
    --------
    evaluate : One system by several measures.
    precision_study : Which conclusions change when scores are coarser.
    tieaware_sklearn.comparison.rank_correlation : Whether systems rank alike.

    Notes
    -----
    The test asks whether the difference could come from the choice of queries;
    `tie_std` and `tie_range` say how much it depends on the order of ties. The orders
    of the ties of A and of B are independent: their variances add, and the range goes
    from (worst of A - best of B) to (best of A - worst of B). There is no
    `query_weight`, because not all three tests are defined for weighted queries. For
    the tests see Smucker, Allan and Carterette (CIKM 2007); for effect sizes and their
    intervals, Sakai (SIGIR Forum 2014) and Cumming and Finch (2001).

    Examples
    --------
    >>> from tieaware_sklearn.comparison import compare_systems
    >>> relevance = [1, 0, 0, 1, 0, 0, 0, 1, 0]
    >>> clicks = [9, 1, 1, 5, 2, 2, 1, 1, 0]
    >>> age = [1, 2, 3, 2, 3, 3, 1, 1, 1]
    >>> found = compare_systems(relevance, {"clicks": clicks, "age": age},
    ...                         qid=[1, 1, 1, 2, 2, 2, 3, 3, 3], measure="rr")
    >>> print(found)
    RR        mean   worst    best  tie std
    ---------------------------------------
    clicks  0.9167  0.8333  1.0000   0.0833
    age     0.4259  0.3333  0.5556   0.0944
    <BLANKLINE>
    A       B     A - B  tie std         tie range  holds   p (t)     d
    -------------------------------------------------------------------
    clicks  age  0.4907   0.1259  [0.2778, 0.6667]    yes  0.1081  1.61
    """
    check_choice(test, "test", TESTS)
    check_choice(alternative, "alternative", ALTERNATIVES)
    check_choice(correction, "correction", CORRECTIONS)
    check_share(confidence, "confidence")
    check_count(n_resamples, "n_resamples")
    options = {
        "test": test,
        "alternative": alternative,
        "n_resamples": n_resamples,
        # a number, so that every pair draws alike
        "random_state": seed_of(random_state),
    }
    systems = MeasuredSystems(
        y_true, y_score, qid, measure, zero_relevance, unjudged, n_jobs
    )
    found = systems.all_values(("best", "worst", "std", "chance"))
    # whatever order the rows came in
    by_id = systems.queries.sorted()
    if np.isnan(found["expected"]).all(axis=0).any():
        systems.warn_undefined()
    pairs = pairs_of(len(systems.names))
    if qid is None and len(pairs):
        warn_one_query(
            systems.queries.n_rows, "pass qid, because the test is over queries"
        )
    rows = [
        _compare(
            {name: values[np.ix_(by_id, pair)] for name, values in found.items()},
            confidence,
            options,
        )
        for pair in pairs
    ]
    columns = np.array(rows, dtype=float).reshape(len(pairs), 10).T
    difference, tie_std, low, high, statistic, pvalues, *effect, n_queries = columns
    return SystemComparison(
        systems=systems.names,
        measure=str(systems.measure),
        greater_is_better=systems.measure.greater_is_better,
        qid=systems.queries.qid,
        **found,
        bounds=systems.bounds,
        pairs=pairs,
        difference=difference,
        tie_std=tie_std,
        tie_range=np.column_stack([low, high]),
        survives=(low > NO_DIFFERENCE) | (high < -NO_DIFFERENCE),
        statistic=statistic,
        pvalues=pvalues,
        adjusted_pvalues=adjust(pvalues, correction),
        effect=effect[0],
        effect_interval=np.column_stack(effect[1:]),
        n_queries=n_queries.astype(np.int64),
        test=test,
        correction=correction,
        alternative=alternative,
        confidence=float(confidence),
    )


def _compare(
    values: dict[str, FloatArray], confidence: float, options: dict[str, Any]
) -> list[float]:
    """Difference, its tie std and range, test, effect and queries of a pair."""
    there = ~np.isnan(values["expected"]).any(axis=1)
    a, b = values["expected"][there].T
    # best is the smallest where lower is better
    ends = np.stack([values["best"][there], values["worst"][there]])
    smallest, largest = ends.min(axis=0), ends.max(axis=0)
    spread = np.hypot(*values["std"][there].T)
    difference = a - b
    return [
        mean(a) - mean(b),
        std_of_mean(spread),
        mean(smallest[:, 0]) - mean(largest[:, 1]),
        mean(largest[:, 0]) - mean(smallest[:, 1]),
        *paired_test(difference, **options),
        *paired_effect(difference, confidence),
        float(there.sum()),
    ]
