"""Compare two or many systems on the same queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._display import words
from .._engine import checks, exact_numbers, feature_matrix
from .._typing import Array, FloatArray, IntArray
from ..evaluation import _interval_warnings, _prepared, _resolved, _ties
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..statistics.averages import largest_values, without_rounding
from ..statistics.paired_tests import ALTERNATIVES, TESTS
from . import _pairs
from ._result import SystemComparison


@dataclass
class MeasuredSystems:
    """Checked labels and the score columns of systems.

    Attributes
    ----------
    names : tuple of str
        Names of the systems.
    scores : list of ndarray of shape (n_documents,)
        Scores of each system.
    prepared : Prepared
        Labels, queries in order of first appearance, and the weights and segments of
        the queries.
    resolved : ResolvedMeasures
        Measures with the options of the call applied.
    rules : TieRules
        Treatments of ties by name.
    n_jobs : int or None
        Number of threads.
    """

    names: tuple[str, ...]
    scores: list[Array]
    prepared: _prepared.Prepared
    resolved: _resolved.ResolvedMeasures
    rules: _ties.TieRules
    n_jobs: int | None = None

    def baselines(self, baseline: Any, qid: Any) -> tuple[str, ...]:
        """Check the baselines, and warn if several systems have no query ids."""
        baselines = check_baselines(baseline, self.names)
        has_ids = qid is not None or self.prepared.lists is not None
        if not has_ids and len(self.names) > 1:
            feature_matrix.warn_one_query(
                self.prepared.queries.n_rows,
                "pass qid, because the test is over queries",
            )
        return baselines

    def values(
        self, ties: str = "expected", detail: Detail = Detail.DEVIATION
    ) -> QueryValues:
        """Return values of all systems, of shape (n_measures, n_queries, n_systems)."""
        by_system = []
        for j, scores in enumerate(self.scores):
            values = self.rules.values(
                self.prepared,
                self.resolved,
                scores,
                ties,
                detail,
                column=j,
                n_jobs=self.n_jobs,
            )
            by_system.append(values)
        return QueryValues.join(by_system, lambda arrays: np.stack(arrays).T)


def prepare_systems(
    y_true: ArrayLike,
    y_score: Any,
    qid: Any,
    measures: list[Measure],
    zero_relevance: float | str,
    unjudged: str,
    n_jobs: int | None,
    query_weight: ArrayLike | None = None,
    segment: Any = None,
    mask: ArrayLike | None = None,
    external: Mapping[str, Any] | None = None,
    cluster: Any = None,
) -> MeasuredSystems:
    """Check labels and the scores of systems.

    The blocks of labels are kept, because all systems use them.
    """
    resolved = _resolved.resolve(measures, zero_relevance, unjudged)
    is_matrix = exact_numbers.are_lists(y_true, masked=mask is not None)
    names, columns = feature_matrix.list_systems(y_score, matrices=is_matrix)
    # A data frame stays whole, so that its index is compared once.
    scores = {"y_score": y_score}
    if is_matrix or isinstance(y_score, Mapping):
        scores = columns
    prepared = _prepared.prepare(
        y_true,
        qid,
        query_weight,
        scores=scores,
        segment=segment,
        cluster=cluster,
        mask=mask,
        unjudged=resolved.unjudged,
        keep=True,
    )
    labels = prepared.labels
    resolved.warn_below_rel(labels)
    checked = [prepared.scores(column, name) for name, column in columns.items()]
    rules = _ties.TieRules(external, len(labels), names, prepared.lists)
    return MeasuredSystems(names, checked, prepared, resolved, rules, n_jobs)


def warn_undefined(measures: Iterable[object], expected: FloatArray) -> None:
    """Warn about each measure that is undefined for every query of a system.

    `expected` has shape (n_measures, n_queries, n_systems).
    """
    # The sum over systems is NaN if all values of a system are NaN.
    largest = np.fmax.reduce(expected, axis=1).sum(axis=1)
    _resolved.warn_of_nan(measures, largest)


def check_baselines(baseline: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Check the names of the baselines, and return them."""
    if baseline is None:
        return ()
    chosen = checks.check_choices(baseline, "baseline", names)
    if len(chosen) == len(names):
        raise ValueError(
            f"baseline must leave at least one other system, got {chosen!r}"
        )
    return tuple(chosen)


def pairs_with(baselines: tuple[str, ...], names: tuple[str, ...]) -> IntArray:
    """Return pairs of systems with baselines, or all pairs if there are no baselines.

    The pairs have shape (n_pairs, 2) and contain indices of names.
    """
    if not baselines:
        return np.column_stack(np.triu_indices(len(names), k=1))
    systems = [i for i, name in enumerate(names) if name not in baselines]
    pairs = []
    for baseline in baselines:
        j = names.index(baseline)
        pairs += [(i, j) for i in systems]
    return np.array(pairs)


