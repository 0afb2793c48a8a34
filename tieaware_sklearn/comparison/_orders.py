"""p-values over the orders of ties."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from .._display import progress_bars
from .._engine import checks, segments, threads
from .._typing import BoolArray, FloatArray, IntArray
from ..evaluation import _interval_warnings, _prepared, _sampled
from ..measures import Measure, _parse
from ..measures._values import Detail, QueryValues
from ..ranking import _blocks
from ..statistics.averages import counted_queries, largest_values, without_rounding
from ..statistics.paired_tests import paired_tests
from . import _segmented, _systems, _text

#: number of scores, over all orders, that are ranked at a time
_CELLS = 1 << 20


class OrderValues:
    """Values per query of a system in single orders of its ties.

    Only queries whose value depends on the order are ranked again.

    Parameters
    ----------
    systems : MeasuredSystems
    j : int
        Number of the system.
    statistics : dict of str to ndarray of shape (n_measures, n_queries, n_systems)
        "expected", "best" and "worst", the queries in order of first appearance.
    seed : list of int
        Seed of the orders. They do not depend on the measures.

    Attributes
    ----------
    expected : ndarray of shape (n_measures, n_queries)
        Means over all orders.
    varies : ndarray of shape (n_measures, n_queries), bool
        Where the value depends on the order.
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
        apart = np.abs(without_rounding(by_id.best - by_id.worst, largest)) > 0
        self.varies = apart & rows.tied
        self._random = np.random.default_rng(seed)
        self._open = np.flatnonzero(self.varies.any(axis=0))
        mixed = rows.mixed[rows.group]
        self._n_drawn = int(mixed.sum())
        if not len(self._open):
            return
        at = rows.queries.rows(self._open)
        is_open = np.zeros(len(mixed), dtype=bool)
        is_open[at] = True
        self._of_open = is_open[mixed]
        tied = at[mixed[at]]
        starts, sizes = segments.runs(rows.group[tied])
        self._tied_labels = np.split(rows.label[tied], starts[1:])
        # logarithm of the number of distinct orders of the labels of all groups
        new = segments.begins(rows.label[tied])
        new[starts] = True
        n_equal = np.diff(np.append(np.flatnonzero(new), len(tied)))
        self._log_orders = gammaln(sizes + 1.0).sum() - gammaln(n_equal + 1.0).sum()
        queries = rows.queries.some(self._open)
        self._measures = systems.resolved.measures
        self._prepared = _prepared.Prepared(rows.label[at], queries, keep=True)
        # scores that tie as those of the system do: the groups of each query from 0
        # down, to which a place in a group is added
        first = rows.group[at][queries.offsets[:-1]]
        down = (np.repeat(first, queries.sizes) - rows.group[at]).astype(float)
        self._scores = np.where(rows.retrieved[at], down, -np.inf)
        self._tied = np.flatnonzero(mixed[at])

    def enumerated(self, most: int) -> FloatArray | None:
        """Values in every order of ties, or None if there are more than `most`.

        Of shape (n_measures, n_orders, n_queries). Orders that differ by documents of
        the same label only are one.
        """
        if not len(self._open):
            return self.expected[:, None]
        if self._log_orders > math.log(most) + 1e-6:
            return None
        places = [list(_places(labels)) for labels in self._tied_labels]
        chosen = [np.concatenate(one) for one in itertools.product(*places)]
        return self._values(np.array(chosen))

    def draw(self, number: int) -> FloatArray:
        """Values in `number` further random orders of ties."""
        if not len(self._open):
            return np.repeat(self.expected[:, None], number, axis=1)
        n_at_once = max(1, _CELLS // max(len(self._scores), self._n_drawn))
        parts = []
        for start in range(0, number, n_at_once):
            n = min(n_at_once, number - start)
            drawn = self._random.random((n, self._n_drawn))
            parts.append(self._values(drawn[:, self._of_open]))
        return np.concatenate(parts, axis=1)

    def _values(self, places: FloatArray) -> FloatArray:
        """Compute values from the places, 0 to 1, of tied documents in their groups.

        Two equal places, if they are ever drawn, leave a tie of two documents, which
        is worth its exact mean.
        """
        out = np.repeat(self.expected[:, None], len(places), axis=1)
        scores = np.repeat(self._scores[None], len(places), axis=0)
        scores[:, self._tied] += places
        expected = self._prepared.raw_values(self._measures, scores).expected
        for m, values in enumerate(expected.T):
            varies = self.varies[m, self._open]
            out[m][:, self._open[varies]] = values[varies].T
        return out


def _places(labels: FloatArray) -> Iterator[FloatArray]:
    """Places of documents in each distinct order of the labels of a tie group."""
    order = labels.tolist()
    heights = 1 - (np.arange(len(order)) + 1) / (len(order) + 1)
    while True:
        # the documents of a label, one after another
        yield heights[np.argsort(order, kind="stable")]
        # the next order in the lexicographic sequence
        falls = [i for i in range(len(order) - 1) if order[i] < order[i + 1]]
        if not falls:
            return
        at = falls[-1]
        larger = max(j for j in range(at + 1, len(order)) if order[j] > order[at])
        order[at], order[larger] = order[larger], order[at]
        order[at + 1 :] = order[:at:-1]


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
class PValuesOverOrders(_segmented.SegmentedResult):
    """Paired tests of systems in the orders of their ties; prints as a table.

    Attributes
    ----------
    systems, measures : tuple of str
        Names of the systems and canonical names of the measures.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices, into `systems`, of the systems A and B of each pair.
    pvalues : ndarray of shape (n_measures, n_pairs)
        The p-value of the exact means over all orders, as in `compare_systems`.
    share : ndarray of shape (n_measures, n_pairs)
        Share of the orders with p < alpha.
    share_error : ndarray of shape (n_measures, n_pairs)
        Standard error of `share`; 0 where all orders were tested.
    share_a, share_b : ndarray of shape (n_measures, n_pairs)
        Shares of the orders with p < alpha in which A is better, and in which B is.
        Where both are positive, some orders of ties lead to opposite conclusions.
    smallest, largest : ndarray of shape (n_measures, n_pairs)
        Smallest and largest p-value found.
    mean : ndarray of shape (n_measures, n_pairs)
        Mean of the p-values over the orders, which is not itself a p-value.
    combined : ndarray of shape (n_measures, n_pairs)
        A p-value for random orders: twice the mean, at most 1.
    n_orders : ndarray of shape (n_measures, n_pairs), int
        Number of orders tested: 1 where the measure does not depend on the order.
    is_exact : ndarray of shape (n_measures, n_pairs), bool
        Whether all orders were tested.
    test, alternative : str
        As given to `pvalues_over_orders`.
    alpha : float
        A p-value below this is significant.

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

    _tables = _text.table_of_orders

    def _columns(self) -> dict[str, Any]:
        n, systems = len(self.measures), np.array(self.systems, dtype=object)
        a, b = systems[self.pairs.T].tolist()
        of = np.repeat(self.measures, len(self.pairs)).tolist()
        names = {"measure": of, "a": a * n, "b": b * n}
        return names | {name: getattr(self, name).ravel() for name in _FIGURES}


#: number of values, over systems and measures, that are held at a time
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
    segment: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PValuesOverOrders:
    """Find how far the p-value of a comparison depends on the order of ties.

    Random orders of the ties of all systems are drawn, and each pair of systems is
    tested in each of them, as if its ties had been broken in that way.

    Parameters
    ----------
    y_true, y_score, qid, mask
        As in `compare_systems`.
    measure : str, Measure or list of them, default="ndcg@10"
        Name of the measure, or a `Measure`; see `parse_measure`. All measures of a list
        see the same orders.
    baseline : str or list of str, optional
        Systems that all others are compared with. Each pair is then a system (A) and a
        baseline (B). If None, all pairs are compared.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Test of the differences per query, as in `compare_systems`.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis: the mean of A differs from that of B, is greater, or
        is less.
    alpha : float, default=0.05
        A p-value below this is significant.
    n_orders : int, default=1000
        Number of orders. For a pair with no more orders than this, all of them are used
        instead. Orders that differ only in documents of the same label count as one.
    n_resamples : int, default=9999
        Number of random assignments of signs for "randomization", the same in all
        orders. If no more than this are possible, all of them are used.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the orders and of "randomization".
    zero_relevance, unjudged
        As in `ranking_score`.
    query_weight : array-like of shape (n_documents,) or (n_queries,), optional
        Weight of the query of each document, as in `compare_systems`.
    segment : array-like of shape (n_documents,) or (n_queries,), optional
        Segment of the query of each document, as in `evaluate`. `by_segment` of the
        result has the results on the queries of each segment.
    n_jobs : int, optional
        Number of threads over systems (joblib). No result depends on it.
    progress : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    PValuesOverOrders

    Raises
    ------
    ValueError
        As in `compare_systems`; for n_orders < 1; and for an alpha outside of (0, 1).
    ImportError
        For a progress bar without tqdm.

    Warns
    -----
    UndefinedMetricWarning
        If a measure is undefined for every query of a system.
    UserWarning
        Without `qid`: a single query has no test.

    See Also
    --------
    compare_systems : Tests the exact means over all orders.
    sampled : A measure of your own over random orders.

    Notes
    -----
    Each order o of the ties has a p-value p(o). The null hypothesis is that, with ties
    broken at random, the values of A and B may be exchanged on any query without
    changing their joint distribution. Under it, p(o) of a random order is a p-value:
    exactly for "randomization", and as far as their assumptions hold for the other
    tests. These figures describe p(o) over the orders:

    - `share`, the probability that p(o) < alpha. It is the critical function of the
      test that breaks ties at random, whose size is therefore at most alpha. As a
      function of alpha it is the distribution function of a fuzzy p-value (Geyer and
      Meeden, Statistical Science 2005).
    - `mean`, the mean of p(o), is not a p-value: under the null hypothesis it may be
      below alpha with a probability of up to 2 alpha.
    - `combined`, twice the mean and at most 1, is a p-value. This holds for any
      dependence between orders, and also for a sample of orders (Rüschendorf, Advances
      in Applied Probability 1982; Vovk and Wang, Biometrika 2020). If there is one
      order only, `combined` is its p-value.
    - `largest` is a p-value, too, since it is never below p(o) of the first order
      drawn. It is no bound: orders that were not drawn may have larger ones. `smallest`
      is no p-value: a search for a favourable order could reach it.

    `pvalues` tests the exact means. With ``test="randomization"`` this is also the
    test that draws signs and orders together: the mean over orders of a signed
    difference is the signed difference of the exact means. Its null hypothesis is that
    the rankings of A and B, ties included, may be exchanged on any query. It would not
    be valid to compare the difference of the exact means with signed differences in
    single orders, which are distributed more widely, but not at every quantile.

    The ties of different systems are independent. The standard error of a sampled
    share, with x of n orders significant, is the standard deviation of the beta
    distribution with parameters x + 1 and n - x + 1; it is positive even if all
    sampled orders agree.

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
        test, alternative, n_resamples=n_resamples, random_state=random_state,
        query_weight=query_weight,
    )  # fmt: skip
    systems = _systems.prepare_systems(
        y_true, y_score, qid, _parse.parse_measures(measure, name="measure"),
        zero_relevance, unjudged, n_jobs, query_weight, segment, mask,
    )  # fmt: skip
    pairs = _systems.pairs_with(systems.baselines(baseline, qid), systems.names)
    measures = systems.resolved.measures
    test_rows = partial(
        paired_tests, test=test, alternative=alternative, **options.drawn
    )

    def tested(systems: _systems.MeasuredSystems) -> PValuesOverOrders:
        values = systems.values(detail=Detail.RANGE)
        _systems.warn_undefined(measures, values.expected)
        seed, n_systems = options.drawn["random_state"], len(systems.names)
        each = [OrderValues(systems, j, values, [seed, j]) for j in range(n_systems)]
        weight = systems.prepared.weight
        if weight is not None:
            # values are in the order of ids
            weight = weight[systems.prepared.queries.sorted()]
        cells = [
            _Cell(m, each[a], each[b], test_rows, weight)
            for m in range(len(measures))
            for a, b in pairs.tolist()
        ]
        if test == "t":
            _interval_warnings.warn_once(
                _interval_warnings.why_heavy(cell._weight) for cell in cells
            )
        _test_orders(cells, n_orders, n_jobs, progress)
        rows = [cell.figures(alpha, measures[cell.m]) for cell in cells]
        shape = len(_FIGURES), len(measures), len(pairs)
        columns = np.array(rows, dtype=float).T.reshape(shape)
        figures: dict[str, Any] = dict(zip(_FIGURES, columns, strict=True))
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
        )

    return systems.with_segments(tested)


