"""Tests of curves, residuals and sampled orders of ties."""

import itertools
import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from tests import naive
from tests.strategies import judged_ranking, queries
from tieaware_sklearn import evaluate, ranking_score, sampled
from tieaware_sklearn.evaluation import (
    precision_recall_curve,
    residuals,
    sample_orderings,
    tie_distributions,
)
from tieaware_sklearn.measures import InterpolatedPrecision

pytestmark = pytest.mark.usefixtures("engine")
NAN = math.nan
INF = math.inf


def test_the_curve_is_the_eleven_point_average_apart():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    scores = rng.integers(0, 30, 300)
    qid = rng.integers(0, 12, 300)
    data = {"qid": qid, "query_weight": 1.0 + qid % 3}
    curve = precision_recall_curve(labels, scores, **data)
    levels = [i / 10 for i in range(11)]
    assert curve.recall.tolist() == levels
    report = evaluate(labels, scores, measures=["iap", "iprec@0.5"], **data)
    summary = report.summary()
    for name in ("mean", "best", "worst"):
        average = getattr(curve, name).mean()
        value = getattr(summary, name)[0]
        assert average == pytest.approx(value, abs=1e-14)
    steps = np.diff(curve.mean)
    assert (steps <= 1e-15).all()
    assert curve.tie_std[5] == summary.tie_std[1]
    assert (curve.sampling_error == 0).all()
    assert curve.to_pandas().shape == (11, 6)
    assert len(str(curve).splitlines()) == 13
    data["zero_relevance"] = 0.25
    strict = precision_recall_curve(labels, scores, rel=2, **data)
    assert strict.mean == pytest.approx([0.25] * 11)
    # The mean of a long tie is estimated.
    tied = np.zeros(300)
    long = precision_recall_curve(labels, tied, recall=[0.5])
    assert long.sampling_error[0] > 0
    assert "the means of long ties are estimated from sampled orders" in str(long)


DTYPES = [np.float16, np.float32, np.longdouble]


@pytest.mark.parametrize("dtype", DTYPES)
def test_recall_levels_of_any_float_type_are_decimals(dtype):
    labels = np.ones(19)
    labels[1:10] = 0
    scores = -np.arange(19)
    levels = [0.1, 0.3]
    expected = precision_recall_curve(labels, scores, recall=levels)
    assert expected.mean[0] == 1
    level_by_level = [dtype(level) for level in levels]
    for recall in (np.array(levels, dtype), level_by_level):
        curve = precision_recall_curve(labels, scores, recall=recall)
        assert curve.recall.tolist() == levels
        assert_array_equal(curve.mean, expected.mean)
    assert InterpolatedPrecision(dtype(0.1)) == InterpolatedPrecision(0.1)


BAD_RECALL_LEVELS = [
    ([0.5, 2], "recall must be a finite number >= 0 and"),
    ([0.5, 0.5], r"recall must contain each level once, got \[0.5, 0.5\]"),
    ([], "recall must contain at least one level, got none"),
    ("x", r"recall must contain numbers in \[0, 1\]"),
]


@pytest.mark.parametrize(("recall", "message"), BAD_RECALL_LEVELS)
def test_bad_recall_levels(recall, message):
    with pytest.raises(ValueError, match=message):
        precision_recall_curve([0, 1], [1, 2], recall=recall)


# sample_orderings checks its arguments before it draws orders.
FUNCTIONS = [tie_distributions, sample_orderings]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unjudged_documents_are_refused(function):
    with pytest.raises(ValueError, match="y_true must be judged"):
        function([1, NAN, 0], [3, 2, 1])


def test_orders_are_at_least_1():
    with pytest.raises(ValueError, match="n_orders must be an integer >= 1, got 0"):
        sample_orderings([0, 1], [1, 1], n_orders=0)


@pytest.mark.parametrize("measure", ["ap", "ndcg@10", "r@5"])
def test_measures_without_residuals(measure):
    with pytest.raises(ValueError, match=r"be P, RBP, CWL, RR, Succe.*got"):
        residuals([1, NAN], [2, 1], measures=measure)


PLAIN = {
    "P@3": partial(naive.precision, k=3),
    "P": naive.precision,
    "Success@2": partial(naive.success, k=2),
    "RR": naive.reciprocal_rank,
    "ERR(max_label=1)": partial(naive.err, max_label=1),
}


