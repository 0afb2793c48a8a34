"""What a comparison of systems found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._display.result import Result, as_columns, by_query
from .._display.tables import Ranges, Table, bracketed, number, probability
from .._engine.ties import FloatArray, IntArray
from .._optional import import_optional
from ..evaluation._averages import means, stds_of_means
from ..evaluation._intervals import QueryMoments
from ._posterior import ComparisonPosterior, posterior_of

#: the treatment of ties that needs no word
EXPECTED = "expected"
_OF_QUERIES = ("expected", "best", "worst", "std", "chance")
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
    ties : str
        Treatment of ties.
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
    ties: str
    mean: FloatArray
    worst: FloatArray
    best: FloatArray
    tie_std: FloatArray
    chance: FloatArray
    interval: FloatArray

    def _tables(self) -> list[Table]:
        return [summary_table([self])]


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(Result):
    """Comparison of systems on the same queries; prints as two tables.

    The first table has a row for each system, the second a row for each pair. In the
    second, "holds" says whether the difference has the same sign in every order of
    ties. If the treatment of ties leaves only one order, nothing is shown of orders.

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
        are independent between A and B. Like `tie_range` and `survives`, it is over the
        orders that the treatment of ties leaves open: all of them under "expected", one
        under "best", "worst" and "input", those of documents that still tie under an
        external rule.
    tie_range : ndarray of shape (n_pairs, 2)
        Smallest and largest difference over these orders.
    survives : ndarray of shape (n_pairs,), bool
        Whether the difference has the same sign in each of these orders.
    statistic, pvalues, adjusted_pvalues : ndarray of shape (n_pairs,)
        Statistic and p-value of the paired test over queries, and the p-value
        corrected for the number of pairs, or that of Tukey's test.
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
            ties=self.ties,
            mean=means(self.expected),
            worst=means(self.worst),
            best=means(self.best),
            tie_std=stds_of_means(self.std),
            chance=means(self.chance),
            interval=np.clip(QueryMoments.of(self.expected).interval(), *self.bounds),
        )

    def posterior(self, rope: float = 0.01) -> ComparisonPosterior:
        """Compute how probable it is that A is better than B, or equivalent to it.

        Parameters
        ----------
        rope : float, default=0.01
            Region of practical equivalence: a mean difference of at most this much, in
            units of the measure, is as good as none.

        Returns
        -------
        ComparisonPosterior
            Three probabilities for each pair.

        Raises
        ------
        ValueError
            If `rope` is negative or not a number.

        Notes
        -----
        The posterior of the mean difference over queries is Student's t distribution,
        as follows from normal differences and Jeffreys' prior (Corani and Benavoli
        2015; Sakai, SIGIR 2017). With ``rope=0``, the probability that A is worse is
        the one-tailed p-value of the paired t test for "A is better"; unlike a p-value,
        the probabilities can also speak for equivalence. The Bayesian signed-rank test
        of the package baycomp 1.0.3 is not offered: its time grows with the square of
        the number of queries (about an hour per pair for 2,000), and without a rope it
        prefers one of two systems that are alike on every query.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> from tieaware_sklearn.datasets import make_web_search
        >>> web = make_web_search(n_queries=100, random_state=0)
        >>> systems = {"clicks": web.data[:, 1], "in-degree": web.data[:, 0]}
        >>> found = compare_systems(web.target, systems, qid=web.qid, measure="rr")
        >>> print(found.posterior(rope=0.05))
        A       B           A - B  A better  equivalent  B better
        ---------------------------------------------------------
        clicks  in-degree  0.0095    0.0786      0.9020    0.0194
        equivalent: differences of RR of at most 0.05
        """
        found = posterior_of(
            self._differences(), rope, greater_is_better=self.greater_is_better
        )
        return ComparisonPosterior(
            self.systems, self.measure, self.ties, self.pairs, float(rope), **found
        )

    def by_query(self) -> Any:
        """The values of each query and system, for tables and tests of your own.

        Returns
        -------
        pandas.DataFrame
            A row for each query and system, with the columns ``qid``, ``system``,
            ``expected``, ``best``, ``worst``, ``std`` and ``chance``. `to_pandas` has
            a row for each pair, and ``summary().to_pandas()`` one for each system.

        Examples
        --------
        >>> from tieaware_sklearn import compare_systems
        >>> systems = {"a": [2, 1, 2, 1], "b": [1, 1, 1, 2]}
        >>> found = compare_systems([1, 0, 1, 0], systems, qid=[1, 1, 2, 2],
        ...                         measure="rr")
        >>> found.by_query().pivot(index="qid", columns="system", values="expected")
        system    a     b
        qid
        1       1.0  0.75
        2       1.0  0.50
        """
        pandas = import_optional("pandas", extra="io", purpose="by_query")
        return pandas.DataFrame(query_columns(self))

    def _differences(self) -> QueryMoments:
        """Of the differences of each pair."""
        first, second = self.pairs.T
        return QueryMoments.of(self.expected[:, first] - self.expected[:, second])

    def _columns(self) -> dict[str, Any]:
        of_pairs = {name: getattr(self, name) for name in _OF_PAIRS}
        first, second = np.array(self.systems, dtype=object)[self.pairs.T]
        return as_columns({"a": first, "b": second, **of_pairs})

    def _tables(self) -> list[Table]:
        averages = self.summary()._tables()
        return [*averages, pair_table([self])] if len(self.pairs) else averages


