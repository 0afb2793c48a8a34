"""The result of a comparison of systems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats

from .. import _optional
from .._display import html, text_tables, words
from .._engine import checks
from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from ..evaluation import Summary, _report
from ..io import _wording
from ..measures import parse_measure
from ..measures._values import QueryValues
from ..statistics.averages import NO_DIFFERENCE, floored_logs, stds_of_means
from ..statistics.intervals import average_interval
from ..statistics.moments import QueryMoments, effective_number
from ..statistics.multiple_testing import adjust
from ..statistics.power import effect_for_power, queries_for_power
from . import _overview, _pairs

#: the default treatment of ties, which is not named
EXPECTED = "expected"
#: systems, and rows of pairs, up to which all pairs are printed
_FEW_SYSTEMS, _FEW_PAIRS = 3, 15
#: pairs of a measure on a page, one half the clearest, the other the closest
_MOST_PAIRS = 200
#: systems named with p-values in a sentence, and characters of the names of more
_WITH_PVALUES, _NAMED = 3, 160
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

    The first table has a row for each measure and system, the second a row for each
    measure and pair. Treatments of ties are columns side by side. In the second table,
    "same sign" says whether the difference has the same sign in every order of ties. If
    the treatment leaves only one order, there are no columns on orders.

    With more than three systems, the first table has one row for each system. The best
    by the first measure and treatment is on top. Measures and treatments are side by
    side, each with the mean, half of its 95% interval, and the letters of the systems
    that are significantly worse. With baselines, only differences from them are tested.
    The table of pairs follows if it has at most 15 rows. `to_pandas` and `to_html`
    always have it.

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
    qid : ndarray of shape (n_queries,)
        Query ids in order of first appearance.
    expected, best, worst, std, chance : ndarray of shape (n_queries, n_columns)
        As in `RankingReport`, for each measure, treatment and system.
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
    measure  system  expected   worst    best
    -----------------------------------------
    RR       a         1.0000  1.0000  1.0000
    RR       b         0.6250  0.5000  0.7500
    P@1      a         1.0000  1.0000  1.0000
    P@1      b         0.2500  0.0000  0.5000
    <BLANKLINE>
    measure  A  B  expected   worst  pvalue expected  pvalue worst  same sign
    -------------------------------------------------------------------------
    RR       a  b    0.3750  0.5000           0.2048        0.5000        yes
    P@1      a  b    0.7500  1.0000           0.2048        0.5000        yes
    A - B and pvalue by treatment of ties
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    ties: tuple[str, ...]
    greater_is_better: BoolArray
    qid: Array
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
        at, n = keys.index(key), len(self.systems)
        n_pairs = len(self.pairs) // len(keys)
        columns, rows = (slice(at * size, (at + 1) * size) for size in (n, n_pairs))
        parts = {name: getattr(self, name)[:, columns] for name in STATISTICS}
        parts |= {name: getattr(self, name)[rows] for name in _OF_PAIRS}
        measure = at // len(self.ties)
        return replace(
            self,
            measures=(key[0],),
            ties=(key[1],),
            greater_is_better=self.greater_is_better[[measure]],
            bounds=self.bounds[[measure]],
            pairs=self.pairs[rows] - at * n,
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
        of = np.repeat(np.array(self._keys(), dtype=object), n, axis=0)
        bounds = np.repeat(self.bounds, n * len(self.ties), axis=0)
        averaged = partial(
            average_interval,
            average=self.average,
            weight=self.query_weight,
            bounds=bounds,
        )
        mean, interval = averaged(self.expected)
        low, high = np.clip(interval, bounds[:, :1], bounds[:, 1:]).T
        tie_std = stds_of_means(self.std, self.query_weight)
        order = best_first(self, mean)
        letters = _overview.letters(order)
        worse = [
            _overview.runs(letters[order], row[order])
            for one in self
            for row in better(one)
        ]
        columns = {
            "measure": of[:, 0],
            "ties": of[:, 1],
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
        keys = ("measure", "ties", "system")
        return Summary(columns, keys, {"average": self.average}, _tables_of_systems)

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
            ``interaction`` is the p-value of the hypothesis that the mean difference is
            the same in all segments, by the test of Alexander and Govern (1994), which
            allows for unequal variances. It is not corrected. It is NaN with weights,
            for medians, and if some segment has one query or equal differences.
            With weights, ``n_effective`` is how many queries of equal weight those of
            the segment are worth.

        Raises
        ------
        ValueError
            If no `segment` was given to `compare_systems`, and for Tukey's test.

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
        by AP; holm: corrected over all pairs and 2 segments together
        no room for same sign (see to_pandas() or --csv)
        """
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
        by_id = checks.check_qid(self.qid, n_rows=len(self.qid)).sorted()
        named, parts = checks.queries_by_segment(np.asarray(self.segment)[by_id])
        parts = [by_id[chosen] for chosen in parts]
        blocks = []
        for one in self:
            values = QueryValues(one.expected, one.best, one.worst, one.std)
            tested = [
                _pairs.compare_pairs(
                    values, one.pairs, options, one.bounds[0], one.query_weight, rows
                )
                for rows in parts
            ]
            block = {"segment": np.repeat(named, len(one.pairs))}
            for name, column in one._names().items():
                block[name] = np.tile(column, len(parts))
            for name in tested[0]:
                block[name] = np.concatenate([part[name] for part in tested])
            block["adjusted_pvalues"] = adjust(block["pvalues"], self.correction)
            block["interaction"] = np.tile(one._interactions(parts), len(parts))
            if self.query_weight is not None:
                weight = self.query_weight * one._defined()
                worth = [effective_number(weight[rows]) for rows in parts]
                block["n_effective"] = np.repeat(worth, len(one.pairs))
            blocks.append(block)
        columns = {
            name.replace("pvalues", "pvalue"): np.concatenate([b[name] for b in blocks])
            for name in blocks[0]
        }
        return Summary(
            html.as_columns(columns),
            ("segment", "measure", "ties", "a", "b"),
            {"comparison": self, "n_segments": len(parts)},
            _tables_by_segment,
        )

    def _interactions(self, parts: list[IndexArray]) -> FloatArray:
        """p-values of equal mean differences in all of some sets of queries."""
        pvalues = np.full(len(self.pairs), np.nan)
        if self.query_weight is not None or self.average == "median" or len(parts) < 2:
            return pvalues
        values = self.expected
        if self.average == "geometric":
            values = floored_logs(values)
        for i, (a, b) in enumerate(self.pairs):
            apart = values[:, a] - values[:, b]
            samples = [x[~np.isnan(x)] for x in (apart[rows] for rows in parts)]
            if all(len(x) > 1 and np.ptp(x) > NO_DIFFERENCE for x in samples):
                pvalues[i] = stats.alexandergovern(*samples).pvalue
        return pvalues

    def _moments_of_means(self, name: str) -> QueryMoments:
        """Moments of the differences of all pairs, for a method `name` of means."""
        if self.average != "macro":
            raise ValueError(
                f"{name} is of means: average must be 'macro', got {self.average!r}"
            )
        first, second = self.pairs.T
        apart = self.expected[:, first] - self.expected[:, second]
        return QueryMoments.of(apart, self.query_weight)

    def queries_needed(
        self,
        difference: float | None = None,
        *,
        power: float = 0.8,
        alpha: float = 0.05,
    ) -> Summary:
        """Compute how many queries the paired t test needs to show a difference.

        Parameters
        ----------
        difference : float, optional
            Size of the difference of means, in units of the measure. By default that
            of each pair in these data.
        power : float, default=0.8
            Probability that the test finds it.
        alpha : float, default=0.05
            Significance level, not corrected for the number of pairs.

        Returns
        -------
        Summary
            A row for each ``measure``, treatment of ``ties`` and pair of ``a`` and
            ``b``: ``difference``, the standard deviation ``std`` of the differences of
            queries, ``n_queries`` where both are defined, ``queries_needed``, and
            ``detectable``, the smallest difference that these queries show with this
            power. With weights, queries count as in the t test, so ``queries_needed``
            are of weights that vary as much. Both are NaN where nothing is known of the
            spread: for fewer than two queries, and where all differences are equal.

        Raises
        ------
        ValueError
            For a difference that is not above 0, a power or alpha outside (0, 1), and
            if the average is not the mean.

        Notes
        -----
        The statistic of n differences with mean δ and standard deviation σ has the
        noncentral t distribution with n - 1 degrees of freedom and centre δ √n / σ
        (Cohen 1988, "Statistical power analysis for the behavioral sciences").
        One-sided tests have the direction of the difference.

        Plan with a difference that matters, not with the one that these data show. The
        power at the difference seen is another form of its p-value and says nothing
        more (Hoenig and Heisey, The American Statistician 2001).

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
        moments = self._moments_of_means("queries_needed")
        if difference is not None and not checks.is_number(difference, above=0):
            raise ValueError(
                f"difference must be a number above 0 or None, got {difference!r}"
            )
        checks.check_share(power, "power")
        checks.check_share(alpha, "alpha")
        if power <= alpha:
            raise ValueError(f"power must be above alpha={alpha:g}, got {power!r}")
        worth = moments.effective()
        std = moments.standard_error() * np.sqrt(worth)
        size = self.difference if difference is None else np.full(len(std), difference)
        side = self.alternative
        deviation = np.where(std > NO_DIFFERENCE, std, np.nan)
        enough = [
            queries_for_power(effect, power, alpha, side)
            for effect in np.abs(size) / deviation
        ]
        # queries of unequal weights count less
        needed = np.ceil(moments.count / worth * enough - NO_DIFFERENCE)
        least_effect = cache(effect_for_power)
        effects = [least_effect(n, power, alpha, side) for n in worth]
        columns = self._names() | {
            "difference": size,
            "std": std,
            "n_queries": moments.count.astype(np.int64),
            "queries_needed": needed,
            "detectable": deviation * effects,
        }
        about = {
            "power": float(power),
            "alpha": float(alpha),
            "alternative": self.alternative,
        }
        return Summary(columns, ("measure", "ties", "a", "b"), about, _table_of_queries)

    def posterior(self, rope: float = 0.01) -> Summary:
        """Compute the probability that A is better than B, or equivalent to it.

        Parameters
        ----------
        rope : float, default=0.01
            Region of practical equivalence: mean differences of at most this, in units
            of the measure, count as equivalent.

        Returns
        -------
        Summary
            A row for each pair of ``a`` and ``b``. ``difference`` is the mean of A - B
            over the ``n_queries`` where both are defined. The posterior probabilities
            are that A is ``better`` than B by more than `rope`, ``equivalent``, or
            ``worse`` by more than `rope`. They add up to 1, and are NaN for fewer than
            two queries. If all n differences are equal, that of the opposite sign is
            1 / 2^n, as for p-values.

        Raises
        ------
        ValueError
            If `rope` is negative or not a number, if the average is not the mean, and
            for several measures or treatments: choose one, as in
            ``result["AP", "best"]``.

        Notes
        -----
        The posterior of the mean difference over n queries is Student's t distribution
        with n - 1 degrees of freedom. It is centred at the mean and scaled by its
        standard error. This follows from normal differences and Jeffreys' prior (Corani
        and Benavoli 2015, without their correlation; Sakai, SIGIR 2017). With
        ``rope=0``, the probability that A is worse is the one-tailed p-value of the
        paired t test for "A is better". Unlike a p-value, the probabilities can support
        equivalence. The Bayesian signed-rank test of the package baycomp 1.0.3 is not
        offered: its time grows with the square of the number of queries (about an hour
        per pair for 2,000). Without a rope, it prefers one of two systems with equal
        values.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=100, random_state=0)
        >>> systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
        >>> result = compare_systems(web.target, systems, qid=web.qid, measure="rr")
        >>> print(result.posterior(rope=0.05))
        A       B           A - B  A better  equivalent  B better
        ---------------------------------------------------------
        clicks  in-degree  0.0095    0.0786      0.9020    0.0194
        equivalent: differences of RR of at most 0.05
        """
        moments = self._moments_of_means("posterior")
        if len(self) > 1:
            raise ValueError(
                "posterior is of one measure under one treatment of ties: choose one "
                f"by its key, such as comparison{list(self._keys()[0])}"
            )
        if not checks.is_number(rope, least=0):
            raise ValueError(f"rope must be a number >= 0, got {rope!r}")
        average, error = moments.averages(), moments.standard_error()
        worth = moments.effective()
        steady = error <= NO_DIFFERENCE
        # without spread, signs decide, as for p-values
        edge = rope + NO_DIFFERENCE * steady
        # the t distribution around the mean, of scale s/√n and n - 1 degrees of freedom
        scale, degrees = np.where(steady, 1.0, error), np.maximum(worth - 1, 1)

        def beyond(at: FloatArray) -> FloatArray:
            """Probability that a mean estimated as `at` is above `edge`."""
            share = stats.t.sf((edge - at) / scale, degrees)
            of_signs = np.where(at > edge, 1 - 0.5**moments.count, 0.5**moments.count)
            return np.where(np.isnan(error), np.nan, np.where(steady, of_signs, share))

        above, below = beyond(average), beyond(-average)
        up = self.greater_is_better[0]
        names = self._names()
        columns = {
            "a": names["a"],
            "b": names["b"],
            "difference": average,
            "better": above if up else below,
            "equivalent": np.maximum(1 - (above + below), 0.0),
            "worse": below if up else above,
            "n_queries": moments.count.astype(np.int64),
        }
        about = {
            "systems": self.systems,
            "pairs": self.pairs,
            "rope": float(rope),
            "measure": self.measures[0],
            "ties": self.ties[0],
        }
        return Summary(columns, ("a", "b"), about, _table_of_posterior)

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
        parts = []
        for one in self:
            values = {name: getattr(one, name) for name in STATISTICS}
            columns = html.by_cell({"qid": self.qid, "system": self.systems}, values)
            names = {"measure": one.measures[0], "ties": one.ties[0]}
            parts.append(pandas.DataFrame(names | columns))
        return pandas.concat(parts, ignore_index=True)

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
        return html.as_columns(self._names() | of_pairs)

    def _tables(self) -> list[text_tables.Table]:
        overview, n = self._at_a_glance(), len(self.pairs)
        if not overview:
            return self._systems_and_pairs()
        if n <= _FEW_PAIRS:
            return [*overview, self._systems_and_pairs()[-1]]
        more = f"{n} differences of pairs: see to_pandas() or --csv"
        last = replace(overview[-1], notes=[*overview[-1].notes, more])
        return [*overview[:-1], last]

    def _whole(self) -> list[text_tables.Table]:
        return [*self._at_a_glance(), *self._systems_and_pairs(for_page=True)]

    def _at_a_glance(self) -> list[text_tables.Table]:
        """Tables with a row a system, if there are more than few."""
        n = len(self.systems)
        if n <= _FEW_SYSTEMS or not len(self.pairs):
            return []
        summary = self.summary()
        order = best_first(self, summary.mean)
        names = [("#", summary.letter[order]), ("system", summary.system[order])]
        halves = len(self) > 1 and self.average == "macro"
        blocks = []
        for at, (measure, ties) in enumerate(self._keys()):
            rows = order + at * n
            head = measure if len(self.ties) == 1 else f"{measure} {ties}"
            mean, interval = summary.mean[rows], summary.interval[rows]
            shown = ("95% interval", interval, partial(words.bracketed, digits=3))
            if halves:
                # at a bound of the measure, the longer side
                half = np.abs(interval - mean[:, None]).max(axis=1)
                shown = ("±", half, partial(words.number, digits=3))
            blocks.append([(head, mean), shown, (">", summary.better_than[rows])])
        note = f"{words.AVERAGES[self.average]} {'± half of' if halves else 'and'} its "
        note += f"95% interval; >: significantly better than ({level(self)})"
        if len(self.ties) == 1 and EXPECTED not in self.ties:
            note = f"ties: {self.ties[0]}; {note}"
        return _overview.tables(names, blocks, [note])

    def _systems_and_pairs(self, for_page: bool = False) -> list[text_tables.Table]:
        """Tables with a row a system, and with a row a pair, of each measure.

        On a page, systems stand in the order of the picture, the best one first, and of
        very many pairs only some.
        """
        summary, of = self.summary(), self
        if for_page:
            order = best_first(self, summary.mean)
            rows = np.add.outer(np.arange(len(self)) * len(order), order).ravel()
            columns = {name: column[rows] for name, column in summary.columns.items()}
            summary, of = replace(summary, columns=columns), self._some_pairs()
        averages = summary._tables()
        if not len(self.pairs):
            return averages
        pairs = (_side_by_side if len(self.ties) > 1 else _table_of_pairs)(of)
        if more := len(self.pairs) - len(of.pairs):
            half = _MOST_PAIRS // 2
            note = f"the {half} smallest and the {half} largest p-values of each "
            note += f"measure; {more} more rows: see to_pandas() or --csv"
            pairs = replace(pairs, notes=[*pairs.notes, note])
        systems = [replace(table, title="Systems") for table in averages]
        return [*systems, replace(pairs, title="Pairs of systems")]

    def _some_pairs(self) -> SystemComparison:
        """Keep the pairs with the smallest and the largest p-values of each measure."""
        n = len(self.pairs) // len(self)
        if n <= _MOST_PAIRS:
            return self
        half = _MOST_PAIRS // 2
        # of several treatments of ties, the first one decides
        shape = len(self.measures), len(self.ties), n
        order = np.argsort(self.pvalues.reshape(shape)[:, :1], kind="stable")
        some = np.sort(np.concatenate([order[..., :half], order[..., -half:]], axis=-1))
        rows = (np.arange(len(self)).reshape(*shape[:2], 1) * n + some).ravel()
        of_pairs = {name: getattr(self, name)[rows] for name in ("pairs", *_OF_PAIRS)}
        return replace(self, **of_pairs)

    def _defined(self) -> BoolArray:
        """Whether each query has a value of some measure."""
        return np.asarray(~np.isnan(self.expected).all(axis=1))

    def _weights(self) -> list[str]:
        """Say what queries of unequal weights are worth."""
        if self.query_weight is None:
            return []
        weight = self.query_weight * self._defined()
        count, worth = int((weight > 0).sum()), effective_number(weight)
        return [f"{_report.queries_in_words(count, worth)}."] if worth < count else []

    def __repr__(self) -> str:
        concludes = len(self.ties) == 1 or len(self.systems) > _FEW_SYSTEMS
        concludes &= len(self.pairs) > 0
        said = self._conclusion() if concludes else self._weights()
        paragraphs = map(words.paragraph, said)
        return "\n\n".join([super().__repr__(), "\n".join(paragraphs)]).rstrip()

    def _conclusion(self) -> list[str]:
        lines, alpha = [], 1 - self.confidence
        for one in self:
            (measure,), (ties,) = one.measures, one.ties
            by = measure if ties == EXPECTED else f"{measure} with ties {ties}"
            if self.average != "macro":
                by = f"the {words.AVERAGES[self.average]} of {by}"
            if len(one.pairs) == 1 and self.average != "geometric":
                lines.append(f"By {by}, {_in_words(one, alpha)}.")
                continue
            said = _against_baselines(one) if one.baselines else _best_of_all(one, self)
            line = f"By {by}, {said}"
            if n := len(one.pairs):
                differ = np.count_nonzero(one.adjusted_pvalues <= alpha)
                kind = "" if _p_header(one) == "pvalue" else f" by {_p_header(one)}"
                what, sign = f"{differ} of {n} differences are", "<="
                end = ""
                if not differ:
                    what, sign = "no difference is", ">"
                    end = ": these queries do not show which system is better"
                elif ties == EXPECTED:
                    end = f", and the sign of {one.same_sign.sum()} is the same in "
                    end += "every order of ties"
                line += f"; {what} significant (pvalue{kind} {sign} {alpha:g}){end}"
            lines.append(f"{line}.")
        return self._weights() + lines

    def _about(self) -> dict[str, Any]:
        return {
            "queries": len(self.qid),
            "with a value": int(self._defined().sum()),
            **super()._about(),
        }


def best_first(of: SystemComparison, averages: FloatArray) -> IntArray:
    """Indices of the systems, the best by the first measure and treatment first."""
    first = averages[: len(of.systems)]
    return np.argsort(-first if of.greater_is_better[0] else first, kind="stable")


def level(of: SystemComparison, sign: str = "<=") -> str:
    """Say which p-values are significant, or with ``>`` which are not."""
    return f"{_p_header(of)} {sign} {1 - of.confidence:g}"


def better(one: SystemComparison) -> BoolArray:
    """Whether each system, in a row, is significantly better than each in a column.

    The comparison is by one measure under one treatment of ties.
    """
    same = 1 if one.average == "geometric" else 0
    certain = one.adjusted_pvalues <= 1 - one.confidence
    a_is_better = (one.difference > same) == one.greater_is_better[0]
    out = np.zeros((len(one.systems),) * 2, dtype=bool)
    a, b = one.pairs.T
    out[a, b], out[b, a] = certain & a_is_better, certain & ~a_is_better
    return out


def _best_of_all(one: SystemComparison, every: SystemComparison) -> str:
    """Say which system has the best average, and which others may be as good.

    Many others go by their letters in `every`, of which `one` is a part.
    """
    values = one.summary().mean
    ranked = best_first(one, values)
    first, highest = ranked[0], one.greater_is_better[0]
    if np.isnan(values[first]):
        return "no system has a value"
    line = f"{one.systems[first]} has the {'highest' if highest else 'lowest'} "
    line += "mean" if one.average == "macro" else "value"
    line += f" ({words.number(values[first])})"
    equal = ~better(one)[first]
    equal[first] = False
    if not len(one.pairs):
        return line
    if not equal.any():
        return f"{line}, and is significantly better than each of the others"
    line += ", but is not significantly better than "
    if (n := np.count_nonzero(equal)) <= _WITH_PVALUES:
        rows = np.flatnonzero((one.pairs == first).any(axis=1))
        others = one.pairs[rows].sum(axis=1) - first
        return line + _wording.listed(
            f"{one.systems[i]} (p = {words.probability(p)})"
            for i, p in zip(others, one.adjusted_pvalues[rows], strict=True)
            if equal[i]
        )
    names = ", ".join(one.systems[i] for i in ranked if equal[i])
    if len(names) <= _NAMED:
        return line + names
    order = best_first(every, every.summary().mean)
    letters = _overview.letters(order)[order]
    return f"{line}{n} others: {_overview.runs(letters, equal[order])}"


def _against_baselines(one: SystemComparison) -> str:
    """Say how many systems are better, and worse, than each baseline."""
    won, lines = better(one), []
    for name in one.baselines:
        at = one.systems.index(name)
        n = np.count_nonzero(one.pairs[:, 1] == at)
        of = f"{won[:, at].sum()} of {n} systems are significantly better"
        lines.append(f"{of} than {name}, and {won[at].sum()} worse")
    return "; ".join(lines)


def _in_words(one: SystemComparison, alpha: float) -> str:
    """Say which of two systems is better, by how much, and whether ties matter."""
    (pair,), (difference,), (p,) = one.pairs, one.difference, one.pvalues
    better, other = (one.systems[i] for i in pair)
    ends = one.difference_interval[0]
    if (difference > 0) != one.greater_is_better[0]:
        better, other = other, better
    if difference < 0:
        difference, ends = -difference, -ends[::-1]
    if np.isnan(p):
        ahead = f"by {words.number(difference)}, which no test covers"
        return f"{better} is ahead of {other} {ahead}"
    text = "is" if p <= alpha else "is not significantly"
    text = f"{better} {text} better than {other}: by {words.number(difference)} "
    shown = "< 0.0001" if p < 1e-4 else f"= {words.probability(p)}"
    text += f"({one.confidence:.0%} interval {words.bracketed(ends)}, p {shown})"
    if one.ties[0] != EXPECTED:
        return text
    always = f"{better} is better in every order of ties"
    reversible = "the order of ties could reverse the sign"
    return f"{text}; {always if one.same_sign[0] else reversible}"


def _tables_by_segment(of: Summary) -> list[text_tables.Table]:
    comparison = of.comparison
    header = "pvalue"
    if comparison.correction is not None and len(of) > len(comparison):
        header = comparison.correction
    names = [("segment", list(map(str, of.segment.tolist())))]
    names += _names_of_pairs(of.columns, "measure", "ties")
    level = f"{100 * comparison.confidence:g}% interval"
    terms = {level: f"{level} over queries of the segment, uncorrected"}
    note = ""
    if header == "pvalue":
        terms[header] = words.meaning(f"pvalue ({comparison.test})")
    else:
        note = f"{header}: corrected over all pairs and "
        note += f"{of.n_segments} segments together"
    last: tuple[Any, ...]
    if comparison.query_weight is None:
        last = ("interaction", of.interaction, words.probability)
        terms["interaction"] = (
            "p-value of the hypothesis that the difference is the same in all segments"
        )
    else:
        last = ("worth", of.n_effective, partial(words.number, digits=1))
        terms["worth"] = "queries of equal weight that those of the segment are worth"
    return [
        text_tables.Table.of(
            *names,
            ("queries", of.n_queries),
            (_difference_header(comparison), of.difference),
            (level, of.difference_interval, partial(words.bracketed, digits=3)),
            ("same sign", np.where(of.same_sign, "yes", "no")),
            (header, of.adjusted_pvalue, words.probability),
            last,
            left=len(names),
            drop=[len(names) + column for column in (3, 0, 5, 2)],
            notes=_by(of, note),
            terms=terms,
        )
    ]


def _table_of_queries(of: Summary) -> list[text_tables.Table]:
    names = _names_of_pairs(of.columns, "measure", "ties")
    test = "paired t test" if of.alternative == "two-sided" else "one-sided t test"
    terms = {
        "std": "standard deviation of the differences of queries",
        "needed": "queries that show the difference with this power",
        "detectable": "smallest difference that these queries show with it",
    }
    return [
        text_tables.Table.of(
            *names,
            ("difference", of.difference),
            ("std", of.std),
            ("queries", of.n_queries),
            ("needed", of.queries_needed, partial(words.number, digits=0)),
            ("detectable", of.detectable),
            left=len(names),
            notes=_by(of, f"power {of.power:g} of the {test} at alpha = {of.alpha:g}"),
            terms=terms,
        )
    ]


def _by(of: Summary, note: str) -> list[str]:
    """Extend a note by the measure, where there is one and no column names it."""
    notes = [note] if note else []
    if len(set(of.measure)) == 1:
        notes.insert(0, f"by {of.measure[0]}")
    return ["; ".join(notes)] if notes else []


def _table_of_posterior(of: Summary) -> list[text_tables.Table]:
    note = f"equivalent: differences of {of.measure} of at most {of.rope:g}"
    if of.ties != EXPECTED:
        note += f"; ties: {of.ties}"
    columns = {
        "A": of.a,
        "B": of.b,
        "A - B": of.difference,
        "A better": of.better,
        "equivalent": of.equivalent,
        "B better": of.worse,
    }
    terms = {
        "A better": "posterior probability that A is better",
        "equivalent": "posterior probability that both are equivalent",
        "B better": "posterior probability that B is better",
    }
    return [text_tables.Table.of(*columns.items(), left=2, notes=[note], terms=terms)]


def _tables_of_systems(of: Summary) -> list[text_tables.Table]:
    """Tables of the systems by one or several measures."""
    those = {ties: np.flatnonzero(of.ties == ties) for ties in dict.fromkeys(of.ties)}
    ties, *others = those
    rows = those[ties]
    measure, system = of.measure[rows], of.system[rows]
    names = [("measure", measure), ("system", system)]
    largest, every = None, set(measure)
    if len(every) == 1:
        names = [(measure[0], system)]
    if others:
        return [_treatments_side_by_side(of, those, names)]
    header = _report.HEADS[of.average]
    figures, ranges = {header: of.mean}, None
    if not _is_one_order(ties, of.tie_std):
        if len(every) > 1:
            ends, largest = np.fmax(of.best, of.worst), np.zeros(len(of))
            for name in every:
                largest[measure == name] = np.fmax.reduce(
                    ends[measure == name], initial=0.0
                )
        ranges = text_tables.Ranges(of.worst, of.mean, of.best, largest)
        figures |= {"worst": of.worst, "best": of.best}
        if of.average == "macro":
            figures["tie_std"] = of.tie_std
    table = text_tables.Table.of(
        *names, *figures.items(), left=len(names), ranges=ranges
    )
    if ties == EXPECTED:
        return [table]
    average = f"{words.AVERAGES[of.average]} over queries, {_treated(ties)}"
    terms = {header: average} | _still_open(ties)
    return [replace(table, notes=[f"ties: {ties}"], terms=terms)]


def _treatments_side_by_side(
    of: Summary, those: dict[str, IntArray], names: list[tuple[Any, ...]]
) -> text_tables.Table:
    """Table of the means of all systems by treatment of ties."""
    columns = {ties: of.mean[rows] for ties, rows in those.items()}
    average = f"{words.AVERAGES[of.average]} over queries"
    terms = {ties: f"{average}, {_treated(ties)}" for ties in those}
    ranges = None
    if EXPECTED in those:
        # range over all orders, unless it is a treatment itself
        for end in ("worst", "best"):
            columns.setdefault(end, of.columns[end][those[EXPECTED]])
        if len(names) == 1:
            worst, mean, best = (columns[name] for name in ("worst", EXPECTED, "best"))
            ranges = text_tables.Ranges(worst, mean, best)
    return text_tables.Table.of(
        *names,
        *columns.items(),
        left=len(names),
        notes=[average] if of.average != "macro" else [],
        terms=terms,
        ranges=ranges,
    )


def _is_one_order(ties: str, tie_std: FloatArray) -> bool:
    """Whether the treatment leaves a single order of ties."""
    return ties != EXPECTED and not (tie_std > 0).any()


def _still_open(ties: str) -> dict[str, str]:
    """Meanings of headers for the orders of ties that a rule leaves open."""
    if ties == EXPECTED:
        return {}
    rest = f"documents that still tie by the rule {ties}"
    headers = ("worst", "best", "tie_std", "tie range", "same sign")
    return {
        name: words.meaning(name).removesuffix("tied documents").removesuffix("ties")
        + rest
        for name in headers
    }


def _table_of_pairs(of: SystemComparison) -> text_tables.Table:
    """Table of pairs by one or several measures, under one treatment of ties."""
    (ties,) = of.ties
    level = f"{100 * of.confidence:g}%"
    label, corrected = _difference_header(of), _p_header(of)
    # intervals of Tukey's test hold for all pairs at once
    simultaneous = corrected == "tukey" and of.interval == "t"
    names = _names_of_pairs(of._names(), "measure")
    columns = [*names, (label, of.difference)]
    halves = of.interval == "t" and of.average == "macro"
    if halves:
        interval, text = f"±{level}", f"half of the {level} t interval"
        if simultaneous:
            text = f"half of the simultaneous {level} interval of Tukey's test"
        columns.append((interval, np.diff(of.difference_interval)[:, 0] / 2))
    else:
        interval, text = f"{level} interval", f"{level} {of.interval} interval"
        show = partial(words.bracketed, digits=3)
        columns.append((interval, of.difference_interval, show))
    ranges = None
    if not _is_one_order(ties, of.tie_std):
        if of.average == "macro":
            columns.append(("tie_std", of.tie_std))
        columns.append(("tie range", of.tie_range))
        columns.append(("same sign", np.where(of.same_sign, "yes", "no")))
        if len(of) == 1:
            least, most = of.tie_range.T
            ranges = text_tables.Ranges(least, of.difference, most, head="tie range")
    columns.append(("pvalue", of.pvalues, words.probability))
    if corrected != "pvalue":
        columns.append((corrected, of.adjusted_pvalues, words.probability))
    columns.append(("d", of.effect, partial(words.number, digits=2)))
    # narrow pages drop the column that the user chose last
    last = [interval, "tie range"]
    if not halves or ties != EXPECTED:
        last.reverse()
    meaning, notes = f"{text} of {label} over queries", []
    if len(of.pairs) > len(of) and not simultaneous:
        meaning += ", not corrected for the number of pairs"
        notes.append(f"{interval}: not corrected for the number of pairs")
    heads = [head for head, *_ in columns]
    table = text_tables.Table.of(
        *columns,
        left=len(names),
        drop=[heads.index(head) for head in ("d", "tie_std", *last) if head in heads],
        terms={
            label: _DIFFERENCES[of.average],
            interval: meaning,
            "pvalue": words.meaning(f"pvalue ({of.test})"),
            **_still_open(ties),
        },
        ranges=ranges,
    )
    if interval in [column.head for column in table.fitted().columns]:
        return replace(table, notes=notes)
    return table


def _side_by_side(of: SystemComparison) -> text_tables.Table:
    """Table of differences and p-values of all pairs, with treatments side by side.

    Each below the other where 80 columns do not hold them.
    """
    of_pairs, header, apart = of._names(), _p_header(of), _difference_header(of)
    treated, names = of_pairs["ties"], _names_of_pairs(of_pairs, "measure")
    by = {ties: np.flatnonzero(treated == ties) for ties in of.ties}
    same_sign = np.where(of.same_sign, "yes", "no")
    meaning = words.meaning(f"pvalue ({of.test})" if header == "pvalue" else header)
    what = f"{words.AVERAGES[of.average]}, or {_DIFFERENCES[of.average]}"
    terms = {header: meaning}
    columns: list[tuple[Any, ...]]
    columns = [(name, cells[by[of.ties[0]]]) for name, cells in names]
    for ties, rows in by.items():
        terms[ties] = f"{what}, {_treated(ties)}"
        columns.append((ties, of.difference[rows]))
    for ties, rows in by.items():
        head, pvalues = f"{header} {ties}", of.adjusted_pvalues[rows]
        terms[head] = meaning
        columns.append((head, pvalues, words.probability))
    if EXPECTED in by:
        columns.append(("same sign", same_sign[by[EXPECTED]]))
    wide = text_tables.Table.of(
        *columns,
        left=len(names),
        drop=range(len(columns))[::-1],
        notes=[f"{apart} and {header} by treatment of ties"],
        terms=terms,
    )
    if len(wide.fitted().columns) == len(columns):
        return wide
    columns = [*names, ("ties", treated), (apart, of.difference)]
    columns.append((header, of.adjusted_pvalues, words.probability))
    if EXPECTED in by:
        columns.append(("same sign", np.where(treated == EXPECTED, same_sign, "")))
    # each treatment of a pair below the other
    rows = np.column_stack([*by.values()]).ravel()
    columns = [(head, cells[rows], *show) for head, cells, *show in columns]
    terms = {header: meaning}
    return text_tables.Table.of(*columns, left=len(names) + 1, terms=terms)


_DIFFERENCES = {
    "macro": words.meaning("A - B"),
    "geometric": "geometric mean of A divided by that of B",
    "median": "median of A minus median of B",
}


def _difference_header(of: SystemComparison) -> str:
    return "A / B" if of.average == "geometric" else "A - B"


def _p_header(of: SystemComparison) -> str:
    """Header of p-values, which names the correction, if there is one."""
    if of.correction is None or len(of.pairs) <= len(of):
        return "pvalue"
    return of.correction


def _names_of_pairs(columns: dict[str, Array], *others: str) -> list[tuple[Any, ...]]:
    """First columns of a table of pairs: A, B, and before them others that vary."""
    names = [(name, columns[name]) for name in others if len(set(columns[name])) > 1]
    return [*names, ("A", columns["a"]), ("B", columns["b"])]


def _treated(ties: str) -> str:
    """A treatment of ties, in words."""
    return {
        EXPECTED: "exact mean over all orders of tied documents",
        "best": "in the most favourable order of ties",
        "worst": "in the least favourable order of ties",
        "input": "with ties in the order of rows",
    }.get(ties, f"with ties broken by the rule {ties}")