@settings(max_examples=40)
@given(case=judged_ranking(max_documents=5))
def test_residuals_bound_every_judgment_and_every_order(case):
    labels, scores = case
    y_true = []
    choices = []
    for label in labels:
        is_judged = label >= 0
        label = min(label, 1)
        y_true.append(label if is_judged else NAN)
        choices.append((label,) if is_judged else (0, 1))
    report = residuals(y_true, scores, measures=list(PLAIN))
    judgments = list(itertools.product(*choices))
    for j, plain in enumerate(PLAIN.values()):
        exact = [naive.over_ties(plain, judged, scores) for judged in judgments]
        means = [float(values.expected) for values in exact]
        worst = min(float(values.worst) for values in exact)
        best = max(float(values.best) for values in exact)
        expected = report.expected[0, j]
        highest = expected + report.residual[0, j]
        assert report.worst[0, j] == pytest.approx(worst, abs=1e-12)
        assert report.best[0, j] == pytest.approx(best, abs=1e-12)
        assert expected == pytest.approx(min(means), abs=1e-12)
        assert highest == pytest.approx(max(means), abs=1e-12)
    is_counted = np.isnan(y_true) & np.isfinite(scores)
    assert report.n_unjudged[0] == is_counted.sum()


WEIGHTS = np.array([1, 0.5, 0.25, 0.125, 0.0625])
TOTAL_WEIGHT = WEIGHTS.sum()
UNJUDGED_WEIGHT = WEIGHTS[[1, 3, 4]].sum()
SECOND_UNJUDGED = [1, NAN, 0, 1], [4, 3, 2, -INF]
RESIDUALS = [
    # The residual is the weight of rank 2 and of all ranks from 4.
    ("rbp(p=0.8)", SECOND_UNJUDGED, 0.2, 0.2 * 0.8 + 0.8**3),
    # Ranks below the cut-off have no weight.
    ("rbp(p=0.8)@2", SECOND_UNJUDGED, 0.2, 0.2 * 0.8),
    ("rbp(p=0.8)@5", ([1, NAN, 0], [4, 3, 2]), 0.2, 0.2 * 0.8 + 0.8**3 - 0.8**5),
    (
        "cwl(chances=[0.5,0.5,0.5,0.5])",
        SECOND_UNJUDGED,
        1 / TOTAL_WEIGHT,
        UNJUDGED_WEIGHT / TOTAL_WEIGHT,
    ),
    ("rbp(p=0.5)", ([NAN] * 3, [1, 1, 1]), 0, 1),
    # An unjudged document may have the full gain of 1.
    ("rbp(p=0.5,gain={0: 0, 1: 0.5})", ([1, NAN], [2, 1]), 1 / 4, 1 / 4 + 1 / 4),
]


@pytest.mark.parametrize(("measure", "ranking", "expected", "residual"), RESIDUALS)
def test_residuals_of_weighted_measures(measure, ranking, expected, residual):
    report = residuals(*ranking, measures=measure)
    assert report.expected[0, 0] == pytest.approx(expected)
    assert report.worst[0, 0] == report.expected[0, 0]
    assert report.residual[0, 0] == pytest.approx(residual)
    assert report.best[0, 0] == pytest.approx(expected + residual)


def test_residuals_of_queries_stand_for_themselves():
    labels = [1, NAN, NAN, 0]
    scores = [2, 1, 2, 1]
    options = {"qid": list("aabb"), "query_weight": [1, 1, 3, 3]}
    report = residuals(labels, scores, measures="p@2", **options)
    assert report.qid.tolist() == ["a", "b"]
    assert report.expected.tolist() == [[1 / 2], [0]]
    assert report.worst.tolist() == [[1 / 2], [0]]
    assert report.residual.tolist() == [[1 / 2], [1 / 2]]
    assert report.best.tolist() == [[1], [1 / 2]]
    assert report.n_unjudged.tolist() == [1, 1]
    *_, line = str(report).splitlines()
    row = line.split()
    assert row == ["P@2", "0.1250", "0.5000", "0.1250", "0.6250"]


@settings(max_examples=25)
@given(case=queries())
def test_orderings_are_rankings_of_the_scores(case):
    labels, scores, qid = map(np.array, case)
    places = np.arange(len(labels))
    first_seen = list(dict.fromkeys(qid))
    options = {"qid": qid, "n_orders": 2, "random_state": 0}
    for rows in sample_orderings(labels, scores, **options):
        assert_array_equal(np.sort(rows), places)
        # Queries follow their first rows, and scores descend in each query.
        number = [first_seen.index(query) for query in qid[rows]]
        order = np.lexsort((-scores[rows], number))
        assert_array_equal(order, places)