def query_columns(comparison: SystemComparison) -> dict[str, Any]:
    """The columns of `by_query`."""
    if not len(comparison.qid):
        raise ValueError(
            "by_query needs the values of every query, which a comparison on a cluster "
            "does not hold: tieaware_sklearn.dask.evaluate_queries computes them for "
            "each system"
        )
    values = {name: getattr(comparison, name) for name in _OF_QUERIES}
    return by_query(comparison.qid, comparison.systems, values, "system")


def summary_table(summaries: Sequence[SystemSummary]) -> Table:
    """Systems by one or several measures, under one treatment of ties."""
    mean, worst, best, tie_std = (
        np.concatenate([getattr(one, name) for one in summaries])
        for name in ("mean", "worst", "best", "tie_std")
    )
    names = names_of_systems(summaries)
    largest, ties = None, summaries[0].ties
    if _is_one_order(ties, tie_std):
        table = Table.of(*names, ("mean", mean), left=len(names))
        return _treated_by(table, ties)
    if len(summaries) > 1:
        ends = [np.fmax.reduce([*one.best, *one.worst, 0]) for one in summaries]
        largest = np.repeat(ends, [len(one.systems) for one in summaries])
    table = Table.of(
        *names,
        ("mean", mean),
        ("worst", worst),
        ("best", best),
        ("tie std", tie_std),
        left=len(names),
        ranges=Ranges(worst, mean, best, largest),
    )
    return table if ties == EXPECTED else _treated_by(table, ties)


def _is_one_order(ties: str, tie_std: FloatArray) -> bool:
    """Whether a treatment leaves nothing to say of orders of ties."""
    return ties != EXPECTED and not (tie_std > 0).any()


def _treated_by(table: Table, ties: str) -> Table:
    """A table of systems that says which treatment of ties it is of."""
    terms = {"mean": f"average over queries, {treated(ties)}"}
    return replace(table, notes=[f"ties: {ties}"], terms=terms | _still_open(ties))


def _still_open(ties: str) -> dict[str, str]:
    """What is said of the orders that a rule leaves open, where others say of all."""
    if ties == EXPECTED:
        return {}
    rest = f"documents that still tie by the rule {ties}"
    return {
        "worst": f"average over queries in the least favourable order of {rest}",
        "best": f"average over queries in the most favourable order of {rest}",
        "tie std": f"standard deviation over the orders of {rest}",
        "tie range": f"smallest and largest difference over all orders of {rest}",
        "holds": f"whether the difference has the same sign in every order of {rest}",
    }


