"""Contingency tables, curves, residuals, and functions over sampled orders."""

import itertools
import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests import naive
from tests.strategies import judged_ranking, queries
from tieaware_sklearn import evaluate, ranking_score, sampled
from tieaware_sklearn.evaluation import (
    contingency_table,
    precision_recall_curve,
    residuals,
    sample_orderings,
    tie_distributions,
)
from tieaware_sklearn.measures import InterpolatedPrecision

pytestmark = pytest.mark.usefixtures("engine")
NAN, INF = math.nan, math.inf


@settings(max_examples=40)
@given(case=queries(), k=st.one_of(st.none(), st.integers(1, 8)))
def test_the_table_holds_every_document_once(case, k):
    labels, scores, qid = (np.array(column) for column in case)
    table = contingency_table(labels, scores, qid=qid, k=k, rel=2)
    for i, q in enumerate(table.qid):
        own = qid == q
        hits, inside = table.true_positive[i], np.isfinite(scores[own]).sum()
        inside = inside if k is None else min(inside, k)
        relevant = (labels[own] >= 2).sum()
        assert hits + table.false_positive[i] == pytest.approx(inside)
        assert hits + table.false_negative[i] == pytest.approx(relevant)
        below = table.false_negative[i] + table.true_negative[i]
        assert below == pytest.approx(own.sum() - inside)
        if own.sum() <= 7:
            counted = naive.over_ties(
                lambda ranked, missing: sum(naive.relevance(ranked[:k], 2)),
                labels[own].tolist(),
                scores[own].tolist(),
            )
            assert hits == pytest.approx(float(counted.expected))
    # no sum depends on the order of rows
    rows = np.random.default_rng(0).permutation(len(labels))
    again = contingency_table(labels[rows], scores[rows], qid=qid[rows], k=k, rel=2)
    assert np.array_equal(again.sum(), table.sum())


def test_tables_by_hand():
    labels, scores = [1, 1, 0, 1, 0, 0], [1, 1, 2, -INF, -INF, 2]
    table = contingency_table(labels, scores)
    assert table.sum().tolist() == [[2, 2], [1, 1]]
    assert str(contingency_table(labels, scores, k=3)).splitlines() == [
        "documents           relevant  not relevant  all",
        "-----------------------------------------------",
        "in the first 3             1             2    3",
        "not in the first 3         2             1    3",
        "all                        3             3    6",
    ]
    lines = str(contingency_table([1, 0, 1], [2, 1, 1], k=2)).splitlines()
    assert lines[2].split()[-3:] == ["1.50", "0.50", "2"]
    table = contingency_table([1, NAN, 0], [3, 2, 1], k=2, unjudged="nonrelevant")
    assert table.sum().tolist() == [[1, 1], [0, 1]]


def test_the_curve_is_the_eleven_point_average_apart():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 300), rng.integers(0, 30, 300)
    qid = rng.integers(0, 12, 300)
    data = {"qid": qid, "query_weight": 1.0 + qid % 3}
    curve = precision_recall_curve(labels, scores, **data)
    assert curve.recall.tolist() == [i / 10 for i in range(11)]
    report = evaluate(labels, scores, measures="iap", **data).summary()
    for name in ("mean", "best", "worst"):
        values = getattr(curve, name)
        assert values.mean() == pytest.approx(getattr(report, name)[0], abs=1e-14)
    assert (np.diff(curve.mean) <= 1e-15).all()
    one = evaluate(labels, scores, measures="iprec@0.5", **data).summary()
    assert curve.tie_std[5] == one.tie_std[0]
    assert (curve.sampling_error == 0).all()
    assert curve.to_pandas().shape == (11, 6)
    assert len(str(curve).splitlines()) == 13
    strict = precision_recall_curve(labels, scores, rel=2, zero_relevance=0.25, **data)
    assert strict.mean == pytest.approx([0.25] * 11)
    # of a long tie it is estimated
    long = precision_recall_curve(labels, np.zeros(300), recall=[0.5])
    assert long.sampling_error[0] > 0
    assert "the means of long ties are estimated from sampled orders" in str(long)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_recall_levels_are_the_decimals_that_they_print_as(dtype):
    labels, scores, levels = [1, *[0] * 9, *[1] * 9], -np.arange(19), [0.1, 0.3]
    wanted = precision_recall_curve(labels, scores, recall=levels)
    assert wanted.mean[0] == 1
    for own in (np.array(levels, dtype), [dtype(level) for level in levels]):
        found = precision_recall_curve(labels, scores, recall=own)
        assert found.recall.tolist() == levels
        assert_array_equal(found.mean, wanted.mean)
    assert InterpolatedPrecision(dtype(0.1)) == InterpolatedPrecision(0.1)