def compare_systems(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    ties: str | Sequence[str] = "expected",
    external: Mapping[str, Any] | None = None,
    baseline: str | Sequence[str] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    correction: str | None = "holm",
    interval: str = "t",
    average: str = "macro",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    segment: Any = None,
    cluster: Any = None,
    n_jobs: int | None = None,
) -> SystemComparison:
    """Compare systems pair by pair, over queries and over the orders of their ties.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Labels, finite and >= 0. NaN means that a document is unjudged. In a matrix,
        each row is a query.
    y_score : mapping of str to array-like, data frame, or array-like of shape \
(n_documents, n_systems) or (n_documents,)
        Scores of each system for the same documents. A score of -inf means that the
        system does not retrieve the document. The scores that `load_trec` returns for a
        list of runs can be passed unchanged. If `y_true` is a matrix, each system is a
        matrix in the mapping, or ``y_score[:, :, j]`` if `y_score` is an array.
    qid : array-like of shape (n_documents,), optional
        Query id of each document. If None, all documents belong to one query. Matrices
        accept no `qid`: each row is a query.
    mask : array-like of bool of shape (n_queries, n_documents), optional
        True where a cell of the matrices contains a document, as in `ranking_score`. By
        default, cells that are missing in the labels and in all systems are padding.
    measure : str, Measure or list of them, default="ndcg@10"
        Name of the measure, or a `Measure`, as in `parse_measure`. Several measures are
        computed in one pass.
    ties : str or list of str, default="expected"
        Treatment of ties. "expected" is the mean over the orders of tied documents.
        "best" and "worst" are the most and the least favourable orders. "input" is the
        order of the rows. The name of a rule in `external` means that this rule breaks
        ties. With a list, the systems are compared under each treatment.
    external : mapping of str to key, optional
        External rules for ties by name, as in `tie_treatments`. A key of shape
        (n_documents, n_systems) contains a column for each system. If `y_true` is a
        matrix, a key may have a last axis with an entry for each system.
    baseline : str or list of str, optional
        Systems with which all other systems are compared. Each pair then consists of a
        system (A) and a baseline (B). p-values are corrected for these pairs only.
        Baselines are not compared with each other. If None, all pairs are compared.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Test of the differences per query. The null hypothesis of the paired t test
        ("t") is that the mean difference is 0. The null hypothesis of Wilcoxon's
        signed-rank test ("wilcoxon") is that the differences are symmetric about 0, so
        the test may reject a mean of 0 if the differences are skewed. The null
        hypothesis of Fisher's randomisation test ("randomization") is that exchanging
        the values of A and B on any query does not change their joint distribution.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative to the null hypothesis of `test`: A differs from B, is greater than
        B, or is less than B. The alternative of "t" refers to the means.
    correction : {"holm", "bh", "by", "tukey", None}, default="holm"
        Correction of the p-values for the number of pairs. "holm" (Holm) and "tukey"
        control the probability of any false positive. "bh" (Benjamini and Hochberg) and
        "by" (Benjamini and Yekutieli) control the false discovery rate. "tukey" is
        Tukey's test of all pairs at once (honestly significant difference). Tukey's
        test needs ``test="t"``, a two-sided alternative, no `baseline` and an `average`
        other than "median". The test estimates the spread from all systems, on the
        queries for which all systems are defined, and assumes that all pairs have the
        same spread. If the spreads differ, the test may reject too often, so use
        "holm".
    interval : {"t", "bootstrap"}, default="t"
        Interval of the difference: Student's t interval ("t"), or the BCa interval of
        `scipy.stats.bootstrap` ("bootstrap"), which resamples queries. With few
        queries, the BCa interval is usually shorter than the t interval, and its
        coverage is below its confidence level. In simulations with 10 to 50 queries and
        no difference on half of the queries, 95% BCa intervals had a coverage of 83% to
        94%, and 95% t intervals had a coverage of 95% to 97%. Intervals are always
        two-sided. Intervals are not corrected for the number of pairs, except the t
        interval with ``correction="tukey"`` and three or more systems. The t intervals
        are then Tukey's simultaneous intervals: with probability `confidence`, all of
        them contain the true differences. A t interval may exceed the greatest possible
        difference.
    average : {"macro", "geometric", "median"}, default="macro"
        Average over queries by which systems are compared. "macro" is the mean.
        "geometric" is the geometric mean, with values below 1e-5 replaced by 1e-5. The
        difference is then the ratio A / B, the interval is an interval of this ratio,
        and the test compares logarithms. With "median", the p-value and the interval
        come from a bootstrap of the difference of the two medians, so `test` must stay
        at "t", and `interval` is ignored. The `tie_std` of the result is NaN with
        "geometric" and "median".
    confidence : float, default=0.95
        Confidence level of the intervals of the difference, above 0 and below 1. A
        corrected p-value of at most 1 - `confidence` is significant.
    n_resamples : int, default=9999
        Number of random assignments of signs for "randomization", and of random samples
        for "bootstrap" and medians. If at most this many assignments of signs exist,
        all of them are used.
    random_state : int, Generator, RandomState or None, default=0
        Seed of "randomization", "bootstrap" and medians.
    zero_relevance, unjudged
        Value for queries where a measure is undefined, and treatment of NaN labels, as
        in `ranking_score`.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document in averages and tests. Weights are >= 0,
        constant within a query, and not all 0. If `y_true` is a matrix, `query_weight`
        contains a weight for each row. The tests "t" and "randomization" accept
        weights. Wilcoxon's test, Tukey's test and medians do not accept weights.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        Segment of the query of each document, or of each row if `y_true` is a matrix,
        as in `evaluate`. `SystemComparison.by_segment` compares the systems in each
        segment.
    cluster : array-like of shape (n_documents,) or (n_queries,), optional
        Cluster of the query of each document, or of each row if `y_true` is a matrix,
        as in `evaluate`. Tests and intervals count each cluster as one observation: the
        mean difference of its queries. "randomization" changes the signs of whole
        clusters. Wilcoxon's test, Tukey's test and medians do not accept clusters.
    n_jobs : int, optional
        Number of threads over blocks of queries (joblib). Results do not depend on
        `n_jobs`.

    Returns
    -------
    SystemComparison
        Comparison by all measures and treatments of ties. For example,
        ``result["AP", "expected"]`` selects a single comparison.

    Raises
    ------
    ValueError
        As in `ranking_score`. Also if there is no system, if a system has the wrong
        length, if two systems have the same name, if a measure is listed twice, if a
        baseline is not a system, if all systems are baselines, if an external rule is
        not valid in `tie_treatments`, if an option is unknown, or if the options cannot
        be combined, as described above for "tukey", medians, weights and clusters.

    Warns
    -----
    UndefinedMetricWarning
        If every query of a system is left out, because a measure is undefined. Also if
        labels are above 0, but all labels are below the `rel` of a measure.
    UserWarning
        If one of these conditions holds:

        - Several systems are compared without `qid`, so that all documents belong to
          one query, which cannot be tested.
        - All differences of a pair are equal, or more than 80% of the differences are
          equal and there are fewer than 200 queries. For medians, this condition is not
          checked.
        - There are fewer queries than 25 times the squared skewness of the differences
          of a pair (Cochran 1977, p. 42). For medians, this condition is not checked.
        - The weights correspond to fewer than 20 queries of equal weight, so that t
          tests reject too often and t intervals are too short. With fewer than 2, there
          is no t test and no t interval. Randomisation tests remain valid.
        - ``correction="tukey"`` is set, and the standard deviations of the differences
          of two pairs differ by a factor of 2 or more.
        - There are fewer than 10 clusters.
        - The arguments look wrong, as in `ranking_score`.

    See Also
    --------
    evaluate : Evaluates one system by several measures.
    precision_study : Shows which conclusions change if scores are coarser.
    tieaware_sklearn.comparison.rank_correlation : Correlates the orderings of two
        systems.

    Notes
    -----
    If all n differences of a pair are equal, the spread cannot be estimated. If the
    differences are not 0, the p-value of the two-sided t test is then the probability
    that all signs are equal by chance, 2 / 2^n, and no effect size is reported. If the
    differences are 0, the p-value is 1. If the differences are as large as the bounds
    of the measure allow, the interval is derived from the exact binomial interval
    (Clopper and Pearson 1934). Otherwise, no interval is reported. These rules do not
    apply to Tukey's simultaneous intervals, which are reported unless the differences
    of every pair are equal, and not to the bootstrap interval of medians.

    The test shows whether the difference could come from the choice of queries.
    `tie_std` and `tie_range` show how much the difference depends on the order of ties.
    The orders of the ties of A and of B are independent, so the variances of A and B
    add, and the range goes from (worst of A - best of B) to (best of A - worst of B).

    With weights w of queries, the t test compares weighted means. The standard error
    and the degrees of freedom are computed as in weighted reports: the queries count as
    m = (Σ w)² / Σ w² queries of equal weight (Kish 1965). "randomization" changes the
    signs of the weighted differences, and "bootstrap" draws queries with their weights.
    Averages are the same as if each query were repeated as often as its weight states.
    Tests are not the same, because a query with a large weight is still a single query.

    Smucker, Allan and Carterette (CIKM 2007) compare the tests. Sakai (SIGIR Forum
    2014) discusses effect sizes.

    Tukey's test assumes a two-way layout of queries and systems without interaction.
    The statistic of the test is q = abs(mean of A - mean of B) / sqrt(MSE / n). MSE is
    the mean square of the residuals, with (n - 1)(m - 1) degrees of freedom for n
    queries and m systems. q has the distribution of the studentized range (Carterette,
    TOIS 2012; Sakai, "Laboratory Experiments in Information Retrieval", 2018).
    Computing a p-value takes about 20 ms. Dunnett's test, the counterpart of Tukey's
    test for one baseline, is not available, because SciPy offers Dunnett's test for
    independent samples only, not for the same queries.

    Examples
    --------
    >>> from tieaware_sklearn.comparison import compare_systems
    >>> relevance = [1, 0, 0, 1, 0, 0, 0, 1, 0]
    >>> clicks = [9, 1, 1, 5, 2, 2, 1, 1, 0]
    >>> age = [1, 2, 3, 2, 3, 3, 1, 1, 1]
    >>> result = compare_systems(relevance, {"clicks": clicks, "age": age},
    ...                          qid=[1, 1, 1, 2, 2, 2, 3, 3, 3], measure="rr")
    >>> print(result)
    RR        mean   worst    best  tie_std
    ---------------------------------------
    clicks  0.9167  0.8333  1.0000   0.0833
    age     0.4259  0.3333  0.5556   0.0944
    <BLANKLINE>
    A       B     A - B    ±95%  tie_std         tie range  same sign  pvalue     d
    -------------------------------------------------------------------------------
    clicks  age  0.4907  0.7569   0.1259  [0.2778, 0.6667]        yes  0.1081  1.61
    <BLANKLINE>
    By RR, clicks is not shown to be better than age: ahead by 0.4907 (115.2% more;
    95% interval [-0.2662, 1.2477], p = 0.1081); the order of tied documents does
    not change which is ahead.
    """
    options = check_options(
        test,
        alternative,
        correction,
        interval,
        confidence,
        n_resamples,
        random_state,
        baseline,
        average,
        query_weight,
        cluster,
    )
    measures = _parse.parse_measures(measure, name="measure")
    systems = prepare_systems(
        y_true,
        y_score,
        qid,
        measures,
        zero_relevance,
        unjudged,
        n_jobs,
        query_weight,
        segment,
        mask,
        external,
        cluster,
    )
    treatments = systems.rules.check(ties)
    baselines = systems.baselines(baseline, qid)
    tables = {treatment: systems.values(treatment) for treatment in treatments}
    resolved = systems.resolved
    prepared = systems.prepared
    labels = prepared.raw_label_values(resolved.measures)
    undefined = np.isnan(labels.chance)
    chance = resolved.fill_labels(labels, undefined).chance
    n_columns = len(tables) * len(systems.names)
    directions = [measure.greater_is_better for measure in resolved.measures]
    return compared(
        tables,
        options,
        prepared.queries,
        systems=systems.names,
        measures=resolved.names,
        greater_is_better=np.array(directions),
        bounds=resolved.bounds,
        chance=chance.repeat(n_columns, axis=1),
        undefined=undefined,
        baselines=baselines,
        query_weight=prepared.weight,
        segment=prepared.segment,
        cluster=prepared.cluster,
    )


