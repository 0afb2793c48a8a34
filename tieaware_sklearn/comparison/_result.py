"""Result of a comparison of systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from scipy import stats

from .. import _optional
from .._display import html, words
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from ..evaluation import Summary, _interval_warnings
from ..measures import parse_measure
from ..measures._values import QueryValues
from ..statistics.averages import (
    NO_DIFFERENCE,
    floored_logs,
    largest_values,
    ratios,
    stds_of_means,
    without_rounding,
)
from ..statistics.intervals import average_interval
from ..statistics.moments import QueryMoments, cluster_means, effective_number
from ..statistics.multiple_testing import adjust
from ..statistics.power import effect_for_power, queries_for_power
from ..statistics.rank_intervals import rank_intervals
from . import _pairs, _text

#: Names of the attributes with a value for each query and system.
_VALUES = ("expected", "best", "worst", "std", "chance")
#: Names of the attributes with a value for each pair. Each attribute is a column of the
#: data frame that `to_pandas` returns.
_FIGURES = (
    "difference",
    "difference_interval",
    "tie_std",
    "tie_range",
    "same_sign",
    "statistic",
    "pvalues",
    "adjusted_pvalues",
    "effect",
    "n_queries",
)


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(html.Result):
    """Comparison of systems, printed as a table of systems and a table of pairs.

    The first table shows a row for each measure, treatment of ties and system. The
    second table shows a row for each measure, treatment and pair. "same sign" shows
    whether the same system is ahead in every order of ties that the treatment leaves
    open.

    With more than three systems, the first table shows one row for each system, sorted
    by the first measure and treatment, with the best system first. The columns show,
    for each measure and treatment, the average, the 95% interval of the average, and
    the letters of the systems that are significantly worse. With baselines, only
    differences from baselines are tested. With more than three systems and more than 15
    rows of pairs, the table of pairs is not printed. `to_pandas` always returns the
    pairs, and `to_html` always shows the pairs.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    measures, ties : tuple of str
        Canonical names of the measures, and treatments of ties. Columns of systems and
        rows of pairs repeat for each combination: all treatments of the first measure,
        then all treatments of the second measure, and so on.
    greater_is_better : ndarray of shape (n_measures,), bool
        Whether higher values of a measure are better.
    qid : ndarray of shape (n_queries,) or None
        Query ids in order of first appearance, or None if the systems have different
        queries.
    expected, best, worst, std, chance : ndarray of shape (n_queries, n_columns)
        Values as in `RankingReport`, for each measure, treatment and system.
    undefined : ndarray of shape (n_queries, n_measures), bool
        Whether the measure is undefined for the labels of the query, such as NDCG for a
        query without a relevant document.
    bounds : ndarray of shape (n_measures, 2)
        Smallest and largest value that a measure can have.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the columns of A and B in `expected`, for each measure, treatment and
        pair. With one measure and one treatment, the indices are indices of systems.
    difference : ndarray of shape (n_pairs,)
        Mean of A minus mean of B, over the queries for which both systems are defined.
        If the systems have different queries, the mean of a system is over its own
        queries. With other averages, the difference is the ratio A / B of geometric
        means, or the median of A minus the median of B.
    difference_interval : ndarray of shape (n_pairs, 2)
        Interval of `difference` over queries. A t interval is NaN if the spread cannot
        be estimated (see the Notes of `compare_systems`).
    tie_std : ndarray of shape (n_pairs,)
        Standard deviation of the difference over the orders of tied documents, which
        are independent between A and B, or NaN for averages other than the mean.
        `tie_std`, `tie_range` and `same_sign` cover the orders that the treatment
        leaves open: all orders under "expected", and one order under "best", "worst"
        and "input". Under an external rule, only documents that the rule leaves tied
        are reordered.
    tie_range : ndarray of shape (n_pairs, 2)
        Smallest and largest difference (or ratio) over the orders that the treatment
        leaves open.
    same_sign : ndarray of shape (n_pairs,), bool
        Whether the same system has the higher average in each order that the treatment
        leaves open.
    statistic, pvalues, adjusted_pvalues : ndarray of shape (n_pairs,)
        Statistic and p-value of the test over queries, and the p-value corrected for
        the number of pairs. With Tukey's test, `adjusted_pvalues` contains the p-values
        of Tukey's test.
    effect : ndarray of shape (n_pairs,)
        Cohen's d: the mean of the differences (for geometric means, of differences of
        logarithms) divided by the standard deviation of the differences. The effect is
        NaN if all differences are equal and not 0, or if there are fewer than two
        queries. If the systems have different queries, see the Notes of
        `compare_values`.
    n_queries : ndarray of shape (n_pairs,), int
        Number of queries for which both systems are defined, without queries of weight
        0. If the systems have different queries, the queries of both systems are added
        up.
    test, alternative, interval, average : str
        Test, alternative hypothesis and interval of the difference, and the average
        over queries, as given to `compare_systems`. With medians, `test` and `interval`
        are "bootstrap". If the systems have different queries, `test` is "welch".
    baselines : tuple of str
        Systems with which the other systems are compared. The tuple is empty if all
        pairs are compared.
    correction : str or None
        Correction of the p-values, as given to `compare_systems`.
    confidence : float
        Confidence level of `difference_interval`. A corrected p-value of at most
        1 - `confidence` is significant.
    query_weight : ndarray of shape (n_queries,) or None
        Weight of each query in averages and tests.
    segment : ndarray of shape (n_queries,) or None
        Segment of each query, as given to `compare_systems`.
    cluster : ndarray of shape (n_queries,) or None
        Cluster of each query, as given to `compare_systems`.

    See Also
    --------
    compare_systems : The function that returns this comparison.
    tieaware_sklearn.plots.TieRangeDisplay : Draws the systems.

    Examples
    --------
    >>> from tieaware_sklearn import compare_systems
    >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
    >>> result = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2], measure="rr")
    >>> result.difference
    array([0.375])
    >>> several = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
    ...                           measure=["rr", "p@1"], ties=["expected", "worst"])
    >>> several["P@1", "worst"].difference
    array([1.])
    >>> print(several)
    measure  ties      system    mean   worst    best  tie_std
    ----------------------------------------------------------
    RR       expected  a       1.0000  1.0000  1.0000   0.0000
    RR       expected  b       0.6250  0.5000  0.7500   0.1250
    RR       worst     a       1.0000  1.0000  1.0000   0.0000
    RR       worst     b       0.5000  0.5000  0.5000   0.0000
    P@1      expected  a       1.0000  1.0000  1.0000   0.0000
    P@1      expected  b       0.2500  0.0000  0.5000   0.2500
    P@1      worst     a       1.0000  1.0000  1.0000   0.0000
    P@1      worst     b       0.0000  0.0000  0.0000   0.0000
    <BLANKLINE>
    measure  ties      A  B   A - B    ±95%         tie range  same sign  pvalue
    ----------------------------------------------------------------------------
    RR       expected  a  b  0.3750  1.5883  [0.2500, 0.5000]        yes  0.2048
    RR       worst     a  b  0.5000       -  [0.5000, 0.5000]        yes  0.5000
    P@1      expected  a  b  0.7500  3.1766  [0.5000, 1.0000]        yes  0.2048
    P@1      worst     a  b  1.0000  0.8419  [1.0000, 1.0000]        yes  0.5000
    pvalue: not corrected for the 2 measures, not corrected for the 2 treatments of
    ties
    Hidden columns: tie_std, d. to_pandas() or --csv returns all columns.
    <BLANKLINE>
    By RR, a is not shown to be better than b: ahead by 0.3750 (60.0% more; 95%
    interval [-1.2133, 1.9633], p = 0.2048); the order of tied documents does not
    change which is ahead.
    By RR with ties worst, a is not shown to be better than b: ahead by 0.5000
    (100.0% more; 95% interval [-, -], p = 0.5000).
    By P@1, a is not shown to be better than b: ahead by 0.7500 (300.0% more; 95%
    interval [-2.4266, 3.9266], p = 0.2048); the order of tied documents does not
    change which is ahead.
    By P@1 with ties worst, a is not shown to be better than b: ahead by 1.0000 (95%
    interval [-0.6838, 1.0000], p = 0.5000).
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    greater_is_better: BoolArray
    qid: Array | None
    expected: FloatArray
    best: FloatArray
    worst: FloatArray
    std: FloatArray
    chance: FloatArray
    undefined: BoolArray
    bounds: FloatArray
    pairs: IntArray
    difference: FloatArray
    difference_interval: FloatArray
    tie_std: FloatArray
    tie_range: FloatArray
    same_sign: BoolArray
    statistic: FloatArray
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    effect: FloatArray
    n_queries: IntArray
    baselines: tuple[str, ...]
    test: str
    correction: str | None
    alternative: str
    interval: str
    confidence: float
    average: str
    query_weight: FloatArray | None = None
    segment: Array | None = None
    cluster: Array | None = None

    _tables = _text.tables
    _whole = _text.tables_of_page
    _conclusion = _text.conclusion_of_page
    _remarks = _text.remarks_of_page

    def __iter__(self) -> Iterator[SystemComparison]:
        """Iterate over comparisons by one measure under one treatment of ties."""
        return (self[key] for key in self._keys())

    def __len__(self) -> int:
        return len(self.measures) * len(self.ties)

    def __getitem__(self, key: tuple[str, str]) -> SystemComparison:
        """Return the comparison by one measure under one treatment of ties."""
        keys = self._keys()
        if keys == [key]:
            return self
        if key not in keys and isinstance(key, tuple) and len(key) == 2:
            with suppress(ValueError):
                key = str(parse_measure(key[0])), key[1]
        if key not in keys:
            raise KeyError(f"{key!r} is not one of {keys}")
        n = len(keys)
        index = keys.index(key)
        measure = index // len(self.ties)
        fields: dict[str, Any] = {"measures": (key[0],), "ties": (key[1],)}
        fields["greater_is_better"] = self.greater_is_better[[measure]]
        fields["undefined"] = self.undefined[:, [measure]]
        fields["bounds"] = self.bounds[[measure]]
        pairs = np.split(self.pairs, n)[index]
        fields["pairs"] = pairs - index * len(self.systems)
        for name in _FIGURES:
            fields[name] = np.split(getattr(self, name), n)[index]
        for name in _VALUES:
            fields[name] = np.split(getattr(self, name), n, axis=1)[index]
        return replace(self, **fields)

    def _keys(self) -> list[tuple[str, str]]:
        return [(measure, ties) for measure in self.measures for ties in self.ties]

    def summary(self) -> Summary:
        """Average the values of each system over queries.

        Returns
        -------
        Summary
            A row for each ``measure``, treatment of ``ties`` and ``system``, with these
            columns:

            - ``mean`` is the average of the expected values. ``worst``, ``best`` and
              ``chance`` are averages of the attributes with these names.
            - ``tie_std`` is the standard deviation of the mean when tied documents are
              shuffled, or NaN for averages other than the mean.
            - ``interval_low`` and ``interval_high`` are the ends of the 95% interval of
              the average over queries.
            - ``letter`` is the letter that represents the system, beginning with "a"
              for the best system by the first measure and treatment. If there are more
              than 52 systems, numbers replace letters.
            - ``better_than`` lists the letters of the systems that are significantly
              worse, with `adjusted_pvalues` of at most 1 - `confidence`. "b-e" means b,
              c, d and e.
            - ``rank_low`` and ``rank_high`` are the first and the last rank that the
              data do not exclude. The first rank is 1 plus the number of systems that
              are significantly better. The last rank is the number of systems minus the
              number of systems that are significantly worse (Mohamad, Goeman and van
              Zwet, Biometrics 2022). With a probability of at least `confidence`, all
              true ranks are in these ranges, if the tests are valid. The two columns
              exist only for two-sided tests of all pairs with Holm's correction, and
              not for Wilcoxon's test, which does not compare averages.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=60, random_state=0)
        >>> systems = dict(zip(web.feature_names[:5], web.data.T))
        >>> result = compare_systems(web.target, systems, qid=web.qid, measure="rr")
        >>> frame = result.summary().to_pandas().sort_values("letter")
        >>> frame[["letter", "better_than", "system", "mean"]].round(4)
          letter better_than       system    mean
        2      a          de  page_visits  0.8186
        1      b          de       clicks  0.8135
        0      c          de    in_degree  0.7488
        4      d                n_slashes  0.4354
        3      e               url_length  0.4251
        """
        return self._summary

    @cached_property
    def _summary(self) -> Summary:
        n_systems = len(self.systems)
        # Rows of a measure: its systems under all treatments.
        n_rows = n_systems * len(self.ties)
        keys = np.array(self._keys(), dtype=object)
        bounds = self.bounds.repeat(n_rows, axis=0)
        averages_of = partial(
            average_interval,
            average=self.average,
            weight=self.query_weight,
            bounds=bounds,
        )
        mean, interval = averages_of(self.expected, cluster=self.cluster)
        tie_std = stds_of_means(self.std, self.query_weight)
        if self.average != "macro":
            # The standard deviation follows from a sum over queries only for the mean.
            tie_std[:] = np.nan
        order = self._best_first(mean)
        letters = _text.letters(order)
        worse_systems = []
        ranks = []
        for part in self:
            better = part._better()
            ranks.append(rank_intervals(better))
            for row in better:
                worse_systems.append(_text.runs(letters[order], row[order]))
        columns: _pairs.Columns = {}
        columns["measure"], columns["ties"] = keys.repeat(n_systems, axis=0).T
        columns["system"] = np.tile(np.array(self.systems, dtype=object), len(self))
        columns["mean"] = mean
        columns["worst"], _ = averages_of(self.worst)
        columns["best"], _ = averages_of(self.best)
        columns["tie_std"] = tie_std
        columns["chance"], _ = averages_of(self.chance)
        # A t interval may exceed the bounds of the measure.
        ends = interval.clip(bounds[:, :1], bounds[:, 1:])
        columns["interval_low"], columns["interval_high"] = ends.T
        columns["letter"] = np.tile(letters, len(self))
        columns["better_than"] = np.array(worse_systems, dtype=object)
        if self._has_ranks():
            columns["rank_low"], columns["rank_high"] = np.concatenate(ranks).T
        undefined = self.undefined.repeat(n_rows, axis=1)
        defined, _ = averages_of(np.where(undefined, np.nan, self.expected))
        about = {"average": self.average, "undefined": _text.undefined(self, defined)}
        identifiers = ("measure", "ties", "system")
        return Summary(columns, identifiers, about, _text.table_of_systems)

    def by_segment(self, *, n_resamples: int = 9999, random_state: Any = 0) -> Summary:
        """Compare each pair of systems on the queries of each segment.

        Parameters
        ----------
        n_resamples : int, default=9999
            Number of random draws for the test and the interval, at least 2, as in
            `compare_systems`.
        random_state : int, Generator, RandomState or None, default=0
            Seed of the random draws.

        Returns
        -------
        Summary
            A row for each ``measure``, treatment of ``ties``, ``segment`` (in ascending
            order) and pair of ``a`` and ``b``, with the other columns of `to_pandas`
            and these columns:

            - ``adjusted_pvalue`` is the p-value corrected over all segments and pairs
              together, for each measure and treatment of ties.
            - ``better`` is the system that is significantly better, by an
              ``adjusted_pvalue`` of at most 1 - `confidence`, or an empty string.
            - ``interaction`` is the p-value of the hypothesis that the mean difference
              (or the ratio of geometric means) is the same in all segments, by the test
              of Alexander and Govern (1994), which allows for unequal variances. This
              p-value is not corrected. The p-value is NaN with weights or clusters, for
              medians, with a single segment, and if all differences in a segment are
              equal. The p-value is also NaN if a segment has fewer than 20 queries with
              a difference, because the test may then reject too often.
            - ``n_effective`` is the effective number of queries or clusters of the
              segment. The column exists only with weights or clusters.

        Raises
        ------
        ValueError
            If no `segment` was given to `compare_systems`, if the correction is Tukey's
            test, if the systems have different queries, or if `n_resamples` is below 2.

        Warns
        -----
        UserWarning
            If the differences of a pair in a segment are nearly all equal or skewed, or
            if the weights in a segment correspond to few queries of equal weight, as in
            `compare_systems`.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=60, random_state=0)
        >>> systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
        >>> result = compare_systems(web.target, systems, qid=web.qid, measure="ap",
        ...                          segment=web.qid % 2)
        >>> print(result.by_segment())
        segment  A       B          queries   A - B    95% interval    holm  interaction
        --------------------------------------------------------------------------------
        0        clicks  in-degree       30  0.0551  [0.012, 0.098]  0.0285       0.5977
        1        clicks  in-degree       30  0.0746  [0.014, 0.135]  0.0285       0.5977
        by AP; holm: corrected over all pairs and 2 segments together; the difference by
        AP does not differ significantly between segments
        Hidden columns: better. to_pandas() or --csv returns all columns.
        """
        qid = self._paired_qid("by_segment")
        if self.segment is None:
            raise ValueError(
                "segment must be given when systems are compared, got None"
            )
        if self.correction == "tukey":
            raise ValueError("correction must not be 'tukey' for segments: use 'holm'")
        checks.check_count(n_resamples, "n_resamples", least=2)
        seed = checks.seed_of(random_state)
        drawn = {"n_resamples": n_resamples, "random_state": seed}
        options = _pairs.Options(
            self.test,
            self.alternative,
            None,  # The p-values are corrected below, over all segments together.
            self.interval,
            self.confidence,
            self.average,
            drawn,
        )
        by_id = checks.check_qid(qid, n_rows=len(qid)).sorted()
        names, segments = checks.queries_by_segment(np.asarray(self.segment)[by_id])
        segments = [by_id[queries] for queries in segments]
        # The average is not passed. For a geometric mean, the function would warn that
        # no value is near 0, a warning without meaning for differences of logarithms.
        if self.average != "median":
            _interval_warnings.warn_of_intervals(
                self._differences(),
                weight=self.query_weight,
                segments=(names, segments),
            )
        blocks = []
        leading = []
        for part in self:
            values = QueryValues(part.expected, part.best, part.worst, part.std)
            interactions = part._interactions(segments)
            n_pairs = len(part.pairs)
            for i, queries in enumerate(segments):
                segment = names[[i]].repeat(n_pairs)
                block = {"segment": segment, **part._names()}
                figures = _pairs.compare_pairs(
                    values,
                    part.pairs,
                    options,
                    part.bounds[0],
                    self.query_weight,
                    queries,
                    self.cluster,
                )
                is_ahead = part._is_ahead(figures["difference"])
                leading.append(np.where(is_ahead, block["a"], block["b"]))
                block |= figures
                block["interaction"] = interactions
                if self._is_weighted:
                    _, n_effective = part._effective_queries(queries)
                    block["n_effective"] = np.full(n_pairs, n_effective)
                blocks.append(block)
        columns = _pairs.join_columns(blocks)
        # The correction covers all segments and pairs of one measure under one
        # treatment of ties.
        pvalues = np.split(columns["pvalues"], len(self))
        corrected = [adjust(part, self.correction) for part in pvalues]
        columns["adjusted_pvalues"] = np.concatenate(corrected)
        is_significant = columns["adjusted_pvalues"] <= 1 - self.confidence
        columns["better"] = np.where(is_significant, np.concatenate(leading), "")
        return Summary(
            _as_columns(columns),
            ("segment", "measure", "ties", "a", "b"),
            {"comparison": self, "n_segments": len(segments)},
            _text.table_by_segment,
        )

    @cached_property
    def _segments(self) -> Summary | None:
        """Summary of `by_segment()` for a page; None for a comparison without segments.

        The summary is cached, because several parts of a page use it.
        """
        # Tukey's test is not available for segments.
        if self.segment is None or self.correction == "tukey":
            return None
        return self.by_segment()

    @property
    def _is_weighted(self) -> bool:
        return self.query_weight is not None or self.cluster is not None

    @property
    def _tests_interactions(self) -> bool:
        return not self._is_weighted and self.average != "median"

    def _interactions(self, segments: list[IndexArray]) -> FloatArray:
        """Return p-values of the hypothesis that all segments have equal differences.

        NaN where the hypothesis is not tested.
        """
        pvalues = np.full(len(self.pairs), np.nan)
        if not self._tests_interactions or len(segments) < 2:
            return pvalues
        largest = largest_values(self.expected)
        if self.average == "geometric":
            # The rounding error of a logarithm is as large as the rounding error of a
            # value of size 1.
            largest = np.ones(len(largest))
        for i, (_, differences) in enumerate(self._differences()):
            samples = []
            for queries in segments:
                sample = differences[queries]
                samples.append(sample[~np.isnan(sample)])
            if min(map(len, samples)) < _text.LEAST_OF_SEGMENT:
                continue
            rounding = NO_DIFFERENCE * largest[self.pairs[i]].max()
            if min(map(np.ptp, samples)) > rounding:
                pvalues[i] = stats.alexandergovern(*samples).pvalue
        return pvalues

    def _differences(self) -> Iterator[tuple[str, FloatArray]]:
        """Yield the name of each pair and its differences.

        For ratios, the differences are differences of logarithms.
        """
        values = self.expected
        if self.average == "geometric":
            values = floored_logs(values)
        names = self._names()
        names_of_pairs = zip(names["a"], names["b"], names["measure"], strict=True)
        for i, (a, b, measure) in enumerate(names_of_pairs):
            first, second = self.pairs[i]
            yield f"{a} - {b} by {measure}", values[:, first] - values[:, second]

    def queries_needed(
        self,
        difference: float | None = None,
        *,
        power: float = 0.8,
        alpha: float = 0.05,
        by_segment: bool = False,
    ) -> Summary:
        """Compute how many queries the paired t test needs to show a difference.

        Parameters
        ----------
        difference : float
            Size of the difference of means that matters to you, above 0, in units of
            the measure. This argument is required.
        power : float, default=0.8
            Probability that the test finds a difference of size `difference`, above
            `alpha` and below 1.
        alpha : float, default=0.05
            Significance level, not corrected for the number of pairs.
        by_segment : bool, default=False
            Set ``by_segment=True`` to plan for each segment separately.

        Returns
        -------
        Summary
            A row for each ``segment`` (with ``by_segment``), ``measure``, treatment of
            ``ties`` and pair of ``a`` and ``b``, with these columns:

            - ``difference`` is the argument `difference`.
            - ``std`` is the standard deviation of the differences per query.
            - ``n_queries`` is the number of queries for which both systems are defined,
              without queries of weight 0.
            - ``queries_needed`` is the smallest number of queries with which the test
              has at least the power `power`.
            - ``detectable`` is the smallest difference for which the test has the power
              `power` with the queries at hand.

            With weights or clusters, ``std``, ``queries_needed`` and ``detectable``
            refer to the t test with these weights or clusters. ``queries_needed`` then
            assumes that the weights and clusters of further queries vary as much as the
            weights and clusters of the queries at hand. ``queries_needed`` and
            ``detectable`` are NaN if the spread cannot be estimated, because there are
            fewer than two queries or all differences are equal.

        Raises
        ------
        ValueError
            If the difference is missing or not above 0, if the power or alpha is
            outside (0, 1), if the power is not above alpha, if the average is not the
            mean, or if the systems have different queries. Also if ``by_segment=True``
            and no `segment` was given to `compare_systems`.

        Notes
        -----
        The t statistic of n normally distributed differences with mean δ and standard
        deviation σ has the noncentral t distribution with n - 1 degrees of freedom and
        the noncentrality parameter δ √n / σ (Cohen 1988, "Statistical power analysis
        for the behavioral sciences"). If the alternative is one-sided, the difference
        is assumed to be in the direction of the alternative.

        Do not plan for the observed difference. The power at the observed difference
        only restates the p-value (Hoenig and Heisey, The American Statistician 2001),
        and is too high. In simulations with 20 to 50 queries, tests that were planned
        for the observed difference and a power of 0.80 had a power of 0.60 to 0.70.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=100, random_state=0)
        >>> systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
        >>> result = compare_systems(web.target, systems, qid=web.qid, measure="rr")
        >>> print(result.queries_needed(0.05))
        A       B          difference     std  queries  needed  detectable
        ------------------------------------------------------------------
        clicks  in-degree      0.0500  0.2841      100     256      0.0804
        by RR; power 0.8 of the paired t test at alpha = 0.05
        """
        self._paired_qid("queries_needed")
        if self.average != "macro":
            raise ValueError(
                f"average must be 'macro' for queries_needed, got {self.average!r}"
            )
        if difference is None:
            raise ValueError(
                "difference must be the smallest difference that matters to you, got "
                "None. The power at the observed difference only restates the p-value"
            )
        if not checks.is_number(difference, above=0):
            raise ValueError(f"difference must be a number above 0, got {difference!r}")
        checks.check_share(power, "power")
        checks.check_share(alpha, "alpha")
        if power <= alpha:
            raise ValueError(f"power must be above alpha={alpha:g}, got {power!r}")
        parts: list[Any] = [slice(None)]
        keys: tuple[str, ...] = ("measure", "ties", "a", "b")
        columns: _pairs.Columns = {}
        if by_segment:
            if self.segment is None:
                raise ValueError(
                    "segment must be given when systems are compared, got None"
                )
            names, parts = checks.queries_by_segment(self.segment)
            keys = ("segment", *keys)
            columns["segment"] = np.repeat(names, len(self.pairs))
        names_of_pairs = self._names()
        blocks = []
        for queries in parts:
            needed = self._needed(queries, difference, power, alpha)
            blocks.append(names_of_pairs | needed)
        columns |= _pairs.join_columns(blocks)
        about = {
            "power": float(power),
            "alpha": float(alpha),
            "alternative": self.alternative,
        }
        return Summary(columns, keys, about, _text.table_of_queries)

    def _needed(
        self, queries: Any, difference: Any, power: float, alpha: float
    ) -> _pairs.Columns:
        """Return columns of `queries_needed` for a selection of queries.

        `difference` is a number, or an array with a difference for each pair.
        """
        a, b = self.pairs.T
        expected = self.expected[queries]
        differences = expected[:, a] - expected[:, b]
        weight = self.query_weight
        if weight is not None:
            weight = weight[queries]
        cluster = self.cluster
        if cluster is not None:
            cluster = cluster[queries]
        n_queries = QueryMoments.from_values(differences, weight).count
        observations = cluster_means(differences, weight, cluster)
        moments = QueryMoments.from_values(*observations)
        n_effective = moments.effective()
        # The t test divides this standard deviation by the root of `n_effective`.
        std = moments.standard_error() * np.sqrt(n_effective)
        largest = largest_values(expected)
        scale = np.maximum(largest[a], largest[b])
        deviation = np.where(without_rounding(std, scale) > 0, std, np.nan)
        side = self.alternative
        n_equal_weight = []
        for effect in difference / deviation:
            n_equal_weight.append(queries_for_power(effect, power, alpha, side))
        # Queries of unequal weights count less, so more queries are needed.
        needed = ratios(n_queries, n_effective) * n_equal_weight
        # Most pairs have the same number of queries, so the effect is computed once for
        # each number.
        effect_of = cache(effect_for_power)
        effects = [effect_of(n, power, alpha, side) for n in n_effective]
        # A number that only rounding has raised above a whole number must not be
        # rounded up.
        needed = np.ceil(needed - NO_DIFFERENCE)
        return {
            "difference": np.full(len(std), difference),
            "std": std,
            "n_queries": n_queries.astype(np.int64),
            "queries_needed": needed,
            "detectable": deviation * effects,
        }

    def by_query(self) -> Any:
        """Return the values of each query and system as a data frame.

        Returns
        -------
        pandas.DataFrame
            A row for each measure, treatment of ties, query and system, with the
            columns ``measure``, ``ties``, ``qid``, ``system``, ``expected``, ``best``,
            ``worst``, ``std`` and ``chance``. `to_pandas` returns a row for each pair,
            and ``summary().to_pandas()`` a row for each system.

        Raises
        ------
        ValueError
            If the systems have different queries.
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
        >>> result = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
        ...                          measure="rr")
        >>> result.by_query().pivot(index="qid", columns="system", values="expected")
        system    a     b
        qid
        1       1.0  0.75
        2       1.0  0.50
        """
        pandas = _optional.import_optional("pandas", extra="io", purpose="by_query")
        qid = self._paired_qid("by_query")
        keys = {"measure": self.measures, "ties": self.ties, "qid": qid}
        keys["system"] = self.systems
        shape = len(qid), len(self.measures), len(self.ties), len(self.systems)
        cells = {}
        for name in _VALUES:
            values = getattr(self, name).reshape(shape)
            cells[name] = values.transpose(1, 2, 0, 3)
        return pandas.DataFrame(html.by_cell(keys, cells))

    def _has_ranks(self) -> bool:
        """Whether the tests of pairs bound the rank of each system."""
        is_holm = self.correction == "holm" and self.alternative == "two-sided"
        return is_holm and not self.baselines and self.test != "wilcoxon"

    def _paired_qid(self, method: str) -> Array:
        """Return query ids, or raise an error if systems have different queries."""
        if self.qid is None:
            raise ValueError(
                f"paired must be True for {method}, which needs the same queries in "
                "all systems, got False"
            )
        return self.qid

    def _names(self) -> _pairs.Columns:
        """Return the columns that identify a pair: measure, treatment, A and B."""
        n = len(self.systems)
        systems = np.array(self.systems, dtype=object)
        keys = np.array(self._keys(), dtype=object)
        measure, ties = keys[self.pairs[:, 0] // n].T
        a, b = systems[self.pairs.T % n]
        return {"measure": measure, "ties": ties, "a": a, "b": b}

    def _columns(self) -> dict[str, Any]:
        columns = self._names()
        for name in _FIGURES:
            columns[name] = getattr(self, name)
        if self.ties == (_text.GIVEN,):
            for name in ("tie_std", "tie_range", "same_sign"):
                del columns[name]
        return _as_columns(columns)

    def _effective_queries(self, queries: Any = slice(None)) -> tuple[int, float]:
        """Return the number of queries that count, and their effective number.

        A query of positive weight counts if at least one system is defined for the
        query.
        """
        is_defined = ~np.isnan(self.expected[queries]).all(axis=1)
        weight = is_defined.astype(float)
        if self.query_weight is not None:
            weight *= self.query_weight[queries]
        cluster = self.cluster
        if cluster is not None:
            cluster = cluster[queries]
        return int(np.count_nonzero(weight)), effective_number(weight, cluster)

    def _best_first(self, averages: FloatArray) -> IntArray:
        """Return indices of systems by the first measure and treatment, best first.

        Systems without an average come last.
        """
        first = averages[: len(self.systems)]
        return np.argsort(-first if self.greater_is_better[0] else first, kind="stable")

    def _is_ahead(self, difference: FloatArray) -> BoolArray:
        """Return whether each difference places A ahead of B by the only measure."""
        # Equal geometric means have the ratio 1.
        equal = 1 if self.average == "geometric" else 0
        return (difference > equal) == self.greater_is_better

    def _better(self) -> BoolArray:
        """Return whether the system of a row is better than the system of a column.

        Only significant differences count, by one measure under one treatment of ties.
        """
        is_significant = self.adjusted_pvalues <= 1 - self.confidence
        is_ahead = self._is_ahead(self.difference)
        n = len(self.systems)
        better = np.zeros((n, n), dtype=bool)
        a, b = self.pairs.T
        better[a, b] = is_significant & is_ahead
        better[b, a] = is_significant & ~is_ahead
        return better

    def __repr__(self) -> str:
        sentences = "\n".join(map(words.paragraph, _text.conclusion(self)))
        return f"{super().__repr__()}\n\n{sentences}".rstrip()


def _as_columns(values: _pairs.Columns) -> _pairs.Columns:
    """Return the columns of a data frame, with names in the singular."""
    columns = html.as_columns(values)
    return {name.replace("pvalues", "pvalue"): columns[name] for name in columns}