def curve_at(recall):
    return lambda: precision_recall_curve([0, 1], [1, 2], recall=recall)


@pytest.mark.parametrize(("call", "message"), [
    (curve_at([0.5, 2]), "recall must be a finite number >= 0 and"),
    (curve_at([0.5, 0.5]), r"recall must hold each level once, got \[0.5, 0.5\]"),
    (curve_at([]), "recall must hold at least one level, got none"),
    (curve_at("x"), r"recall must hold numbers in \[0, 1\]"),
    (lambda: contingency_table([1, NAN, 0], [3, 2, 1]), "y_true must be judged"),
    (lambda: tie_distributions([1, NAN], [1, 1]), "y_true must be judged"),
    # checked when called, drawn when asked for
    (lambda: sample_orderings([1, NAN], [1, 1]), "y_true must be judged"),
    (lambda: sample_orderings([0, 1], [1, 1], n_orders=0),
     "n_orders must be an integer >= 1, got 0"),
    *((lambda name=name: residuals([1, NAN], [2, 1], measures=name),
       r"be P, RBP, CWL, RR, Succe.*got") for name in ("ap", "ndcg@10", "r@5")),
])  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


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
    labels, scores = [min(label, 1) for label in case[0]], case[1]
    given_labels = [NAN if label < 0 else label for label in labels]
    report = residuals(given_labels, scores, measures=list(PLAIN))
    choices = [(label,) if label >= 0 else (0, 1) for label in labels]
    for j, plain in enumerate(PLAIN.values()):
        exact = [
            naive.over_ties(plain, judged, scores)
            for judged in itertools.product(*choices)
        ]
        least = report.expected[0, j]
        found = [report.worst[0, j], report.best[0, j], least]
        found.append(least + report.residual[0, j])
        means = [one.expected for one in exact]
        wanted = [min(one.worst for one in exact), max(one.best for one in exact)]
        wanted += [min(means), max(means)]
        assert found == pytest.approx(list(map(float, wanted)), abs=1e-12)
    rows = zip(labels, scores, strict=True)
    assert report.n_unjudged[0] == sum(label < 0 and s != -INF for label, s in rows)


WEIGHTS = np.array([1, 0.5, 0.25, 0.125, 0.0625])


@pytest.mark.parametrize(("measure", "labels", "scores", "expected", "residual"), [
    # the second rank, and all from the fourth on
    ("rbp(p=0.8)", [1, NAN, 0, 1], [4, 3, 2, -INF], 0.2, 0.2 * 0.8 + 0.8**3),
    # below the cut-off nothing counts
    ("rbp(p=0.8)@2", [1, NAN, 0, 1], [4, 3, 2, -INF], 0.2, 0.2 * 0.8),
    ("rbp(p=0.8)@5", [1, NAN, 0], [4, 3, 2], 0.2, 0.2 * 0.8 + 0.8**3 - 0.8**5),
    ("cwl(chances=[0.5,0.5,0.5,0.5])", [1, NAN, 0, 1], [4, 3, 2, -INF],
     1 / WEIGHTS.sum(), WEIGHTS[[1, 3, 4]].sum() / WEIGHTS.sum()),
    ("rbp(p=0.5)", [NAN] * 3, [1, 1, 1], 0, 1),
    # graded gains: an unjudged document may be worth 1
    ("rbp(p=0.5,gain={0: 0, 1: 0.5})", [1, NAN], [2, 1], 1 / 4, 1 / 4 + 1 / 4),
])  # fmt: skip
def test_residuals_of_what_follows(measure, labels, scores, expected, residual):
    report = residuals(labels, scores, measures=measure)
    assert report.expected[0, 0] == report.worst[0, 0] == pytest.approx(expected)
    assert report.residual[0, 0] == pytest.approx(residual)
    assert report.best[0, 0] == pytest.approx(expected + residual)


