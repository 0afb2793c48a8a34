"""Queries sorted as rows give what the simple way gives, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.instances import MEASURES
from tests.strategies import LABELS, SCORES
from tieaware_sklearn._engine import row_sort
from tieaware_sklearn._engine.row_sort import Reach, descending_floats
from tieaware_sklearn._engine.validation import check_qid
from tieaware_sklearn._kernel.engines import use_engine
from tieaware_sklearn.evaluation import _row_blocks
from tieaware_sklearn.evaluation._labelled_queries import LabelledQueries
from tieaware_sklearn.measures._parse import parse_measures

STATISTICS = ("expected", "best", "worst", "std", "normaliser")


def simple_values(labels, scores, qid, measures, **options):
    """The simple version alone: one flat sort, nothing left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_blocks, "find_row_ties", lambda *_, **__: None)
        return row_values(labels, scores, qid, measures, **options)


def row_values(labels, scores, qid, measures, **options):
    queries = check_qid(qid, n_rows=len(labels))
    with use_engine("numpy"):
        blocks = LabelledQueries(np.asarray(labels, dtype=float), queries)
    return blocks.values(measures, scores, statistics=STATISTICS, **options)


def assert_same(a, b):
    for name in STATISTICS:
        assert np.array_equal(a[name], b[name], equal_nan=True), name


@st.composite
def long_queries(draw):
    """Few queries of up to 60 documents: cut-offs leave documents out."""
    n = draw(st.integers(1, 90))
    near = st.sampled_from([0.1, 0.1 + 2**-56, 0.1 + 2**-55, 0.3, 0.1 + 0.2, -0.1])
    scores = st.lists(st.one_of(SCORES, near), min_size=n, max_size=n)
    labels = st.lists(LABELS, min_size=n, max_size=n)
    qid = st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(scores)), np.array(draw(qid))


@settings(max_examples=60)
@given(case=long_queries(), ascending=st.booleans(), input_order=st.booleans())
def test_all_measures_to_the_bit(case, ascending, input_order):
    labels, scores, qid = case
    options = {"ascending": ascending, "input_order": input_order}
    found = row_values(labels, scores, qid, MEASURES, **options)
    assert_same(found, simple_values(labels, scores, qid, MEASURES, **options))


@settings(max_examples=20)
@given(case=long_queries(), input_order=st.booleans())
def test_what_is_out_of_reach_changes_no_bit(case, input_order):
    labels, scores, qid = case
    options = {"input_order": input_order}
    everything = row_values(labels, scores, qid, MEASURES, **options)
    for j, measure in enumerate(MEASURES):
        alone = row_values(labels, scores, qid, [measure], **options)
        for name in STATISTICS:
            assert np.array_equal(
                alone[name][:, 0], everything[name][:, j], equal_nan=True
            ), (measure, name)


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32"],
)
@pytest.mark.parametrize("names", [["ndcg@3", "rr"], ["ap", "p@5"]])
def test_scores_of_any_dtype(dtype, names):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 60, size=3000).astype(dtype)
    labels, qid = rng.integers(0, 5, size=3000), rng.integers(0, 40, size=3000)
    measures = parse_measures(names)
    found = row_values(labels, scores, qid, measures)
    assert_same(found, simple_values(labels, scores, qid, measures))
    strided = np.repeat(scores, 2)[::2]
    assert_same(found, row_values(labels, strided, qid, measures))


def test_integers_that_floats_cannot_hold():
    big = 2**62
    scores = np.array([big, big + 1, big + 2, big + 1])
    measures = parse_measures(["rr", "ap"])
    assert descending_floats(scores, None, False, 0) is None
    found = row_values([0, 0, 1, 0], scores, None, measures)
    assert found["expected"].tolist() == [[1, 1]]
    unsigned = scores.astype(np.uint64) * 2
    found = row_values([0, 0, 1, 0], unsigned, None, measures)
    assert found["expected"].tolist() == [[1, 1]]


def test_scores_apart_by_their_last_bit():
    # the label stands in the last bits while they are sorted
    one = np.nextafter(1.0, 2)
    found = row_values([0, 1], np.array([1.0, one]), None, parse_measures(["rr", "ap"]))
    assert found["expected"].tolist() == [[1, 1]]
    found = row_values([0, 1], np.array([one, one]), None, parse_measures(["rr", "ap"]))
    assert found["expected"].tolist() == [[0.75, 0.75]]
    rng = np.random.default_rng(1)
    scores = 1 + rng.integers(0, 9, size=5000) * 2.0**-52
    labels, qid = rng.integers(0, 5, size=5000), rng.integers(0, 50, size=5000)
    measures = parse_measures(["ap", "ndcg", "bpref", "err(max_label=4)"])
    found = row_values(labels, scores, qid, measures)
    assert_same(found, simple_values(labels, scores, qid, measures))


WHOLE = st.integers(-(2**25), 2**25).map(float)
EDGES = [0.0, -0.0, 1.0, 1.5, 2.0**20 + 1, 2.0**21 + 1, 2.0**24 - 1, 2.0**24 + 1]
EDGES += [3e38, 4e38, -4e38, 2.0**-126, 2.0**-149, 2.0**-149 * 1.5, 1e-300, -math.inf]
AT_THE_EDGE = st.sampled_from(EDGES)


