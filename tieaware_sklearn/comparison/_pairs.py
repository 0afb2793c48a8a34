"""Pairs of systems: differences, their intervals, and paired tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from .._engine.segments import FloatArray, IntArray
from ..evaluation import _averages, _intervals, _multiple_testing
from . import _paired_test

#: values that are held at a time, and signs of a randomization test
_CELLS, _SIGNS = 1 << 22, 1 << 27


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
    there, weight = _paired_test.weighed(np.ones(len(values["expected"]), bool), weight)
    values = {name: columns[there] for name, columns in values.items()}
    of_logs = options.average == "geometric"
    if of_logs:
        bounds = _averages.logs(bounds)
        values = {name: _averages.logs(columns) for name, columns in values.items()}
    # as many pairs at once as memory has room for
    step = max(1, _CELLS // max(len(values["expected"]), 1))
    parts = [
        _compare(values, pairs[i : i + step], options, float(np.ptp(bounds)), weight)
        for i in range(0, max(len(pairs), 1), step)
    ]
    columns = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    if options.correction == "tukey":
        adjusted, simultaneous = _multiple_testing.tukey_test(
            values["expected"], pairs, options.confidence
        )
        if options.interval == "t" and values["expected"].shape[1] > 2:
            columns["difference_interval"] = simultaneous
    else:
        adjusted = _multiple_testing.adjust(columns["pvalues"], options.correction)
    columns["adjusted_pvalues"] = adjusted
    if of_logs:
        # a difference of logarithms is the logarithm of a ratio
        for name in ("difference", "tie_range", "difference_interval"):
            columns[name] = np.exp(columns[name])
    return columns


def analysed(
    values: FloatArray, options: Options, weight: FloatArray | None
) -> FloatArray:
    """Values of the queries that count, as logarithms for geometric means."""
    if weight is not None:
        values = values[weight > 0]
    return _averages.logs(values) if options.average == "geometric" else values


def _compare(
    values: dict[str, FloatArray],
    pairs: IntArray,
    options: Options,
    room: float,
    weight: FloatArray | None,
) -> dict[str, Any]:
    """Compare some pairs of systems; no difference is larger than `room`.

    For geometric means, values are logarithms.
    """
    # (n_queries, n_pairs), NaN where one of both is undefined
    undefined = np.any(np.isnan(values["expected"][:, pairs]), axis=2)
    sides = {
        name: [np.where(undefined, np.nan, columns[:, side]) for side in pairs.T]
        for name, columns in values.items()
    }
    a, b = sides["expected"]
    difference, drawn = a - b, options.drawn
    moments = _intervals.QueryMoments.of(difference, weight)
    middle: Callable[[FloatArray], FloatArray] = _averages.medians
    if options.average != "median":
        middle = partial(_averages.means, weight=weight)
    statistic, pvalues = of_t = test_pairs(difference, "t", options, weight)
    ends = moments.interval(options.confidence, (-room, room))
    if options.average == "median":
        of_pairs = [
            _paired_test.bootstrap_of_medians(
                first[~none], second[~none], options.alternative,
                confidence=options.confidence, **drawn,
            )
            for first, second, none in zip(a.T, b.T, undefined.T, strict=True)
        ]  # fmt: skip
        tests = np.array([tested for tested, _ in of_pairs]).reshape(-1, 2)
        statistic, pvalues = tests.T
        ends = np.array([one for _, one in of_pairs]).reshape(-1, 2)
    elif options.interval == "bootstrap":
        ends = np.array(
            [
                _intervals.bootstrap_interval(
                    one, weight, confidence=options.confidence, bounds=(-room, room),
                    **drawn,
                )
                for one in difference.T
            ]
        ).reshape(-1, 2)  # fmt: skip
    if options.test in ("wilcoxon", "randomization"):
        statistic, pvalues = test_pairs(difference, options.test, options, weight)
    tie_std = np.full(len(pairs), np.nan)
    if options.average == "macro":
        tie_std = _averages.stds_of_means(np.hypot(*sides["std"]), weight)
    # where lower is better, best is the smallest value
    low_a, low_b = map(np.minimum, sides["best"], sides["worst"])
    high_a, high_b = map(np.maximum, sides["best"], sides["worst"])
    with np.errstate(invalid="ignore"):
        # d_z of Cohen (1988): mean over standard deviation; none without spread
        effect = of_t[0] / np.sqrt(np.maximum(moments.effective(), 1.0))
    least, largest = middle(low_a) - middle(high_b), middle(high_a) - middle(low_b)
    return {
        "difference": middle(a) - middle(b),
        "difference_interval": ends,
        "tie_std": tie_std,
        "tie_range": np.column_stack([least, largest]),
        "same_sign": (least > _averages.NO_DIFFERENCE)
        | (largest < -_averages.NO_DIFFERENCE),
        "statistic": statistic,
        "pvalues": pvalues,
        "effect": np.where(np.isinf(effect), np.nan, effect),
        "n_queries": (~undefined).sum(axis=0),
    }


def test_pairs(
    differences: FloatArray, test: str, options: Options, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Statistics and p-values of columns of differences, NaN left out."""
    signs = cache(partial(_paired_test.random_signs, **options.drawn))

    def randomized(rows: FloatArray) -> FloatArray:
        n, side = rows.shape[1], options.alternative
        if n * options.drawn["n_resamples"] <= _SIGNS:
            return _paired_test.randomization_pvalues(rows, signs(n), side)
        # signs drawn again for each pair, in batches
        return np.array(
            [
                _paired_test.randomization_pvalue(row, side, **options.drawn)
                for row in rows
            ]
        )

    statistics, pvalues = np.empty((2, differences.shape[1]))
    # pairs with values of the same queries are tested together
    defined = ~np.isnan(differences)
    together: dict[bytes, list[int]] = {}
    for j, column in enumerate(defined.T):
        together.setdefault(column.tobytes(), []).append(j)
    for some in together.values():
        there = defined[:, some[0]]
        rows = np.ascontiguousarray(differences[there][:, some].T)
        of = None if weight is None else weight[there]
        statistics[some], pvalues[some] = _paired_test.paired_tests(
            rows, test, options.alternative, randomized, of
        )
    return statistics, pvalues
