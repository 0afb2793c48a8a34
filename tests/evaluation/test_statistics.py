"""Labels prepared once: what ties, for scores of any dtype, by both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware_sklearn._engine.checks import check_qid
from tieaware_sklearn._kernel.engines import compiled, use_engine
from tieaware_sklearn.evaluation._statistics import LabelledQueries, deepest
from tieaware_sklearn.measures._parse import parse_measures

ENGINES = ["numpy", "compiled"] if compiled else ["numpy"]
both_engines = pytest.mark.parametrize("engine", ENGINES)


def expected(engine, labels, scores, qid, names, **options):
    queries = check_qid(qid, n_rows=len(labels))
    with use_engine(engine):
        blocks = LabelledQueries(np.asarray(labels, dtype=float), queries)
        found = blocks.values(parse_measures(names), scores, **options)
    return found["expected"]


@both_engines
@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32"],
)
@pytest.mark.parametrize("names", [["ndcg@3", "rr"], ["ap", "p@5"]])
def test_scores_of_any_dtype(engine, dtype, names):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 60, size=3000)
    labels, qid = rng.integers(0, 5, size=3000), rng.integers(0, 40, size=3000)
    found = expected(engine, labels, scores.astype(dtype), qid, names)
    same = expected(engine, labels, scores.astype(float), qid, names)
    assert np.array_equal(found, same)
    strided = np.repeat(scores.astype(dtype), 2)[::2]
    assert np.array_equal(found, expected(engine, labels, strided, qid, names))


@both_engines
def test_integers_that_floats_cannot_hold(engine):
    big = 2**62
    scores = np.array([big, big + 1, big + 2, big + 1])
    for whole in (scores, scores.astype(np.uint64) * 2):
        found = expected(engine, [0, 0, 1, 0], whole, None, ["rr", "ap"])
        assert found.tolist() == [[1, 1]]


@both_engines
def test_scores_apart_by_their_last_bit(engine):
    one = np.nextafter(1.0, 2)
    found = expected(engine, [0, 1], np.array([1.0, one]), None, ["rr", "ap"])
    assert found.tolist() == [[1, 1]]
    found = expected(engine, [0, 1], np.array([one, one]), None, ["rr", "ap"])
    assert found.tolist() == [[0.75, 0.75]]


@both_engines
@pytest.mark.parametrize("ascending", [False, True])
def test_two_zeros_are_one(engine, ascending):
    zeros = np.array([0.0, -0.0])
    found = expected(engine, [0, 1], zeros, None, ["rr"], ascending=ascending)
    assert found.tolist() == [[0.75]]


def test_the_deepest_of_measures():
    assert deepest(parse_measures(["ndcg@10", "rr@3", "p@5"])) == 10
    assert deepest(parse_measures(["ndcg@10", "ap"])) is None
    assert deepest(parse_measures(["rr"])) is None