def test_residuals_of_queries_stand_for_themselves():
    data = {"y_score": [2, 1, 2, 1], "qid": list("aabb"), "query_weight": [1, 1, 3, 3]}
    found = residuals([1, NAN, NAN, 0], measures="p@2", **data)
    assert found.qid.tolist() == ["a", "b"]
    assert found.expected[:, 0].tolist() == found.worst[:, 0].tolist() == [1 / 2, 0]
    assert found.residual[:, 0].tolist() == [1 / 2, 1 / 2]
    assert found.best[:, 0].tolist() == [1, 1 / 2]
    assert found.n_unjudged.tolist() == [1, 1]
    row = str(found).splitlines()[-1].split()
    assert row == ["P@2", "0.1250", "0.5000", "0.1250", "0.6250"]


@settings(max_examples=25)
@given(case=queries())
def test_orderings_are_rankings_of_the_scores(case):
    columns = labels, scores, qid = [np.array(column) for column in case]
    for rows in sample_orderings(labels, scores, qid=qid, n_orders=2, random_state=0):
        assert sorted(rows) == list(range(len(labels)))
        # queries one after another, as they first come; scores descend in each
        number = [list(dict.fromkeys(qid)).index(query) for query in qid[rows]]
        assert (np.lexsort((-scores[rows], number)) == np.arange(len(rows))).all()
    # no order of rows changes the labels drawn
    shuffled = np.random.default_rng(0).permutation(len(labels))
    drawn = []
    for y, s, ids in (columns, [column[shuffled] for column in columns]):
        (rows,) = sample_orderings(y, s, qid=ids, n_orders=1, random_state=7)
        drawn.append({q: y[rows][ids[rows] == q].tolist() for q in set(qid)})
    assert drawn[0] == drawn[1]


def test_all_orders_are_equally_likely():
    orders = sample_orderings([0, 1, 2], [1, 1, 1], n_orders=6000, random_state=0)
    seen = Counter(tuple(rows) for rows in orders)
    assert len(seen) == 6
    assert len([*sample_orderings([0, 1], [1, 1])]) == 1000
    # chi-squared with 5 degrees of freedom: 20.5 at 0.1 %
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 20.5


def value_of(measure, empty=0.0):
    """A function that computes a measure, of queries with a relevant document."""

    def value(labels, scores):
        if not labels.any():
            return empty
        return ranking_score(labels, scores, measure=measure)

    return value


@pytest.mark.parametrize("measure", ["ap", "ndcg@5"])
def test_what_is_sampled_is_near_what_is_exact(engine, measure):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 100), rng.integers(0, 6, 100).astype(float)
    scores[rng.random(100) < 0.1] = -math.inf
    qid = rng.integers(0, 5, 100)
    report = evaluate(labels, scores, qid=qid, measures=measure)
    summary = report.summary()
    function = value_of(measure)
    found = sampled(labels, scores, function, qid=qid, n_orders=400, random_state=1)
    assert found.qid.tolist() == report.qid.tolist()
    assert abs(found.mean - summary.mean[0]) < 4 * found.sampling_error
    assert found.sampling_error == pytest.approx(found.tie_std / 20)
    assert found.tie_std == pytest.approx(summary.tie_std[0], rel=0.25)
    assert summary.worst[0] <= found.min <= found.max <= summary.best[0]
    apart = np.abs(found.expected - report.expected[:, 0])
    assert (apart <= 4.5 * found.query_sampling_error + 1e-12).all()
    np.testing.assert_allclose(found.query_sampling_error, found.std / 20)
    assert (found.query_min >= report.worst[:, 0] - 1e-12).all()
    assert (found.query_max <= report.best[:, 0] + 1e-12).all()


def test_a_function_of_ones_own():
    calls = []

    def second(labels, scores):
        calls.append(len(labels))
        assert (np.diff(scores[np.isfinite(scores)]) < 0).all()
        assert np.isneginf(scores[len(scores) - (len(labels) == 4) :]).all()
        scores[:] = 0  # a copy
        return labels[1]

    labels, scores = [3, 1, 2, 5, 1, 0], [2, 1, 1, -math.inf, 2, 1]
    qid = ["a", "a", "a", "a", "b", "b"]
    found = sampled(labels, scores, second, qid=qid, n_orders=200)
    # no ties in b: once is enough
    assert Counter(calls) == {2: 1, 4: 200}
    assert found.query_min.tolist() == [1, 0]
    assert found.query_max.tolist() == [2, 0]
    assert found.query_sampling_error[1] == 0
    assert found.mean == pytest.approx(0.75, abs=4 * found.sampling_error)
    again = sampled(labels[::-1], scores[::-1], second, qid=qid[::-1], n_orders=200)
    assert again.mean == found.mean
    assert again.expected[::-1].tolist() == found.expected.tolist()
    row = str(found).splitlines()[-1].split()
    assert (row[0], row[-2:]) == ("second", ["200", "2"])


