"""Rank-biased overlap of rankings with ties."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tieaware_sklearn.comparison import rank_biased_overlap
from tieaware_sklearn.comparison._overlap import (
    RankedLists,
    _tail,
    extreme_orders,
    mean_overlaps,
)

SCORES = st.sampled_from([-math.inf, 0.0, 0.0, 1.0, 2.0])
PAIRS = st.tuples(SCORES, SCORES)
PERSISTENCE = st.sampled_from([0.125, 0.5, 0.75])
DEPTHS = st.sampled_from([None, None, 1, 2, 3, 4, 9])


def one_query(first, second):
    """Both rankings and the number of their query, 0 throughout."""
    codes = np.zeros(len(first), dtype=np.int64)
    a, b = (RankedLists.of(np.array(s), codes, 1) for s in (first, second))
    return a, b


@settings(max_examples=100)
@given(st.lists(PAIRS, min_size=1, max_size=4), PERSISTENCE, DEPTHS)
def test_values_by_enumeration_of_both_orders(pairs, p, depth):
    first, second = map(tuple, zip(*pairs, strict=True))
    found = rank_biased_overlap(first, second, p=p, depth=depth)
    exact = Fraction(p)
    lengths = [sum(s != -math.inf for s in scores) for scores in (first, second)]
    assert found.n_retrieved.tolist() == [lengths]
    if not all(lengths):
        assert np.isnan([found.expected, found.best, found.worst]).all()
        assert np.isnan([found.minimum, found.residual, found.distance]).all()
        return
    extrapolated = functools.partial(naive.rbo_extrapolated, p=exact)
    values = naive.over_both_orders(extrapolated, first, second, depth)
    mean = float(sum(values) / len(values))
    assert found.expected[0] == pytest.approx(mean, abs=1e-13)
    assert found.worst[0] == pytest.approx(float(min(values)), abs=1e-13)
    assert found.best[0] == pytest.approx(float(max(values)), abs=1e-13)
    assert found.worst[0] <= found.expected[0] <= found.best[0]
    terms = math.ceil(math.log(1e-15, p))
    bounds = functools.partial(naive.rbo_bounds, p=exact, terms=terms)
    ends = naive.over_both_orders(bounds, first, second, depth)
    lowest = float(sum(low for low, _ in ends) / len(ends))
    assert found.minimum[0] == pytest.approx(lowest, abs=1e-13)
    residuals = {high - low for low, high in ends}
    if math.isnan(found.residual[0]):
        assert depth is not None
        assert depth < max(lengths)
    else:
        # the same in every order
        assert len(residuals) == 1
        assert found.residual[0] == pytest.approx(float(*residuals), abs=1e-13)
        assert found.expected[0] <= lowest + found.residual[0] + 1e-13
    assert found.minimum[0] <= found.expected[0] + 1e-13


@settings(max_examples=100)
@given(st.lists(PAIRS, min_size=1, max_size=5))
def test_overlaps_at_every_depth_by_enumeration(pairs):
    first, second = map(tuple, zip(*pairs, strict=True))
    a, b = one_query(first, second)
    longest = np.maximum(a.length, b.length)
    means = mean_overlaps(a, b, longest)
    ends = [
        mean_overlaps(*extreme_orders(a, b, best=best), longest)
        for best in (True, False)
    ]
    for d in range(1, longest[0] + 1):
        overlap = functools.partial(naive.prefix_overlap, d=d)
        values = naive.over_both_orders(overlap, first, second)
        mean = Fraction(sum(values), len(values))
        assert means[d - 1] == pytest.approx(float(mean), abs=1e-14)
        # one pair of orders is extreme at all depths
        assert ends[0][d - 1] == max(values)
        assert ends[1][d - 1] == min(values)


@pytest.mark.parametrize(("s", "length"), [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3)])
def test_the_greatest_overlap_is_that_of_some_pair_of_longer_lists(s, length):
    last = 4
    longer, new = tuple(range(length)), (10, 11, 12)
    for shorter in itertools.permutations(range(length + s), s):
        documents = {*shorter, *longer, *new}
        ways = [
            [
                (*known, *rest)
                for rest in itertools.permutations(
                    documents - set(known), last - len(known)
                )
            ]
            for known in (shorter, longer)
        ]
        overlaps = {
            tuple(len({*one[:d]} & {*other[:d]}) for d in range(1, last + 1))
            for one, other in itertools.product(*ways)
        }
        could = tuple(
            min(
                d,
                naive.prefix_overlap(shorter, longer, d)
                + max(d - s, 0)
                + max(d - length, 0),
            )
            for d in range(1, last + 1)
        )
        # one pair of lists has it at all depths, and none has more
        assert could in overlaps
        assert could == tuple(map(max, zip(*overlaps, strict=True)))


def test_four_documents_by_hand():
    # a b c d and a (b c) d: the overlap at rank 2 is 2 or 1
    found = rank_biased_overlap([4, 3, 2, 1], [4, 3, 3, 1], p=0.5)
    weights = [1 / 2, 1 / 4, 1 / 8, 1 / 16]
    missing = weights[1] * 1 / 2
    assert found.best[0] == 1
    assert found.worst[0] == 1 - missing
    assert found.expected[0] == 1 - missing / 2
    assert found.distance[0] == missing / 2
    # at ranks 5, 6, ... four documents of d agree at least, all of them at most
    beyond = sum(4 / d / 2**d for d in range(5, 60))
    lowest = sum(weights) - missing / 2 + beyond
    assert found.minimum[0] == pytest.approx(lowest, abs=1e-15)
    assert found.residual[0] == pytest.approx(1 / 16 - beyond, abs=1e-15)


def test_lists_of_other_lengths_by_hand():
    inf = math.inf
    # a b c and a: the shorter list goes on as it began, in full agreement
    found = rank_biased_overlap([3, 2, 1], [1, -inf, -inf], p=0.5)
    assert found.expected[0] == 1 / 2 * 1 + 1 / 4 * 2 / 2 + 1 / 8 * 3 / 3 + 1 / 8
    assert found.n_retrieved.tolist() == [[3, 1]]
    # a b c and b: no agreement at rank 1, one document from rank 2 on
    found = rank_biased_overlap([3, 2, 1], [-inf, 1, -inf], p=0.5)
    assert found.expected[0] == 1 / 4 * 1 / 2 + 1 / 8 * 1 / 3 + 1 / 8 * 1 / 3


# rbo_ext of rbo 0.1.3, from PyPI
@pytest.mark.parametrize(
    ("first", "second", "p", "expected"),
    [
        ("abcdefg", "zcavwxy", 0.9, 0.28821728571428573),
        ("abcde", "bacde", 0.9, 0.9),
        ("abcdef", "cab", 0.9, 0.855),
        ("ab", "bxyazc", 0.5, 0.27708333333333335),
        ("abcdefghij", "jihgfedcba", 0.98, 0.8780443726553534),
    ],
)
def test_another_package(first, second, p, expected):
    documents = sorted({*first, *second})
    scores = [
        [-ranking.index(d) if d in ranking else -math.inf for d in documents]
        for ranking in (first, second)
    ]
    found = rank_biased_overlap(*scores, p=p)
    assert found.expected[0] == pytest.approx(expected, abs=1e-12)
    assert found.best[0] == found.worst[0] == found.expected[0]


def test_numbers_of_other_types():
    found = rank_biased_overlap([1, 2], [1, 1], p=Fraction(1, 2), depth=np.int64(10**9))
    assert (found.p, found.depth) == (0.5, 10**9)
    beyond = rank_biased_overlap([1, 2], [1, 1], p=0.5, depth=10**30)
    assert found.expected[0] == beyond.expected[0] == 1 - 1 / 2 * 1 / 2


def test_a_ranking_and_itself():
    untied = rank_biased_overlap([3, 2, 1], [30, 20, 10])
    assert untied.expected[0] == untied.worst[0] == 1
    assert untied.distance[0] == 0
    tied = rank_biased_overlap([1, 1], [1, 1], p=0.5)
    # the first documents are the same in half of all pairs of orders
    assert tied.expected[0] == 1 - 1 / 2 * 1 / 2
    assert (tied.best[0], tied.worst[0]) == (1, 1 / 2)
    nothing = rank_biased_overlap([1, -math.inf], [-math.inf, 1])
    assert nothing.expected[0] == nothing.best[0] == nothing.minimum[0] == 0


@settings(max_examples=30)
@given(
    st.lists(st.tuples(SCORES, SCORES, st.integers(0, 3)), min_size=1, max_size=30),
    DEPTHS,
    st.randoms(use_true_random=False),
)
def test_rows_and_other_queries_do_not_matter(rows, depth, random):
    first, second, qid = map(list, zip(*rows, strict=True))
    names = ("expected", "worst", "best", "minimum", "residual", "n_retrieved")
    found = rank_biased_overlap(first, second, qid=qid, depth=depth)
    random.shuffle(rows)
    shuffled = rank_biased_overlap(
        *map(list, zip(*(row[:2] for row in rows), strict=True)),
        qid=[row[2] for row in rows],
        depth=depth,
    )
    swapped = rank_biased_overlap(second, first, qid=qid, depth=depth)
    place = {query: i for i, query in enumerate(shuffled.qid.tolist())}
    for i, query in enumerate(found.qid.tolist()):
        own = [j for j, other in enumerate(qid) if other == query]
        alone = rank_biased_overlap(
            [first[j] for j in own], [second[j] for j in own], depth=depth
        )
        for name in names:
            value = getattr(found, name)[i]
            again = getattr(shuffled, name)[place[query]]
            assert np.array_equal(value, again, equal_nan=True)
            assert np.array_equal(value, getattr(alone, name)[0], equal_nan=True)
            if name != "n_retrieved":
                other = getattr(swapped, name)[i]
                assert other == pytest.approx(value, abs=1e-14, nan_ok=True)
    summaries = found.summary(), shuffled.summary()
    for name in ("mean", "worst", "best", "minimum", "residual", "distance"):
        values = [getattr(summary, name) for summary in summaries]
        assert np.array_equal(*values, equal_nan=True)


def test_summary_and_data_frame():
    inf = math.inf
    found = rank_biased_overlap(
        [2, 1, 2, 2, 1], [1, 2, -inf, 1, 1], qid=list("aabcc"), p=0.5, depth=1
    )
    assert found.expected[:2].tolist() == pytest.approx([0, math.nan], nan_ok=True)
    # one of two tied documents is the first of the other ranking
    assert found.expected[2] == 1 / 2
    assert math.isnan(found.residual[2])
    summary = found.summary()
    found_means = [*summary.mean, *summary.best, *summary.distance]
    assert found_means == [1 / 4, 1 / 2, 3 / 4]
    assert summary.n_queries == 2
    assert math.isnan(summary.residual[0])
    assert str(found) == str(summary)
    assert "RBO(p=0.5)@1" in str(found)
    frame = found.to_pandas()
    assert frame["qid"].tolist() == list("abc")
    assert frame["n_retrieved_score"].tolist() == [2, 0, 2]
    assert frame["distance"][2] == 1 / 2
    assert summary.to_pandas()["mean"].tolist() == [1 / 4]


def test_huge_groups():
    n = 100_000
    rng = np.random.default_rng(0)
    tied, untied = np.zeros(n), rng.permutation(n)
    p = 0.999
    for first, second in ((tied, tied), (tied, untied)):
        # at depth d a document is among the first with probability d/n
        found = rank_biased_overlap(first, second, p=p)
        assert found.expected[0] == pytest.approx(1 / (1 - p) / n, rel=1e-12)
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
    found = _tail(np.array([above]), p)[0]
    ranks = np.arange(above + 1, above + 1 + math.ceil(45 / -math.log(p)))
    expected = (1 - p) * math.fsum((p ** (ranks - 1.0) / ranks).tolist())
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)
    if not above:
        assert found == pytest.approx(-(1 - p) / p * math.log1p(-p), rel=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_score": [1]}, r"y_score must have one value per row \(2\), got 1"),
        ({"y_true": [math.nan, 1]}, "y_true must not be NaN, got nan in row 0"),
        ({"y_score": [math.inf, 1]}, "y_score must be finite, or -inf"),
        ({"p": 1}, r"p must be a number in \(0, 1\), got 1"),
        ({"p": 0.0}, r"p must be a number in \(0, 1\), got 0.0"),
        ({"depth": 0}, "depth must be an integer >= 1, got 0"),
        ({"depth": 2.5}, "depth must be an integer >= 1, got 2.5"),
        ({"qid": [1, None]}, "qid must not be missing"),
        ({"y_true": [], "y_score": []}, "y_true must not be empty"),
    ],
)
def test_bad_input(options, message):
    given = {"y_true": [1, 2], "y_score": [2, 1], **options}
    with pytest.raises(ValueError, match=message):
        rank_biased_overlap(given.pop("y_true"), given.pop("y_score"), **given)