@settings(max_examples=60)
@given(
    scores=st.lists(st.one_of(st.integers(0, 9).map(float), WHOLE), min_size=1)
    | st.lists(AT_THE_EDGE, min_size=1),
    ascending=st.booleans(),
    input_order=st.booleans(),
)
def test_scores_in_32_bits(scores, ascending, input_order):
    scores = np.array(scores)
    labels = np.random.default_rng(0).integers(0, 5, size=len(scores))
    measures = parse_measures(["ndcg@2", "ap", "rr", "p@1"])
    options = {"ascending": ascending, "input_order": input_order}
    found = row_values(labels, scores, None, measures, **options)
    assert_same(found, simple_values(labels, scores, None, measures, **options))


def test_which_scores_32_bits_hold():
    def width(*scores, spare=3, dtype=float):
        values = descending_floats(np.array([scores], dtype), None, False, spare)
        return 8 * values.itemsize

    assert width(0, 5, 2**21 - 1) == 32
    # 24 bits, of which three are to be free
    assert width(0, 5, 2**21 + 1) == 64
    assert width(0, 5, 2**21 + 1, spare=0) == 32
    assert width(0.5, -0.25, -math.inf) == 32
    assert width(0.1) == width(1e300) == width(2.0**-149 * 1.5) == 64
    assert width(1, 2, dtype=np.int8) == width(1, 2, dtype=np.int64) == 32
    assert width(2**30 + 1, dtype=np.int32) == 64


def test_keys_that_32_bits_do_not_hold():
    n = 70_000
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 3, size=n), rng.permutation(n)
    qid = np.repeat(np.arange(n // 2), 2)
    measures = parse_measures(["ap", "ndcg"])
    found = row_values(labels, scores, qid, measures)
    assert_same(found, simple_values(labels, scores, qid, measures))


def test_two_zeros_are_one():
    for ascending in (False, True):
        found = row_values(
            [0, 1], np.array([0.0, -0.0]), None, MEASURES[:1], ascending=ascending
        )
        same = row_values([0, 1], np.zeros(2), None, MEASURES[:1], ascending=ascending)
        assert_same(found, same)


def test_more_labels_than_a_byte_holds():
    rng = np.random.default_rng(2)
    labels = rng.random(4000) * 30
    scores, qid = rng.integers(0, 9, size=4000), rng.integers(0, 9, size=4000)
    measures = parse_measures(["ndcg(gain=linear)@5", "cg", "ap(rel=20)"])
    found = row_values(labels, scores, qid, measures)
    assert_same(found, simple_values(labels, scores, qid, measures))


def test_few_documents_are_kept_of_long_lists(monkeypatch):
    kept = []
    inner = row_sort._reached

    def watched(key, *arguments):
        found, scattered = inner(key, *arguments)
        kept.append(found.size if scattered is None else len(scattered))
        return found, scattered

    monkeypatch.setattr(row_sort, "_reached", watched)
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, size=9000), rng.normal(size=9000)
    qid = np.repeat(np.arange(30), 300)
    row_values(labels, scores, qid, parse_measures(["ndcg@10", "p@3"]))
    # a tie in reach makes the rows a little wider
    scores[:30] = 9.0
    row_values(labels, scores, qid, parse_measures(["ndcg@10", "p@3"]))
    assert kept == [600, 900]
    row_values(labels, scores, qid, parse_measures(["rr", "rr(rel=2)"]))
    assert len(kept) == 3
    assert kept[2] < 600
    row_values(labels, scores, qid, parse_measures(["ndcg@10", "ap"]))
    assert len(kept) == 3


def test_reach_of_measures():
    reaches = [
        measure.reach
        for measure in parse_measures(
            [
                "ndcg@10",
                "rr",
                "rr(rel=2)",
                "rr@3",
                "ap",
                "P(denominator=retrieved)@5",
                "p",
            ]
        )
    ]
    assert reaches == [
        Reach(10),
        Reach(rel=1.0),
        Reach(rel=2.0),
        Reach(3),
        *[Reach()] * 3,
    ]


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("width", [0, 3])
def test_packed_keys(itemsize, width):
    keys = row_sort.PackedKeys(width, itemsize)
    # of 32-bit floats keys have all bits
    values = np.array([-math.inf, -1e30, -2.0, -0.5, 0.0, 0.5, 2.0, 1e30, math.inf])
    values = values.astype(f"f{itemsize}")
    bits = values.view(keys.dtype)
    bits &= ~keys.low
    for minor in (0, keys.low):
        key = keys.pack(values, np.full(len(values), minor))
        assert key.dtype == keys.dtype
        assert (np.diff(key) > 0).all()
        assert (key >= keys.beyond).tolist() == np.isposinf(values).tolist()
        assert (key > keys.lowest).all()
        score, found = keys.unpack(key, np.dtype(np.uint8))
        assert len(np.unique(score)) == len(values)
        assert (found == minor).all()
    assert not keys.lose(values)
    bits[2] |= keys.low
    rows = keys.lose(values.reshape(3, 3), axis=1)
    assert rows.tolist() == [width > 0, False, False]
