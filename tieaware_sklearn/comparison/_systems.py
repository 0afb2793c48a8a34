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
from ..evaluation._intervals import NO_DIFFERENCE, adjust
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
    measure : str
    mean, worst, best : ndarray of shape (n_systems,)
        Averages over queries.
    tie_std : ndarray of shape (n_systems,)
        Standard deviation of `mean` over the orders of tied documents.

    See Also
    --------
    SystemComparison.summary : The method that returns it.

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

    def _tables(self) -> list[Table]:
        header = [self.measure, "mean", "worst", "best", "tie std"]
        columns = zip(header, self._columns().values(), strict=True)
        return [Table.of(*columns, ranges=Ranges(self.worst, self.mean, self.best))]


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(Result):
    """Systems on the same queries, and every pair of them; prints as two tables.

    In the second, "holds" says whether the difference has its sign in every order
    of ties.

    Attributes
    ----------
    systems : tuple of str
    measure : str
    greater_is_better : bool
    qid : ndarray of shape (n_queries,)
    expected, best, worst, std : ndarray of shape (n_queries, n_systems)
        As in `RankingReport`.
    pairs : ndarray of shape (n_pairs, 2), int
        Numbers of the systems A and B of each pair.
    difference : ndarray of shape (n_pairs,)
        Mean of A less mean of B over the queries that have both.
    tie_std : ndarray of shape (n_pairs,)
        Standard deviation of the difference over the orders of tied documents,
        those of A and B independent.
    tie_range : ndarray of shape (n_pairs, 2)
        Smallest and largest difference that orders of ties can make.
    survives : ndarray of shape (n_pairs,), bool
        Whether the difference has the same sign in every order of ties.
    statistic, pvalues, adjusted_pvalues : ndarray of shape (n_pairs,)
        Of the paired test over queries; p values as they are, and corrected for
        the number of pairs.
    effect : ndarray of shape (n_pairs,)
        Cohen's d of the differences: their mean over their standard deviation.
    effect_interval : ndarray of shape (n_pairs, 2)
        Of `effect`, from the non-central t distribution.
    n_queries : ndarray of shape (n_pairs,), int
    test, correction, alternative : str
        How pairs were tested.
    confidence : float

    See Also
    --------
    compare_systems : The function that returns it.
    tieaware_sklearn.plots.TieRangeDisplay : Draws its systems.

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
        """Averages over queries of each system.

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
        # the interval of d, tie std, d, and the p value that is not corrected
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
        Labels: finite and >= 0. NaN is unjudged.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        The scores of each system for the same documents, -inf where it does not
        retrieve one. `load_trec` with a list of runs gives them so. An array has one
        dtype for all; the columns of a mapping or frame keep theirs.
    qid : array-like of shape (n_documents,), optional
        Query of each document.
    measure : str or Measure, default="ndcg@10"
        See `parse_measure`.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Of the differences per query: paired t, Wilcoxon's signed ranks, or Fisher's
        randomisation of their signs.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        What the test should find: that A differs from B, has greater or lesser
        values.
    correction : {"holm", "bh", "by", None}, default="holm"
        Of p values for the number of pairs: Holm's, for any wrong finding, or that
        of Benjamini and Hochberg, or Yekutieli, for the share of wrong ones.
    confidence : float, default=0.95
        Of the interval of the effect size.
    n_resamples : int, default=9999
        Random signs of "randomization"; all signs if there are no more.
    random_state : int, RandomState instance or None, default=0
        Of "randomization".
    zero_relevance, unjudged
        As in `ranking_score`.
    n_jobs : int, optional
        Threads over blocks of queries; no result depends on it.

    Returns
    -------
    SystemComparison

    Raises
    ------
    ValueError
        As in `ranking_score`; for systems of other lengths or of one name, and an
        unknown option.

    Warns
    -----
    UndefinedMetricWarning
        Where the measure is undefined for every query of a system.
    UserWarning
        Without `qid`: a single query has no test.

    See Also
    --------
    evaluate : One system by several measures.
    precision_study : Which conclusions coarser scores change.
    tieaware_sklearn.comparison.rank_correlation : Whether systems rank alike.

    Notes
    -----
    The test says what other queries might have given, `tie_std` and the range what
    other orders of the ties might have. Tie orders of A and B are taken as
    independent: variances add, and the range is from worst A less best B to best A
    less worst B. There is no `query_weight`: not all three tests are defined for
    weighted queries. For tests and effect sizes see Smucker, Allan and Carterette (CIKM
    2007), Sakai (SIGIR Forum 2014), Cumming and Finch (2001).

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
    found = systems.all_values(("best", "worst", "std"))
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
