"""Functions of the user's own, over sampled orders."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from tests.strategies import queries
from tieaware_sklearn import evaluate, sampled
from tieaware_sklearn.evaluation import sample_orderings, tie_distributions

NAN = math.nan


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
    # chi-squared with 5 degrees of freedom: 20.5 at 0.1 %
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 20.5


def test_orders_of_matrices_are_cells():
    labels, scores = [[1, 0, NAN], [0, 1, 0]], [[1, 2, NAN], [3, 2, 1]]
    (rows,) = sample_orderings(labels, scores, n_orders=1)
    assert rows.tolist() == [1, 0, 3, 4, 5]
    assert len([*sample_orderings([0, 1], [1, 1])]) == 1000


@pytest.mark.parametrize("measure", ["ap", "ndcg@5"])
def test_what_is_sampled_is_near_what_is_exact(engine, measure):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 100), rng.integers(0, 6, 100).astype(float)
    scores[rng.random(100) < 0.1] = -math.inf
    qid = rng.integers(0, 5, 100)
    report = evaluate(labels, scores, qid=qid, measures=measure)
    summary = report.summary()
    found = sampled(labels, scores, measure, qid=qid, n_orders=400, random_state=1)
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


@pytest.mark.parametrize(("options", "mean"), [
    ({}, 3 / 8),
    ({"zero_relevance": "skip"}, 3 / 4),
    ({"zero_relevance": 1.0}, 7 / 8),
    ({"query_weight": [1, 1, 3, 3]}, 9 / 16),
])  # fmt: skip
def test_a_measure_is_averaged_as_anywhere_else(options, mean):
    labels, scores, qid = [0, 0, 1, 0], [1, 1, 1, 1], [1, 1, 2, 2]
    options |= {"n_orders": 800, "random_state": np.random.default_rng(0)}
    found = sampled(labels, scores, "ap", qid=qid, **options)
    assert found.measure == "AP"
    assert found.mean == pytest.approx(mean, abs=4 * found.sampling_error)
    left = 1 if options.get("zero_relevance") == "skip" else 2
    assert str(found).split()[-1] == str(left)
    frame = found.to_pandas()
    assert frame["qid"].tolist() == [1, 2]
    np.testing.assert_array_equal(frame["expected"], found.expected)
    assert frame.columns[-2:].tolist() == ["min", "max"]


def test_what_is_undefined_or_unjudged():
    def unjudged(labels, scores):
        return float(np.isnan(labels).sum())

    given = [1, NAN, NAN], [1, 1, 1]
    assert sampled(*given, unjudged, unjudged="keep", n_orders=5).mean == 2
    assert sampled(*given, unjudged, unjudged="nonrelevant", n_orders=5).mean == 0
    # a measure knows itself which labels it takes
    assert 0 <= sampled(*given, "bpref", unjudged="keep", n_orders=5).mean <= 1

    def first(labels, scores):
        return labels[0] if labels.any() else NAN

    found = sampled([1, 1, 0], [1, 1, 1], first, qid=[1, 1, 2], n_orders=5)
    assert (found.mean, found.sampling_error) == (1, 0)
    assert np.isnan(found.expected[1])
    # and where all queries define it
    found = sampled([1, 0], [1, 1], "ap", zero_relevance="raise", n_orders=800)
    assert found.mean == pytest.approx(3 / 4, abs=4 * found.sampling_error)
    # orders and distributions, too
    taken = {"y_true": [1, NAN, 0], "y_score": [1, 1, 0], "unjudged": "nonrelevant"}
    orders = {tuple(rows) for rows in sample_orderings(**taken, n_orders=50)}
    assert orders == {(0, 1, 2), (1, 0, 2)}
    assert tie_distributions(**taken)[0].values.tolist() == [0.5, 1]


@pytest.mark.parametrize(("change", "message"), [
    ({"n_orders": 1}, "n_orders must be an integer >= 2, got 1"),
    ({"progress": 1}, "progress must be True or False, got 1"),
    ({"score_func": 7}, "score_func must be a function .* got 7"),
    ({"score_func": "xyzzy"}, "unknown measure 'xyzzy'"),
    ({"score_func": lambda labels, scores: "high"}, "finite .*'high' for query 1"),
    ({"score_func": lambda labels, scores: math.inf}, "finite .*got inf for query"),
    ({"score_func": lambda labels, scores: 1 if labels[0] else NAN},
     r"NaN for every order .* or for none, got NaN for \d+ of 1000 .*query 1"),
    ({"y_true": [NAN, 1]}, "y_true must be judged"),
    ({"y_true": [NAN, 1], "unjudged": "keep"}, "y_true must be judged"),
    ({"y_true": [0, 0], "zero_relevance": "raise"}, "AP is undefined for query 1"),
    ({"random_state": "x"}, "random_state must be an integer from 0 .* got 'x'"),
])  # fmt: skip
def test_bad_input(change, message):
    given = {"score_func": "ap", "y_true": [0, 1], "y_score": [1, 1], "qid": [1, 1]}
    with pytest.raises(ValueError, match=message):
        sampled(**{**given, **change})


def test_bad_input_of_orders_and_distributions():
    for function in (sample_orderings, tie_distributions):
        with pytest.raises(ValueError, match="y_true must be judged"):
            function([1, NAN], [1, 1])
    # checked when called, drawn when asked for
    with pytest.raises(ValueError, match="n_orders must be an integer >= 1, got 0"):
        sample_orderings([0, 1], [1, 1], n_orders=0)
