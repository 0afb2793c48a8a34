"""Pairs of systems: differences, their intervals, and paired tests."""

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from .._typing import Array, BoolArray, FloatArray, IndexArray, IntArray
from ..measures._values import QueryValues
from ..statistics.averages import (
    column_means,
    column_medians,
    counted_queries,
    floored_logs,
    largest_values,
    stds_of_means,
    without_rounding,
)
from ..statistics.intervals import bootstrap_interval
from ..statistics.moments import QueryMoments, cluster_means
from ..statistics.multiple_testing import adjust, tukey_test
from ..statistics.paired_tests import bootstrap_of_medians, paired_tests
from ..statistics.t_test import t_test


class Options(NamedTuple):
    """Options of the tests of pairs, as given to `compare_systems`."""

    test: str
    alternative: str
    correction: str | None
    interval: str
    confidence: float
    average: str
    #: n_resamples and random_state
    drawn: dict[str, Any]


def compare_pairs(
    values: QueryValues,
    pairs: IntArray,
    options: Options,
    bounds: FloatArray,
    weight: FloatArray | None,
    by_id: IndexArray,
    cluster: Array | None = None,
) -> dict[str, Any]:
    """Compare pairs of systems by one measure under one treatment of ties.

    Parameters
    ----------
    values : QueryValues
        Of shape (n_queries, n_systems). Without `std` there is no `tie_std`.
    pairs : ndarray of shape (n_pairs, 2), int
    options : Options
    bounds : ndarray of shape (2,)
        Least and largest value of the measure.
    weight : ndarray of shape (n_queries,) or None
    by_id : ndarray, int
        The queries to compare, in an order that no permutation of the rows changes.
    cluster : ndarray of shape (n_queries,), optional
        Queries of a cluster are one observation of tests and intervals.

    Returns
    -------
    dict of str to ndarray
        The columns of `SystemComparison` that have a value for each pair.
    """
    weight = None if weight is None else weight[by_id]
    there, weight = counted_queries(np.ones(len(by_id), dtype=bool), weight)
    values = values.apply(lambda array: array[by_id][there])
    cluster = None if cluster is None else cluster[by_id][there]
    of_logs = options.average == "geometric"
    if of_logs:
        bounds = floored_logs(bounds)
        values = values.apply(floored_logs)
        # rounding of values up to 1 is as large in their logarithms
        largest = np.ones(values.expected.shape[1])
    else:
        largest = largest_values(values.expected)
    columns: dict[str, Any] = {}
    for rows, queries in _on_same_queries(values.expected, pairs):
        defined = values.apply(itemgetter(queries))
        of = None if weight is None else weight[queries]
        clusters = None if cluster is None else cluster[queries]
        compared = _compare(
            defined, pairs[rows], options, float(np.ptp(bounds)), of, clusters, largest
        )
        for name, column in compared.items():
            shape = len(pairs), *column.shape[1:]
            columns.setdefault(name, np.empty(shape, column.dtype))[rows] = column
    if options.correction == "tukey":
        adjusted, simultaneous = tukey_test(
            values.expected, pairs, options.confidence, largest.max()
        )
        if options.interval == "t" and values.expected.shape[1] > 2:
            columns["difference_interval"] = simultaneous
    else:
        adjusted = adjust(columns["pvalues"], options.correction)
    columns["adjusted_pvalues"] = adjusted
    if of_logs:
        # a difference of logarithms is the logarithm of a ratio
        for name in ("difference", "tie_range", "difference_interval"):
            columns[name] = np.exp(columns[name])
    return columns