class _Cell:
    """Test results of a pair of systems by a measure, over the orders so far."""

    def __init__(
        self,
        m: int,
        a: OrderValues,
        b: OrderValues,
        test: Callable[..., tuple[FloatArray, FloatArray]],
        weight: FloatArray | None,
    ) -> None:
        self.m, self.a, self.b, self._test = m, a, b, test
        means = a.expected[m] - b.expected[m]
        self._there, self._weight = counted_queries(~np.isnan(means), weight)
        self.is_exact = not (a.varies[m] | b.varies[m])[self._there].any()
        values = np.append(a.expected[m], b.expected[m])
        self._largest = largest_values(values)
        # p-values, and signs of the means: of the exact means, then of orders
        self._tested: list[tuple[FloatArray, FloatArray]] = []
        self.add(means[None])

    def add(self, differences: FloatArray) -> None:
        """Test differences in more orders, of shape (n_orders, n_queries)."""
        defined = np.ascontiguousarray(differences[:, self._there])
        _, pvalues = self._test(defined, weight=self._weight, largest=self._largest)
        if self._weight is not None:
            defined = defined * self._weight
        self._tested.append((pvalues, np.sign(defined.sum(axis=1))))

    def figures(self, alpha: float, measure: Measure) -> tuple[float, ...]:
        """Summarise the p-value of the means and the p-values of all orders."""
        of_means, *of_orders = self._tested
        pvalue = of_means[0].item()
        # the means are the values of the only order, if no other was tested
        tested = zip(*of_orders or [of_means], strict=True)
        pvalues, signs = map(np.concatenate, tested)
        n = len(pvalues)
        if np.isnan(pvalues).any():
            return (pvalue, *(math.nan,) * 8, n, self.is_exact)
        significant = pvalues < alpha
        x = int(significant.sum())
        error = 0.0
        if not self.is_exact:
            error = math.sqrt((x + 1) * (n - x + 1) / ((n + 2) ** 2 * (n + 3)))
        a_is_better = 1 if measure.greater_is_better else -1
        a = np.mean(significant & (signs == a_is_better))
        b = np.mean(significant & (signs == -a_is_better))
        low, high, mean = pvalues.min(), pvalues.max(), math.fsum(pvalues) / n
        # a single order needs no correction
        combined = mean if n == 1 else min(1.0, 2 * mean)
        return pvalue, x / n, error, a, b, low, high, mean, combined, n, self.is_exact


