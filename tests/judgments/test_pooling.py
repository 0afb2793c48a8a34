"""Pools, and votes of systems."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware_sklearn.judgments import depth_pool, pseudo_relevance


def run(*rows):
    qid, docno, score = (list(column) for column in zip(*rows, strict=True))
    return {"qid": qid, "docno": docno, "score": score}


SCORES = st.sampled_from([-math.inf, 0.0, 1.0, 1.0, 2.0])


@settings(max_examples=40)
@given(
    scores=st.lists(st.lists(SCORES, min_size=4, max_size=4), min_size=1, max_size=2),
    depth=st.integers(1, 5),
)
def test_pools_equal_enumeration(scores, depth):
    documents = "abcd"
    runs, outcomes = [], []
    for own in scores:
        runs.append(run(*((1, d, s) for d, s in zip(documents, own, strict=True))))
        worth = dict(zip(documents, own, strict=True))
        retrieved = [d for d in documents if worth[d] > -math.inf]
        orders = itertools.permutations(retrieved)
        outcomes.append(
            [
                o[:depth]
                for o in orders
                if [*o] == sorted(o, key=worth.get, reverse=True)
            ]
        )
    pools = [set(itertools.chain(*chosen)) for chosen in itertools.product(*outcomes)]
    pool = depth_pool(runs, depth)
    found = dict(zip(pool.docno.tolist(), pool.probability.tolist(), strict=True))
    for document in documents:
        chance = Fraction(sum(document in p for p in pools), len(pools))
        assert found.get(document, 0) == pytest.approx(float(chance))
    sizes = [len(p) for p in pools]
    assert pool.expected_size == pytest.approx(sum(sizes) / len(sizes))
    sure, possible = pool.size_range
    assert sure <= min(sizes)
    assert max(sizes) <= possible


def test_pools_of_interleaved_queries_are_those_of_each():
    rng = np.random.default_rng(0)
    qid, score = rng.integers(0, 5, 100), rng.integers(0, 8, 100)
    columns = {"qid": qid, "docno": np.array([f"d{i:03}" for i in range(100)])}
    columns["score"] = score
    pool = depth_pool([columns], depth=3)
    first_seen = list(dict.fromkeys(qid.tolist()))
    assert list(dict.fromkeys(pool.qid.tolist())) == first_seen
    for query in first_seen:
        own = pool.qid == query
        part = {name: values[qid == query] for name, values in columns.items()}
        alone = depth_pool([part], depth=3)
        assert pool.docno[own].tolist() == alone.docno.tolist()
        assert pool.probability[own].tolist() == alone.probability.tolist()
    assert pool.expected_size == pytest.approx(15)
    assert "depth 3" in str(pool)


def test_what_is_certain_is_in_the_pool_in_any_order():
    tied = run(*((1, document, 1) for document in "abcdefghij"))
    pool = depth_pool([tied] * 17, 9)
    assert pool.size_range == (0, 10)
    assert (pool.probability > 1 - 1e-15).all()
    pool = depth_pool([tied, run((1, "a", 3))], 9)
    assert pool.certain.sum() == 1
    assert list(pool.to_pandas().columns)[:2] == ["qid", "docno"]


def test_votes():
    runs = [
        run(("q", "a", 2), ("q", "b", 1), ("p", "z", 1)),
        run(("q", "b", 5), ("q", "a", -math.inf), ("q", "c", 4)),
        run(("q", "b", 5), ("q", "c", 4)),
    ]
    votes = pseudo_relevance(runs, m=1)
    assert votes.qid.tolist() == ["q", "q", "q", "p"]
    assert votes.docno.tolist() == ["a", "b", "c", "z"]
    assert votes.n_runs.tolist() == [1, 3, 2, 1]
    assert votes.target.tolist() == [0, 1, 1, 0]
    table = votes.to_pandas()
    assert table.columns.tolist() == ["qid", "docno", "target", "n_runs"]
    assert table["target"].sum() == 2
    assert str(votes).splitlines()[-1].split() == ["2", "4", "2"]
    assert pseudo_relevance(runs, m=2).target.tolist() == [0, 1, 0, 0]


ONE = run(("q", "a", 1))


@pytest.mark.parametrize(
    ("function", "runs", "number", "message"),
    [
        (depth_pool, [], 5, "runs must be a sequence of at least one run"),
        (depth_pool, ONE, 5, "runs must be a sequence of at le"),
        (depth_pool, [{"qid": [1]}], 5, r"runs\[0\] must have qid, docno and"),
        (depth_pool, [ONE], 0, "depth must be an integer >= 1, got 0"),
        (depth_pool, [run(("q", "a", 1), ("q", "a", 2))], 5, r"runs\[0\] .* each "
         "document .* once, got 'a' twice for query 'q'"),
        (depth_pool, [run(("q", "a", math.nan))], 5, r"\[0\] score must not be NaN"),
        (depth_pool, [ONE, run(("q", 7, 1))], 5, "docno of runs must hold numbers on"),
        (pseudo_relevance, [ONE], 1, r"m must be below .* runs \(1\), got 1"),
        (pseudo_relevance, [ONE], -1, "m must be an integer >= 0, got -1"),
    ],
)  # fmt: skip
def test_bad_runs(function, runs, number, message):
    with pytest.raises(ValueError, match=message):
        function(runs, **{"depth" if function is depth_pool else "m": number})