def _compare(
    values: QueryValues,
    pairs: IntArray,
    options: Options,
    room: float,
    weight: FloatArray | None,
    cluster: Array | None,
    largest: FloatArray,
) -> dict[str, Any]:
    """Compare pairs of systems on the queries where they are defined.

    No difference is larger than `room`, and no value of a system than its `largest`.
    For geometric means, values are logarithms.
    """
    a, b = pairs.T
    scale = np.maximum(largest[a], largest[b])
    expected = values.expected
    difference, bounds = expected[:, a] - expected[:, b], (-room, room)
    how = {"confidence": options.confidence, **options.drawn}
    middle = column_medians
    if options.average != "median":
        middle = partial(column_means, weight=weight)
    average, side = middle(expected), options.alternative
    difference, observed = _of_clusters(difference, weight, cluster)
    moments, rows = QueryMoments.of(difference, observed), difference.T
    tests = partial(
        paired_tests, rows, alternative=side, weight=observed, largest=scale
    )
    statistic, pvalues = of_t = tests("t")
    ends = moments.interval(options.confidence, bounds, scale)
    if options.average == "median":
        statistic = average[a] - average[b]
        pvalues, ends = bootstrap_of_medians(expected, pairs, side, **how)
    elif options.interval == "bootstrap":
        for i, row in enumerate(rows):
            ends[i] = bootstrap_interval(row, observed, bounds=bounds, **how)
    if options.test in ("wilcoxon", "randomization"):
        statistic, pvalues = tests(options.test, **options.drawn)
    tie_std = np.full(len(pairs), np.nan)
    if options.average == "macro" and values.std is not None:
        of_pairs = np.hypot(values.std[:, a], values.std[:, b])
        tie_std = stds_of_means(of_pairs, weight)
    with np.errstate(invalid="ignore"):
        # d_z of Cohen (1988): mean over standard deviation; none without spread
        effect = of_t[0] / np.sqrt(np.maximum(moments.effective(), 1.0))
    return {
        "difference": average[a] - average[b],
        "difference_interval": ends,
        "tie_std": tie_std,
        **_over_orders(values, pairs, middle, scale),
        "statistic": statistic,
        "pvalues": pvalues,
        "effect": np.where(np.isinf(effect), np.nan, effect),
        "n_queries": np.full(len(pairs), len(expected)),
    }


def _over_orders(
    values: QueryValues,
    pairs: IntArray,
    middle: Callable[[FloatArray], FloatArray],
    scale: FloatArray,
) -> dict[str, Any]:
    """The range of differences over the orders of ties, and whether it has one sign."""
    a, b = pairs.T
    # where lower is better, best is the smallest value
    low = middle(np.minimum(values.best, values.worst))
    high = middle(np.maximum(values.best, values.worst))
    least, most = low[a] - high[b], high[a] - low[b]
    same_sign = without_rounding(least, scale) > 0
    same_sign |= without_rounding(most, scale) < 0
    return {"tie_range": np.column_stack([least, most]), "same_sign": same_sign}


def compare_unpaired(
    values: QueryValues, pairs: IntArray, options: Options
) -> dict[str, Any]:
    """Compare means of systems on different queries by Welch's t test.

    Columns are those of `compare_pairs`, and each column of `values` has the queries of
    its system.
    """
    a, b = pairs.T
    moments = QueryMoments.of(values.expected)
    mean, n, error = moments.averages(), moments.count, moments.standard_error()
    largest = largest_values(values.expected)
    scale = np.maximum(largest[a], largest[b])
    difference, squares = mean[a] - mean[b], error**2
    both = np.hypot(error[a], error[b])
    both = np.where(without_rounding(both, scale) > 0, both, np.nan)
    parts = squares**2 / np.maximum(n - 1, 1)
    degrees = both**4 / (parts[a] + parts[b])
    tested = t_test(
        difference, both, n[a] + n[b], options.alternative, degrees + 1, scale
    )
    half = stats.t.ppf((1 + options.confidence) / 2, degrees) * both
    of_ties = stds_of_means(values.std)
    deviation = np.sqrt((squares * n)[pairs].mean(axis=1))
    return {
        "difference": difference,
        "difference_interval": np.column_stack([difference - half, difference + half]),
        "tie_std": np.hypot(of_ties[a], of_ties[b]),
        **_over_orders(values, pairs, column_means, scale),
        "statistic": tested.statistic,
        "pvalues": tested.pvalue,
        "adjusted_pvalues": adjust(tested.pvalue, options.correction),
        "effect": difference / np.where(deviation > 0, deviation, np.nan),
        "n_queries": (n[a] + n[b]).astype(np.int64),
    }


def _of_clusters(
    difference: FloatArray, weight: FloatArray | None, cluster: Array | None
) -> tuple[FloatArray, FloatArray | None]:
    """Mean differences of clusters, and their weights; None for equal weights."""
    if cluster is None or not difference.size:
        return difference, weight
    means, weights = cluster_means(difference, weight, cluster)
    _, of_all = counted_queries(np.ones(len(means), dtype=bool), weights[:, 0])
    return means, of_all


def _on_same_queries(
    values: FloatArray, pairs: IntArray
) -> Iterator[tuple[IntArray, BoolArray]]:
    """Group pairs of columns by the queries where both are defined.

    Yields numbers of pairs and whether each query is defined; no pairs are one group.
    """
    defined = ~np.isnan(values)
    together: dict[bytes, list[int]] = {}
    for i, (a, b) in enumerate(pairs):
        together.setdefault((defined[:, a] & defined[:, b]).tobytes(), []).append(i)
    if not len(pairs):
        together[np.ones(len(values), dtype=bool).tobytes()] = []
    for key, rows in together.items():
        yield np.array(rows, dtype=np.int64), np.frombuffer(key, dtype=bool)