def check_options(
    test: str,
    alternative: str = "two-sided",
    correction: str | None = None,
    interval: str = "t",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = 0,
    baseline: Any = None,
    average: str = "macro",
    query_weight: Any = None,
    cluster: Any = None,
) -> _pairs.Options:
    """Check the options of tests, and return them."""
    # Systems cannot be compared by micro-averages or without an average.
    checks.check_choice(average, "average", _prepared.AVERAGES[:3])
    checks.check_choice(test, "test", TESTS)
    checks.check_choice(alternative, "alternative", ALTERNATIVES)
    corrections = ("holm", "bh", "by", "tukey", None)
    checks.check_choice(correction, "correction", corrections)
    if correction == "tukey":
        if test != "t" or alternative != "two-sided":
            raise ValueError(
                "test must be 't' and alternative 'two-sided' with correction='tukey', "
                f"got {test!r} and {alternative!r}"
            )
        if average == "median" or baseline is not None:
            raise ValueError(
                "average must not be 'median' and baseline must be None with "
                f"correction='tukey', got {average!r} and {baseline!r}"
            )
    is_weighted = query_weight is not None or cluster is not None
    is_unweighted = test == "wilcoxon" or correction == "tukey" or average == "median"
    if is_weighted and is_unweighted:
        name = "cluster" if query_weight is None else "query_weight"
        raise ValueError(
            "test='wilcoxon', correction='tukey' and average='median' must not be set "
            f"with {name}, got {test!r}, {correction!r}, {average!r}"
        )
    checks.check_choice(interval, "interval", ("t", "bootstrap"))
    if average == "median":
        if test != "t":
            raise ValueError(
                "test must be left at 't' with average='median', whose p-values come "
                f"from a bootstrap, got {test!r}"
            )
        test = interval = "bootstrap"
    checks.check_share(confidence, "confidence")
    least = 2 if interval == "bootstrap" else 1
    checks.check_count(n_resamples, "n_resamples", least=least)
    # The seed is an integer, so that all pairs have the same signs.
    seed = checks.seed_of(random_state)
    drawn = {"n_resamples": n_resamples, "random_state": seed}
    confidence = float(confidence)
    return _pairs.Options(
        test, alternative, correction, interval, confidence, average, drawn
    )