def drawn_labels(labels, scores, qid):
    """Return the labels of each query in a seeded random order of ties."""
    options = {"qid": qid, "n_orders": 1, "random_state": 7}
    (rows,) = sample_orderings(labels, scores, **options)
    drawn = {query: [] for query in qid}
    for row in rows:
        drawn[qid[row]].append(labels[row])
    return drawn


@settings(max_examples=25)
@given(case=queries())
def test_the_order_of_rows_does_not_change_the_labels_drawn(case):
    labels, scores, qid = map(np.array, case)
    drawn = drawn_labels(labels, scores, qid)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(labels))
    shuffled = drawn_labels(labels[order], scores[order], qid[order])
    assert shuffled == drawn


def test_all_orders_are_equally_likely():
    options = {"n_orders": 6000, "random_state": 0}
    orders = sample_orderings([0, 1, 2], [1, 1, 1], **options)
    counts = Counter(tuple(rows) for rows in orders)
    assert len(counts) == 6
    # The 99.9% quantile of chi-squared with 5 degrees of freedom is 20.5.
    counts_of_orders = np.array(list(counts.values()))
    squares = (counts_of_orders - 1000) ** 2
    assert sum(squares) / 1000 < 20.5


def value_of(measure, empty=0.0):
    """Return a function of labels and scores, which is `empty` without relevance."""

    def value(labels, scores):
        if not labels.any():
            return empty
        return ranking_score(labels, scores, measure=measure)

    return value


def test_a_thousand_orders_are_the_default():
    orders = list(sample_orderings([0, 1], [1, 1]))
    assert len(orders) == 1000


@pytest.mark.parametrize("measure", ["ap", "ndcg@5"])
def test_sampled_values_are_near_the_exact_values(engine, measure):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 100)
    scores = rng.integers(0, 6, 100).astype(float)
    is_missing = rng.random(100) < 0.1
    scores[is_missing] = -INF
    qid = rng.integers(0, 5, 100)
    report = evaluate(labels, scores, qid=qid, measures=measure)
    summary = report.summary()
    options = {"qid": qid, "n_orders": 400, "random_state": 1}
    result = sampled(labels, scores, value_of(measure), **options)
    assert result.qid.tolist() == report.qid.tolist()
    sampling_error = result.sampling_error
    assert result.mean == pytest.approx(summary.mean[0], abs=4 * sampling_error)
    assert sampling_error == pytest.approx(result.tie_std / 20)
    assert result.tie_std == pytest.approx(summary.tie_std[0], rel=0.25)
    assert summary.worst[0] <= result.min
    assert result.min <= result.max
    assert result.max <= summary.best[0]
    expected = report.expected[:, 0]
    worst = report.worst[:, 0]
    best = report.best[:, 0]
    error = np.abs(result.expected - expected)
    largest_error = 4.5 * result.query_sampling_error + 1e-12
    assert (error <= largest_error).all()
    np.testing.assert_allclose(result.query_sampling_error, result.std / 20)
    assert (result.query_min >= worst - 1e-12).all()
    assert (result.query_max <= best + 1e-12).all()


def test_a_user_function_is_called_for_each_order():
    calls = []

    def second(labels, scores):
        calls.append(len(labels))
        retrieved = scores[np.isfinite(scores)]
        assert (np.diff(retrieved) < 0).all()
        if len(labels) == 4:
            assert np.isneginf(scores[-1])
        scores[:] = 0  # a copy
        return labels[1]

    labels = [3, 1, 2, 5, 1, 0]
    scores = [2, 1, 1, -INF, 2, 1]
    qid = ["a", "a", "a", "a", "b", "b"]
    result = sampled(labels, scores, second, qid=qid, n_orders=200)
    # Query b has no ties, so the function is called once.
    assert Counter(calls) == {2: 1, 4: 200}
    assert result.query_min.tolist() == [1, 0]
    assert result.query_max.tolist() == [2, 0]
    assert result.query_sampling_error[1] == 0
    tolerance = 4 * result.sampling_error
    assert result.mean == pytest.approx(0.75, abs=tolerance)
    reverse = [column[::-1] for column in (labels, scores)]
    again = sampled(*reverse, second, qid=qid[::-1], n_orders=200)
    assert again.mean == result.mean
    assert again.expected.tolist() == result.expected[::-1].tolist()
    *_, line = str(result).splitlines()
    row = line.split()
    assert row[0] == "second"
    assert row[-2:] == ["200", "2"]


MEANS_OF_VALUES = [
    (0.0, {}, 3 / 8),
    (NAN, {}, 3 / 4),
    (1.0, {}, 7 / 8),
    (0.0, {"query_weight": [1, 1, 3, 3]}, 9 / 16),
]


