"""Values of a system in drawn and in all orders of its ties."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests import naive
from tests.strategies import queries
from tieaware_sklearn.comparison import _orders
from tieaware_sklearn.comparison._orders import OrderValues
from tieaware_sklearn.comparison._systems import MeasuredSystems
from tieaware_sklearn.measures import parse_measure

PLAIN = {
    "ap": naive.average_precision(),
    "p@2": naive.precision(2),
    "rr": naive.reciprocal_rank(),
    "ndcg@3": naive.ndcg(3),
    "esl": naive.search_length(),
}


def values_of(labels, scores, qid, names=tuple(PLAIN), seed=(0, 0)):
    systems = MeasuredSystems(
        labels, scores, qid, [parse_measure(name) for name in names], 0.0, "raise", None
    )
    found = systems.all_values(("best", "worst"))
    found = {name: values[..., 0] for name, values in found.items()}
    return OrderValues(systems, 0, found, seed)


def by_definition(labels, scores, qid, name):
    """How often each tuple of values of the queries, by id, occurs."""
    plain = PLAIN[name]
    often = collections.Counter()
    every = naive.joint_orders(labels, qid, scores)
    for order in every:
        values = [plain(*order[query]) for query in sorted(order)]
        # a query that is undefined has the value 0, or none
        empty = math.nan if name == "esl" else 0.0
        often[tuple(round(float(empty if v is None else v), 9) for v in values)] += (
            1 / len(every)
        )
    return often


def rounded(values):
    return [tuple(np.round(row, 9).tolist()) for row in values]


def comparable(often):
    """NaN as a text, for it is not equal to itself."""
    found = collections.Counter()
    for key, share in often.items():
        found[str(key)] += share
    return found


@settings(max_examples=60)
@given(queries(max_queries=3, max_documents=4))
def test_all_orders_as_in_the_definition(case):
    labels, scores, qid = case
    assume(len(naive.joint_orders(labels, qid, scores)) <= 300)
    values = values_of(labels, scores, qid)
    every, drawn = values.enumerated(300), values.draw(20)
    for m, name in enumerate(PLAIN):
        expected = comparable(by_definition(labels, scores, qid, name))
        found = collections.Counter(rounded(every[m]))
        shares = {key: n / every.shape[1] for key, n in found.items()}
        assert comparable(shares) == pytest.approx(expected), name
        assert {str(row) for row in rounded(drawn[m])} <= expected.keys(), name


def test_orders_are_drawn_evenly():
    labels, scores = [2, 1, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 0, 5]
    qid = [1, 1, 1, 1, 1, 2, 2]
    drawn = values_of(labels, scores, qid, seed=(7, 0)).draw(4000)
    for m, name in enumerate(PLAIN):
        expected = comparable(by_definition(labels, scores, qid, name))
        found = comparable(collections.Counter(rounded(drawn[m])))
        assert found.keys() == expected.keys(), name
        for key, share in expected.items():
            error = math.sqrt(share * (1 - share) / 4000)
            assert abs(found[key] / 4000 - share) <= 4 * error, name


def test_more_orders_than_asked_for():
    labels, scores, qid = [1, 0, 0, 1, 0], [1] * 5, [1] * 5
    values = values_of(labels, scores, qid)
    assert values.enumerated(9) is None
    assert values.enumerated(10).shape == (5, 10, 1)
    # a million documents, with more orders than a float can count
    many = values_of(np.arange(10**6) % 2, np.zeros(10**6), np.ones(10**6), ["p@10"])
    assert many.enumerated(10**6) is None


def test_orders_do_not_depend_on_measures_or_batches(monkeypatch):
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    qid = rng.integers(0, 9, 90)
    both = values_of(labels, scores, qid, ["p@1", "ap"])
    alone = values_of(labels, scores, qid, ["p@1"])
    found = both.draw(30)
    assert np.array_equal(found[:1], alone.draw(30))
    monkeypatch.setattr(_orders, "_CELLS", 200)
    small = values_of(labels, scores, qid, ["p@1", "ap"])
    assert np.array_equal(
        found, np.concatenate([small.draw(7), small.draw(23)], axis=1)
    )
    other = values_of(labels, scores, qid, ["p@1", "ap"], seed=(0, 1))
    assert not np.array_equal(found, other.draw(30))


def test_only_open_queries_vary():
    # the tie of query 1 is below the cut-off, that of query 2 of equal labels
    labels, scores = [1, 0, 0, 1, 1, 0, 1], [9, 8, 1, 1, 5, 5, 5]
    qid = [1, 1, 1, 1, 2, 3, 3]
    values = values_of(labels, scores, qid, ["p@2", "p@1", "ap"])
    assert values.varies.tolist() == [
        [False, False, False],
        [False, False, True],
        [True, False, True],
    ]
    shallow = values_of(labels[:5], scores[:5], qid[:5], ["p@2"])
    assert shallow.enumerated(1).tolist() == [[[0.5, 0.5]]]
    assert shallow.draw(2).tolist() == [[[0.5, 0.5]] * 2]


def test_documents_without_relevance_that_are_not_retrieved():
    rng = np.random.default_rng(2)
    labels, qid = rng.integers(0, 2, 200), rng.integers(0, 8, 200)
    scores = np.where(rng.random(200) < 0.3, rng.integers(0, 3, 200), -np.inf)
    names = ["ap", "fallout@5", "bpref", "p@5", "ndcg"]
    together = values_of(labels, scores, qid, names)
    found = together.draw(10)
    for m, name in enumerate(names):
        alone = values_of(labels, scores, qid, [name])
        assert np.array_equal(found[m], alone.draw(10)[0]), name
    # Fallout and BPref count them
    measures = [numbers for numbers, _ in together._parts]
    assert measures == [[0, 3, 4], [1, 2]]
    rows = [len(part.scores) for _, part in together._parts]
    assert rows[0] < rows[1] == 200
