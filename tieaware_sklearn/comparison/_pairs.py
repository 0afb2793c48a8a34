"""Differences of pairs of systems, with intervals and paired tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    """Options of the tests of pairs, as passed to `compare_systems`."""

    test: str
    alternative: str
    correction: str | None
    interval: str
    confidence: float
    average: str
    #: Options of random draws: `n_resamples` and `random_state` by name.
    drawn: dict[str, Any]


#: Columns by name, such as the attributes with a value for each pair.
Columns = dict[str, Any]


def compare_pairs(
    values: QueryValues,
    pairs: IntArray,
    options: Options,
    bounds: FloatArray,
    weight: FloatArray | None,
    by_id: IndexArray,
    cluster: Array | None = None,
) -> Columns:
    """Compare pairs of systems by one measure under one treatment of ties.

    Parameters
    ----------
    values : QueryValues
        Values of shape (n_queries, n_systems). If `std` is None, `tie_std` is NaN.
    pairs : ndarray of shape (n_pairs, 2), int
        Indices of the systems A and B of each pair.
    options : Options
        Options of the tests and intervals.
    bounds : ndarray of shape (2,)
        Smallest and largest value of the measure.
    weight : ndarray of shape (n_queries,) or None
        Weight of each query.
    by_id : ndarray, int
        Indices of the queries to compare, in an order that does not depend on the order
        of the rows.
    cluster : ndarray of shape (n_queries,), optional
        Cluster of each query. The queries of a cluster count as one observation in
        tests and intervals.

    Returns
    -------
    dict of str to ndarray
        The columns of `SystemComparison` that contain a value for each pair.
    """
    if weight is not None:
        weight = weight[by_id]
    is_counted, weight = counted_queries(np.ones(len(by_id), dtype=bool), weight)
    counted = by_id[is_counted]
    values = values.apply(itemgetter(counted))
    if cluster is not None:
        cluster = cluster[counted]
    if options.average == "geometric":
        bounds = floored_logs(bounds)
        values = values.apply(floored_logs)
        # The rounding error of a logarithm is as large as the rounding error of a value
        # of size 1.
        largest = np.ones(values.expected.shape[1])
    else:
        largest = largest_values(values.expected)
    room = float(np.ptp(bounds))
    columns: Columns = {}
    for rows, queries in _group_by_queries(values.expected, pairs):
        part = _compare(
            values, queries, pairs[rows], options, room, weight, cluster, largest
        )
        for name, column in part.items():
            if name not in columns:
                shape = (len(pairs), *column.shape[1:])
                columns[name] = np.empty(shape, column.dtype)
            columns[name][rows] = column
    if options.correction == "tukey":
        adjusted, simultaneous = tukey_test(
            values.expected, pairs, options.confidence, largest.max()
        )
        # With two systems, the interval of a single pair needs no correction.
        if options.interval == "t" and values.expected.shape[1] > 2:
            columns["difference_interval"] = simultaneous
    else:
        adjusted = adjust(columns["pvalues"], options.correction)
    columns["adjusted_pvalues"] = adjusted
    if options.average == "geometric":
        # A difference of logarithms is the logarithm of a ratio.
        for name in ("difference", "tie_range", "difference_interval"):
            columns[name] = np.exp(columns[name])
    return columns


def join_columns(blocks: Sequence[Mapping[str, Array]]) -> Columns:
    """Concatenate each column of the blocks."""
    columns: Columns = {}
    for name in blocks[0]:
        columns[name] = np.concatenate([block[name] for block in blocks])
    return columns


def _compare(
    values: QueryValues,
    queries: BoolArray,
    pairs: IntArray,
    options: Options,
    room: float,
    weight: FloatArray | None,
    cluster: Array | None,
    largest: FloatArray,
) -> Columns:
    """Return the columns of pairs of systems that are defined for the same `queries`.

    No difference is larger than `room`, and no value of a system is larger than the
    entry of the system in `largest`. For geometric means, values are logarithms.
    """
    values = values.apply(itemgetter(queries))
    if weight is not None:
        weight = weight[queries]
    if cluster is not None:
        cluster = cluster[queries]
    a, b = pairs.T
    scale = np.maximum(largest[a], largest[b])
    expected = values.expected
    averages_of: Callable[[FloatArray], FloatArray] = column_medians
    if options.average != "median":
        averages_of = partial(column_means, weight=weight)
    averages = averages_of(expected)
    difference = averages[a] - averages[b]

    # Clusters are the observations of tests and intervals. `tie_std` keeps the weights
    # of queries, because ties of different queries are independent within a cluster.
    tie_weight = weight
    observations = expected[:, a] - expected[:, b]
    if cluster is not None and observations.size:
        observations, weights = cluster_means(observations, weight, cluster)
        is_counted = np.ones(len(observations), dtype=bool)
        # All columns have the same queries, so a cluster has the same weight in each
        # column.
        _, weight = counted_queries(is_counted, weights[:, 0])
    rows = observations.T
    side = options.alternative
    test = partial(paired_tests, rows, alternative=side, weight=weight, largest=scale)
    t_statistic, pvalues = test("t")
    statistic = t_statistic
    moments = QueryMoments.from_values(observations, weight)
    bounds = -room, room
    interval = moments.interval(options.confidence, bounds, scale)
    resampling = {"confidence": options.confidence, **options.drawn}
    if options.average == "median":
        statistic = difference
        pvalues, interval = bootstrap_of_medians(expected, pairs, side, **resampling)
    elif options.interval == "bootstrap":
        for i, row in enumerate(rows):
            interval[i] = bootstrap_interval(row, weight, bounds=bounds, **resampling)
    if options.test in ("wilcoxon", "randomization"):
        statistic, pvalues = test(options.test, **options.drawn)
    tie_std = np.full(len(pairs), np.nan)
    if options.average == "macro" and values.std is not None:
        stds = np.hypot(values.std[:, a], values.std[:, b])
        tie_std = stds_of_means(stds, tie_weight)
    tie_range, same_sign = _over_orders(values, pairs, averages_of, scale)
    # Cohen's d_z (1988), the mean divided by the standard deviation, is undefined
    # without spread.
    n_effective = np.maximum(moments.effective(), 1.0)
    with np.errstate(invalid="ignore"):
        effect = t_statistic / np.sqrt(n_effective)
    effect[np.isinf(effect)] = np.nan
    return {
        "difference": difference,
        "difference_interval": interval,
        "tie_std": tie_std,
        "tie_range": tie_range,
        "same_sign": same_sign,
        "statistic": statistic,
        "pvalues": pvalues,
        "effect": effect,
        "n_queries": np.full(len(pairs), len(expected)),
    }


def _over_orders(
    values: QueryValues,
    pairs: IntArray,
    averages_of: Callable[[FloatArray], FloatArray],
    scale: FloatArray,
) -> tuple[FloatArray, BoolArray]:
    """Return ranges of differences over the orders of ties.

    Also return whether each range excludes 0, apart from rounding.
    """
    a, b = pairs.T
    # If lower values are better, the best value is the lowest.
    low = averages_of(np.minimum(values.best, values.worst))
    high = averages_of(np.maximum(values.best, values.worst))
    least = low[a] - high[b]
    most = high[a] - low[b]
    same_sign = without_rounding(least, scale) > 0
    same_sign |= without_rounding(most, scale) < 0
    return np.column_stack([least, most]), same_sign


def compare_unpaired(values: QueryValues, pairs: IntArray, options: Options) -> Columns:
    """Compare means of systems on different queries by Welch's t test.

    Each column of `values` contains the values of a system on its own queries. The
    result has the columns of `compare_pairs`.
    """
    a, b = pairs.T
    moments = QueryMoments.from_values(values.expected)
    mean = moments.averages()
    n = moments.count
    error = moments.standard_error()
    largest = largest_values(values.expected)
    scale = np.maximum(largest[a], largest[b])
    difference = mean[a] - mean[b]
    joint_error = np.hypot(error[a], error[b])
    has_error = without_rounding(joint_error, scale) > 0
    joint_error = np.where(has_error, joint_error, np.nan)
    squares = error**2
    parts = squares**2 / np.maximum(n - 1, 1)
    degrees = joint_error**4 / (parts[a] + parts[b])
    n_queries = n[a] + n[b]
    # `t_test` expects a number of queries, which exceeds the degrees of freedom by 1.
    tested = t_test(
        difference, joint_error, n_queries, options.alternative, degrees + 1, scale
    )
    half = stats.t.ppf((1 + options.confidence) / 2, degrees) * joint_error
    interval = np.column_stack([difference - half, difference + half])
    tie_std = stds_of_means(values.std)
    tie_range, same_sign = _over_orders(values, pairs, column_means, scale)
    variances = squares * n
    deviation = np.sqrt(variances[pairs].mean(axis=1))
    deviation[deviation == 0] = np.nan
    return {
        "difference": difference,
        "difference_interval": interval,
        "tie_std": np.hypot(tie_std[a], tie_std[b]),
        "tie_range": tie_range,
        "same_sign": same_sign,
        "statistic": tested.statistic,
        "pvalues": tested.pvalue,
        "adjusted_pvalues": adjust(tested.pvalue, options.correction),
        "effect": difference / deviation,
        "n_queries": n_queries.astype(np.int64),
    }


def _group_by_queries(
    values: FloatArray, pairs: IntArray
) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield groups of pairs of columns that are defined for the same queries.

    A group consists of the indices of the pairs, and of flags that show for which
    queries both columns are defined. Without pairs, one empty group for all queries is
    yielded, so that all columns exist.
    """
    is_defined = ~np.isnan(values)
    groups: dict[bytes, list[int]] = {}
    if not len(pairs):
        groups[np.ones(len(values), dtype=bool).tobytes()] = []
    for i, (a, b) in enumerate(pairs):
        key = (is_defined[:, a] & is_defined[:, b]).tobytes()
        groups.setdefault(key, []).append(i)
    for key, rows in groups.items():
        yield np.array(rows, dtype=np.int64), np.frombuffer(key, dtype=bool)
