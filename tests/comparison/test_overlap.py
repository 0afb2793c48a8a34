"""Rank-biased overlap of rankings with ties."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn.comparison import rank_biased_overlap
from tieaware_sklearn.comparison._overlap import _tail

SCORES = st.sampled_from([-math.inf, 0.0, 0.0, 1.0, 2.0])
PERSISTENCE = st.sampled_from([0.125, 0.5, 0.75])
DEPTHS = st.sampled_from([None, None, 1, 2, 3, 4, 9])


@settings(max_examples=80)
@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=4), PERSISTENCE, DEPTHS)
def test_values_by_enumeration_of_both_orders(pairs, p, depth):
    first, second = map(tuple, zip(*pairs, strict=True))
    overlap = rank_biased_overlap(first, second, p=p, depth=depth)
    exact = Fraction(p)
    lengths = [sum(s != -math.inf for s in scores) for scores in (first, second)]
    assert overlap.n_retrieved.tolist() == [lengths]
    if not all(lengths):
        assert np.isnan([overlap.expected, overlap.best, overlap.worst]).all()
        assert np.isnan([overlap.minimum, overlap.residual]).all()
        return
    extrapolated = functools.partial(naive.rbo_extrapolated, p=exact)
    values = naive.over_both_orders(extrapolated, first, second, depth)
    terms = math.ceil(math.log(1e-15, p))
    bounds = functools.partial(naive.rbo_bounds, p=exact, terms=terms)
    ends = naive.over_both_orders(bounds, first, second, depth)
    lowest = float(sum(low for low, _ in ends) / len(ends))
    mean = float(sum(values) / len(values))
    assert overlap.expected[0] == pytest.approx(mean, abs=1e-13)
    assert overlap.worst[0] == pytest.approx(float(min(values)), abs=1e-13)
    assert overlap.best[0] == pytest.approx(float(max(values)), abs=1e-13)
    assert overlap.worst[0] <= overlap.expected[0] <= overlap.best[0]
    assert overlap.minimum[0] == pytest.approx(lowest, abs=1e-13)
    if depth is not None and math.isnan(overlap.residual[0]):
        assert depth < max(lengths)
        return
    # the same in every order
    (residual,) = {high - low for low, high in ends}
    assert overlap.residual[0] == pytest.approx(float(residual), abs=1e-13)


WITHOUT_TIES = [
    # rbo_ext of rbo 0.1.3, from PyPI
    ("abcdefg", "zcavwxy", 0.9, 0.28821728571428573),
    ("ab", "bxyazc", 0.5, 0.27708333333333335),
    ("abcdefghij", "jihgfedcba", 0.98, 0.8780443726553534),
]


@pytest.mark.parametrize(("first", "second", "p", "expected"), WITHOUT_TIES)
def test_lists_without_ties(first, second, p, expected):
    documents = sorted({*first, *second})
    scores = []
    for ranking in (first, second):
        places = {document: -place for place, document in enumerate(ranking)}
        scores.append([places.get(document, -math.inf) for document in documents])
    overlap = rank_biased_overlap(*scores, p=p)
    assert overlap.expected[0] == pytest.approx(expected, abs=1e-12)
    assert overlap.best[0] == overlap.worst[0] == overlap.expected[0]
    assert overlap.distance[0] == 1 - overlap.expected[0]


def test_numbers_of_other_types_and_the_default():
    half, deep = Fraction(1, 2), np.int64(10**9)
    overlap = rank_biased_overlap([1, 2], [1, 1], p=half, depth=deep)
    assert overlap.p == 0.5
    assert overlap.depth == 10**9
    beyond = rank_biased_overlap([1, 2], [1, 1], p=0.5, depth=10**30)
    # the first document is the same in half of all orders
    assert overlap.expected[0] == beyond.expected[0] == 1 - 1 / 2 * 1 / 2
    assert overlap.best[0] == 1
    assert overlap.worst[0] == 1 / 2
    usual = rank_biased_overlap([1, 2], [2, 1])
    assert usual.p == 0.9
    assert usual.depth is None


def test_tables_and_frames():
    first, second = [2, 1, 2, 2, 1], [1, 2, -math.inf, 1, 1]
    overlap = rank_biased_overlap(first, second, qid=list("aabcc"), p=0.5, depth=1)
    # one of two tied documents is the first of the other ranking
    assert overlap.expected.tolist() == pytest.approx([0, math.nan, 1 / 2], nan_ok=True)
    assert math.isnan(overlap.residual[2])
    summary = overlap.summary()
    assert summary.mean.tolist() == [1 / 4]
    assert summary.best.tolist() == [1 / 2]
    assert summary.distance.tolist() == [3 / 4]
    assert summary.n_queries == 2
    assert math.isnan(summary.residual[0])
    assert summary.to_pandas()["mean"].tolist() == [1 / 4]
    assert "RBO(p=0.5)@1" in str(overlap) == str(summary)
    frame = overlap.to_pandas()
    assert frame["qid"].tolist() == list("abc")
    assert frame["n_retrieved_score"].tolist() == [2, 0, 2]
    assert frame["distance"][2] == 1 / 2


ROWS = st.tuples(SCORES, SCORES, st.integers(0, 3))


def overlap_of(rows, depth):
    first, second, qid = map(list, zip(*rows, strict=True))
    return rank_biased_overlap(first, second, qid=qid, depth=depth)


@settings(max_examples=20)
@given(
    st.lists(ROWS, min_size=1, max_size=30), DEPTHS, st.randoms(use_true_random=False)
)
def test_rows_and_other_queries_do_not_matter(rows, depth, random):
    overlap = overlap_of(rows, depth)
    shuffled = overlap_of(random.sample(rows, len(rows)), depth)
    swapped_rows = [(second, first, query) for first, second, query in rows]
    swapped = overlap_of(swapped_rows, depth)
    place = {query: i for i, query in enumerate(shuffled.qid.tolist())}
    for i, query in enumerate(overlap.qid.tolist()):
        rows_of_query = [row for row in rows if row[2] == query]
        alone = overlap_of(rows_of_query, depth)
        for name in ("expected", "worst", "best", "minimum", "residual", "n_retrieved"):
            value = getattr(overlap, name)[i]
            np.testing.assert_equal(value, getattr(shuffled, name)[place[query]])
            np.testing.assert_equal(value, getattr(alone, name)[0])
            mirrored = np.flip(getattr(swapped, name)[i])
            assert mirrored == pytest.approx(value, abs=1e-14, nan_ok=True)
    np.testing.assert_equal(overlap.summary().columns, shuffled.summary().columns)


def test_huge_groups():
    n = 100_000
    rng = np.random.default_rng(0)
    tied, untied = np.zeros(n), rng.permutation(n)
    p = 0.999
    for first, second in ((tied, tied), (tied, untied)):
        # at depth d a document is among the first with probability d/n
        result = rank_biased_overlap(first, second, p=p)
        assert result.expected[0] == pytest.approx(1 / (1 - p) / n, rel=1e-12)
    coarse = rank_biased_overlap(untied // 1000, untied, p=p)
    # ranks d of the top group are shared by chance: d²/1000
    d = np.arange(1, n + 1)
    inside = (d - 1) % 1000 + 1
    overlap = d - inside + inside**2 / 1000
    expected = math.fsum((1 - p) * p ** (d - 1.0) * overlap / d) + p**n
    assert coarse.expected[0] == pytest.approx(expected, abs=1e-13)
    assert coarse.best[0] == 1


@pytest.mark.parametrize("p", [0.01, 0.3, 0.55, 0.8, 0.98, 0.9999])
@pytest.mark.parametrize("above", [0, 1, 10, 1000])
def test_the_tail_of_the_series(p, above):
    tail = _tail(np.array([above]), p)[0]
    n_terms = math.ceil(45 / -math.log(p))
    ranks = above + 1 + np.arange(n_terms)
    terms = p ** (ranks - 1.0) / ranks
    expected = (1 - p) * math.fsum(terms.tolist())
    assert tail == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("p", [0.01, 0.3, 0.55, 0.8, 0.98, 0.9999])
def test_the_whole_series_is_a_logarithm(p):
    tail = _tail(np.array([0]), p)[0]
    expected = -(1 - p) / p * math.log1p(-p)
    assert tail == pytest.approx(expected, rel=1e-14)


BAD_INPUT = [
    ({"p": 1}, r"p must be .*\(0, 1\), got 1"),
    ({"p": 0.0}, r"p must be .*\(0, 1\), got 0.0"),
    ({"depth": 0}, "depth must be .*>= 1, got 0"),
    ({"qid": [1]}, "qid must have one value per row"),
    ({"y_score": []}, "y_(score|true) must (not be empty|have one value per row)"),
    ({"y_score": [1]}, r"y_score must have one value per row \(2\), got 1"),
    ({"y_true": [math.nan, 1]}, "y_true must not be NaN, got nan in row 0"),
    ({"y_score": [math.inf, 1]}, "y_score must be finite or -inf"),
]


@pytest.mark.parametrize(("change", "message"), BAD_INPUT)
def test_bad_input(change, message):
    arguments = {"y_true": [1, 2], "y_score": [1, 2], **change}
    with pytest.raises(ValueError, match=message):
        rank_biased_overlap(**arguments)