def names_of_systems(summaries: Sequence[SystemSummary]) -> list[tuple[Any, ...]]:
    """The first columns of a table with a row for each measure and system."""
    if len(summaries) == 1:
        return [(summaries[0].measure, summaries[0].systems)]
    return [
        ("measure", [one.measure for one in summaries for _ in one.systems]),
        ("system", [name for one in summaries for name in one.systems]),
    ]


def pair_table(comparisons: Sequence[SystemComparison]) -> Table:
    """Pairs of systems by one or several measures, under one treatment of ties."""

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(one, name) for one in comparisons])

    of = comparisons[0]
    level = f"{100 * of.confidence:g}%"
    difference, interval = joined("difference"), joined("difference_interval")
    if of.interval == "t":
        head, said = f"±{level}", f"half of the {level} t interval"
        half = (interval[:, 1] - interval[:, 0]) / 2
        shown: tuple[Any, ...] = (head, half)
    else:
        head, said = f"{level} interval", f"{level} bootstrap interval"
        shown = (head, interval, partial(bracketed, digits=3))
    tie_range = joined("tie_range")
    columns: dict[str, tuple[Any, ...]] = {
        "difference": ("A - B", difference),
        "interval": shown,
        "tie std": ("tie std", joined("tie_std")),
        "tie range": ("tie range", tie_range),
        "holds": ("holds", np.where(joined("survives"), "yes", "no")),
        "p": (f"p ({of.test})", joined("pvalues"), probability),
        "corrected p": (p_head(of), joined("adjusted_pvalues"), probability),
        "d": ("d", joined("effect"), partial(number, digits=2)),
        "interval of d": (
            f"{level} interval of d",
            joined("effect_interval"),
            partial(bracketed, digits=2),
        ),
    }
    # of the interval and the tie range, what was asked for is the last to go
    last = ["interval", "tie range"]
    if of.interval != "t" or of.ties != EXPECTED:
        last.reverse()
    drop = ["interval of d", "tie std", "p", "d", *last]
    if p_head(of) == f"p ({of.test})":
        del columns["corrected p"]
        drop.remove("p")
    one_order = _is_one_order(of.ties, joined("tie_std"))
    if one_order:
        for name in ("tie std", "tie range", "holds"):
            del columns[name]
        drop = [name for name in drop if name in columns]
    names = names_of_pairs(comparisons)
    places = {name: len(names) + j for j, name in enumerate(columns)}
    ranges = None
    if len(comparisons) == 1 and not one_order:
        ranges = Ranges(tie_range[:, 0], difference, tie_range[:, 1], head="tie range")
    return Table.of(
        *names,
        *columns.values(),
        left=len(names),
        drop=[places[name] for name in drop],
        terms={head: f"{said} of A - B over queries"} | _still_open(of.ties),
        ranges=ranges,
    )


def p_head(comparison: SystemComparison) -> str:
    """What p-values are called: after the correction, if there is one."""
    several = comparison.correction is not None and len(comparison.pairs) > 1
    return f"p ({comparison.correction if several else comparison.test})"


def names_of_pairs(comparisons: Sequence[SystemComparison]) -> list[tuple[Any, ...]]:
    """The first columns of a table with a row for each measure and pair."""
    each = [np.array(one.systems, dtype=object)[one.pairs.T] for one in comparisons]
    first, second = np.concatenate(each, axis=1)
    columns = [("A", first), ("B", second)]
    if len(comparisons) == 1:
        return columns
    measures = [one.measure for one in comparisons for _ in one.pairs]
    return [("measure", measures), *columns]


def treated(ties: str) -> str:
    """A treatment of ties, in words."""
    return {
        EXPECTED: "exact mean over all orders of tied documents",
        "best": "in the most favourable order of ties",
        "worst": "in the least favourable order of ties",
        "input": "with ties in the order of rows",
    }.get(ties, f"with ties broken by the rule {ties}")
