"""Paired tests of systems over the orders of their ties."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from .._display import html, progress_bars
from .._engine import checks, segments, threads
from .._typing import BoolArray, FloatArray, IntArray
from ..evaluation import _interval_warnings, _prepared, _sampled
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..ranking import _blocks
from ..statistics.averages import counted_queries, largest_values, without_rounding
from ..statistics.paired_tests import paired_tests
from . import _systems, _text

#: Maximum number of scores, over all orders, that are ranked at a time, to limit
#: memory.
_CELLS = 1 << 20


class OrderValues:
    """Values of a system for each query, in single orders of its ties.

    Only queries whose values depend on the order are ranked again, and are called
    open. A tie group is mixed if its documents have different labels. Only the
    orders of mixed groups matter.

    Parameters
    ----------
    systems : MeasuredSystems
    j : int
        Index of the system.
    values : QueryValues
        Expected, best and worst values of shape (n_measures, n_queries, n_systems).
        Queries are in order of first appearance.
    seed : list of int
        Seed of the orders. The orders do not depend on the measures.

    Attributes
    ----------
    expected : ndarray of shape (n_measures, n_queries)
        Means over all orders. Queries are in the order of their ids.
    varies : ndarray of shape (n_measures, n_queries), bool
        Whether the value depends on the order.
    """

    def __init__(
        self,
        systems: _systems.MeasuredSystems,
        j: int,
        values: QueryValues,
        seed: Any,
    ) -> None:
        labels = systems.prepared.labels
        scores = _blocks.without_dropped(systems.scores[j], labels)
        rows = _sampled.CanonicalRows(labels, scores, systems.prepared.queries)
        by_id = values.apply(lambda array: array[..., j][:, rows.by_id])
        self.expected = by_id.expected
        largest = largest_values(by_id.expected.T)[:, None]
        ranges = without_rounding(by_id.best - by_id.worst, largest)
        self.varies = (np.abs(ranges) > 0) & rows.tied
        self._random = np.random.default_rng(seed)
        # Indices of queries, in the order of their ids.
        self._open = np.flatnonzero(self.varies.any(axis=0))
        is_mixed = rows.mixed[rows.group]
        # All mixed groups are drawn, even mixed groups of queries that are not open, so
        # that the orders do not depend on the measures.
        self._n_drawn = int(is_mixed.sum())
        if not len(self._open):
            return
        open_rows = rows.queries.rows(self._open)
        is_open = np.zeros(len(is_mixed), dtype=bool)
        is_open[open_rows] = True
        # Whether the query of each drawn document is open.
        self._is_open = is_open[is_mixed]
        # The drawn documents of open queries, as indices into `open_rows`.
        self._tied = np.flatnonzero(is_mixed[open_rows])
        tied_rows = open_rows[self._tied]
        tied_labels = rows.label[tied_rows]
        starts, sizes = segments.runs(rows.group[tied_rows])
        self._tied_labels = np.split(tied_labels, starts[1:])
        # The logarithm of the number of distinct orders of the labels of all groups.
        begins = segments.begins(tied_labels)
        begins[starts] = True
        n_equal = np.diff(np.append(np.flatnonzero(begins), len(tied_labels)))
        self._log_orders = gammaln(sizes + 1.0).sum() - gammaln(n_equal + 1.0).sum()
        queries = rows.queries.subset(self._open)
        self._measures = systems.resolved.measures
        self._prepared = _prepared.Prepared(rows.label[open_rows], queries, keep=True)
        # Scores with the same ties as the scores of the system. The groups of a query
        # have the scores 0, -1, ..., to which the position in a group is added.
        group = rows.group[open_rows]
        first = np.repeat(group[queries.offsets[:-1]], queries.sizes)
        descending = (first - group).astype(float)
        self._scores = np.where(rows.retrieved[open_rows], descending, -np.inf)

    def enumerated(self, most: int) -> FloatArray | None:
        """Return values in all orders of ties, or None if there are more than `most`.

        The values have shape (n_measures, n_orders, n_queries). Orders that differ only
        in documents of the same label count as one.
        """
        if not len(self._open):
            return self.expected[:, None]
        # The tolerance allows for the rounding of logarithms.
        if self._log_orders > math.log(most) + 1e-6:
            return None
        places = [list(_places(labels)) for labels in self._tied_labels]
        orders = map(np.concatenate, itertools.product(*places))
        return self._values(np.array(list(orders)))

    def draw(self, number: int) -> FloatArray:
        """Return values in further random orders of ties."""
        if not len(self._open):
            return np.repeat(self.expected[:, None], number, axis=1)
        n_at_once = max(1, _CELLS // max(len(self._scores), self._n_drawn))
        parts = []
        for start in range(0, number, n_at_once):
            n = min(n_at_once, number - start)
            places = self._random.random((n, self._n_drawn))
            parts.append(self._values(places[:, self._is_open]))
        return np.concatenate(parts, axis=1)

    def _values(self, places: FloatArray) -> FloatArray:
        """Return values by the places, from 0 to 1, of tied documents in their groups.

        The document with the highest place is at the top of its group.

        If two equal places are drawn, the two documents stay tied, and the exact mean
        over their orders counts.
        """
        n_orders = len(places)
        scores = np.repeat(self._scores[None], n_orders, axis=0)
        scores[:, self._tied] += places
        expected = self._prepared.raw_values(self._measures, scores).expected
        by_order = np.repeat(self.expected[:, None], n_orders, axis=1)
        for m, values in enumerate(expected.T):
            varies = self.varies[m, self._open]
            by_order[m][:, self._open[varies]] = values[varies].T
        return by_order


def _places(labels: FloatArray) -> Iterator[FloatArray]:
    """Yield places of documents for each distinct order of a tie group's labels.

    The labels ascend, so they are the first order in lexicographic sequence. Like
    scores, places decrease from the top of the group to the end.
    """
    order = labels.tolist()
    n = len(order)
    heights = 1 - (np.arange(n) + 1) / (n + 1)
    while True:
        # Documents of the same label stay in their order.
        yield heights[np.argsort(order, kind="stable")]
        # Find the next order in the lexicographic sequence.
        rises = [i for i in range(n - 1) if order[i] < order[i + 1]]
        if not rises:
            return
        last = rises[-1]
        larger = max(i for i in range(last + 1, n) if order[i] > order[last])
        order[last], order[larger] = order[larger], order[last]
        order[last + 1 :] = order[:last:-1]


#: Names of the attributes with a value for each measure and pair. Each attribute is a
#: column of the data frame that `to_pandas` returns.
_FIGURES = (
    "pvalues",
    "share",
    "share_error",
    "share_a",
    "share_b",
    "smallest",
    "largest",
    "mean",
    "combined",
    "n_orders",
    "is_exact",
)


@dataclass(frozen=True, eq=False, repr=False)
class PValuesOverOrders(html.Result):
    """Paired tests of systems over the orders of their ties, printed as a table.

    Attributes
    ----------
    systems, measures : tuple of str
        Names of the systems and canonical names of the measures.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    pvalues : ndarray of shape (n_measures, n_pairs)
        p-value of the test of the exact means over all orders, as in `compare_systems`
        without a correction. If a pair has too few queries for the test, all results of
        the pair except `n_orders` and `is_exact` are NaN.
    share : ndarray of shape (n_measures, n_pairs)
        Share of the tested orders with p < alpha.
    share_error : ndarray of shape (n_measures, n_pairs)
        Standard error of `share`, or 0 if all orders were tested.
    share_a, share_b : ndarray of shape (n_measures, n_pairs)
        Share of the tested orders in which p < alpha and the mean of A is better, and
        share of the tested orders in which p < alpha and the mean of B is better. If
        both shares are positive, some orders of ties lead to opposite conclusions.
    smallest, largest : ndarray of shape (n_measures, n_pairs)
        Smallest and largest p-value of the tested orders.
    mean : ndarray of shape (n_measures, n_pairs)
        Mean of the p-values over the tested orders, which is not itself a p-value.
    combined : ndarray of shape (n_measures, n_pairs)
        A p-value for random orders: twice `mean`, but at most 1, or `mean` itself if
        only one order was tested.
    n_orders : ndarray of shape (n_measures, n_pairs), int
        Number of orders tested, which is 1 if the order of ties does not change the
        measure for either system.
    is_exact : ndarray of shape (n_measures, n_pairs), bool
        Whether all orders were tested.
    test, alternative : str
        Test and alternative hypothesis, as given to `pvalues_over_orders`.
    alpha : float
        Significance level, as given to `pvalues_over_orders`. A p-value below alpha is
        significant.

    See Also
    --------
    pvalues_over_orders : The function that returns this result.

    Examples
    --------
    >>> from tieaware_sklearn import pvalues_over_orders
    >>> systems = {"a": [2, 1] * 5, "b": [1, 2] * 3 + [1, 1] * 2}
    >>> qid = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> study = pvalues_over_orders([1, 0] * 5, systems, qid=qid, measure=["rr", "p@1"])
    >>> study.share[0], study.n_orders[0]
    (array([0.5]), array([4]))
    >>> study.to_pandas()[["measure", "a", "b", "share", "largest"]]
      measure  a  b  share   largest
    0      RR  a  b    0.5  0.070484
    1     P@1  a  b    0.5  0.070484
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    pairs: IntArray
    pvalues: FloatArray
    share: FloatArray
    share_error: FloatArray
    share_a: FloatArray
    share_b: FloatArray
    smallest: FloatArray
    largest: FloatArray
    mean: FloatArray
    combined: FloatArray
    n_orders: IntArray
    is_exact: BoolArray
    test: str
    alternative: str
    alpha: float
    _undefined: Sequence[str] = ()

    _tables = _text.table_of_orders

    def _columns(self) -> dict[str, Any]:
        n_measures = len(self.measures)
        systems = np.array(self.systems, dtype=object)
        a, b = systems[self.pairs.T].tolist()
        columns: dict[str, Any] = {}
        columns["measure"] = np.repeat(self.measures, len(self.pairs)).tolist()
        columns["a"] = a * n_measures
        columns["b"] = b * n_measures
        for name in _FIGURES:
            columns[name] = getattr(self, name).ravel()
        return columns


