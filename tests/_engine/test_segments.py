"""Segments against loops."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tieaware_sklearn._engine import segments

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
    ends = itertools.pairwise(segments.offsets_of(sizes).tolist())
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
    # sums of what comes after
    values = np.array([1.0, 2, 3, 4, 5, 6])
    found = segments.sum_after(values, np.array([3, 0, 1, 2]))
    assert found.tolist() == [5, 3, 0, 0, 6, 0]
