"""The result of a comparison of systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from scipy import stats

from .. import _optional
from .._display import html
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

#: values of each query and system
STATISTICS = ("expected", "best", "worst", "std", "chance")
_OF_PAIRS = (
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
    """Comparison of systems on the same queries; prints as two tables.

    The first table has a row for each measure, treatment of ties and system, the second
    a row for each measure, treatment and pair. "same sign" says whether the difference
    has the same sign in every order of ties that the treatment leaves open.

    With more than three systems, the first table has one row for each system. The best
    by the first measure and treatment is on top. Measures and treatments are side by
    side, each with the mean, its 95% interval, and the letters of the systems that are
    significantly worse. With baselines, only differences from them are tested. The
    table of pairs follows if it has at most 15 rows. `to_pandas` and `to_html` always
    have it.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    measures, ties : tuple of str
        Canonical names of the measures, and treatments of ties. With several, columns
        of systems and rows of pairs repeat for each combination: all treatments of the
        first measure, then all of the second.
    greater_is_better : ndarray of shape (n_measures,), bool
        Whether higher values of a measure are better.
    qid : ndarray of shape (n_queries,) or None
        Query ids in order of first appearance. None if systems have different queries.
    expected, best, worst, std, chance : ndarray of shape (n_queries, n_columns)
        As in `RankingReport`, for each measure, treatment and system.
    undefined : ndarray of shape (n_queries, n_measures), bool
        Whether the measure is undefined for the labels of the query, as for queries
        without a relevant document.
    bounds : ndarray of shape (n_measures, 2)
        Smallest and largest value that a measure can have.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the columns of A and B, for each measure, treatment and pair. With
        one measure and one treatment, they are indices of systems.
    difference : ndarray of shape (n_pairs,)
        Mean of A minus mean of B, over the queries where both are defined. For other
        averages, the ratio A / B of geometric means or the difference of medians.
    difference_interval : ndarray of shape (n_pairs, 2)
        Interval of `difference` over queries, in units of the measure. NaN if all
        differences are equal, unless they are as large as they can be.
    tie_std : ndarray of shape (n_pairs,)
        Standard deviation of the difference over the orders of tied documents, which
        are independent between A and B. `tie_std`, `tie_range` and `same_sign` cover
        the orders that the treatment leaves open: all of them under "expected", and one
        under "best", "worst" and "input". Under an external rule, only documents that
        still tie vary.
    tie_range : ndarray of shape (n_pairs, 2)
        Smallest and largest difference over these orders.
    same_sign : ndarray of shape (n_pairs,), bool
        Whether the difference has the same sign in each of these orders.
    statistic, pvalues, adjusted_pvalues : ndarray of shape (n_pairs,)
        Statistic and p-value of the paired test over queries, and the p-value
        corrected for the number of pairs, or that of Tukey's test.
    effect : ndarray of shape (n_pairs,)
        Cohen's d of the differences: their mean divided by their standard deviation.
        NaN if they are all equal and not 0.
    n_queries : ndarray of shape (n_pairs,), int
        Number of queries where both systems are defined.
    test, alternative, interval, average : str
        Test, alternative hypothesis and interval of the difference, and the average
        over queries, as given to `compare_systems`. For medians, test and interval are
        "bootstrap".
    baselines : tuple of str
        Systems that the others are compared with. Empty if all pairs are compared.
    correction : str or None
        Correction of the p-values, as given to `compare_systems`.
    confidence : float
        Confidence level of `difference_interval`.
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
    no room for tie_std, d (see to_pandas() or --csv)
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
        if key not in keys and isinstance(key, tuple) and len(key) == 2:
            with suppress(ValueError):
                key = str(parse_measure(key[0])), key[1]
        if key not in keys:
            raise KeyError(f"{key!r} is not one of {keys}")
        at, n = keys.index(key), len(keys)
        measure = at // len(self.ties)
        parts: dict[str, Any] = {}
        for name in _OF_PAIRS:
            parts[name] = np.split(getattr(self, name), n)[at]
        for name in STATISTICS:
            parts[name] = np.split(getattr(self, name), n, axis=1)[at]
        return replace(
            self,
            measures=(key[0],),
            ties=(key[1],),
            greater_is_better=self.greater_is_better[[measure]],
            undefined=self.undefined[:, [measure]],
            bounds=self.bounds[[measure]],
            pairs=np.split(self.pairs, n)[at] - at * len(self.systems),
            **parts,
        )

    def _keys(self) -> list[tuple[str, str]]:
        return [(measure, ties) for measure in self.measures for ties in self.ties]

    def summary(self) -> Summary:
        """Average each system over queries.

        Returns
        -------
        Summary
            A row for each ``measure``, treatment of ``ties`` and ``system``, with the
            averages ``mean`` (of the expected values), ``worst``, ``best`` and
            ``chance``. ``tie_std`` is the standard deviation of the mean over the
            orders of ties, ``interval`` the 95% interval of the average over queries.
            ``letter`` stands for the system, "a" for the best by the first measure and
            treatment; more than 52 systems have numbers. ``better_than`` has the
            letters of the systems that it is significantly better than, by
            `adjusted_pvalues` of at most 1 - `confidence`: "b-e" stands for b, c, d, e.
            ``rank_low`` and ``rank_high``, together ``rank``, are the ranks that the
            data do not exclude: 1 + the number of systems that are significantly
            better, to the number of systems - those that are significantly worse
            (Mohamad, Goeman and van Zwet, Biometrics 2022). All these intervals hold
            together with probability `confidence`. They exist for two-sided tests of
            all pairs with Holm's correction, but not for Wilcoxon's test, which is not
            of averages.

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
        n = len(self.systems)
        measures, ties = np.repeat(np.array(self._keys(), dtype=object), n, axis=0).T
        bounds = np.repeat(self.bounds, n * len(self.ties), axis=0)
        averaged = partial(
            average_interval,
            average=self.average,
            weight=self.query_weight,
            bounds=bounds,
        )
        mean, interval = averaged(self.expected, cluster=self.cluster)
        low, high = np.clip(interval, bounds[:, :1], bounds[:, 1:]).T
        tie_std = stds_of_means(self.std, self.query_weight)
        order = self._best_first(mean)
        letters = _text.letters(order)
        worse = [
            _text.runs(letters[order], row[order])
            for part in self
            for row in part._better()
        ]
        columns = {
            "measure": measures,
            "ties": ties,
            "system": np.tile(np.array(self.systems, dtype=object), len(self)),
            "mean": mean,
            "worst": averaged(self.worst)[0],
            "best": averaged(self.best)[0],
            "tie_std": tie_std if self.average == "macro" else tie_std * np.nan,
            "chance": averaged(self.chance)[0],
            "interval_low": low,
            "interval_high": high,
            "letter": np.tile(letters, len(self)),
            "better_than": np.array(worse, dtype=object),
        }
        if self._has_ranks():
            ranks = np.concatenate([rank_intervals(part._better()) for part in self])
            columns["rank_low"], columns["rank_high"] = ranks.T
        undefined = np.repeat(self.undefined, n * len(self.ties), axis=1)
        defined, _ = averaged(np.where(undefined, np.nan, self.expected))
        about = {"average": self.average, "undefined": _text.undefined(self, defined)}
        keys = ("measure", "ties", "system")
        return Summary(columns, keys, about, _text.table_of_systems)

    def by_segment(self, *, n_resamples: int = 9999, random_state: Any = 0) -> Summary:
        """Compare each pair on the queries of each segment.

        Parameters
        ----------
        n_resamples, random_state
            As in `compare_systems`, for its test and interval.

        Returns
        -------
        Summary
            A row for each ``measure``, treatment of ``ties``, ``segment`` (in ascending
            order) and pair of ``a`` and ``b``, with the other columns of `to_pandas`.
            ``adjusted_pvalue`` is corrected over all segments and pairs together.
            ``better`` is the system that is significantly better, by an
            ``adjusted_pvalue`` of at most 1 - `confidence`, or empty.
            ``interaction`` is the p-value of the hypothesis that the mean difference is
            the same in all segments, by the test of Alexander and Govern (1994), which
            allows for unequal variances. It is not corrected. It is NaN with weights
            or clusters, for medians, and if some segment has equal differences or fewer
            than 20 queries, of which the test may reject too often.
            With weights or clusters, ``n_effective`` is how many of equal weight the
            queries of the segment are worth.

        Raises
        ------
        ValueError
            If no `segment` was given to `compare_systems`, and for Tukey's test.

        Warns
        -----
        UserWarning
            As in `compare_systems`, for the queries of each segment.

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
        no room for better (see to_pandas() or --csv)
        """
        qid = self._paired_qid("by_segment")
        if self.segment is None:
            raise ValueError("segment must be given to compare_systems, got None")
        if self.correction == "tukey":
            raise ValueError("correction must not be 'tukey' for segments: use 'holm'")
        checks.check_count(n_resamples, "n_resamples", least=2)
        seed = checks.seed_of(random_state)
        options = _pairs.Options(
            self.test, self.alternative, None, self.interval, self.confidence,
            self.average, {"n_resamples": n_resamples, "random_state": seed},
        )  # fmt: skip
        by_id = checks.check_qid(qid, n_rows=len(qid)).sorted()
        names, segments = checks.queries_by_segment(np.asarray(self.segment)[by_id])
        segments = [by_id[queries] for queries in segments]
        _interval_warnings.warn_of_intervals(
            self._differences(), self.average, self.query_weight, (names, segments)
        )
        blocks = []
        for part in self:
            values = QueryValues(part.expected, part.best, part.worst, part.std)
            interactions = part._interactions(segments)
            n_pairs = len(part.pairs)
            for i, queries in enumerate(segments):
                block = {"segment": names[[i] * n_pairs]} | part._names()
                block |= _pairs.compare_pairs(
                    values,
                    part.pairs,
                    options,
                    part.bounds[0],
                    self.query_weight,
                    queries,
                    self.cluster,
                )
                block["interaction"] = interactions
                if self.query_weight is not None or self.cluster is not None:
                    _, worth = part._counted_and_worth(queries)
                    block["n_effective"] = np.full(n_pairs, worth)
                blocks.append(block)
        columns = {
            name.replace("pvalues", "pvalue"): np.concatenate([b[name] for b in blocks])
            for name in blocks[0]
        }
        # over all segments and pairs of a measure under a treatment of ties
        each = columns["pvalue"].reshape(len(self), -1)
        columns["adjusted_pvalue"] = np.concatenate(
            [adjust(pvalues, self.correction) for pvalues in each]
        )
        is_greater = dict(zip(self.measures, self.greater_is_better, strict=True))
        a_is_better = self._a_is_better(
            columns["difference"], [is_greater[name] for name in columns["measure"]]
        )
        better = np.where(a_is_better, columns["a"], columns["b"])
        is_certain = columns["adjusted_pvalue"] <= 1 - self.confidence
        columns["better"] = np.where(is_certain, better, "")
        return Summary(
            html.as_columns(columns),
            ("segment", "measure", "ties", "a", "b"),
            {"comparison": self, "n_segments": len(segments)},
            _text.table_by_segment,
        )

    @cached_property
    def _segments(self) -> Summary | None:
        """`by_segment()` for a page, or None for a comparison without segments."""
        # Tukey's test has none
        if self.segment is None or self.correction == "tukey":
            return None
        return self.by_segment()

    def _interactions(self, segments: list[IndexArray]) -> FloatArray:
        """p-values of equal mean differences in all of some sets of queries."""
        pvalues = np.full(len(self.pairs), np.nan)
        if (
            self.query_weight is not None
            or self.cluster is not None
            or self.average == "median"
            or len(segments) < 2
        ):
            return pvalues
        largest = largest_values(self.expected)
        if self.average == "geometric":
            largest = np.ones(len(largest))
        for i, (_, apart) in enumerate(self._differences()):
            rounding = NO_DIFFERENCE * largest[self.pairs[i]].max()
            samples = [x[~np.isnan(x)] for x in (apart[rows] for rows in segments)]
            enough = min(map(len, samples)) >= _text.LEAST_OF_SEGMENT
            if enough and all(np.ptp(x) > rounding for x in samples):
                pvalues[i] = stats.alexandergovern(*samples).pvalue
        return pvalues

    def _differences(self) -> Iterator[tuple[str, FloatArray]]:
        """Yield the name of each pair and its differences, of logs if geometric."""
        values = self.expected
        if self.average == "geometric":
            values = floored_logs(values)
        names = self._names()
        keys = zip(names["a"], names["b"], names["measure"], self.pairs, strict=True)
        for first, second, measure, (a, b) in keys:
            yield f"{first} - {second} by {measure}", values[:, a] - values[:, b]

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
            Size of the difference of means that matters to you, in units of the
            measure. It is required.
        power : float, default=0.8
            Probability that the test finds it.
        alpha : float, default=0.05
            Significance level, not corrected for the number of pairs.
        by_segment : bool, default=False
            Whether to plan for each segment alone.

        Returns
        -------
        Summary
            A row for each ``segment`` (with ``by_segment``), ``measure``, treatment of
            ``ties`` and pair of ``a`` and ``b``: ``difference``, the standard deviation
            ``std`` of the differences of queries, ``n_queries`` where both are defined,
            ``queries_needed``, and ``detectable``, the smallest difference that these
            queries show with this power. With weights or clusters, queries count as in
            the t test, so ``queries_needed`` are of weights and clusters that vary as
            much. Both are NaN where nothing is known of the spread: for fewer than two
            queries, and where all differences are equal.

        Raises
        ------
        ValueError
            Without a difference, or for one that is not above 0; for a power or alpha
            outside (0, 1); if the average is not the mean; and by segment, if no
            `segment` was given to `compare_systems`.

        Notes
        -----
        The statistic of n differences with mean δ and standard deviation σ has the
        noncentral t distribution with n - 1 degrees of freedom and centre δ √n / σ
        (Cohen 1988, "Statistical power analysis for the behavioral sciences").
        One-sided tests have the direction of the difference.

        The difference that these data show is no plan. The power at this difference
        only restates its p-value (Hoenig and Heisey, The American Statistician 2001),
        and promises too much. In simulations with 20 to 50 queries, tests that were
        planned this way for a power of 0.80 had 0.60 to 0.70.

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
                "queries_needed is of means: average must be 'macro', got "
                f"{self.average!r}"
            )
        if difference is None:
            raise ValueError(
                "difference must be the size that matters to you, got None: power at "
                "the difference seen only restates its p-value, and promises too much"
            )
        if not checks.is_number(difference, above=0):
            raise ValueError(f"difference must be a number above 0, got {difference!r}")
        checks.check_share(power, "power")
        checks.check_share(alpha, "alpha")
        if power <= alpha:
            raise ValueError(f"power must be above alpha={alpha:g}, got {power!r}")
        parts: list[Any] = [slice(None)]
        keys: tuple[str, ...] = ("measure", "ties", "a", "b")
        columns: dict[str, Array] = {}
        if by_segment:
            if self.segment is None:
                raise ValueError("segment must be given to compare_systems, got None")
            names, parts = checks.queries_by_segment(self.segment)
            keys = ("segment", *keys)
            columns["segment"] = np.repeat(names, len(self.pairs))
        blocks = [
            self._names() | self._needed(queries, difference, power, alpha)
            for queries in parts
        ]
        for name in blocks[0]:
            columns[name] = np.concatenate([block[name] for block in blocks])
        about = {
            "power": float(power),
            "alpha": float(alpha),
            "alternative": self.alternative,
        }
        return Summary(columns, keys, about, _text.table_of_queries)

    def _needed(
        self, queries: Any, difference: Any, power: float, alpha: float
    ) -> dict[str, Array]:
        """Columns of `queries_needed`, for pairs of systems on some queries.

        The difference may be one of each pair.
        """
        first, second = self.pairs.T
        expected = self.expected[queries]
        apart = expected[:, first] - expected[:, second]
        weight, cluster = (
            None if array is None else array[queries]
            for array in (self.query_weight, self.cluster)
        )
        n_queries = QueryMoments.from_values(apart, weight).count
        moments = QueryMoments.from_values(*cluster_means(apart, weight, cluster))
        worth = moments.effective()
        std = moments.standard_error() * np.sqrt(worth)
        side = self.alternative
        largest = largest_values(expected)
        largest = np.maximum(largest[first], largest[second])
        deviation = np.where(without_rounding(std, largest) > 0, std, np.nan)
        enough = [
            queries_for_power(effect, power, alpha, side)
            for effect in difference / deviation
        ]
        # queries of unequal weights count less
        needed = np.ceil(ratios(n_queries, worth) * enough - NO_DIFFERENCE)
        least_effect = cache(effect_for_power)
        effects = [least_effect(n, power, alpha, side) for n in worth]
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
            ``worst``, ``std`` and ``chance``. `to_pandas` has a row for each pair, and
            ``summary().to_pandas()`` one for each system.

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
        shape = len(qid), len(self.measures), len(self.ties), len(self.systems)
        values = {
            name: getattr(self, name).reshape(shape).transpose(1, 2, 0, 3)
            for name in STATISTICS
        }
        keys = {
            "measure": self.measures,
            "ties": self.ties,
            "qid": qid,
            "system": self.systems,
        }
        return pandas.DataFrame(html.by_cell(keys, values))

    def _has_ranks(self) -> bool:
        """Whether the tests of pairs bound the rank of each system."""
        is_holm = self.correction == "holm" and self.alternative == "two-sided"
        return is_holm and not self.baselines and self.test != "wilcoxon"

    def _paired_qid(self, method: str) -> Array:
        """Return the ids of the queries, which all systems must have for a method."""
        if self.qid is None:
            raise ValueError(
                f"paired must be True for {method}, which needs the same queries in "
                "all systems, got False"
            )
        return self.qid

    def _names(self) -> dict[str, Array]:
        """Columns that identify each pair: measure, treatment of ties, A and B."""
        n, names = len(self.systems), np.array(self.systems, dtype=object)
        keys = np.array(self._keys(), dtype=object)[self.pairs[:, 0] // n]
        first, second = names[self.pairs.T % n]
        return {"measure": keys[:, 0], "ties": keys[:, 1], "a": first, "b": second}

    def _columns(self) -> dict[str, Any]:
        of_pairs = {
            name.replace("pvalues", "pvalue"): getattr(self, name) for name in _OF_PAIRS
        }
        if self.ties == (_text.GIVEN,):
            for name in ("tie_std", "tie_range", "same_sign"):
                del of_pairs[name]
        return html.as_columns(self._names() | of_pairs)

    def _counted_and_worth(self, queries: Any = slice(None)) -> tuple[int, float]:
        """How many queries count, and how many of equal weight they are worth."""
        weight = ~np.isnan(self.expected).all(axis=1) * np.ones(len(self.expected))
        if self.query_weight is not None:
            weight = weight * self.query_weight
        cluster = None if self.cluster is None else self.cluster[queries]
        count = np.count_nonzero(weight[queries])
        return int(count), effective_number(weight[queries], cluster)

    def _best_first(self, averages: FloatArray) -> IntArray:
        """Indices of the systems, the best by the first measure and treatment first."""
        first = averages[: len(self.systems)]
        return np.argsort(-first if self.greater_is_better[0] else first, kind="stable")

    def _a_is_better(self, difference: FloatArray, greater_is_better: Any) -> BoolArray:
        """Whether A is ahead of B, for differences by measures of some directions."""
        # equal geometric means have the ratio 1
        equal = 1 if self.average == "geometric" else 0
        return (difference > equal) == greater_is_better

    def _better(self) -> BoolArray:
        """Whether each system, in a row, is significantly better than each in a column.

        The comparison is by one measure under one treatment of ties.
        """
        certain = self.adjusted_pvalues <= 1 - self.confidence
        a_is_better = self._a_is_better(self.difference, self.greater_is_better)
        better = np.zeros((len(self.systems),) * 2, dtype=bool)
        a, b = self.pairs.T
        better[a, b], better[b, a] = certain & a_is_better, certain & ~a_is_better
        return better

    def __repr__(self) -> str:
        return "\n\n".join([super().__repr__(), _text.sentences(self)]).rstrip()
