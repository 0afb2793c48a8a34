"""Tie groups and segments against loops; sums that merge."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.strategies import queries
from tieaware_sklearn._engine import segments
from tieaware_sklearn._engine.merging import (
    AddedUp,
    gather,
    other_features,
    other_options,
)
from tieaware_sklearn._engine.tie_groups import all_tied, dense_ranks, find_ties

GAINS = [
    np.arange(5.0),
    2.0 ** np.arange(5) - 1,
    np.array([0, 0.1, 0.1, 0.7, 1e-3]),
    np.zeros(5),
    2.0**53 * np.arange(5.0),
    np.array([3.0, 2.0, 1.0, 0.5, 0.25]),
]


def plain_groups(labels, scores, qid, input_order=False):
    """(query, documents above, labels in the group's order) of each group."""
    found = []
    for query in sorted(set(qid)):
        rows = [i for i, q in enumerate(qid) if q == query]
        kept = [i for i in rows if scores[i] != -np.inf]
        above = 0
        for score in sorted({scores[i] for i in kept}, reverse=True):
            tied = [int(labels[i]) for i in kept if scores[i] == score]
            parts = [[y] for y in tied] if input_order else [sorted(tied)]
            for part in parts:
                found.append((query, above, part))
                above += len(part)
    return found


def block_of(labels, scores, qid, input_order=False, dtype=np.int64):
    """The same by the engine, and the queries by number."""
    names, query = np.unique(qid, return_inverse=True)
    order = np.argsort(query, kind="stable")
    label, query = np.asarray(labels, dtype)[order], query[order]
    score = np.asarray(scores, float)[order]
    everything = all_tied(np.bincount(query), label, np.arange(5.0))
    way = {"retrieved": score != -np.inf, "input_order": input_order}
    return find_ties(query, dense_ranks(-score)[0], label, everything, **way), [*names]


def labels_of(groups):
    return np.split(groups.label, groups.start[1:]) if len(groups.start) else []


@given(queries(), st.booleans(), st.sampled_from([np.uint8, np.int64]))
def test_groups_stand_as_the_scores_say(rows, input_order, dtype):
    labels, _, qid = rows
    plain = plain_groups(*rows, input_order)
    groups, names = block_of(*rows, input_order, dtype)
    assert [names[q] for q in groups.query] == [q for q, *_ in plain]
    assert_array_equal(groups.lo, [lo for _, lo, _ in plain])
    assert [list(part) for part in labels_of(groups)] == [part for *_, part in plain]
    assert_array_equal(groups.hi, [lo + len(part) for _, lo, part in plain])
    assert groups.untied == all(len(part) == 1 for *_, part in plain)
    assert groups.mixed == any(len(set(part)) > 1 for *_, part in plain)
    retrieved = [sum(len(part) for q, _, part in plain if q == n) for n in names]
    assert_array_equal(groups.retrieved, retrieved)
    everything = groups.everything
    assert everything.everything is everything
    assert [list(part) for part in labels_of(everything)] == [
        sorted(y for y, q in zip(labels, qid, strict=True) if q == n) for n in names
    ]
    assert everything.label.dtype == dtype


@given(queries(), st.integers(1, 14))
def test_counts_of_groups_and_documents(rows, k):
    plain = plain_groups(*rows)
    groups, names = block_of(*rows)
    of_query = np.arange(len(names)) % 3 + k
    for cut, depth in (
        (None, [99 for _ in plain]),
        (k, [k for _ in plain]),
        (2**70, [99 for _ in plain]),
        (of_query, [of_query[names.index(q)] for q, *_ in plain]),
    ):
        each = zip(depth, plain, strict=True)
        inside = [min(max(d - lo, 0), len(part)) for d, (_, lo, part) in each]
        assert_array_equal(groups.inside(cut), inside)
        chosen = np.arange(0, len(plain), 2)
        assert_array_equal(groups.inside(cut, chosen), inside[::2])
        if cut is of_query:
            continue
        for _ in range(2):  # the second time from memory
            places = groups.documents(cut)
            filled = [g for g, size in enumerate(inside) for _ in range(size)]
            assert_array_equal(places.group, filled)
            ranks = [plain[g][1] + i for g, n in enumerate(inside) for i in range(n)]
            assert_array_equal(places.rank, ranks)
            owners = [plain[g][0] for g in filled]
            assert_array_equal(places.counts, [owners.count(name) for name in names])
        groups.forget()
    labels, _, qid = rows
    for rel in (1, 2.5, 4, 5):
        counts = [sum(y >= rel for y in part) for *_, part in plain]
        each = list(zip(counts, plain, strict=True))
        assert_array_equal(groups.relevant(rel), counts)
        holds, number = groups.holding(rel)
        assert_array_equal(holds, np.flatnonzero(counts))
        own = [sum(c > 0 for c, (q, *_) in each if q == name) for name in names]
        assert_array_equal(number, own)
        above = [
            sum(c for c, (q, lo, _) in each if q == query and lo < top)
            for query, top, _ in plain
        ]
        assert_array_equal(groups.relevant_above(rel), above)
        flags = list(zip([y >= rel for y in labels], qid, strict=True))
        total = [sum(flag for flag, q in flags if q == name) for name in names]
        assert_array_equal(groups.total_relevant(rel), total)


@settings(max_examples=200)
@given(st.sampled_from(GAINS), queries(), st.booleans())
def test_gains_of_groups(gains, rows, descending):
    plain = plain_groups(*rows)
    groups, names = block_of(*rows)
    own = [gains[part] for *_, part in plain]
    means = groups.gain_means(gains)
    np.testing.assert_allclose(groups.gain_sums(gains), [g.sum() for g in own])
    np.testing.assert_allclose(means, [g.mean() for g in own], rtol=1e-13)
    for mean, part in zip(means, own, strict=True):
        assert part.min() <= mean <= part.max()  # equal gains have just that mean
    chosen = np.arange(0, len(plain), 2)
    assert_array_equal(groups.gain_means(gains, chosen), means[::2])
    variances = [g.var(ddof=1) if len(g) > 1 else 0.0 for g in own]
    np.testing.assert_allclose(groups.gain_variances(gains), variances, 1e-9, 1e-30)
    sums = [sum(m for m, (q, *_) in zip(means, plain, strict=True) if q == n)
            for n in names]  # fmt: skip
    np.testing.assert_allclose(groups.sum_groups(means), sums)
    ordered = groups.ordered(gains, descending=descending)
    assert ordered.everything is groups.everything
    assert_array_equal(ordered.retrieved, groups.retrieved)
    assert not any(len(set(gains[part])) > 1 for part in labels_of(ordered))
    expected = [sorted(g, reverse=descending) for g in own]
    assert_array_equal(gains[ordered.label], np.concatenate([[], *expected]))
    assert groups.ordered(gains, descending=descending) is ordered
    groups.forget()
    assert groups.ordered(gains, descending=descending) is not ordered


def test_sums_of_whole_numbers_beyond_floats_and_many_queries_of_many_levels():
    # a running sum of 2^53 and ones would lose the ones
    gains = np.array([1.0, 2.0**53])
    groups = all_tied(np.array([2, 3]), np.array([1, 1, 0, 0, 0]), np.arange(2.0))
    assert_array_equal(groups.gain_sums(gains), [2.0**54, 3])
    assert_array_equal(groups.gain_means(gains), [2.0**53, 1])
    # which are sorted, not counted
    label = np.random.default_rng(0).integers(0, 100, 100)
    found = all_tied(np.full(50, 2), label, np.arange(100.0))
    assert_array_equal(found.label, np.sort(label.reshape(-1, 2)).ravel())


SIZES = st.lists(st.integers(0, 4), max_size=8).map(lambda s: np.array(s, dtype=int))


@given(SIZES)
def test_numbers_of_segments(sizes):
    each = sizes.tolist()
    starts = [sum(each[:i]) for i in range(len(each))]
    assert segments.starts_of(sizes).tolist() == starts
    assert segments.offsets_of(sizes).tolist() == [*starts, sum(each)]
    owner = [i for i, size in enumerate(each) for _ in range(size)]
    place = [x for size in each for x in range(size)]
    assert segments.owners(sizes).tolist() == owner
    assert [a.tolist() for a in segments.expand(sizes)] == [owner, place]
    first = np.arange(len(each)) * 10
    found = segments.consecutive(first, sizes).tolist()
    assert found == [10 * i + x for i, x in zip(owner, place, strict=True)]


@given(SIZES, st.randoms(use_true_random=False))
def test_sums_of_segments(sizes, random):
    values = np.array([random.randint(0, 5) for _ in range(sizes.sum())], dtype=int)
    ends = pairwise(segments.offsets_of(sizes).tolist())
    parts = [values[start:end] for start, end in ends]
    assert segments.sum_segments(values, sizes).tolist() == [p.sum() for p in parts]
    unsigned = segments.sum_segments(values.astype(np.uint64), sizes, np.uint64)
    assert unsigned.dtype == np.uint64
    odd = values % 2 == 1
    counts = [int((p % 2 == 1).sum()) for p in parts]
    assert segments.count_segments(odd, sizes).tolist() == counts
    before = [int(p[:i].sum()) for p in parts for i in range(len(p))]
    assert segments.count_before(values, sizes).tolist() == before


@given(runs=st.lists(st.integers(1, 3), max_size=6))
def test_runs(runs):
    # neighbours differ
    values = np.repeat(np.arange(len(runs)) % 2, runs)
    for dtype in (int, float, str, "S3", object, bool, "M8[D]"):
        starts, sizes = segments.runs(values.astype(dtype))
        assert sizes.tolist() == runs
        assert starts.tolist() == segments.starts_of(np.array(runs, dtype=int)).tolist()


def test_runs_of_each_row_and_sums_by_hand():
    flags = segments.begins(np.array([[1, 1, 2], [3, 4, 4]]))
    assert flags.tolist() == [[True, False, True], [True, True, False]]
    # a sum does not depend on what stands before it
    values = np.array([1e16, 0.1, 0.2])
    assert segments.sum_segments(values, np.array([1, 2]))[1] == 0.1 + 0.2


@dataclass
class Sums(AddedUp):
    total: Any
    found: Any
    inner: Any = None


def test_fields_merge_by_what_they_hold():
    a = Sums(np.array([1.0, 2.0]), np.array([True, False]), Sums(1, 2))
    b = Sums(np.array([10.0, 0.5]), np.array([False, False]), Sums(3, 4))
    both = a.merge(b)
    assert both.total.tolist() == [11, 2.5]
    assert both.found.tolist() == [True, False]
    assert (both.inner.total, both.inner.found) == (4, 6)
    # what one of them lacks, both lack
    assert a.merge(Sums(b.total, b.found)).inner is None
    assert Sums(b.total, b.found).merge(a).inner is None


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_parts_that_come_one_after_another_are_gathered_in_their_order(sizes):
    parts = []
    for i, size in enumerate(sizes):
        gather(parts, [i] * size, list.__add__, len)
        assert all(len(a) >= 2 * len(b) for a, b in pairwise(parts))
    assert list(chain(*parts)) == [i for i, n in enumerate(sizes) for _ in range(n)]


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        ("ab", "ab", ""),
        ("abc", "ab", "features differ: B has no 'c'"),
        ("ab", "xaby", "features differ: A has no 'x'"),
        ("abc", "acb", "features differ in their order: B has 'c' where A has 'b'"),
        ("ab", "abb", "features differ: 3 in B, 2 in A"),
        (1, 1, ""),
        (1.5, "skip", "ones differ: skip in B, 1.5 in A"),
        (True, False, "ones differ: no in B, yes in A"),
        (None, "w", "ones differ: w in B, none in A"),
        ((1, 2), (1,), "ones differ: 1 in B, 1, 2 in A"),
        (["a", "b", "c"], ["a", "x", "y"], "ones differ: x in B, b in A"),
    ],
)
def test_the_first_feature_or_option_that_differs(ours, theirs, said):
    if isinstance(ours, str):
        assert other_features(list(ours), list(theirs), "A", "B") == said
        return
    first = {"same": 0, "ones": ours, "more": 1}
    other = {"same": 0, "ones": theirs, "more": 2 if said else 1}
    assert other_options(first, other, "A", "B") == said