@pytest.mark.parametrize(("empty", "options", "mean"), MEANS_OF_VALUES)
def test_values_are_averaged_as_anywhere_else(empty, options, mean):
    labels = [0, 0, 1, 0]
    scores = [1, 1, 1, 1]
    qid = [1, 1, 2, 2]
    function = value_of("ap", empty)
    options = {"n_orders": 800, **options}
    options["random_state"] = np.random.default_rng(0)
    result = sampled(labels, scores, function, qid=qid, **options)
    assert result.measure == "value"
    tolerance = 4 * result.sampling_error
    assert result.mean == pytest.approx(mean, abs=tolerance)
    n_queries = "1" if math.isnan(empty) else "2"
    assert str(result).split()[-1] == n_queries
    frame = result.to_pandas()
    assert frame["qid"].tolist() == [1, 2]
    assert_array_equal(frame["expected"], result.expected)


VALUES_OF_ORDERS = [0.5, 0.25, 0.25, 0.125]
AVERAGES = [
    ("macro", 2 / 3),
    ("geometric", np.cbrt(VALUES_OF_ORDERS).mean()),
    ("median", 0.625),
]


@pytest.mark.slow
@pytest.mark.parametrize(("average", "mean"), AVERAGES)
def test_averages_of_orders(average, mean):
    # Two queries have a value of 1 or 0.5 with equal chances, the third has 0.5.
    labels = [1, 0, 1, 0, 1, 0]
    scores = [1, 1, 1, 1, 1, 2]
    qid = [1, 1, 2, 2, 3, 3]
    options = {"qid": qid, "average": average, "n_orders": 4000}
    function = value_of("rr")
    result = sampled(labels, scores, function, **options)
    tolerance = 5 * result.sampling_error
    assert result.mean == pytest.approx(mean, abs=tolerance)


N_UNJUDGED = [("keep", 2), ("nonrelevant", 0)]


@pytest.mark.parametrize(("unjudged", "mean"), N_UNJUDGED)
def test_functions_see_unjudged_documents_on_request(unjudged, mean):
    def n_unjudged(labels, scores):
        return float(np.isnan(labels).sum())

    labels = [1, NAN, NAN]
    options = {"n_orders": 5, "unjudged": unjudged}
    result = sampled(labels, [1, 1, 1], n_unjudged, **options)
    assert result.mean == mean


def test_queries_where_a_function_is_undefined_are_left_out():
    def first(labels, scores):
        return labels[0] if labels.any() else NAN

    labels = [1, 1, 0]
    qid = [1, 1, 2]
    result = sampled(labels, [1, 1, 1], first, qid=qid, n_orders=5)
    assert result.mean == 1
    assert result.sampling_error == 0
    assert np.isnan(result.expected[1])


def test_orders_and_distributions_count_unjudged_documents_as_nonrelevant():
    data = {"y_true": [1, NAN, 0], "y_score": [1, 1, 0]}
    data["unjudged"] = "nonrelevant"
    orders = map(tuple, sample_orderings(**data, n_orders=50))
    assert set(orders) == {(0, 1, 2), (1, 0, 2)}
    distribution = tie_distributions(**data)[0]
    assert distribution.values.tolist() == [0.5, 1]


def high(labels, scores):
    return "high"


def infinite(labels, scores):
    return INF


def nan_in_some_orders(labels, scores):
    return 1 if labels[0] else NAN


BAD_INPUT_OF_SAMPLES = [
    ("n_orders", 1, "n_orders must be an integer >= 2, got 1"),
    ("progress", 1, "progress must be True or False, got 1"),
    ("average", "micro", "average must be one of .* got 'micro'"),
    ("score_func", 7, "score_func must be a function .* got 7"),
    ("score_func", "ap", "score_func must be a function .* got 'ap'"),
    ("score_func", high, "finite .*'high' for query 1"),
    ("score_func", infinite, "finite .*got inf for query"),
    (
        "score_func",
        nan_in_some_orders,
        r"NaN for every order .* or for none, got NaN for \d+ of 1000 .*query 1",
    ),
    ("y_true", [NAN, 1], "y_true must be judged"),
    ("random_state", "x", "random_state must be an integer from 0 .* got 'x'"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_INPUT_OF_SAMPLES)
def test_bad_input_of_samples(name, value, message):
    data = {"y_true": [0, 1], "y_score": [1, 1]}
    data["qid"] = [1, 1]
    data["score_func"] = value_of("ap")
    data[name] = value
    with pytest.raises(ValueError, match=message):
        sampled(**data)