#: Maximum number of values, over systems and measures, in memory at a time.
_VALUES = 1 << 23


def pvalues_over_orders(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
    mask: ArrayLike | None = None,
    measure: str | Measure | Iterable[str | Measure] = "ndcg@10",
    baseline: str | list[str] | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    n_orders: int = 1000,
    n_resamples: int = 9999,
    random_state: Any = 0,
    zero_relevance: float | str = 0.0,
    unjudged: str = "raise",
    query_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PValuesOverOrders:
    """Compute how much the p-value of a comparison depends on the order of ties.

    Each pair of systems is tested in random orders of the ties of both systems, or in
    all orders if there are few orders. In each order, all ties are broken.

    Parameters
    ----------
    y_true, y_score, qid, mask
        Labels, scores of the systems, query ids and mask, as in `compare_systems`.
    measure : str, Measure or list of them, default="ndcg@10"
        Name of the measure, or a `Measure`, as in `parse_measure`. All measures of a
        list are computed in the same random orders.
    baseline : str or list of str, optional
        Systems with which all other systems are compared. Each pair then consists of a
        system (A) and a baseline (B). If None, all pairs are compared.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Test of the differences per query, as in `compare_systems`.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative to the null hypothesis of `test`, as in `compare_systems`: A differs
        from B, is greater than B, or is less than B.
    alpha : float, default=0.05
        Significance level, above 0 and below 1. A p-value below alpha is significant.
    n_orders : int, default=1000
        Number of random orders. If a pair has at most this many orders, each of these
        orders is tested once instead. Orders that differ only by an exchange of
        documents with the same label count as one order.
    n_resamples : int, default=9999
        Number of random assignments of signs for "randomization". The same assignments
        are used in all orders of ties. If at most this many assignments exist, all of
        them are used.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random orders, and of the random signs of "randomization".
    zero_relevance, unjudged
        Value for queries where a measure is undefined, and treatment of NaN labels, as
        in `ranking_score`.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document in the tests, as in `compare_systems`.
        Wilcoxon's test does not accept weights.
    n_jobs : int, optional
        Number of threads over systems (joblib). Results do not depend on `n_jobs`.
    progress : bool, default=False
        Whether to show a progress bar. A progress bar requires tqdm.

    Returns
    -------
    PValuesOverOrders

    Raises
    ------
    ValueError
        As in `compare_systems`. Also if `n_orders` is not an integer >= 1, or if
        `alpha` is outside (0, 1).
    ImportError
        If ``progress=True`` and tqdm is not installed.

    Warns
    -----
    UndefinedMetricWarning
        If every query of a system is left out, because a measure is undefined. Also if
        labels are above 0, but all labels are below the `rel` of a measure.
    UserWarning
        If several systems are compared without `qid`, because all documents then belong
        to one query, which cannot be tested. Also if ``test="t"`` and the weights
        correspond to fewer than 20 queries of equal weight, or if the arguments look
        wrong, as in `ranking_score`.

    See Also
    --------
    compare_systems : Tests the exact means over all orders.
    sampled : Estimates a function of your own over random orders.

    Notes
    -----
    Each order o of the ties has a p-value p(o). The null hypothesis is that, with ties
    broken at random, the values of A and B may be exchanged on any query without
    changing their joint distribution. Under this hypothesis, p(o) of a random order is
    a p-value: exactly for "randomization", and for the other tests as far as their
    assumptions hold. The following figures describe p(o) over the orders:

    - `share` is the probability that p(o) < alpha, or an estimate of this probability
      if not all orders were tested. This probability is the critical function of the
      test that breaks ties at random. The size of this test is at most alpha. As a
      function of alpha, the probability is the distribution function of a fuzzy p-value
      (Geyer and Meeden, Statistical Science 2005).
    - `mean`, the mean of p(o), is not a p-value: under the null hypothesis, the mean
      may be below alpha with a probability of up to 2 alpha.
    - `combined`, twice the mean and at most 1, is a p-value for any dependence between
      orders, and also for a sample of orders (Rüschendorf, Advances in Applied
      Probability 1982; Vovk and Wang, Biometrika 2020). If only one order is tested,
      `combined` is the p-value of this order.
    - `largest` is also a p-value, because `largest` is never below the p(o) of a random
      order among the tested orders. Unless all orders were tested, other orders may
      have larger p-values. `smallest` is not a p-value, because the smallest of several
      p-values is below alpha too often.

    `pvalues` contains the p-values of the exact means. For ``test="randomization"``,
    the null hypothesis of the test of the exact means is that the rankings of A and B,
    ties included, may be exchanged on any query.

    The orders of the ties of different systems are independent. If x of n random orders
    are significant, the standard error of the share is the standard deviation of the
    beta distribution with parameters x + 1 and n - x + 1. The standard error is
    positive even if all random orders agree.

    Examples
    --------
    >>> from tieaware_sklearn import pvalues_over_orders
    >>> from tieaware_sklearn.datasets import make_web_search
    >>> web = make_web_search(n_queries=40, random_state=0)
    >>> systems = {"degree": web.data[:, 0], "slashes": -web.data[:, 4]}
    >>> print(pvalues_over_orders(web.target, systems, qid=web.qid, measure="rr"))
    A       B        pvalue  p < 0.05   error   min p   max p  combined
    -------------------------------------------------------------------
    degree  slashes  0.3374    0.0290  0.0054  0.0083  0.9997    0.9195
    RR, paired t test, two-sided
    """
    checks.check_share(alpha, "alpha")
    checks.check_count(n_orders, "n_orders")
    checks.check_flag(progress, "progress")
    options = _systems.check_options(
        test,
        alternative,
        n_resamples=n_resamples,
        random_state=random_state,
        query_weight=query_weight,
    )
    systems = _systems.prepare_systems(
        y_true,
        y_score,
        qid,
        _parse.parse_measures(measure, name="measure"),
        zero_relevance,
        unjudged,
        n_jobs,
        query_weight,
        mask=mask,
    )
    baselines = systems.baselines(baseline, qid)
    pairs = _systems.pairs_with(baselines, systems.names)
    measures = systems.resolved.measures
    drawn = options.drawn
    test_rows = partial(paired_tests, test=test, alternative=alternative, **drawn)

    values = systems.values(detail=Detail.RANGE)
    _systems.warn_undefined(measures, values.expected)
    by_system = []
    for j in range(len(systems.names)):
        seed = [drawn["random_state"], j]
        by_system.append(OrderValues(systems, j, values, seed))
    weight = systems.prepared.weight
    if weight is not None:
        # Weights must be in the order of the query ids, like the values that
        # `OrderValues` returns.
        weight = weight[systems.prepared.queries.sorted()]
    cells = []
    for m in range(len(measures)):
        for a, b in pairs.tolist():
            cell = _Cell(m, by_system[a], by_system[b], test_rows, weight)
            cells.append(cell)
    if test == "t":
        _interval_warnings.warn_once(
            _interval_warnings.why_heavy(cell._weight) for cell in cells
        )
    _test_orders(cells, n_orders, n_jobs, progress)
    rows = [cell.figures(alpha, measures[cell.m]) for cell in cells]
    shape = len(measures), len(pairs)
    figures: dict[str, Any] = {}
    for name in _FIGURES:
        column = np.array([row[name] for row in rows])
        figures[name] = column.reshape(shape)
    figures["n_orders"] = figures["n_orders"].astype(np.int64)
    figures["is_exact"] = figures["is_exact"].astype(np.bool_)
    return PValuesOverOrders(
        systems=systems.names,
        measures=systems.resolved.names,
        pairs=pairs,
        **figures,
        test=test,
        alternative=alternative,
        alpha=float(alpha),
        _undefined=systems.prepared.undefined_note(systems.resolved),
    )


class _Cell:
    """Test results for a pair of systems and a measure, over the orders so far."""

    def __init__(
        self,
        m: int,
        a: OrderValues,
        b: OrderValues,
        test: Callable[..., tuple[FloatArray, FloatArray]],
        weight: FloatArray | None,
    ) -> None:
        self.m = m
        self.a = a
        self.b = b
        self._test = test
        means = a.expected[m] - b.expected[m]
        self._is_counted, self._weight = counted_queries(~np.isnan(means), weight)
        varies = a.varies[m] | b.varies[m]
        self.is_exact = not varies[self._is_counted].any()
        values = np.append(a.expected[m], b.expected[m])
        self._largest = largest_values(values)
        # The p-values and signs of the mean differences belong first to the exact
        # means, then to the orders of ties.
        self._pvalues: list[FloatArray] = []
        self._signs: list[FloatArray] = []
        self.add(means[None])

    def add(self, differences: FloatArray) -> None:
        """Test differences in more orders, of shape (n_orders, n_queries)."""
        counted = np.ascontiguousarray(differences[:, self._is_counted])
        _, pvalues = self._test(counted, weight=self._weight, largest=self._largest)
        if self._weight is not None:
            counted = counted * self._weight
        self._pvalues.append(pvalues)
        self._signs.append(np.sign(counted.sum(axis=1)))

    def figures(self, alpha: float, measure: Measure) -> dict[str, float]:
        """Summarise the p-value of the exact means and the p-values of all orders."""
        pvalue = self._pvalues[0].item()
        # If no order was tested, the exact means are the values of the only order.
        pvalues = np.concatenate(self._pvalues[1:] or self._pvalues)
        signs = np.concatenate(self._signs[1:] or self._signs)
        n = len(pvalues)
        figures = dict.fromkeys(_FIGURES, math.nan)
        figures["pvalues"] = pvalue
        figures["n_orders"] = n
        figures["is_exact"] = self.is_exact
        if np.isnan(pvalues).any():
            # With too few queries, no order has a p-value.
            return figures
        is_significant = pvalues < alpha
        x = int(is_significant.sum())
        error = 0.0
        if not self.is_exact:
            # This is the variance of the beta distribution in the Notes of
            # `pvalues_over_orders`.
            variance = (x + 1) * (n - x + 1) / ((n + 2) ** 2 * (n + 3))
            error = math.sqrt(variance)
        sign_of_a = 1 if measure.greater_is_better else -1
        mean = math.fsum(pvalues) / n
        # The p-value of a single order needs no correction.
        combined = mean
        if n > 1:
            combined = min(1.0, 2 * mean)
        figures["share"] = x / n
        figures["share_error"] = error
        figures["share_a"] = np.mean(is_significant & (signs == sign_of_a))
        figures["share_b"] = np.mean(is_significant & (signs == -sign_of_a))
        figures["smallest"] = pvalues.min()
        figures["largest"] = pvalues.max()
        figures["mean"] = mean
        figures["combined"] = combined
        return figures


def _test_orders(
    cells: list[_Cell], number: int, n_jobs: int | None, progress: bool
) -> None:
    """Test all orders of pairs that have at most `number` orders.

    The remaining pairs are tested in `number` random orders. All measures and pairs
    share these orders.
    """
    enumerated: dict[OrderValues, FloatArray | None] = {}
    sampled = []
    for cell in cells:
        if cell.is_exact:
            continue
        for system in (cell.a, cell.b):
            if system not in enumerated:
                enumerated[system] = system.enumerated(number)
        a = enumerated[cell.a]
        b = enumerated[cell.b]
        if a is None or b is None or a.shape[1] * b.shape[1] > number:
            sampled.append(cell)
            continue
        cell.is_exact = True
        # Each order of A is paired with each order of B.
        a_values = np.repeat(a[cell.m], b.shape[1], axis=0)
        b_values = np.tile(b[cell.m], (a.shape[1], 1))
        cell.add(a_values - b_values)
    if not sampled:
        return
    pairs = [(cell.a, cell.b) for cell in sampled]
    systems = list(dict.fromkeys(itertools.chain(*pairs)))
    step = max(1, _VALUES // (systems[0].expected.size * len(systems)))
    sizes = [min(step, number - start) for start in range(0, number, step)]
    for size in progress_bars.show_progress(sizes, progress, number, "order", size=int):
        draw = partial(OrderValues.draw, number=size)
        drawn = threads.in_threads(draw, systems, n_jobs)
        values = dict(zip(systems, drawn, strict=True))
        for cell in sampled:
            a_values = values[cell.a][cell.m]
            b_values = values[cell.b][cell.m]
            cell.add(a_values - b_values)