def _test_orders(
    cells: list[_Cell], number: int, n_jobs: int | None, progress: bool
) -> None:
    """Test all orders of pairs that have at most `number` of them.

    Otherwise as many random orders, shared by all measures and pairs.
    """
    enumerated, left = cache(partial(OrderValues.enumerated, most=number)), []
    for cell in cells:
        if cell.is_exact:
            continue
        a, b = enumerated(cell.a), enumerated(cell.b)
        if a is None or b is None or a.shape[1] * b.shape[1] > number:
            left.append(cell)
            continue
        cell.is_exact = True
        of_a = np.repeat(a[cell.m], b.shape[1], axis=0)
        cell.add(of_a - np.tile(b[cell.m], (a.shape[1], 1)))
    if not left:
        return
    systems = list(
        dict.fromkeys(system for cell in left for system in (cell.a, cell.b))
    )
    step = max(1, _VALUES // (systems[0].expected.size * len(systems)))
    sizes = [min(step, number - done) for done in range(0, number, step)]
    for size in progress_bars.show_progress(sizes, progress, number, "order", size=int):
        draw = partial(OrderValues.draw, number=size)
        drawn = threads.in_threads(draw, systems, n_jobs)
        values = dict(zip(systems, drawn, strict=True))
        for cell in left:
            cell.add(values[cell.a][cell.m] - values[cell.b][cell.m])
