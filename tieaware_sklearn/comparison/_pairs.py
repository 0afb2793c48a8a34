"""Pairs of systems: differences, their intervals, and paired tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._engine.segments import FloatArray, IntArray
from ..evaluation import _averages, _intervals, _multiple_testing
from . import _paired_test


class Options(NamedTuple):
    """Options of the tests of pairs, as given to `compare_systems`."""

    test: str
    alternative: str
    correction: str | None
    interval: str
    confidence: float
    average: str
    #: n_resamples and random_state
    drawn: dict[str, int]


def compare_pairs(
    values: dict[str, FloatArray],
    pairs: IntArray,
    options: Options,
    bounds: FloatArray,
    weight: FloatArray | None = None,
) -> dict[str, Any]:
    """Compare pairs of systems by one measure under one treatment of ties.

    Parameters
    ----------
    values : dict of str to ndarray of shape (n_queries, n_systems)
        Statistics, with queries in an order that no permutation of the rows changes.
    pairs : ndarray of shape (n_pairs, 2), int
    options : Options
    bounds : ndarray of shape (2,)
        Least and largest value of the measure.
    weight : ndarray of shape (n_queries,), optional

    Returns
    -------
    dict of str to ndarray
        The columns of `SystemComparison` that have a value for each pair.
    """
    of_logs = options.average == "geometric"
    if of_logs:
        bounds = _averages.logs(bounds)
        values = {name: _averages.logs(column) for name, column in values.items()}
    room = float(np.ptp(bounds))
    rows = [
        _compare({n: v[:, pair] for n, v in values.items()}, options, room, weight)
        for pair in pairs
    ]
    columns = np.array(rows, dtype=float).reshape(len(rows), 10).T
    statistic, pvalues, effect, tie_std, n_queries, difference, *ends = columns
    least, largest, low, high = ends
    same_sign = (least > _averages.NO_DIFFERENCE) | (largest < -_averages.NO_DIFFERENCE)
    if options.correction == "tukey":
        adjusted, simultaneous = _multiple_testing.tukey_test(
            values["expected"], pairs, options.confidence
        )
        if options.interval == "t" and values["expected"].shape[1] > 2:
            low, high = simultaneous.T
    else:
        adjusted = _multiple_testing.adjust(pvalues, options.correction)
    if of_logs:
        # a difference of logarithms is the logarithm of a ratio
        difference, least, largest, low, high = map(
            np.exp, (difference, least, largest, low, high)
        )
    return {
        "difference": difference,
        "difference_interval": np.column_stack([low, high]),
        "tie_std": tie_std,
        "tie_range": np.column_stack([least, largest]),
        "same_sign": same_sign,
        "statistic": statistic,
        "pvalues": pvalues,
        "adjusted_pvalues": adjusted,
        # no spread, no effect size
        "effect": np.where(np.isinf(effect), np.nan, effect),
        "n_queries": n_queries.astype(np.int64),
    }


def analysed(
    values: FloatArray, options: Options, weight: FloatArray | None
) -> FloatArray:
    """Values of the queries that count, as logarithms for geometric means."""
    if weight is not None:
        values = values[weight > 0]
    return _averages.logs(values) if options.average == "geometric" else values


def _compare(
    values: dict[str, FloatArray],
    options: Options,
    room: float,
    weight: FloatArray | None,
) -> tuple[float, ...]:
    """Compare a pair of systems; no difference is larger than `room`.

    For geometric means, values are logarithms.
    """
    defined = ~np.isnan(values["expected"])
    there, weight = _paired_test.weighed(np.all(defined, axis=1), weight)
    values = {name: of_pair[there] for name, of_pair in values.items()}
    a, b = values["expected"].T
    difference, n_queries = a - b, len(a)
    side, level, drawn = options.alternative, options.confidence, options.drawn
    tested = t_test = _paired_test.paired_test(difference, "t", side, weight)
    moments = _intervals.QueryMoments.of(difference, weight)
    middle: Callable[[FloatArray], float] = partial(_averages.mean, weight=weight)
    bounds = -room, room
    if options.average == "median":
        middle = _averages.median
        tested, ends = _paired_test.bootstrap_of_medians(
            a, b, side, confidence=level, **drawn
        )
    elif options.interval == "bootstrap":
        ends = _intervals.bootstrap_interval(
            difference, weight, confidence=level, bounds=bounds, **drawn
        )
    else:
        ends = moments.interval(level, bounds).tolist()
    if options.test in ("wilcoxon", "randomization"):
        tested = _paired_test.paired_test(
            difference, options.test, side, weight, **drawn
        )
    tie_std = math.nan
    if options.average == "macro":
        tie_std = _averages.std_of_mean(np.hypot(*values["std"].T), weight)
    # where lower is better, best is the smallest value
    smallest = np.minimum(values["best"], values["worst"])
    largest = np.maximum(values["best"], values["worst"])
    return (
        *tested,
        # d_z of Cohen (1988): mean over standard deviation
        t_test.statistic / math.sqrt(max(float(moments.effective()), 1.0)),
        tie_std,
        n_queries,
        middle(a) - middle(b),
        middle(smallest[:, 0]) - middle(largest[:, 1]),
        middle(largest[:, 0]) - middle(smallest[:, 1]),
        *ends,
    )