@pytest.mark.parametrize(("empty", "options", "mean"), [
    (0.0, {}, 3 / 8),
    (NAN, {}, 3 / 4),
    (1.0, {}, 7 / 8),
    (0.0, {"query_weight": [1, 1, 3, 3]}, 9 / 16),
])  # fmt: skip
def test_values_are_averaged_as_anywhere_else(empty, options, mean):
    labels, scores, qid = [0, 0, 1, 0], [1, 1, 1, 1], [1, 1, 2, 2]
    function, random = value_of("ap", empty), np.random.default_rng(0)
    options |= {"n_orders": 800, "random_state": random}
    found = sampled(labels, scores, function, qid=qid, **options)
    assert found.measure == "value"
    assert found.mean == pytest.approx(mean, abs=4 * found.sampling_error)
    left = 1 if math.isnan(empty) else 2
    assert str(found).split()[-1] == str(left)
    frame = found.to_pandas()
    assert frame["qid"].tolist() == [1, 2]
    np.testing.assert_array_equal(frame["expected"], found.expected)


@pytest.mark.slow
def test_averages_of_orders():
    # two queries have a value of 1 or 0.5, with equal chances; the third has 0.5
    given = {"qid": [1, 1, 2, 2, 3, 3], "n_orders": 4000}
    labels, scores = [1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 1, 2]
    cubes = [0.5, 0.25, 0.25, 0.125]
    wanted = {"macro": 2 / 3, "geometric": np.mean(np.cbrt(cubes)), "median": 0.625}
    for average, value in wanted.items():
        drawn = sampled(labels, scores, value_of("rr"), average=average, **given)
        assert drawn.mean == pytest.approx(value, abs=5 * drawn.sampling_error)


def test_what_is_undefined_or_unjudged():
    def unjudged(labels, scores):
        return float(np.isnan(labels).sum())

    given = [1, NAN, NAN], [1, 1, 1]
    assert sampled(*given, unjudged, unjudged="keep", n_orders=5).mean == 2
    assert sampled(*given, unjudged, unjudged="nonrelevant", n_orders=5).mean == 0

    def first(labels, scores):
        return labels[0] if labels.any() else NAN

    found = sampled([1, 1, 0], [1, 1, 1], first, qid=[1, 1, 2], n_orders=5)
    assert (found.mean, found.sampling_error) == (1, 0)
    assert np.isnan(found.expected[1])
    # orders and distributions, too
    taken = {"y_true": [1, NAN, 0], "y_score": [1, 1, 0], "unjudged": "nonrelevant"}
    orders = {tuple(rows) for rows in sample_orderings(**taken, n_orders=50)}
    assert orders == {(0, 1, 2), (1, 0, 2)}
    assert tie_distributions(**taken)[0].values.tolist() == [0.5, 1]


@pytest.mark.parametrize(("change", "message"), [
    ({"n_orders": 1}, "n_orders must be an integer >= 2, got 1"),
    ({"progress": 1}, "progress must be True or False, got 1"),
    ({"average": "micro"}, "average must be one of .* got 'micro'"),
    ({"score_func": 7}, "score_func must be a function .* got 7"),
    ({"score_func": "ap"}, "score_func must be a function .* got 'ap'"),
    ({"score_func": lambda labels, scores: "high"}, "finite .*'high' for query 1"),
    ({"score_func": lambda labels, scores: math.inf}, "finite .*got inf for query"),
    ({"score_func": lambda labels, scores: 1 if labels[0] else NAN},
     r"NaN for every order .* or for none, got NaN for \d+ of 1000 .*query 1"),
    ({"y_true": [NAN, 1]}, "y_true must be judged"),
    ({"random_state": "x"}, "random_state must be an integer from 0 .* got 'x'"),
])  # fmt: skip
def test_bad_input_of_samples(change, message):
    given = {
        "score_func": value_of("ap"),
        "y_true": [0, 1],
        "y_score": [1, 1],
        "qid": [1, 1],
    }
    with pytest.raises(ValueError, match=message):
        sampled(**{**given, **change})
