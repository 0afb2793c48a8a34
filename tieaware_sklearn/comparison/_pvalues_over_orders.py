"""The p-values of paired tests over the orders of ties."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from .._display.progress import show_progress
from .._engine.qid_column import warn_one_query
from .._engine.seeds import seed_of
from .._engine.ties import FloatArray, IntArray
from .._engine.validation import (
    check_choice,
    check_count,
    check_flag,
    check_share,
)
from ..measures import Measure
from ..measures._parse import parse_measures
from ._many_paired_tests import paired_pvalues
from ._measured_systems import (
    MeasuredSystems,
    check_baselines,
    pairs_with,
    warn_undefined,
)
from ._order_values import OrderValues
from ._paired_tests import ALTERNATIVES, TESTS
from ._pvalues_over_orders_result import PValuesOverOrders
from ._randomization import random_signs

#: values of all systems and measures that are held at a time
_CELLS = 1 << 23


def pvalues_over_orders(
    y_true: ArrayLike,
    y_score: Any,
    *,
    qid: Any = None,
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
    n_jobs: int | None = None,
    progress: bool = False,
) -> PValuesOverOrders:
    """Find how far the p-value of a comparison depends on the order of ties.

    Random orders of the ties of all systems are drawn, and each pair of systems is
    tested in each of them, as if its ties had been broken in that way.

    Parameters
    ----------
    y_true, y_score, qid
        As in `compare_systems`.
    measure : str, Measure or list of them, default="ndcg@10"
        Name of the measure, or a `Measure`; see `parse_measure`. All measures of a list
        see the same orders.
    baseline : str or list of str, optional
        Systems that all others are compared with. The pairs are then those of a system
        (A) and a baseline (B). If None, all pairs are compared.
    test : {"t", "wilcoxon", "randomization"}, default="t"
        Test of the differences per query, as in `compare_systems`.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Alternative hypothesis: the mean of A differs from that of B, is greater, or
        is less.
    alpha : float, default=0.05
        A p-value below this is significant.
    n_orders : int, default=1000
        Number of orders. For a pair with no more orders than this, all of them are
        used instead. Orders that differ by documents of the same label only are one.
    n_resamples : int, default=9999
        Number of random assignments of signs for "randomization", which are the same
        in all orders. If there are no more than this, all of them are used.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the orders and of "randomization".
    zero_relevance, unjudged
        As in `ranking_score`.
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
    - `combined`, twice the mean and at most 1, is a p-value, however those of
      different orders depend on each other, and also for a sample of orders
      (Rüschendorf, Advances in Applied Probability 1982; Vovk and Wang, Biometrika
      2020). If there is one order only, `combined` is its p-value.
    - `largest` is a p-value as well, since it is never below p(o) of the first order
      drawn. `smallest` is none: it is what a search for an order can reach.

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
    A       B             p  p < 0.05   error   min p   max p  combined
    -------------------------------------------------------------------
    degree  slashes  0.3374    0.0290  0.0054  0.0083  0.9997    0.9195
    RR, paired t test, two-sided
    """
    check_choice(test, "test", TESTS)
    check_choice(alternative, "alternative", ALTERNATIVES)
    check_share(alpha, "alpha")
    check_count(n_orders, "n_orders")
    check_count(n_resamples, "n_resamples")
    check_flag(progress, "progress")
    systems = MeasuredSystems(
        y_true, y_score, qid, parse_measures(measure, name="measure"),
        zero_relevance, unjudged, n_jobs,
    )  # fmt: skip
    pairs = pairs_with(check_baselines(baseline, systems.names), systems.names)
    if qid is None and len(pairs):
        warn_one_query(
            systems.queries.n_rows, "pass qid, because the test is over queries"
        )
    found = over_orders(
        systems, pairs, test=test, alternative=alternative, alpha=alpha,
        n_orders=n_orders, n_resamples=n_resamples, seed=seed_of(random_state),
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    return PValuesOverOrders(
        systems=systems.names,
        measures=tuple(map(str, systems.measures)),
        pairs=pairs,
        **found._asdict(),
        test=test,
        alternative=alternative,
        alpha=float(alpha),
    )


class OverOrders(NamedTuple):
    """Figures of each measure and pair, of shape (n_measures, n_pairs).

    See `PValuesOverOrders`.
    """

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
    is_exact: NDArray[np.bool_]


def over_orders(
    systems: MeasuredSystems,
    pairs: IntArray,
    *,
    test: str = "t",
    alternative: str = "two-sided",
    alpha: float = 0.05,
    n_orders: int = 1000,
    n_resamples: int = 9999,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
    found: dict[str, FloatArray] | None = None,
) -> OverOrders:
    """What `pvalues_over_orders` finds for pairs of systems, measured before or now."""
    if found is None:
        found = systems.all_values(("best", "worst"))
        warn_undefined(systems.asked, found["expected"])
    each = [
        OrderValues(
            systems.labels,
            scores,
            systems.queries,
            systems.measures,
            {name: found[name][..., j] for name in ("expected", "best", "worst")},
            [seed, j],
        )
        for j, scores in enumerate(systems.scores)
    ]
    tested = _Tests(each, pairs, systems, test, alternative, n_resamples, seed)
    tested.enumerate_orders(n_orders)
    tested.draw_orders(n_orders, n_jobs, progress)
    return tested.figures(alpha)


class _Tests:
    """The p-values of pairs, found once in all orders or in each block of orders."""

    def __init__(
        self,
        each: list[OrderValues],
        pairs: IntArray,
        systems: MeasuredSystems,
        test: str,
        alternative: str,
        n_resamples: int,
        seed: int,
    ) -> None:
        self._each = each
        self._pairs = pairs.tolist()
        # whether more is better
        self._rises = [measure.greater_is_better for measure in systems.measures]
        self._options = test, alternative, n_resamples, seed
        self._signs: dict[int, NDArray[np.int8]] = {}
        shape = len(systems.measures), len(self._pairs)
        self._cells = list(np.ndindex(shape))
        self._found: dict[tuple[int, int], list[tuple[FloatArray, FloatArray]]] = {
            cell: [] for cell in self._cells
        }
        self._exact = np.zeros(shape, dtype=bool)
        # p-values of the exact means
        self._of_means = np.full(shape, np.nan)
        for m, i in self._cells:
            a, b = self._systems(i)
            difference = self._difference(a.expected[m], b.expected[m], m, i)
            self._of_means[m, i] = self._test(difference[None])[0]
            varies = (a.varies[m] | b.varies[m])[self._there(m, i)]
            if not varies.any():
                self._exact[m, i] = True
                self._add(m, i, difference[None])

    def _systems(self, i: int) -> tuple[OrderValues, OrderValues]:
        a, b = self._pairs[i]
        return self._each[a], self._each[b]

    def _there(self, m: int, i: int) -> NDArray[np.bool_]:
        """The queries where the measure is defined for both systems."""
        a, b = self._systems(i)
        there: NDArray[np.bool_] = ~np.isnan(a.expected[m] - b.expected[m])
        return there

    def _difference(self, a: FloatArray, b: FloatArray, m: int, i: int) -> FloatArray:
        there = self._there(m, i)
        return np.ascontiguousarray((a - b)[..., there])

    def _test(self, differences: FloatArray) -> FloatArray:
        test, alternative, n_resamples, seed = self._options
        n, signs = differences.shape[1], None
        if test == "randomization" and n >= 2:
            if n not in self._signs:
                self._signs[n] = random_signs(n, n_resamples, seed)
            signs = self._signs[n]
        return paired_pvalues(differences, test, alternative, signs=signs)

    def _add(self, m: int, i: int, differences: FloatArray) -> None:
        """The p-values of orders, and the signs of the differences found there."""
        means = differences.sum(axis=1)
        self._found[m, i].append((self._test(differences), np.sign(means)))

    def enumerate_orders(self, most: int) -> None:
        """Test the pairs that have no more orders than so many in each of them."""
        orders: dict[int, FloatArray | None] = {}
        for i, pair in enumerate(self._pairs):
            open_measures = np.flatnonzero(~self._exact[:, i]).tolist()
            if not open_measures:
                continue
            for j in pair:
                if j not in orders:
                    orders[j] = self._each[j].enumerated(most)
            a, b = (orders[j] for j in pair)
            if a is None or b is None or a.shape[1] * b.shape[1] > most:
                continue
            for m in open_measures:
                self._exact[m, i] = True
                of_a = np.repeat(a[m], b.shape[1], axis=0)
                of_b = np.tile(b[m], (a.shape[1], 1))
                self._add(m, i, self._difference(of_a, of_b, m, i))

    def draw_orders(self, number: int, n_jobs: int | None, progress: bool) -> None:
        """Test the other pairs in random orders, the same for all of them."""
        left = [cell for cell in self._cells if not self._exact[cell]]
        if not left:
            return
        used = sorted({j for _, i in left for j in self._pairs[i]})
        of_an_order = self._each[0].expected.size * len(used)
        step = max(1, _CELLS // max(of_an_order, 1))
        sizes = [min(step, number - done) for done in range(0, number, step)]
        for size in show_progress(sizes, progress, number, "order", size=int):
            drawn = Parallel(n_jobs=n_jobs, require="sharedmem")(
                delayed(self._each[j].draw)(size) for j in used
            )
            values = dict(zip(used, drawn, strict=True))
            for m, i in left:
                a, b = (values[j][m] for j in self._pairs[i])
                self._add(m, i, self._difference(a, b, m, i))

    def figures(self, alpha: float) -> OverOrders:
        """All figures of all pairs."""
        rows = [self._figures(m, i, alpha) for m, i in self._cells]
        names = OverOrders._fields[1:-1]
        found = np.array(rows, dtype=float).reshape(*self._exact.shape, len(names))
        of = dict(zip(names, np.moveaxis(found, -1, 0), strict=True))
        return OverOrders(
            pvalues=self._of_means,
            **of | {"n_orders": of["n_orders"].astype(np.int64)},
            is_exact=self._exact,
        )

    def _figures(self, m: int, i: int, alpha: float) -> tuple[float, ...]:
        """Those of one pair, in the order of the fields of `OverOrders`."""
        pvalues, signs = map(np.concatenate, zip(*self._found[m, i], strict=True))
        n = len(pvalues)
        if np.isnan(pvalues).any():
            return (*(math.nan,) * 8, n)
        better = signs if self._rises[m] else -signs
        significant = pvalues < alpha
        x = int(significant.sum())
        error = math.sqrt((x + 1) * (n - x + 1) / ((n + 2) ** 2 * (n + 3)))
        mean = math.fsum(pvalues) / n
        return (
            x / n,
            0.0 if self._exact[m, i] else error,
            np.count_nonzero(significant & (better > 0)) / n,
            np.count_nonzero(significant & (better < 0)) / n,
            float(pvalues.min()),
            float(pvalues.max()),
            mean,
            # of a single order it is valid by itself
            mean if n == 1 else min(1.0, 2 * mean),
            n,
        )
