"""Two or many systems on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._engine.qid_column import warn_one_query
from .._engine.seeds import seed_of
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import check_choice, check_count, check_share
from ..evaluation._averages import mean, std_of_mean
from ..evaluation._intervals import NO_DIFFERENCE, adjust
from ..measures import Measure
from ..measures._parse import parse_measures
from ._comparison_result import SystemComparison, SystemComparisons
from ._measured_systems import MeasuredSystems, pairs_of
from ._paired_tests import ALTERNATIVES, CORRECTIONS, TESTS, paired_effect, paired_test


def compare_systems(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    ties: str | Sequence[str] = "expected",
    external: Mapping[str, Any] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    n_jobs: int | None = None,
) -> Any:
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
    measure : str, Measure or list of them, default="ndcg@10"
        Name of the measure, or a `Measure`; see `parse_measure`. With a list, all are
        measured in one pass.
    ties : str or list of str, default="expected"
        Treatment of ties: "expected", the exact mean over the orders of tied documents;
        "best" or "worst" of these; "input", the order of rows; or the name of a rule
        in `external`. With a list, several treatments side by side.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`. A key of shape
        (n_documents, n_systems) has a column for each system.
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
    SystemComparison or SystemComparisons
        The latter if `measure` or `ties` is a list: a comparison for each of both.

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
    several = not isinstance(measure, (str, Measure)) or not isinstance(ties, str)
    systems = MeasuredSystems(
        y_true, y_score, qid, parse_measures(measure, name="measure"),
        zero_relevance, unjudged, n_jobs, external,
    )  # fmt: skip
    treatments = systems.rules.check(ties)
    pairs = pairs_of(len(systems.names))
    if qid is None and len(pairs):
        warn_one_query(
            systems.queries.n_rows, "pass qid, because the test is over queries"
        )
    found = {
        treatment: systems.all_values(("best", "worst", "std", "chance"), treatment)
        for treatment in treatments
    }
    systems.warn_undefined(_averages(found[treatments[0]]["expected"]))
    comparisons = [
        _comparison(
            systems,
            j,
            treatment,
            {name: values[j] for name, values in found[treatment].items()},
            pairs,
            correction,
            confidence,
            options,
        )
        for j in range(len(systems.measures))
        for treatment in treatments
    ]
    if not several:
        return comparisons[0]
    return SystemComparisons(tuple(comparisons))


def _averages(expected: FloatArray) -> list[float]:
    """NaN for each measure that is undefined throughout for some system."""
    undefined = np.isnan(expected).all(axis=1)
    averages: list[float] = np.where(undefined, np.nan, 0.0).max(axis=1).tolist()
    return averages


def _comparison(
    systems: MeasuredSystems,
    j: int,
    ties: str,
    found: dict[str, FloatArray],
    pairs: IntArray,
    correction: str | None,
    confidence: float,
    options: dict[str, Any],
) -> SystemComparison:
    """The comparison by one measure under one treatment of ties."""
    # whatever order the rows came in
    by_id = systems.queries.sorted()
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
        measure=str(systems.measures[j]),
        greater_is_better=systems.measures[j].greater_is_better,
        qid=systems.queries.qid,
        **found,
        bounds=systems.bounds[j],
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
        ties=ties,
        test=options["test"],
        correction=correction,
        alternative=options["alternative"],
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