def compared(
    tables: dict[str, QueryValues],
    options: _pairs.Options,
    queries: checks.Queries | None,
    **fields: Any,
) -> SystemComparison:
    """Compare systems by tables of values, one for each treatment of ties.

    The tables have shape (n_measures, n_queries, n_systems). If `queries` is None, the
    systems have different queries. `fields` are attributes of the comparison. The
    field `chance` of shape (n_queries, n_columns) may contain values where the expected
    value is NaN. These values become NaN.
    Warns about each measure that is undefined for every query of a system.
    """
    warn_undefined(fields["measures"], next(iter(tables.values())).expected)
    names = fields["systems"]
    pairs = pairs_with(fields["baselines"], names)
    weight = fields["query_weight"]
    fields |= options._asdict()
    del fields["drawn"]
    fields["qid"] = None
    if queries is not None:
        fields["qid"] = queries.qid
        # Sums must not depend on the order of rows.
        by_id = queries.sorted()
    blocks: list[QueryValues] = []
    columns_of_blocks = []
    pairs_of_blocks = []
    for j, bounds in enumerate(fields["bounds"]):
        for table in tables.values():
            pairs_of_blocks.append(pairs + len(blocks) * len(names))
            block = table.apply(itemgetter(j))
            blocks.append(block)
            if queries is None:
                columns = _pairs.compare_unpaired(block, pairs, options)
            else:
                columns = _pairs.compare_pairs(
                    block, pairs, options, bounds, weight, by_id, fields["cluster"]
                )
            columns_of_blocks.append(columns)
    fields["pairs"] = np.concatenate(pairs_of_blocks)
    fields |= _pairs.join_columns(columns_of_blocks)
    values = QueryValues.join(blocks, np.hstack)
    for name in ("expected", "best", "worst", "std"):
        fields[name] = getattr(values, name)
    fields["chance"] = np.where(np.isnan(values.expected), np.nan, fields["chance"])
    comparison = SystemComparison(ties=tuple(tables), **fields)
    if options.average != "median":
        samples = comparison._differences()
        if queries is None:
            # The rows of unpaired systems are unrelated, and have no differences.
            systems = [f"{a} by {m}" for m in comparison.measures for a in names]
            samples = zip(systems, comparison.expected.T, strict=True)
        _interval_warnings.warn_of_intervals(samples, weight=weight)
    if options.correction == "tukey" and len(pairs):
        _warn_of_unequal_spreads(comparison)
    return comparison


def _warn_of_unequal_spreads(comparison: SystemComparison) -> None:
    """Warn if standard deviations of the differences of pairs differ twofold.

    As in Tukey's test, only queries for which all systems are defined count.
    """
    for part in comparison:
        values = np.column_stack([column for _, column in part._differences()])
        values = values[~np.isnan(values).any(axis=1)]
        if len(values) < 2:
            continue
        largest = largest_values(part.expected).max()
        spreads = without_rounding(values.std(axis=0), largest)
        low, high = spreads.min(), spreads.max()
        if high >= 2 * low and high > 0:
            words.warn(
                f"the differences by {part.measures[0]} have standard deviations from "
                f"{words.number(low)} to {words.number(high)}, but correction='tukey' "
                "assumes equal deviations and may reject too often: use 'holm'"
            )
